//! The rule of the architecture: stages do not know each other, and the extractor stays small.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// The names of everything that a package builds with, as `cargo tree` tells.
fn tree(package: &str) -> BTreeSet<String> {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--offline", "--edges", "normal", "--prefix", "none", "--package", package])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo is there");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("names are UTF-8");
    let names: BTreeSet<String> = text
        .lines()
        .filter_map(|line| line.split(' ').next())
        .map(str::to_owned)
        .filter(|name| !name.is_empty())
        .collect();
    assert!(names.contains(package), "{text}");
    names
}

#[test]
fn someone_who_wants_only_the_extractor_gets_no_network_and_no_compression() {
    let names = tree("pith-extractor");
    for unwanted in ["tokio", "reqwest", "hyper", "zstd", "zstd-sys", "flate2", "brotli", "rustls", "clap"] {
        assert!(!names.contains(unwanted), "pith-extractor brings {unwanted}");
    }
}

/// The paths that the map names, with `{a,b}` written out.
fn paths_of_the_map() -> Vec<String> {
    let map = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/ARCHITECTURE.md")).unwrap();
    let is_path = |text: &&str| text.contains('/') && !text.contains([' ', '…']) && !text.contains("NAME");
    let mut paths = Vec::new();
    for path in map.split('`').skip(1).step_by(2).filter(is_path) {
        match path.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?))) {
            Some((before, (names, after))) => {
                paths.extend(names.split(',').map(|name| format!("{before}{name}{after}")));
            }
            None => paths.push(path.to_owned()),
        }
    }
    paths
}

#[test]
fn every_path_of_the_map_is_there() {
    let paths = paths_of_the_map();
    assert!(paths.len() > 40, "{paths:?}");
    let folders = ["", "crawler/src/", "extractor/src/", "corpus/src/", "eval/src/", "src/"];
    for path in paths {
        let exists = |folder: &&str| Path::new(env!("CARGO_MANIFEST_DIR")).join(folder).join(&path).exists();
        assert!(folders.iter().any(exists), "ARCHITECTURE.md names {path}");
    }
}

#[test]
fn no_stage_depends_on_another() {
    let stages = ["pith-crawler", "pith-extractor", "pith-corpus"];
    for stage in stages {
        let names = tree(stage);
        for other in stages.iter().filter(|other| **other != stage) {
            assert!(!names.contains(*other), "{stage} depends on {other}");
        }
        assert!(!names.contains("pith-eval") && !names.contains("pith"), "{stage} depends on what joins the stages");
    }
}

/// What two stages need in the same sense stands in a crate that knows none of them.
#[test]
fn a_leaf_knows_no_stage_and_does_no_io() {
    for leaf in ["pith-notation", "pith-preferences"] {
        let names = tree(leaf);
        let stages = ["pith-crawler", "pith-extractor", "pith-corpus", "pith-eval", "pith"];
        for unwanted in stages.into_iter().chain(["tokio", "reqwest", "zstd"]) {
            assert!(!names.contains(unwanted), "{leaf} depends on {unwanted}");
        }
    }
}

#[test]
fn only_the_crawler_speaks_http() {
    for stage in ["pith-extractor", "pith-corpus"] {
        let names = tree(stage);
        assert!(!names.contains("reqwest") && !names.contains("tokio"), "{stage} is async");
    }
}
