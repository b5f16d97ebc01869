//! What became of the URLs of a crawl, from its log.

use std::path::{Path, PathBuf};

use pith_corpus::jsonl::{Line, Reader};
use pith_corpus::log::{LogLine, log_files};
use pith_crawler::Outcome;

use super::Args;
use crate::exit::{Exit, Failure};

/// Which lines are shown.
enum Wanted {
    All,
    Outcome(&'static str),
    Status(u16),
}

impl Wanted {
    /// From `all`, the name of an outcome, or a status.
    fn parse(text: &str) -> Result<Wanted, Failure> {
        if text == "all" {
            return Ok(Wanted::All);
        }
        if let Some(outcome) = Outcome::ALL.iter().find(|outcome| outcome.name() == text) {
            return Ok(Wanted::Outcome(outcome.name()));
        }
        if let Some(status) = text.parse().ok().filter(|status| (100..1000).contains(status)) {
            return Ok(Wanted::Status(status));
        }
        let names: Vec<&str> = Outcome::ALL.iter().map(|outcome| outcome.name()).collect();
        Err(Failure::usage(format!("`--outcomes {text}`: there is no such outcome"))
            .hint(format!("a status such as 404, or one of {}", names.join(", "))))
    }

    fn has(&self, line: &LogLine<'_>) -> bool {
        match self {
            Wanted::All => true,
            Wanted::Outcome(name) => line.outcome == *name,
            Wanted::Status(status) => line.status == Some(*status),
        }
    }
}

/// Lists the URLs of the crawls among the inputs.
pub(super) fn list(args: &Args, wanted: &str) -> Result<Exit, Failure> {
    let wanted = Wanted::parse(wanted)?;
    let mut exit = Exit::Done;
    for crawl in &args.inputs {
        for path in files(crawl)? {
            exit = exit.worse(list_file(&path, &wanted, args.json)?);
        }
    }
    Ok(exit)
}

/// The files of the log of a crawl, or of a folder of logs.
fn files(crawl: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut files = log_files(&crawl.join("log"))?;
    if files.is_empty() {
        files = log_files(crawl)?;
    }
    if files.is_empty() {
        return Err(Failure::new(format!("{}: no log of a crawl here", crawl.display()))
            .hint("`--outcomes` takes the folder of a crawl, which has a log unless it ran with `--no-log`"));
    }
    Ok(files.into_iter().map(|(_, path)| path).collect())
}

fn list_file(path: &Path, wanted: &Wanted, as_json: bool) -> Result<Exit, Failure> {
    let mut reader = Reader::open(path)?;
    let mut exit = Exit::Done;
    while let Some(found) = reader.next_line() {
        let (number, why) = match found {
            Line::Good { number, bytes } => match LogLine::parse(bytes) {
                Ok(line) => {
                    if wanted.has(&line) {
                        print(&line, bytes, as_json)?;
                    }
                    continue;
                }
                Err(error) => (number, error.to_string()),
            },
            Line::Damaged { number, why } => (number, why),
        };
        sayln!("{}:{number}: {why}", path.display());
        exit = Exit::Losses;
    }
    Ok(exit)
}

/// Prints a line: outcome and status, URL, and where it was found or leads to.
fn print(line: &LogLine<'_>, bytes: &[u8], as_json: bool) -> Result<(), Failure> {
    if as_json {
        return crate::print::line(bytes).map_err(|error| Failure::stdout(&error));
    }
    let status = line.status.map_or(String::new(), |status| format!(" {status}"));
    let redirect = line.redirect.as_ref().map_or(String::new(), |target| format!(" -> {target}"));
    let found_on = line.found_on.as_ref().map_or(String::new(), |page| format!(" (found on {page})"));
    outln!("{:<20} {}{redirect}{found_on}", format!("{}{status}", line.outcome), line.url);
    Ok(())
}
