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

    /// Prints the failure on stderr and gives the exit code. A reader that went away, as `head` does, has all it wanted:
    /// that is no failure.
    pub fn report(&self) -> ExitCode {
        if self.code == 0 {
            return ExitCode::SUCCESS;
        }
        eprintln!("error: {}", self.message);
        if let Some(hint) = &self.hint {
            eprintln!("hint: {hint}");
        }
        ExitCode::from(self.code)
    }
}

/// Any library error becomes one line: itself and the chain of its sources.
impl<E: Error + 'static> From<E> for Failure {
    fn from(error: E) -> Self {
        let as_io = (&error as &(dyn Error + 'static)).downcast_ref::<std::io::Error>();
        if as_io.is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe) {
            return Failure { message: String::new(), hint: None, code: 0 };
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

/// Lets `println!` end the program quietly when the reader of stdout went away, instead of with a panic.
pub fn forgive_closed_pipes() {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let message = panic.payload().downcast_ref::<String>();
        if message.is_some_and(|text| text.starts_with("failed printing to stdout") && text.contains("Broken pipe")) {
            std::process::exit(0);
        }
        report(panic);
    }));
}
