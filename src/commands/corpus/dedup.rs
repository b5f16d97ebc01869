//! `pith corpus dedup`: removes duplicate documents and paragraphs.

use std::path::PathBuf;

use clap::ValueEnum;
use pith_corpus::dedup::{self, Keep, MinHash, Paragraphs, Settings, Versions};
use pith_corpus::jsonl;

use super::{Common, failure};
use crate::commands::crawl::size;
use crate::exit::{Exit, Failure};

/// The arguments of `pith corpus dedup`.
#[derive(clap::Args, Debug)]
#[command(before_help = "Examples:
  pith corpus dedup docs --out unique
  pith corpus dedup new --against old --out unique --keep longest --paragraphs")]
pub struct Args {
    #[command(flatten)]
    common: Common,

    /// Also remove what these older documents have; they always stay
    #[arg(long, value_name = "DOCUMENTS")]
    against: Vec<PathBuf>,

    /// Look for equal texts only
    #[arg(long)]
    exact: bool,

    /// Also remove paragraphs that an earlier document had
    #[arg(long)]
    paragraphs: bool,

    /// Which document of a cluster stays
    #[arg(long, value_enum, default_value_t = KeepArg::First)]
    keep: KeepArg,

    /// Keep every version of a URL that was fetched several times, and not only the newest
    #[arg(long)]
    all_versions: bool,

    /// The length of a MinHash signature
    #[arg(long, value_name = "N", default_value_t = MinHash::default().permutations)]
    permutations: usize,

    /// The parts a signature is cut into; documents that share one are compared
    #[arg(long, value_name = "N", default_value_t = MinHash::default().bands)]
    bands: usize,

    /// Words per n-gram; characters in scripts without spaces
    #[arg(long, value_name = "N", default_value_t = MinHash::default().n_gram)]
    ngram: usize,

    /// The least similarity of near-duplicates, estimated Jaccard of the n-gram sets
    #[arg(long, value_name = "0..1", default_value_t = MinHash::default().threshold)]
    threshold: f32,

    /// The least part of the longer text that near-duplicates share, estimated in n-grams
    #[arg(long, value_name = "0..1", default_value_t = MinHash::default().containment)]
    containment: f32,

    /// Shorter paragraphs are never removed
    #[arg(long, value_name = "CHARACTERS", default_value_t = Paragraphs::default().min_characters)]
    min_paragraph: usize,

    /// Memory that sorting may take: 256M, 2G; a number without a unit counts megabytes
    #[arg(long, value_name = "SIZE", default_value = "256M", value_parser = memory)]
    memory: u64,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum KeepArg {
    First,
    Longest,
}

/// Sorting less than this at a time would read the records too often.
const LEAST_MEMORY: u64 = 1_000_000;

fn memory(text: &str) -> Result<u64, String> {
    let bytes = match text.parse::<u64>() {
        Ok(megabytes) => megabytes.saturating_mul(1_000_000),
        Err(_) => size(text)?,
    };
    Ok(bytes.max(LEAST_MEMORY))
}

/// Finds and removes duplicates.
pub fn run(args: Args) -> Result<Exit, Failure> {
    let settings = settings(&args)?;
    let shards = jsonl::shards(&args.common.inputs).map_err(failure)?;
    let older = match args.against.is_empty() {
        true => Vec::new(),
        false => jsonl::shards(&args.against).map_err(failure)?,
    };
    args.common.run(|run| dedup::dedup(&shards, &older, &settings, args.memory, run))
}

fn settings(args: &Args) -> Result<Settings, Failure> {
    let near = MinHash {
        permutations: args.permutations,
        bands: args.bands,
        n_gram: args.ngram,
        threshold: args.threshold,
        containment: args.containment,
    };
    if near.bands == 0 || near.permutations == 0 || !near.permutations.is_multiple_of(near.bands) {
        return Err(Failure::usage(format!(
            "--permutations {} is not a multiple of --bands {}",
            near.permutations, near.bands
        )));
    }
    let parts = 0.0..=1.0;
    if near.n_gram == 0 || !parts.contains(&near.threshold) || !parts.contains(&near.containment) {
        return Err(Failure::usage("--ngram begins at 1, and --threshold and --containment lie between 0 and 1"));
    }
    let paragraphs = Paragraphs { min_characters: args.min_paragraph, ..Paragraphs::default() };
    Ok(Settings {
        near: (!args.exact).then_some(near),
        paragraphs: args.paragraphs.then_some(paragraphs),
        keep: match args.keep {
            KeepArg::First => Keep::First,
            KeepArg::Longest => Keep::Longest,
        },
        versions: if args.all_versions { Versions::All } else { Versions::Latest },
    })
}
