//! Asks a running test web for its pages over keep-alive connections and prints pages per second.
//!
//! `cargo run -p pith-web --release --bin pith-web-load` starts its own webs: realistic pages, then plain ones.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

use pith_web::{PageStyle, Web, WebConfig};

const CONNECTIONS: usize = 8;

fn main() {
    for (name, pages, hosts) in
        [("realistic, 5 to 100 KB", PageStyle::Realistic, 40), ("plain, 60 KB mean", PageStyle::Plain(60_000), 500)]
    {
        let config = WebConfig {
            hosts,
            pages_per_host: 40,
            links_per_page: 40,
            pages,
            sitemaps: false,
            log: false,
            ..WebConfig::default()
        };
        let web = Web::start(config).expect("a port is free");
        let urls: Vec<String> = web.truth().reachable(web.seeds()).into_iter().collect();
        load(web.address(), &urls);
        let (pages, bytes, seconds) = (0..3)
            .map(|_| load(web.address(), &urls))
            .fold((0, 0, 0.0), |sum, run| (sum.0 + run.0, sum.1 + run.1, sum.2 + run.2));
        println!(
            "{name}: {:.0} pages/s, {:.0} MB/s ({pages} pages, {CONNECTIONS} connections, this client on the same cores)",
            pages as f64 / seconds,
            bytes as f64 / seconds / 1e6
        );
    }
}

/// Fetches every URL once and gives pages, bytes and seconds.
fn load(address: SocketAddr, urls: &[String]) -> (usize, u64, f64) {
    let next = AtomicUsize::new(0);
    let bytes = AtomicU64::new(0);
    let started = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..CONNECTIONS {
            scope.spawn(|| {
                let stream = TcpStream::connect(address).expect("the web is there");
                let mut reader = BufReader::with_capacity(128 << 10, &stream);
                let mut line = String::new();
                while let Some(url) = urls.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let rest = url.strip_prefix("http://").expect("the web speaks http");
                    let (host, path) = rest.split_at(rest.find('/').expect("URLs have a path"));
                    let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n");
                    (&stream).write_all(request.as_bytes()).expect("it listens");
                    let mut length = 0;
                    loop {
                        line.clear();
                        reader.read_line(&mut line).expect("it answers");
                        if let Some(value) = line.strip_prefix("content-length: ") {
                            length = value.trim().parse().expect("a number");
                        }
                        if line == "\r\n" {
                            break;
                        }
                    }
                    let copied = std::io::copy(&mut reader.by_ref().take(length), &mut std::io::sink());
                    bytes.fetch_add(copied.expect("it answers"), Ordering::Relaxed);
                }
            });
        }
    });
    (urls.len(), bytes.into_inner(), started.elapsed().as_secs_f64())
}
