//! Runs: sorted files of fingerprints.

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::super::files::{self, io_error, open_noatime, sync_folder};
use crate::error::Error;

/// Entries of a block; the first fingerprint of each block, its fence, is in memory.
const BLOCK_ENTRIES: usize = 340;
const ENTRY_BYTES: usize = 12;
/// Entries read around the interpolated position of a fingerprint. Fingerprints are distributed uniformly: within a
/// block the standard deviation from that position is nine entries, so that one look-up in a hundred needs a second
/// read.
const WINDOW_ENTRIES: usize = 48;

/// Entries read at once when iterating over all.
const CHUNK_ENTRIES: u64 = 5000;

/// A sorted file: entries, then the fences, then the number of entries.
pub(super) struct Run {
    pub(super) number: u64,
    pub(super) entries: u64,
    /// Whether it was synced to disk.
    is_synced: bool,
    path: PathBuf,
    file: File,
    fences: Vec<u64>,
}

/// The name of a run's file.
pub(super) fn run_path(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("seen-{number:06}"))
}

impl Run {
    pub(super) fn open(folder: &Path, number: u64) -> Result<Run, Error> {
        let path = run_path(folder, number);
        let file = open_noatime(OpenOptions::new().read(true), &path).map_err(io_error(&path, "open"))?;
        let damaged = |offset, what| Error::Damaged { path: path.clone(), offset, what };
        let length = file.metadata().map_err(io_error(&path, "read"))?.len();
        let mut tail = [0; 8];
        let tail_at = length.checked_sub(8).ok_or(damaged(0, "the run is empty"))?;
        file.read_exact_at(&mut tail, tail_at).map_err(io_error(&path, "read"))?;
        let entries = u64::from_le_bytes(tail);
        let n_fences = entries.div_ceil(BLOCK_ENTRIES as u64);
        if entries.checked_mul(ENTRY_BYTES as u64).and_then(|bytes| bytes.checked_add(n_fences * 8 + 8)) != Some(length)
        {
            return Err(damaged(tail_at, "the length of the run does not match its number of entries"));
        }
        let mut bytes = vec![0; n_fences as usize * 8];
        file.read_exact_at(&mut bytes, entries * ENTRY_BYTES as u64).map_err(io_error(&path, "read"))?;
        let fences = bytes.chunks_exact(8).map(fingerprint_of).collect();
        Ok(Run { number, entries, is_synced: true, path, file, fences })
    }

    /// The number of a fingerprint.
    pub(super) fn get(&self, fingerprint: u64) -> Result<Option<u32>, Error> {
        let Some(block) = self.block_of(fingerprint) else { return Ok(None) };
        let first = block as u64 * BLOCK_ENTRIES as u64;
        let n_entries = (self.entries - first).min(BLOCK_ENTRIES as u64) as usize;
        let from = self.fences[block];
        let to = self.fences.get(block + 1).copied().unwrap_or(u64::MAX);
        let share = (fingerprint - from) as f64 / (to - from).max(1) as f64;
        let start = ((share * n_entries as f64) as usize).saturating_sub(WINDOW_ENTRIES / 2);
        let start = start.min(n_entries.saturating_sub(WINDOW_ENTRIES));
        let mut bytes = [0; WINDOW_ENTRIES * ENTRY_BYTES];
        let window = &mut bytes[..WINDOW_ENTRIES.min(n_entries) * ENTRY_BYTES];
        self.read(first + start as u64, window)?;
        let last = &window[window.len() - ENTRY_BYTES..];
        let reaches_down = start == 0 || fingerprint_of(window) <= fingerprint;
        let reaches_up = start + WINDOW_ENTRIES >= n_entries || fingerprint <= fingerprint_of(last);
        if reaches_down && reaches_up {
            return Ok(find(window, fingerprint));
        }
        let mut bytes = [0; BLOCK_ENTRIES * ENTRY_BYTES];
        let whole = &mut bytes[..n_entries * ENTRY_BYTES];
        self.read(first, whole)?;
        Ok(find(whole, fingerprint))
    }

    /// The block of a fingerprint: interpolated from its value, then corrected by galloping search.
    fn block_of(&self, fingerprint: u64) -> Option<usize> {
        let n_blocks = self.fences.len();
        let guess = ((u128::from(fingerprint) * n_blocks as u128) >> 64) as usize;
        let (mut low, mut high) = (guess, guess + 1);
        let mut step = 1;
        while low > 0 && self.fences[low] > fingerprint {
            high = low;
            low = low.saturating_sub(step);
            step *= 2;
        }
        step = 1;
        while high < n_blocks && self.fences[high] <= fingerprint {
            low = high;
            high = (high + step).min(n_blocks);
            step *= 2;
        }
        let beyond = low + self.fences.get(low..high)?.partition_point(|&first| first <= fingerprint);
        beyond.checked_sub(1)
    }

    /// Syncs the file and its name to disk; to be called before a checkpoint refers to it.
    pub(super) fn sync(&mut self) -> Result<(), Error> {
        if !self.is_synced {
            files::sync(&self.file, &self.path)?;
            sync_folder(&self.path)?;
            self.is_synced = true;
        }
        Ok(())
    }

    fn read(&self, entry: u64, into: &mut [u8]) -> Result<(), Error> {
        self.file.read_exact_at(into, entry * ENTRY_BYTES as u64).map_err(io_error(&self.path, "read"))
    }

