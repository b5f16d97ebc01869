//! Signature files: one record of fixed size per document, on disk while duplicates are searched.

use std::fs::File;
use std::io::{BufReader, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use crate::Error;
use crate::atomic_file::AtomicFile;

/// The fixed part of a record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Record {
    /// The hash of the normalised text.
    pub text_hash: u128,
    /// Bytes of text; zero where there is no text to compare.
    pub length: u32,
    /// How many n-grams the signature stands for; zero where there is no signature.
    pub n_shingles: u32,
}

const FIXED_BYTES: usize = 24;

/// Writes the records of one shard.
pub(super) struct Writer {
    file: AtomicFile,
    path: PathBuf,
    buffer: Vec<u8>,
    permutations: usize,
}

impl Writer {
    pub(super) fn create(path: PathBuf, permutations: usize) -> Result<Writer, Error> {
        Ok(Writer { file: AtomicFile::create(&path)?, path, buffer: Vec::new(), permutations })
    }

    pub(super) fn put(&mut self, record: Record, signature: &[u16]) -> Result<(), Error> {
        self.buffer.clear();
        self.buffer.extend(record.text_hash.to_le_bytes());
        self.buffer.extend(record.length.to_le_bytes());
        self.buffer.extend(record.n_shingles.to_le_bytes());
        self.buffer.extend(signature.iter().flat_map(|value| value.to_le_bytes()));
        self.buffer.resize(FIXED_BYTES + 2 * self.permutations, 0);
        self.file.write_all(&self.buffer).map_err(Error::at(&self.path))
    }

    pub(super) fn seal(self) -> Result<(), Error> {
        self.file.seal().map(drop)
    }
}

/// The records of all shards, numbered through.
pub(super) struct Records {
    files: Vec<(u32, File, PathBuf)>,
    n_documents: u32,
    permutations: usize,
}

impl Records {
    /// Opens the files of the shards, in their order.
    pub(super) fn open(paths: Vec<PathBuf>, permutations: usize) -> Result<Records, Error> {
        let size = (FIXED_BYTES + 2 * permutations) as u64;
        let mut files = Vec::with_capacity(paths.len());
        let mut n_documents = 0u64;
        for path in paths {
            let file = File::open(&path).map_err(Error::at(&path))?;
            let bytes = file.metadata().map_err(Error::at(&path))?.len();
            files.push((n_documents as u32, file, path));
            n_documents += bytes / size;
        }
        let n_documents = u32::try_from(n_documents).map_err(|_| {
            let many = std::io::Error::other("more than 4 294 967 295 documents; split them into parts first");
            Error::at(files[0].2.clone())(many)
        })?;
        Ok(Records { files, n_documents, permutations })
    }

    pub(super) fn n_documents(&self) -> u32 {
        self.n_documents
    }

    /// The number of the first document of a shard.
    pub(super) fn base(&self, shard: usize) -> u32 {
        self.files.get(shard).map_or(self.n_documents, |(base, ..)| *base)
    }

    /// The shard that a document is in.
    pub(super) fn shard_of(&self, document: u32) -> usize {
        self.files.partition_point(|(base, ..)| *base <= document) - 1
    }

    /// Every record with its signature, in order.
    pub(super) fn for_each(&self, mut look: impl FnMut(u32, Record, &[u16])) -> Result<(), Error> {
        let mut bytes = vec![0; FIXED_BYTES + 2 * self.permutations];
        let mut signature = vec![0; self.permutations];
        for (index, (base, _, path)) in self.files.iter().enumerate() {
            // A handle of its own, so that sequential reads do not disturb the positional reads of `read`.
            let file = File::open(path).map_err(Error::at(path))?;
            let mut reader = BufReader::with_capacity(1 << 18, file);
            for document in *base..self.base(index + 1) {
                reader.read_exact(&mut bytes).map_err(Error::at(path))?;
                look(document, record_of(&bytes), signature_of(&bytes, &mut signature));
            }
        }
        Ok(())
    }

    /// One record, with its signature written to `signature`.
    pub(super) fn read(&self, document: u32, signature: &mut Vec<u16>) -> Result<Record, Error> {
        let (base, file, path) = &self.files[self.shard_of(document)];
        let size = FIXED_BYTES + 2 * self.permutations;
        let mut bytes = [0u8; 4096];
        let mut long;
        let bytes = match size <= bytes.len() {
            true => &mut bytes[..size],
            false => {
                long = vec![0; size];
                &mut long[..]
            }
        };
        let offset = u64::from(document - base) * size as u64;
        file.read_exact_at(bytes, offset).map_err(Error::at(path))?;
        signature.resize(self.permutations, 0);
        signature_of(bytes, signature);
        Ok(record_of(bytes))
    }
}

fn record_of(bytes: &[u8]) -> Record {
    let four = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
    let exact = u128::from_le_bytes(bytes[..16].try_into().expect("sixteen bytes"));
    Record { text_hash: exact, length: four(16), n_shingles: four(20) }
}

fn signature_of<'s>(bytes: &[u8], signature: &'s mut [u16]) -> &'s [u16] {
    for (value, pair) in signature.iter_mut().zip(bytes[FIXED_BYTES..].chunks_exact(2)) {
        *value = u16::from_le_bytes([pair[0], pair[1]]);
    }
    signature
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_numbered_through_the_shards() {
        let folder = tempfile::tempdir().unwrap();
        let paths: Vec<PathBuf> = (0..3).map(|n| folder.path().join(format!("{n}.bin"))).collect();
        for (shard, path) in paths.iter().enumerate() {
            let mut writer = Writer::create(path.clone(), 2).unwrap();
            // The middle shard is empty.
            for n in 0..if shard == 1 { 0 } else { 2 } {
                let record = Record { text_hash: (shard * 10 + n) as u128, length: 7, n_shingles: 1 };
                writer.put(record, &[shard as u16, n as u16]).unwrap();
            }
            writer.seal().unwrap();
        }
        let records = Records::open(paths, 2).unwrap();
        assert_eq!(records.n_documents(), 4);
        let mut seen = Vec::new();
        records
            .for_each(|document, record, signature| seen.push((document, record.text_hash, signature.to_vec())))
            .unwrap();
        assert_eq!(seen[2], (2, 20, vec![2, 0]));
        let mut signature = Vec::new();
        assert_eq!(records.read(3, &mut signature).unwrap().text_hash, 21);
        assert_eq!(signature, [2, 1]);
        assert_eq!((records.shard_of(1), records.shard_of(2)), (0, 2));
    }
}
