//! The writer thread, which owns the sink: pages go in, and leases come back when their pages are durable. URLs without
//! a page go the same way, so that what became of them is in the log before they are settled.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant, SystemTime};

use tokio::sync::{Notify, mpsc as replies};

use crate::error::Error;
use crate::frontier::{FetchRecord, Lease};
use crate::page::Page;
use crate::settled_url::{SettledUrl, requested_at};
use crate::sink::Sink;
use crate::trouble::sink_trouble;

/// The longest time before a page is made durable.
const COMMIT_INTERVAL: Duration = Duration::from_millis(250);
/// How often the writer thread polls for pages while some are uncommitted. Waking it for each page would cost a system
/// call and a context switch per page.
const POLL_INTERVAL: Duration = Duration::from_millis(5);
/// Bytes of uncommitted pages after which they are committed at once.
const COMMIT_BYTES: usize = 12 << 20;
/// Bytes of queued pages above which nothing new is fetched (backpressure).
const MAX_BACKLOG_BYTES: usize = 4 << 20;
/// Uncommitted pages above which nothing new is fetched (backpressure).
const MAX_UNCOMMITTED: usize = 4096;

/// The first pause after an error of the sink that may pass; it doubles as long as the trouble goes on.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
/// The longest pause.
const MAX_PAUSE: Duration = Duration::from_secs(5);
/// How often a pause looks whether the crawl is to end.
const PAUSE_STEP: Duration = Duration::from_millis(50);

/// Leases whose pages are durable now, and the sink position after them.
pub(crate) struct Committed {
    pub(crate) leases: Vec<(Lease, FetchRecord)>,
    /// How many of them have a page.
    pub(crate) n_pages: usize,
    pub(crate) sink_position: Vec<u8>,
}

/// A lease that has ended, with the page to store if there is one.
struct Ended {
    lease: Lease,
    record: FetchRecord,
    page: Option<Box<Page>>,
    requested_at: SystemTime,
}

enum Item {
    Ended(Ended),
    /// A response that is no page, to be kept.
    Kept(Page),
}

/// The handle on the writer thread.
pub(crate) struct PageWriter {
    items: Option<mpsc::Sender<Item>>,
    committed: replies::UnboundedReceiver<io::Result<Committed>>,
    thread: Option<std::thread::JoinHandle<io::Result<()>>>,
    n_uncommitted: usize,
    n_uncommitted_pages: usize,
    backlog: Arc<Backlog>,
    pause: Arc<Pause>,
}

/// The pause of a sink that cannot write for now.
#[derive(Default)]
struct Pause {
    trouble: Mutex<Option<&'static str>>,
    /// Whether the crawl ends: what cannot be written now is given up.
    is_ending: AtomicBool,
}

impl Pause {
    fn trouble(&self) -> Option<&'static str> {
        *self.trouble.lock().expect("nothing panics while it holds this")
    }

    fn set(&self, trouble: Option<&'static str>) {
        *self.trouble.lock().expect("nothing panics while it holds this") = trouble;
    }

    /// Calls the sink again and again while its errors may pass, until it succeeds or the crawl ends.
    fn retry<T>(&self, mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
        let mut pause = FIRST_PAUSE;
        loop {
            let error = match call() {
                Ok(done) => {
                    self.set(None);
                    return Ok(done);
                }
                Err(error) => error,
            };
            let trouble = sink_trouble(&error);
            self.set(trouble);
            if trouble.is_none() || !self.sleep(pause) {
                return Err(error);
            }
            pause = (pause * 2).min(MAX_PAUSE);
        }
    }

    /// Sleeps; gives `false` when the crawl ends.
    fn sleep(&self, time: Duration) -> bool {
        let until = Instant::now() + time;
        while Instant::now() < until && !self.is_ending.load(Ordering::Relaxed) {
            std::thread::sleep(PAUSE_STEP.min(time));
        }
        !self.is_ending.load(Ordering::Relaxed)
    }
}

