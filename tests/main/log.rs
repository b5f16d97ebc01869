//! What became of every URL: the log of a crawl, `pith inspect --outcomes`, and the report at the end.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use pith_corpus::jsonl::{Line, Reader};
use pith_corpus::log::log_files;
use serde_json::Value;

use crate::crawl::{pith, report};
use crate::pages::{Carrier, Entry, Pages};
use crate::program::{Run, run};

/// The lines of the log of a crawl, none of which may be damaged.
#[track_caller]
pub fn lines(out: &Path) -> Vec<Value> {
    let mut lines = Vec::new();
    for (_, path) in log_files(&out.join("log")).unwrap() {
        let mut reader = Reader::open(&path).unwrap();
        while let Some(line) = reader.next_line() {
            match line {
                Line::Good { bytes, .. } => lines.push(serde_json::from_slice(bytes).unwrap()),
                Line::Damaged { number, why } => panic!("{}:{number}: {why}", path.display()),
            }
        }
    }
    lines
}

const SITE: &[Entry] = &[
    (
        "/",
        &[],
        "<p>Home of all.</p><a href=/moved>1</a><a href=/secret>2</a><a href=/gone>3</a><a href=/lost>4</a>\
         <a href=/broken>5</a>",
    ),
    ("/moved", &[("location", "/target")], ""),
    ("/target", &[], "<p>Here it is now.</p>"),
    ("/secret", &[("status", "401")], "who are you?"),
    ("/gone", &[("status", "410")], "no more"),
    ("/broken", &[("status", "503"), ("retry-after", "0")], "later"),
];

fn crawl(pages: &Pages, out: &Path, words: &[&str]) -> Run {
    let seed = format!("http://{}/", pages.address);
    let usual = ["--delay", "0s", "--allow-private", "--attempts", "1", "--no-sitemaps"];
    run(pith().args(["crawl", &seed, "--out"]).arg(out).args(usual).args(words))
}

fn inspect(out: &Path, words: &[&str]) -> Run {
    run(pith().arg("inspect").arg(out).arg("--outcomes").args(words))
}

#[test]
fn the_log_tells_what_became_of_every_url() {
    let pages = Pages::serve(Carrier::Plain, SITE);
    let (folder, home) = (tempfile::tempdir().unwrap(), format!("http://{}/", pages.address));
    let out = folder.path().join("crawl");
    assert_eq!(crawl(&pages, &out, &[]).code, 3);
    let lines = lines(&out);
    let by_path: BTreeMap<&str, &Value> =
        lines.iter().map(|line| (&line["url"].as_str().unwrap()[home.len() - 1..], line)).collect();
    let check = |path: &str, outcome: &str, status: u16, depth: u32| {
        let line = by_path[path];
        assert_eq!(
            (&line["outcome"], &line["status"], &line["depth"]),
            (&outcome.into(), &status.into(), &depth.into())
        );
        assert!(line["milliseconds"].is_u64() && line["worker"].is_string(), "{line}");
        assert!(line["time"].as_str().is_some_and(|time| time.len() == 24 && time.ends_with('Z')), "{line}");
    };
    check("/", "stored", 200, 0);
    check("/moved", "redirected", 301, 1);
    check("/target", "stored", 200, 1);
    check("/secret", "refused", 401, 1);
    check("/gone", "not-found", 410, 1);
    check("/lost", "not-found", 404, 1);
    check("/broken", "server-error", 503, 1);
    assert_eq!(by_path["/"]["found_on"], Value::Null);
    assert_eq!(by_path["/moved"]["found_on"], home);
    assert_eq!(by_path["/moved"]["redirect"], format!("{home}target"));
    assert_eq!(by_path["/target"]["found_on"], format!("{home}moved"));
    assert!(
        by_path["/target"]["digest"].as_str().unwrap().starts_with("xxh3:") && by_path["/gone"]["digest"].is_null()
    );
    assert_eq!(by_path["/target"]["bytes"], SITE[2].2.len());
    let n_settled: u64 = report(&out)["outcomes"].as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum();
    assert_eq!(lines.len() as u64, n_settled, "each URL has one line, probes among them");

    let missing = inspect(&out, &["not-found"]);
    assert_eq!(missing.stdout.lines().count(), 2, "{}", missing.stdout);
    assert!(missing.stdout.contains("not-found 410") && missing.stdout.contains(&format!("(found on {home})")));
    assert_eq!(inspect(&out, &[]).stdout.lines().count(), lines.len());
    assert_eq!(inspect(&out, &["401"]).stdout.lines().count(), 1);
    let json = inspect(&out, &["redirected", "--json"]).stdout;
    assert_eq!(&serde_json::from_str::<Value>(&json).unwrap(), by_path["/moved"]);
    let unknown = inspect(&out, &["lost"]);
    assert!(unknown.code == 2 && unknown.stderr.contains("not-found"), "it names what there is: {}", unknown.stderr);
}

