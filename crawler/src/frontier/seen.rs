//! The set of known fingerprints: exact, on disk, with bounded memory.
//!
//! New fingerprints are collected in memory; [`MEMORY_ENTRIES`] of them are sorted and written as a run, and runs are
//! merged on a separate thread so that each is [`SIZE_RATIO`] times as large as all smaller ones together. A look-up
//! searches the largest run first, which has eight of nine known fingerprints, so that its cost hardly grows with the
//! set. A Bloom filter tells which fingerprints are certainly new; its false positives cost a look-up and never lose a
//! URL. It starts small and is rebuilt at its full size when the set has outgrown it; beyond that, look-ups become more
//! frequent and memory stays constant.

mod filter;
mod run;

use std::fs;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

use hashbrown::HashMap;
use xxhash_rust::xxh3::xxh3_64;

use self::filter::Filter;
use self::run::{Run, RunWriter, merge, run_path};
use super::files::{io_error, replace};
use crate::error::Error;

/// Fingerprints collected in memory before they are written as a run: a table of 2^17 slots, seven eighths full.
const MEMORY_ENTRIES: usize = (1 << 17) / 8 * 7;
/// Fingerprints after which a checkpoint is due.
const UNSAVED_ENTRIES: usize = 900_000;
/// A run is at least this many times as large as all smaller ones together.
const SIZE_RATIO: u64 = 8;
/// Bits of the Bloom filter per fingerprint.
const FILTER_BITS: u64 = 13;
/// The factor by which the filter starts smaller than its full size.
const FILTER_START: usize = 16;
/// Slots of the cache of recently found fingerprints, a power of two.
const RECENT_SLOTS: usize = 1 << 16;

/// A set of fingerprints, each with the number of its URL.
pub(super) struct Seen {
    folder: PathBuf,
    memory: HashMap<u64, u32, IdentityHasher>,
    /// The largest first.
    runs: Vec<Run>,
    next_run: u64,
    filter: Filter,
    max_filter_bytes: usize,
    recent: Vec<(u64, u32)>,
    merging: Option<Merging>,
    /// Fingerprints that came since the last checkpoint.
    unsaved: usize,
    /// Runs from this number on are in no checkpoint yet.
    first_unsaved_run: u64,
    /// Files of merged runs, to be removed after the next checkpoint.
    replaced: Vec<PathBuf>,
}

/// Fingerprints are hashes already and are not hashed again.
#[derive(Clone, Copy, Default)]
struct IdentityHasher(u64);

impl std::hash::Hasher for IdentityHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, _bytes: &[u8]) {
        unreachable!("fingerprints are hashed as one u64");
    }
    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
}

impl std::hash::BuildHasher for IdentityHasher {
    type Hasher = IdentityHasher;
    fn build_hasher(&self) -> IdentityHasher {
        IdentityHasher(0)
    }
}

struct Merging {
    inputs: Vec<u64>,
    thread: JoinHandle<Result<Run, Error>>,
}

impl Seen {
    /// Opens the set with the runs of a checkpoint; without runs it is empty.
    pub(super) fn open(folder: &Path, runs: &[u64], filter_digest: u64, filter_bytes: usize) -> Result<Seen, Error> {
        let mut opened = Vec::new();
        for &number in runs {
            opened.push(Run::open(folder, number)?);
        }
        let filter = match load_filter(folder, filter_digest) {
            Some(filter) if !runs.is_empty() => filter,
            _ => build_filter(&opened, filter_bytes / FILTER_START, filter_bytes)?,
        };
        remove_orphan_runs(folder, runs)?;
        let next_run = runs.iter().max().map_or(0, |last| last + 1);
        let mut seen = Seen {
            folder: folder.to_owned(),
            memory: HashMap::with_capacity_and_hasher(MEMORY_ENTRIES, IdentityHasher(0)),
            runs: opened,
            next_run,
            filter,
            max_filter_bytes: filter_bytes,
            recent: vec![(0, 0); RECENT_SLOTS],
            merging: None,
            unsaved: 0,
            first_unsaved_run: next_run,
            replaced: Vec::new(),
        };
        seen.sort_runs();
        Ok(seen)
    }

    /// Prefetches the cache lines that look-ups of these fingerprints will read, so that their memory latencies
    /// overlap.
    pub(super) fn prefetch(&self, fingerprints: &[u64]) {
        let touch = |sum: u64, &fingerprint: &u64| {
            let recent = self.recent[fingerprint as usize & (RECENT_SLOTS - 1)].0;
            sum.wrapping_add(recent).wrapping_add(u64::from(self.filter.touch(fingerprint)))
        };
        std::hint::black_box(fingerprints.iter().fold(0, touch));
    }

