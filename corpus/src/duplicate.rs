//! Duplicates: the same text, nearly the same text, the same paragraph.
//!
//! Three passes, each over shards. The first reads every document once and remembers it as one record of fixed
//! size on disk; the second sorts hashes of those records within a bound of memory and decides; the third writes
//! what stays. A killed run goes on with the records it has. The result depends on the inputs and the settings
//! and on nothing else.

mod candidates;
mod paragraphs;
mod priority;
mod report;
mod resolve;
mod scan;
mod shingles;
mod signatures;

use std::fs;
use std::path::{Path, PathBuf};

use hashbrown::HashMap;
use serde::Serialize;
use serde_json::json;

pub use paragraphs::Paragraphs;
pub use priority::Keep;

use crate::jsonl::{self, Line, View, Writer};
use crate::manifest::{Output, Source};
use crate::step::{Damage, Finished, Made, Run, counts, for_each_line};
use crate::{Error, Watch};
use paragraphs::{Bloom, Cuts};
use priority::Priority;
use scan::Scanned;
use signatures::Records;

/// What counts as a duplicate, and which one stays.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Settings {
    /// Near-duplicates; `None` looks for equal texts only.
    pub near: Option<Near>,
    /// Paragraphs that an earlier document had; `None` leaves paragraphs alone.
    pub paragraphs: Option<Paragraphs>,
    /// Which document of a cluster stays.
    pub keep: Keep,
}

/// How near-duplicates are found: MinHash signatures, banded, then compared.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Near {
    /// The length of a signature.
    pub permutations: usize,
    /// The parts it is cut into; documents that share one are compared.
    pub bands: usize,
    /// Words, or characters where a script has no spaces, per n-gram.
    pub n_gram: usize,
    /// The least similarity (estimated Jaccard of the n-gram sets) of a duplicate.
    pub threshold: f32,
}

impl Default for Near {
    /// Finds nine of ten pairs at a similarity of 0.64 and all but a few from 0.73 on.
    fn default() -> Self {
        Near { permutations: 120, bands: 24, n_gram: 5, threshold: 0.45 }
    }
}

/// Another document that a document resembles.
#[derive(Clone, Copy, Debug)]
struct Pair {
    other: u32,
    similarity: f32,
}

/// Why a document goes.
#[derive(Clone, Copy, Debug)]
struct Removal {
    kept: u32,
    kind: Kind,
    similarity: f32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    Exact,
    Near,
}

/// Where the records of a run lie until it is complete.
const WORK_FOLDER: &str = ".work";

/// Removes duplicates among the documents of `shards`, and those of them that `older` has already.
///
/// `memory_bytes` bounds what the second pass sorts at a time; with less it reads the records more often.
/// The folder gets one shard per shard, in order, and `report/clusters.jsonl` that names every removal.
pub fn dedup(
    shards: &[PathBuf],
    older: &[PathBuf],
    settings: &Settings,
    memory_bytes: u64,
    run: &Run,
) -> Result<Finished, Error> {
    let sources = |paths: &[PathBuf]| paths.iter().map(|path| Source::of(path)).collect::<Result<Vec<_>, _>>();
    let mut described = json!({"step": "dedup", "inputs": sources(shards)?, "against": sources(older)?});
    let settings_value = serde_json::to_value(settings).expect("settings are plain data");
    let fields = settings_value.as_object().expect("settings are a struct").clone();
    described.as_object_mut().expect("an object").extend(fields);
    let output = run.open(shards, described)?;
    let work = output.folder().join(WORK_FOLDER);
    if output.manifest().complete && is_whole(&output, shards)? {
        // A run that was killed while it tidied up leaves some of its records behind.
        remove_folder(&work)?;
        return Ok(Finished { manifest: output.manifest().clone(), damage: Vec::new(), was_done: true });
    }
    if run.earlier == crate::manifest::Earlier::Redo {
        remove_folder(&work)?;
    }
    crate::draft::sweep(&work)?;

    let all: Vec<&Path> = older.iter().chain(shards).map(PathBuf::as_path).collect();
    let (scanned, damage) = scan::scan(&all, settings, &work, run)?;
    let decision = decide(&scanned, older.len(), settings, memory_bytes, &work, run.watch)?;
    report::write(output.folder(), &decision, settings.keep, &work, older.len(), &all)?;
    let writing = |index: usize, path: &Path, _: &mut Damage| {
        let shard = older.len() + index;
        write_shard(path, &output_path(run.out, index), &decision, shard, &scanned[shard], run.watch)
    };
    let (mut output, _, _) = run.fill(output, "writing", shards, jsonl::shard_name, writing)?;
    let n_clusters = decision.clusters();
    let manifest = output.complete(counts([("clusters", n_clusters)]))?.clone();
    remove_folder(&work)?;
    Ok(Finished { manifest, damage, was_done: false })
}

