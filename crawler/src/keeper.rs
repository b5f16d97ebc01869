//! The sink's own thread: pages go in, and leases come back when their pages are durable.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use tokio::sync::{Notify, mpsc as answers};

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
/// Bytes of pages that the sink has not taken yet, above which nothing new is fetched.
const MAX_BACKLOG_BYTES: usize = 4 << 20;
/// Pages that are not durable, above which nothing new is fetched.
const MAX_WAITING: usize = 4096;

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
    backlog: Arc<Backlog>,
}

/// What was handed over and the sink has not taken yet.
#[derive(Default)]
struct Backlog {
    bytes: AtomicUsize,
    /// Told when it has fallen below half of what is allowed.
    fell: Notify,
}

impl Backlog {
    fn take(&self, bytes: usize) {
        let before = self.bytes.fetch_sub(bytes, Ordering::Relaxed);
        if before > MAX_BACKLOG_BYTES / 2 && before - bytes <= MAX_BACKLOG_BYTES / 2 {
            self.fell.notify_one();
        }
    }
}

impl Keeper {
    /// Starts the thread.
    pub(crate) fn start(sink: Box<dyn Sink>) -> Keeper {
        let (pages, incoming) = mpsc::channel();
        let (outgoing, kept) = answers::unbounded_channel();
        let backlog = Arc::new(Backlog::default());
        let its_backlog = backlog.clone();
        let thread = std::thread::Builder::new()
            .name("sink".to_owned())
            .spawn(move || keep(sink, &incoming, &outgoing, &its_backlog))
            .expect("the system can start one thread");
        Keeper { pages: Some(pages), kept, thread: Some(thread), n_waiting: 0, backlog }
    }

    /// Hands a page over.
    pub(crate) fn put(&mut self, lease: Lease, page: Page, receipt: Receipt) {
        self.n_waiting += 1;
        self.backlog.bytes.fetch_add(page.body.len(), Ordering::Relaxed);
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
        self.has_backlog() || self.n_waiting > MAX_WAITING
    }

    fn has_backlog(&self) -> bool {
        self.backlog.bytes.load(Ordering::Relaxed) > MAX_BACKLOG_BYTES
    }

    /// Waits for pages to become durable; gives nothing when the sink was behind and has caught up.
    pub(crate) async fn kept(&mut self) -> Result<Option<Kept>, Error> {
        let kept = tokio::select! {
            biased;
            kept = self.kept.recv() => kept,
            () = self.backlog.fell.notified(), if self.has_backlog() => return Ok(None),
        };
        match kept {
            Some(Ok(kept)) => {
                self.n_waiting -= kept.leases.len();
                Ok(Some(kept))
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
    backlog: &Backlog,
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
                let page_bytes = page.body.len();
                bytes += page_bytes;
                leases.push((lease, receipt));
                let taken = sink.put(page);
                backlog.take(page_bytes);
                if let Err(error) = taken {
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
