//! The progress of a long step: a bar on a terminal, nothing elsewhere.

use std::io::IsTerminal;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use indicatif::{HumanCount, HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::exit::Failure;
use crate::signal::Signal;

/// Between two drawings of the bar.
const REDRAW_EVERY: Duration = Duration::from_millis(100);

/// Shows one step after the other. Shared by the threads that do the work.
pub struct Progress {
    mode: DisplayMode,
    /// What is counted: `pages`, `documents`.
    unit: &'static str,
    items: AtomicU64,
    bytes: AtomicU64,
    /// Whoever waits for this work does not want it any more.
    is_stopped: AtomicBool,
    state: Mutex<State>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum DisplayMode {
    Bar,
    /// No terminal: what is out of the ordinary is said, and no more.
    Plain,
    Quiet,
}

struct State {
    total_bytes: u64,
    began: Instant,
    printed: Instant,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// For a command that counts `unit`s; `--quiet` silences it.
    pub fn new(unit: &'static str, quiet: bool) -> Progress {
        let mode = match (quiet, std::io::stderr().is_terminal()) {
            (true, _) => DisplayMode::Quiet,
            (false, true) => DisplayMode::Bar,
            (false, false) => DisplayMode::Plain,
        };
        let now = Instant::now();
        let state = State { total_bytes: 0, began: now, printed: now, bar: None };
        Progress {
            mode,
            unit,
            items: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            is_stopped: AtomicBool::new(false),
            state: Mutex::new(state),
        }
    }

    /// For work of which nothing is shown.
    pub fn silent() -> Progress {
        Progress::new("", true)
    }

    /// Asks this work to stop where it can be resumed.
    pub fn stop(&self) {
        self.is_stopped.store(true, Ordering::Relaxed);
    }

    /// A step begins that will read this many bytes.
    pub fn begin(&self, step: &str, total_bytes: u64) {
        self.finish();
        let mut state = self.state.lock().expect("no thread panics while it shows progress");
        let now = Instant::now();
        *state = State { total_bytes, began: now, printed: now, bar: None };
        self.items.store(0, Ordering::Relaxed);
        self.bytes.store(0, Ordering::Relaxed);
        if self.mode == DisplayMode::Bar {
            let style = ProgressStyle::with_template("{prefix} [{bar:30}] {percent:>3} % {msg}")
                .expect("the template is a constant")
                .progress_chars("=> ");
            let bar = ProgressBar::with_draw_target(Some(total_bytes.max(1)), ProgressDrawTarget::stderr());
            bar.set_style(style);
            bar.set_prefix(step.to_owned());
            state.bar = Some(bar);
        }
    }

    /// Adds bytes and items that were processed.
    pub fn advance(&self, bytes: u64, items: u64) {
        let bytes = self.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let items = self.items.fetch_add(items, Ordering::Relaxed) + items;
        if self.mode != DisplayMode::Bar {
            return;
        }
        // A thread that finds another one printing goes back to work.
        let Ok(mut state) = self.state.try_lock() else { return };
        if state.printed.elapsed() < REDRAW_EVERY {
            return;
        }
        state.printed = Instant::now();
        let message = self.message(&state, bytes, items);
        if let Some(bar) = &state.bar {
            bar.set_position(bytes.min(state.total_bytes));
            bar.set_message(message);
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
        if self.mode != DisplayMode::Quiet {
            self.warn(line);
        }
    }

    /// One line on stderr that is shown even when quiet.
    pub fn warn(&self, line: impl AsRef<str>) {
        let state = self.state.lock().expect("no thread panics while it shows progress");
        match &state.bar {
            Some(bar) => bar.suspend(|| sayln!("{}", line.as_ref())),
            None => sayln!("{}", line.as_ref()),
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

/// The exit code of the signal that asked to stop; zero for none.
static STOPPED: AtomicU8 = AtomicU8::new(0);

/// From now on the first Ctrl-C or SIGTERM asks the work to stop where it can be resumed; the second ends the program.
pub fn stop_on_interrupt() -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    std::thread::spawn(move || {
        runtime.block_on(async {
            let first = Signal::next().await;
            STOPPED.store(first.code(), Ordering::Relaxed);
            sayln!("stopping; press Ctrl-C again to stop at once");
            let second = Signal::next().await;
            std::process::exit(second.code().into());
        })
    });
    Ok(())
}

/// The signal that asked the work to stop.
pub fn stop_signal() -> Option<Signal> {
    [Signal::Interrupt, Signal::Terminate].into_iter().find(|signal| signal.code() == STOPPED.load(Ordering::Relaxed))
}

impl pith_corpus::Observer for Progress {
    fn begin(&self, step: &str, total_bytes: u64) {
        Progress::begin(self, step, total_bytes);
    }

    fn advance(&self, bytes: u64, documents: u64) {
        Progress::advance(self, bytes, documents);
    }

    fn is_stopped(&self) -> bool {
        STOPPED.load(Ordering::Relaxed) != 0 || self.is_stopped.load(Ordering::Relaxed)
    }
}
