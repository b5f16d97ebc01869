//! The threads that extract, and the watchdog that enforces the time limit.

use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded};
use pith_corpus::warc::Page;
use pith_extractor::Cancellation;

/// How many pages may be in flight for every thread: a page that takes long then holds up the pages behind it, which are
/// done and wait for their turn, and not the threads.
pub const WINDOW_PER_JOB: usize = 8;

/// Turns a page of a shard into its outcome. Shared with threads that may outlive the work a little, when the time limit
/// has given their pages up.
pub type Extract<O> = dyn Fn(&Page, &str) -> O + Send + Sync;

/// Why a page has no outcome of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GivenUp {
    /// It took longer than it may.
    TimeLimit,
    /// A bug of ours.
    Panic,
}

impl GivenUp {
    /// The name in counts.
    pub fn name(self) -> &'static str {
        match self {
            GivenUp::TimeLimit => "time-limit",
            GivenUp::Panic => "panic",
        }
    }
}

/// A page to extract, and where the outcome goes.
pub struct Task<O> {
    /// Its number, which the reply has too.
    pub number: u64,
    /// The page.
    pub page: Page,
    /// The name of the shard it came from.
    pub shard: Arc<str>,
    /// Where the outcome goes.
    pub reply: Sender<Reply<O>>,
    /// How far the reader is, for the progress.
    pub bytes: u64,
}

/// An outcome on its way to whoever submitted the page.
pub struct Reply<O> {
    /// The number of the page.
    pub number: u64,
    /// What became of it.
    pub outcome: O,
    /// How far the reader is, for the progress.
    pub bytes: u64,
}

/// A fixed number of threads at work. A page that takes too long is cancelled; its thread is replaced at once, so that
/// it does not hold up its shard until it has noticed.
pub struct Workers<O> {
    tasks: Option<Sender<Task<O>>>,
    is_over: Arc<AtomicBool>,
    watchdog: Option<thread::JoinHandle<()>>,
}

/// The page that a thread works on. Emptied by the watchdog when it took too long.
type Slot<O> = Arc<Mutex<Option<Running<O>>>>;

struct Running<O> {
    since: Instant,
    number: u64,
    reply: Sender<Reply<O>>,
    bytes: u64,
    cancellation: Cancellation,
}

impl<O: From<GivenUp> + Send + 'static> Workers<O> {
    /// Starts so many threads; a page that takes longer than the limit is given up.
    pub fn start(jobs: NonZeroUsize, time_limit: Duration, extract: Arc<Extract<O>>) -> Workers<O> {
        let (tasks, queue) = bounded(jobs.get() * WINDOW_PER_JOB);
        let is_over = Arc::new(AtomicBool::new(false));
        let mut slots: Vec<Slot<O>> = (0..jobs.get()).map(|_| spawn(queue.clone(), extract.clone())).collect();
        let over = is_over.clone();
        let watchdog = thread::spawn(move || {
            while !over.load(Ordering::Relaxed) {
                thread::sleep(Duration::from_millis(20).min(time_limit));
                for slot in &mut slots {
                    if let Some(running) = overdue(slot, time_limit) {
                        *slot = spawn(queue.clone(), extract.clone());
                        let Running { number, reply, bytes, cancellation, .. } = running;
                        cancellation.cancel();
                        let _ = reply.send(Reply { number, outcome: GivenUp::TimeLimit.into(), bytes });
                    }
                }
            }
        });
        Workers { tasks: Some(tasks), is_over, watchdog: Some(watchdog) }
    }

    /// Hands a page to the next thread that is free; waits while all are busy and the queue is full, which it is not with
    /// fewer pages in flight than [`WINDOW_PER_JOB`] for every thread.
    pub fn submit(&self, task: Task<O>) {
        let tasks = self.tasks.as_ref().expect("workers take tasks until they are dropped");
        tasks.send(task).expect("there are always as many threads as were started");
    }
}

impl<O> Drop for Workers<O> {
    fn drop(&mut self) {
        self.tasks = None;
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(watchdog) = self.watchdog.take() {
            let _ = watchdog.join();
        }
    }
}

