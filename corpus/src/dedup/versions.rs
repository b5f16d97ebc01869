//! Several versions of one URL: the newest stays.
//!
//! Only documents that say when they were fetched are versions of one another, and those of one moment all stay: other
//! people's corpora divide pages into several documents.

use std::fs::File;
use std::io::{BufReader, Read, Write};
use std::path::{Path, PathBuf};

use hashbrown::HashMap;
use jiff::Timestamp;
use xxhash_rust::xxh3::xxh3_64;

use super::scan::versions_path;
use super::signatures::Records;
use crate::Error;
use crate::atomic_file::AtomicFile;
use crate::jsonl::DocumentFields;

/// Which versions of a URL stay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Versions {
    /// The newest.
    #[default]
    Latest,
    /// All.
    All,
}

/// The bytes of a record: a hash of the URL, zero for none, and the time in nanoseconds.
const RECORD_BYTES: usize = 24;

/// Writes the records of one shard.
pub(super) struct Writer {
    file: AtomicFile,
    path: PathBuf,
}

impl Writer {
    pub(super) fn create(path: PathBuf) -> Result<Writer, Error> {
        Ok(Writer { file: AtomicFile::create(&path)?, path })
    }

    pub(super) fn put(&mut self, document: &DocumentFields) -> Result<(), Error> {
        let time: Option<Timestamp> = document.fetched_at.parse().ok();
        let url_hash = match (document.address(), time) {
            ("", _) | (_, None) => 0,
            (address, _) => xxh3_64(address.as_bytes()).max(1),
        };
        let mut record = [0; RECORD_BYTES];
        record[..8].copy_from_slice(&url_hash.to_le_bytes());
        record[8..].copy_from_slice(&time.map_or(0, |time| time.as_nanosecond()).to_le_bytes());
        self.file.write_all(&record).map_err(Error::at(&self.path))
    }

    pub(super) fn seal(self) -> Result<(), Error> {
        self.file.seal().map(drop)
    }
}

/// The documents behind the older ones that a newer version of their URL replaces, each with the newest.
pub(super) fn outdated(
    work: &Path,
    records: &Records,
    n_older: usize,
    n_shards: usize,
    memory: u64,
) -> Result<HashMap<u32, u32>, Error> {
    let entry_bytes = size_of::<(u64, i128, u32)>() as u64;
    let n_documents = u64::from(records.n_documents() - records.base(n_older));
    let n_passes = (n_documents * entry_bytes).div_ceil(memory).max(1);
    let mut outdated = HashMap::new();
    let mut entries: Vec<(u64, i128, u32)> = Vec::new();
    for pass in 0..n_passes {
        entries.clear();
        for shard in n_older..n_shards {
            let path = versions_path(work, shard);
            let mut reader = BufReader::new(File::open(&path).map_err(Error::at(&path))?);
            let mut record = [0; RECORD_BYTES];
            for document in records.base(shard)..records.base(shard + 1) {
                reader.read_exact(&mut record).map_err(Error::at(&path))?;
                let url_hash = u64::from_le_bytes(record[..8].try_into().expect("eight bytes"));
                let time = i128::from_le_bytes(record[8..].try_into().expect("sixteen bytes"));
                if url_hash != 0 && url_hash % n_passes == pass {
                    entries.push((url_hash, time, document));
                }
            }
        }
        entries.sort_unstable();
        for versions in entries.chunk_by(|left, right| left.0 == right.0) {
            let (_, newest_time, newest) = versions[versions.len() - 1];
            let older = versions.iter().filter(|version| version.1 < newest_time);
            outdated.extend(older.map(|version| (version.2, newest)));
        }
    }
    Ok(outdated)
}
