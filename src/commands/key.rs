//! `pith key`: the key that a crawl signs its requests with.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use pith_crawler::SigningKey;
use url::Url;

use crate::exit::{Exit, Failure};

/// The arguments of `pith key`.
#[derive(clap::Args, Debug)]
#[command(before_help = "Examples:
  pith key new crawler.pem
  pith key directory crawler.pem > http-message-signatures-directory")]
pub struct Args {
    #[command(subcommand)]
    step: Step,
}

#[derive(clap::Subcommand, Debug)]
enum Step {
    /// Make a key, which only you can read
    #[command(before_help = "Examples:
  pith key new crawler.pem
  pith key new ~/.config/pith/crawler.pem")]
    New {
        /// The file to write; an existing one is left alone
        #[arg(value_name = "KEY")]
        key: PathBuf,
    },
    /// Print the directory of a key, to be served at /.well-known/http-message-signatures-directory with the type
    /// application/http-message-signatures-directory+json
    #[command(before_help = "Examples:
  pith key directory crawler.pem
  pith key directory crawler.pem > .well-known/http-message-signatures-directory")]
    Directory {
        /// The file that `pith key new` has written
        #[arg(value_name = "KEY")]
        key: PathBuf,
    },
}

/// Makes a key, or prints its directory.
pub fn run(args: Args) -> Result<Exit, Failure> {
    match args.step {
        Step::New { key } => write_new(&key)?,
        Step::Directory { key } => outln!("{}", read(&key, None)?.directory()),
    }
    Ok(Exit::Done)
}

/// Reads a key from its file.
pub fn read(path: &Path, agent: Option<&Url>) -> Result<SigningKey, Failure> {
    let cannot_read =
        |why: &dyn std::fmt::Display| Failure::usage(format!("{}: cannot read the key: {why}", path.display()));
    let text = fs::read_to_string(path).map_err(|error| cannot_read(&error))?;
    SigningKey::from_pem(&text, agent).map_err(|error| cannot_read(&error).hint("`pith key new FILE` makes one"))
}

fn write_new(path: &Path) -> Result<(), Failure> {
    let pem = SigningKey::generate_pem().map_err(|error| Failure::new(error.to_string()))?;
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    let written = file.and_then(|mut file| file.write_all(pem.as_bytes()).and_then(|()| file.sync_all()));
    written.map_err(|error| Failure::new(format!("{}: cannot write the key: {error}", path.display())))?;
    outln!("{}", read(path, None)?.thumbprint());
    Ok(())
}
