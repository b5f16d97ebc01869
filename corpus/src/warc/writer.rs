//! Shards of pages: appended to, made durable in groups, closed at a size, and never left half.

use std::collections::VecDeque;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use hashbrown::HashMap;
use jiff::Timestamp;

use super::dictionary;
use super::digest;
use super::index::{self, Entry};
use super::pack::Packer;
use super::repair;
use super::response::{Original, Repeat, Response, spell, spell_warcinfo};
use super::rollback::Mark;
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
    /// How many answers are remembered to tell repeats.
    pub remembered: usize,
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
            remembered: 100_000,
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

/// Where a page was put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The number of the shard.
    pub shard: u32,
    /// Where its record begins there.
    pub offset: u64,
    /// True if it repeats an earlier answer and only a `revisit` record was written.
    pub is_revisit: bool,
}

/// Writes answers into the shards of a folder.
///
/// Nothing is promised about a page until [`ShardWriter::commit`] has returned; after that it survives a crash.
pub struct ShardWriter {
    folder: PathBuf,
    options: WriterOptions,
    shard: Shard,
    dictionary: Option<Vec<u8>>,
    seen: Seen,
    record: Vec<u8>,
    scratch: Vec<u8>,
    /// An earlier write failed: what is on disk is not known, so nothing more is written.
    broken: bool,
}

/// The shard that is being written.
struct Shard {
    number: u32,
    file: File,
    path: PathBuf,
    packer: Packer,
    /// Packed records that were not handed to the system.
    pending: Vec<u8>,
    /// Bytes of the file, pending ones included.
    bytes: u64,
    entries: Vec<Entry>,
    /// Something was written since the last sync.
    is_dirty: bool,
}

/// Pending bytes are handed to the system when there are this many.
const PENDING_MAX: usize = 1024 * 1024;

impl ShardWriter {
    /// Opens the folder, which is made if need be. A shard that an earlier run left open is repaired and continued.
    ///
    /// # Errors
    ///
    /// If the folder cannot be written, another process writes there, or a setting is out of range.
    pub fn open(folder: &Path, options: WriterOptions) -> Result<ShardWriter> {
        options.check()?;
        fs::create_dir_all(folder).map_err(Error::io(folder, "create"))?;
        let mut seen = Seen::new(options.remembered);
        let remember = |digest, url: &str, fetched_at| seen.insert(digest, url, fetched_at);
        let state = repair::resume(folder, options.format, options.remembered, remember)?;
        let mut dictionary = state.dictionary;
        if dictionary.is_none() && state.next > 0 && state.open.is_none() {
            dictionary = train(folder, &options)?;
        }
        let shard = match state.open {
            Some(open) => Shard {
                number: open.number,
                packer: Packer::new(options.format, options.level, open.dictionary.as_deref()),
                file: open.file,
                path: open.path,
                pending: Vec::new(),
                bytes: open.bytes,
                entries: open.entries,
                is_dirty: false,
            },
            None => Shard::create(folder, state.next, &options, dictionary.as_deref())?,
        };
        let folder = folder.to_owned();
        Ok(ShardWriter {
            folder,
            options,
            shard,
            dictionary,
            seen,
            record: Vec::new(),
            scratch: Vec::new(),
            broken: false,
        })
    }

    /// Adds an answer. It is durable only after the next [`ShardWriter::commit`].
    ///
    /// # Errors
    ///
    /// If the system cannot write. The writer is then of no more use: open the folder again.
    pub fn put(&mut self, response: &Response<'_>) -> Result<Place> {
        self.guarded(|writer| writer.put_inner(response))
    }

    /// Makes everything that was put durable: one write and one sync for all of it.
    ///
    /// # Errors
    ///
    /// If the system cannot write. Then nothing is promised about what was put since the last commit.
    pub fn commit(&mut self) -> Result<()> {
        self.guarded(|writer| writer.shard.sync())
    }

    /// How far the writer has come: what [`roll_back`](super::roll_back) takes to drop everything put later. Ask for it
    /// after a [`ShardWriter::commit`].
    pub fn mark(&self) -> Mark {
        Mark { shard: self.shard.number, bytes: self.shard.bytes }
    }

