//! A dataset for others: Parquet, JSONL or WET in the layout of the Hugging Face hub, with its card.

mod card;

use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::{Value, json};

pub use card::Card;

use crate::atomic_file;
use crate::jsonl::{self, DocumentFields, Line, Reader};
use crate::manifest::{Counts, InputFile, Manifest};
use crate::row::Row;
use crate::step::{DamagedLines, Finished, PlannedFile, Run, ShardOutput, counts, for_each_line, visit_document};
use crate::{Error, Observer, parallel, parquet, stats, wet};

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

/// The card.
const README: &str = "README.md";

/// How large a file becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileSize {
    /// So many documents; the last file of a part has the rest.
    Documents(u64),
    /// About so many bytes of documents before they are compressed.
    Bytes(u64),
}

impl Default for FileSize {
    fn default() -> Self {
        FileSize::Bytes(500_000_000)
    }
}

/// Writes files of a size below `data/`, and `README.md`, the card, beside it. No file is empty.
///
/// Documents from a folder that a split made, or that is called `train`, `validation` or `test`, become that part; all
/// others `train`.
pub fn export(shards: &[PathBuf], format: Format, size: FileSize, card: &Card, run: &Run) -> Result<Finished, Error> {
    let mut output =
        run.open(shards, json!({"step": "export", "format": format.name(), "card": card, "size": size}))?;
    output.claim([README])?;
    let files = plan(shards, format, size, run)?;
    let planned: Vec<PlannedFile> =
        files.iter().map(|file| PlannedFile { name: file.name.clone(), input: file.input.clone() }).collect();
    let make = |index: usize, damage: &mut DamagedLines| {
        export_file(&files[index], &run.out.join(&files[index].name), format, run.observer, damage)
    };
    let (mut output, damage, was_already_done) = run.process_files(output, "exporting", &planned, make)?;
    let readme = run.out.join(README);
    if !was_already_done || !output.manifest().complete || !readme.exists() {
        let (stats, _) = stats::stats(shards, run)?;
        output.complete(Counts::new())?;
        let parts = parts_of(output.manifest());
        atomic_file::write_atomically(&readme, card.write(&stats, output.manifest(), format, &parts).as_bytes())?;
    }
    Ok(Finished { manifest: output.manifest().clone(), damage, was_already_done, notes: Vec::new() })
}

/// The documents of every part, in the order of the files.
fn parts_of(manifest: &Manifest) -> Vec<(String, u64)> {
    let mut parts: Vec<(String, u64)> = Vec::new();
    for shard in &manifest.shards {
        let part = shard.name.strip_prefix("data/").and_then(|name| name.rsplit_once('-')).map_or("", |name| name.0);
        let documents = shard.counts.get("kept").copied().unwrap_or(0);
        match parts.iter_mut().find(|(name, _)| name == part) {
            Some((_, sum)) => *sum += documents,
            None => parts.push((part.to_owned(), documents)),
        }
    }
    // The order in which people name them.
    parts.sort_by_key(|(name, _)| ["train", "validation", "test"].iter().position(|usual| usual == name).unwrap_or(3));
    parts
}

/// A file of the dataset: lines of one shard or of several that follow each other.
struct ExportFile {
    name: String,
    input: InputFile,
    ranges: Vec<LineRange>,
}

/// Some lines of a shard, counted from 0 without blank ones.
struct LineRange {
    path: PathBuf,
    lines: Range<u64>,
}

/// Which lines go to which file. The shards are read once to count their lines.
fn plan(shards: &[PathBuf], format: Format, size: FileSize, run: &Run) -> Result<Vec<ExportFile>, Error> {
    let mut total = 0;
    for path in shards {
        total += std::fs::metadata(path).map_err(Error::at(path))?.len();
    }
    run.observer.begin("counting", total);
    let counted = parallel::run(run.jobs, shards.len(), |index| {
        let (mut n_lines, mut n_bytes) = (0u64, 0u64);
        for_each_line(&shards[index], run.observer, |line| {
            n_lines += 1;
            if let Line::Good { bytes, .. } = line {
                n_bytes += bytes.len() as u64;
            }
            Ok(())
        })?;
        Ok((n_lines, n_bytes))
    })?;
    let sources = shards.iter().map(|path| InputFile::of(path)).collect::<Result<Vec<_>, _>>()?;
    let parts: Vec<String> = shards.iter().map(|path| part_of(path)).collect::<Result<_, _>>()?;
    let mut distinct: Vec<&String> = Vec::new();
    parts.iter().for_each(|part| {
        if !distinct.contains(&part) {
            distinct.push(part)
        }
    });
    let mut files = Vec::new();
    for part in distinct {
        let members: Vec<usize> = (0..shards.len()).filter(|&index| parts[index] == *part).collect();
        let n_lines: u64 = members.iter().map(|&index| counted[index].0).sum();
        let n_bytes: u64 = members.iter().map(|&index| counted[index].1).sum();
        let per_file = match size {
            FileSize::Documents(documents) => documents.max(1),
            FileSize::Bytes(bytes) => {
                let n_files = n_bytes.div_ceil(bytes.max(1)).clamp(1, n_lines.max(1));
                n_lines.div_ceil(n_files).max(1)
            }
        };
        let lines = members.iter().map(|&index| (&shards[index], &sources[index], counted[index].0));
        files.extend(divide(lines, per_file).into_iter().enumerate().map(|(number, (ranges, input))| {
            let name = format!("data/{part}-{number:05}.{}", format.ending());
            ExportFile { name, input, ranges }
        }));
    }
    Ok(files)
}

