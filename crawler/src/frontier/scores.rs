//! The score of each URL for the ordering policy, with its current priority: 16 bytes each, in a file.
//!
//! Scores and journal change atomically: changed scores are appended to a log before the next part of the journal is
//! written, with the offset where that part will end, and reach the file only afterwards. After a kill the log is
//! replayed up to the end of the journal, so that a page has passed its score on exactly if it is settled. The log is emptied when it has grown to [`LOG_BYTES_PER_URL`] per URL. After a power cut this is not
//! guaranteed, because the file is not synced with every page.

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use hashbrown::{HashMap, HashSet};
use xxhash_rust::xxh3::xxh3_64;

use super::files::{self, io_error, open_append, replace};
use super::journal::Fields;
use crate::error::Error;
use crate::order::Priority;

const RECORD_BYTES: usize = 16;
const BLOCK_RECORDS: usize = 256;
const BLOCK_BYTES: usize = BLOCK_RECORDS * RECORD_BYTES;
/// Blocks kept in memory: 16 MB.
const MAX_BLOCKS: usize = 4096;
/// The log is emptied at this length, or at [`LOG_BYTES_PER_URL`] per URL if that is more.
const LOG_BYTES: u64 = 1 << 20;
const LOG_BYTES_PER_URL: u64 = 4;

/// The score and the current priority of a URL.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Score {
    pub(super) score: f32,
    pub(super) priority: Priority,
    /// The offset of the URL record in the journal.
    pub(super) offset: u64,
}

struct Block {
    bytes: Box<[u8; BLOCK_BYTES]>,
    is_dirty: bool,
    used: u64,
}

/// The scores of all URLs.
pub(super) struct Scores {
    path: PathBuf,
    file: File,
    log_path: PathBuf,
    log: File,
    log_bytes: u64,
    blocks: HashMap<u32, Block>,
    clock: u64,
    /// URLs whose scores changed since the last batch of the log.
    changed: HashSet<u32>,
    n_urls: u64,
}

impl Scores {
    /// Opens the scores and replays the log up to this length of the journal; gives the saved state of the policy, too.
    pub(super) fn open(folder: &Path, journal_end: u64) -> Result<(Scores, Vec<u8>), Error> {
        let (path, log_path) = (folder.join("scores"), folder.join("scores-log"));
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
        let file = file.map_err(io_error(&path, "open"))?;
        let n_urls = file.metadata().map_err(io_error(&path, "read"))?.len() / RECORD_BYTES as u64;
        let log = open_append(&log_path)?;
        let mut scores = Scores {
            path,
            file,
            log_path,
            log,
            log_bytes: 0,
            blocks: HashMap::new(),
            clock: 0,
            changed: HashSet::new(),
            n_urls,
        };
        let state = scores.replay(journal_end)?;
        Ok((scores, state))
    }

