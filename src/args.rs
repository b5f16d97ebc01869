//! Words become a [`Command`]; nothing outside is touched but the settings file.

use std::ffi::OsString;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::commands;
use crate::exit::Failure;

mod config;

/// Turns the web into text worth keeping.
#[derive(Parser, Debug)]
#[command(
    name = "pith",
    version,
    propagate_version = true,
    arg_required_else_help = true,
    after_help = "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 finished with losses that were counted and reported."
)]
struct Cli {
    /// Read flags from a TOML file: a table per command (`[crawl] delay = "2s"`); a flag on the command line wins.
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<std::path::PathBuf>,

    #[command(subcommand)]
    command: Command,
}

/// What the user asked for.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Crawl politely into page shards; run again to resume
    Crawl(Box<commands::crawl::Args>),
    /// Turn pages into documents: main text, metadata, links and a summary
    Extract(commands::extract::Args),
    /// Turn documents into a dataset: dedup, filter, stats, split, export
    Corpus(commands::corpus::Args),
    /// Tell what is in page shards and other archives, and show one record
    Inspect(commands::inspect::Args),
    /// Run the whole pipeline, offline, on a web served from memory
    Demo(commands::demo::Args),
    /// Measure methods against gold data, beside other programs
    Eval(commands::eval::Args),
}

/// Parses the words, with the settings file folded in where `--config` names one.
pub fn parse(words: Vec<OsString>) -> Result<Command, Failure> {
    let words = config::fold_in(words, &Cli::command())?;
    let matches = Cli::command().get_matches_from(words);
    Ok(Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit()).command)
}
