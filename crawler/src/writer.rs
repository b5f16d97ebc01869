//! The writer thread, which owns the sink: pages go in, and what they are settled with comes back when they are durable.

mod pause;

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use tokio::sync::{Notify, mpsc as replies};

use self::pause::Pause;
use crate::error::Error;
use crate::frontier::Settlement;
use crate::log_entry::LogEntry;
use crate::page::Page;
use crate::sink::Sink;

/// The longest time before a page is made durable.
const COMMIT_INTERVAL: Duration = Duration::from_millis(250);
/// How often the writer thread polls for pages while some are uncommitted. Waking it for each page would cost a system
/// call and a context switch per page.
const POLL_INTERVAL: Duration = Duration::from_millis(5);
/// Bytes of uncommitted pages and their links after which they are committed at once.
const COMMIT_BYTES: usize = 12 << 20;
/// Bytes of queued pages above which nothing new is fetched (backpressure).
const MAX_BACKLOG_BYTES: usize = 4 << 20;
/// Uncommitted pages above which nothing new is fetched (backpressure).
const MAX_UNCOMMITTED: usize = 4096;

/// The settlements of pages that are durable now, and the sink position after them.
pub(crate) struct Committed {
    pub(crate) settlements: Vec<Settlement>,
    pub(crate) sink_position: Vec<u8>,
}

/// What the thread is given.
enum Put {
    Page(Box<Settlement>, Box<Page>),
    Entry(Box<LogEntry>),
}

/// The handle on the writer thread.
pub(crate) struct PageWriter {
    pages: Option<mpsc::Sender<Put>>,
    committed: replies::UnboundedReceiver<io::Result<Committed>>,
    thread: Option<std::thread::JoinHandle<io::Result<()>>>,
    n_uncommitted: usize,
    backlog: Arc<Backlog>,
    pause: Arc<Pause>,
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
        let (pages, incoming) = mpsc::channel();
        let (outgoing, committed) = replies::unbounded_channel();
        let backlog = Arc::new(Backlog::default());
        let pause = Arc::new(Pause::default());
        let (thread_backlog, thread_pause) = (backlog.clone(), pause.clone());
        let thread = std::thread::Builder::new()
            .name("sink".to_owned())
            .spawn(move || run(sink, &incoming, &outgoing, &thread_backlog, &thread_pause))
            .expect("the system can start one thread");
        PageWriter { pages: Some(pages), committed, thread: Some(thread), n_uncommitted: 0, backlog, pause }
    }

    /// Queues a page for writing.
    pub(crate) fn put(&mut self, settlement: Settlement, page: Box<Page>) {
        self.n_uncommitted += 1;
        self.backlog.bytes.fetch_add(page.body.len(), Ordering::Relaxed);
        if let Some(pages) = &self.pages {
            // The thread only ends early after it has sent an error, which `committed` will find.
            let _ = pages.send(Put::Page(Box::new(settlement), page));
        }
    }

    /// Queues a line for the log.
    pub(crate) fn log(&self, entry: LogEntry) {
        if let Some(pages) = &self.pages {
            let _ = pages.send(Put::Entry(Box::new(entry)));
        }
    }

    /// Lets the pages so far be made durable at once: nothing else is on its way.
    pub(crate) fn commit_now(&self) {
        if !self.pause.is_awaited.swap(true, Ordering::Release)
            && let Some(thread) = &self.thread
        {
            thread.thread().unpark();
        }
    }

    /// Queued pages that are not known to be durable.
    pub(crate) fn n_uncommitted(&self) -> usize {
        self.n_uncommitted
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
                self.n_uncommitted -= committed.settlements.len();
                Ok(Some(committed))
            }
            Some(Err(error)) => Err(Error::Sink(error)),
            None => Err(Error::Sink(io::Error::other("the sink's thread ended early"))),
        }
    }

    /// Closes the queue, commits the rest and waits for the thread to end. A sink that cannot write now is not waited for.
    pub(crate) fn finish(mut self) -> Result<(), Error> {
        self.pages = None;
        self.pause.is_ending.store(true, Ordering::Relaxed);
        let thread = self.thread.take().expect("finished once");
        thread.join().map_err(|_| Error::Sink(io::Error::other("the sink panicked")))?.map_err(Error::Sink)
    }
}

