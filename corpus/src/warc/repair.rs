//! Going on after a stop: the open shard is cut behind its last good record and continued.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Seek, SeekFrom};
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::dictionary;
use super::index::{self, Entry};
use super::position::{ShardPosition, shards};
use super::reader::{Reader, ReaderOptions};
use super::shard::{file_name, sync_folder};
use super::shard_list;
use super::writer::Format;
use crate::error::{Error, Result};

/// What a folder of shards holds.
pub(super) struct State {
    /// The number of the next new shard.
    pub(super) next: u32,
    /// The dictionary in use.
    pub(super) dictionary: Option<Vec<u8>>,
    /// The shard to go on with.
    pub(super) open: Option<Open>,
}

/// An open shard, repaired.
pub(super) struct Open {
    pub(super) number: u32,
    pub(super) file: File,
    pub(super) path: PathBuf,
    pub(super) bytes: u64,
    pub(super) entries: Vec<Entry>,
    pub(super) dictionary: Option<Vec<u8>>,
}

/// A shard's name taken apart.
pub(super) struct Name {
    pub(super) number: u32,
    pub(super) format: Format,
    pub(super) is_open: bool,
}

impl Name {
    pub(super) fn parse(name: &str) -> Option<Name> {
        let (number, extension) = name.strip_prefix("pages-")?.split_once('.')?;
        let (extension, is_open) = extension.strip_suffix(".open").map_or((extension, false), |rest| (rest, true));
        let format = [Format::Zstd, Format::Gzip].into_iter().find(|format| format.extension() == extension)?;
        Some(Name { number: number.parse().ok()?, format, is_open })
    }
}

/// Whether a file of this name is a page shard, its index, or a temporary or set-aside form of one.
pub fn is_shard_name(name: &str) -> bool {
    if ["sealed.tsv", "sealed.tsv.tmp"].contains(&name) {
        return true;
    }
    let Some((number, ending)) = name.strip_prefix("pages-").and_then(|rest| rest.split_once('.')) else {
        return false;
    };
    let is_number = number.len() >= 5 && number.bytes().all(|byte| byte.is_ascii_digit());
    let words = ["cdxj", Format::Zstd.extension(), Format::Gzip.extension()];
    let is_form = |word: &str| ending.strip_prefix(word).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    is_number && words.into_iter().any(is_form)
}

/// Looks through the folder and repairs what was left open. `seen` gets URL, payload digest and date of the pages of the
/// newest shards, the oldest of these first, until there are `max_seen` of them.
pub(super) fn resume(
    folder: &Path,
    format: Format,
    max_seen: usize,
    acknowledged: ShardPosition,
    mut seen: impl FnMut([u8; 32], &str, Timestamp),
) -> Result<State> {
    let names: Vec<Name> = shards(folder)?.into_iter().map(|(name, _)| name).collect();
    let mut state = State { next: names.last().map_or(0, |name| name.number + 1), dictionary: None, open: None };
    let closed = names.iter().filter(|name| !name.is_open);
    load_seen_pages(closed.rev().map(|name| folder.join(file_name(name.number, name.format))), max_seen, &mut seen);
    let last_open = names.iter().rev().find(|name| name.is_open).map(|name| name.number);
    for name in names.iter().filter(|name| name.is_open) {
        let n_acknowledged = if name.number == acknowledged.shard { acknowledged.bytes } else { 0 };
        let Some(open) = repair(folder, name, n_acknowledged, &mut seen)? else {
            state.next = state.next.min(name.number);
            continue;
        };
        if name.format == format && last_open == Some(name.number) && state.next == name.number + 1 {
            state.dictionary.clone_from(&open.dictionary);
            state.open = Some(open);
        } else {
            close(folder, name, open)?;
        }
    }
    if state.dictionary.is_none() {
        let closed = names.iter().rev().find(|name| !name.is_open && name.format == Format::Zstd && name.number > 0);
        if let Some(name) = closed {
            state.dictionary = dictionary::of_file(&folder.join(file_name(name.number, name.format)))?;
        }
    }
    Ok(state)
}

/// Shows the pages of closed shards, which come newest first, by their indexes.
fn load_seen_pages(
    shards: impl Iterator<Item = PathBuf>,
    most: usize,
    seen: &mut impl FnMut([u8; 32], &str, Timestamp),
) {
    let (mut recalled, mut n_pages) = (Vec::new(), 0);
    for shard in shards {
        if n_pages >= most {
            break;
        }
        // Without an index that can be read repeats of its pages are stored again, and nothing is lost.
        recalled.push(index::pages(&shard).unwrap_or_default());
        n_pages += recalled.last().map_or(0, Vec::len);
    }
    let in_order = recalled.iter().rev().flatten();
    in_order.skip(n_pages.saturating_sub(most)).for_each(|(url, digest, date)| seen(*digest, url, *date));
}

/// Cuts an open shard behind its last good record. `None` if there was none and the file was removed. Damage among the
/// bytes that were acknowledged is an error, and the file stays as it is.
fn repair(
    folder: &Path,
    name: &Name,
    n_acknowledged: u64,
    seen: &mut impl FnMut([u8; 32], &str, Timestamp),
) -> Result<Option<Open>> {
    let path = folder.join(format!("{}.open", file_name(name.number, name.format)));
    let mut file = OpenOptions::new().read(true).write(true).open(&path).map_err(Error::io(&path, "open"))?;
    lock(&file, &path)?;
    let Readable { entries, good_end, first_damage, .. } = read_entries(&path, seen)?;
    let damage = first_damage.or((good_end < n_acknowledged).then_some(good_end));
    if let Some(offset) = damage.filter(|offset| *offset < n_acknowledged) {
        return Err(Error::Damaged { path, offset, what: "pages that were stored cannot be read any more" });
    }
    if good_end == 0 {
        drop(file);
        fs::remove_file(&path).map_err(Error::io(&path, "remove"))?;
        return Ok(None);
    }
    let dictionary = if name.format == Format::Zstd { dictionary::of_file(&path)? } else { None };
    file.set_len(good_end).map_err(Error::io(&path, "shorten"))?;
    file.seek(SeekFrom::End(0)).map_err(Error::io(&path, "seek in"))?;
    file.sync_all().map_err(Error::io(&path, "sync"))?;
    Ok(Some(Open { number: name.number, file, path, bytes: good_end, entries, dictionary }))
}