/// Pages that were queued and not yet written by the sink.
#[derive(Default)]
struct Backlog {
    bytes: AtomicUsize,
    /// Notified when the bytes fall below half of the bound.
    has_drained: Notify,
}

impl Backlog {
    fn take(&self, bytes: usize) {
        let before = self.bytes.fetch_sub(bytes, Ordering::Relaxed);
        if before > MAX_BACKLOG_BYTES / 2 && before - bytes <= MAX_BACKLOG_BYTES / 2 {
            self.has_drained.notify_one();
        }
    }
}

impl PageWriter {
    /// Starts the thread.
    pub(crate) fn start(sink: Box<dyn Sink>) -> PageWriter {
        let (items, incoming) = mpsc::channel();
        let (outgoing, committed) = replies::unbounded_channel();
        let backlog = Arc::new(Backlog::default());
        let pause = Arc::new(Pause::default());
        let (thread_backlog, thread_pause) = (backlog.clone(), pause.clone());
        let thread = std::thread::Builder::new()
            .name("sink".to_owned())
            .spawn(move || run(sink, &incoming, &outgoing, &thread_backlog, &thread_pause))
            .expect("the system can start one thread");
        PageWriter {
            items: Some(items),
            committed,
            thread: Some(thread),
            n_uncommitted: 0,
            n_uncommitted_pages: 0,
            backlog,
            pause,
        }
    }

    /// Queues a page for writing.
    pub(crate) fn put(&mut self, lease: Lease, page: Box<Page>, record: FetchRecord) {
        self.n_uncommitted_pages += 1;
        self.backlog.bytes.fetch_add(page.body.len(), Ordering::Relaxed);
        let requested_at = page.fetched_at;
        self.send(Ended { lease, record, page: Some(page), requested_at });
    }

    /// Queues what became of a URL that has no page to store.
    pub(crate) fn note(&mut self, lease: Lease, record: FetchRecord) {
        let requested_at = requested_at(&record);
        self.send(Ended { lease, record, page: None, requested_at });
    }

    /// Queues a response that is no page. It becomes durable with the lease that is queued next.
    pub(crate) fn keep(&mut self, response: Page) {
        self.backlog.bytes.fetch_add(response.body.len(), Ordering::Relaxed);
        self.push(Item::Kept(response));
    }

    fn send(&mut self, ended: Ended) {
        self.n_uncommitted += 1;
        self.push(Item::Ended(ended));
    }

    fn push(&self, item: Item) {
        if let Some(items) = &self.items {
            // The thread only ends early after it has sent an error, which `committed` will find.
            let _ = items.send(item);
        }
    }

    /// Queued leases that are not known to be durable.
    pub(crate) fn n_uncommitted(&self) -> usize {
        self.n_uncommitted
    }

    /// Those of them that have a page.
    pub(crate) fn n_uncommitted_pages(&self) -> usize {
        self.n_uncommitted_pages
    }

    /// Whether the sink is so far behind that nothing new may be fetched.
    pub(crate) fn is_behind(&self) -> bool {
        self.has_backlog() || self.n_uncommitted > MAX_UNCOMMITTED
    }

    /// The trouble of this machine for which the sink pauses.
    pub(crate) fn trouble(&self) -> Option<&'static str> {
        self.pause.trouble()
    }

    fn has_backlog(&self) -> bool {
        self.backlog.bytes.load(Ordering::Relaxed) > MAX_BACKLOG_BYTES
    }

    /// Waits for pages to become durable; gives `None` when the sink was behind and has caught up.
    pub(crate) async fn committed(&mut self) -> Result<Option<Committed>, Error> {
        let committed = tokio::select! {
            biased;
            committed = self.committed.recv() => committed,
            () = self.backlog.has_drained.notified(), if self.has_backlog() => return Ok(None),
        };
        match committed {
            Some(Ok(committed)) => {
                self.n_uncommitted -= committed.leases.len();
                self.n_uncommitted_pages -= committed.n_pages;
                Ok(Some(committed))
            }
            Some(Err(error)) => Err(Error::Sink(error)),
            None => Err(Error::Sink(io::Error::other("the sink's thread ended early"))),
        }
    }

    /// Closes the queue, commits the rest and waits for the thread to end. A sink that cannot write now is not waited for.
    pub(crate) fn finish(mut self) -> Result<(), Error> {
        self.items = None;
        self.pause.is_ending.store(true, Ordering::Relaxed);
        let thread = self.thread.take().expect("finished once");
        thread.join().map_err(|_| Error::Sink(io::Error::other("the sink panicked")))?.map_err(Error::Sink)
    }
}