fn run(
    mut sink: Box<dyn Sink>,
    pages: &mpsc::Receiver<Put>,
    committed: &replies::UnboundedSender<io::Result<Committed>>,
    backlog: &Backlog,
    pause: &Pause,
) -> io::Result<()> {
    let mut settlements: Vec<Settlement> = Vec::new();
    let mut bytes = 0;
    let mut has_entries = false;
    let mut since = Instant::now();
    loop {
        let next = match pages.try_recv() {
            Err(mpsc::TryRecvError::Empty) if settlements.is_empty() && has_entries => {
                // Nothing else writes the log: the last lines before a long rest are not kept back.
                match pages.recv_timeout(COMMIT_INTERVAL) {
                    Err(mpsc::RecvTimeoutError::Timeout) => {
                        has_entries = false;
                        if let Err(error) = pause.retry(|| sink.flush_log()) {
                            return report(error, committed, pause);
                        }
                        continue;
                    }
                    Err(mpsc::RecvTimeoutError::Disconnected) => Err(mpsc::TryRecvError::Disconnected),
                    Ok(next) => Ok(next),
                }
            }
            Err(mpsc::TryRecvError::Empty) if settlements.is_empty() => {
                pages.recv().map_err(|_| mpsc::TryRecvError::Disconnected)
            }
            next => next,
        };
        let mut is_awaited = false;
        match next {
            Ok(Put::Entry(entry)) => {
                has_entries = true;
                if let Err(error) = pause.retry(|| sink.log(&entry)) {
                    return report(error, committed, pause);
                }
            }
            Ok(Put::Page(settlement, page)) => {
                if settlements.is_empty() {
                    since = Instant::now();
                }
                let page_bytes = page.body.len();
                bytes += page_bytes + settlement.link_bytes();
                settlements.push(*settlement);
                let taken = pause.retry(|| sink.put(&page));
                backlog.take(page_bytes);
                if let Err(error) = taken {
                    return report(error, committed, pause);
                }
            }
            Err(mpsc::TryRecvError::Empty) => {
                is_awaited = pause.is_awaited.swap(false, Ordering::Acquire);
                if !is_awaited {
                    std::thread::park_timeout(POLL_INTERVAL.min(COMMIT_INTERVAL.saturating_sub(since.elapsed())));
                }
            }
            Err(mpsc::TryRecvError::Disconnected) => {
                if !settlements.is_empty() {
                    let sink_position = pause.retry(|| sink.commit())?;
                    let settlements = std::mem::take(&mut settlements);
                    let _ = committed.send(Ok(Committed { settlements, sink_position }));
                }
                return pause.retry(|| sink.finish());
            }
        }
        let is_due = is_awaited || since.elapsed() >= COMMIT_INTERVAL || bytes >= COMMIT_BYTES;
        if is_due && !settlements.is_empty() {
            bytes = 0;
            match pause.retry(|| sink.commit()) {
                Ok(sink_position) => {
                    tracing::debug!(pages = settlements.len(), "pages are durable");
                    let settlements = std::mem::take(&mut settlements);
                    let _ = committed.send(Ok(Committed { settlements, sink_position }));
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
    use std::sync::Mutex;

    use url::Url;

    use super::*;
    use crate::frontier::{FetchRecord, Lease, Link, LocalFrontier, LocalOptions, Next, Settled};
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
        frontier.offer(&links).unwrap();
        let next = || match frontier.lease().unwrap() {
            Next::Fetch(lease) => lease,
            _ => panic!("there is one more"),
        };
        (0..count).map(|_| next()).collect()
    }

    fn put(writer: &mut PageWriter, lease: Lease) {
        let page = Page::empty(lease.link.url.clone());
        let record = FetchRecord { outcome: Outcome::Stored, bytes: 0, milliseconds: 0, digest: 0 };
        writer.put(Settlement::new(lease, Settled::Done(record)), Box::new(page));
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
                    committed = writer.committed() => n_committed += committed.unwrap().unwrap().settlements.len(),
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
    async fn pages_that_are_awaited_are_committed_at_once() {
        struct Quick;
        impl Sink for Quick {
            fn put(&mut self, _: &Page) -> io::Result<()> {
                Ok(())
            }
            fn commit(&mut self) -> io::Result<Vec<u8>> {
                Ok(Vec::new())
            }
            fn finish(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let folder = tempfile::tempdir().unwrap();
        let mut writer = PageWriter::start(Box::new(Quick));
        let mut shortest = Duration::MAX;
        // The machine may be busy now and then.
        for lease in leases(folder.path(), 10) {
            let began = Instant::now();
            put(&mut writer, lease);
            writer.commit_now();
            assert_eq!(writer.committed().await.unwrap().unwrap().settlements.len(), 1);
            shortest = shortest.min(began.elapsed());
        }
        assert!(shortest < COMMIT_INTERVAL / 4, "{shortest:?}");
        writer.finish().unwrap();
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
