//! `pith eval`: evaluation and training. Each subcommand measures one stage, compared with its peers.

pub mod answer;
pub mod extraction;
mod fidelity;
pub mod freshness;
pub mod ordering;
mod predictions;
pub mod speed;
pub mod summaries;
pub mod train;
pub mod train_summaries;

use crate::exit::{Exit, Failure};

/// The arguments of `pith eval`.
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

/// What is measured.
#[derive(clap::Subcommand, Debug)]
enum Command {
    /// Score main content against gold pages
    Extraction(extraction::Args),
    /// Read the same pages as other programs, in turns, and compare the speeds
    Speed(speed::Args),
    /// Answer {id, url, html} lines with {id, text}, as a peer of other harnesses
    Answer(answer::Args),
    /// Train the tables of the extractor, and validate them on pages not seen
    Train(train::Args),
    /// Rank sentences by every method and compare with reference summaries
    Summaries(summaries::Args),
    /// Fit the weights of the default ranking, and compare on sets that had no part
    TrainSummaries(train_summaries::Args),
    /// Compare crawl orders on a stored graph
    Ordering(ordering::Args),
    /// Compare ways to keep pages fresh
    Freshness(freshness::Args),
}

/// Runs one evaluation.
pub fn run(args: Args) -> Result<Exit, Failure> {
    match args.command {
        Command::Extraction(args) => extraction::run(args),
        Command::Speed(args) => speed::run(args),
        Command::Answer(args) => answer::run(args),
        Command::Train(args) => train::run(args),
        Command::Summaries(args) => summaries::run(args),
        Command::TrainSummaries(args) => train_summaries::run(args),
        Command::Ordering(args) => ordering::run(args),
        Command::Freshness(args) => freshness::run(args),
    }
}

/// Prints data; a reader that has seen enough is no failure.
fn print(text: &str) -> Result<Exit, Failure> {
    crate::print::bytes(text.as_bytes())?;
    Ok(Exit::Done)
}
