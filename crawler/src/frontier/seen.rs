//! Which fingerprints are known, exactly, on disk.
//!
//! New fingerprints gather in memory; when [`MEMORY_ENTRIES`] have come they are sorted and written as a run, and four
//! runs of about one size are merged into one by a thread of its own. A look-up reads one block of each run, the
//! largest run first. A Bloom filter in front says which fingerprints are certainly new and need no look-up; it never
//! says that one is known, so its mistakes cost a look-up and never a page. Its size is fixed: when a crawl outgrows
//! it, look-ups become more frequent and memory stays what it is.

use std::fs::{self, File};
use std::io::{BufReader, BufWriter, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

use bloomfilter::Bloom;
use hashbrown::HashMap;
use xxhash_rust::xxh3::xxh3_64;

use super::files::{at, replace, sync_folder};
use crate::error::Error;

/// Fingerprints gathered in memory before they become a run: a table of 2^20 slots, seven eighths full.
const MEMORY_ENTRIES: usize = (1 << 20) / 8 * 7;
/// Entries of a run read at once, 4080 bytes.
const BLOCK_ENTRIES: usize = 340;
const ENTRY_BYTES: usize = 12;
const BLOCK_BYTES: usize = BLOCK_ENTRIES * ENTRY_BYTES;
/// Runs of one size that are merged into one.
const MERGE_WIDTH: usize = 4;
/// Slots of the table of recently found fingerprints, a power of two.
const RECENT_SLOTS: usize = 1 << 16;

/// A set of fingerprints, each with a number that its owner gave it.
pub(super) struct Seen {
    folder: PathBuf,
    memory: HashMap<u64, u32, Already>,
    runs: Vec<Run>,
    next_run: u64,
    bloom: Bloom<u64>,
    recent: Vec<(u64, u32)>,
    merging: Option<Merging>,
    /// Files that no checkpoint after the next one names.
    replaced: Vec<PathBuf>,
}

/// A fingerprint is a hash already.
#[derive(Clone, Copy, Default)]
struct Already(u64);

impl std::hash::Hasher for Already {
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

impl std::hash::BuildHasher for Already {
    type Hasher = Already;
    fn build_hasher(&self) -> Already {
        Already(0)
    }
}

struct Merging {
    inputs: Vec<u64>,
    thread: JoinHandle<Result<Run, Error>>,
}

impl Seen {
    /// An empty set in a folder, or the one that the runs of a checkpoint make.
    pub(super) fn open(folder: &Path, runs: &[u64], bloom_digest: u64, bloom_bytes: usize) -> Result<Seen, Error> {
        let mut opened = Vec::new();
        for &number in runs {
            opened.push(Run::open(folder, number)?);
        }
        opened.sort_by_key(|run| std::cmp::Reverse(run.entries));
        let bloom = match saved_bloom(folder, bloom_digest) {
            Some(bloom) if !runs.is_empty() => bloom,
            _ => rebuilt_bloom(&opened, bloom_bytes)?,
        };
        remove_strangers(folder, runs)?;
        Ok(Seen {
            folder: folder.to_owned(),
            memory: HashMap::with_hasher(Already(0)),
            next_run: runs.iter().max().map_or(0, |last| last + 1),
            runs: opened,
            bloom,
            recent: vec![(0, 0); RECENT_SLOTS],
            merging: None,
            replaced: Vec::new(),
        })
    }

    /// The number of a fingerprint that is known.
    pub(super) fn get(&mut self, fingerprint: u64) -> Result<Option<u32>, Error> {
        let slot = fingerprint as usize & (RECENT_SLOTS - 1);
        if self.recent[slot].0 == fingerprint && fingerprint != 0 {
            return Ok(Some(self.recent[slot].1));
        }
        if !self.bloom.check(&fingerprint) {
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
    pub(super) fn insert(&mut self, fingerprint: u64, number: u32) {
        self.bloom.set(&fingerprint);
        self.memory.insert(fingerprint, number);
    }

    /// Whether so much has gathered in memory that a checkpoint should write it out.
    pub(super) fn is_full(&self) -> bool {
        self.memory.len() >= MEMORY_ENTRIES
    }

    /// Writes everything to disk; gives the runs that now make the set and the digest of the saved filter.
    pub(super) fn flush(&mut self) -> Result<(Vec<u64>, u64), Error> {
        self.take_merged(false)?;
        if !self.memory.is_empty() {
            let mut entries: Vec<(u64, u32)> = self.memory.drain().collect();
            entries.sort_unstable();
            let mut writer = RunWriter::create(&self.folder, self.next_run)?;
            self.next_run += 1;
            for (fingerprint, number) in entries {
                writer.push(fingerprint, number)?;
            }
            self.runs.push(writer.finish()?);
        }
        self.start_merge();
        self.runs.sort_by_key(|run| std::cmp::Reverse(run.entries));
        let digest = xxh3_64(self.bloom.as_slice());
        replace(&self.folder.join("bloom"), &[self.bloom.as_slice()])?;
        Ok((self.runs.iter().map(|run| run.number).collect(), digest))
    }

    /// Removes what the checkpoint just written no longer names.
    pub(super) fn forget_replaced(&mut self) {
        for path in self.replaced.drain(..) {
            // A file that stays behind is removed at the next opening.
            let _ = fs::remove_file(path);
        }
    }

    fn take_merged(&mut self, wait: bool) -> Result<(), Error> {
        if !self.merging.as_ref().is_some_and(|merging| wait || merging.thread.is_finished()) {
            return Ok(());
        }
        let merging = self.merging.take().expect("looked at above");
        let merged = merging.thread.join().expect("merging does not panic")?;
        self.replaced.extend(merging.inputs.iter().map(|number| run_path(&self.folder, *number)));
        self.runs.retain(|run| !merging.inputs.contains(&run.number));
        self.runs.push(merged);
        Ok(())
    }

    fn start_merge(&mut self) {
        if self.merging.is_some() {
            return;
        }
        let tier = |run: &Run| run.entries.max(1).ilog(MERGE_WIDTH as u64);
        let mut tiers: HashMap<u32, Vec<u64>> = HashMap::new();
        for run in &self.runs {
            tiers.entry(tier(run)).or_default().push(run.number);
        }
        let Some(inputs) =
            tiers.into_iter().filter(|(_, runs)| runs.len() >= MERGE_WIDTH).min_by_key(|(tier, _)| *tier)
        else {
            return;
        };
        let (folder, number, inputs) = (self.folder.clone(), self.next_run, inputs.1);
        self.next_run += 1;
        let merged = inputs.clone();
        let thread = std::thread::spawn(move || merge(&folder, &merged, number));
        self.merging = Some(Merging { inputs, thread });
    }
}

impl Drop for Seen {
    fn drop(&mut self) {
        // A half-written run is named by no checkpoint; waiting only keeps the thread from outliving the folder.
        let _ = self.take_merged(true);
    }
}

fn run_path(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("seen-{number:06}"))
}

fn saved_bloom(folder: &Path, digest: u64) -> Option<Bloom<u64>> {
    let bytes = fs::read(folder.join("bloom")).ok()?;
    (xxh3_64(&bytes) == digest).then(|| Bloom::from_bytes(bytes).ok())?
}

fn rebuilt_bloom(runs: &[Run], bytes: usize) -> Result<Bloom<u64>, Error> {
    let mut seed = [0; 32];
    for (index, part) in seed.chunks_mut(8).enumerate() {
        // The standard library's hasher is keyed by the system's randomness.
        let random = std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), index);
        part.copy_from_slice(&random.to_le_bytes());
    }
    // Seven bits an item when full: four hash functions or five.
    let mut bloom = Bloom::new_with_seed(bytes, bytes * 8 / 7, &seed).expect("the size is not zero");
    for run in runs {
        let mut entries = run.entries()?;
        while let Some((fingerprint, _)) = entries.next()? {
            bloom.set(&fingerprint);
        }
    }
    Ok(bloom)
}

fn remove_strangers(folder: &Path, runs: &[u64]) -> Result<(), Error> {
    for entry in fs::read_dir(folder).map_err(at(folder, "list"))?.flatten() {
        let name = entry.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix("seen-")).and_then(|rest| rest.parse().ok());
        if number.is_some_and(|number: u64| !runs.contains(&number)) {
            let path = entry.path();
            fs::remove_file(&path).map_err(at(&path, "remove"))?;
        }
    }
    Ok(())
}

