//! Folders of versions that wrote no marker, recognised by their contents.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::Path;

use serde_json::Value;

use super::FolderKind;
use crate::manifest::{MANIFEST_NAME, Manifest};
use crate::{Error, warc};

/// What an earlier version made in a folder; `None` if the folder is none of its.
pub(super) fn files(folder: &Path, kind: FolderKind) -> Result<Option<BTreeSet<String>>, Error> {
    match kind {
        FolderKind::Crawl => Ok(crawl_files(folder)),
        FolderKind::Documents => document_files(folder),
        FolderKind::Evaluation => Ok(None),
    }
}

/// A crawl has page shards of our names, or a frontier that begins like ours.
fn crawl_files(folder: &Path) -> Option<BTreeSet<String>> {
    let is_folder = |name: &str| fs::symlink_metadata(folder.join(name)).is_ok_and(|data| data.is_dir());
    let has_shard = || {
        let entries = fs::read_dir(folder.join("pages")).into_iter().flatten().flatten();
        entries.into_iter().any(|entry| entry.file_name().to_str().is_some_and(warc::is_shard_name))
    };
    let has_pages = is_folder("pages") && has_shard();
    let has_frontier = is_folder("frontier") && is_frontier(&folder.join("frontier"), has_pages);
    if !has_pages && !has_frontier {
        return None;
    }
    let mut files = BTreeSet::new();
    // A frontier without pages has an empty folder of pages beside it, and pages may have lost their frontier.
    for (name, other) in [("pages", has_frontier), ("frontier", has_pages)] {
        let is_empty = || fs::read_dir(folder.join(name)).is_ok_and(|mut entries| entries.next().is_none());
        let has_own = if name == "pages" { has_pages } else { has_frontier };
        if is_folder(name) && (has_own || (other && is_empty())) {
            files.insert(format!("{name}/"));
        }
    }
    if files.contains("frontier/") {
        files.insert("frontier/contents/".to_owned());
    }
    let is_log =
        |name: &str| is_folder(name) && crate::log::log_files(&folder.join(name)).is_ok_and(|files| !files.is_empty());
    if is_log("log") {
        files.insert("log/".to_owned());
    }
    let fields = [
        ("report.json", ["pages", "outcomes"]),
        ("topic.json", ["harvest_rate", "terms"]),
        ("reach.json", ["scope", "follow"]),
    ];
    for (name, keys) in fields {
        let json = fs::read(folder.join(name)).ok().and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
        if json.is_some_and(|json| keys.iter().all(|key| json.get(key).is_some())) {
            files.insert(name.to_owned());
        }
    }
    Some(files)
}

/// The journal and the checkpoint of a frontier begin with a word of ours; beside our pages even a damaged one is known.
fn is_frontier(folder: &Path, has_pages: bool) -> bool {
    let is_file = |name: &str| fs::symlink_metadata(folder.join(name)).is_ok_and(|data| data.is_file());
    let begins_like_ours = |name: &str| {
        let mut start = [0; 6];
        let opened = fs::File::open(folder.join(name));
        is_file(name)
            && opened.and_then(|mut file| file.read_exact(&mut start)).is_ok()
            && FRONTIER_WORDS.contains(&&start)
    };
    begins_like_ours("journal") || begins_like_ours("checkpoint") || (has_pages && is_file("queues"))
}

/// What the journal and the checkpoint of a frontier begin with, before the number of their version.
const FRONTIER_WORDS: [&[u8; 6]; 2] = [b"pithfr", b"pithck"];

/// Documents have our manifest, and it names files of ours.
fn document_files(folder: &Path) -> Result<Option<BTreeSet<String>>, Error> {
    let path = folder.join(MANIFEST_NAME);
    if !fs::symlink_metadata(&path).is_ok_and(|data| data.is_file()) {
        return Ok(None);
    }
    let Ok(Some(manifest)) = Manifest::read(folder) else {
        // A manifest with names that lead elsewhere is worth its own message.
        return match Manifest::read(folder) {
            Err(error @ Error::Name { .. }) => Err(error),
            _ => Ok(None),
        };
    };
    let mut files = BTreeSet::from([MANIFEST_NAME.to_owned()]);
    for shard in &manifest.shards {
        if !is_output_name(&shard.name) {
            return Err(Error::Name { path, name: shard.name.clone() });
        }
        files.insert(shard.name.clone());
    }
    let has = |name: &str| fs::symlink_metadata(folder.join(name)).is_ok_and(|data| data.is_file());
    match manifest.step.settings.get("step").and_then(Value::as_str) {
        Some("export") if manifest.complete && has("README.md") => drop(files.insert("README.md".to_owned())),
        Some("dedup") => {
            files.extend(["report/clusters.jsonl", ".work/"].map(str::to_owned));
        }
        Some("split") => {
            let parts: BTreeSet<&str> =
                manifest.shards.iter().filter_map(|shard| Some(shard.name.split_once('/')?.0)).collect();
            files.extend(parts.iter().map(|part| format!("{part}/{MANIFEST_NAME}")));
        }
        _ => {}
    }
    Ok(Some(files))
}

/// The names that steps give to what they write: a word, five digits or more, and an ending.
fn is_output_name(name: &str) -> bool {
    let file = name.rsplit('/').next().unwrap_or_default();
    let endings = [".jsonl.zst", ".parquet", ".warc.wet.gz"];
    let stem = endings.iter().find_map(|ending| file.strip_suffix(ending));
    stem.and_then(|stem| stem.rsplit_once('-')).is_some_and(|(word, digits)| {
        !word.is_empty() && digits.len() >= 5 && digits.bytes().all(|byte| byte.is_ascii_digit())
    })
}
