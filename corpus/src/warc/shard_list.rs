//! The list of closed shards, `sealed.tsv` beside them: name, bytes and pages of each, one line a shard.
//!
//! With it a shard that was deleted or cut is noticed when the folder is opened, without reading the others.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use super::index;
use super::position::{ShardPosition, shards};
use super::shard::{file_name, sync_folder};
use crate::error::{Error, Result};

const FILE_NAME: &str = "sealed.tsv";

/// A shard that is not what it was when its pages were acknowledged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostShard {
    /// The shard.
    pub path: PathBuf,
    /// What is left of it in bytes; `None` when it is missing.
    pub bytes_left: Option<u64>,
    /// The bytes that it had, or that were acknowledged of it; 0 where nobody knows.
    pub bytes: u64,
    /// The pages that it had, where its index or the list says so.
    pub pages: Option<u64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sealed {
    bytes: u64,
    pages: u64,
}

/// Compares the shards of a folder with the list of closed ones and with the position up to which its pages were
/// acknowledged; gives those that are missing or shorter.
///
/// # Errors
///
/// If the folder or the list cannot be read.
pub fn lost_shards(folder: &Path, acknowledged: ShardPosition) -> Result<Vec<LostShard>> {
    let mut lengths: BTreeMap<String, u64> = BTreeMap::new();
    let mut numbers = BTreeMap::new();
    for (name, path) in shards(folder)? {
        let length = fs::metadata(&path).map_err(Error::io(&path, "look at"))?.len();
        lengths.insert(file_name(name.number, name.format), length);
        numbers.insert(name.number, (path, length));
    }
    let mut lost = Vec::new();
    let list = read(folder)?;
    for (name, sealed) in list.iter().flatten() {
        let path = folder.join(name);
        let bytes_left = lengths.get(name).copied();
        if bytes_left.is_some_and(|left| left >= sealed.bytes || index::end(&path).is_some_and(|end| end == left)) {
            continue;
        }
        lost.push(LostShard { bytes_left, bytes: sealed.bytes, pages: Some(sealed.pages), path });
    }
    // A crawl of an earlier version has no list, but its shards are numbered without gaps.
    let first = if list.is_some() { acknowledged.shard } else { 0 };
    for number in first..=acknowledged.shard {
        let bytes = if number == acknowledged.shard { acknowledged.bytes } else { 0 };
        let is_same = |path: &Path| path.to_str().is_some_and(|path| path.contains(&format!("pages-{number:05}.")));
        match numbers.get(&number) {
            Some((path, length)) if *length < bytes && !lost.iter().any(|one| is_same(&one.path)) => {
                let pages = index::n_pages(path);
                lost.push(LostShard { path: path.clone(), bytes_left: Some(*length), bytes, pages });
            }
            None if (bytes > 0 || number < acknowledged.shard) && !lost.iter().any(|one| is_same(&one.path)) => {
                let path = folder.join(file_name(number, super::Format::Zstd));
                lost.push(LostShard { bytes_left: None, bytes, pages: index::n_pages(&path), path });
            }
            _ => {}
        }
    }
    Ok(lost)
}

/// Adds a shard that was closed.
pub(super) fn add(folder: &Path, name: &str, bytes: u64, pages: u64) -> Result<()> {
    let path = folder.join(FILE_NAME);
    let file = OpenOptions::new().append(true).create(true).open(&path);
    let mut file = file.map_err(Error::io(&path, "open"))?;
    let before = file.metadata().map_err(Error::io(&path, "look at"))?.len();
    let written = file.write_all(format!("{name}\t{bytes}\t{pages}\n").as_bytes());
    if written.is_err() {
        // Half a line would spoil the next one.
        let _ = file.set_len(before);
    }
    written.map_err(Error::io(&path, "write"))?;
    file.sync_all().map_err(Error::io(&path, "sync"))
}

/// Writes the list anew if it does not name the closed shards of the folder and no others: a crash can come between
/// closing a shard and adding it, and earlier versions wrote no list.
pub(super) fn reconcile(folder: &Path) -> Result<()> {
    let listed = read(folder)?.unwrap_or_default();
    let mut list = BTreeMap::new();
    for (name, path) in shards(folder)?.iter().filter(|(name, _)| !name.is_open) {
        let name = file_name(name.number, name.format);
        let sealed = match listed.get(&name) {
            Some(sealed) => *sealed,
            None => {
                let bytes = fs::metadata(path).map_err(Error::io(path, "look at"))?.len();
                Sealed { bytes, pages: index::n_pages(path).unwrap_or(0) }
            }
        };
        list.insert(name, sealed);
    }
    if list == listed { Ok(()) } else { write(folder, &list) }
}

/// Forgets what the list says, so that it is made anew from the shards as they are.
pub(super) fn forget(folder: &Path) -> Result<()> {
    let path = folder.join(FILE_NAME);
    match fs::remove_file(&path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::io(&path, "remove")(error)),
        _ => Ok(()),
    }
}

