//! The program `pith`, inside of an interpreter.

use std::ffi::OsString;

use pith::Invocation;
use pyo3::prelude::*;

/// Runs the program with the words of a command line, the name first, and gives its exit code. `program` are the words that
/// start it again.
#[pyfunction]
pub fn run(py: Python<'_>, words: Vec<OsString>, program: Vec<OsString>) -> u8 {
    py.detach(|| pith::run(Invocation { words, program }))
}

/// The version of pith.
#[pyfunction]
pub fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}
