//! The journal: every change of the frontier, appended in checksummed batches.
//!
//! It is the source of truth: everything else on disk is derived from it. The record of a new URL is the only copy of
//! the URL; queues hold the offsets of such records. A batch at the end that a crash left incomplete is dropped. Any
//! other damage is an error, and nothing is changed then: the sink holds pages that the lost events settled.

mod batch;
mod event;
mod syncer;

pub(super) use self::event::{Event, Fields};

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use url::Url;
use xxhash_rust::xxh3::xxh3_64;

use self::batch::{BatchHeader, HEADER_BYTES as BATCH_HEADER_BYTES};
use self::event::{decode, encode, encode_link, is_link};
use self::syncer::Syncer;
use super::Link;
use super::files::{self, io_error, open_append, sync_folder};
use crate::error::Error;
use crate::order::Priority;
use crate::validators::Validators;

const MAGIC: &[u8; 8] = b"pithfr02";
/// The journal of the version before, whose batches cannot be found again behind damage.
const OLD_MAGIC: &[u8; 8] = b"pithfr01";
/// The magic number, the key of the URL fingerprints, and a checksum of both.
pub(super) const HEADER_BYTES: u64 = 24;
/// The size from which a batch should be written.
const BATCH_BYTES: usize = 1 << 18;
/// No batch is longer: one page's links are at most this long.
const MAX_BATCH_BYTES: u32 = 1 << 30;

/// Bytes read of a record at first, and of one that turns out to be longer.
const SHORT_RECORD_BYTES: usize = 320;
const LONG_RECORD_BYTES: usize = 1 << 17;
/// Slots of the cache from record offsets to URL numbers, a power of two.
const NUMBER_SLOTS: usize = 1 << 15;

/// The journal of one frontier.
pub(super) struct Journal {
    path: PathBuf,
    file: File,
    /// The offset of the batch in memory.
    written: u64,
    batch: Vec<u8>,
    key: u64,
    /// A cache from the offsets of URL records to URL numbers: the entry at the front of a queue is looked up
    /// repeatedly.
    recent_numbers: Vec<(u64, u32)>,
    syncer: Syncer,
}

impl Journal {
    /// Opens a journal, or creates one where there is none, or one whose creation was interrupted.
    pub(super) fn open(path: &Path) -> Result<Journal, Error> {
        let file = open_append(path)?;
        let mut written = file.metadata().map_err(io_error(path, "read"))?.len();
        if written < HEADER_BYTES {
            files::set_length(&file, path, 0)?;
            files::append(&file, path, &new_header())?;
            files::sync(&file, path)?;
            sync_folder(path)?;
            written = HEADER_BYTES;
        }
        let mut header = [0; HEADER_BYTES as usize];
        file.read_exact_at(&mut header, 0).map_err(io_error(path, "read"))?;
        let key = key_of(&header).map_err(|what| Error::Damaged { path: path.to_owned(), offset: 0, what })?;
        let (batch, recent_numbers) = (vec![0; BATCH_HEADER_BYTES], vec![(0, 0); NUMBER_SLOTS]);
        Ok(Journal { path: path.to_owned(), file, written, batch, key, recent_numbers, syncer: Syncer::default() })
    }

    /// The secret key of the URL fingerprints, so that no site can construct colliding URLs.
    pub(super) fn key(&self) -> u64 {
        self.key
    }

    /// The offset of the next record.
    pub(super) fn end(&self) -> u64 {
        self.written + self.batch.len() as u64
    }

    /// The length of the written journal: the offset of the batch in memory.
    pub(super) fn written(&self) -> u64 {
        self.written
    }

    /// Where the journal will end once the batch in memory is written.
    pub(super) fn end_when_written(&self) -> u64 {
        if self.batch.len() == BATCH_HEADER_BYTES { self.written } else { self.end() }
    }

    /// Whether the batch in memory has grown so large that it should be written.
    pub(super) fn is_full(&self) -> bool {
        self.batch.len() >= BATCH_BYTES
    }

    /// Adds an event to the batch in memory; gives the offset of its record. Nothing is written before
    /// [`Journal::write`], so that events of one batch, such as the links of a page, become durable together.
    pub(super) fn push(&mut self, event: &Event) -> Result<u64, Error> {
        let offset = self.end();
        encode(event, &mut self.batch);
        Ok(offset)
    }

    /// Adds the record of a new URL without building an [`Event`].
    pub(super) fn push_new(&mut self, host: u32, url: u32, priority: Priority, link: &Link) -> Result<u64, Error> {
        let offset = self.end();
        encode_link(*b"UT", host, url, priority, link, &mut self.batch);
        self.recent_numbers[number_slot(offset)] = (offset, url);
        Ok(offset)
    }

