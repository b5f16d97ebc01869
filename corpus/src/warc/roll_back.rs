//! Taking back what was stored and never acknowledged: another machine stores it.

use std::fs::{self, OpenOptions};
use std::path::Path;

use super::position::{ShardPosition, shards};
use super::shard::sync_folder;
use crate::error::{Error, Result};

/// Cuts open shards of a folder behind a position, and removes those that begin behind it; gives the bytes that were
/// taken back. Shards that are closed stay as they are. The folder must not be written to.
///
/// # Errors
///
/// If the folder cannot be listed or a shard cannot be cut.
pub fn roll_back(folder: &Path, position: ShardPosition) -> Result<u64> {
    let mut n_bytes = 0;
    for (name, path) in shards(folder)?.into_iter().filter(|(name, _)| name.is_open && name.number >= position.shard) {
        let length = fs::metadata(&path).map_err(Error::io(&path, "read"))?.len();
        let kept = if name.number == position.shard { position.bytes } else { 0 };
        if length <= kept {
            continue;
        }
        n_bytes += length - kept;
        if kept == 0 {
            fs::remove_file(&path).map_err(Error::io(&path, "remove"))?;
            sync_folder(folder)?;
            continue;
        }
        let file = OpenOptions::new().write(true).open(&path).map_err(Error::io(&path, "open"))?;
        file.set_len(kept).and_then(|()| file.sync_all()).map_err(Error::io(&path, "cut"))?;
    }
    Ok(n_bytes)
}

#[cfg(test)]
mod tests {
    use super::super::{Response, Revisit, ShardWriter, WriterOptions, pages_after};
    use super::*;

    #[test]
    fn pages_behind_the_position_are_gone_and_the_writer_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let put = |writer: &mut ShardWriter, number: u32| {
            let response = Response {
                url: &format!("http://a.test/{number}"),
                fetched_at: "2026-01-01T00:00:00Z".parse().unwrap(),
                ip: None,
                status_line: "HTTP/1.1 200 OK",
                headers: &[("Content-Type", b"text/html")],
                body: format!("page {number}").as_bytes(),
                truncated: None,
                revisit: Revisit::Detect,
                preferences: None,
            };
            writer.put(&response).unwrap();
            writer.commit().unwrap();
            writer.position()
        };
        let mut writer = ShardWriter::open(folder.path(), WriterOptions::default()).unwrap();
        let acknowledged = put(&mut writer, 1);
        put(&mut writer, 2);
        drop(writer);
        assert!(roll_back(folder.path(), acknowledged).unwrap() > 0);
        assert_eq!(roll_back(folder.path(), acknowledged).unwrap(), 0);
        let mut writer = ShardWriter::resume(folder.path(), WriterOptions::default(), acknowledged).unwrap();
        put(&mut writer, 3);
        writer.finish().unwrap();
        let pages = pages_after(folder.path(), ShardPosition::default()).unwrap();
        let urls: Vec<String> = pages.map(|page| page.unwrap().0.url).collect();
        assert_eq!(urls, ["http://a.test/1", "http://a.test/3"]);
    }
}