fn overdue<O>(slot: &Slot<O>, time_limit: Duration) -> Option<Running<O>> {
    let mut running = slot.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let is_overdue = running.as_ref().is_some_and(|running| running.since.elapsed() > time_limit);
    if is_overdue { running.take() } else { None }
}

fn spawn<O: From<GivenUp> + Send + 'static>(queue: Receiver<Task<O>>, extract: Arc<Extract<O>>) -> Slot<O> {
    let slot = Slot::default();
    let mine = slot.clone();
    thread::spawn(move || {
        for task in queue {
            let Task { number, page, shard, reply, bytes } = task;
            let cancellation = Cancellation::default();
            let running = Running { since: Instant::now(), number, reply, bytes, cancellation: cancellation.clone() };
            *mine.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Some(running);
            let outcome = catch_unwind(AssertUnwindSafe(|| cancellation.run(|| extract(&page, &shard))));
            let outcome = match outcome {
                Ok(Some(outcome)) => outcome,
                Ok(None) => GivenUp::TimeLimit.into(),
                Err(_) => GivenUp::Panic.into(),
            };
            let running = mine.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take();
            // An empty slot: the page was given up, and another thread has replaced this one.
            let Some(Running { number, reply, bytes, .. }) = running else { return };
            let _ = reply.send(Reply { number, outcome, bytes });
        }
    });
    slot
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::Outcome;
    use crossbeam_channel::unbounded;
    use pith_corpus::warc::PageKind;

    fn page(url: &str) -> Page {
        Page {
            kind: PageKind::Response,
            url: url.into(),
            fetched_at: None,
            status: Some(200),
            headers: Vec::new(),
            body: Vec::new(),
            is_whole: true,
            digest: None,
            preferences: None,
            offset: 0,
        }
    }

    #[test]
    fn a_page_that_never_ends_and_one_that_panics_cost_only_themselves() {
        let extract = |page: &Page, _: &str| match page.url.as_str() {
            "endless" => loop {
                thread::sleep(Duration::from_secs(60));
            },
            "panic" => panic!("on purpose"),
            url => Outcome::Extracted(url.into()),
        };
        let jobs = NonZeroUsize::new(1).unwrap();
        let workers = Workers::start(jobs, Duration::from_secs(3), Arc::new(extract));
        let (reply, replies) = unbounded();
        for (number, url) in (0..).zip(["a", "endless", "panic", "b"]) {
            let task = Task { number, page: page(url), shard: "s".into(), reply: reply.clone(), bytes: 0 };
            workers.submit(task);
        }
        drop(reply);
        let mut outcomes: Vec<(u64, String)> =
            replies.iter().map(|reply| (reply.number, format!("{:?}", reply.outcome))).collect();
        outcomes.sort();
        let texts: Vec<&str> = outcomes.iter().map(|outcome| outcome.1.as_str()).collect();
        assert_eq!(texts[1..3], ["Failed(\"time-limit\")", "Failed(\"panic\")"]);
        assert!(texts[0].starts_with("Extracted") && texts[3].starts_with("Extracted"), "{texts:?}");
    }

    #[test]
    fn the_thread_of_a_page_that_was_given_up_ends() {
        /// Tells when the thread leaves the page.
        struct Leaving(Sender<()>);
        impl Drop for Leaving {
            fn drop(&mut self) {
                let _ = self.0.send(());
            }
        }
        let (left, leaves) = unbounded();
        let extract = move |_: &Page, _: &str| -> Outcome {
            let _leaving = Leaving(left.clone());
            // Work without an end, all of it the extractor's.
            loop {
                pith_extractor::extract(b"<p>It rained all day.", None, &pith_extractor::Options::default());
            }
        };
        let workers = Workers::start(NonZeroUsize::MIN, Duration::from_millis(50), Arc::new(extract));
        let (reply, replies) = unbounded();
        workers.submit(Task { number: 0, page: page("endless"), shard: "s".into(), reply, bytes: 0 });
        assert!(matches!(replies.recv().unwrap().outcome, Outcome::Failed("time-limit")));
        leaves.recv().expect("the thread leaves the page");
    }
}
