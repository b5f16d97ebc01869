//! Shards of pages: appended to, made durable in groups, closed at a size, and never left half.

use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::dictionary;
use super::draft::{Draft, DraftRevisit};
use super::index::Entry;
use super::packer::{Packed, Packer};
use super::position::ShardPosition;
use super::repair;
use super::response::{Response, RevisitTarget, encode, encode_request};
use super::seen::Seen;
use super::shard::{PENDING_MAX, Shard, file_name};
use super::shard_list;
use super::trainer::Trainer;
use crate::error::{Error, Result};

/// How shards are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `.warc.zst`: one zstd frame per record.
    Zstd,
    /// `.warc.gz`: one gzip member per record, for tools that cannot read zstd.
    Gzip,
}

impl Format {
    /// How file names end.
    pub fn extension(self) -> &'static str {
        match self {
            Format::Zstd => "warc.zst",
            Format::Gzip => "warc.gz",
        }
    }
}

/// Whether shards are compressed with a dictionary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DictionaryUse {
    /// One of this many bytes is trained on the first shard and used from the second on.
    Train(usize),
    /// None, for readers that cannot use one.
    Never,
}

/// More threads compress faster than a crawl on one machine brings pages.
const MAX_THREADS: NonZeroUsize = NonZeroUsize::new(8).expect("eight is not zero");

/// How shards are written.
#[derive(Clone, Debug)]
pub struct WriterOptions {
    /// How they are packed.
    pub format: Format,
    /// The compression level: 1 to 19 for zstd, 1 to 9 for gzip.
    pub level: i32,
    /// A shard is closed when it has this many bytes.
    pub shard_bytes: u64,
    /// Whether a dictionary is used; only zstd can.
    pub dictionary: DictionaryUse,
    /// How many payload digests are kept to find repeated responses.
    pub max_seen: usize,
    /// How many threads compress records; with one it is the caller's. The bytes written do not depend on it.
    pub threads: NonZeroUsize,
    /// What the `warcinfo` record says, such as `("operator", "…")`, after the software and the format.
    pub info: Vec<(String, String)>,
}

impl WriterOptions {
    /// The defaults for a format: zstd at level 3 with a dictionary, or gzip at level 6; shards of 256 MB.
    pub fn new(format: Format) -> WriterOptions {
        WriterOptions {
            format,
            level: if format == Format::Zstd { 3 } else { 6 },
            shard_bytes: 256_000_000,
            dictionary: DictionaryUse::Train(dictionary::DEFAULT_SIZE),
            max_seen: 100_000,
            threads: std::thread::available_parallelism().map_or(NonZeroUsize::MIN, |all| all.min(MAX_THREADS)),
            info: Vec::new(),
        }
    }

    fn check(&self) -> Result<()> {
        let levels = if self.format == Format::Zstd { 1..=19 } else { 1..=9 };
        if levels.contains(&self.level) {
            return Ok(());
        }
        let what = format!("compression level {}: {} takes {levels:?}", self.level, self.format.extension());
        Err(Error::Setting { what })
    }
}

impl Default for WriterOptions {
    fn default() -> Self {
        WriterOptions::new(Format::Zstd)
    }
}

/// Writes responses into the shards of a folder.
///
/// A page is durable only after [`ShardWriter::commit`] has returned.
pub struct ShardWriter {
    folder: PathBuf,
    options: WriterOptions,
    shard: Shard,
    dictionary: Option<Vec<u8>>,
    trainer: Option<Trainer>,
    packer: Packer,
    seen: Seen,
    /// How many responses were put.
    n_put: u64,
    /// An earlier write failed: what is on disk is not known, so nothing more is written.
    broken: bool,
}

impl ShardWriter {
    /// Opens the folder, which is made if need be. A shard that an earlier run left open is repaired and continued.
    ///
    /// # Errors
    ///
    /// If the folder cannot be written, another process writes there, or a setting is out of range.
    pub fn open(folder: &Path, options: WriterOptions) -> Result<ShardWriter> {
        ShardWriter::resume(folder, options, ShardPosition::default())
    }

    /// Opens the folder as [`ShardWriter::open`] does, of which pages were acknowledged up to a position.
    ///
    /// # Errors
    ///
    /// The same, and if the open shard is damaged in front of that position; nothing is changed then.
    pub fn resume(folder: &Path, options: WriterOptions, acknowledged: ShardPosition) -> Result<ShardWriter> {
        options.check()?;
        fs::create_dir_all(folder).map_err(Error::io(folder, "create"))?;
        let mut seen = Seen::new(options.max_seen);
        let remember = |digest, url: &str, fetched_at| seen.insert(digest, url, fetched_at);
        let state = repair::resume(folder, options.format, options.max_seen, acknowledged, remember)?;
        shard_list::reconcile(folder)?;
        let mut dictionary = state.dictionary;
        if dictionary.is_none() && state.next > 0 && state.open.is_none() {
            dictionary = train(folder, &options)?;
        }
        let shard = match state.open {
            Some(open) => Shard::new(&options, open.number, open.file, open.path, open.dictionary)
                .with_pages(open.entries, open.bytes),
            None => Shard::create(folder, state.next, &options, dictionary.as_deref())?,
        };
        Ok(ShardWriter {
            folder: folder.to_owned(),
            shard,
            dictionary,
            trainer: None,
            packer: Packer::new(options.threads),
            options,
            seen,
            n_put: 0,
            broken: false,
        })
    }

