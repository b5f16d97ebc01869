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
    /// Run the whole pipeline, offline, on a web served from memory
    Demo(commands::demo::Args),
}

/// Parses the words, with the settings file folded in where `--config` names one.
pub fn parse(words: Vec<OsString>) -> Result<Command, Failure> {
    let words = config::fold_in(words, &Cli::command())?;
    let matches = Cli::command().get_matches_from(words);
    Ok(Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit()).command)
}

/// Whether this build has a command of that name: the demo shows every stage that is there.
pub fn has_command(name: &str) -> bool {
    Cli::command().find_subcommand(name).is_some()
}
