//! What owners say about the use of their pages, end to end: honoured by the crawl, stored with the pages, judged again
//! from the shards, counted everywhere alike.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use pith_corpus::jsonl::{Line, Reader};
use pith_corpus::warc::{self, ReaderOptions};
use pith_web::{OWNED_PAGES, OwnedPage, RunningWeb, Web};
use serde_json::Value;

use super::program::{Run, pith_in};

const PURPOSES: [&str; 3] = ["train", "search", "archive"];

/// Crawls every page of the owners' web into `folder/NAME`.
fn crawl(web: &RunningWeb, folder: &Path, name: &str, words: &[&str]) -> Run {
    fs::write(folder.join("seeds.txt"), web.seeds().join("\n")).unwrap();
    let resolve = web.resolve();
    let fixed = ["crawl", "--seeds", "seeds.txt", "--out", name, "--delay", "0s", "--resolve", &resolve, "--quiet"];
    let told = pith_in(folder, &[&fixed, words].concat());
    assert_eq!(told.code, 0, "{}", told.stderr);
    told
}

/// The URLs of the pages in the shards of a crawl.
fn stored(crawl: &Path) -> BTreeSet<String> {
    let shards = fs::read_dir(crawl.join("pages")).unwrap().map(|entry| entry.unwrap().path());
    let mut urls = BTreeSet::new();
    for shard in shards.filter(|path| path.to_string_lossy().ends_with(".warc.zst")) {
        let mut reader = warc::Reader::open(&shard, ReaderOptions::default()).unwrap();
        urls.extend(reader.pages().map(|page| page.unwrap().url));
    }
    urls
}

fn documents(folder: &Path) -> Vec<Value> {
    let mut found = Vec::new();
    for shard in pith_corpus::jsonl::shards(&[folder.to_owned()]).unwrap() {
        let mut reader = Reader::open(&shard).unwrap();
        while let Some(Line::Good { bytes, .. }) = reader.next_line() {
            found.push(serde_json::from_slice(bytes).unwrap());
        }
    }
    found
}

fn report(crawl: &Path) -> Value {
    serde_json::from_slice(&fs::read(crawl.join("report.json")).unwrap()).unwrap()
}

#[track_caller]
fn succeed(folder: &Path, words: &[&str]) -> String {
    let told = pith_in(folder, words);
    assert_eq!(told.code, 0, "{words:?}: {}", told.stderr);
    told.stdout
}

fn urls(wanted: impl Fn(&OwnedPage) -> bool) -> BTreeSet<String> {
    OWNED_PAGES.iter().filter(|page| wanted(page)).map(OwnedPage::url).collect()
}

#[test]
fn nothing_reserved_is_fetched_or_stored_and_the_shards_alone_tell_why() {
    for purpose in PURPOSES {
        let web = Web::owners().unwrap();
        let place = tempfile::tempdir().unwrap();
        let folder = place.path();
        crawl(&web, folder, "crawl", &["--purpose", purpose]);
        let log = web.log();
        let requested: BTreeSet<String> =
            log.iter().map(|request| format!("http://{}{}", request.host, request.path)).collect();
        let fetched: BTreeSet<String> = urls(|_| true).intersection(&requested).cloned().collect();
        assert_eq!(fetched, urls(|page| page.may_be_fetched(purpose)), "requested for {purpose}");
        let crawled = folder.join("crawl");
        assert_eq!(stored(&crawled), urls(|page| page.may_be_stored(purpose)), "stored for {purpose}");

        let report = report(&crawled);
        let n_reserved = urls(|page| page.status == 200 && !page.may_be_stored(purpose)).len() as u64;
        // The guessed sitemap of a host that reserves everything is reserved with it.
        let n_sitemaps = report["outcomes"]["reserved"].as_u64().unwrap_or(0) - n_reserved;
        let asked: BTreeSet<&str> =
            log.iter().filter(|request| request.path == "/sitemap.xml").map(|request| request.host.as_str()).collect();
        assert_eq!(n_sitemaps, (web.hosts().len() - asked.len()) as u64, "{report}");
        let by_signal: BTreeMap<String, u64> = serde_json::from_value(report["reserved_this_run"].clone()).unwrap();
        assert_eq!(by_signal.values().sum::<u64>(), n_reserved + n_sitemaps, "{by_signal:?}");
        assert_eq!(report["outcomes"]["payment-required"], 1);

        // A second judgement, from the shards alone.
        succeed(folder, &["extract", "crawl", "--out", "documents", "--quiet"]);
        let documents = documents(&folder.join("documents"));
        assert_eq!(documents.len(), urls(|page| page.may_be_stored(purpose)).len());
        for document in &documents {
            let page = OWNED_PAGES.iter().find(|page| document["url"] == page.url()).unwrap();
            for judged in PURPOSES {
                let is_reserved = !page.may_be_fetched(judged) || page.known_with_page.contains(&judged);
                let verdict = &document["preferences"]["verdict"][judged];
                assert_eq!(verdict == "reserved", is_reserved, "{} for {judged}: {document}", page.url());
            }
            assert_ne!(document["preferences"]["verdict"][purpose], "reserved");
        }
    }
}

