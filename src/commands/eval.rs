//! `pith eval`: the lab.

pub mod freshness;
pub mod ordering;

use clap::Subcommand;

use crate::exit::{Exit, Failure};

/// What to measure.
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Compare crawl orders on a stored graph
    Ordering(ordering::Args),
    /// Compare ways to keep pages fresh
    Freshness(freshness::Args),
}

/// Runs one comparison.
pub fn run(args: Args) -> Result<Exit, Failure> {
    match args.command {
        Command::Ordering(args) => ordering::run(args),
        Command::Freshness(args) => freshness::run(args),
    }
}
