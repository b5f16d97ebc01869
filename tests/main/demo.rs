//! `pith demo` end to end.

use std::time::{Duration, Instant};

use super::program::pith_in;

#[test]
fn the_demo_shows_every_stage_and_writes_only_to_its_folder() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let started = Instant::now();
    let run = pith_in(folder.path(), &["demo"]);
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    assert!(
        started.elapsed() < Duration::from_secs(120),
        "a debug build on a busy machine may take four times the promise"
    );
    let left: Vec<_> = std::fs::read_dir(folder.path())
        .expect("it is there")
        .map(|entry| entry.expect("it is there").file_name())
        .collect();
    assert_eq!(left, ["pith-demo"]);
    assert!(run.stdout.contains("What to type next"), "{}", run.stdout);
    if run.stdout.contains("$ pith crawl") {
        assert!(run.stdout.contains(" 0 forbidden pages asked for"), "{}", run.stdout);
        assert!(folder.path().join("pith-demo/crawl/report.json").exists());
    }
    // Again: what is there stays as it is.
    let again = pith_in(folder.path(), &["demo"]);
    assert!(again.code == 1 && again.stderr.contains("already exists"), "{}", again.stderr);
}