fn output_path(out: &Path, index: usize) -> PathBuf {
    out.join(jsonl::shard_name(index))
}

fn is_whole(output: &Output, shards: &[PathBuf]) -> Result<bool, Error> {
    for (index, path) in shards.iter().enumerate() {
        if output.done(&jsonl::shard_name(index), &Source::of(path)?).is_none() {
            return Ok(false);
        }
    }
    Ok(true)
}

fn remove_folder(folder: &Path) -> Result<(), Error> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::at(folder)(error)),
        _ => Ok(()),
    }
}

/// What the second pass found.
struct Decision {
    records: Records,
    removals: HashMap<u32, Removal>,
    /// By shard; empty where paragraphs are left alone.
    cuts: Vec<Cuts>,
}

impl Decision {
    fn clusters(&self) -> u64 {
        let kept: hashbrown::HashSet<u32> = self.removals.values().map(|removal| removal.kept).collect();
        kept.len() as u64
    }
}

fn decide(
    scanned: &[Scanned],
    n_older: usize,
    settings: &Settings,
    memory_bytes: u64,
    work: &Path,
    watch: &dyn Watch,
) -> Result<Decision, Error> {
    let permutations = settings.near.as_ref().map_or(0, |near| near.permutations);
    let paths = (0..scanned.len()).map(|shard| scan::signatures_path(work, shard)).collect();
    let records = Records::open(paths, permutations)?;
    let priority = Priority::new(settings.keep, records.base(n_older), &records)?;
    let same = candidates::exact(&records, &priority, memory_bytes)?;
    let pairs = match &settings.near {
        Some(near) => candidates::near(&records, &priority, &same, near, memory_bytes, watch)?,
        None => candidates::Pairs::new(),
    };
    let removals = resolve::removals(&records, &priority, &same, &pairs, settings.near.as_ref())?;
    let mut cuts = Vec::new();
    if let Some(paragraphs) = &settings.paragraphs {
        let n_paragraphs = scanned.iter().map(|shard| shard.n_paragraphs).sum();
        let mut seen = Bloom::new(n_paragraphs, paragraphs.false_positives);
        for (shard, scanned) in scanned.iter().enumerate() {
            let base = records.base(shard);
            let path = scan::paragraphs_path(work, shard);
            let is_removed = |document| removals.contains_key(&(base + document));
            cuts.push(paragraphs::cuts(&path, scanned.n_documents, &mut seen, is_removed)?);
        }
    }
    Ok(Decision { records, removals, cuts })
}

