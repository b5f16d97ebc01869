//! Any bytes as the manifest or the marker of a folder: opened or refused, without a panic, and nothing outside the folder
//! is touched.

#![no_main]

use std::fs;

use libfuzzer_sys::fuzz_target;
use pith_corpus::folder::{FolderKind, MARKER_NAME, OwnedFolder};
use pith_corpus::manifest::{Counts, ExistingOutput, Manifest, Output, Step};

fuzz_target!(|input: (&[u8], &[u8], bool)| {
    let (marker, manifest, has_own_marker) = input;
    let outer = tempfile::tempdir().expect("a temporary folder");
    let (folder, foreign) = (outer.path().join("out"), outer.path().join("foreign.jsonl.zst"));
    fs::create_dir(&folder).expect("a folder");
    fs::write(&foreign, b"foreign").expect("a file of somebody else");
    if has_own_marker {
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