fn run(
    mut sink: Box<dyn Sink>,
    items: &mpsc::Receiver<Item>,
    committed: &replies::UnboundedSender<io::Result<Committed>>,
    backlog: &Backlog,
    pause: &Pause,
) -> io::Result<()> {
    let mut leases: Vec<(Lease, FetchRecord)> = Vec::new();
    let (mut bytes, mut n_pages) = (0, 0);
    let mut since = Instant::now();
    loop {
        let next = match items.try_recv() {
            Err(mpsc::TryRecvError::Empty) if leases.is_empty() => {
                items.recv().map_err(|_| mpsc::TryRecvError::Disconnected)
            }
            next => next,
        };
        match next {
            Ok(Item::Kept(response)) => {
                let kept_bytes = response.body.len();
                bytes += kept_bytes;
                let taken = pause.retry(|| sink.keep(&response));
                backlog.take(kept_bytes);
                if let Err(error) = taken {
                    return report(error, committed, pause);
                }
            }
            Ok(Item::Ended(Ended { lease, record, page, requested_at })) => {
                if leases.is_empty() {
                    since = Instant::now();
                }
                let mut taken = pause.retry(|| sink.log(&SettledUrl::of(&lease, &record, requested_at)));
                if let Some(page) = page {
                    let page_bytes = page.body.len();
                    (bytes, n_pages) = (bytes + page_bytes, n_pages + 1);
                    taken = taken.and_then(|()| pause.retry(|| sink.put(&page)));
                    backlog.take(page_bytes);
                }
                leases.push((lease, record));
                if let Err(error) = taken {
                    return report(error, committed, pause);
                }
            }
            Err(mpsc::TryRecvError::Empty) => {
                std::thread::sleep(POLL_INTERVAL.min(COMMIT_INTERVAL.saturating_sub(since.elapsed())));
            }
            Err(mpsc::TryRecvError::Disconnected) => {
                if !leases.is_empty() {
                    let sink_position = pause.retry(|| sink.commit())?;
                    let _ =
                        committed.send(Ok(Committed { leases: std::mem::take(&mut leases), n_pages, sink_position }));
                }
                return pause.retry(|| sink.finish());
            }
        }
        if !leases.is_empty() && (since.elapsed() >= COMMIT_INTERVAL || bytes >= COMMIT_BYTES) {
            bytes = 0;
            let n_pages = std::mem::take(&mut n_pages);
            match pause.retry(|| sink.commit()) {
                Ok(sink_position) => {
                    let _ =
                        committed.send(Ok(Committed { leases: std::mem::take(&mut leases), n_pages, sink_position }));
                }
                Err(error) => return report(error, committed, pause),
            }
        }
    }
}

/// Tells the crawl that the sink has failed, or gives the error back when the crawl has ended already.
fn report(
    error: io::Error,
    committed: &replies::UnboundedSender<io::Result<Committed>>,
    pause: &Pause,
) -> io::Result<()> {
    if pause.is_ending.load(Ordering::Relaxed) {
        return Err(error);
    }
    let _ = committed.send(Err(error));
    Ok(())
}

#[cfg(test)]
mod tests {
    use url::Url;

