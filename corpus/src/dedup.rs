//! Deduplication: exact duplicates, near-duplicates (MinHash with banding) and repeated paragraphs.
//!
//! Three passes, each over shards. The first reads every document once and writes one signature record of
//! fixed size; the second sorts hashes of those records within a memory limit and chooses the removals; the third
//! writes the documents that are kept. A killed run goes on with the records it has. The result depends on the inputs and the settings
//! and on nothing else.

mod candidates;
mod paragraphs;
mod priority;
mod report;
mod resolve;
mod scan;
mod shingles;
mod signatures;
mod texts;
mod versions;

use std::path::{Path, PathBuf};

use hashbrown::HashMap;
use serde::Serialize;
use serde_json::json;

pub use paragraphs::Paragraphs;
pub use priority::Keep;
pub use texts::{Duplicate, TextIndex};
pub use versions::Versions;

use crate::jsonl::{self, DocumentFields, Line, Writer};
use crate::manifest::{InputFile, Output};
use crate::step::{DamagedLines, Finished, Run, ShardOutput, counts, for_each_line};
use crate::{Error, Observer};
use paragraphs::{BloomFilter, RepeatedParagraphs};
use priority::Priority;
use scan::ShardScan;
use signatures::Records;

/// What counts as a duplicate, and which document is kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Settings {
    /// Near-duplicates; `None` looks for equal texts only.
    pub near: Option<MinHash>,
    /// Paragraphs that an earlier document had; `None` leaves paragraphs alone.
    pub paragraphs: Option<Paragraphs>,
    /// Which document of a cluster stays.
    pub keep: Keep,
    /// Which versions of a URL stay.
    pub versions: Versions,
}

/// How near-duplicates are found: MinHash signatures, banded, then compared.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MinHash {
    /// The length of a signature.
    pub permutations: usize,
    /// The bands it is divided into; documents that share a band are compared.
    pub bands: usize,
    /// Words, or characters where a script has no spaces, per n-gram.
    pub n_gram: usize,
    /// The least similarity (estimated Jaccard of the n-gram sets) of a duplicate.
    pub threshold: f32,
    /// The least part of the longer text's n-grams that a duplicate shares with it. A text that says what another one
    /// says and as much again is not its duplicate.
    pub containment: f32,
}

impl Default for MinHash {
    /// Finds nine of ten pairs at a similarity of 0.64 and all but a few from 0.73 on. Where both texts are of one length
    /// this containment asks for no more than the threshold does.
    fn default() -> Self {
        MinHash { permutations: 120, bands: 24, n_gram: 5, threshold: 0.45, containment: 0.62 }
    }
}

impl MinHash {
    /// The part of two signatures that must agree, by the numbers of n-grams of both texts.
    ///
    /// With `r` the shorter length over the longer, two texts that share the part `c` of the longer one have a
    /// Jaccard similarity of c / (1 + r - c). Texts with fewer n-grams than the signature has bins must agree in as
    /// much more as their estimate is less sure (one standard error), because a wrong removal loses a document.
    fn required_similarity(&self, n_left: u32, n_right: u32) -> f32 {
        let (fewer, more) = (n_left.min(n_right) as f32, n_left.max(n_right).max(1) as f32);
        let contained = self.containment / (1.0 + fewer / more - self.containment).max(f32::EPSILON);
        let least = self.threshold.max(contained).min(1.0);
        let error = |samples: f32| (least * (1.0 - least) / samples.max(1.0)).sqrt();
        let surplus = error(fewer) - error(self.permutations as f32);
        (least + surplus.max(0.0)).min(1.0)
    }
}

/// A similar document.
#[derive(Clone, Copy, Debug)]
struct Match {
    other: u32,
    similarity: f32,
}

/// Why a document is removed.
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
    /// An older version of a URL.
    Version,
}

/// Where the records of a run lie until it is complete.
const WORK_FOLDER: &str = ".work";

/// The same as it is claimed.
const WORK_CLAIM: &str = ".work/";

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
    let sources = |paths: &[PathBuf]| paths.iter().map(|path| InputFile::of(path)).collect::<Result<Vec<_>, _>>();
    let mut described = json!({"step": "dedup", "inputs": sources(shards)?, "against": sources(older)?});
    let settings_value = serde_json::to_value(settings).expect("settings are plain data");
    let fields = settings_value.as_object().expect("settings are a struct").clone();
    described.as_object_mut().expect("an object").extend(fields);
    let mut output = run.open(shards, described)?;
    let work = output.folder().join(WORK_FOLDER);
    if output.manifest().complete && is_whole(&output, shards)? {
        // A run that was killed during cleanup leaves some of its records behind.
        remove_work(&mut output)?;
        return Ok(Finished {
            manifest: output.manifest().clone(),
            damage: Vec::new(),
            was_already_done: true,
            notes: Vec::new(),
        });
    }
    let names: Vec<String> = (0..shards.len()).map(jsonl::shard_name).collect();
    output.claim([WORK_CLAIM, report::CLUSTERS].into_iter().chain(names.iter().map(String::as_str)))?;
    if run.existing == crate::manifest::ExistingOutput::Replace {
        remove_work(&mut output)?;
    }

    let all: Vec<&Path> = older.iter().chain(shards).map(PathBuf::as_path).collect();
    let (scanned, damage) = scan::scan(&all, settings, &work, run)?;
    let decision = decide(&scanned, older.len(), settings, memory_bytes, &work, run.observer)?;
    report::write(output.folder(), &decision, settings.keep, &work, older.len(), &all)?;
    let writing = |index: usize, path: &Path, _: &mut DamagedLines| {
        let shard = older.len() + index;
        write_shard(path, &output_path(run.out, index), &decision, shard, &scanned[shard], run.observer)
    };
    let (mut output, _, _) = run.process_shards(output, "writing", shards, jsonl::shard_name, writing)?;
    let n_clusters = decision.clusters();
    let manifest = output.complete(counts([("clusters", n_clusters)]))?.clone();
    remove_work(&mut output)?;
    Ok(Finished { manifest, damage, was_already_done: false, notes: Vec::new() })
}

