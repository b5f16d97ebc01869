//! Many archives into document shards with the real program.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use super::corpus::{lines_of, survives_kills};

fn pith(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_pith")).args(words).output().expect("the program starts")
}

fn counts(output: &Output) -> Value {
    let talk = String::from_utf8_lossy(&output.stderr);
    let value: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {talk}"));
    value["counts"].clone()
}

fn sum(group: &Value) -> u64 {
    group.as_object().map_or(0, |group| group.values().map(|count| count.as_u64().unwrap()).sum())
}

/// read = extracted + skipped(reason) + failed(reason).
#[track_caller]
fn check_sum(counts: &Value) {
    let extracted = counts["extracted"].as_u64().unwrap_or(0);
    let read = counts["read"].as_u64().unwrap_or(0);
    assert_eq!(read, extracted + sum(&counts["skipped"]) + sum(&counts["failed"]), "{counts}");
}

/// Writes one answer of a server.
fn write_record(file: &mut fs::File, url: &str, head: &str, body: &str) {
    let block = format!("HTTP/1.1 {head}\r\n\r\n{body}");
    let header = format!(
        "WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:{url}>\r\nWARC-Target-URI: {url}\r\n\
         WARC-Date: 2026-11-16T00:00:00Z\r\nContent-Type: application/http;msgtype=response\r\nContent-Length: {}\r\n\r\n",
        block.len()
    );
    write!(file, "{header}{block}\r\n\r\n").unwrap();
}

/// An archive of small pages: text, a redirect, a picture, an error that claims to be none.
fn archive(path: &Path, n_pages: usize, seed: usize) {
    let mut file = fs::File::create(path).unwrap();
    let mut record = |url: &str, head: &str, body: &str| write_record(&mut file, url, head, body);
    for number in 0..n_pages {
        let paragraphs: String = (0..12)
            .map(|n| {
                format!(
                    "<p>Paragraph {n} of page {number} in archive {seed} tells how the river rose in the \
                night and how the people of the town carried their chairs up the hill. Nobody slept before morning.</p>"
                )
            })
            .collect();
        let html = format!(
            "<html><head><title>Page {number}</title></head><body><nav><a href=/>Home</a></nav>\
            <article><h1>Page {number}</h1>{paragraphs}</article></body></html>"
        );
        record(&format!("https://s{seed}.example/{number}"), "200 OK\r\nContent-Type: text/html; charset=utf-8", &html);
    }
    record(&format!("https://s{seed}.example/moved"), "301 Moved\r\nLocation: /0", "");
    record(&format!("https://s{seed}.example/a.png"), "200 OK\r\nContent-Type: image/png", "PNG");
    let error = "<title>Page not found</title><h1>404</h1><p>The page you are looking for does not exist.";
    record(&format!("https://s{seed}.example/gone"), "200 OK\r\nContent-Type: text/html", error);
}

/// Archives of so many pages each.
pub fn archives(folder: &Path, n: usize, n_pages: usize) {
    fs::create_dir_all(folder).unwrap();
    for number in 0..n {
        archive(&folder.join(format!("a{number}.warc")), n_pages, number);
    }
}

fn shards(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let paths = pith_corpus::jsonl::shards(&[folder.to_owned()]).unwrap();
    paths.into_iter().map(|path| (path.file_name().unwrap().into(), fs::read(&path).unwrap())).collect()
}

#[test]
fn every_page_has_one_outcome_and_the_bytes_do_not_depend_on_the_threads() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name).to_str().unwrap().to_owned();
    archives(Path::new(&at("in")), 3, 25);
    let first = pith(&["extract", &at("in"), "--out", &at("one"), "--jobs", "1", "--json", "--quiet"]);
    assert_eq!(first.status.code(), Some(0), "{}", String::from_utf8_lossy(&first.stderr));
    let counted = counts(&first);
    check_sum(&counted);
    assert_eq!((counted["read"].as_u64(), counted["extracted"].as_u64()), (Some(84), Some(75)));
    assert_eq!(counted["skipped"], serde_json::json!({"error-page": 3, "media-type": 3, "status-301": 3}));
    pith(&["extract", &at("in"), "--out", &at("four"), "--jobs", "4", "--quiet"]);
    assert!(shards(Path::new(&at("one"))) == shards(Path::new(&at("four"))));
    assert_eq!(shards(Path::new(&at("one"))).len(), 3);

    let again = pith(&["extract", &at("in"), "--out", &at("one"), "--json"]);
    assert!(String::from_utf8_lossy(&again.stderr).contains("already done"));
    assert_eq!(counts(&again), counted);
    let other = pith(&["extract", &at("in"), "--out", &at("one"), "--sentences", "7"]);
    assert_eq!(other.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&other.stderr).contains("--redo"));
}

