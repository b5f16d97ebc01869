//! One record of fixed size per URL, in a file.

use std::fs::{File, OpenOptions};
use std::marker::PhantomData;
use std::num::NonZeroU64;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::files::{self, io_error};
use crate::error::Error;

/// Records read at once when iterating over all.
const CHUNK_RECORDS: usize = 4096;

/// A fixed-size record. All zeros mean no record: unwritten parts of the file read as zeros.
pub(super) trait Record<const N: usize>: Copy {
    /// Its bytes, not all of them zero.
    fn to_bytes(self) -> [u8; N];

    /// The record; `None` for zeros.
    fn from_bytes(bytes: &[u8; N]) -> Option<Self>;
}

/// An offset in the journal.
impl Record<8> for NonZeroU64 {
    fn to_bytes(self) -> [u8; 8] {
        self.get().to_le_bytes()
    }

    fn from_bytes(bytes: &[u8; 8]) -> Option<NonZeroU64> {
        NonZeroU64::new(u64::from_le_bytes(*bytes))
    }
}

/// The records of all URLs, by number. They can be restored from the journal, so the file is never synced.
pub(super) struct Records<R, const N: usize> {
    path: PathBuf,
    file: File,
    n_records: u64,
    kind: PhantomData<R>,
}

impl<R: Record<N>, const N: usize> Records<R, N> {
    /// Opens the file, or creates it.
    pub(super) fn open(path: &Path) -> Result<Records<R, N>, Error> {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
        let file = file.map_err(io_error(path, "open"))?;
        let n_records = file.metadata().map_err(io_error(path, "read"))?.len() / N as u64;
        Ok(Records { path: path.to_owned(), file, n_records, kind: PhantomData })
    }

    /// The record of a URL, if it has one.
    pub(super) fn get(&self, url: u32) -> Result<Option<R>, Error> {
        if u64::from(url) >= self.n_records {
            return Ok(None);
        }
        let mut bytes = [0; N];
        self.file.read_exact_at(&mut bytes, u64::from(url) * N as u64).map_err(io_error(&self.path, "read"))?;
        Ok(R::from_bytes(&bytes))
    }

    /// Writes the record of a URL.
    pub(super) fn set(&mut self, url: u32, record: R) -> Result<(), Error> {
        self.write(url, record.to_bytes())
    }

    /// Removes the record of a URL.
    pub(super) fn clear(&mut self, url: u32) -> Result<(), Error> {
        self.write(url, [0; N])
    }

    /// Removes the records of all URLs from a number on.
    pub(super) fn truncate(&mut self, n_urls: u32) -> Result<(), Error> {
        if self.n_records > u64::from(n_urls) {
            let length = u64::from(n_urls) * N as u64;
            files::set_length(&self.file, &self.path, length)?;
            self.n_records = u64::from(n_urls);
        }
        Ok(())
    }

    fn write(&mut self, url: u32, bytes: [u8; N]) -> Result<(), Error> {
        files::write_at(&self.file, &self.path, &bytes, u64::from(url) * N as u64)?;
        self.n_records = self.n_records.max(u64::from(url) + 1);
        Ok(())
    }

    /// Whether the file reaches to the record of a URL.
    pub(super) fn has_room_for(&self, url: u32) -> bool {
        u64::from(url) < self.n_records
    }

    /// Calls `take` with every record and the number of its URL.
    pub(super) fn for_each(&self, mut take: impl FnMut(u32, R)) -> Result<(), Error> {
        let mut bytes = vec![0; CHUNK_RECORDS * N];
        let mut first = 0;
        while first < self.n_records {
            let n = (self.n_records - first).min(CHUNK_RECORDS as u64) as usize;
            let chunk = &mut bytes[..n * N];
            self.file.read_exact_at(chunk, first * N as u64).map_err(io_error(&self.path, "read"))?;
            for (index, record) in chunk.as_chunks().0.iter().enumerate() {
                if let Some(record) = R::from_bytes(record) {
                    take((first + index as u64) as u32, record);
                }
            }
            first += n as u64;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_come_back_and_nothing_stands_between_them() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("offsets");
        let mut offsets = Records::<NonZeroU64, 8>::open(&path).unwrap();
        for url in [0, 5000, 9000] {
            offsets.set(url, NonZeroU64::new(u64::from(url) + 7).unwrap()).unwrap();
        }
        offsets.clear(9000).unwrap();
        offsets.clear(9001).unwrap();
        let offsets = Records::<NonZeroU64, 8>::open(&path).unwrap();
        assert_eq!(offsets.get(5000).unwrap().map(NonZeroU64::get), Some(5007));
        for url in [1, 4999, 5001, 9000, 9001, 9002, u32::MAX] {
            assert_eq!(offsets.get(url).unwrap(), None, "{url}");
        }
        let mut offsets = Records::<NonZeroU64, 8>::open(&path).unwrap();
        offsets.truncate(6000).unwrap();
        let mut all = Vec::new();
        offsets.for_each(|url, offset| all.push((url, offset.get()))).unwrap();
        assert_eq!(all, [(0, 7), (5000, 5007)]);
    }
}
