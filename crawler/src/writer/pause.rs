//! The pause of the writer while its sink cannot write, and what the crawl wants of it.

use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::trouble::sink_trouble;

/// The first pause after an error of the sink that may pass; it doubles as long as the trouble goes on.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
/// The longest pause.
const MAX_PAUSE: Duration = Duration::from_secs(5);
/// How often a pause looks whether the crawl is to end.
const PAUSE_STEP: Duration = Duration::from_millis(50);

/// The pause of a sink that cannot write for now.
#[derive(Default)]
pub(super) struct Pause {
    trouble: Mutex<Option<&'static str>>,
    /// Whether the crawl ends: what cannot be written now is given up.
    pub(super) is_ending: AtomicBool,
    /// Whether the crawl waits for the pages that it has handed over.
    pub(super) is_awaited: AtomicBool,
}

impl Pause {
    pub(super) fn trouble(&self) -> Option<&'static str> {
        *self.trouble.lock().expect("nothing panics while it holds this")
    }

    fn set(&self, trouble: Option<&'static str>) {
        *self.trouble.lock().expect("nothing panics while it holds this") = trouble;
    }

    /// Calls the sink again and again while its errors may pass, until it succeeds or the crawl ends.
    pub(super) fn retry<T>(&self, mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
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
