//! The threads that extract, and the watch over how long they take.

use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded};
use pith_corpus::warc::Page;

use super::{Extract, Outcome, Reply};

/// A page to extract, and where the outcome goes.
pub(super) struct Task {
    pub number: u64,
    pub page: Page,
    /// The name of the shard it came from.
    pub shard: Arc<str>,
    pub reply: Sender<Reply>,
    /// How far the reader is, for the progress.
    pub bytes: u64,
}

/// A fixed number of threads at work. A thread that a page holds for too long is left behind and replaced: a page
/// cannot be interrupted, but neither can it hold up its shard.
pub(super) struct Workers {
    tasks: Option<Sender<Task>>,
    is_over: Arc<AtomicBool>,
    watchman: Option<thread::JoinHandle<()>>,
}

/// What a thread is at. Emptied by the watchman when it took too long.
type Slot = Arc<Mutex<Option<Running>>>;

struct Running {
    since: Instant,
    number: u64,
    reply: Sender<Reply>,
    bytes: u64,
}

impl Workers {
    pub(super) fn start(jobs: NonZeroUsize, time_limit: Duration, extract: Arc<Extract>) -> Workers {
        let (tasks, queue) = bounded(jobs.get() * 2);
        let is_over = Arc::new(AtomicBool::new(false));
        let mut slots: Vec<Slot> = (0..jobs.get()).map(|_| spawn(queue.clone(), extract.clone())).collect();
        let over = is_over.clone();
        let watchman = thread::spawn(move || {
            while !over.load(Ordering::Relaxed) {
                thread::sleep(Duration::from_millis(20).min(time_limit));
                for slot in &mut slots {
                    if let Some(running) = overdue(slot, time_limit) {
                        *slot = spawn(queue.clone(), extract.clone());
                        let Running { number, reply, bytes, .. } = running;
                        let _ = reply.send(Reply { number, outcome: Outcome::Failed("time-limit"), bytes });
                    }
                }
            }
        });
        Workers { tasks: Some(tasks), is_over, watchman: Some(watchman) }
    }

    /// Hands a page to the next thread that is free; waits while all are busy and the queue is full.
    pub(super) fn give(&self, task: Task) {
        let tasks = self.tasks.as_ref().expect("workers take tasks until they are dropped");
        tasks.send(task).expect("there are always as many threads as were started");
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.tasks = None;
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(watchman) = self.watchman.take() {
            let _ = watchman.join();
        }
    }
}

fn overdue(slot: &Slot, time_limit: Duration) -> Option<Running> {
    let mut running = slot.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let is_overdue = running.as_ref().is_some_and(|running| running.since.elapsed() > time_limit);
    if is_overdue { running.take() } else { None }
}

fn spawn(queue: Receiver<Task>, extract: Arc<Extract>) -> Slot {
    let slot = Slot::default();
    let mine = slot.clone();
    thread::spawn(move || {
        for task in queue {
            let Task { number, page, shard, reply, bytes } = task;
            let running = Running { since: Instant::now(), number, reply, bytes };
            *mine.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Some(running);
            let outcome = catch_unwind(AssertUnwindSafe(|| extract(&page, &shard)));
            let outcome = outcome.unwrap_or(Outcome::Failed("panic"));
            let running = mine.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take();
            // An empty slot: the page was given up, and another thread has this one's place.
            let Some(Running { number, reply, bytes, .. }) = running else { return };
            let _ = reply.send(Reply { number, outcome, bytes });
        }
    });
    slot
}

#[cfg(test)]
mod tests {
    use super::*;
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
            workers.give(task);
        }
        drop(reply);
        let mut outcomes: Vec<(u64, String)> =
            replies.iter().map(|reply| (reply.number, format!("{:?}", reply.outcome))).collect();
        outcomes.sort();
        let texts: Vec<&str> = outcomes.iter().map(|outcome| outcome.1.as_str()).collect();
        assert_eq!(texts[1..3], ["Failed(\"time-limit\")", "Failed(\"panic\")"]);
        assert!(texts[0].starts_with("Extracted") && texts[3].starts_with("Extracted"), "{texts:?}");
    }
}
