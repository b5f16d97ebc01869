//! Damage to the frontier or to the shards: never a stored page less, told with a way out, and repaired.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use pith_web::{RunningWeb, Web, WebConfig};
use tempfile::TempDir;

use crate::crawl::{crawl_command, pith, stored};

/// What happens to a file.
type Damage = fn(&Path);

/// Small shards, so that there are several.
const WORDS: [&str; 6] = ["--delay", "0s", "--scope", "any", "--shard-size", "30k"];

fn web() -> RunningWeb {
    Web::start(WebConfig { hosts: 8, pages_per_host: 15, ..WebConfig::default() }).unwrap()
}

fn run(web: &RunningWeb, out: &Path, words: &[&str]) -> Output {
    crawl_command(web, out, &[&WORDS[..], words].concat()).output().unwrap()
}

/// A crawl that was stopped half way, as if it had been killed before it wrote a checkpoint.
fn half_a_crawl(web: &RunningWeb) -> TempDir {
    let out = tempfile::tempdir().unwrap();
    let output = run(web, out.path(), &["--pages", "60"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    fs::remove_file(out.path().join("frontier/checkpoint")).unwrap();
    out
}

/// The files with pages, and their bytes.
fn shards(out: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let paths = fs::read_dir(out.join("pages")).unwrap().map(|entry| entry.unwrap().path());
    let mut shards: Vec<_> = paths
        .filter(|path| path.to_str().unwrap().contains(".warc"))
        .map(|path| (path.clone(), fs::read(path).unwrap()))
        .collect();
    shards.sort();
    shards
}

/// The run refuses to go on, names the file and the way out, and changes no shard.
#[track_caller]
fn check_refused(web: &RunningWeb, out: &Path, file: &str, case: &str) {
    let before = shards(out);
    let output = run(web, out, &[]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{case}: {stderr}");
    assert!(stderr.contains(file) && stderr.contains("pith crawl --repair --out"), "{case}: {stderr}");
    assert_eq!(shards(out), before, "{case}");
}

/// The crawl goes on to its end: nothing lost, nothing twice.
#[track_caller]
fn check_finishes(web: &RunningWeb, out: &Path, words: &[&str], case: &str) {
    let output = run(web, out, words);
    assert!(matches!(output.status.code(), Some(0 | 3)), "{case}: {}", String::from_utf8_lossy(&output.stderr));
    let urls = stored(out);
    let distinct: BTreeSet<String> = urls.iter().cloned().collect();
    assert_eq!(urls.len(), distinct.len(), "{case}: a page was stored twice");
    let mut expected = web.truth().reachable(web.seeds());
    expected.extend(web.truth().orphans());
    let missing: Vec<_> = expected.difference(&distinct).collect();
    assert!(missing.is_empty(), "{case}: lost {missing:?}");
}

#[track_caller]
fn repair(out: &Path, case: &str) {
    let output = pith().args(["crawl", "--repair", "--out"]).arg(out).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{case}: {stderr}");
    assert!(stderr.contains("pages in"), "{case}: {stderr}");
}

/// URLs that were asked for and answered in full since an entry of the log.
fn asked_since(web: &RunningWeb, from: usize) -> BTreeSet<String> {
    let pages = web.log().into_iter().skip(from).filter(|request| request.status == 200);
    pages.map(|request| format!("http://{}{}", request.host, request.path)).collect()
}

#[test]
fn a_damaged_journal_is_refused_and_the_pages_are_taken_over_after_a_repair() {
    let damages: [(&str, Damage); 5] = [
        ("a bit at 10 %", |path| flip(path, 0.1)),
        ("a bit at 50 %", |path| flip(path, 0.5)),
        ("missing", |path| fs::remove_file(path).unwrap()),
        ("empty", |path| fs::write(path, "").unwrap()),
        ("eight bytes", |path| fs::write(path, "pithfr02").unwrap()),
    ];
    for (case, damage) in damages {
        let web = web();
        let out = half_a_crawl(&web);
        let before: BTreeSet<String> = stored(out.path()).into_iter().collect();
        assert!(shards(out.path()).len() > 2, "several shards");
        damage(&out.path().join("frontier/journal"));
        check_refused(&web, out.path(), "frontier/journal", case);
        repair(out.path(), case);
        assert!(out.path().join("frontier.damaged-1").is_dir(), "{case}: the old frontier is kept");
        let n_requests = web.log().len();
        check_finishes(&web, out.path(), &[], case);
        let again: Vec<String> = asked_since(&web, n_requests).intersection(&before).cloned().collect();
        assert!(again.is_empty(), "{case}: stored pages were asked for again: {again:?}");
    }
}

fn flip(path: &Path, place: f64) {
    let mut bytes = fs::read(path).unwrap();
    let at = (bytes.len() as f64 * place) as usize;
    bytes[at] ^= 0x10;
    fs::write(path, bytes).unwrap();
}

#[test]
fn a_journal_without_its_end_costs_nothing() {
    for share in [0.05, 0.5, 0.97] {
        let web = web();
        let out = half_a_crawl(&web);
        let path = out.path().join("frontier/journal");
        let bytes = fs::read(&path).unwrap();
        fs::write(&path, &bytes[..(bytes.len() as f64 * share) as usize]).unwrap();
        let before: BTreeSet<String> = stored(out.path()).into_iter().collect();
        let n_requests = web.log().len();
        check_finishes(&web, out.path(), &[], &format!("cut at {share}"));
        assert!(
            asked_since(&web, n_requests).is_disjoint(&before),
            "cut at {share}: a stored page was asked for again"
        );
    }
}

#[test]
fn a_crawl_without_its_frontier_folder_is_repaired_and_goes_on_in_one_run() {
    let web = web();
    let out = half_a_crawl(&web);
    fs::remove_dir_all(out.path().join("frontier")).unwrap();
    check_refused(&web, out.path(), "frontier/journal", "no frontier");
    check_finishes(&web, out.path(), &["--repair"], "no frontier");
}

#[test]
fn shards_that_are_gone_or_cut_are_named_and_their_pages_fetched_again() {
    for is_gone in [true, false] {
        let web = web();
        let out = tempfile::tempdir().unwrap();
        check_finishes(&web, out.path(), &[], "first");
        let shard = out.path().join("pages/pages-00001.warc.zst");
        let bytes = fs::read(&shard).unwrap();
        match is_gone {
            true => fs::remove_file(&shard).unwrap(),
            false => fs::write(&shard, &bytes[..bytes.len() / 2]).unwrap(),
        }
        check_refused(&web, out.path(), "pages-00001.warc.zst", "a shard");
        repair(out.path(), "a shard");
        if !is_gone {
            assert!(shard.with_file_name("pages-00001.warc.zst.cut-1").exists(), "what was cut off is kept");
        }
        check_finishes(&web, out.path(), &[], "a shard");
        check_finishes(&web, out.path(), &[], "once more");
    }
}
