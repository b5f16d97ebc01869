//! Where a long step is: a bar on a terminal, plain lines elsewhere, nothing when asked to be quiet.

use std::io::IsTerminal;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use indicatif::{HumanCount, HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::exit::Failure;

/// Between two plain lines, where there is no terminal.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// Shows one step after the other. Shared by the threads that do the work.
pub struct Progress {
    look: Look,
    /// What is counted: `pages`, `documents`.
    unit: &'static str,
    items: AtomicU64,
    bytes: AtomicU64,
    state: Mutex<State>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Look {
    Bar,
    Lines,
    Quiet,
}

struct State {
    step: String,
    total_bytes: u64,
    began: Instant,
    printed: Instant,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// For a command that counts `unit`s; `--quiet` silences it.
    pub fn new(unit: &'static str, quiet: bool) -> Progress {
        let look = match (quiet, std::io::stderr().is_terminal()) {
            (true, _) => Look::Quiet,
            (false, true) => Look::Bar,
            (false, false) => Look::Lines,
        };
        let now = Instant::now();
        let state = State { step: String::new(), total_bytes: 0, began: now, printed: now, bar: None };
        Progress { look, unit, items: AtomicU64::new(0), bytes: AtomicU64::new(0), state: Mutex::new(state) }
    }

    /// A step begins that will read this many bytes.
    pub fn begin(&self, step: &str, total_bytes: u64) {
        self.finish();
        let mut state = self.state.lock().expect("no thread panics while it shows progress");
        let now = Instant::now();
        *state = State { step: step.into(), total_bytes, began: now, printed: now, bar: None };
        self.items.store(0, Ordering::Relaxed);
        self.bytes.store(0, Ordering::Relaxed);
        if self.look == Look::Bar {
            let style = ProgressStyle::with_template("{prefix} [{bar:30}] {percent:>3} % {msg}")
                .expect("the template is a constant")
                .progress_chars("=> ");
            let bar = ProgressBar::with_draw_target(Some(total_bytes.max(1)), ProgressDrawTarget::stderr());
            bar.set_style(style);
            bar.set_prefix(step.to_owned());
            state.bar = Some(bar);
        }
    }

    /// So many bytes, and with them so many items, are behind us.
    pub fn advance(&self, bytes: u64, items: u64) {
        let bytes = self.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let items = self.items.fetch_add(items, Ordering::Relaxed) + items;
        if self.look == Look::Quiet {
            return;
        }
        // A thread that finds another one printing goes back to work.
        let Ok(mut state) = self.state.try_lock() else { return };
        let pause = if self.look == Look::Bar { Duration::from_millis(100) } else { LINE_EVERY };
        if state.printed.elapsed() < pause {
            return;
        }
        state.printed = Instant::now();
        let message = self.message(&state, bytes, items);
        match &state.bar {
            Some(bar) => {
                bar.set_position(bytes.min(state.total_bytes));
                bar.set_message(message);
            }
            None => {
                let percent = (bytes * 100).checked_div(state.total_bytes).unwrap_or(0).min(100);
                eprintln!("{}: {percent} %, {message}", state.step);
            }
        }
    }

    /// The step is over; its bar disappears.
    pub fn finish(&self) {
        let mut state = self.state.lock().expect("no thread panics while it shows progress");
        if let Some(bar) = state.bar.take() {
            bar.finish_and_clear();
        }
    }

    /// One line of talk on stderr, above the bar where there is one; nothing when quiet.
    pub fn say(&self, line: impl AsRef<str>) {
        if self.look != Look::Quiet {
            self.warn(line);
        }
    }

    /// One line on stderr that is shown even when quiet.
    pub fn warn(&self, line: impl AsRef<str>) {
        let state = self.state.lock().expect("no thread panics while it shows progress");
        match &state.bar {
            Some(bar) => bar.suspend(|| eprintln!("{}", line.as_ref())),
            None => eprintln!("{}", line.as_ref()),
        }
    }

    fn message(&self, state: &State, bytes: u64, items: u64) -> String {
        let seconds = state.began.elapsed().as_secs_f64().max(1e-3);
        let rate = items as f64 / seconds;
        let mut message = format!("{} {}, {rate:.0}/s", HumanCount(items), self.unit);
        if bytes > 0 && state.total_bytes > bytes {
            let left = seconds * (state.total_bytes - bytes) as f64 / bytes as f64;
            message.push_str(&format!(", {} left", HumanDuration(Duration::from_secs_f64(left))));
        }
        message
    }
}

static STOPPED: AtomicBool = AtomicBool::new(false);

/// From now on the first Ctrl-C asks the work to stop at a place it can go on from; the second ends the program.
pub fn stop_on_interrupt() -> Result<(), Failure> {
    ctrlc::set_handler(|| {
        if STOPPED.swap(true, Ordering::Relaxed) {
            std::process::exit(1);
        }
        eprintln!("stopping; press Ctrl-C again to stop at once");
    })
    .map_err(Failure::from)
}

impl pith_corpus::Watch for Progress {
    fn begin(&self, step: &str, total_bytes: u64) {
        Progress::begin(self, step, total_bytes);
    }

    fn advance(&self, bytes: u64, documents: u64) {
        Progress::advance(self, bytes, documents);
    }

    fn stopped(&self) -> bool {
        STOPPED.load(Ordering::Relaxed)
    }
}
