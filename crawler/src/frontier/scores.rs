//! One number per URL for the ordering policy, with the class that the URL has now: 16 bytes each, in a file.
//!
//! Scores change together with the journal, exactly: what was changed since the journal was last written is put into
//! a log before the next part of the journal is, marked with the place where that part will end, and reaches the file
//! only afterwards. After a kill the log is read up to the end of the journal: a page whose links are known has paid
//! them, and one whose links are not known has not. The log is emptied when it has grown to [`LOG_BYTES_PER_URL`] per
//! URL. Against a power cut there is no such promise, since the file is not synced with every page.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use hashbrown::{HashMap, HashSet};
use xxhash_rust::xxh3::xxh3_64;

use super::files::{at, open_append, replace};
use super::journal::Fields;
use crate::error::Error;
use crate::order::Class;

const RECORD_BYTES: usize = 16;
const BLOCK_RECORDS: usize = 256;
const BLOCK_BYTES: usize = BLOCK_RECORDS * RECORD_BYTES;
/// Blocks kept in memory: 16 MB.
const MAX_BLOCKS: usize = 4096;
/// The log may be this long before it is emptied, or [`LOG_BYTES_PER_URL`] per URL if that is more.
const LOG_BYTES: u64 = 1 << 20;
const LOG_BYTES_PER_URL: u64 = 4;

/// What the frontier keeps of a URL for a policy that wants scores.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Score {
    pub(super) score: f32,
    pub(super) class: Class,
    /// Where the URL's record stands in the journal.
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
    /// Pages that have paid their links and are not settled.
    visited: HashSet<u32>,
    newly_visited: Vec<u32>,
    n_urls: u64,
}

/// What a log says besides the scores.
#[derive(Debug, Default)]
pub(super) struct Remembered {
    /// What the policy said of itself.
    pub(super) state: Vec<u8>,
    /// Pages that had paid their links and were not settled when that was written.
    pub(super) visited: Vec<u32>,
}

impl Scores {
    /// Opens the scores that go with a journal of this length.
    pub(super) fn open(folder: &Path, journal_end: u64) -> Result<(Scores, Remembered), Error> {
        let (path, log_path) = (folder.join("scores"), folder.join("scores-log"));
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
        let file = file.map_err(at(&path, "open"))?;
        let n_urls = file.metadata().map_err(at(&path, "read"))?.len() / RECORD_BYTES as u64;
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
            visited: HashSet::new(),
            newly_visited: Vec::new(),
            n_urls,
        };
        let remembered = scores.replay(journal_end)?;
        Ok((scores, remembered))
    }

    fn replay(&mut self, journal_end: u64) -> Result<Remembered, Error> {
        let mut bytes = Vec::new();
        self.log.read_to_end(&mut bytes).map_err(at(&self.log_path, "read"))?;
        let mut remembered = Remembered::default();
        while let Some((end, batch)) = self.next_batch(&bytes, journal_end) {
            let Some(changes) = decode(batch) else { break };
            for (url, score) in changes.scores {
                self.put(url, score)?;
            }
            if changes.is_all {
                remembered.visited.clear();
            }
            remembered.visited.extend(changes.visited);
            remembered.state = changes.state;
            self.log_bytes = end;
        }
        // What lies behind goes with a part of the journal that was never written.
        self.log.set_len(self.log_bytes).map_err(at(&self.log_path, "truncate"))?;
        self.visited = remembered.visited.iter().copied().collect();
        self.changed.clear();
        Ok(remembered)
    }

    /// The next whole batch that belongs to the journal, and where it ends.
    fn next_batch<'b>(&self, bytes: &'b [u8], journal_end: u64) -> Option<(u64, &'b [u8])> {
        let rest = bytes.get(self.log_bytes as usize..)?;
        let length = u32::from_le_bytes(rest.get(..4)?.try_into().ok()?) as usize;
        let batch = rest.get(12..12 + length)?;
        let is_whole = xxh3_64(batch).to_le_bytes() == rest[4..12];
        let goes_with = u64::from_le_bytes(batch.get(..8)?.try_into().ok()?);
        (is_whole && goes_with <= journal_end).then_some((self.log_bytes + 12 + length as u64, batch))
    }

    /// The score of a URL; nothing when it never had one.
    pub(super) fn get(&mut self, url: u32) -> Result<Option<Score>, Error> {
        if u64::from(url) >= self.n_urls {
            return Ok(None);
        }
        let record = self.record(url)?;
        let offset = u64::from_le_bytes(record[8..].try_into().expect("eight bytes"));
        let score = f32::from_le_bytes(record[..4].try_into().expect("four bytes"));
        Ok((offset != 0).then_some(Score { score, class: Class(record[4]), offset }))
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
        record[4] = score.class.0;
        record[8..].copy_from_slice(&score.offset.to_le_bytes());
        let block = self.blocks.get_mut(&(url / BLOCK_RECORDS as u32)).expect("it was just read");
        block.is_dirty = true;
        Ok(())
    }

    fn record(&mut self, url: u32) -> Result<&mut [u8], Error> {
        let (number, place) = (url / BLOCK_RECORDS as u32, url as usize % BLOCK_RECORDS * RECORD_BYTES);
        self.clock += 1;
        let block = match self.blocks.entry(number) {
            hashbrown::hash_map::Entry::Occupied(entry) => entry.into_mut(),
            hashbrown::hash_map::Entry::Vacant(entry) => {
                let mut bytes = Box::new([0; BLOCK_BYTES]);
                read_what_is_there(&self.file, &mut bytes[..], u64::from(number) * BLOCK_BYTES as u64)
                    .map_err(at(&self.path, "read"))?;
                entry.insert(Block { bytes, is_dirty: false, used: 0 })
            }
        };
        block.used = self.clock;
        Ok(&mut block.bytes[place..place + RECORD_BYTES])
    }

    /// A page is about to pay its links: whether it is the first time since it was last settled.
    pub(super) fn is_first_visit(&mut self, url: u32) -> bool {
        let is_first = self.visited.insert(url);
        if is_first {
            self.newly_visited.push(url);
        }
        is_first
    }

    /// Whether a page has paid its links and is not settled.
    pub(super) fn has_paid(&self, url: u32) -> bool {
        self.visited.contains(&url)
    }

    /// A page is settled.
    pub(super) fn settle(&mut self, url: u32) {
        self.visited.remove(&url);
    }

    /// Writes down what has changed, before the journal is written up to `journal_end`.
    pub(super) fn log(&mut self, journal_end: u64, state: &[u8]) -> Result<(), Error> {
        if self.changed.is_empty() && self.newly_visited.is_empty() {
            return Ok(());
        }
        let mut urls: Vec<u32> = self.changed.drain().collect();
        urls.sort_unstable();
        let mut scores = Vec::with_capacity(urls.len());
        for url in urls {
            let score = self.get(url)?.expect("it was set");
            scores.push((url, score));
        }
        let visited = std::mem::take(&mut self.newly_visited);
        let batch = encode(journal_end, state, false, &visited, &scores);
        self.log.write_all(&batch).map_err(at(&self.log_path, "write"))?;
        self.log_bytes += batch.len() as u64;
        Ok(())
    }

    /// The journal was written: what changed before may reach the file now. Keeps memory and log in their bounds.
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

    /// Puts everything into the file and begins the log anew; everything must have been logged before.
    pub(super) fn empty_log(&mut self, journal_end: u64, state: &[u8]) -> Result<(), Error> {
        let mut numbers: Vec<u32> = self.blocks.keys().copied().collect();
        numbers.sort_unstable();
        for number in numbers {
            self.write_block(number)?;
        }
        self.file.sync_data().map_err(at(&self.path, "sync"))?;
        let visited: Vec<u32> = self.visited.iter().copied().collect();
        let batch = encode(journal_end, state, true, &visited, &[]);
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
            self.file.write_all_at(&block.bytes[..length], offset).map_err(at(&self.path, "write"))?;
        }
        Ok(())
    }
}