fn write(folder: &Path, list: &BTreeMap<String, Sealed>) -> Result<()> {
    let lines: String = list.iter().map(|(name, one)| format!("{name}\t{}\t{}\n", one.bytes, one.pages)).collect();
    let (path, temporary) = (folder.join(FILE_NAME), folder.join("sealed.tsv.tmp"));
    let mut file = fs::File::create(&temporary).map_err(Error::io(&temporary, "create"))?;
    file.write_all(lines.as_bytes()).map_err(Error::io(&temporary, "write"))?;
    file.sync_all().map_err(Error::io(&temporary, "sync"))?;
    fs::rename(&temporary, &path).map_err(Error::io(&path, "rename to"))?;
    sync_folder(folder)
}

/// The list; `None` when there is none. Lines that make no sense are passed over.
fn read(folder: &Path) -> Result<Option<BTreeMap<String, Sealed>>> {
    let path = folder.join(FILE_NAME);
    let text = match fs::read(&path) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::io(&path, "read")(error)),
    };
    let line = |line: &str| {
        let mut fields = line.split('\t');
        let name = fields.next().filter(|name| super::repair::Name::parse(name).is_some_and(|name| !name.is_open))?;
        let sealed = Sealed { bytes: fields.next()?.parse().ok()?, pages: fields.next()?.parse().ok()? };
        Some((name.to_owned(), sealed))
    };
    Ok(Some(text.lines().filter_map(line).collect()))
}

#[cfg(test)]
mod tests {
    use super::super::{Response, Revisit, ShardWriter, WriterOptions};
    use super::*;

    /// Three closed shards or more, and the position behind their last page.
    fn made() -> (tempfile::TempDir, ShardPosition) {
        let folder = tempfile::tempdir().unwrap();
        let options = WriterOptions { shard_bytes: 900, ..WriterOptions::default() };
        let mut writer = ShardWriter::open(folder.path(), options).unwrap();
        for number in 0..30 {
            let (url, body) = (format!("http://a.test/{number}"), format!("page {number} ").repeat(100));
            let response = Response {
                url: &url,
                fetched_at: "2026-01-01T00:00:00Z".parse().unwrap(),
                ip: None,
                status_line: "HTTP/1.1 200 OK",
                headers: &[],
                body: body.as_bytes(),
                truncated: None,
                revisit: Revisit::Detect,
                preferences: None,
            };
            writer.put(&response).unwrap();
        }
        writer.commit().unwrap();
        let position = writer.position();
        assert!(position.shard >= 3, "{position:?}");
        writer.finish().unwrap();
        (folder, position)
    }

    #[test]
    fn a_missing_or_shortened_shard_is_named_with_its_pages() {
        for with_list in [true, false] {
            let (folder, position) = made();
            if !with_list {
                forget(folder.path()).unwrap();
            }
            assert_eq!(lost_shards(folder.path(), position).unwrap(), []);
            let shard = folder.path().join("pages-00001.warc.zst");
            let bytes = fs::read(&shard).unwrap();
            fs::remove_file(&shard).unwrap();
            let lost = lost_shards(folder.path(), position).unwrap();
            assert_eq!((lost.len(), &lost[0].path, lost[0].bytes_left), (1, &shard, None));
            assert!(lost[0].pages.is_some_and(|pages| pages > 1), "{lost:?}");
            if with_list {
                fs::write(&shard, &bytes[..bytes.len() - 1]).unwrap();
                let lost = lost_shards(folder.path(), position).unwrap();
                assert_eq!((lost.len(), lost[0].bytes), (1, bytes.len() as u64));
            }
        }
    }

    #[test]
    fn the_shard_of_the_position_must_be_there_and_as_long() {
        let (folder, position) = made();
        let further = ShardPosition { bytes: position.bytes + 1, ..position };
        assert_eq!(lost_shards(folder.path(), further).unwrap().len(), 1);
        fs::remove_file(folder.path().join(format!("pages-{:05}.warc.zst", position.shard))).unwrap();
        assert_eq!(lost_shards(folder.path(), position).unwrap().len(), 1);
        let empty = tempfile::tempdir().unwrap();
        assert_eq!(lost_shards(empty.path(), position).unwrap().len(), position.shard as usize + 1);
        assert_eq!(lost_shards(empty.path(), ShardPosition::default()).unwrap(), []);
    }

    #[test]
    fn a_list_that_lags_behind_is_made_anew() {
        let (folder, position) = made();
        let path = folder.path().join(FILE_NAME);
        let whole = fs::read(&path).unwrap();
        for text in ["", "pages-00000.warc.zst\t1\t1\nnonsense\n", "pages-00099.warc.zst\t77\t1\n"] {
            fs::write(&path, text).unwrap();
            reconcile(folder.path()).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), position.shard as usize + 1);
        }
        forget(folder.path()).unwrap();
        reconcile(folder.path()).unwrap();
        assert_eq!(fs::read(&path).unwrap(), whole);
    }
}
