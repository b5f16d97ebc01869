//! The journal: every change of the frontier, appended in checksummed batches.
//!
//! It is the truth; everything else on disk is made from it and can be made again. A record of a new URL also serves
//! as that URL's only copy: queues hold the places of such records. A batch that was cut short by a crash is dropped
//! as a whole, with everything after it.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use xxhash_rust::xxh3::xxh3_64;

use super::files::{at, open_append};
use super::records::Record;
use super::visits::Visited;
use super::{Kind, Link, Outcome, Receipt, Validators};
use crate::error::Error;
use crate::order::Class;

const MAGIC: &[u8; 8] = b"pithfr01";
/// The magic and the key of the fingerprints.
const HEADER_BYTES: u64 = 16;
/// The length of a batch and its checksum.
const BATCH_HEADER_BYTES: usize = 12;
/// A batch should be written when it has grown to this size, or when something in it must be durable.
const BATCH_BYTES: usize = 1 << 18;
/// How much of a link's text is kept, for policies that read it.
const MAX_ANCHOR_BYTES: usize = 160;
const MAX_CONTEXT_BYTES: usize = 320;
/// No batch is longer: one page's links are at most this long.
const MAX_BATCH_BYTES: u64 = 1 << 30;

/// What is read of a record at first, and what then if it does not end there.
const SHORT_RECORD_BYTES: usize = 320;
const LONG_RECORD_BYTES: usize = 1 << 17;
/// Slots of the table of places whose URLs were asked for lately, a power of two.
const NUMBER_SLOTS: usize = 1 << 15;

/// One change.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Event {
    /// A host was met; hosts are numbered in the order of these records.
    Host { name: String },
    /// A URL was taken in; URLs are numbered in the order of these records.
    New { host: u32, url: u32, class: Class, link: Link },
    /// A waiting URL moved to an earlier class.
    Raised { host: u32, offset: u64, class: Class },
    /// A URL is done.
    Done { host: u32, url: u32, receipt: Receipt },
    /// A URL goes back to its queue after a try.
    Again { host: u32, url: u32, offset: u64, attempts: u8, class: Class },
    /// What the server told about a page that was kept, or that it told nothing.
    Validators { url: u32, validators: Option<Validators> },
    /// What is known of the visits to a page.
    Visited { url: u32, visited: Visited },
    /// A host wants to be left alone this long between answers and requests.
    Rest { host: u32, milliseconds: u32 },
    /// A seed led to this URL.
    Admitted { url: String },
    /// How far the sink was when the events before this one were settled.
    Mark { mark: Vec<u8> },
}

/// The journal of one frontier.
pub(super) struct Journal {
    path: PathBuf,
    file: File,
    /// Where the batch in memory will start.
    written: u64,
    batch: Vec<u8>,
    key: u64,
    /// Places of records that came or were asked for lately, each with the number of its URL: what stands at the front
    /// of a queue is asked about again and again.
    numbers: Vec<(u64, u32)>,
}