/// Reads as much as the file has; the rest stays as it is.
fn read_what_is_there(file: &File, mut into: &mut [u8], mut offset: u64) -> std::io::Result<()> {
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
    /// Whether `visited` names all pages, and not only those since the batch before.
    is_all: bool,
    visited: Vec<u32>,
    scores: Vec<(u32, Score)>,
}

fn encode(journal_end: u64, state: &[u8], is_all: bool, visited: &[u32], scores: &[(u32, Score)]) -> Vec<u8> {
    let mut out = vec![0; 12];
    out.extend(journal_end.to_le_bytes());
    out.extend((state.len() as u32).to_le_bytes());
    out.extend(state);
    out.push(u8::from(is_all));
    out.extend((visited.len() as u32).to_le_bytes());
    visited.iter().for_each(|url| out.extend(url.to_le_bytes()));
    out.extend((scores.len() as u32).to_le_bytes());
    for (url, score) in scores {
        out.extend(url.to_le_bytes());
        out.extend(score.score.to_le_bytes());
        out.push(score.class.0);
        // The place in the journal needs five bytes up to a terabyte.
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
    let is_all = fields.byte()? != 0;
    let visited = (0..fields.u32()?).map(|_| fields.u32()).collect::<Option<_>>()?;
    let n_scores = fields.u32()?;
    let mut scores = Vec::new();
    for _ in 0..n_scores {
        let url = fields.u32()?;
        let score = f32::from_bits(fields.u32()?);
        let class = Class(fields.byte()?);
        let low = u64::from(fields.u32()?);
        let offset = low | u64::from(fields.byte()?) << 32;
        scores.push((url, Score { score, class, offset }));
    }
    Some(Changes { state, is_all, visited, scores })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(number: u32) -> Score {
        Score { score: number as f32 / 4.0, class: Class(number as u8), offset: 100 + u64::from(number) }
    }

    #[test]
    fn a_kill_leaves_the_scores_that_go_with_the_journal() {
        let folder = tempfile::tempdir().unwrap();
        let open = |end| Scores::open(folder.path(), end).unwrap();
        let (mut scores, _) = open(0);
        (0..3000).for_each(|url| scores.set(url, score(url)).unwrap());
        assert!(scores.is_first_visit(5) && !scores.is_first_visit(5));
        scores.log(1000, b"one").unwrap();
        scores.journal_is_written(1000, b"one").unwrap();
        (0..10).for_each(|url| scores.set(url, score(url + 50)).unwrap());
        assert!(scores.is_first_visit(6));
        scores.log(2000, b"two").unwrap();
        // Killed here: the journal ends at 1000.
        drop(scores);
        let (mut scores, remembered) = open(1000);
        assert_eq!((&remembered.state[..], &remembered.visited[..]), (&b"one"[..], &[5][..]));
        assert!((0..3000).all(|url| scores.get(url).unwrap() == Some(score(url))));
        assert_eq!(scores.get(3000).unwrap(), None);
        // Not killed this time.
        scores.set(2999, score(7)).unwrap();
        scores.log(2000, b"three").unwrap();
        scores.empty_log(2000, b"three").unwrap();
        drop(scores);
        let (mut scores, remembered) = open(2000);
        assert_eq!((&remembered.state[..], &remembered.visited[..]), (&b"three"[..], &[5][..]));
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