/// Cuts the lines of shards into files of the same number of lines.
fn divide<'s>(
    shards: impl Iterator<Item = (&'s PathBuf, &'s InputFile, u64)>,
    per_file: u64,
) -> Vec<(Vec<LineRange>, InputFile)> {
    let mut files = Vec::new();
    let (mut ranges, mut inputs): (Vec<LineRange>, Vec<InputFile>) = (Vec::new(), Vec::new());
    let mut room = per_file;
    for (path, source, n_lines) in shards {
        let mut from = 0;
        while from < n_lines {
            let to = n_lines.min(from + room);
            ranges.push(LineRange { path: path.clone(), lines: from..to });
            inputs.push(part_of_input(source, from..to, n_lines));
            room -= to - from;
            from = to;
            if room == 0 {
                files.push((std::mem::take(&mut ranges), InputFile::of_several(&std::mem::take(&mut inputs))));
                room = per_file;
            }
        }
    }
    if !ranges.is_empty() {
        files.push((ranges, InputFile::of_several(&inputs)));
    }
    files
}

/// The fingerprint of some lines of a shard.
fn part_of_input(source: &InputFile, lines: Range<u64>, n_lines: u64) -> InputFile {
    if lines == (0..n_lines) {
        return source.clone();
    }
    // In proportion, for the progress.
    let bytes = (source.bytes as f64 * (lines.end - lines.start) as f64 / n_lines as f64) as u64;
    InputFile { name: format!("{}[{}..{}]", source.name, lines.start, lines.end), bytes, ..source.clone() }
}

/// The part that a shard belongs to, by its folder.
fn part_of(path: &Path) -> Result<String, Error> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let is_part_of_split = || -> Result<bool, Error> {
        let Some(manifest) = Manifest::read(folder)? else { return Ok(false) };
        let parts = manifest.step.settings.get("parts").and_then(Value::as_array).cloned().unwrap_or_default();
        Ok(parts.iter().any(|part| part.get(0).and_then(Value::as_str) == Some(&*name)))
    };
    let is_part = matches!(&*name, "train" | "validation" | "test") || is_part_of_split()?;
    Ok(if is_part { name.into_owned() } else { "train".to_owned() })
}

fn export_file(
    file: &ExportFile,
    out: &Path,
    format: Format,
    observer: &dyn Observer,
    damage: &mut DamagedLines,
) -> Result<ShardOutput, Error> {
    let mut n_documents = 0;
    let row = |line: &[u8]| Row::of(serde_json::from_slice(line).expect("the view of this line was read"));
    let sealed = match format {
        Format::Parquet => {
            let mut writer = parquet::Writer::create(out)?;
            for_each_selected(&file.ranges, observer, damage, |line, _| {
                n_documents += 1;
                writer.put(row(line))
            })?;
            writer.seal()
        }
        Format::Jsonl => {
            let mut writer = jsonl::Writer::create(out)?;
            for_each_selected(&file.ranges, observer, damage, |line, _| {
                n_documents += 1;
                writer.put(&serde_json::to_vec(&row(line)).expect("a row is plain data"))
            })?;
            writer.seal()
        }
        Format::Wet => {
            let mut writer = wet::Writer::create(out)?;
            for_each_selected(&file.ranges, observer, damage, |_, document| {
                n_documents += 1;
                writer.put(document)
            })?;
            writer.seal()
        }
    }?;
    let in_all = n_documents + damage.n_lines;
    let counts = counts([("in", in_all), ("kept", n_documents), ("dropped.damaged", damage.n_lines)]);
    Ok(ShardOutput { sealed, counts, side_files: Vec::new() })
}

/// Gives every document of the ranges, with its line, and counts the lines that are none.
fn for_each_selected(
    ranges: &[LineRange],
    observer: &dyn Observer,
    damage: &mut DamagedLines,
    mut visit: impl FnMut(&[u8], &DocumentFields) -> Result<(), Error>,
) -> Result<(), Error> {
    for LineRange { path, lines } in ranges {
        let mut reader = Reader::open(path)?;
        let mut number = 0;
        while number < lines.end
            && let Some(line) = reader.next_line()
        {
            number += 1;
            if number <= lines.start {
                continue;
            }
            visit_document(path, line, damage, &mut visit)?;
            if number % 64 == 0 {
                observer.advance(reader.bytes_since(), 64);
                if observer.is_stopped() {
                    return Err(Error::Stopped);
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_divided_into_full_files_and_a_rest() {
        let paths: Vec<PathBuf> = ["a", "b", "c", "d"].map(PathBuf::from).to_vec();
        let input = |name: &str| InputFile { name: name.into(), bytes: 100, edge_hash: String::new() };
        let inputs = ["a", "b", "c", "d"].map(input);
        let lines = [3, 0, 1, 7];
        let shards = paths.iter().zip(&inputs).zip(lines).map(|((path, input), n)| (path, input, n));
        let files = divide(shards, 5);
        let ranges: Vec<Vec<(&str, Range<u64>)>> = files
            .iter()
            .map(|(ranges, _)| ranges.iter().map(|range| (range.path.to_str().unwrap(), range.lines.clone())).collect())
            .collect();
        assert_eq!(ranges, [vec![("a", 0..3), ("c", 0..1), ("d", 0..1)], vec![("d", 1..6)], vec![("d", 6..7)]]);
    }
}