impl Journal {
    /// Opens a journal, or starts one.
    pub(super) fn open(path: &Path) -> Result<Journal, Error> {
        let mut file = open_append(path)?;
        let length = file.metadata().map_err(at(path, "read"))?.len();
        let mut header = [0; HEADER_BYTES as usize];
        if length < HEADER_BYTES {
            file.set_len(0).map_err(at(path, "truncate"))?;
            let key = std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), 1);
            header[..8].copy_from_slice(MAGIC);
            header[8..].copy_from_slice(&u64::to_le_bytes(key));
            file.write_all(&header).map_err(at(path, "write"))?;
        } else {
            file.read_exact_at(&mut header, 0).map_err(at(path, "read"))?;
        }
        if &header[..8] != MAGIC {
            return Err(Error::Damaged { path: path.to_owned(), offset: 0, what: "this is not a frontier's journal" });
        }
        let key = u64::from_le_bytes(header[8..].try_into().expect("eight bytes"));
        let written = length.max(HEADER_BYTES);
        let (batch, numbers) = (vec![0; BATCH_HEADER_BYTES], vec![(0, 0); NUMBER_SLOTS]);
        Ok(Journal { path: path.to_owned(), file, written, batch, key, numbers })
    }

    /// The key of this frontier's fingerprints: secret, so that no site can make two URLs collide.
    pub(super) fn key(&self) -> u64 {
        self.key
    }

    /// Where the next record will stand once written.
    pub(super) fn end(&self) -> u64 {
        self.written + self.batch.len() as u64
    }

    /// Where the first batch that is not yet written will start.
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

    /// Adds an event; gives the place of its record. Nothing is written before [`Journal::write`]: what must be known
    /// together, such as a page's links, stays together.
    pub(super) fn push(&mut self, event: &Event) -> Result<u64, Error> {
        let offset = self.end();
        encode(event, &mut self.batch);
        Ok(offset)
    }

    /// Adds the record of a new URL without building an [`Event`].
    pub(super) fn push_new(&mut self, host: u32, url: u32, class: Class, link: &Link) -> Result<u64, Error> {
        let offset = self.end();
        encode_new(host, url, class, link, &mut self.batch);
        self.numbers[number_slot(offset)] = (offset, url);
        Ok(offset)
    }

    /// Writes the batch in memory; a killed process loses nothing of it.
    pub(super) fn write(&mut self) -> Result<(), Error> {
        let payload = &self.batch[BATCH_HEADER_BYTES..];
        if payload.is_empty() {
            return Ok(());
        }
        let length = (payload.len() as u32).to_le_bytes();
        let checksum = xxh3_64(payload).to_le_bytes();
        self.batch[..4].copy_from_slice(&length);
        self.batch[4..12].copy_from_slice(&checksum);
        self.file.write_all(&self.batch).map_err(at(&self.path, "write"))?;
        self.written += self.batch.len() as u64;
        self.batch.truncate(BATCH_HEADER_BYTES);
        Ok(())
    }

    /// Writes, and waits until the disk has it.
    pub(super) fn sync(&mut self) -> Result<(), Error> {
        self.write()?;
        self.file.sync_data().map_err(at(&self.path, "sync"))
    }

    /// The number of the URL whose record stands at a place.
    pub(super) fn number_at(&mut self, offset: u64) -> Result<u32, Error> {
        let slot = number_slot(offset);
        if self.numbers[slot].0 == offset && offset != 0 {
            return Ok(self.numbers[slot].1);
        }
        let number = self.read_number(offset)?;
        self.numbers[slot] = (offset, number);
        Ok(number)
    }

    fn read_number(&self, offset: u64) -> Result<u32, Error> {
        let mut bytes = [0; 9];
        if offset >= self.written {
            let start = (offset - self.written) as usize;
            bytes.copy_from_slice(self.batch.get(start..start + 9).unwrap_or(&[0; 9]));
        } else {
            self.file.read_exact_at(&mut bytes, offset).map_err(at(&self.path, "read"))?;
        }
        match bytes {
            [b'U' | b'T', _, _, _, _, number @ ..] => Ok(u32::from_le_bytes(number)),
            _ => Err(Error::Damaged { path: self.path.clone(), offset, what: "no URL is recorded here" }),
        }
    }

    /// The URL whose record stands at a place, its number and the class that it was given first.
    pub(super) fn link_at(&self, offset: u64) -> Result<(u32, Class, Link), Error> {
        match self.event_at(offset)? {
            Some(Event::New { url, class, link, .. }) => Ok((url, class, link)),
            _ => Err(Error::Damaged { path: self.path.clone(), offset, what: "no URL is recorded here" }),
        }
    }

    /// The validators of a URL whose record should stand at a place; nothing when another one does.
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
        // Most records are short, and every line of memory that is not at hand takes its time.
        let mut short = [0; SHORT_RECORD_BYTES];
        let left = (self.written - offset) as usize;
        let short = &mut short[..SHORT_RECORD_BYTES.min(left)];
        self.file.read_exact_at(short, offset).map_err(at(&self.path, "read"))?;
        let mut found = decode(short);
        if found.is_none() {
            let mut long = vec![0; LONG_RECORD_BYTES.min(left)];
            self.file.read_exact_at(&mut long, offset).map_err(at(&self.path, "read"))?;
            found = decode(&long);
        }
        Ok(found.map(|(event, _)| event))
    }

    /// Hands every event from a place on to `apply`, and cuts off what a crash left half-written.
    pub(super) fn replay(
        &mut self,
        from: u64,
        mut apply: impl FnMut(u64, Event) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let from = from.max(HEADER_BYTES);
        let mut reader = BufReader::with_capacity(1 << 18, File::open(&self.path).map_err(at(&self.path, "open"))?);
        reader.seek(SeekFrom::Start(from)).map_err(at(&self.path, "read"))?;
        let mut place = from;
        let mut payload = Vec::new();
        while read_batch(&mut reader, self.written - place, &mut payload).map_err(at(&self.path, "read"))? {
            let mut start = 0;
            while start < payload.len() {
                let offset = place + (BATCH_HEADER_BYTES + start) as u64;
                let Some((event, used)) = decode(&payload[start..]) else {
                    return Err(Error::Damaged { path: self.path.clone(), offset, what: "a record of no known kind" });
                };
                apply(offset, event)?;
                start += used;
            }
            place += (BATCH_HEADER_BYTES + payload.len()) as u64;
        }
        if place < self.written {
            self.file.set_len(place).map_err(at(&self.path, "truncate"))?;
            self.written = place;
        }
        Ok(())
    }
}

