//! Going back to a mark: shards as they were when the pages behind it were not yet promised to anybody.

use std::fs::{self, OpenOptions};
use std::path::Path;

use super::repair::Name;
use super::writer::{file_name, sync_folder};
use crate::error::{Error, Result};

/// How far a writer has come: a shard and its length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// The number of the shard.
    pub shard: u32,
    /// Its bytes.
    pub bytes: u64,
}

impl Mark {
    /// The mark as bytes, for whoever keeps it.
    pub fn to_bytes(self) -> Vec<u8> {
        [&self.shard.to_le_bytes()[..], &self.bytes.to_le_bytes()].concat()
    }

    /// The mark that [`Mark::to_bytes`] spelled; the very beginning when there is none.
    pub fn from_bytes(bytes: &[u8]) -> Mark {
        let shard = bytes.get(..4).and_then(|shard| shard.try_into().ok()).map_or(0, u32::from_le_bytes);
        let length = bytes.get(4..12).and_then(|length| length.try_into().ok()).map_or(0, u64::from_le_bytes);
        Mark { shard, bytes: length }
    }
}

/// Drops every page that was put behind a mark, before the folder is opened for writing. A crash can come between a
/// commit and the moment at which its caller remembers it; without this step those pages would be stored twice.
///
/// # Errors
///
/// If a file cannot be cut, renamed or removed.
pub fn roll_back(folder: &Path, mark: Mark) -> Result<()> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(()) };
    for entry in entries {
        let entry = entry.map_err(Error::io(folder, "list"))?;
        let path = entry.path();
        let Some(name) = entry.file_name().to_str().and_then(Name::parse) else { continue };
        let length = entry.metadata().map_err(Error::io(&path, "look at"))?.len();
        if name.number < mark.shard || (name.number == mark.shard && length <= mark.bytes) {
            continue;
        }
        let closed = folder.join(file_name(name.number, name.format));
        let _ = fs::remove_file(super::index::path_of(&closed));
        if name.number > mark.shard || mark.bytes == 0 {
            fs::remove_file(&path).map_err(Error::io(&path, "remove"))?;
            continue;
        }
        let file = OpenOptions::new().write(true).open(&path).map_err(Error::io(&path, "open"))?;
        file.set_len(mark.bytes).map_err(Error::io(&path, "shorten"))?;
        file.sync_all().map_err(Error::io(&path, "sync"))?;
        if !name.is_open {
            let open = folder.join(format!("{}.open", file_name(name.number, name.format)));
            fs::rename(&path, &open).map_err(Error::io(&open, "rename to"))?;
        }
    }
    sync_folder(folder)
}

#[cfg(test)]
mod tests {
    use super::super::{Repeat, Response, ShardWriter, WriterOptions, read};
    use super::*;

    fn put(writer: &mut ShardWriter, number: u32) {
        let (url, body) = (format!("http://a.test/{number}"), format!("page {number} ").repeat(100));
        writer
            .put(&Response {
                url: &url,
                fetched_at: "2026-01-01T00:00:00Z".parse().unwrap(),
                ip: None,
                status_line: "HTTP/1.1 200 OK",
                headers: &[],
                body: body.as_bytes(),
                truncated: None,
                repeat: Repeat::Detect,
            })
            .unwrap();
    }

    fn stored(folder: &Path) -> Vec<String> {
        let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let mut shards: Vec<_> = names.filter(|path| path.extension().is_some_and(|end| end == "zst")).collect();
        shards.sort();
        let mut urls = Vec::new();
        for shard in shards {
            let mut reader = read(shard).unwrap();
            urls.extend(reader.pages().map(|page| page.unwrap().url));
        }
        urls
    }

    #[test]
    fn pages_behind_the_mark_are_gone_and_those_before_it_stay() {
        for committed in [0, 1, 7, 20] {
            let folder = tempfile::tempdir().unwrap();
            // Shards so small that several are closed behind every mark.
            let options = WriterOptions { shard_bytes: 900, ..WriterOptions::default() };
            let mut writer = ShardWriter::open(folder.path(), options.clone()).unwrap();
            (0..committed).for_each(|number| put(&mut writer, number));
            writer.commit().unwrap();
            let mark = if committed == 0 { Mark::default() } else { Mark::from_bytes(&writer.mark().to_bytes()) };
            (100..120).for_each(|number| put(&mut writer, number));
            writer.commit().unwrap();
            drop(writer);
            roll_back(folder.path(), mark).unwrap();
            let mut writer = ShardWriter::open(folder.path(), options).unwrap();
            put(&mut writer, 999);
            writer.finish().unwrap();
            let expected: Vec<String> =
                (0..committed).chain([999]).map(|number| format!("http://a.test/{number}")).collect();
            assert_eq!(stored(folder.path()), expected);
        }
    }
}
