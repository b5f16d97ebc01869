//! The list of commands. Each file below joins stages, shows progress and prints.

pub mod corpus;
pub mod crawl;
pub mod demo;
pub mod eval;
pub mod extract;
pub mod inspect;

use crate::args::Command;
use crate::exit::{Exit, Failure};

/// Runs one command to its end.
pub fn run(command: Command) -> Result<Exit, Failure> {
    match command {
        Command::Crawl(args) => crawl::run(*args),
        Command::Corpus(args) => corpus::run(args),
        Command::Extract(args) => extract::run(args),
        Command::Demo(args) => demo::run(args),
        Command::Inspect(args) => inspect::run(args),
        Command::Eval(args) => eval::run(args),
    }
}
