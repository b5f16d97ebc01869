//! How a run ends: the exit codes, and the one line that explains a failure.

use std::error::Error;
use std::process::ExitCode;

/// How a command ended when nothing stopped it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Everything was done.
    Done,
    /// The work was finished, with losses that were counted and reported.
    Losses,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        match exit {
            Exit::Done => ExitCode::SUCCESS,
            Exit::Losses => ExitCode::from(3),
        }
    }
}

/// Why a command could not do its work: a sentence, and the way out where there is one.
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

    /// The words on the command line make no sense: exit code 2.
    pub fn usage(message: impl Into<String>) -> Self {
        Failure { message: message.into(), hint: None, code: 2 }
    }

    /// Adds the way out, printed on a line of its own.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Prints the failure on stderr and gives the exit code.
    pub fn report(&self) -> ExitCode {
        eprintln!("error: {}", self.message);
        if let Some(hint) = &self.hint {
            eprintln!("hint: {hint}");
        }
        ExitCode::from(self.code)
    }
}

/// Any library error becomes one line: itself and the chain of its sources.
impl<E: Error> From<E> for Failure {
    fn from(error: E) -> Self {
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