    /// Adds bytes that need not be events, to fuzz what reads them.
    #[cfg(any(test, feature = "fuzzing"))]
    pub(super) fn push_bytes(&mut self, bytes: &[u8]) {
        self.batch.extend(bytes);
    }

    /// Writes the batch in memory; it then survives a killed process.
    pub(super) fn write(&mut self) -> Result<(), Error> {
        if self.batch.len() == BATCH_HEADER_BYTES {
            return Ok(());
        }
        batch::seal(&mut self.batch, self.written, self.key);
        files::append(&self.file, &self.path, &self.batch)?;
        self.written += self.batch.len() as u64;
        self.batch.truncate(BATCH_HEADER_BYTES);
        Ok(())
    }

    /// Writes the batch and syncs the file to disk.
    pub(super) fn sync(&mut self) -> Result<(), Error> {
        self.write()?;
        files::sync(&self.file, &self.path)
    }

    /// Writes the batch and lets the file be synced soon, by another thread.
    pub(super) fn sync_later(&mut self) -> Result<(), Error> {
        self.write()?;
        self.syncer.sync(&self.file, &self.path)
    }

    /// The number of the URL whose record is at an offset.
    pub(super) fn number_at(&mut self, offset: u64) -> Result<u32, Error> {
        let slot = number_slot(offset);
        if self.recent_numbers[slot].0 == offset && offset != 0 {
            return Ok(self.recent_numbers[slot].1);
        }
        let number = self.read_number(offset)?;
        self.recent_numbers[slot] = (offset, number);
        Ok(number)
    }

    fn read_number(&self, offset: u64) -> Result<u32, Error> {
        let mut bytes = [0; 9];
        if offset >= self.written {
            let start = (offset - self.written) as usize;
            bytes.copy_from_slice(self.batch.get(start..start.saturating_add(9)).unwrap_or(&[0; 9]));
        } else {
            self.file.read_exact_at(&mut bytes, offset).map_err(io_error(&self.path, "read"))?;
        }
        match bytes {
            [record, _, _, _, _, number @ ..] if is_link(record) => Ok(u32::from_le_bytes(number)),
            _ => Err(Error::Damaged { path: self.path.clone(), offset, what: "expected the record of a URL" }),
        }
    }

    /// The URL whose record is at an offset: its number, its first priority and the link.
    pub(super) fn link_at(&self, offset: u64) -> Result<(u32, Priority, Link), Error> {
        match self.event_at(offset)? {
            Some(Event::New { url, priority, link, .. } | Event::Improved { url, priority, link, .. }) => {
                Ok((url, priority, link))
            }
            _ => Err(Error::Damaged { path: self.path.clone(), offset, what: "expected the record of a URL" }),
        }
    }

    /// The URL of the page that a link was found on; nothing for a seed.
    pub(super) fn source_of(&self, link: &Link) -> Result<Option<Url>, Error> {
        if link.found_on < HEADER_BYTES || link.found_on >= self.end() {
            return Ok(None);
        }
        match self.event_at(link.found_on)? {
            Some(Event::New { link, .. } | Event::Improved { link, .. }) => Ok(Some(link.url)),
            _ => Ok(None),
        }
    }

    /// The link that was postponed by the record at an offset.
    pub(super) fn postponed_at(&self, offset: u64) -> Result<Link, Error> {
        match self.event_at(offset)? {
            Some(Event::Postponed { link }) => Ok(link),
            _ => Err(Error::Damaged { path: self.path.clone(), offset, what: "expected the record of a link" }),
        }
    }

    /// The validators of a URL, whose record should be at an offset; nothing when another record is there.
    pub(super) fn validators_at(&self, offset: u64, url: u32) -> Result<Option<Validators>, Error> {
        if offset < HEADER_BYTES || offset >= self.end() {
            return Ok(None);
        }
        match self.event_at(offset)? {
            Some(Event::Validators { url: of, validators }) if of == url => Ok(validators),
            _ => Ok(None),
        }
    }

    fn event_at(&self, offset: u64) -> Result<Option<Event>, Error> {
        if offset >= self.written {
            let start = (offset - self.written) as usize;
            return Ok(decode(self.batch.get(start..).unwrap_or(&[])).map(|(event, _)| event));
        }
        // Most records are short, and a small buffer stays in the cache.
        let mut short = [0; SHORT_RECORD_BYTES];
        let left = (self.written - offset) as usize;
        let short = &mut short[..SHORT_RECORD_BYTES.min(left)];
        self.file.read_exact_at(short, offset).map_err(io_error(&self.path, "read"))?;
        let mut found = decode(short);
        if found.is_none() {
            let mut long = vec![0; LONG_RECORD_BYTES.min(left)];
            self.file.read_exact_at(&mut long, offset).map_err(io_error(&self.path, "read"))?;
            found = decode(&long);
        }
        Ok(found.map(|(event, _)| event))
    }