    /// All entries in their order.
    pub(super) fn entries(&self) -> Result<Entries, Error> {
        let file = open_noatime(OpenOptions::new().read(true), &self.path).map_err(io_error(&self.path, "open"))?;
        Ok(Entries { file, path: self.path.clone(), n_read: 0, n_entries: self.entries, bytes: Vec::new(), at: 0 })
    }
}

fn find(entries: &[u8], fingerprint: u64) -> Option<u32> {
    let (mut low, mut high) = (0, entries.len() / ENTRY_BYTES);
    while low < high {
        let middle = (low + high) / 2;
        let entry = &entries[middle * ENTRY_BYTES..][..ENTRY_BYTES];
        match fingerprint_of(entry).cmp(&fingerprint) {
            std::cmp::Ordering::Equal => return Some(number_of(entry)),
            std::cmp::Ordering::Less => low = middle + 1,
            std::cmp::Ordering::Greater => high = middle,
        }
    }
    None
}

fn fingerprint_of(entry: &[u8]) -> u64 {
    u64::from_le_bytes(entry[..8].try_into().expect("eight bytes"))
}

fn number_of(entry: &[u8]) -> u32 {
    u32::from_le_bytes(entry[8..12].try_into().expect("four bytes"))
}

/// The entries of a run, one after the other.
pub(super) struct Entries {
    file: File,
    path: PathBuf,
    n_read: u64,
    n_entries: u64,
    /// Entries that were read together, and how many bytes of them were consumed.
    bytes: Vec<u8>,
    at: usize,
}

impl Entries {
    pub(super) fn next(&mut self) -> Result<Option<(u64, u32)>, Error> {
        if self.at == self.bytes.len() && !self.refill()? {
            return Ok(None);
        }
        let entry = &self.bytes[self.at..self.at + ENTRY_BYTES];
        self.at += ENTRY_BYTES;
        Ok(Some((fingerprint_of(entry), number_of(entry))))
    }

    fn refill(&mut self) -> Result<bool, Error> {
        let n = (self.n_entries - self.n_read).min(CHUNK_ENTRIES);
        self.bytes.resize(n as usize * ENTRY_BYTES, 0);
        self.at = 0;
        self.file
            .read_exact_at(&mut self.bytes, self.n_read * ENTRY_BYTES as u64)
            .map_err(io_error(&self.path, "read"))?;
        self.n_read += n;
        Ok(n > 0)
    }
}

/// Writes a run; fingerprints must be pushed in ascending order.
pub(super) struct RunWriter {
    number: u64,
    path: PathBuf,
    file: BufWriter<File>,
    entries: u64,
    fences: Vec<u64>,
}

impl RunWriter {
    pub(super) fn create(folder: &Path, number: u64) -> Result<RunWriter, Error> {
        let path = run_path(folder, number);
        let file = File::options().read(true).write(true).create(true).truncate(true).open(&path);
        let file = BufWriter::with_capacity(1 << 16, file.map_err(io_error(&path, "create"))?);
        Ok(RunWriter { number, path, file, entries: 0, fences: Vec::new() })
    }

    pub(super) fn push(&mut self, fingerprint: u64, number: u32) -> Result<(), Error> {
        if self.entries.is_multiple_of(BLOCK_ENTRIES as u64) {
            self.fences.push(fingerprint);
        }
        self.entries += 1;
        let mut entry = [0; ENTRY_BYTES];
        entry[..8].copy_from_slice(&fingerprint.to_le_bytes());
        entry[8..].copy_from_slice(&number.to_le_bytes());
        self.file.write_all(&entry).map_err(io_error(&self.path, "write"))
    }

    /// Completes the file; it is durable after [`Run::sync`].
    pub(super) fn finish(self) -> Result<Run, Error> {
        let RunWriter { number, path, mut file, entries, mut fences } = self;
        for fence in &fences {
            file.write_all(&fence.to_le_bytes()).map_err(io_error(&path, "write"))?;
        }
        fences.shrink_to_fit();
        file.write_all(&entries.to_le_bytes()).map_err(io_error(&path, "write"))?;
        let file = file.into_inner().map_err(|error| io_error(&path, "write")(error.into_error()))?;
        Ok(Run { number, entries, is_synced: false, path, file, fences })
    }
}

/// Merges runs without common fingerprints into a new, synced one.
pub(super) fn merge(folder: &Path, inputs: &[u64], number: u64) -> Result<Run, Error> {
    let mut sources = Vec::new();
    for &input in inputs {
        let mut entries = Run::open(folder, input)?.entries()?;
        if let Some(first) = entries.next()? {
            sources.push((first, entries));
        }
    }
    let mut writer = RunWriter::create(folder, number)?;
    while let Some(least) = (0..sources.len()).min_by_key(|&index| sources[index].0.0) {
        // The largest run has nine of ten entries: consecutive ones are taken without comparing the sources again.
        let others = (0..sources.len()).filter(|&index| index != least);
        let until = others.map(|index| sources[index].0.0).min().unwrap_or(u64::MAX);
        let ((mut fingerprint, mut number), entries) = (sources[least].0, &mut sources[least].1);
        let next = loop {
            writer.push(fingerprint, number)?;
            match entries.next()? {
                Some(next) if next.0 < until => (fingerprint, number) = next,
                next => break next,
            }
        };
        match next {
            Some(next) => sources[least].0 = next,
            None => drop(sources.swap_remove(least)),
        }
    }
    let mut run = writer.finish()?;
    run.sync()?;
    Ok(run)
}
