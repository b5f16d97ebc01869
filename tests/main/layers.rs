//! The rule of the architecture: stages do not know each other, and the extractor stays small.

use std::collections::BTreeSet;
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
    for unwanted in ["tokio", "reqwest", "hyper", "zstd", "zstd-sys", "flate2", "rustls", "clap"] {
        assert!(!names.contains(unwanted), "pith-extractor brings {unwanted}");
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

#[test]
fn only_the_crawler_speaks_http() {
    for stage in ["pith-extractor", "pith-corpus"] {
        let names = tree(stage);
        assert!(!names.contains("reqwest") && !names.contains("tokio"), "{stage} is async");
    }
}
