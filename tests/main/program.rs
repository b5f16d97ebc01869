//! Runs the program and looks at what it says.

use std::path::Path;
use std::process::{Command, Output};

/// How one run of `pith` ended.
pub struct Run {
    /// The exit code.
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

/// Runs `pith` in a folder.
pub fn pith_in(folder: &Path, words: &[&str]) -> Run {
    run(Command::new(env!("CARGO_BIN_EXE_pith")).current_dir(folder).args(words))
}

/// Runs a prepared command.
pub fn run(command: &mut Command) -> Run {
    let Output { status, stdout, stderr } = command.output().expect("the program starts");
    Run {
        code: status.code().unwrap_or(-1),
        stdout: String::from_utf8(stdout).expect("it prints UTF-8"),
        stderr: String::from_utf8(stderr).expect("it prints UTF-8"),
    }
}