    use super::*;
    use crate::frontier::{Frontier, Link, LocalFrontier, LocalOptions, Next};
    use crate::order::Breadth;
    use crate::outcome::Outcome;

    /// Fails so many times in each call, with an error that may pass, before it takes anything.
    struct Failing {
        n_failures: usize,
        code: i32,
        stored: Arc<Mutex<Vec<Url>>>,
    }

    impl Failing {
        fn fail(&mut self, before: usize) -> io::Result<()> {
            self.n_failures += 1;
            match self.n_failures % (before + 1) {
                0 => Ok(()),
                _ => Err(io::Error::from_raw_os_error(self.code)),
            }
        }
    }

    impl Sink for Failing {
        fn put(&mut self, page: &Page) -> io::Result<()> {
            self.fail(2)?;
            self.stored.lock().unwrap().push(page.url.clone());
            Ok(())
        }

        fn commit(&mut self) -> io::Result<Vec<u8>> {
            self.fail(2)?;
            Ok(vec![self.stored.lock().unwrap().len() as u8])
        }

        fn finish(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn leases(folder: &std::path::Path, count: usize) -> Vec<Lease> {
        let frontier = LocalFrontier::open(folder, LocalOptions::new(Box::new(Breadth))).unwrap();
        let links: Vec<Link> =
            (0..count).map(|number| Link::seed(format!("http://h{number}.test/").parse().unwrap())).collect();
        frontier.offer(None, &links).unwrap();
        let next = || match frontier.lease().unwrap() {
            Next::Fetch(lease) => lease,
            _ => panic!("there is one more"),
        };
        (0..count).map(|_| next()).collect()
    }

    fn put(writer: &mut PageWriter, lease: Lease) {
        let page = Box::new(Page::empty(lease.link.url.clone()));
        let record = FetchRecord { outcome: Outcome::Stored, status: 0, bytes: 0, milliseconds: 0, digest: 0 };
        writer.put(lease, page, record);
    }

    #[tokio::test]
    async fn a_full_disk_and_too_many_files_cost_time_and_no_page() {
        for (code, what) in [(libc::ENOSPC, "the disk is full"), (libc::EMFILE, "too many open files")] {
            let folder = tempfile::tempdir().unwrap();
            let stored = Arc::new(Mutex::new(Vec::new()));
            let sink = Failing { n_failures: 0, code, stored: stored.clone() };
            let mut writer = PageWriter::start(Box::new(sink));
            for lease in leases(folder.path(), 3) {
                put(&mut writer, lease);
            }
            let (mut n_committed, mut troubles) = (0, Vec::new());
            while n_committed < 3 {
                tokio::select! {
                    committed = writer.committed() => n_committed += committed.unwrap().unwrap().leases.len(),
                    () = tokio::time::sleep(Duration::from_millis(10)) => troubles.extend(writer.trouble()),
                }
            }
            assert!(troubles.contains(&what), "{troubles:?}");
            assert_eq!(writer.trouble(), None, "it is over");
            writer.finish().unwrap();
            assert_eq!(stored.lock().unwrap().len(), 3, "each page once");
        }
    }

    #[tokio::test]
    async fn a_crawl_that_ends_does_not_wait_for_a_full_disk() {
        struct Full;
        impl Sink for Full {
            fn put(&mut self, _: &Page) -> io::Result<()> {
                Err(io::ErrorKind::StorageFull.into())
            }
            fn commit(&mut self) -> io::Result<Vec<u8>> {
                unreachable!("nothing was put")
            }
            fn finish(&mut self) -> io::Result<()> {
                Err(io::ErrorKind::StorageFull.into())
            }
        }
        let folder = tempfile::tempdir().unwrap();
        let mut writer = PageWriter::start(Box::new(Full));
        put(&mut writer, leases(folder.path(), 1).remove(0));
        while writer.trouble().is_none() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        assert!(matches!(writer.finish(), Err(Error::Sink(error)) if error.kind() == io::ErrorKind::StorageFull));
    }
}