    /// The number of a fingerprint; `None` when it is not known.
    pub(super) fn get(&mut self, fingerprint: u64) -> Result<Option<u32>, Error> {
        let slot = fingerprint as usize & (RECENT_SLOTS - 1);
        if self.recent[slot].0 == fingerprint && fingerprint != 0 {
            return Ok(Some(self.recent[slot].1));
        }
        if !self.filter.may_contain(fingerprint) {
            return Ok(None);
        }
        let mut found = self.memory.get(&fingerprint).copied();
        for run in &self.runs {
            if found.is_some() {
                break;
            }
            found = run.get(fingerprint)?;
        }
        if let Some(number) = found {
            self.recent[slot] = (fingerprint, number);
        }
        Ok(found)
    }

    /// Adds a fingerprint that [`Seen::get`] did not know.
    pub(super) fn insert(&mut self, fingerprint: u64, number: u32) -> Result<(), Error> {
        self.filter.add(fingerprint);
        self.memory.insert(fingerprint, number);
        self.unsaved += 1;
        if self.memory.len() >= MEMORY_ENTRIES {
            self.spill()?;
        }
        Ok(())
    }

    /// Whether enough fingerprints were added since the last checkpoint for another.
    pub(super) fn is_checkpoint_due(&self) -> bool {
        self.unsaved >= UNSAVED_ENTRIES
    }

    /// Syncs the set to disk; gives its runs and the digest of the saved filter, for a checkpoint.
    pub(super) fn save(&mut self) -> Result<(Vec<u64>, u64), Error> {
        self.spill()?;
        for run in &mut self.runs {
            run.sync()?;
        }
        replace(&self.folder.join("bloom"), &[self.filter.as_bytes()])?;
        self.unsaved = 0;
        self.first_unsaved_run = self.next_run;
        Ok((self.runs.iter().map(|run| run.number).collect(), xxh3_64(self.filter.as_bytes())))
    }

    /// Removes the files that the checkpoint just written no longer uses.
    pub(super) fn remove_replaced_files(&mut self) {
        for path in self.replaced.drain(..) {
            // A file that could not be removed is removed at the next opening.
            let _ = fs::remove_file(path);
        }
    }

    /// Writes what is in memory as a run.
    fn spill(&mut self) -> Result<(), Error> {
        self.finish_merge(false)?;
        if !self.memory.is_empty() {
            let mut entries: Vec<(u64, u32)> = self.memory.drain().collect();
            entries.sort_unstable();
            let mut writer = RunWriter::create(&self.folder, self.next_run)?;
            self.next_run += 1;
            for (fingerprint, number) in entries {
                writer.push(fingerprint, number)?;
            }
            self.runs.push(writer.finish()?);
            self.sort_runs();
            self.grow_filter()?;
        }
        self.start_merge();
        Ok(())
    }

    /// Rebuilds the filter when the set has outgrown it; all fingerprints must be in the runs.
    fn grow_filter(&mut self) -> Result<(), Error> {
        let bytes = self.filter.as_bytes().len();
        if bytes < filter_bytes_for(&self.runs, bytes, self.max_filter_bytes) {
            self.filter = Filter::new(0);
            self.filter = build_filter(&self.runs, bytes, self.max_filter_bytes)?;
        }
        Ok(())
    }

    fn sort_runs(&mut self) {
        self.runs.sort_by_key(|run| std::cmp::Reverse(run.entries));
    }

    fn finish_merge(&mut self, wait: bool) -> Result<(), Error> {
        let wait = wait || is_simulated();
        if !self.merging.as_ref().is_some_and(|merging| wait || merging.thread.is_finished()) {
            return Ok(());
        }
        let merging = self.merging.take().expect("looked at above");
        let merged = merging.thread.join().expect("merging does not panic")?;
        for &number in &merging.inputs {
            let path = run_path(&self.folder, number);
            if number < self.first_unsaved_run {
                self.replaced.push(path);
            } else {
                // A file that could not be removed is removed at the next opening.
                let _ = fs::remove_file(path);
            }
        }
        self.runs.retain(|run| !merging.inputs.contains(&run.number));
        self.runs.push(merged);
        self.sort_runs();
        Ok(())
    }

    /// Starts merging the runs that are too small compared with those after them.
    fn start_merge(&mut self) {
        if self.merging.is_some() {
            return;
        }
        let smaller = |index: usize| self.runs[index + 1..].iter().map(|run| run.entries).sum::<u64>();
        let is_too_small = |index: &usize| self.runs[*index].entries < SIZE_RATIO * smaller(*index);
        let Some(first) = (0..self.runs.len()).find(is_too_small) else { return };
        let inputs: Vec<u64> = self.runs[first..].iter().map(|run| run.number).collect();
        let (folder, number, merged) = (self.folder.clone(), self.next_run, inputs.clone());
        self.next_run += 1;
        let merge = move || merge(&folder, &merged, number);
        let thread = match is_simulated() {
            true => std::thread::spawn(already(merge())),
            false => std::thread::spawn(merge),
        };
        self.merging = Some(Merging { inputs, thread });
    }
}

