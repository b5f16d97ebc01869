//! The sink's own thread: pages go in, and leases come back when their pages are durable.

use std::io;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use tokio::sync::mpsc as answers;

use crate::error::Error;
use crate::frontier::{Lease, Receipt};
use crate::page::Page;
use crate::sink::Sink;

/// How long a page waits at most before it is made durable.
const COMMIT_AFTER: Duration = Duration::from_millis(250);
/// How often the sink's thread looks for pages while some wait to be made durable. Waking it for each would cost a
/// system call and a switch of threads per page.
const LOOK_AFTER: Duration = Duration::from_millis(5);
/// Bytes after which pages are made durable at once.
const COMMIT_BYTES: usize = 12 << 20;

/// Pages that are durable now.
pub(crate) struct Kept {
    pub(crate) leases: Vec<(Lease, Receipt)>,
    pub(crate) mark: Vec<u8>,
}

/// The way to the sink's thread.
pub(crate) struct Keeper {
    pages: Option<mpsc::Sender<(Lease, Page, Receipt)>>,
    kept: answers::UnboundedReceiver<io::Result<Kept>>,
    thread: Option<std::thread::JoinHandle<io::Result<()>>>,
    n_waiting: usize,
    waiting_bytes: usize,
}

impl Keeper {
    /// Starts the thread.
    pub(crate) fn start(sink: Box<dyn Sink>) -> Keeper {
        let (pages, incoming) = mpsc::channel();
        let (outgoing, kept) = answers::unbounded_channel();
        let thread =
            std::thread::Builder::new().name("sink".to_owned()).spawn(move || keep(sink, &incoming, &outgoing));
        let thread = thread.expect("the system can start one thread");
        Keeper { pages: Some(pages), kept, thread: Some(thread), n_waiting: 0, waiting_bytes: 0 }
    }

    /// Hands a page over.
    pub(crate) fn put(&mut self, lease: Lease, page: Page, receipt: Receipt) {
        self.n_waiting += 1;
        self.waiting_bytes += page.body.len();
        if let Some(pages) = &self.pages {
            // The thread only ends early after it has sent an error, which `kept` will find.
            let _ = pages.send((lease, page, receipt));
        }
    }

    /// Pages handed over that are not known to be durable.
    pub(crate) fn n_waiting(&self) -> usize {
        self.n_waiting
    }

    /// Whether the sink is so far behind that nothing new should be fetched.
    pub(crate) fn is_behind(&self) -> bool {
        self.waiting_bytes > COMMIT_BYTES || self.n_waiting > 4096
    }

    /// Waits for pages to become durable.
    pub(crate) async fn kept(&mut self) -> Result<Kept, Error> {
        match self.kept.recv().await {
            Some(Ok(kept)) => {
                self.n_waiting -= kept.leases.len();
                let bytes: usize = kept.leases.iter().map(|(_, receipt)| receipt.bytes as usize).sum();
                self.waiting_bytes = self.waiting_bytes.saturating_sub(bytes);
                Ok(kept)
            }
            Some(Err(error)) => Err(Error::Sink(error)),
            None => Err(Error::Sink(io::Error::other("the sink's thread ended early"))),
        }
    }

    /// Lets the thread finish; what it still made durable comes back through [`Keeper::kept`] before.
    pub(crate) fn finish(mut self) -> Result<(), Error> {
        self.pages = None;
        let thread = self.thread.take().expect("finished once");
        thread.join().map_err(|_| Error::Sink(io::Error::other("the sink panicked")))?.map_err(Error::Sink)
    }
}

fn keep(
    mut sink: Box<dyn Sink>,
    pages: &mpsc::Receiver<(Lease, Page, Receipt)>,
    kept: &answers::UnboundedSender<io::Result<Kept>>,
) -> io::Result<()> {
    let mut leases: Vec<(Lease, Receipt)> = Vec::new();
    let mut bytes = 0;
    let mut since = Instant::now();
    loop {
        let next = match pages.try_recv() {
            Err(mpsc::TryRecvError::Empty) if leases.is_empty() => {
                pages.recv().map_err(|_| mpsc::TryRecvError::Disconnected)
            }
            next => next,
        };
        match next {
            Ok((lease, page, receipt)) => {
                if leases.is_empty() {
                    since = Instant::now();
                }
                bytes += page.body.len();
                leases.push((lease, receipt));
                if let Err(error) = sink.put(page) {
                    let _ = kept.send(Err(error));
                    return Ok(());
                }
            }
            Err(mpsc::TryRecvError::Empty) => {
                std::thread::sleep(LOOK_AFTER.min(COMMIT_AFTER.saturating_sub(since.elapsed())));
            }
            Err(mpsc::TryRecvError::Disconnected) => {
                if !leases.is_empty() {
                    send(sink.commit(), std::mem::take(&mut leases), kept);
                }
                return sink.finish();
            }
        }
        if !leases.is_empty() && (since.elapsed() >= COMMIT_AFTER || bytes >= COMMIT_BYTES) {
            bytes = 0;
            if !send(sink.commit(), std::mem::take(&mut leases), kept) {
                return Ok(());
            }
        }
    }
}

fn send(
    committed: io::Result<Vec<u8>>,
    leases: Vec<(Lease, Receipt)>,
    kept: &answers::UnboundedSender<io::Result<Kept>>,
) -> bool {
    let is_good = committed.is_ok();
    let _ = kept.send(committed.map(|mark| Kept { leases, mark }));
    is_good
}