/// Reads one whole batch; `false` at the end or where a crash left less than one.
fn read_batch(reader: &mut impl Read, left: u64, payload: &mut Vec<u8>) -> std::io::Result<bool> {
    if left < BATCH_HEADER_BYTES as u64 {
        return Ok(false);
    }
    let mut header = [0; BATCH_HEADER_BYTES];
    reader.read_exact(&mut header)?;
    let length = u64::from(u32::from_le_bytes(header[..4].try_into().expect("four bytes")));
    if length == 0 || length > (left - BATCH_HEADER_BYTES as u64).min(MAX_BATCH_BYTES) {
        return Ok(false);
    }
    payload.resize(length as usize, 0);
    reader.read_exact(payload)?;
    Ok(xxh3_64(payload).to_le_bytes() == header[4..12])
}

/// Neighbouring records go to different slots.
fn number_slot(offset: u64) -> usize {
    (offset.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 49) as usize & (NUMBER_SLOTS - 1)
}

fn encode_new(host: u32, url: u32, class: Class, link: &Link, out: &mut Vec<u8>) {
    let has_text = !link.anchor.is_empty() || !link.context.is_empty();
    out.push(if has_text { b'T' } else { b'U' });
    out.extend(host.to_le_bytes());
    out.extend(url.to_le_bytes());
    out.extend([class.0, link.hops, link.kind.code()]);
    out.extend(link.depth.to_le_bytes());
    put_text(link.url.as_str().as_bytes(), out);
    if has_text {
        put_text(start(&link.anchor, MAX_ANCHOR_BYTES).as_bytes(), out);
        put_text(start(&link.context, MAX_CONTEXT_BYTES).as_bytes(), out);
    }
}

/// As much of a text as fits.
fn start(text: &str, max_bytes: usize) -> &str {
    let end = (0..=max_bytes.min(text.len())).rev().find(|&end| text.is_char_boundary(end));
    &text[..end.unwrap_or(0)]
}

fn encode(event: &Event, out: &mut Vec<u8>) {
    match event {
        Event::Host { name } => {
            out.push(b'H');
            put_text(name.as_bytes(), out);
        }
        Event::New { host, url, class, link } => encode_new(*host, *url, *class, link, out),
        Event::Raised { host, offset, class } => {
            out.push(b'R');
            out.extend(host.to_le_bytes());
            out.extend(offset.to_le_bytes());
            out.push(class.0);
        }
        Event::Done { host, url, receipt } => {
            out.push(b'D');
            out.extend(host.to_le_bytes());
            out.extend(url.to_le_bytes());
            out.push(receipt.outcome.code());
            out.extend(receipt.bytes.to_le_bytes());
            out.extend(receipt.milliseconds.to_le_bytes());
            out.extend(receipt.digest.to_le_bytes());
        }
        Event::Again { host, url, offset, attempts, class } => {
            out.push(b'A');
            out.extend(host.to_le_bytes());
            out.extend(url.to_le_bytes());
            out.extend(offset.to_le_bytes());
            out.extend([*attempts, class.0]);
        }
        Event::Validators { url, validators } => {
            out.push(b'V');
            out.extend(url.to_le_bytes());
            let kept_at = validators.as_ref().and_then(|known| known.kept_at.duration_since(UNIX_EPOCH).ok());
            out.extend((kept_at.unwrap_or_default().as_millis() as u64).to_le_bytes());
            let etag = validators.as_ref().and_then(|known| known.etag.as_deref());
            let last_modified = validators.as_ref().and_then(|known| known.last_modified.as_deref());
            put_text(etag.unwrap_or("").as_bytes(), out);
            put_text(last_modified.unwrap_or("").as_bytes(), out);
        }
        Event::Visited { url, visited } => {
            out.push(b'W');
            out.extend(url.to_le_bytes());
            out.extend(visited.to_bytes());
        }
        Event::Rest { host, milliseconds } => {
            out.push(b'P');
            out.extend(host.to_le_bytes());
            out.extend(milliseconds.to_le_bytes());
        }
        Event::Admitted { url } => {
            out.push(b'S');
            put_text(url.as_bytes(), out);
        }
        Event::Mark { mark } => {
            out.push(b'M');
            put_text(mark, out);
        }
    }
}

fn put_text(text: &[u8], out: &mut Vec<u8>) {
    out.extend((text.len() as u32).to_le_bytes());
    out.extend(text);
}

