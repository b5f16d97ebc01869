//! The HTTP server: raw hyper over tokio, every answer written down from its first to its last byte.

use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame, Incoming, SizeHint};
use hyper::header::{HOST, HeaderName, HeaderValue};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Sleep, sleep};

use crate::answer::{Answers, Body, Question};
use crate::log::{Log, Request};
use crate::random::share;

/// What every connection shares.
pub(crate) struct Server {
    pub answers: Answers,
    pub log: Arc<Log>,
    pub latency: Duration,
    /// Added to the clock of the pages, in milliseconds.
    pub clock_ahead: Arc<std::sync::atomic::AtomicU64>,
}

/// Takes connections until the runtime ends.
pub(crate) async fn accept(listener: TcpListener, server: Arc<Server>) {
    loop {
        // A client that is gone before it was accepted, or a moment without free descriptors: the next may work.
        let Ok((stream, _)) = listener.accept().await else {
            sleep(Duration::from_millis(5)).await;
            continue;
        };
        tokio::spawn(connection(stream, server.clone()));
    }
}

async fn connection(stream: TcpStream, server: Arc<Server>) {
    let _ = stream.set_nodelay(true);
    let id = server.log.open();
    let service = service_fn(|request| answer(request, id, &server));
    // An error here is the client's or a trap's: the log says what was sent.
    let _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
    server.log.close(id);
}

async fn answer(
    request: hyper::Request<Incoming>,
    connection: u64,
    server: &Arc<Server>,
) -> Result<hyper::Response<Sending>, Infallible> {
    let at = server.log.started.elapsed();
    let (parts, _) = request.into_parts();
    let host = parts.headers.get(HOST).and_then(|host| host.to_str().ok());
    let host = host.or(parts.uri.authority().map(|authority| authority.as_str())).unwrap_or("").to_owned();
    let path = parts.uri.path_and_query().map_or("/", |path| path.as_str()).to_owned();
    let ahead = server.clock_ahead.load(std::sync::atomic::Ordering::Relaxed) as f64 / 1000.0;
    let question =
        Question { authority: &host, path: &path, headers: &parts.headers, seconds: at.as_secs_f64() + ahead };
    let answer = server.answers.answer(&question);
    let status = answer.status;
    let entry =
        server.log.begin(Request { at, ended: None, host, path, connection, status, bytes: 0, headers: parts.headers });
    if !server.latency.is_zero() {
        sleep(server.latency.mul_f64(spread(entry.unwrap_or(0) as u64))).await;
    }
    let body = Sending { body: answer.body, sent: 0, entry, pause: None, log: server.log.clone() };
    let mut response = hyper::Response::new(body);
    *response.status_mut() = hyper::StatusCode::from_u16(status).expect("answers have valid codes");
    for (name, value) in answer.headers {
        let value = HeaderValue::from_str(&value).expect("answers have printable headers");
        response.headers_mut().append(HeaderName::from_static(name), value);
    }
    Ok(response)
}

/// A log-normal factor with median 1, from the number of the request.
fn spread(number: u64) -> f64 {
    let (first, second) = (1.0 - share(&[number, 51]), share(&[number, 52]));
    let normal = (-2.0 * first.ln()).sqrt() * (std::f64::consts::TAU * second).cos();
    (0.4 * normal).exp()
}

/// A body on its way. When it is dropped, the answer has ended.
pub(crate) struct Sending {
    body: Body,
    sent: u64,
    entry: Option<usize>,
    pause: Option<Pin<Box<Sleep>>>,
    log: Arc<Log>,
}

impl HttpBody for Sending {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        let this = self.get_mut();
        let next = match &mut this.body {
            Body::Parts(parts) if parts.is_empty() => return Poll::Ready(None),
            Body::Parts(parts) => parts.remove(0),
            Body::Endless(bytes) => bytes.clone(),
            Body::Trickle(bytes, every) => {
                if bytes.is_empty() {
                    return Poll::Ready(None);
                }
                let pause = this.pause.get_or_insert_with(|| Box::pin(sleep(*every)));
                if pause.as_mut().poll(context).is_pending() {
                    return Poll::Pending;
                }
                this.pause = None;
                bytes.split_to(1)
            }
            Body::Cut(bytes) if bytes.is_empty() => {
                // What was handed over must be on the wire first: hyper drops it together with the connection.
                let pause = this.pause.get_or_insert_with(|| Box::pin(sleep(Duration::from_millis(20))));
                if pause.as_mut().poll(context).is_pending() {
                    return Poll::Pending;
                }
                return Poll::Ready(Some(Err(io::Error::other("the trap cuts the connection"))));
            }
            Body::Cut(bytes) => std::mem::take(bytes),
        };
        this.sent += next.len() as u64;
        Poll::Ready(Some(Ok(Frame::data(next))))
    }

    fn is_end_stream(&self) -> bool {
        matches!(&self.body, Body::Parts(parts) if parts.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match &self.body {
            Body::Parts(parts) => SizeHint::with_exact(parts.iter().map(|part| part.len() as u64).sum()),
            _ => SizeHint::default(),
        }
    }
}

impl Drop for Sending {
    fn drop(&mut self) {
        self.log.end(self.entry, self.sent);
    }
}
