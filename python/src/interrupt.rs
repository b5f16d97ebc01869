//! Work that Ctrl-C can end, and that cannot take the interpreter down.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, bounded};
use pith_extractor::Cancellation;
use pyo3::exceptions::{PyRuntimeError, PyTimeoutError};
use pyo3::prelude::*;

/// How often a call that waits looks for Ctrl-C.
const SIGNALS_EVERY: Duration = Duration::from_millis(50);

/// Input of this size is worked on at once, on the caller's thread: that takes milliseconds, and a thread of its own would
/// cost as much as a small page.
const SHORT_BYTES: usize = 256 << 10;

/// Does what the extractor does with `n_bytes` of input, with the interpreter released. More than a little goes to another
/// thread, while this one looks for Ctrl-C and the clock.
pub fn extractor_work<T: Send>(
    py: Python<'_>,
    n_bytes: usize,
    time_limit: Duration,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    if n_bytes <= SHORT_BYTES {
        return py.detach(|| catch_unwind(AssertUnwindSafe(work))).map_err(panicked);
    }
    let cancellation = Cancellation::default();
    let deadline = Instant::now() + time_limit;
    let stop = || cancellation.cancel();
    let done = stoppable(py, Some(deadline), stop, || cancellation.run(work))?;
    done.ok_or_else(|| PyTimeoutError::new_err(format!("the page took longer than {} s", time_limit.as_secs_f64())))
}

/// Does work on `n_bytes` of input, with the interpreter released; more than a little of it on another thread, which `stop` ends
/// at Ctrl-C.
pub fn worth_a_thread<T: Send>(
    py: Python<'_>,
    n_bytes: usize,
    stop: impl Fn() + Sync,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    if n_bytes <= SHORT_BYTES {
        return py.detach(|| catch_unwind(AssertUnwindSafe(work))).map_err(panicked);
    }
    stoppable(py, None, stop, work)
}

/// Runs work on another thread until it ends by itself, or by `stop`, which is called for Ctrl-C and at the deadline.
pub fn stoppable<T: Send>(
    py: Python<'_>,
    deadline: Option<Instant>,
    stop: impl Fn() + Sync,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    let (sender, receiver) = bounded(1);
    let (result, interrupted) = thread::scope(|scope| {
        scope.spawn(move || sender.send(catch_unwind(AssertUnwindSafe(work))));
        let mut interrupted = Ok(());
        loop {
            let waited = py.detach(|| receiver.recv_timeout(SIGNALS_EVERY));
            match waited {
                Ok(result) => return (result, interrupted),
                Err(RecvTimeoutError::Disconnected) => {
                    let nothing: Box<dyn Any + Send> = Box::new("a thread ended without a word");
                    return (Err(nothing), interrupted);
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            if interrupted.is_ok() {
                interrupted = py.check_signals();
            }
            if interrupted.is_err() || deadline.is_some_and(|deadline| Instant::now() > deadline) {
                stop();
            }
        }
    });
    interrupted?;
    result.map_err(panicked)
}

/// The next message, with the interpreter released; Ctrl-C is an error. Nothing when there will be none.
pub fn receive<T: Send>(py: Python<'_>, messages: &Receiver<T>) -> PyResult<Option<T>> {
    if let Ok(message) = messages.try_recv() {
        return Ok(Some(message));
    }
    loop {
        match py.detach(|| messages.recv_timeout(SIGNALS_EVERY)) {
            Ok(message) => return Ok(Some(message)),
            Err(RecvTimeoutError::Disconnected) => return Ok(None),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
        }
    }
}

fn panicked(panic: Box<dyn Any + Send>) -> PyErr {
    let said = panic.downcast_ref::<&str>().map(|text| text.to_string());
    let said = said.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
    PyRuntimeError::new_err(format!("a bug in pith, please report it: {said}"))
}
