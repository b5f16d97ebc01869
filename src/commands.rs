//! The list of commands. Each file below joins stages, shows progress and prints.

pub mod crawl;
pub mod demo;

use crate::args::Command;
use crate::exit::{Exit, Failure};

/// Runs one command to its end.
pub fn run(command: Command) -> Result<Exit, Failure> {
    match command {
        Command::Crawl(args) => crawl::run(*args),
        Command::Demo(args) => demo::run(args),
    }
}