    /// Makes everything durable and closes the shard: its index is written and it gets its final name.
    ///
    /// # Errors
    ///
    /// If the system cannot write.
    pub fn finish(mut self) -> Result<()> {
        if self.shard.entries.is_empty() {
            // Nothing but its own description: a shard without a page is no shard.
            drop(self.shard.file);
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
        self.broken = done.is_err();
        done
    }

    fn put_inner(&mut self, response: &Response<'_>) -> Result<Place> {
        if self.shard.bytes >= self.options.shard_bytes && !self.shard.entries.is_empty() {
            self.rotate()?;
        }
        let digest = digest::sha256(&[response.body]);
        let earlier = match response.repeat {
            Repeat::Detect if response.body.len() >= REPEAT_MIN => self.seen.get(&digest),
            _ => None,
        };
        let original = match (response.repeat, earlier) {
            (_, Some((url, date))) => Some(Original::Same { url, date }),
            (Repeat::Of { url, date }, _) => Some(Original::Same { url, date }),
            (Repeat::NotModified { since }, _) => Some(Original::NotModified { since }),
            (Repeat::Detect | Repeat::Never, None) => None,
        };
        let is_revisit = original.is_some();
        self.record.clear();
        let serial = format!("{}/{}/{}", self.shard.number, self.shard.bytes, response.fetched_at.as_nanosecond());
        spell(response, &digest, original, &serial, &mut self.record);
        let offset = self.shard.append(&self.record, &mut self.scratch)?;
        self.shard.entries.push(Entry::of(response, digest, is_revisit, offset, self.shard.bytes - offset));
        if !is_revisit && response.body.len() >= REPEAT_MIN {
            self.seen.insert(digest, response.url, response.fetched_at);
        }
        Ok(Place { shard: self.shard.number, offset, is_revisit })
    }

    fn rotate(&mut self) -> Result<()> {
        self.shard.close(&self.folder, self.options.format)?;
        if self.dictionary.is_none() {
            self.dictionary = train(&self.folder, &self.options)?;
        }
        self.shard = Shard::create(&self.folder, self.shard.number + 1, &self.options, self.dictionary.as_deref())?;
        Ok(())
    }
}

/// Smaller bodies are stored again: a `revisit` record would not be smaller.
const REPEAT_MIN: usize = 512;

/// A dictionary from the first shard of the folder, if the settings want one.
fn train(folder: &Path, options: &WriterOptions) -> Result<Option<Vec<u8>>> {
    match options.dictionary {
        DictionaryUse::Train(size) if options.format == Format::Zstd => {
            dictionary::train(&folder.join(file_name(0, options.format)), size)
        }
        _ => Ok(None),
    }
}

/// The final name of a shard. Names come from counters only.
pub(super) fn file_name(number: u32, format: Format) -> String {
    format!("pages-{number:05}.{}", format.extension())
}

impl Shard {
    fn create(folder: &Path, number: u32, options: &WriterOptions, dictionary: Option<&[u8]>) -> Result<Shard> {
        let name = file_name(number, options.format);
        let path = folder.join(format!("{name}.open"));
        let file = OpenOptions::new().write(true).create_new(true).open(&path).map_err(Error::io(&path, "create"))?;
        repair::lock(&file, &path)?;
        sync_folder(folder)?;
        let mut shard = Shard {
            number,
            file,
            path,
            packer: Packer::new(options.format, options.level, dictionary),
            pending: dictionary.map(dictionary::frames).unwrap_or_default(),
            bytes: 0,
            entries: Vec::new(),
            is_dirty: true,
        };
        shard.bytes = shard.pending.len() as u64;
        let mut fields = vec![
            ("software".to_owned(), concat!("pith/", env!("CARGO_PKG_VERSION")).to_owned()),
            ("format".to_owned(), "WARC File Format 1.1".to_owned()),
            (
                "conformsTo".to_owned(),
                "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/".to_owned(),
            ),
        ];
        fields.extend(options.info.iter().cloned());
        let mut record = Vec::new();
        spell_warcinfo(&name, Timestamp::now(), &fields, &mut record);
        shard.append(&record, &mut Vec::new())?;
        Ok(shard)
    }

    /// Packs a record and gives its offset.
    fn append(&mut self, record: &[u8], scratch: &mut Vec<u8>) -> Result<u64> {
        let (offset, before) = (self.bytes, self.pending.len());
        self.packer.pack(record, scratch, &mut self.pending);
        self.bytes += (self.pending.len() - before) as u64;
        self.is_dirty = true;
        if self.pending.len() >= PENDING_MAX {
            self.flush()?;
        }
        Ok(offset)
    }

    fn flush(&mut self) -> Result<()> {
        self.file.write_all(&self.pending).map_err(Error::io(&self.path, "write"))?;
        self.pending.clear();
        Ok(())
    }

    fn sync(&mut self) -> Result<()> {
        if !self.is_dirty {
            return Ok(());
        }
        self.flush()?;
        self.file.sync_data().map_err(Error::io(&self.path, "sync"))?;
        self.is_dirty = false;
        Ok(())
    }

    fn close(&mut self, folder: &Path, format: Format) -> Result<()> {
        self.sync()?;
        let name = file_name(self.number, format);
        index::write(folder, &name, std::mem::take(&mut self.entries))?;
        let target = folder.join(&name);
        fs::rename(&self.path, &target).map_err(Error::io(&target, "rename to"))?;
        sync_folder(folder)
    }
}

/// Makes new names in a folder durable.
pub(super) fn sync_folder(folder: &Path) -> Result<()> {
    File::open(folder).and_then(|file| file.sync_all()).map_err(Error::io(folder, "sync"))
}

/// The payload digests of recent answers, oldest forgotten first.
struct Seen {
    limit: usize,
    by_digest: HashMap<[u8; 32], (Box<str>, Timestamp)>,
    order: VecDeque<[u8; 32]>,
}

impl Seen {
    fn new(limit: usize) -> Seen {
        Seen { limit, by_digest: HashMap::new(), order: VecDeque::new() }
    }

    fn get(&self, digest: &[u8; 32]) -> Option<(&str, Timestamp)> {
        self.by_digest.get(digest).map(|(url, date)| (&**url, *date))
    }

    fn insert(&mut self, digest: [u8; 32], url: &str, date: Timestamp) {
        if self.limit == 0 || self.by_digest.contains_key(&digest) {
            return;
        }
        if self.order.len() == self.limit
            && let Some(oldest) = self.order.pop_front()
        {
            self.by_digest.remove(&oldest);
        }
        self.by_digest.insert(digest, (url.into(), date));
        self.order.push_back(digest);
    }
}