    fn replay(&mut self, journal_end: u64) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        self.log.read_to_end(&mut bytes).map_err(io_error(&self.log_path, "read"))?;
        let mut state = Vec::new();
        while let Some((end, batch)) = self.next_batch(&bytes, journal_end) {
            let Some(changes) = decode(batch) else { break };
            for (url, score) in changes.scores {
                self.put(url, score)?;
            }
            state = changes.state;
            self.log_bytes = end;
        }
        // The rest of the log belongs to a part of the journal that was never written.
        files::set_length(&self.log, &self.log_path, self.log_bytes)?;
        self.changed.clear();
        Ok(state)
    }

    /// The next complete batch that belongs to the written journal, and its end.
    fn next_batch<'b>(&self, bytes: &'b [u8], journal_end: u64) -> Option<(u64, &'b [u8])> {
        let rest = bytes.get(self.log_bytes as usize..)?;
        let length = u32::from_le_bytes(rest.get(..4)?.try_into().ok()?) as usize;
        let batch = rest.get(12..12 + length)?;
        let is_whole = xxh3_64(batch).to_le_bytes() == rest[4..12];
        let goes_with = u64::from_le_bytes(batch.get(..8)?.try_into().ok()?);
        (is_whole && goes_with <= journal_end).then_some((self.log_bytes + 12 + length as u64, batch))
    }

    /// The score of a URL; `None` when it has none.
    pub(super) fn get(&mut self, url: u32) -> Result<Option<Score>, Error> {
        if u64::from(url) >= self.n_urls {
            return Ok(None);
        }
        let record = self.record(url)?;
        let offset = u64::from_le_bytes(record[8..].try_into().expect("eight bytes"));
        let score = f32::from_le_bytes(record[..4].try_into().expect("four bytes"));
        Ok((offset != 0).then_some(Score { score, priority: Priority(record[4]), offset }))
    }

    /// Changes the score of a URL.
    pub(super) fn set(&mut self, url: u32, score: Score) -> Result<(), Error> {
        self.changed.insert(url);
        self.put(url, score)
    }

    fn put(&mut self, url: u32, score: Score) -> Result<(), Error> {
        self.n_urls = self.n_urls.max(u64::from(url) + 1);
        let record = self.record(url)?;
        record[..4].copy_from_slice(&score.score.to_le_bytes());
        record[4] = score.priority.0;
        record[8..].copy_from_slice(&score.offset.to_le_bytes());
        let block = self.blocks.get_mut(&(url / BLOCK_RECORDS as u32)).expect("it was just read");
        block.is_dirty = true;
        Ok(())
    }

    fn record(&mut self, url: u32) -> Result<&mut [u8], Error> {
        let (number, start) = (url / BLOCK_RECORDS as u32, url as usize % BLOCK_RECORDS * RECORD_BYTES);
        self.clock += 1;
        let block = match self.blocks.entry(number) {
            hashbrown::hash_map::Entry::Occupied(entry) => entry.into_mut(),
            hashbrown::hash_map::Entry::Vacant(entry) => {
                let mut bytes = Box::new([0; BLOCK_BYTES]);
                read_available(&self.file, &mut bytes[..], u64::from(number) * BLOCK_BYTES as u64)
                    .map_err(io_error(&self.path, "read"))?;
                entry.insert(Block { bytes, is_dirty: false, used: 0 })
            }
        };
        block.used = self.clock;
        Ok(&mut block.bytes[start..start + RECORD_BYTES])
    }

    /// Appends the changes to the log; to be called before the journal is written up to `journal_end`.
    pub(super) fn log(&mut self, journal_end: u64, state: &[u8]) -> Result<(), Error> {
        if self.changed.is_empty() {
            return Ok(());
        }
        let mut urls: Vec<u32> = self.changed.drain().collect();
        urls.sort_unstable();
        let mut scores = Vec::with_capacity(urls.len());
        for url in urls {
            let score = self.get(url)?.expect("it was set");
            scores.push((url, score));
        }
        let batch = encode(journal_end, state, &scores);
        files::append(&self.log, &self.log_path, &batch)?;
        self.log_bytes += batch.len() as u64;
        Ok(())
    }

    /// To be called when the journal was written: evicts blocks to the file and empties the log where they exceed their
    /// bounds.
    pub(super) fn journal_is_written(&mut self, journal_end: u64, state: &[u8]) -> Result<(), Error> {
        if self.log_bytes > LOG_BYTES.max(LOG_BYTES_PER_URL * self.n_urls) {
            self.empty_log(journal_end, state)?;
        }
        if self.blocks.len() > MAX_BLOCKS {
            let mut used: Vec<(u64, u32)> = self.blocks.iter().map(|(number, block)| (block.used, *number)).collect();
            used.sort_unstable();
            for (_, number) in &used[..used.len() - MAX_BLOCKS * 3 / 4] {
                self.write_block(*number)?;
                self.blocks.remove(number);
            }
        }
        Ok(())
    }

    /// Writes all scores to the file and empties the log; all changes must have been logged before.
    pub(super) fn empty_log(&mut self, journal_end: u64, state: &[u8]) -> Result<(), Error> {
        let mut numbers: Vec<u32> = self.blocks.keys().copied().collect();
        numbers.sort_unstable();
        for number in numbers {
            self.write_block(number)?;
        }
        files::sync(&self.file, &self.path)?;
        let batch = encode(journal_end, state, &[]);
        replace(&self.log_path, &[&batch])?;
        self.log = open_append(&self.log_path)?;
        self.log_bytes = batch.len() as u64;
        Ok(())
    }

    fn write_block(&mut self, number: u32) -> Result<(), Error> {
        let block = self.blocks.get_mut(&number).expect("a block that is there");
        if std::mem::take(&mut block.is_dirty) {
            let offset = u64::from(number) * BLOCK_BYTES as u64;
            let length = (self.n_urls * RECORD_BYTES as u64 - offset).min(BLOCK_BYTES as u64) as usize;
            files::write_at(&self.file, &self.path, &block.bytes[..length], offset)?;
        }
        Ok(())
    }
}