    /// Adds a response. It is durable only after the next [`ShardWriter::commit`].
    ///
    /// # Errors
    ///
    /// If the system cannot write. After an error that may pass ([`Error::may_pass`]), such as a full disk, the response
    /// was not added and the same call may be repeated. After any other the writer is of no more use: open the folder
    /// again.
    pub fn put(&mut self, response: &Response<'_>) -> Result<()> {
        self.put_draft(response, Vec::new())
    }

    /// Adds a response as [`ShardWriter::put`] does, and behind it a `request` record with the request that it answers:
    /// request line and headers, each ended by `\r\n`, without the empty line.
    ///
    /// # Errors
    ///
    /// The same.
    pub fn put_exchange(&mut self, request: &[u8], response: &Response<'_>) -> Result<()> {
        self.put_draft(response, request.to_vec())
    }

    fn put_draft(&mut self, response: &Response<'_>, request: Vec<u8>) -> Result<()> {
        self.guarded(|writer| {
            // What may fail comes before it is added, so that the call can be repeated.
            writer.make_room()?;
            while writer.packer.is_ready() || writer.packer.is_full(response.body.len()) {
                writer.append_next()?;
            }
            let draft = Draft { request, ..Draft::new(response, writer.n_put) };
            writer.packer.put(draft, &writer.shard.packing);
            writer.n_put += 1;
            Ok(())
        })
    }

    /// Makes everything that was put durable: one write and one sync for all of it.
    ///
    /// # Errors
    ///
    /// If the system cannot write. After an error that may pass ([`Error::may_pass`]) the call may be repeated; after any
    /// other, records put since the last commit may be lost.
    pub fn commit(&mut self) -> Result<()> {
        self.guarded(|writer| {
            writer.append_all()?;
            writer.shard.sync()
        })
    }

    /// How far the writer has come: [`pages_after`](super::pages_after) finds everything that was put later. Ask for it
    /// after a [`ShardWriter::commit`].
    pub fn position(&self) -> ShardPosition {
        ShardPosition { shard: self.shard.number, bytes: self.shard.bytes }
    }

    /// Makes everything durable and closes the shard: its index is written and it gets its final name.
    ///
    /// # Errors
    ///
    /// If the system cannot write. After an error that may pass ([`Error::may_pass`]) the call may be repeated. Nothing
    /// that was committed is lost without it: the next writer closes the shard.
    pub fn finish(&mut self) -> Result<()> {
        self.guarded(ShardWriter::append_all)?;
        if self.shard.entries.is_empty() {
            // Nothing but its own description: a shard without a page is no shard.
            self.broken = true;
            return fs::remove_file(&self.shard.path).map_err(Error::io(&self.shard.path, "remove"));
        }
        self.guarded(|writer| writer.shard.close(&writer.folder, writer.options.format))
    }