/// A sorted file of entries, then the first fingerprint of every block, then how many entries there are.
struct Run {
    number: u64,
    path: PathBuf,
    file: File,
    entries: u64,
    fences: Vec<u64>,
}

impl Run {
    fn open(folder: &Path, number: u64) -> Result<Run, Error> {
        let path = run_path(folder, number);
        let file = File::open(&path).map_err(at(&path, "open"))?;
        let damaged = |offset, what| Error::Damaged { path: path.clone(), offset, what };
        let length = file.metadata().map_err(at(&path, "read"))?.len();
        let mut tail = [0; 8];
        let tail_at = length.checked_sub(8).ok_or(damaged(0, "the run is empty"))?;
        file.read_exact_at(&mut tail, tail_at).map_err(at(&path, "read"))?;
        let entries = u64::from_le_bytes(tail);
        let n_fences = entries.div_ceil(BLOCK_ENTRIES as u64);
        if entries.checked_mul(ENTRY_BYTES as u64).and_then(|bytes| bytes.checked_add(n_fences * 8 + 8)) != Some(length)
        {
            return Err(damaged(tail_at, "the run does not have the length that it claims"));
        }
        let mut bytes = vec![0; n_fences as usize * 8];
        file.read_exact_at(&mut bytes, entries * ENTRY_BYTES as u64).map_err(at(&path, "read"))?;
        let fences = bytes.chunks_exact(8).map(fingerprint_of).collect();
        Ok(Run { number, path, file, entries, fences })
    }