#[test]
fn a_file_of_an_origin_is_requested_once_and_only_where_robots_txt_allows_it() {
    let web = Web::owners().unwrap();
    let place = tempfile::tempdir().unwrap();
    let n_asked = |host: &str, path: &str| {
        web.log().iter().filter(|request| request.host == host && request.path == path).count()
    };
    for _ in 0..2 {
        crawl(&web, place.path(), "crawl", &[]);
        for host in ["silent.test", "named.test", "headers.test", "html.test", "tdm.test", "broken.test"] {
            assert_eq!(n_asked(host, "/.well-known/tdmrep.json"), 1, "{host}");
        }
        for host in ["hidden.test", "signal.test", "outside.test"] {
            assert_eq!(n_asked(host, "/.well-known/tdmrep.json"), 0, "{host}");
        }
        assert_eq!(n_asked("moved.test", "/terms/tdmrep.json"), 1);
        assert_eq!(n_asked("paid.test", "/"), 1, "what costs money is not tried again");
    }
}

#[test]
fn preferences_are_ignored_only_aloud() {
    let web = Web::owners().unwrap();
    let place = tempfile::tempdir().unwrap();
    let told = crawl(&web, place.path(), "crawl", &["--ignore-preferences"]);
    assert!(told.stderr.contains("--ignore-preferences"), "{}", told.stderr);
    let crawled = place.path().join("crawl");
    assert_eq!(stored(&crawled), urls(|page| page.status == 200));
    assert!(!web.log().iter().any(|request| request.path.contains("tdmrep")));
    let report = report(&crawled);
    assert!(report["outcomes"].get("reserved").is_none(), "{report}");
    let refused = pith_in(place.path(), &["crawl", "http://a.test/", "--out", "x", "--purpose", "sell"]);
    assert_eq!(refused.code, 2, "{}", refused.stderr);
}

#[test]
fn documents_are_filtered_counted_and_exported_by_what_their_owners_say() {
    let web = Web::owners().unwrap();
    let place = tempfile::tempdir().unwrap();
    let folder = place.path();
    crawl(&web, folder, "crawl", &["--purpose", "archive"]);
    succeed(folder, &["extract", "crawl", "--out", "documents", "--quiet"]);
    let kept_for = |purpose: &str| {
        let page_is_kept = |page: &OwnedPage| {
            page.may_be_stored("archive") && page.may_be_fetched(purpose) && !page.known_with_page.contains(&purpose)
        };
        urls(page_is_kept)
    };
    let n_documents = urls(|page| page.may_be_stored("archive")).len();
    for purpose in ["train", "search"] {
        let told = succeed(
            folder,
            &["corpus", "filter", "documents", "--out", purpose, "--allowed-for", purpose, "--json", "--quiet"],
        );
        let told: Value = serde_json::from_str(&told).unwrap();
        let kept = kept_for(purpose);
        assert_eq!(told["counts"]["kept"], kept.len());
        assert_eq!(told["counts"]["dropped"]["preferences.reserved"], n_documents - kept.len());
        let found: BTreeSet<String> =
            documents(&folder.join(purpose)).iter().map(|document| document["url"].as_str().unwrap().into()).collect();
        assert_eq!(found, kept);
    }
    let stats: Value = serde_json::from_str(&succeed(folder, &["corpus", "stats", "documents", "--json"])).unwrap();
    let count = |list: &str, name: &str| {
        let group = stats[list].as_array().unwrap().iter().find(|group| group["name"] == name);
        group.map_or(0, |group| group["documents"].as_u64().unwrap())
    };
    assert_eq!(count("verdicts", "train: reserved"), (n_documents - kept_for("train").len()) as u64, "{stats}");
    assert_eq!(count("verdicts", "not judged"), 0);
    assert_eq!(count("statements", "content-usage: train-ai=n"), 4, "{stats}");
    assert_eq!(count("statements", "license"), 2);

    succeed(folder, &["corpus", "export", "train", "--out", "dataset", "--format", "jsonl", "--quiet"]);
    let card = fs::read_to_string(folder.join("dataset/README.md")).unwrap();
    let n_reserved = report(&folder.join("crawl"))["outcomes"]["reserved"].as_u64().unwrap();
    let n_filtered = n_documents - kept_for("train").len();
    let expected = format!("{n_reserved} URLs by the crawl, {n_filtered} documents by a filter");
    assert!(card.contains(&expected), "{expected}: {card}");
    assert!(card.contains("| license | 2 |"), "{card}");
    let rows = documents(&folder.join("dataset/data"));
    assert_eq!(rows.len(), kept_for("train").len());
    for row in rows {
        let column: Value = serde_json::from_str(row["preferences"].as_str().unwrap()).unwrap();
        assert_ne!(column["verdict"]["train"], "reserved");
    }
}