#[test]
fn the_report_counts_statuses_names_failures_and_says_how_it_was_made() {
    let pages = Pages::serve(Carrier::Plain, SITE);
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("crawl");
    let words = ["--auth", "a.example=me:sesame", "--depth", "7"];
    let table = crawl(&pages, &out, &words).stdout;
    for failure in ["refused 401", "not-found 404", "not-found 410", "server-error 503"] {
        let line = table.lines().find(|line| line.contains(failure)).unwrap_or_else(|| panic!("{failure}: {table}"));
        assert!(line.contains(&format!("http://{}/", pages.address)), "{line}");
    }
    assert!(table.contains("by status: 200 2, 301 1, 401 1, 404 "), "{table}");
    let report = report(&out);
    assert_eq!((&report["statuses_this_run"]["200"], &report["statuses_this_run"]["401"]), (&2.into(), &1.into()));
    assert_eq!(report["version"], env!("CARGO_PKG_VERSION"));
    assert!(report["started"].as_str().unwrap() < report["ended"].as_str().unwrap(), "{report}");
    assert_eq!((&report["settings"]["depth"], &report["settings"]["scope"]), (&"7".into(), &"host".into()));
    assert_eq!(report["settings"]["auth"][0], "a.example=…");
    assert!(!report.to_string().contains("sesame"), "a password is nobody's business");
    assert_eq!(report["failures_this_run"].as_array().map(Vec::len), Some(4), "{report}");
}

#[test]
fn a_log_that_is_cut_goes_on_behind_its_last_whole_lines() {
    let pages = Pages::serve(Carrier::Plain, SITE);
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("crawl");
    crawl(&pages, &out, &["--depth", "0"]);
    let n_before = lines(&out).len();
    let (_, path) = log_files(&out.join("log")).unwrap().remove(0);
    let mut bytes = fs::read(&path).unwrap();
    bytes.extend_from_within(..bytes.len() / 2);
    fs::write(&path, &bytes).unwrap();
    let damaged = inspect(&out, &[]);
    assert!(damaged.code == 3 && damaged.stdout.lines().count() == n_before, "{}", damaged.stderr);
    crawl(&pages, &out, &[]);
    let all = lines(&out);
    assert!(all.len() > n_before && all.iter().any(|line| line["outcome"] == "refused"), "{all:?}");
}

#[test]
fn a_crawl_without_a_log_leaves_none_and_a_fresh_one_begins_anew() {
    let pages = Pages::serve(Carrier::Plain, SITE);
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("crawl");
    crawl(&pages, &out, &["--no-log"]);
    assert!(!out.join("log").exists());
    let none = inspect(&out, &[]);
    assert!(none.code == 1 && none.stderr.contains("--no-log"), "{}", none.stderr);
    crawl(&pages, &out, &["--fresh"]);
    let n_lines = lines(&out).len();
    let precious = out.join("log/precious.txt");
    fs::write(&precious, "mine").unwrap();
    crawl(&pages, &out, &["--fresh"]);
    assert_eq!(lines(&out).len(), n_lines, "the log of the crawl before is gone");
    assert_eq!(fs::read_to_string(&precious).unwrap(), "mine");
}
