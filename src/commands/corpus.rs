//! `pith corpus`: from documents to a dataset, one step per file below.

pub mod dedup;
pub mod export;
pub mod filter;
pub mod split;
pub mod stats;

use std::num::NonZeroUsize;
use std::path::PathBuf;

use pith_corpus::manifest::{Counts, ExistingOutput, Manifest};
use pith_corpus::{Error, Finished, Run};

use crate::exit::{Exit, Failure};
use crate::invocation;
use crate::progress::{self, Progress};

/// The arguments of `pith corpus`.
#[derive(clap::Args, Debug)]
pub struct Args {
    #[command(subcommand)]
    step: Step,
}

#[derive(clap::Subcommand, Debug)]
enum Step {
    /// Remove duplicate documents or paragraphs
    Dedup(dedup::Args),
    /// Drop documents that fail a rule
    Filter(filter::Args),
    /// Count documents, sites, languages and lengths
    Stats(stats::Args),
    /// Write parts that share no site
    Split(split::Args),
    /// Write Parquet, JSON lines or WET with a dataset card
    Export(export::Args),
}

/// Runs one step.
pub fn run(args: Args) -> Result<Exit, Failure> {
    match args.step {
        Step::Dedup(args) => dedup::run(args),
        Step::Filter(args) => filter::run(args),
        Step::Stats(args) => stats::run(args),
        Step::Split(args) => split::run(args),
        Step::Export(args) => export::run(args),
    }
}

/// The arguments that every step takes.
#[derive(clap::Args, Debug)]
pub struct Common {
    /// Document shards (.jsonl, .jsonl.gz, .jsonl.zst) or folders of them
    #[arg(value_name = "DOCUMENTS", required = true)]
    pub inputs: Vec<PathBuf>,

    /// The folder to write to; running again goes on where the last run stopped
    #[arg(long, value_name = "DIR", required = true)]
    pub out: Option<PathBuf>,

    /// Threads [default: one per core]
    #[arg(long, short, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,

    /// Replace the output in the folder when it was written with other settings
    #[arg(long)]
    pub redo: bool,

    /// Print the counts as JSON
    #[arg(long)]
    pub json: bool,

    /// Say nothing but errors
    #[arg(long, short)]
    pub quiet: bool,
}

impl Common {
    /// Runs a step into the folder and prints what it counted.
    pub fn run(&self, step: impl FnOnce(&Run) -> Result<Finished, Error>) -> Result<Exit, Failure> {
        let Some(out) = &self.out else {
            return Err(Failure::usage("documents and `--out DIR` are needed"));
        };
        progress::stop_on_interrupt()?;
        let progress = Progress::new("documents", self.quiet);
        let finished = step(&Run {
            out,
            command: command_line(),
            existing: if self.redo { ExistingOutput::Replace } else { ExistingOutput::Refuse },
            jobs: jobs(self.jobs),
            observer: &progress,
        });
        progress.finish();
        let finished = finished.map_err(failure)?;
        for line in &finished.damage {
            progress.warn(format!("damaged: {line}"));
        }
        for note in &finished.notes {
            progress.say(format!("note: {note}"));
        }
        if finished.was_already_done {
            progress.say(format!("{}: already done", out.display()));
        }
        print_counts(&finished.manifest, self.json)?;
        let damaged = finished.manifest.step.counts.get("dropped.damaged").is_some_and(|count| *count > 0);
        Ok(if damaged { Exit::Losses } else { Exit::Done })
    }
}

/// The number of threads: as given, or one per core.
pub fn jobs(given: Option<NonZeroUsize>) -> NonZeroUsize {
    given.or_else(|| std::thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN)
}

/// The command as it was given, without the words that change nothing about its result.
pub fn command_line() -> String {
    let mut words = vec!["pith".to_owned()];
    let mut skip = false;
    for word in invocation::arguments() {
        let word = word.to_string_lossy().into_owned();
        let value_follows = matches!(&*word, "--jobs" | "-j");
        let silent =
            value_follows || matches!(&*word, "--quiet" | "-q" | "--redo" | "--json") || word.starts_with("--jobs=");
        if !std::mem::replace(&mut skip, value_follows) && !silent {
            let plain = word.chars().all(|character| character.is_alphanumeric() || "-_./=:,+@%".contains(character));
            words.push(if plain { word } else { format!("'{}'", word.replace('\'', "'\\''")) });
        }
    }
    words.join(" ")
}

/// A library error with a hint.
pub fn failure(error: Error) -> Failure {
    if let Error::Io { source, .. } = &error
        && source.kind() == std::io::ErrorKind::BrokenPipe
    {
        return Failure::stdout(source);
    }
    let hint = match &error {
        Error::OutputMismatch { .. } => Some("`--redo` replaces the old output, `--out` names another folder"),
        Error::Io { action: "create" | "read", source, .. }
            if matches!(source.kind(), std::io::ErrorKind::AlreadyExists | std::io::ErrorKind::NotADirectory) =>
        {
            Some("a file stands where `--out` is to be a folder: name another one")
        }
        Error::ForeignFolder { .. } | Error::FolderKind { .. } => {
            Some("choose an empty folder, or a new one, with `--out`; pith writes only to folders that it made")
        }
        Error::ForeignFile { .. } | Error::NotRegular { .. } => Some("move it away, or choose another folder or file"),
        Error::Name { .. } => {
            Some("the file was changed by hand; nothing was removed. Choose another folder with `--out`")
        }
        Error::FolderVersion { .. } => Some("use the newer pith, or choose another folder with `--out`"),
        Error::InUse { .. } => Some("wait for it to end, or choose another folder"),
        Error::InputInOutput { .. } => Some("choose another folder with `--out`"),
        Error::Unfinished { .. } => Some("run its command again to finish it"),
        Error::Stopped => Some("the same command goes on from here"),
        error if error.is_disk_full() => Some("make room and run the same command again: it goes on from here"),
        _ => None,
    };
    let failure = match (&error, progress::stop_signal()) {
        (Error::Stopped, Some(signal)) => Failure::stopped(error.to_string(), signal),
        _ => Failure::from(error),
    };
    match hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

/// The counts of a finished folder on stdout, as a table or as one JSON object.
pub fn print_counts(manifest: &Manifest, json: bool) -> Result<(), Failure> {
    let counts = &manifest.step.counts;
    if json {
        let shards = manifest.shards.len();
        outln!("{}", serde_json::json!({"counts": nested(counts), "shards": shards}));
        return Ok(());
    }
    let width = counts.keys().map(|name| name.len()).max().unwrap_or(0);
    for (name, count) in counts {
        outln!("{name:<width$}  {:>12}", indicatif::HumanCount(*count).to_string());
    }
    Ok(())
}

/// The counts on one line, for stderr.
pub fn describe_counts(counts: &Counts) -> String {
    let counts: Vec<String> = counts.iter().map(|(name, count)| format!("{name} {count}")).collect();
    counts.join(", ")
}

/// `dropped.exact` becomes `{"dropped":{"exact":…}}`.
fn nested(counts: &Counts) -> serde_json::Value {
    let mut object = serde_json::Map::new();
    for (name, &count) in counts {
        match name.split_once('.') {
            Some((group, name)) => {
                let group = object.entry(group).or_insert_with(|| serde_json::json!({}));
                if let Some(group) = group.as_object_mut() {
                    group.insert(name.into(), count.into());
                }
            }
            None => {
                object.insert(name.clone(), count.into());
            }
        }
    }
    object.into()
}
