//! A dataset for others: Parquet, JSONL or WET in the layout of the Hugging Face hub, with its card.

mod card;

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

pub use card::Card;

use crate::draft;
use crate::jsonl;
use crate::manifest::Counts;
use crate::step::{Damage, Finished, Made, Run, counts, for_each_document};
use crate::{Error, Watch, parquet, stats, wet};

/// How the documents are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `data/train-00000.parquet`.
    Parquet,
    /// `data/train-00000.jsonl.zst`.
    Jsonl,
    /// `data/train-00000.warc.wet.gz`.
    Wet,
}

impl Format {
    /// Its name, as the command line spells it.
    pub fn name(self) -> &'static str {
        match self {
            Format::Parquet => "parquet",
            Format::Jsonl => "jsonl",
            Format::Wet => "wet",
        }
    }

    fn ending(self) -> &'static str {
        match self {
            Format::Parquet => "parquet",
            Format::Jsonl => "jsonl.zst",
            Format::Wet => "warc.wet.gz",
        }
    }
}

/// Writes one file per shard below `data/`, and `README.md`, the card, beside it.
///
/// Documents from a folder `train`, `validation` or `test` (what a split makes) become that part; all others `train`.
pub fn export(shards: &[PathBuf], format: Format, card: &Card, run: &Run) -> Result<Finished, Error> {
    let output = run.open(shards, json!({"step": "export", "format": format.name(), "card": card}))?;
    let names = names(shards, format);
    let name = |index: usize| names[index].clone();
    let make = |index: usize, path: &Path, damage: &mut Damage| {
        export_shard(path, &run.out.join(&names[index]), format, run.watch, damage)
    };
    let (mut output, damage, was_done) = run.fill(output, "exporting", shards, name, make)?;
    let readme = run.out.join("README.md");
    if !was_done || !output.manifest().complete || !readme.exists() {
        let (stats, _) = stats::stats(shards, run)?;
        draft::write_whole(&readme, card.write(&stats, output.manifest(), format).as_bytes())?;
        output.complete(Counts::new())?;
    }
    Ok(Finished { manifest: output.manifest().clone(), damage, was_done })
}

/// `data/PART-NUMBER.ENDING`, numbered within each part.
fn names(shards: &[PathBuf], format: Format) -> Vec<String> {
    let mut numbers = Map::new();
    let mut name = |path: &PathBuf| {
        let folder = path.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
        let part = match &*folder {
            part @ ("train" | "validation" | "test") => part,
            _ => "train",
        };
        let number = numbers.get(part).and_then(Value::as_u64).unwrap_or(0);
        numbers.insert(part.into(), (number + 1).into());
        format!("data/{part}-{number:05}.{}", format.ending())
    };
    shards.iter().map(&mut name).collect()
}

fn export_shard(
    path: &Path,
    out: &Path,
    format: Format,
    watch: &dyn Watch,
    damage: &mut Damage,
) -> Result<Made, Error> {
    let mut n_documents = 0;
    let sealed = match format {
        Format::Parquet => {
            let mut writer = parquet::Writer::create(out)?;
            for_each_document(path, watch, damage, |line, _| {
                n_documents += 1;
                writer.put(serde_json::from_slice(line).expect("the view of this line was read"))
            })?;
            writer.seal()
        }
        Format::Jsonl => {
            let mut writer = jsonl::Writer::create(out)?;
            for_each_document(path, watch, damage, |line, _| {
                n_documents += 1;
                writer.put(line)
            })?;
            writer.seal()
        }
        Format::Wet => {
            let mut writer = wet::Writer::create(out)?;
            for_each_document(path, watch, damage, |_, document| {
                n_documents += 1;
                writer.put(document)
            })?;
            writer.seal()
        }
    }?;
    let in_all = n_documents + damage.n_lines;
    let counts = counts([("in", in_all), ("kept", n_documents), ("dropped.damaged", damage.n_lines)]);
    Ok(Made { sealed, counts, beside: Vec::new() })
}