/// The event at the start of some bytes and how long its record is; nothing when there is no whole one.
fn decode(bytes: &[u8]) -> Option<(Event, usize)> {
    let mut fields = Fields { bytes, at: 0 };
    let event = match fields.byte()? {
        b'H' => Event::Host { name: fields.text()? },
        record @ (b'U' | b'T') => {
            let has_text = record == b'T';
            let host = fields.u32()?;
            let number = fields.u32()?;
            let class = Class(fields.byte()?);
            let hops = fields.byte()?;
            let kind = Kind::from_code(fields.byte()?)?;
            let depth = fields.u32()?;
            let url = fields.text()?.parse().ok()?;
            let (anchor, context) = if has_text { (fields.text()?, fields.text()?) } else { Default::default() };
            let link = Link { url, depth, hops, kind, anchor, context };
            Event::New { host, url: number, class, link }
        }
        b'R' => Event::Raised { host: fields.u32()?, offset: fields.u64()?, class: Class(fields.byte()?) },
        b'D' => Event::Done {
            host: fields.u32()?,
            url: fields.u32()?,
            receipt: Receipt {
                outcome: Outcome::from_code(fields.byte()?)?,
                bytes: fields.u32()?,
                milliseconds: fields.u32()?,
                digest: fields.u64()?,
            },
        },
        b'A' => Event::Again {
            host: fields.u32()?,
            url: fields.u32()?,
            offset: fields.u64()?,
            attempts: fields.byte()?,
            class: Class(fields.byte()?),
        },
        b'V' => {
            let url = fields.u32()?;
            let kept_at = UNIX_EPOCH.checked_add(Duration::from_millis(fields.u64()?))?;
            let filled = |text: String| (!text.is_empty()).then_some(text);
            let (etag, last_modified) = (filled(fields.text()?), filled(fields.text()?));
            let is_any = etag.is_some() || last_modified.is_some();
            Event::Validators { url, validators: is_any.then_some(Validators { etag, last_modified, kept_at }) }
        }
        b'W' => Event::Visited { url: fields.u32()?, visited: Visited::from_bytes(&fields.take()?)? },
        b'P' => Event::Rest { host: fields.u32()?, milliseconds: fields.u32()? },
        b'S' => Event::Admitted { url: fields.text()? },
        b'M' => Event::Mark { mark: fields.slice()?.to_vec() },
        _ => return None,
    };
    Some((event, fields.at))
}

/// Reads fields one after the other, and nothing beyond the end.
pub(super) struct Fields<'b> {
    pub(super) bytes: &'b [u8],
    pub(super) at: usize,
}

impl<'b> Fields<'b> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let taken = self.bytes.get(self.at..self.at.checked_add(N)?)?;
        self.at += N;
        taken.try_into().ok()
    }

    pub(super) fn byte(&mut self) -> Option<u8> {
        self.take::<1>().map(|[byte]| byte)
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }

    pub(super) fn slice(&mut self) -> Option<&'b [u8]> {
        let length = self.u32()? as usize;
        let slice = self.bytes.get(self.at..self.at.checked_add(length)?)?;
        self.at += length;
        Some(slice)
    }

    pub(super) fn text(&mut self) -> Option<String> {
        String::from_utf8(self.slice()?.to_vec()).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events() -> Vec<Event> {
        let link = Link { hops: 2, kind: Kind::Sitemap, ..Link::page("http://a.test/b?c=1".parse().unwrap(), 3) };
        let receipt = Receipt { outcome: Outcome::Stored, bytes: 9, milliseconds: 7, digest: 5 };
        let kept_at = UNIX_EPOCH + Duration::from_millis(1_767_225_600_123);
        let validators = Validators { etag: Some("\"7\"".into()), last_modified: None, kept_at };
        vec![
            Event::Host { name: "a.test".into() },
            Event::New { host: 0, url: 0, class: Class(4), link: link.clone() },
            Event::New { host: 0, url: 1, class: Class(4), link: Link { anchor: "olá".into(), ..link } },
            Event::Raised { host: 0, offset: 28, class: Class(1) },
            Event::Again { host: 0, url: 0, offset: 28, attempts: 1, class: Class(1) },
            Event::Rest { host: 0, milliseconds: 1500 },
            Event::Admitted { url: "http://b.test/".into() },
            Event::Done { host: 0, url: 0, receipt },
            Event::Validators { url: 0, validators: Some(validators) },
            Event::Validators { url: 0, validators: None },
            Event::Visited { url: 0, visited: Visited { host: 0, offset: 28, at: 9, history: Default::default() } },
            Event::Mark { mark: b"pages-00000@77".to_vec() },
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
