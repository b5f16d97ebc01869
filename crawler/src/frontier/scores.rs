//! One number per URL for the ordering policy, with the class that the URL has now, in a file of fixed records.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::files::at;
use crate::error::Error;
use crate::order::Class;

const RECORD_BYTES: usize = 16;

/// What the frontier keeps of a URL for a policy that wants scores.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Score {
    pub(super) score: f32,
    pub(super) class: Class,
    /// Where the URL's record stands in the journal.
    pub(super) offset: u64,
}

/// The scores of all URLs. It is advice and never synced: a URL without a record has the score zero.
pub(super) struct Scores {
    path: PathBuf,
    file: File,
}

impl Scores {
    pub(super) fn open(path: &Path) -> Result<Scores, Error> {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
        Ok(Scores { path: path.to_owned(), file: file.map_err(at(path, "open"))? })
    }

    /// The score of a URL; nothing when none was ever written.
    pub(super) fn get(&self, url: u32) -> Result<Option<Score>, Error> {
        let mut bytes = [0; RECORD_BYTES];
        match self.file.read_exact_at(&mut bytes, u64::from(url) * RECORD_BYTES as u64) {
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(None),
            answer => answer.map_err(at(&self.path, "read"))?,
        }
        let offset = u64::from_le_bytes(bytes[8..].try_into().expect("eight bytes"));
        let score = f32::from_le_bytes(bytes[..4].try_into().expect("four bytes"));
        Ok((offset != 0).then_some(Score { score, class: Class(bytes[4]), offset }))
    }

    pub(super) fn set(&self, url: u32, score: Score) -> Result<(), Error> {
        let mut bytes = [0; RECORD_BYTES];
        bytes[..4].copy_from_slice(&score.score.to_le_bytes());
        bytes[4] = score.class.0;
        bytes[8..].copy_from_slice(&score.offset.to_le_bytes());
        self.file.write_all_at(&bytes, u64::from(url) * RECORD_BYTES as u64).map_err(at(&self.path, "write"))
    }
}
