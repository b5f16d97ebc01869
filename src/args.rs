//! Words become a [`Command`]; nothing outside is touched but the settings file.

use std::ffi::OsString;
use std::io::Write;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::commands;
use crate::exit::Failure;

mod config;
mod settings;

/// Turns the web into text worth keeping.
#[derive(Parser, Debug)]
#[command(
    name = "pith",
    version,
    propagate_version = true,
    arg_required_else_help = true,
    after_help = "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 finished with losses that were counted and reported, 130 and 143 stopped by Ctrl-C and SIGTERM."
)]
struct Cli {
    /// Read flags from a TOML file: a table per command (`[crawl] delay = "2s"`); a flag on the command line wins.
    /// Without it `pith.toml` in the current folder is read, if there is one
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<std::path::PathBuf>,
    /// Do not read `pith.toml`
    #[arg(long, global = true, conflicts_with = "config")]
    no_config: bool,

    #[command(subcommand)]
    command: Command,
}

/// What the user asked for.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Crawl politely into page shards; run again to resume
    Crawl(Box<commands::crawl::Args>),
    /// Print the text of a URL, a saved page or an archive
    Text(commands::text::Args),
    /// Turn pages into documents: main text, metadata, links and a summary
    Extract(commands::extract::Args),
    /// Turn documents into a dataset: dedup, filter, stats, split, export
    Corpus(commands::corpus::Args),
    /// Tell what is in page shards and other archives, and show one record
    Inspect(commands::inspect::Args),
    /// Make the key that a crawl signs its requests with, and the directory that tells it to others
    Key(commands::key::Args),
    /// Run the whole pipeline, offline, on a web served from memory
    #[cfg(feature = "demo")]
    Demo(commands::demo::Args),
    /// Print the completions of a shell
    Completions(commands::manual::CompletionsArgs),
    /// Print the manual page, or write one for every command
    Man(commands::manual::ManArgs),
    /// Measure methods against gold data and compare them with other programs
    #[cfg(feature = "lab")]
    Eval(commands::eval::Args),
}

/// The whole command line, for its manual and the completions of shells.
pub fn command_line() -> clap::Command {
    Cli::command()
}

/// Parses the arguments, merged with the settings file that `--config` names.
///
/// `None` when the help or the version was asked for, which is printed here.
pub fn parse(args: Vec<OsString>) -> Result<Option<Command>, Failure> {
    let args = config::merge_config_file(args, &Cli::command())?;
    let parsed = Cli::command().try_get_matches_from(args).and_then(|matches| {
        let mut cli = Cli::from_arg_matches(&matches)?;
        if let (Command::Crawl(args), Some((name, matches))) = (&mut cli.command, matches.subcommand()) {
            args.settings = settings::by_flag(name, matches, &Cli::command());
        }
        Ok(cli)
    });
    match parsed {
        Ok(cli) => Ok(Some(cli.command)),
        Err(answer) if !answer.use_stderr() => {
            answer.print().and_then(|()| std::io::stdout().flush()).map_err(|error| Failure::stdout(&error))?;
            Ok(None)
        }
        Err(error) => error.exit(),
    }
}