    fn guarded<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.broken {
            let what = "an earlier write to this folder failed; open it again".to_owned();
            return Err(Error::Archive { path: self.shard.path.clone(), what });
        }
        let done = work(self);
        self.broken = done.as_ref().is_err_and(|error| !error.may_pass());
        done
    }

    fn append_all(&mut self) -> Result<()> {
        while !self.packer.is_empty() {
            self.append_next()?;
        }
        Ok(())
    }

    /// Appends the record that comes next. After an error it is still to come.
    fn append_next(&mut self) -> Result<()> {
        self.make_room()?;
        if let Some(packed) = self.packer.next() {
            self.append(packed);
        }
        Ok(())
    }

    /// Does what may fail before a record is appended: begins another shard, or hands bytes to the system.
    fn make_room(&mut self) -> Result<()> {
        let is_full = self.shard.bytes >= self.options.shard_bytes && !self.shard.entries.is_empty();
        if is_full || self.shard.is_closed {
            self.rotate()?;
        }
        if self.shard.pending.len() >= PENDING_MAX {
            self.shard.flush()?;
        }
        self.train_ahead()
    }

    fn append(&mut self, packed: Packed) {
        let Packed { draft, digest, frame, packing } = packed;
        let is_large = draft.body.len() >= REVISIT_MIN;
        let is_detected = is_large && matches!(draft.revisit, DraftRevisit::Detect);
        let earlier = is_detected.then(|| self.seen.get(&digest, &draft.url)).flatten();
        let original = earlier.map(|(url, date)| RevisitTarget::Same { url, date });
        let is_revisit = original.is_some() || draft.target().is_some();
        // It was packed as no repeat, and for the shard of that time.
        let offset = match original.is_none() && Arc::ptr_eq(&packing, &self.shard.packing) {
            true => self.shard.append_frame(&frame),
            false => self.shard.append_record(|out| encode(&draft, &digest, original.or(draft.target()), out)),
        };
        self.shard.entries.push(Entry::of(&draft, digest, is_revisit, offset, self.shard.bytes - offset));
        if !draft.request.is_empty() {
            self.shard.append_record(|out| encode_request(&draft, &digest, out));
        }
        if is_large && !is_revisit {
            self.seen.insert(digest, &draft.url, draft.fetched_at);
        }
    }

    /// Begins to train the dictionary when half of the first shard is there, so that the second need not wait for it.
    fn train_ahead(&mut self) -> Result<()> {
        let DictionaryUse::Train(size) = self.options.dictionary else { return Ok(()) };
        let is_time = self.shard.number == 0 && self.shard.bytes >= self.options.shard_bytes / 2;
        if is_time && self.options.format == Format::Zstd && self.trainer.is_none() {
            self.shard.flush()?;
            self.trainer = Trainer::start(&self.shard.path, self.shard.bytes, size);
        }
        Ok(())
    }

    fn rotate(&mut self) -> Result<()> {
        // Before the shard gets its final name: the trainer opens it by the name that it has now.
        if let Some(trainer) = self.trainer.take() {
            self.dictionary = trainer.finish()?;
        }
        self.shard.close(&self.folder, self.options.format)?;
        if self.dictionary.is_none() {
            self.dictionary = train(&self.folder, &self.options)?;
        }
        self.shard = Shard::create(&self.folder, self.shard.number + 1, &self.options, self.dictionary.as_deref())?;
        Ok(())
    }
}

/// Smaller bodies are stored again: a `revisit` record would not be smaller.
const REVISIT_MIN: usize = 512;

/// A dictionary from the first shard of the folder, if the settings want one.
fn train(folder: &Path, options: &WriterOptions) -> Result<Option<Vec<u8>>> {
    match options.dictionary {
        DictionaryUse::Train(size) if options.format == Format::Zstd => {
            dictionary::train(&folder.join(file_name(0, options.format)), u64::MAX, size)
        }
        _ => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;

    use jiff::Timestamp;

    use super::super::record::RecordType;
    use super::super::response::Revisit;
    use super::*;

    /// Bytes that do not get smaller, different for each number.
    fn body(number: u64) -> Vec<u8> {
        let mut state = number + 1;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 56) as u8
        };
        (0..200_000).map(|_| next()).collect()
    }

    fn put(writer: &mut ShardWriter, number: u64) -> Result<()> {
        writer.put(&Response {
            url: &format!("http://a.test/{number}"),
            fetched_at: Timestamp::UNIX_EPOCH,
            ip: None,
            status_line: "HTTP/1.1 200 OK",
            headers: &[],
            body: &body(number),
            truncated: None,
            revisit: Revisit::Detect,
        })
    }

    #[test]
    fn a_full_disk_costs_no_page_once_there_is_room_again() {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = ShardWriter::open(folder.path(), WriterOptions::default()).unwrap();
        put(&mut writer, 0).unwrap();
        writer.commit().unwrap();
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let real = std::mem::replace(&mut writer.shard.file, full);
        let mut number = 1;
        let error = loop {
            match put(&mut writer, number) {
                Ok(_) => number += 1,
                Err(error) => break error,
            }
        };
        assert!(error.may_pass() && number > 3, "{error} at page {number}");
        assert!(put(&mut writer, number).is_err() && writer.commit().is_err() && writer.finish().is_err());
        writer.shard.file = real;
        (number..number + 3).for_each(|number| put(&mut writer, number).unwrap());
        writer.commit().unwrap();
        writer.finish().unwrap();
        let mut reader = super::super::read(folder.path().join("pages-00000.warc.zst")).unwrap();
        let mut urls = Vec::new();
        while let Some(record) = reader.next().unwrap() {
            if record.kind == RecordType::Response {
                urls.push(record.url().unwrap().into_owned());
            }
        }
        let expected: Vec<String> = (0..number + 3).map(|number| format!("http://a.test/{number}")).collect();
        assert_eq!(urls, expected);
    }

    #[test]
    fn what_could_not_be_synced_is_not_tried_again() {
        let error =
            |action| Error::Io { path: PathBuf::from("x"), action, source: std::io::Error::from_raw_os_error(28) };
        assert!(error("write").may_pass() && !error("sync").may_pass());
    }
}
