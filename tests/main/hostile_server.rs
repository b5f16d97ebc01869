//! A server on loopback whose hosts behave as badly as their names say.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Requests by host and path, as often as they came.
type Log = Arc<Mutex<HashMap<(String, String), usize>>>;

/// How a request is answered.
pub enum Answer {
    /// At once.
    Reply(String),
    /// With so many bytes a second, without an end.
    Trickle(usize),
    /// With so many bytes at once and then nothing more; the connection stays open.
    Hold(usize),
}

/// The hosts, served for as long as this lives.
pub struct Hostile {
    pub address: SocketAddr,
    log: Log,
    _runtime: tokio::runtime::Runtime,
}

impl Hostile {
    /// Serves every host on one port; `answer` gets host and path.
    pub fn serve(answer: fn(&str, &str) -> Answer) -> Hostile {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        let log = Log::default();
        let shared = log.clone();
        runtime.spawn(async move {
            loop {
                match listener.accept().await {
                    Ok((stream, _)) => drop(tokio::spawn(serve(stream, answer, shared.clone()))),
                    Err(_) => tokio::time::sleep(Duration::from_millis(5)).await,
                }
            }
        });
        Hostile { address, log, _runtime: runtime }
    }

    /// How many requests came to hosts whose name begins so.
    pub fn n_requests(&self, start: &str) -> usize {
        let log = self.log.lock().unwrap();
        log.iter().filter(|((host, _), _)| host.starts_with(start)).map(|(_, count)| count).sum()
    }

    /// How many requests came for one path of hosts whose name begins so.
    pub fn n_requests_for(&self, start: &str, path: &str) -> usize {
        let log = self.log.lock().unwrap();
        let is_it = |key: &&(String, String)| key.0.starts_with(start) && key.1 == path;
        log.iter().filter(|(key, _)| is_it(key)).map(|(_, count)| count).sum()
    }
}

/// An answer with status 200.
pub fn page(media_type: &str, body: &str) -> Answer {
    let length = body.len();
    Answer::Reply(format!("HTTP/1.1 200 OK\r\ncontent-type: {media_type}\r\ncontent-length: {length}\r\n\r\n{body}"))
}

pub fn not_found() -> Answer {
    Answer::Reply("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n".to_owned())
}

pub fn redirect(to: &str) -> Answer {
    Answer::Reply(format!("HTTP/1.1 302 Found\r\nlocation: {to}\r\ncontent-length: 0\r\n\r\n"))
}

async fn serve(mut stream: TcpStream, answer: fn(&str, &str) -> Answer, log: Log) {
    let mut read = Vec::new();
    loop {
        let Some(end) = read.windows(4).position(|four| four == b"\r\n\r\n") else {
            match stream.read_buf(&mut read).await {
                Ok(count) if count > 0 => continue,
                _ => return,
            }
        };
        let head = String::from_utf8_lossy(&read[..end]).into_owned();
        read.drain(..end + 4);
        let path = head.split(' ').nth(1).unwrap_or("/").to_owned();
        let host = head.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or("").to_owned();
        *log.lock().unwrap().entry((host.clone(), path.clone())).or_default() += 1;
        match answer(&host, &path) {
            Answer::Reply(reply) => {
                if stream.write_all(reply.as_bytes()).await.is_err() {
                    return;
                }
            }
            Answer::Trickle(bytes_per_second) => return trickle(stream, bytes_per_second).await,
            Answer::Hold(bytes) => return hold(stream, bytes).await,
        }
    }
}

const ENDLESS: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 100000000\r\n\r\n";

async fn trickle(mut stream: TcpStream, bytes_per_second: usize) {
    let piece = vec![b'x'; bytes_per_second / 10];
    let mut is_open = stream.write_all(ENDLESS).await.is_ok();
    while is_open {
        is_open = stream.write_all(&piece).await.is_ok();
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

async fn hold(mut stream: TcpStream, bytes: usize) {
    const PIECE: &[u8] = &[b'x'; 1 << 16];
    let _ = stream.write_all(ENDLESS).await;
    for _ in 0..bytes / PIECE.len() {
        if stream.write_all(PIECE).await.is_err() {
            return;
        }
    }
    // A byte now and then, so that the connection does not look dead.
    while stream.write_all(b"x").await.is_ok() {
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}