/// Writes one shard without its duplicates.
fn write_shard(
    path: &Path,
    out: &Path,
    decision: &Decision,
    shard: usize,
    scanned: &Scanned,
    watch: &dyn Watch,
) -> Result<Made, Error> {
    let mut writer = Writer::create(out)?;
    let (mut n_exact, mut n_near, mut n_emptied, mut n_kept, mut n_cut) = (0, 0, 0, 0, 0);
    let base = decision.records.base(shard);
    let mut cuts = decision.cuts.get(shard).map_or(&[][..], |cuts| &cuts[..]);
    let mut damaged = scanned.damaged_lines.iter().copied().peekable();
    let mut document = 0u32;
    for_each_line(path, watch, |line| {
        let Line::Good { number, bytes } = line else { return Ok(()) };
        if damaged.next_if_eq(&number).is_some() {
            return Ok(());
        }
        let here = document;
        document += 1;
        let n_here = cuts.iter().take_while(|cut| cut.0 == here).count();
        let (cuts_here, rest) = cuts.split_at(n_here);
        cuts = rest;
        match decision.removals.get(&(base + here)).map(|removal| removal.kind) {
            Some(Kind::Exact) => n_exact += 1,
            Some(Kind::Near) => n_near += 1,
            None if cuts_here.is_empty() => {
                writer.put(bytes)?;
                n_kept += 1;
            }
            None => match without_paragraphs(bytes, cuts_here) {
                Some(shorter) => {
                    writer.put(&shorter)?;
                    n_kept += 1;
                    n_cut += n_here as u64;
                }
                None => n_emptied += 1,
            },
        }
        Ok(())
    })?;
    let mut counted = counts([
        ("in", u64::from(document) + scanned.n_damaged),
        ("kept", n_kept),
        ("dropped.exact", n_exact),
        ("dropped.near", n_near),
        ("dropped.damaged", scanned.n_damaged),
    ]);
    if !decision.cuts.is_empty() {
        counted.extend(counts([("dropped.repeated-paragraphs", n_emptied), ("paragraphs.removed", n_cut)]));
    }
    Ok(Made { sealed: writer.seal()?, counts: counted, beside: Vec::new() })
}

/// A document without some of its paragraphs; `None` when nothing is left.
fn without_paragraphs(line: &[u8], cuts: &[(u32, u32)]) -> Option<Vec<u8>> {
    let view = View::of(line).expect("the first pass read this line");
    let gone = |index: usize| cuts.iter().any(|cut| cut.1 as usize == index);
    let all = paragraphs::of(&view.text).enumerate();
    let left: Vec<&str> = all.filter(|(index, _)| !gone(*index)).map(|(_, paragraph)| paragraph).collect();
    let text = left.join("\n\n");
    if text.trim().is_empty() {
        return None;
    }
    Some(jsonl::with_text(line, text, ("removed_paragraphs", cuts.len() as u64)))
}

/// The text with every run of white space as one space, none at the ends.
fn normalise(text: &str, buffer: &mut Vec<u8>) {
    buffer.clear();
    let mut rest = text.as_bytes().trim_ascii();
    loop {
        let (regular, others) = rest.split_at(regular_bytes(rest));
        buffer.extend_from_slice(regular);
        rest = others.trim_ascii_start();
        if rest.is_empty() {
            return;
        }
        buffer.push(b' ');
    }
}

/// How many bytes stand before the first white space that is more than one blank.
fn regular_bytes(bytes: &[u8]) -> usize {
    const CHUNK: usize = 32;
    let suspicious = |byte: u8, next: u8| (byte < b' ') | ((byte == b' ') & (next <= b' '));
    let mut position = 0;
    // Whole chunks at a time, without a branch in the inner loop: few have anything to look at closely.
    while let Some(chunk) = bytes.get(position..position + CHUNK + 1) {
        let pairs = chunk.iter().zip(&chunk[1..]);
        if pairs.fold(false, |any, (&byte, &next)| any | suspicious(byte, next)) {
            let is_end = |at: &usize| is_irregular(bytes, *at);
            if let Some(end) = (position..position + CHUNK).find(is_end) {
                return end;
            }
        }
        position += CHUNK;
    }
    (position..bytes.len()).find(|&at| is_irregular(bytes, at)).unwrap_or(bytes.len())
}

fn is_irregular(bytes: &[u8], at: usize) -> bool {
    let next_is_space = || bytes.get(at + 1).is_some_and(u8::is_ascii_whitespace);
    bytes[at].is_ascii_whitespace() && (bytes[at] != b' ' || next_is_space())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn normalised_text_is_its_words_with_one_space_between(text in "([a-z\\u{e9}\\u{1}]{0,9}[ \\n\\t\\r\\u{b}\\u{c}]{0,3}){0,40}") {
            let mut buffer = Vec::new();
            normalise(&text, &mut buffer);
            let words: Vec<&str> = text.split_ascii_whitespace().collect();
            prop_assert_eq!(String::from_utf8(buffer).unwrap(), words.join(" "));
        }
    }
}