    /// Calls `apply` with every event from an offset on, and truncates an incomplete batch at the end.
    ///
    /// # Errors
    /// When a batch is damaged and a good one follows, or bytes between two batches are missing.
    pub(super) fn replay(
        &mut self,
        from: u64,
        mut apply: impl FnMut(u64, Event) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let from = from.max(HEADER_BYTES);
        if from > self.written {
            return Err(self.damaged(self.written, "the journal is shorter than when its checkpoint was written"));
        }
        let mut reader =
            BufReader::with_capacity(1 << 18, File::open(&self.path).map_err(io_error(&self.path, "open"))?);
        reader.seek(SeekFrom::Start(from)).map_err(io_error(&self.path, "read"))?;
        let mut batch_offset = from;
        let mut payload = Vec::new();
        while self.read_batch(&mut reader, batch_offset, &mut payload)? {
            let mut start = 0;
            while start < payload.len() {
                let offset = batch_offset + (BATCH_HEADER_BYTES + start) as u64;
                let Some((event, used)) = decode(&payload[start..]) else {
                    return Err(self.damaged(offset, "unknown record type"));
                };
                apply(offset, event)?;
                start += used;
            }
            batch_offset += (BATCH_HEADER_BYTES + payload.len()) as u64;
        }
        if batch_offset < self.written {
            self.drop_incomplete_batch(batch_offset)?;
        }
        Ok(())
    }

    /// Calls `take` with number and offset of the record of every URL, written or not.
    pub(super) fn for_each_url(&mut self, mut take: impl FnMut(u32, u64) -> Result<(), Error>) -> Result<(), Error> {
        self.write()?;
        self.replay(0, |offset, event| match event {
            Event::New { url, .. } | Event::Improved { url, .. } => take(url, offset),
            _ => Ok(()),
        })
    }

    /// Reads the batch at an offset; `false` when there is no complete one.
    fn read_batch(&self, reader: &mut impl Read, offset: u64, payload: &mut Vec<u8>) -> Result<bool, Error> {
        let Some(left) = (self.written - offset).checked_sub(BATCH_HEADER_BYTES as u64) else { return Ok(false) };
        let mut header = [0; BATCH_HEADER_BYTES];
        reader.read_exact(&mut header).map_err(io_error(&self.path, "read"))?;
        let Some(header) = BatchHeader::parse(&header, self.key) else { return Ok(false) };
        if header.offset != offset {
            return Err(self.damaged(offset, "bytes of the journal are missing here"));
        }
        if header.length == 0 || header.length > MAX_BATCH_BYTES || u64::from(header.length) > left {
            return Ok(false);
        }
        payload.resize(header.length as usize, 0);
        reader.read_exact(payload).map_err(io_error(&self.path, "read"))?;
        Ok(header.matches(payload))
    }

    /// Truncates the journal in front of a batch that is not complete, unless a good one follows.
    fn drop_incomplete_batch(&mut self, offset: u64) -> Result<(), Error> {
        let found = batch::find(&self.file, offset + 1, self.written, self.key);
        if found.map_err(io_error(&self.path, "read"))?.is_some() {
            return Err(self.damaged(offset, "the batch is damaged, and good ones follow"));
        }
        files::set_length(&self.file, &self.path, offset)?;
        // Durable before anything is written there: a power cut must not leave old bytes in front of new ones.
        files::sync(&self.file, &self.path)?;
        self.written = offset;
        Ok(())
    }

    fn damaged(&self, offset: u64, what: &'static str) -> Error {
        Error::Damaged { path: self.path.clone(), offset, what }
    }
}

/// Whether there is a journal; one whose creation was interrupted does not count.
pub(super) fn exists(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|file| file.len() >= HEADER_BYTES)
}

/// The header of a new journal, with a key of its own.
fn new_header() -> [u8; HEADER_BYTES as usize] {
    let key = std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), 1);
    let mut header = [0; HEADER_BYTES as usize];
    header[..8].copy_from_slice(MAGIC);
    header[8..16].copy_from_slice(&u64::to_le_bytes(key));
    let checksum = xxh3_64(&header[..16]);
    header[16..].copy_from_slice(&checksum.to_le_bytes());
    header
}

