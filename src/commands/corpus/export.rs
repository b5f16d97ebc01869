//! `pith corpus export`: a dataset for others.

use clap::ValueEnum;
use pith_corpus::export::{self, Card, Format};
use pith_corpus::jsonl;

use super::{Common, failure};
use crate::exit::{Exit, Failure};

/// The words of `pith corpus export`.
#[derive(clap::Args, Debug)]
#[command(before_help = "Examples:
  pith corpus export clean --out dataset --title 'Portuguese news'
  pith corpus export parts/train parts/test --out dataset --format jsonl --licence odc-by")]
pub struct Args {
    #[command(flatten)]
    common: Common,

    /// Parquet or JSON lines in the layout of the Hugging Face hub, or WET
    #[arg(long, value_enum, default_value_t = FormatWord::Parquet)]
    format: FormatWord,

    /// The title of the dataset card
    #[arg(long, value_name = "TEXT", default_value = "A corpus made with pith")]
    title: String,

    /// The licence that the card names
    #[arg(long, value_name = "ID", default_value = "unknown")]
    licence: String,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum FormatWord {
    Parquet,
    Jsonl,
    Wet,
}

/// Writes the files and the card.
pub fn run(args: Args) -> Result<Exit, Failure> {
    let format = match args.format {
        FormatWord::Parquet => Format::Parquet,
        FormatWord::Jsonl => Format::Jsonl,
        FormatWord::Wet => Format::Wet,
    };
    let card = Card { title: args.title, licence: args.licence };
    let shards = jsonl::shards(&args.common.inputs).map_err(failure)?;
    args.common.run(|run| export::export(&shards, format, &card, run))
}
