//! Any bytes as the manifest and the marker of a folder: opened or refused, without a panic, and nothing outside the
//! folder is touched. The first byte tells whether the marker is our own; a NUL ends the marker.

#![no_main]

use std::fs;

use libfuzzer_sys::fuzz_target;
use pith_corpus::folder::{FolderKind, MARKER_NAME, OwnedFolder};
use pith_corpus::manifest::{Counts, ExistingOutput, Manifest, Output, Step};

fuzz_target!(|input: &[u8]| {
    let Some((kind, input)) = input.split_first() else { return };
    let mut parts = input.splitn(2, |byte| *byte == 0);
    let marker = parts.next().unwrap_or_default();
    let manifest = parts.next().unwrap_or_default();
    let outer = tempfile::tempdir().expect("a temporary folder");
    let (folder, foreign) = (outer.path().join("out"), outer.path().join("foreign.jsonl.zst"));
    fs::create_dir(&folder).expect("a folder");
    fs::write(&foreign, b"foreign").expect("a file of somebody else");
    if kind % 2 == 1 {
        drop(OwnedFolder::open(&folder, FolderKind::Documents).expect("an empty folder becomes ours"));
    } else {
        fs::write(folder.join(MARKER_NAME), marker).expect("a marker");
    }
    fs::write(folder.join("manifest.json"), manifest).expect("a manifest");
    let _ = Manifest::parse(manifest, &folder);
    let _ = OwnedFolder::open(&folder, FolderKind::Crawl);
    let step = Step { command: "extract".into(), ..Step::default() };
    if let Ok(mut output) = Output::open(&folder, step, Vec::new(), ExistingOutput::Replace) {
        let _ = output.retain(|_| false);
        let _ = output.complete(Counts::new());
    }
    assert_eq!(fs::read(&foreign).expect("it is still there"), b"foreign");
});