impl Drop for Seen {
    fn drop(&mut self) {
        // An incomplete run is in no checkpoint; waiting only keeps the thread from outliving the folder.
        let _ = self.finish_merge(true);
    }
}

/// Whether the disk is simulated: then runs are merged on its thread, and at once, so that a seed decides everything.
fn is_simulated() -> bool {
    #[cfg(test)]
    return super::simulated_disk::is_active();
    #[cfg(not(test))]
    false
}

/// Gives a result that is there already.
fn already(merged: Result<Run, Error>) -> impl FnOnce() -> Result<Run, Error> {
    move || merged
}

fn load_filter(folder: &Path, digest: u64) -> Option<Filter> {
    let bytes = fs::read(folder.join("bloom")).ok()?;
    (xxh3_64(&bytes) == digest).then(|| Filter::from_bytes(bytes))?
}

/// A filter of all fingerprints in some runs, of at least `least_bytes` and with room for the next run.
fn build_filter(runs: &[Run], least_bytes: usize, max_bytes: usize) -> Result<Filter, Error> {
    let mut filter = Filter::new(filter_bytes_for(runs, least_bytes, max_bytes));
    for run in runs {
        let mut entries = run.entries()?;
        while let Some((fingerprint, _)) = entries.next()? {
            filter.add(fingerprint);
        }
    }
    Ok(filter)
}

/// The size of a filter for these runs and one more.
fn filter_bytes_for(runs: &[Run], least_bytes: usize, max_bytes: usize) -> usize {
    let n_entries = runs.iter().map(|run| run.entries).sum::<u64>() + MEMORY_ENTRIES as u64;
    if least_bytes as u64 * 8 < n_entries * FILTER_BITS { max_bytes } else { least_bytes.min(max_bytes) }
}

fn remove_orphan_runs(folder: &Path, runs: &[u64]) -> Result<(), Error> {
    for entry in fs::read_dir(folder).map_err(io_error(folder, "list"))?.flatten() {
        let name = entry.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix("seen-")).and_then(|rest| rest.parse().ok());
        if number.is_some_and(|number: u64| !runs.contains(&number)) {
            let path = entry.path();
            fs::remove_file(&path).map_err(io_error(&path, "remove"))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fingerprint(number: u32) -> u64 {
        xxh3_64(&number.to_le_bytes())
    }

    #[test]
    fn what_was_inserted_is_known_and_nothing_else_is() {
        let folder = tempfile::tempdir().unwrap();
        let mut seen = Seen::open(folder.path(), &[], 0, 1 << 22).unwrap();
        let mut saved = (Vec::new(), 0);
        assert_eq!(seen.filter.as_bytes().len(), 1 << 18, "the filter begins small");
        for number in 0..60_000 {
            assert_eq!(seen.get(fingerprint(number)).unwrap(), None);
            seen.insert(fingerprint(number), number).unwrap();
            if number % 2_000 == 1_999 {
                saved = seen.save().unwrap();
                seen.remove_replaced_files();
            }
        }
        seen.finish_merge(true).unwrap();
        assert!(seen.runs.len() < 20, "runs are merged");
        assert_eq!(seen.filter.as_bytes().len(), 1 << 22, "the filter grows with the set");
        drop(seen);
        let mut seen = Seen::open(folder.path(), &saved.0, saved.1, 1 << 22).unwrap();
        for number in 0..60_000 {
            assert_eq!(seen.get(fingerprint(number)).unwrap(), Some(number));
        }
        for number in 60_000..120_000 {
            assert_eq!(seen.get(fingerprint(number)).unwrap(), None);
        }
    }

    #[test]
    fn a_damaged_filter_is_built_again() {
        let folder = tempfile::tempdir().unwrap();
        let mut seen = Seen::open(folder.path(), &[], 0, 1 << 12).unwrap();
        (0..1_000).for_each(|number| seen.insert(fingerprint(number), number).unwrap());
        let (runs, digest) = seen.save().unwrap();
        drop(seen);
        let path = folder.path().join("bloom");
        let mut bytes = fs::read(&path).unwrap();
        bytes.iter_mut().skip(100).for_each(|byte| *byte = 0);
        fs::write(&path, bytes).unwrap();
        let mut seen = Seen::open(folder.path(), &runs, digest, 1 << 12).unwrap();
        assert!((0..1_000).all(|number| seen.get(fingerprint(number)).unwrap() == Some(number)));
    }
}
