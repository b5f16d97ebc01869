//! `pith corpus stats`: statistics of a corpus.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use pith_corpus::manifest::ExistingOutput;
use pith_corpus::stats::{self, GroupCount, Stats};
use pith_corpus::{Run, atomic_file, jsonl};

use super::{failure, jobs};
use crate::exit::{Exit, Failure};
use crate::progress::{self, Progress};

/// The arguments of `pith corpus stats`.
#[derive(clap::Args, Debug)]
#[command(before_help = "Examples:
  pith corpus stats docs
  pith corpus stats docs --json --html stats.html")]
pub struct Args {
    /// Document shards (.jsonl, .jsonl.gz, .jsonl.zst) or folders of them
    #[arg(value_name = "DOCUMENTS", required = true)]
    inputs: Vec<PathBuf>,

    /// Also write a page with plots
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// Print everything as JSON
    #[arg(long)]
    json: bool,

    /// Threads [default: one per core]
    #[arg(long, short, value_name = "N")]
    jobs: Option<NonZeroUsize>,

    /// Say nothing but errors
    #[arg(long, short)]
    quiet: bool,
}

/// Counts and prints.
pub fn run(args: Args) -> Result<Exit, Failure> {
    progress::stop_on_interrupt()?;
    let shards = jsonl::shards(&args.inputs).map_err(failure)?;
    let progress = Progress::new("documents", args.quiet);
    let run = Run {
        out: "".as_ref(),
        command: String::new(),
        existing: ExistingOutput::Refuse,
        jobs: jobs(args.jobs),
        observer: &progress,
    };
    let counted = stats::stats(&shards, &run);
    progress.finish();
    let (stats, damage) = counted.map_err(failure)?;
    for line in damage {
        progress.warn(format!("damaged: {line}"));
    }
    if let Some(path) = &args.html {
        let title = args.inputs.iter().map(|input| input.display().to_string()).collect::<Vec<_>>().join(", ");
        atomic_file::replace_named_file(path, stats::page(&stats, &title).as_bytes()).map_err(failure)?;
        progress.say(format!("wrote {}", path.display()));
    }
    if args.json {
        outln!("{}", serde_json::to_string(&stats)?);
    } else {
        print(&stats)?;
    }
    Ok(if stats.damaged > 0 { Exit::Losses } else { Exit::Done })
}

fn print(stats: &Stats) -> Result<(), Failure> {
    let facts = [
        ("documents", stats.documents),
        ("damaged lines", stats.damaged),
        ("without text", stats.empty),
        ("exact duplicates", stats.exact_duplicates),
        ("characters", stats.characters),
        ("median characters", stats.median_characters),
        ("words", stats.words),
        ("bytes of text", stats.text_bytes),
        ("bytes on disk", stats.compressed_bytes),
        ("sites", stats.sites),
    ];
    for (name, value) in facts {
        outln!("{name:<20}{:>16}", indicatif::HumanCount(value).to_string());
    }
    if let Some(confidence) = stats.mean_confidence {
        outln!("{:<20}{confidence:>16.3}", "mean expected F1");
    }
    for (heading, shares) in [
        ("language", &stats.languages),
        ("kind of page", &stats.page_types),
        ("published", &stats.decades),
        ("expected F1", &stats.confidences),
        ("owners allow and reserve", &stats.verdicts),
        ("owners say", &stats.statements),
        ("site", &stats.top_sites),
    ] {
        outln!("\n{heading:<32}{:>12}{:>16}", "documents", "characters");
        for GroupCount { name, documents, characters } in shares.iter().take(11) {
            // A name from the web must not move the cursor.
            let name: String = name.chars().filter(|character| !character.is_control()).take(30).collect();
            outln!("{name:<32}{documents:>12}{characters:>16}");
        }
    }
    outln!("\n{:<32}{:>12}", "length in characters", "documents");
    for bin in &stats.lengths {
        outln!("{:<32}{:>12}", format!("{} to {}", bin.from, bin.to - 1), bin.documents);
    }
    Ok(())
}
