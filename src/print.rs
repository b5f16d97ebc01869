//! What the program prints. Data goes to stdout, and a stdout that cannot be written fails the command; talk goes to
//! stderr, and a stderr that cannot be written is no reason to stop: there is nobody to tell.

use std::fmt::Arguments;
use std::io::{self, Write};

use crate::exit::Failure;

/// Prints data, in a function that returns a `Result` with a [`Failure`].
macro_rules! out {
    ($($words:tt)*) => { $crate::print::data(format_args!($($words)*))? };
}

/// Prints a line of data, in a function that returns a `Result` with a [`Failure`].
macro_rules! outln {
    () => { $crate::print::data(format_args!("\n"))? };
    ($($words:tt)*) => { $crate::print::data(format_args!("{}\n", format_args!($($words)*)))? };
}

/// Prints a line of talk.
macro_rules! sayln {
    ($($words:tt)*) => { $crate::print::talk(format_args!("{}\n", format_args!($($words)*))) };
}

/// Writes to stdout.
pub fn data(words: Arguments) -> Result<(), Failure> {
    io::stdout().lock().write_fmt(words).map_err(|error| Failure::stdout(&error))
}

/// Writes bytes to stdout.
pub fn bytes(bytes: &[u8]) -> Result<(), Failure> {
    io::stdout().lock().write_all(bytes).map_err(|error| Failure::stdout(&error))
}

/// Writes a line of bytes to stdout; the error is the caller's to tell.
pub fn line(line: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(line)?;
    stdout.write_all(b"\n")
}

/// Hands what is left in memory to the system, so that a full disk is noticed before the program ends.
pub fn flush() -> Result<(), Failure> {
    io::stdout().lock().flush().map_err(|error| Failure::stdout(&error))
}

/// Writes to stderr, if that is possible.
pub fn talk(words: Arguments) {
    let _ = io::stderr().lock().write_fmt(words);
}
