//! `pith corpus export`: writes a dataset in an exchange format.

use std::num::NonZeroU64;

use clap::ValueEnum;
use pith_corpus::export::{self, Card, FileSize, Format};
use pith_corpus::jsonl;

use super::{Common, failure};
use crate::commands::crawl::size;
use crate::exit::{Exit, Failure};

/// The arguments of `pith corpus export`.
#[derive(clap::Args, Debug)]
#[command(before_help = "Examples:
  pith corpus export clean --out dataset --title 'Portuguese news'
  pith corpus export parts/train parts/test --out dataset --format jsonl --licence odc-by")]
pub struct Args {
    #[command(flatten)]
    common: Common,

    /// Parquet or JSON lines in the layout of the Hugging Face hub, or WET
    #[arg(long, value_enum, default_value_t = FormatArg::Parquet)]
    format: FormatArg,

    /// A file ends with about so many bytes of documents, before compression: 50M, 2G [default: 500M]
    #[arg(long, value_name = "SIZE", value_parser = size, conflicts_with = "documents")]
    shard_size: Option<u64>,

    /// A file ends with so many documents
    #[arg(long, value_name = "N")]
    documents: Option<NonZeroU64>,

    /// The title of the dataset card
    #[arg(long, value_name = "TEXT", default_value = "A corpus made with pith")]
    title: String,

    /// The licence that the card names
    #[arg(long, value_name = "ID", default_value = "unknown")]
    licence: String,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum FormatArg {
    Parquet,
    Jsonl,
    Wet,
}

/// Writes the files and the card.
pub fn run(args: Args) -> Result<Exit, Failure> {
    let format = match args.format {
        FormatArg::Parquet => Format::Parquet,
        FormatArg::Jsonl => Format::Jsonl,
        FormatArg::Wet => Format::Wet,
    };
    let card = Card { title: args.title, licence: args.licence };
    let size = match (args.documents, args.shard_size) {
        (Some(documents), _) => FileSize::Documents(documents.get()),
        (None, Some(bytes)) => FileSize::Bytes(bytes),
        (None, None) => FileSize::default(),
    };
    let shards = jsonl::shards(&args.common.inputs).map_err(failure)?;
    args.common.run(|run| export::export(&shards, format, size, &card, run))
}