/// Reads as much as the file has; the rest of the buffer stays unchanged.
fn read_available(file: &File, mut into: &mut [u8], mut offset: u64) -> std::io::Result<()> {
    while !into.is_empty() {
        let n_read = file.read_at(into, offset)?;
        if n_read == 0 {
            break;
        }
        into = &mut into[n_read..];
        offset += n_read as u64;
    }
    Ok(())
}

struct Changes {
    state: Vec<u8>,
    scores: Vec<(u32, Score)>,
}

fn encode(journal_end: u64, state: &[u8], scores: &[(u32, Score)]) -> Vec<u8> {
    let mut out = vec![0; 12];
    out.extend(journal_end.to_le_bytes());
    out.extend((state.len() as u32).to_le_bytes());
    out.extend(state);
    // Earlier versions kept a list of pages here, with a mark whether it was whole.
    out.extend([1, 0, 0, 0, 0]);
    out.extend((scores.len() as u32).to_le_bytes());
    for (url, score) in scores {
        out.extend(url.to_le_bytes());
        out.extend(score.score.to_le_bytes());
        out.push(score.priority.0);
        // Five bytes hold journal offsets up to a terabyte.
        out.extend(&score.offset.to_le_bytes()[..5]);
    }
    let (length, checksum) = ((out.len() - 12) as u32, xxh3_64(&out[12..]));
    out[..4].copy_from_slice(&length.to_le_bytes());
    out[4..12].copy_from_slice(&checksum.to_le_bytes());
    out
}

fn decode(batch: &[u8]) -> Option<Changes> {
    let mut fields = Fields { bytes: batch, at: 8 };
    let state = fields.slice()?.to_vec();
    fields.byte()?;
    for _ in 0..fields.u32()? {
        fields.u32()?;
    }
    let n_scores = fields.u32()?;
    let mut scores = Vec::new();
    for _ in 0..n_scores {
        let url = fields.u32()?;
        let score = f32::from_bits(fields.u32()?);
        let priority = Priority(fields.byte()?);
        let low = u64::from(fields.u32()?);
        let offset = low | u64::from(fields.byte()?) << 32;
        scores.push((url, Score { score, priority, offset }));
    }
    Some(Changes { state, scores })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(number: u32) -> Score {
        Score { score: number as f32 / 4.0, priority: Priority(number as u8), offset: 100 + u64::from(number) }
    }

    #[test]
    fn a_kill_leaves_the_scores_that_go_with_the_journal() {
        let folder = tempfile::tempdir().unwrap();
        let open = |end| Scores::open(folder.path(), end).unwrap();
        let (mut scores, _) = open(0);
        (0..3000).for_each(|url| scores.set(url, score(url)).unwrap());
        scores.log(1000, b"one").unwrap();
        scores.journal_is_written(1000, b"one").unwrap();
        (0..10).for_each(|url| scores.set(url, score(url + 50)).unwrap());
        scores.log(2000, b"two").unwrap();
        // Killed here: the journal ends at 1000.
        drop(scores);
        let (mut scores, state) = open(1000);
        assert_eq!(state, b"one");
        assert!((0..3000).all(|url| scores.get(url).unwrap() == Some(score(url))));
        assert_eq!(scores.get(3000).unwrap(), None);
        // Not killed this time.
        scores.set(2999, score(7)).unwrap();
        scores.log(2000, b"three").unwrap();
        scores.empty_log(2000, b"three").unwrap();
        drop(scores);
        let (mut scores, state) = open(2000);
        assert_eq!(state, b"three");
        assert!(scores.get(2999).unwrap() == Some(score(7)) && scores.get(1).unwrap() == Some(score(1)));
    }

    #[test]
    fn memory_is_bounded_and_nothing_is_lost() {
        let folder = tempfile::tempdir().unwrap();
        let (mut scores, _) = Scores::open(folder.path(), 0).unwrap();
        let n = (MAX_BLOCKS as u32 + 500) * BLOCK_RECORDS as u32;
        for url in (0..n).step_by(BLOCK_RECORDS / 2) {
            scores.set(url, score(url)).unwrap();
        }
        scores.log(9, b"").unwrap();
        scores.journal_is_written(9, b"").unwrap();
        assert!(scores.blocks.len() <= MAX_BLOCKS, "{}", scores.blocks.len());
        assert!((0..n).step_by(BLOCK_RECORDS / 2).all(|url| scores.get(url).unwrap() == Some(score(url))));
    }
}
