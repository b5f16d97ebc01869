//! The first pass: every document is read once and becomes a record of fixed size.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

use super::shingles::Shingler;
use super::signatures::{self, Record};
use super::versions::{self, Versions};
use super::{Settings, normalise, paragraphs};
use crate::atomic_file::{self, AtomicFile};
use crate::jsonl::{DocumentFields, Line};
use crate::step::{Run, for_each_line};
use crate::{Error, parallel};

/// What the first pass found in one shard. Its presence says that the files of the shard are complete.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct ShardScan {
    pub n_documents: u32,
    pub n_paragraphs: u64,
    /// Lines that are no documents, and places where the file itself is broken.
    pub n_damaged: u64,
    /// The numbers of those lines that could be read but are no documents.
    pub damaged_lines: Vec<u64>,
    /// The first of them, described.
    pub described: Vec<String>,
}

pub(super) fn signatures_path(work: &Path, shard: usize) -> PathBuf {
    work.join(format!("signatures-{shard:05}.bin"))
}

pub(super) fn names_path(work: &Path, shard: usize) -> PathBuf {
    work.join(format!("names-{shard:05}.jsonl"))
}

pub(super) fn paragraphs_path(work: &Path, shard: usize) -> PathBuf {
    work.join(format!("paragraphs-{shard:05}.bin"))
}

pub(super) fn versions_path(work: &Path, shard: usize) -> PathBuf {
    work.join(format!("versions-{shard:05}.bin"))
}

fn scanned_path(work: &Path, shard: usize) -> PathBuf {
    work.join(format!("scanned-{shard:05}.json"))
}

/// Whether a file of this name is one of the records above, whole or half written.
pub(super) fn is_record_name(name: &str) -> bool {
    let name = name.strip_suffix(atomic_file::TEMPORARY_SUFFIX).unwrap_or(name);
    let Some((word, rest)) = name.split_once('-') else { return false };
    let (digits, ending) = rest.split_once('.').unwrap_or((rest, ""));
    let is_number = digits.len() >= 5 && digits.bytes().all(|byte| byte.is_ascii_digit());
    let kinds =
        [("signatures", "bin"), ("names", "jsonl"), ("paragraphs", "bin"), ("versions", "bin"), ("scanned", "json")];
    is_number && kinds.contains(&(word, ending))
}

/// Scans the shards that an earlier, interrupted run has not, and describes the damage in all of them.
pub(super) fn scan(
    shards: &[&Path],
    settings: &Settings,
    work: &Path,
    run: &Run,
) -> Result<(Vec<ShardScan>, Vec<String>), Error> {
    let mut total_bytes = 0;
    for path in shards {
        total_bytes += fs::metadata(path).map_err(Error::at(*path))?.len();
    }
    run.observer.begin("reading", total_bytes);
    let scanned = parallel::run(run.jobs, shards.len(), |shard| match fs::read(scanned_path(work, shard)) {
        Ok(bytes) => {
            let path = scanned_path(work, shard);
            serde_json::from_slice(&bytes).map_err(|source| Error::Manifest { path, source })
        }
        Err(_) => scan_shard(shards[shard], shard, settings, work, run),
    })?;
    let described = scanned.iter().flat_map(|shard: &ShardScan| shard.described.iter().cloned()).take(20).collect();
    Ok((scanned, described))
}

fn scan_shard(path: &Path, shard: usize, settings: &Settings, work: &Path, run: &Run) -> Result<ShardScan, Error> {
    let near = settings.near.as_ref();
    let mut shingler = near.map(|near| Shingler::new(near.permutations, near.n_gram));
    let permutations = near.map_or(0, |near| near.permutations);
    let mut records = signatures::Writer::create(signatures_path(work, shard), permutations)?;
    let names_path = names_path(work, shard);
    let mut names = AtomicFile::create(&names_path)?;
    let mut hashes = match settings.paragraphs {
        Some(_) => Some(paragraphs::Writer::create(paragraphs_path(work, shard))?),
        None => None,
    };
    let mut versions = match settings.versions {
        Versions::Latest => Some(versions::Writer::create(versions_path(work, shard))?),
        Versions::All => None,
    };
    let mut scanned = ShardScan::default();
    let mut buffer = Vec::new();
    let mut signature = Vec::new();
    for_each_line(path, run.observer, |line| {
        let (number, why) = match line {
            Line::Good { number, bytes } => match DocumentFields::of(bytes) {
                Ok(view) => {
                    normalise(&view.text, &mut buffer);
                    let exact = xxh3_128(&buffer);
                    let length = u32::try_from(buffer.len()).unwrap_or(u32::MAX);
                    let n_shingles = match &mut shingler {
                        Some(shingler) => shingler.write_signature(&view.text, &mut signature),
                        None => 0,
                    };
                    records.put(Record { text_hash: exact, length, n_shingles }, &signature)?;
                    if let (Some(hashes), Some(settings)) = (&mut hashes, &settings.paragraphs) {
                        hashes.put(&view.text, settings)?;
                    }
                    if let Some(versions) = &mut versions {
                        versions.put(&view)?;
                    }
                    buffer.clear();
                    name(&view, path, number, &mut buffer);
                    names.write_all(&buffer).map_err(Error::at(&names_path))?;
                    scanned.n_documents += 1;
                    return Ok(());
                }
                Err(error) => {
                    scanned.damaged_lines.push(number);
                    (number, format!("not a document: {error}"))
                }
            },
            Line::Damaged { number, why } => (number, why),
        };
        scanned.n_damaged += 1;
        if scanned.described.len() < 20 {
            scanned.described.push(format!("{}:{number}: {why}", path.display()));
        }
        Ok(())
    })?;
    records.seal()?;
    names.seal()?;
    if let Some(versions) = versions {
        versions.seal()?;
    }
    if let Some(hashes) = hashes {
        scanned.n_paragraphs = hashes.seal()?;
    }
    let bytes = serde_json::to_vec(&scanned).expect("plain data");
    atomic_file::write_atomically(&scanned_path(work, shard), &bytes)?;
    Ok(scanned)
}

/// How a report names a document: its id, or its file and line where it has none, and its URL.
fn name(view: &DocumentFields, path: &Path, line: u64, buffer: &mut Vec<u8>) {
    #[derive(Serialize)]
    struct Name<'n> {
        id: &'n str,
        url: &'n str,
    }
    let file_and_line;
    let id = match view.id.is_empty() {
        false => &*view.id,
        true => {
            file_and_line = format!("{}:{line}", path.file_name().unwrap_or_default().to_string_lossy());
            &file_and_line
        }
    };
    serde_json::to_writer(&mut *buffer, &Name { id, url: view.address() }).expect("two texts");
    buffer.push(b'\n');
}