    fn get(&self, fingerprint: u64) -> Result<Option<u32>, Error> {
        let Some(block) = self.fences.partition_point(|&first| first <= fingerprint).checked_sub(1) else {
            return Ok(None);
        };
        let first = block as u64 * BLOCK_ENTRIES as u64;
        let n_entries = (self.entries - first).min(BLOCK_ENTRIES as u64) as usize;
        let mut bytes = [0; BLOCK_BYTES];
        let bytes = &mut bytes[..n_entries * ENTRY_BYTES];
        self.file.read_exact_at(bytes, first * ENTRY_BYTES as u64).map_err(at(&self.path, "read"))?;
        let (mut low, mut high) = (0, n_entries);
        while low < high {
            let middle = (low + high) / 2;
            let entry = &bytes[middle * ENTRY_BYTES..][..ENTRY_BYTES];
            match fingerprint_of(entry).cmp(&fingerprint) {
                std::cmp::Ordering::Equal => return Ok(Some(number_of(entry))),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        Ok(None)
    }

    fn entries(&self) -> Result<Entries, Error> {
        let file = File::open(&self.path).map_err(at(&self.path, "open"))?;
        Ok(Entries { reader: BufReader::with_capacity(1 << 18, file), left: self.entries, path: self.path.clone() })
    }
}

fn fingerprint_of(entry: &[u8]) -> u64 {
    u64::from_le_bytes(entry[..8].try_into().expect("eight bytes"))
}

fn number_of(entry: &[u8]) -> u32 {
    u32::from_le_bytes(entry[8..12].try_into().expect("four bytes"))
}

struct Entries {
    reader: BufReader<File>,
    left: u64,
    path: PathBuf,
}

impl Entries {
    fn next(&mut self) -> Result<Option<(u64, u32)>, Error> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        let mut entry = [0; ENTRY_BYTES];
        self.reader.read_exact(&mut entry).map_err(at(&self.path, "read"))?;
        Ok(Some((fingerprint_of(&entry), number_of(&entry))))
    }
}

struct RunWriter {
    number: u64,
    path: PathBuf,
    file: BufWriter<File>,
    entries: u64,
    fences: Vec<u64>,
}

impl RunWriter {
    fn create(folder: &Path, number: u64) -> Result<RunWriter, Error> {
        let path = run_path(folder, number);
        let file = File::options().read(true).write(true).create(true).truncate(true).open(&path);
        let file = BufWriter::with_capacity(1 << 18, file.map_err(at(&path, "create"))?);
        Ok(RunWriter { number, path, file, entries: 0, fences: Vec::new() })
    }

