//! Going on after a stop: the open shard is cut behind its last good record and continued.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Seek, SeekFrom};
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::dictionary;
use super::index::{self, Entry};
use super::reader::{Reader, ReaderOptions};
use super::writer::{Format, file_name, sync_folder};
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

/// Looks through the folder and repairs what was left open. `seen` gets URL, payload digest and date of the pages of the
/// newest shards, the oldest of these first, until there are `remembered` of them.
pub(super) fn resume(
    folder: &Path,
    format: Format,
    remembered: usize,
    mut seen: impl FnMut([u8; 32], &str, Timestamp),
) -> Result<State> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(Error::io(folder, "list"))? {
        let entry = entry.map_err(Error::io(folder, "list"))?;
        names.extend(entry.file_name().to_str().and_then(Name::parse));
    }
    names.sort_by_key(|name| name.number);
    let mut state = State { next: names.last().map_or(0, |name| name.number + 1), dictionary: None, open: None };
    let closed = names.iter().filter(|name| !name.is_open);
    recall(closed.rev().map(|name| folder.join(file_name(name.number, name.format))), remembered, &mut seen);
    let last_open = names.iter().rev().find(|name| name.is_open).map(|name| name.number);
    for name in names.iter().filter(|name| name.is_open) {
        let Some(open) = repair(folder, name, &mut seen)? else {
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
fn recall(shards: impl Iterator<Item = PathBuf>, most: usize, seen: &mut impl FnMut([u8; 32], &str, Timestamp)) {
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

/// Cuts an open shard behind its last good record. `None` if there was none and the file was removed.
fn repair(folder: &Path, name: &Name, seen: &mut impl FnMut([u8; 32], &str, Timestamp)) -> Result<Option<Open>> {
    let path = folder.join(format!("{}.open", file_name(name.number, name.format)));
    let mut file = OpenOptions::new().read(true).write(true).open(&path).map_err(Error::io(&path, "open"))?;
    lock(&file, &path)?;
    let mut entries = Vec::new();
    let mut good_end = 0;
    let mut reader = Reader::open(&path, ReaderOptions::default())?;
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

/// Closes a shard that is not gone on with, because the format has changed since.
fn close(folder: &Path, name: &Name, open: Open) -> Result<()> {
    let closed = file_name(name.number, name.format);
    index::write(folder, &closed, open.entries)?;
    let target = folder.join(closed);
    fs::rename(&open.path, &target).map_err(Error::io(&target, "rename to"))?;
    sync_folder(folder)
}

/// Holds an open shard against other processes for as long as the file is open.
pub(super) fn lock(file: &File, path: &Path) -> Result<()> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(Error::Locked { path: path.to_owned() }),
        Err(TryLockError::Error(source)) => Err(Error::io(path, "lock")(source)),
    }
}