#[test]
fn text_files_become_documents_as_they_are() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name).to_str().unwrap().to_owned();
    let mut file = fs::File::create(at("a.warc")).unwrap();
    let plain = "200 OK\r\nContent-Type: text/plain; charset=utf-8";
    write_record(
        &mut file,
        "https://a.example/rain.txt",
        plain,
        "Rain in May\n\nIt rained <b>all</b> day.\n  And night.\n",
    );
    write_record(&mut file, "https://a.example/README.md", plain, "[badge](x)\n\n# Rain\n\n* one\n");
    write_record(&mut file, "https://a.example/page", plain, "<!doctype html><html><title>Page</title><p>It rained.");
    write_record(&mut file, "https://a.example/style.css", "200 OK\r\nContent-Type: text/css", "p { color: red }");
    drop(file);
    let output = pith(&["extract", &at("a.warc"), "--out", &at("docs"), "--markdown", "--json", "--quiet"]);
    assert_eq!(counts(&output)["skipped"], serde_json::json!({"media-type": 1}));
    let documents = lines_of(Path::new(&at("docs")));
    assert_eq!(documents[0]["title"], "Rain in May");
    assert_eq!(documents[0]["text"], "Rain in May\n\nIt rained <b>all</b> day.\n  And night.");
    assert_eq!((&documents[1]["title"], &documents[1]["markdown"]), (&"Rain".into(), &documents[1]["text"]));
    assert_eq!(documents[2]["title"], "Page");
    // A file, of which nothing is chosen, has no confidence; every document has the same fields.
    assert!(documents[0]["confidence"].is_null() && documents[2]["confidence"].is_f64(), "{documents:?}");
    let fields = |document: &Value| document.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(fields(&documents[0]), fields(&documents[2]));
    assert!(fields(&documents[0]).contains(&"sku".to_owned()));

    let output =
        pith(&["corpus", "filter", &at("docs"), "--out", &at("sure"), "--min-confidence", "1", "--json", "--quiet"]);
    let filtered = counts(&output);
    assert_eq!((&filtered["kept"], &filtered["dropped"]["confidence"]), (&2.into(), &1.into()), "{filtered}");

    fs::write(at("note.md"), "# A note\n\nIt rained.\n").unwrap();
    let printed = pith(&["extract", &at("note.md")]);
    assert_eq!(String::from_utf8_lossy(&printed.stdout), "# A note\n\nIt rained.\n");
}

#[test]
fn the_archives_of_others_are_read_and_every_page_is_counted() {
    let shared = std::env::var("PITH_SHARED").unwrap_or_else(|_| "../shared".into());
    let folder = Path::new(&shared).join("data/warc");
    if !folder.is_dir() {
        eprintln!("skipped: no archives in {}", folder.display());
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("docs");
    let output = pith(&["extract", folder.to_str().unwrap(), "--out", out.to_str().unwrap(), "--json", "--quiet"]);
    // Some are damaged on purpose: finished with losses that were counted.
    assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
    let counted = counts(&output);
    check_sum(&counted);
    assert!(counted["extracted"].as_u64().unwrap() >= 200, "{counted}");
    assert!(counted["failed"].is_null(), "{counted}");
}

#[test]
fn extract_goes_on_after_kill_9_and_gives_the_same_bytes() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name).to_str().unwrap().to_owned();
    archives(Path::new(&at("in")), 5, 40);
    survives_kills(&["extract", &at("in"), "--out", &at("docs"), "--quiet"], Path::new(&at("docs")));
}
