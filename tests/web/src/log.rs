//! Every request, with its time, host and connection: what the assertions of other tests are made of.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use hyper::HeaderMap;

/// One request. Times count from the start of the web.
#[derive(Clone, Debug)]
pub struct Request {
    /// When the request had arrived.
    pub at: Duration,
    /// When the last byte of the answer was handed to the connection, or the client went away; `None` while it runs.
    pub ended: Option<Duration>,
    /// The host as it stands in URLs.
    pub host: String,
    /// Path and query.
    pub path: String,
    /// Which connection it came on.
    pub connection: u64,
    /// The status that was sent.
    pub status: u16,
    /// Bytes of body sent.
    pub bytes: u64,
    /// What the client sent along.
    pub headers: HeaderMap,
}

/// One TCP connection. Times count from the start of the web.
#[derive(Clone, Copy, Debug)]
pub struct Connection {
    /// Its number, as in [`Request::connection`].
    pub id: u64,
    /// When it was accepted.
    pub opened: Duration,
    /// When it ended; `None` while it is open.
    pub closed: Option<Duration>,
}

pub(crate) struct Log {
    pub started: Instant,
    keep: bool,
    requests: Mutex<Vec<Request>>,
    connections: Mutex<Vec<Connection>>,
    n_requests: AtomicU64,
    n_connections: AtomicU64,
    n_bytes: AtomicU64,
}

impl Log {
    pub fn new(keep: bool) -> Self {
        Log {
            started: Instant::now(),
            keep,
            requests: Mutex::default(),
            connections: Mutex::default(),
            n_requests: AtomicU64::new(0),
            n_connections: AtomicU64::new(0),
            n_bytes: AtomicU64::new(0),
        }
    }

    pub fn open(&self) -> u64 {
        let id = self.n_connections.fetch_add(1, Ordering::Relaxed);
        if self.keep {
            let connection = Connection { id, opened: self.started.elapsed(), closed: None };
            self.connections.lock().expect("no holder panics").push(connection);
        }
        id
    }

    pub fn close(&self, id: u64) {
        if self.keep {
            let mut connections = self.connections.lock().expect("no holder panics");
            let found = connections.iter_mut().rev().find(|connection| connection.id == id);
            found.expect("it was opened").closed = Some(self.started.elapsed());
        }
    }

    /// Writes the start of a request down; the number is for [`Log::end`].
    pub fn begin(&self, request: Request) -> Option<usize> {
        self.n_requests.fetch_add(1, Ordering::Relaxed);
        if !self.keep {
            return None;
        }
        let mut requests = self.requests.lock().expect("no holder panics");
        requests.push(request);
        Some(requests.len() - 1)
    }

    pub fn end(&self, index: Option<usize>, bytes: u64) {
        self.n_bytes.fetch_add(bytes, Ordering::Relaxed);
        if let Some(index) = index
            && let Some(request) = self.requests.lock().expect("no holder panics").get_mut(index)
        {
            request.ended = Some(self.started.elapsed());
            request.bytes = bytes;
        }
    }

    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().expect("no holder panics").clone()
    }

    pub fn connections(&self) -> Vec<Connection> {
        self.connections.lock().expect("no holder panics").clone()
    }

    pub fn totals(&self) -> Totals {
        Totals {
            requests: self.n_requests.load(Ordering::Relaxed),
            connections: self.n_connections.load(Ordering::Relaxed),
            bytes: self.n_bytes.load(Ordering::Relaxed),
        }
    }
}

/// Counts that are kept even without a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Totals {
    /// Requests that arrived.
    pub requests: u64,
    /// Connections that were accepted.
    pub connections: u64,
    /// Bytes of bodies sent.
    pub bytes: u64,
}
