//! How the program was started: its words, and the command that starts it again. A process of its own tells both; inside
//! of another program, such as an interpreter, whoever starts it does.

use std::ffi::OsString;
use std::sync::OnceLock;

/// How the program was started.
#[derive(Clone, Debug)]
pub struct Invocation {
    /// The words of the command line, the name of the program first.
    pub words: Vec<OsString>,
    /// The words that start the program again, without arguments of its own.
    pub program: Vec<OsString>,
}

impl Invocation {
    /// The command line of this process, which the same file starts again.
    pub fn of_process() -> Invocation {
        let words: Vec<OsString> = std::env::args_os().collect();
        let program = std::env::current_exe().map(OsString::from).or_else(|error| words.first().cloned().ok_or(error));
        Invocation { words, program: program.into_iter().collect() }
    }
}

static INVOCATION: OnceLock<Invocation> = OnceLock::new();

/// Says how the program was started; the first to say it is believed.
pub(crate) fn set(invocation: Invocation) {
    let _ = INVOCATION.set(invocation);
}

fn current() -> &'static Invocation {
    INVOCATION.get_or_init(Invocation::of_process)
}

/// The words of the command line behind the name of the program.
pub fn arguments() -> &'static [OsString] {
    current().words.get(1..).unwrap_or_default()
}

/// The words that start the program again.
#[cfg(feature = "lab")]
pub fn program() -> &'static [OsString] {
    &current().program
}

/// A command that starts the program again.
#[cfg(feature = "demo")]
pub fn command() -> std::process::Command {
    let mut words = program().iter();
    let mut command = std::process::Command::new(words.next().map_or("pith".into(), OsString::clone));
    command.args(words);
    command
}
