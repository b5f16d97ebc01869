//! One place in the journal per URL, in a file of fixed records: where the validators of its page were written down.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::files::at;
use crate::error::Error;

const RECORD_BYTES: u64 = 8;

/// The places of all URLs. It is never synced: a URL without a place is asked for as if it were new.
pub(super) struct Places {
    path: PathBuf,
    file: File,
    length: u64,
}

impl Places {
    pub(super) fn open(path: &Path) -> Result<Places, Error> {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
        let file = file.map_err(at(path, "open"))?;
        let length = file.metadata().map_err(at(path, "read"))?.len();
        Ok(Places { path: path.to_owned(), file, length })
    }

    /// The place of a URL, if it has one.
    pub(super) fn get(&self, url: u32) -> Result<Option<u64>, Error> {
        let start = u64::from(url) * RECORD_BYTES;
        if start + RECORD_BYTES > self.length {
            return Ok(None);
        }
        let mut bytes = [0; RECORD_BYTES as usize];
        self.file.read_exact_at(&mut bytes, start).map_err(at(&self.path, "read"))?;
        Ok(Some(u64::from_le_bytes(bytes)).filter(|&place| place != 0))
    }

    pub(super) fn set(&mut self, url: u32, place: u64) -> Result<(), Error> {
        let start = u64::from(url) * RECORD_BYTES;
        self.file.write_all_at(&place.to_le_bytes(), start).map_err(at(&self.path, "write"))?;
        self.length = self.length.max(start + RECORD_BYTES);
        Ok(())
    }
}
