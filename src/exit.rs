//! How a run ends: the exit codes, and the one line that explains a failure.

use std::error::Error;

use crate::signal::Signal;

/// How a command ended when nothing stopped it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Everything was done.
    Done,
    /// The work was finished, with losses that were counted and reported.
    Losses,
    /// A signal stopped the work, which can go on from there.
    Stopped(Signal),
}

impl Exit {
    /// The end of two pieces of work.
    pub fn worse(self, other: Exit) -> Exit {
        if self == Exit::Done { other } else { self }
    }

    /// The exit code.
    pub fn code(self) -> u8 {
        match self {
            Exit::Done => 0,
            Exit::Losses => 3,
            Exit::Stopped(signal) => signal.code(),
        }
    }
}

/// Why a command could not do its work: a message, and a hint where there is one.
#[derive(Debug)]
pub struct Failure {
    message: String,
    hint: Option<String>,
    code: u8,
}

impl Failure {
    /// The work failed: exit code 1.
    pub fn new(message: impl Into<String>) -> Self {
        Failure { message: message.into(), hint: None, code: 1 }
    }

    /// The command line is invalid: exit code 2.
    pub fn usage(message: impl Into<String>) -> Self {
        Failure { message: message.into(), hint: None, code: 2 }
    }

    /// A signal stopped the work: exit code 130 or 143.
    pub fn stopped(message: impl Into<String>, signal: Signal) -> Self {
        Failure { message: message.into(), hint: None, code: signal.code() }
    }

    /// Stdout cannot be written. A reader that went away, as `head` does, has all it wanted: that is no failure.
    pub fn stdout(error: &std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => Failure { message: String::new(), hint: None, code: 0 },
            _ => Failure::new(format!("cannot write to standard output: {error}")),
        }
    }

    /// Adds a hint, printed on a line of its own.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Prints the failure on stderr and gives the exit code.
    pub fn report(&self) -> u8 {
        if self.code != 0 {
            sayln!("error: {}", self.message);
            if let Some(hint) = &self.hint {
                sayln!("hint: {hint}");
            }
        }
        self.code
    }

    /// What went wrong, with the hint where there is one.
    pub fn message(&self) -> String {
        match &self.hint {
            Some(hint) => format!("{}; {hint}", self.message),
            None => self.message.clone(),
        }
    }
}

/// Any library error becomes one line: itself and the chain of its sources.
impl<E: Error + 'static> From<E> for Failure {
    fn from(error: E) -> Self {
        let as_io = (&error as &(dyn Error + 'static)).downcast_ref::<std::io::Error>();
        if as_io.is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe) {
            return Failure::stdout(as_io.expect("it is one"));
        }
        let mut message = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            let cause_text = cause.to_string();
            if !message.ends_with(&cause_text) {
                message.push_str(": ");
                message.push_str(&cause_text);
            }
            source = cause.source();
        }
        Failure::new(message)
    }
}