/// The key in the header of a journal, or what is wrong with the header.
fn key_of(header: &[u8; HEADER_BYTES as usize]) -> Result<u64, &'static str> {
    if &header[..8] == OLD_MAGIC {
        return Err("the journal was written by an earlier version and must be rebuilt");
    }
    if &header[..8] != MAGIC {
        return Err("not a frontier journal");
    }
    if header[16..] != xxh3_64(&header[..16]).to_le_bytes() {
        return Err("the header of the journal is damaged");
    }
    Ok(u64::from_le_bytes(header[8..16].try_into().expect("eight bytes")))
}

/// Spreads neighbouring records over different slots.
fn number_slot(offset: u64) -> usize {
    (offset.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 49) as usize & (NUMBER_SLOTS - 1)
}

#[cfg(test)]
mod tests {
    use super::super::visits::VisitRecord;
    use super::super::{FetchRecord, Kind};
    use super::*;
    use crate::outcome::Outcome;
    use std::time::{Duration, UNIX_EPOCH};

    fn events() -> Vec<Event> {
        let link = Link { hops: 2, kind: Kind::Sitemap, ..Link::page("http://a.test/b?c=1".parse().unwrap(), 3) };
        let later = link.clone();
        let found = Link { found_on: 1 << 40, ..link.clone() };
        let record = FetchRecord { outcome: Outcome::Stored, bytes: 9, milliseconds: 7, digest: 5 };
        let kept_at = UNIX_EPOCH + Duration::from_millis(1_767_225_600_123);
        let validators = Validators { etag: Some("\"7\"".into()), last_modified: None, kept_at };
        vec![
            Event::Host { name: "a.test".into() },
            Event::New { host: 0, url: 0, priority: Priority(4), link: link.clone() },
            Event::New { host: 0, url: 1, priority: Priority(4), link: Link { anchor: "olá".into(), ..link } },
            Event::New { host: 0, url: 2, priority: Priority(4), link: found.clone() },
            Event::Postponed { link: Link { anchor: "olá".into(), ..found } },
            Event::Promoted { host: 0, offset: 28, priority: Priority(1) },
            Event::Forgotten { host: 3 },
            Event::Postponed { link: Link { anchor: "olá".into(), ..later.clone() } },
            Event::Postponed { link: later },
            Event::Improved {
                host: 0,
                url: 0,
                priority: Priority(2),
                link: Link::page("http://a.test/".parse().unwrap(), 1),
            },
            Event::Retry { host: 0, url: 0, offset: 28, attempts: 1, priority: Priority(1) },
            Event::Rest { host: 0, milliseconds: 1500 },
            Event::ScopeExtended { url: "http://b.test/".into() },
            Event::Done { host: 0, url: 0, record },
            Event::Validators { url: 0, validators: Some(validators) },
            Event::Validators { url: 0, validators: None },
            Event::Visited { url: 0, visit: VisitRecord { host: 0, offset: 28, at: 9, history: Default::default() } },
            Event::SinkPosition { sink_position: b"pages-00000@77".to_vec() },
        ]
    }

    fn replayed(journal: &mut Journal) -> Vec<Event> {
        let mut all = Vec::new();
        let keep = |_, event| {
            all.push(event);
            Ok(())
        };
        journal.replay(0, keep).unwrap();
        all
    }

    #[test]
    fn what_was_written_comes_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let mut journal = Journal::open(&path).unwrap();
        let offsets: Vec<u64> = events().iter().map(|event| journal.push(event).unwrap()).collect();
        assert_eq!(journal.link_at(offsets[1]).unwrap().2.depth, 3, "before it is written");
        journal.sync().unwrap();
        assert_eq!(journal.link_at(offsets[1]).unwrap().2.depth, 3, "after it is written");
        let key = journal.key();
        let mut journal = Journal::open(&path).unwrap();
        assert_eq!((journal.key(), replayed(&mut journal)), (key, events()));
    }

    #[test]
    fn a_journal_cut_anywhere_keeps_its_whole_batches() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let mut journal = Journal::open(&path).unwrap();
        let mut ends = Vec::new();
        for event in events() {
            journal.push(&event).unwrap();
            journal.write().unwrap();
            ends.push(journal.written());
        }
        let bytes = std::fs::read(&path).unwrap();
        for cut in HEADER_BYTES as usize..bytes.len() {
            std::fs::write(&path, &bytes[..cut]).unwrap();
            let mut journal = Journal::open(&path).unwrap();
            let whole = ends.iter().filter(|&&end| end <= cut as u64).count();
            assert_eq!(replayed(&mut journal), events()[..whole]);
            journal.push(&events()[0]).unwrap();
            journal.write().unwrap();
            assert_eq!(replayed(&mut journal).len(), whole + 1, "and goes on from there");
        }
    }
}
