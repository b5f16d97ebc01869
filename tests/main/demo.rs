//! `pith demo` end to end.

use super::program::pith_in;

#[test]
fn the_demo_shows_every_stage_and_writes_only_to_its_folder() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let run = pith_in(folder.path(), &["demo"]);
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    let left: Vec<_> = std::fs::read_dir(folder.path())
        .expect("it is there")
        .map(|entry| entry.expect("it is there").file_name())
        .collect();
    assert_eq!(left, ["pith-demo"]);
    assert!(run.stdout.contains("What to type next"), "{}", run.stdout);
    for stage in ["crawl", "extract", "corpus dedup", "corpus filter", "corpus stats", "corpus export"] {
        assert!(run.stdout.contains(&format!("$ pith {stage}")), "no {stage} in {}", run.stdout);
    }
    assert!(run.stdout.contains(" 0 forbidden pages asked for"), "{}", run.stdout);
    for path in ["crawl/report.json", "docs-pith/manifest.json", "clean/manifest.json", "stats.html", "dataset"] {
        assert!(folder.path().join("pith-demo").join(path).exists(), "no {path}");
    }
    // Again: what is there stays as it is.
    let again = pith_in(folder.path(), &["demo"]);
    assert!(again.code == 1 && again.stderr.contains("already exists"), "{}", again.stderr);
}
