//! When each page was last asked for and how often it had changed: 32 bytes per URL, in a file.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::files::at;
use crate::error::Error;
use crate::recrawl::ChangeHistory;

const RECORD_BYTES: usize = 32;
/// Records read at once when all are looked at.
const CHUNK_RECORDS: usize = 4096;

/// What is known of the visits to a page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Visited {
    /// Its host, by number.
    pub(super) host: u32,
    /// Where its record stands in the journal; 0 when it is not to be asked for again.
    pub(super) offset: u64,
    /// When it was last asked for, in milliseconds since 1970.
    pub(super) at: u64,
    /// What the visits have shown.
    pub(super) history: ChangeHistory,
}

impl Visited {
    /// How long ago that was.
    pub(super) fn age(&self, now: u64) -> Duration {
        Duration::from_millis(now.saturating_sub(self.at))
    }

    pub(super) fn to_bytes(self) -> [u8; RECORD_BYTES] {
        let mut bytes = [0; RECORD_BYTES];
        bytes[..8].copy_from_slice(&self.offset.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.at.to_le_bytes());
        bytes[16..24].copy_from_slice(&(self.history.watched.as_millis() as u64).to_le_bytes());
        bytes[24..28].copy_from_slice(&self.host.to_le_bytes());
        // A page that was visited more often than that is known well enough.
        bytes[28..30].copy_from_slice(&(self.history.n_visits.min(u32::from(u16::MAX)) as u16).to_le_bytes());
        bytes[30..].copy_from_slice(&(self.history.n_changes.min(u32::from(u16::MAX)) as u16).to_le_bytes());
        bytes
    }

    /// The record, or nothing where none was written.
    pub(super) fn from_bytes(bytes: &[u8; RECORD_BYTES]) -> Option<Visited> {
        let long = |start: usize| u64::from_le_bytes(bytes[start..start + 8].try_into().expect("eight bytes"));
        let short = |start: usize| u32::from(u16::from_le_bytes([bytes[start], bytes[start + 1]]));
        let history =
            ChangeHistory { n_visits: short(28), n_changes: short(30), watched: Duration::from_millis(long(16)) };
        let host = u32::from_le_bytes(bytes[24..28].try_into().expect("four bytes"));
        let visited = Visited { host, offset: long(0), at: long(8), history };
        (visited.at != 0).then_some(visited)
    }
}

/// The visits to all pages. It is made again from the journal, so it is never synced.
pub(super) struct Visits {
    path: PathBuf,
    file: File,
    n_records: u64,
}

impl Visits {
    pub(super) fn open(path: &Path) -> Result<Visits, Error> {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
        let file = file.map_err(at(path, "open"))?;
        let n_records = file.metadata().map_err(at(path, "read"))?.len() / RECORD_BYTES as u64;
        Ok(Visits { path: path.to_owned(), file, n_records })
    }

    pub(super) fn get(&self, url: u32) -> Result<Option<Visited>, Error> {
        if u64::from(url) >= self.n_records {
            return Ok(None);
        }
        let mut bytes = [0; RECORD_BYTES];
        let place = u64::from(url) * RECORD_BYTES as u64;
        self.file.read_exact_at(&mut bytes, place).map_err(at(&self.path, "read"))?;
        Ok(Visited::from_bytes(&bytes))
    }

    pub(super) fn set(&mut self, url: u32, visited: Visited) -> Result<(), Error> {
        let place = u64::from(url) * RECORD_BYTES as u64;
        self.file.write_all_at(&visited.to_bytes(), place).map_err(at(&self.path, "write"))?;
        self.n_records = self.n_records.max(u64::from(url) + 1);
        Ok(())
    }

    /// Shows every page that was visited, by its number.
    pub(super) fn for_each(&self, mut take: impl FnMut(u32, Visited)) -> Result<(), Error> {
        let mut bytes = vec![0; CHUNK_RECORDS * RECORD_BYTES];
        let mut first = 0;
        while first < self.n_records {
            let n = (self.n_records - first).min(CHUNK_RECORDS as u64) as usize;
            let chunk = &mut bytes[..n * RECORD_BYTES];
            self.file.read_exact_at(chunk, first * RECORD_BYTES as u64).map_err(at(&self.path, "read"))?;
            for (place, record) in chunk.as_chunks().0.iter().enumerate() {
                if let Some(visited) = Visited::from_bytes(record) {
                    take((first + place as u64) as u32, visited);
                }
            }
            first += n as u64;
        }
        Ok(())
    }
}

/// The time in milliseconds since 1970.
pub(super) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |time| time.as_millis() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_seen_of_a_page_comes_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("visits");
        let mut visits = Visits::open(&path).unwrap();
        let history = ChangeHistory { n_visits: 9, n_changes: 4, watched: Duration::from_millis(123_456) };
        let visited = Visited { host: 3, offset: 77, at: 1_767_225_600_123, history };
        visits.set(5000, visited).unwrap();
        let visits = Visits::open(&path).unwrap();
        assert_eq!(visits.get(5000).unwrap(), Some(visited));
        assert_eq!((visits.get(4999).unwrap(), visits.get(5001).unwrap()), (None, None));
        let mut all = Vec::new();
        visits.for_each(|url, visited| all.push((url, visited))).unwrap();
        assert_eq!(all, [(5000, visited)]);
    }
}
