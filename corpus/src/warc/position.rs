//! How far a writer of shards has come, and the pages behind such a position.

use std::collections::{HashMap, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};
use std::vec;

use super::page::{Page, PageKind};
use super::reader::{Reader, ReaderOptions};
use super::repair::Name;
use crate::error::{Error, Result};

/// Bodies whose place is remembered.
const MAX_BODIES: usize = 100_000;

/// How far a writer has come: a shard and its length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ShardPosition {
    /// The number of the shard.
    pub shard: u32,
    /// Its bytes.
    pub bytes: u64,
}

impl ShardPosition {
    /// The position as bytes, for whoever keeps it.
    pub fn to_bytes(self) -> Vec<u8> {
        [&self.shard.to_le_bytes()[..], &self.bytes.to_le_bytes()].concat()
    }

    /// The position that [`ShardPosition::to_bytes`] encoded; the very beginning when there is none.
    pub fn from_bytes(bytes: &[u8]) -> ShardPosition {
        let shard = bytes.get(..4).and_then(|shard| shard.try_into().ok()).map_or(0, u32::from_le_bytes);
        let length = bytes.get(4..12).and_then(|length| length.try_into().ok()).map_or(0, u64::from_le_bytes);
        ShardPosition { shard, bytes: length }
    }
}

/// The pages of a folder of shards behind a position, in the order in which they were put, each with the position
/// behind it. A crash can come between a commit and the moment at which its caller remembers it: the caller finds here
/// what is stored all the same. Damaged records are stepped over. A repeat of a page that stands behind the position as
/// well comes with the body of that page.
///
/// # Errors
///
/// If the folder cannot be listed.
pub fn pages_after(folder: &Path, position: ShardPosition) -> Result<PagesAfter> {
    let shards = shards(folder)?.into_iter().filter(|(name, _)| name.number >= position.shard);
    let shards: Vec<(Name, PathBuf)> = shards.collect();
    let bodies = Bodies::default();
    Ok(PagesAfter { shards: shards.into_iter(), reader: None, position, n_damaged: 0, bodies })
}

/// See [`pages_after`].
pub struct PagesAfter {
    shards: vec::IntoIter<(Name, PathBuf)>,
    reader: Option<Reader>,
    position: ShardPosition,
    n_damaged: u64,
    bodies: Bodies,
}

/// Where bodies are stored, by their digests, the oldest forgotten first: as many as a writer looks for repeats of.
#[derive(Default)]
struct Bodies {
    by_digest: HashMap<String, (PathBuf, u64)>,
    order: VecDeque<String>,
}

impl Bodies {
    fn insert(&mut self, digest: String, path: &Path, offset: u64) {
        if self.order.len() >= MAX_BODIES
            && let Some(oldest) = self.order.pop_front()
        {
            self.by_digest.remove(&oldest);
        }
        if self.by_digest.insert(digest.clone(), (path.to_owned(), offset)).is_none() {
            self.order.push_back(digest);
        }
    }

    /// The body with a digest, if it is known where it is.
    fn get(&self, digest: &str) -> Option<Vec<u8>> {
        let (path, offset) = self.by_digest.get(digest)?;
        let mut reader = Reader::open_part(path, *offset..u64::MAX, ReaderOptions::default()).ok()?;
        let page = reader.next_page().ok()??;
        (page.offset == *offset && page.digest.as_deref() == Some(digest)).then_some(page.body)
    }
}

impl PagesAfter {
    /// True if there is no shard, closed or open, that could hold any.
    pub fn is_empty(&self) -> bool {
        self.shards.as_slice().is_empty() && self.reader.is_none()
    }

    /// Damaged places so far.
    pub fn n_damaged(&self) -> u64 {
        self.n_damaged + self.reader.as_ref().map_or(0, |reader| reader.damage().n_damaged)
    }

