//! Ending an extraction from another thread.
//!
//! The extractor has no clock. Whoever has one runs the work under a [`Cancellation`] and cancels it when its time is
//! over; the long loops look at the flag and leave.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

thread_local! {
    /// The flag of the work that this thread does.
    static CURRENT: RefCell<Option<Cancellation>> = const { RefCell::new(None) };
}

/// A flag that ends the work which runs under it; its copies are the same flag.
///
/// ```
/// use pith_extractor::{Cancellation, Options, extract};
///
/// let cancellation = Cancellation::default();
/// assert!(cancellation.run(|| extract(b"<p>rain", None, &Options::default())).is_some());
/// cancellation.cancel(); // by another thread, as a rule
/// assert!(cancellation.run(|| extract(b"<p>rain", None, &Options::default())).is_none());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Cancellation(Arc<AtomicBool>);

/// What the stack is unwound with.
struct Cancelled;

impl Cancellation {
    /// Ends the work that runs under this flag, now or later.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Runs work on this thread; `None` when it was cancelled. Functions of this crate end within a few milliseconds,
    /// by unwinding; what else the work does is not interrupted.
    pub fn run<T>(&self, work: impl FnOnce() -> T) -> Option<T> {
        let outer = CURRENT.replace(Some(self.clone()));
        let result = catch_unwind(AssertUnwindSafe(work));
        CURRENT.set(outer);
        match result {
            Ok(done) => Some(done),
            Err(panic) if panic.is::<Cancelled>() => None,
            Err(panic) => resume_unwind(panic),
        }
    }
}

/// Leaves, when the work of this thread was cancelled. To be called in loops whose length the page decides, once for
/// some kilobytes of it.
pub(crate) fn check() {
    let is_cancelled = CURRENT.with_borrow(|flag| flag.as_ref().is_some_and(|flag| flag.0.load(Ordering::Relaxed)));
    if is_cancelled {
        // Not a panic: no hook is called and nothing is printed.
        resume_unwind(Box::new(Cancelled));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_ends_at_its_next_check_and_the_thread_goes_on() {
        let cancellation = Cancellation::default();
        let flag = cancellation.clone();
        let mut n_checks = 0;
        let result: Option<()> = cancellation.run(|| {
            loop {
                check();
                n_checks += 1;
                if n_checks == 3 {
                    flag.cancel();
                }
            }
        });
        assert_eq!((result, n_checks), (None, 3));
        check();
        assert_eq!(Cancellation::default().run(check), Some(()));
    }

    #[test]
    fn a_panic_is_still_a_panic() {
        let result = catch_unwind(|| Cancellation::default().run(|| resume_unwind(Box::new("on purpose"))));
        let panic = result.map(|_: Option<()>| ()).unwrap_err();
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"on purpose"));
    }
}