    fn push(&mut self, fingerprint: u64, number: u32) -> Result<(), Error> {
        if self.entries.is_multiple_of(BLOCK_ENTRIES as u64) {
            self.fences.push(fingerprint);
        }
        self.entries += 1;
        let mut entry = [0; ENTRY_BYTES];
        entry[..8].copy_from_slice(&fingerprint.to_le_bytes());
        entry[8..].copy_from_slice(&number.to_le_bytes());
        self.file.write_all(&entry).map_err(at(&self.path, "write"))
    }

    fn finish(self) -> Result<Run, Error> {
        let RunWriter { number, path, mut file, entries, fences } = self;
        for fence in &fences {
            file.write_all(&fence.to_le_bytes()).map_err(at(&path, "write"))?;
        }
        file.write_all(&entries.to_le_bytes()).map_err(at(&path, "write"))?;
        let file = file.into_inner().map_err(|error| at(&path, "write")(error.into_error()))?;
        file.sync_all().map_err(at(&path, "sync"))?;
        sync_folder(&path)?;
        Ok(Run { number, path, file, entries, fences })
    }
}

/// Merges runs into a new one; they share no fingerprint.
fn merge(folder: &Path, inputs: &[u64], number: u64) -> Result<Run, Error> {
    let mut sources = Vec::new();
    for &input in inputs {
        let mut entries = Run::open(folder, input)?.entries()?;
        if let Some(first) = entries.next()? {
            sources.push((first, entries));
        }
    }
    let mut writer = RunWriter::create(folder, number)?;
    while let Some(least) = (0..sources.len()).min_by_key(|&index| sources[index].0.0) {
        let (fingerprint, number) = sources[least].0;
        writer.push(fingerprint, number)?;
        match sources[least].1.next()? {
            Some(next) => sources[least].0 = next,
            None => drop(sources.swap_remove(least)),
        }
    }
    writer.finish()
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
        let mut seen = Seen::open(folder.path(), &[], 0, 1 << 12).unwrap();
        let mut saved = (Vec::new(), 0);
        for number in 0..40_000 {
            assert_eq!(seen.get(fingerprint(number)).unwrap(), None);
            seen.insert(fingerprint(number), number);
            if number % 2_000 == 1_999 {
                saved = seen.flush().unwrap();
                seen.forget_replaced();
            }
        }
        seen.take_merged(true).unwrap();
        assert!(seen.runs.len() < 20, "runs are merged");
        drop(seen);
        let mut seen = Seen::open(folder.path(), &saved.0, saved.1, 1 << 12).unwrap();
        for number in 0..40_000 {
            assert_eq!(seen.get(fingerprint(number)).unwrap(), Some(number));
        }
        for number in 40_000..80_000 {
            assert_eq!(seen.get(fingerprint(number)).unwrap(), None);
        }
    }

    #[test]
    fn a_damaged_filter_is_built_again() {
        let folder = tempfile::tempdir().unwrap();
        let mut seen = Seen::open(folder.path(), &[], 0, 1 << 12).unwrap();
        (0..1_000).for_each(|number| seen.insert(fingerprint(number), number));
        let (runs, digest) = seen.flush().unwrap();
        drop(seen);
        let path = folder.path().join("bloom");
        let mut bytes = fs::read(&path).unwrap();
        bytes.iter_mut().skip(100).for_each(|byte| *byte = 0);
        fs::write(&path, bytes).unwrap();
        let mut seen = Seen::open(folder.path(), &runs, digest, 1 << 12).unwrap();
        assert!((0..1_000).all(|number| seen.get(fingerprint(number)).unwrap() == Some(number)));
    }
}