/// What can be read of a shard.
struct Readable {
    entries: Vec<Entry>,
    /// Where the last good record ends.
    good_end: u64,
    n_damaged: u64,
    first_damage: Option<u64>,
}

/// Reads a shard through. `seen` gets URL, payload digest and date of its pages.
fn read_entries(path: &Path, seen: &mut impl FnMut([u8; 32], &str, Timestamp)) -> Result<Readable> {
    let mut entries = Vec::new();
    let mut good_end = 0;
    let mut reader = Reader::open(path, ReaderOptions::default())?;
    while let Some(record) = reader.next()? {
        let entry = Entry::of_record(&record);
        let date = record.date();
        let Some(end) = reader.unit_end() else { continue };
        if let Some(mut entry) = entry {
            entry.set_end(end);
            if let (Some(digest), Some(date)) = (entry.digest, date) {
                seen(digest, &entry.url, date);
            }
            entries.push(entry);
        }
        good_end = end;
    }
    let damage = reader.damage();
    let first_damage = damage.first.first().map(|first| first.offset);
    Ok(Readable { entries, good_end, n_damaged: damage.n_damaged, first_damage })
}

/// Closes a shard that is not gone on with: its format is not that of the writer, or the folder is repaired.
fn close(folder: &Path, name: &Name, open: Open) -> Result<()> {
    let closed = file_name(name.number, name.format);
    index::write(folder, &closed, &open.entries)?;
    let target = folder.join(closed);
    fs::rename(&open.path, &target).map_err(Error::io(&target, "rename to"))?;
    sync_folder(folder)
}

/// What [`repair_shards`] found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Repaired {
    /// Shards that hold pages.
    pub n_shards: u64,
    /// Their pages, repeats and answers of 304 among them.
    pub n_pages: u64,
    /// Damaged places, each of which costs at most its record.
    pub n_damaged: u64,
    /// Files with what was cut off behind the last good record of a shard, or shards without one.
    pub set_aside: Vec<PathBuf>,
}

/// Reads all shards of a folder, closes the open ones, writes their indexes and the list of shards anew. What no record
/// can be read from at the end of a shard is moved to a file beside it, `pages-00003.warc.zst.cut-1`; nothing is
/// deleted.
///
/// # Errors
///
/// If the folder cannot be read or written, or another process writes there.
pub fn repair_shards(folder: &Path) -> Result<Repaired> {
    let mut repaired = Repaired::default();
    for (name, path) in shards(folder)? {
        let file = OpenOptions::new().read(true).write(true).open(&path).map_err(Error::io(&path, "open"))?;
        lock(&file, &path)?;
        let Readable { entries, good_end, n_damaged, .. } = read_entries(&path, &mut |_, _, _| {})?;
        repaired.n_damaged += n_damaged;
        let length = file.metadata().map_err(Error::io(&path, "look at"))?.len();
        if good_end == 0 {
            let aside = free_name(&path);
            fs::rename(&path, &aside).map_err(Error::io(&aside, "rename to"))?;
            repaired.set_aside.push(aside);
            continue;
        }
        if length > good_end {
            repaired.set_aside.push(cut_tail(&path, &file, good_end)?);
        }
        if entries.is_empty() {
            continue;
        }
        repaired.n_shards += 1;
        repaired.n_pages += entries.len() as u64;
        close(folder, &name, Open { number: name.number, file, path, bytes: good_end, entries, dictionary: None })?;
    }
    shard_list::forget(folder)?;
    shard_list::reconcile(folder)?;
    Ok(repaired)
}

/// Moves the bytes of a shard from an offset on to a file beside it.
fn cut_tail(path: &Path, file: &File, from: u64) -> Result<PathBuf> {
    let aside = free_name(path);
    let mut tail = File::open(path).map_err(Error::io(path, "open"))?;
    tail.seek(SeekFrom::Start(from)).map_err(Error::io(path, "seek in"))?;
    let mut copy = File::create_new(&aside).map_err(Error::io(&aside, "create"))?;
    std::io::copy(&mut tail, &mut copy).map_err(Error::io(&aside, "write"))?;
    copy.sync_all().map_err(Error::io(&aside, "sync"))?;
    file.set_len(from).map_err(Error::io(path, "shorten"))?;
    file.sync_all().map_err(Error::io(path, "sync"))?;
    Ok(aside)
}

/// A name that no file has, for what is set aside.
fn free_name(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let candidates = (1..).map(|number: u32| path.with_file_name(format!("{name}.cut-{number}")));
    candidates.into_iter().find(|path| !path.exists()).expect("the numbers do not end")
}

/// Holds an open shard against other processes for as long as the file is open.
pub(super) fn lock(file: &File, path: &Path) -> Result<()> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(Error::Locked { path: path.to_owned() }),
        Err(TryLockError::Error(source)) => Err(Error::io(path, "lock")(source)),
    }
}
