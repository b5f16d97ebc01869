//! The robots.txt files that were fetched, so that a restart does not fetch them again.
//!
//! A file of records, appended; records whose time is over are dropped when it is opened. It is no part of the truth: a
//! damaged record and all behind it are forgotten, and those files are fetched again.

use std::fs::File;
use std::io::{BufReader, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hashbrown::HashMap;
use xxhash_rust::xxh3::xxh3_64;

use super::StoredRobots;
use super::files::{self, io_error, open_append, replace};
use super::journal::Fields;
use crate::error::Error;

/// Checksum and length of a record.
const HEADER_BYTES: usize = 12;
/// A larger file, compressed, is not kept: it is fetched again after a restart.
const MAX_RECORD_BYTES: usize = 512 << 10;
/// When the file has grown to this, no more is kept until it is opened again.
const MAX_FILE_BYTES: u64 = 256 << 20;
/// Origins kept at most.
const MAX_ORIGINS: usize = 200_000;

/// Robots.txt files by origin.
pub(super) struct RobotsFile {
    path: PathBuf,
    file: File,
    length: u64,
    /// Where the newest record of an origin stands, by the hash of the origin.
    records: HashMap<u64, (u64, u32)>,
}

impl RobotsFile {
    /// Opens the file, or creates it, without records that are older than `max_age`.
    pub(super) fn open(path: &Path, max_age: Duration) -> Result<RobotsFile, Error> {
        let mut robots =
            RobotsFile { path: path.to_owned(), file: open_append(path)?, length: 0, records: HashMap::new() };
        let read = robots.file.metadata().map_err(io_error(path, "read"))?.len();
        let n_expired = robots.index(max_age)?;
        if n_expired > robots.records.len() {
            robots.rewrite()?;
        } else if robots.length < read {
            files::set_length(&robots.file, path, robots.length)?;
        }
        Ok(robots)
    }

    /// Reads all records up to the first damaged one; gives how many of them are of no more use.
    fn index(&mut self, max_age: Duration) -> Result<usize, Error> {
        let mut reader = BufReader::new(File::open(&self.path).map_err(io_error(&self.path, "open"))?);
        let mut n_expired = 0;
        let mut payload = Vec::new();
        while read_record(&mut reader, &mut payload) {
            let Some((origin, fetched_at, _)) = decode(&payload) else { break };
            let is_recent = fetched_at.elapsed().is_ok_and(|age| age < max_age);
            if is_recent && self.records.len() < MAX_ORIGINS {
                let position = (self.length, payload.len() as u32);
                n_expired += usize::from(self.records.insert(xxh3_64(origin.as_bytes()), position).is_some());
            } else {
                n_expired += 1;
            }
            self.length += (HEADER_BYTES + payload.len()) as u64;
        }
        Ok(n_expired)
    }

    /// Writes the file anew with the records in use.
    fn rewrite(&mut self) -> Result<(), Error> {
        let mut kept: Vec<(u64, (u64, u32))> = self.records.drain().collect();
        kept.sort_unstable_by_key(|(_, position)| *position);
        let mut bytes = Vec::new();
        for (origin, (offset, length)) in kept {
            let start = bytes.len();
            bytes.resize(start + HEADER_BYTES + length as usize, 0);
            self.file.read_exact_at(&mut bytes[start..], offset).map_err(io_error(&self.path, "read"))?;
            self.records.insert(origin, (start as u64, length));
        }
        replace(&self.path, &[&bytes])?;
        self.file = open_append(&self.path)?;
        self.length = bytes.len() as u64;
        Ok(())
    }

    /// The robots.txt of an origin.
    pub(super) fn get(&self, origin: &str) -> Result<Option<StoredRobots>, Error> {
        let Some((offset, length)) = self.records.get(&xxh3_64(origin.as_bytes())) else { return Ok(None) };
        let mut record = vec![0; HEADER_BYTES + *length as usize];
        self.file.read_exact_at(&mut record, *offset).map_err(io_error(&self.path, "read"))?;
        let mut payload = Vec::new();
        if !read_record(&mut &record[..], &mut payload) {
            return Ok(None);
        }
        let found = decode(&payload).filter(|(found, ..)| *found == origin);
        Ok(found.and_then(|(_, fetched_at, packed)| {
            let body = zstd::bulk::decompress(packed, crate::robots::MAX_ROBOTS_BYTES).ok()?;
            Some(StoredRobots { body, fetched_at })
        }))
    }

    /// Keeps the robots.txt of an origin; it then survives a killed process.
    pub(super) fn set(&mut self, origin: &str, robots: &StoredRobots) -> Result<(), Error> {
        let Ok(packed) = zstd::bulk::compress(&robots.body, 1) else { return Ok(()) };
        let mut record = vec![0; HEADER_BYTES];
        let time = robots.fetched_at.duration_since(UNIX_EPOCH).unwrap_or_default();
        record.extend((time.as_millis() as u64).to_le_bytes());
        record.extend((origin.len() as u32).to_le_bytes());
        record.extend(origin.as_bytes());
        record.extend((packed.len() as u32).to_le_bytes());
        record.extend(packed);
        let length = record.len() - HEADER_BYTES;
        let is_full = self.length >= MAX_FILE_BYTES || self.records.len() >= MAX_ORIGINS;
        if length > MAX_RECORD_BYTES || is_full {
            return Ok(());
        }
        let checksum = xxh3_64(&record[HEADER_BYTES..]).to_le_bytes();
        record[..8].copy_from_slice(&checksum);
        record[8..HEADER_BYTES].copy_from_slice(&(length as u32).to_le_bytes());
        files::append(&self.file, &self.path, &record)?;
        self.records.insert(xxh3_64(origin.as_bytes()), (self.length, length as u32));
        self.length += record.len() as u64;
        Ok(())
    }
}

/// Reads the payload of the next record; `false` at the end and at a damaged record.
fn read_record(reader: &mut impl Read, payload: &mut Vec<u8>) -> bool {
    let mut header = [0; HEADER_BYTES];
    if reader.read_exact(&mut header).is_err() {
        return false;
    }
    let length = u32::from_le_bytes(header[8..].try_into().expect("four bytes")) as usize;
    if length > MAX_RECORD_BYTES {
        return false;
    }
    payload.resize(length, 0);
    reader.read_exact(payload).is_ok() && xxh3_64(payload).to_le_bytes() == header[..8]
}

/// The origin, the time of the request and the packed body of a record.
fn decode(payload: &[u8]) -> Option<(&str, SystemTime, &[u8])> {
    let mut fields = Fields { bytes: payload, at: 0 };
    let fetched_at = UNIX_EPOCH.checked_add(Duration::from_millis(fields.u64()?))?;
    let origin = std::str::from_utf8(fields.slice()?).ok()?;
    Some((origin, fetched_at, fields.slice()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_secs(86_400);

    fn robots(body: &str, age: Duration) -> StoredRobots {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let time = Duration::from_millis((now - age).as_millis() as u64);
        StoredRobots { body: body.into(), fetched_at: UNIX_EPOCH + time }
    }

    #[test]
    fn the_newest_file_of_an_origin_comes_back_and_old_ones_are_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("robots");
        let mut file = RobotsFile::open(&path, DAY).unwrap();
        let (first, second) = (robots("Disallow: /a", Duration::ZERO), robots("Disallow: /b", Duration::ZERO));
        file.set("http://a.test", &first).unwrap();
        file.set("http://a.test", &second).unwrap();
        file.set("http://old.test", &robots("Disallow: /", 2 * DAY)).unwrap();
        file.set("http://b.test", &robots("", Duration::ZERO)).unwrap();
        for _ in 0..3 {
            let file = RobotsFile::open(&path, DAY).unwrap();
            assert_eq!(file.get("http://a.test").unwrap(), Some(second.clone()));
            assert_eq!(file.get("http://b.test").unwrap().unwrap().body, b"");
            assert_eq!(file.get("http://old.test").unwrap(), None);
            assert_eq!(file.get("https://a.test").unwrap(), None);
        }
        let mut file = RobotsFile::open(&path, DAY).unwrap();
        (0..40).for_each(|_| file.set("http://a.test", &first).unwrap());
        let before = path.metadata().unwrap().len();
        let file = RobotsFile::open(&path, DAY).unwrap();
        assert!(path.metadata().unwrap().len() < before / 5, "replaced records are dropped");
        assert_eq!(file.get("http://a.test").unwrap(), Some(first));
    }

    #[test]
    fn a_damaged_file_gives_the_records_before_the_damage() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("robots");
        let mut file = RobotsFile::open(&path, DAY).unwrap();
        file.set("http://a.test", &robots("Disallow: /a", Duration::ZERO)).unwrap();
        let end = file.length as usize;
        file.set("http://b.test", &robots("Disallow: /b", Duration::ZERO)).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x40;
            std::fs::write(&path, damaged).unwrap();
            let mut file = RobotsFile::open(&path, DAY).unwrap();
            assert_eq!(file.get("http://a.test").unwrap().is_some(), at >= end, "{at}");
            assert_eq!(file.get("http://b.test").unwrap(), None);
            file.set("http://c.test", &robots("Disallow: /c", Duration::ZERO)).unwrap();
            assert!(RobotsFile::open(&path, DAY).unwrap().get("http://c.test").unwrap().is_some(), "it goes on");
        }
    }
}