fn output_path(out: &Path, index: usize) -> PathBuf {
    out.join(jsonl::shard_name(index))
}

fn is_whole(output: &Output, shards: &[PathBuf]) -> Result<bool, Error> {
    for (index, path) in shards.iter().enumerate() {
        if output.finished_shard(&jsonl::shard_name(index), &InputFile::of(path)?).is_none() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Removes the records of the passes.
fn remove_work(output: &mut Output) -> Result<(), Error> {
    match output.owned_folder().has_claimed(WORK_CLAIM) {
        true => output.owned_folder().remove_below(WORK_CLAIM, scan::is_record_name),
        false => Ok(()),
    }
}

/// What the second pass found.
struct Decision {
    records: Records,
    removals: HashMap<u32, Removal>,
    /// By shard; empty where paragraphs are left alone.
    cuts: Vec<RepeatedParagraphs>,
}

impl Decision {
    fn clusters(&self) -> u64 {
        let kept: hashbrown::HashSet<u32> = self.removals.values().map(|removal| removal.kept).collect();
        kept.len() as u64
    }
}

fn decide(
    scanned: &[ShardScan],
    n_older: usize,
    settings: &Settings,
    memory_bytes: u64,
    work: &Path,
    observer: &dyn Observer,
) -> Result<Decision, Error> {
    let permutations = settings.near.as_ref().map_or(0, |near| near.permutations);
    let paths = (0..scanned.len()).map(|shard| scan::signatures_path(work, shard)).collect();
    let records = Records::open(paths, permutations)?;
    let priority = Priority::new(settings.keep, records.base(n_older), &records)?;
    let outdated = match settings.versions {
        Versions::Latest => versions::outdated(work, &records, n_older, scanned.len(), memory_bytes)?,
        Versions::All => HashMap::new(),
    };
    let same = candidates::exact(&records, &priority, &outdated, memory_bytes)?;
    let is_gone = |document: u32| same.contains_key(&document) || outdated.contains_key(&document);
    let pairs = match &settings.near {
        Some(near) => candidates::near(&records, &priority, &is_gone, near, memory_bytes, observer)?,
        None => candidates::Matches::new(),
    };
    let mut removals = resolve::removals(&records, &priority, &same, &pairs, settings.near.as_ref())?;
    for (&document, &newest) in &outdated {
        // The newest version may itself resemble a preferred document, which then stays for both.
        let kept = removals.get(&newest).map_or(newest, |removal| removal.kept);
        removals.insert(document, Removal { kept, kind: Kind::Version, similarity: 0.0 });
    }
    let mut cuts = Vec::new();
    if let Some(paragraphs) = &settings.paragraphs {
        let n_paragraphs = scanned.iter().map(|shard| shard.n_paragraphs).sum();
        let mut seen = BloomFilter::new(n_paragraphs, paragraphs.false_positives);
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
    scanned: &ShardScan,
    observer: &dyn Observer,
) -> Result<ShardOutput, Error> {
    let mut writer = Writer::create(out)?;
    let (mut n_exact, mut n_near, mut n_outdated, mut n_emptied, mut n_kept, mut n_cut) = (0, 0, 0, 0, 0, 0);
    let base = decision.records.base(shard);
    let mut cuts = decision.cuts.get(shard).map_or(&[][..], |cuts| &cuts[..]);
    let mut damaged = scanned.damaged_lines.iter().copied().peekable();
    let mut document = 0u32;
    for_each_line(path, observer, |line| {
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
            Some(Kind::Version) => n_outdated += 1,
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
        ("dropped.older-version", n_outdated),
        ("dropped.damaged", scanned.n_damaged),
    ]);
    if !decision.cuts.is_empty() {
        counted.extend(counts([("dropped.repeated-paragraphs", n_emptied), ("paragraphs.removed", n_cut)]));
    }
    Ok(ShardOutput { sealed: writer.seal()?, counts: counted, side_files: Vec::new() })
}

/// A document without some of its paragraphs; `None` when nothing is left.
fn without_paragraphs(line: &[u8], cuts: &[(u32, u32)]) -> Option<Vec<u8>> {
    let view = DocumentFields::of(line).expect("the first pass read this line");
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

    #[track_caller]
    fn check_required(n_left: u32, n_right: u32, expected: f32) {
        let required = MinHash::default().required_similarity(n_left, n_right);
        assert!((required - expected).abs() < 0.005, "{n_left}, {n_right}: {required} is not {expected}");
        assert_eq!(required, MinHash::default().required_similarity(n_right, n_left));
    }

    #[test]
    fn the_more_lengths_differ_the_more_signatures_must_agree() {
        check_required(1000, 1000, 0.45);
        check_required(900, 1000, 0.62 / 1.28);
        check_required(750, 1000, 0.62 / 1.13);
        // Nothing that is so much shorter can hold enough of the longer one.
        check_required(600, 1000, 0.62 / 0.98);
        check_required(200, 1000, 1.0);
    }

    #[test]
    fn short_texts_must_agree_in_more() {
        check_required(120, 120, 0.45);
        check_required(30, 30, 0.495);
        check_required(0, 0, 1.0);
    }

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