    fn next_page(&mut self) -> Result<Option<(Page, ShardPosition)>> {
        loop {
            let Some(reader) = &mut self.reader else {
                let Some((name, path)) = self.shards.next() else { return Ok(None) };
                let start = if name.number == self.position.shard { self.position.bytes } else { 0 };
                self.position = ShardPosition { shard: name.number, bytes: start };
                let range = if start == 0 { 0..u64::MAX } else { start..u64::MAX };
                self.reader = Some(Reader::open_part(&path, range, ReaderOptions::default())?);
                continue;
            };
            if let Some(mut page) = reader.next_page()? {
                self.position.bytes = reader.unit_end().unwrap_or(self.position.bytes);
                match (page.kind, &page.digest) {
                    (PageKind::Response, Some(digest)) => {
                        self.bodies.insert(digest.clone(), reader.path(), page.offset);
                    }
                    (PageKind::Revisit, Some(digest)) if page.status != Some(304) => {
                        page.body = self.bodies.get(digest).unwrap_or_default();
                    }
                    _ => {}
                }
                return Ok(Some((page, self.position)));
            }
            self.n_damaged += reader.damage().n_damaged;
            self.reader = None;
        }
    }
}

impl Iterator for PagesAfter {
    type Item = Result<(Page, ShardPosition)>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_page().transpose()
    }
}

/// The shards of a folder, closed or open, by number. A folder that is not there has none.
pub(super) fn shards(folder: &Path) -> Result<Vec<(Name, PathBuf)>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::io(folder, "list")(error)),
    };
    let mut shards = Vec::new();
    for entry in entries {
        let entry = entry.map_err(Error::io(folder, "list"))?;
        if let Some(name) = entry.file_name().to_str().and_then(Name::parse) {
            shards.push((name, entry.path()));
        }
    }
    shards.sort_by_key(|(name, _)| (name.number, name.is_open));
    Ok(shards)
}

#[cfg(test)]
mod tests {
    use super::super::{Response, Revisit, ShardWriter, WriterOptions};
    use super::*;

    fn put(writer: &mut ShardWriter, number: u32) {
        // Every tenth page repeats the one before it.
        let text = if number % 10 == 9 { number - 1 } else { number };
        let (url, body) = (format!("http://a.test/{number}"), format!("page {text} ").repeat(100));
        writer
            .put(&Response {
                url: &url,
                fetched_at: "2026-01-01T00:00:00Z".parse().unwrap(),
                ip: None,
                status_line: "HTTP/1.1 200 OK",
                headers: &[],
                body: body.as_bytes(),
                truncated: None,
                revisit: Revisit::Detect,
                preferences: None,
            })
            .unwrap();
    }

    #[test]
    fn pages_behind_any_position_are_found_each_with_its_own_position() {
        // Shards so small that several are closed, with a dictionary from the second on.
        let options = WriterOptions { shard_bytes: 900, ..WriterOptions::default() };
        let folder = tempfile::tempdir().unwrap();
        let mut writer = ShardWriter::open(folder.path(), options).unwrap();
        (0..40).for_each(|number| put(&mut writer, number));
        writer.commit().unwrap();
        drop(writer);
        let all: Vec<(Page, ShardPosition)> =
            pages_after(folder.path(), ShardPosition::default()).unwrap().map(Result::unwrap).collect();
        let urls: Vec<String> = (0..40).map(|number| format!("http://a.test/{number}")).collect();
        assert_eq!(all.iter().map(|(page, _)| page.url.clone()).collect::<Vec<_>>(), urls);
        assert!(all.is_sorted_by_key(|(_, position)| *position));
        assert!(all.iter().all(|(page, _)| page.body.len() > 500), "repeats have a body, too");
        for (index, (_, position)) in all.iter().enumerate() {
            let position = ShardPosition::from_bytes(&position.to_bytes());
            let rest: Vec<String> =
                pages_after(folder.path(), position).unwrap().map(|page| page.unwrap().0.url).collect();
            assert_eq!(rest, urls[index + 1..], "behind page {index}");
        }
        assert_eq!(pages_after(&folder.path().join("none"), ShardPosition::default()).unwrap().count(), 0);
    }
}
