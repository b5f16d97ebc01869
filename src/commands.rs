//! The list of commands. Each file below joins stages, shows progress and prints.

pub mod corpus;
pub mod crawl;
#[cfg(feature = "demo")]
pub mod demo;
#[cfg(feature = "lab")]
pub mod eval;
pub mod extract;
pub mod inspect;
pub mod key;
pub mod manual;
pub mod text;

use crate::args::Command;
use crate::exit::{Exit, Failure};

/// Runs one command to its end.
pub fn run(command: Command) -> Result<Exit, Failure> {
    match command {
        Command::Crawl(args) => crawl::run(*args),
        Command::Text(args) => text::run(args),
        Command::Completions(args) => manual::completions(args),
        Command::Man(args) => manual::man(args),
        Command::Corpus(args) => corpus::run(args),
        Command::Extract(args) => extract::run(args),
        #[cfg(feature = "demo")]
        Command::Demo(args) => demo::run(args),
        Command::Inspect(args) => inspect::run(args),
        Command::Key(args) => key::run(args),
        #[cfg(feature = "lab")]
        Command::Eval(args) => eval::run(args),
    }
}
