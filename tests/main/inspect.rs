//! `pith inspect`, the real program.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use pith_corpus::warc::{Format, Response, Revisit, ShardWriter, WriterOptions};
use serde_json::Value;

const PAGES: usize = 60;

fn body(number: usize) -> String {
    format!("<html><title>Page {number}</title><p>{}</p></html>", format!("Sentence {number}. ").repeat(50))
}

/// A folder like that of a crawl: 60 pages, one of them a repeat, in shards.
fn crawl(format: Format) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let options = WriterOptions { shard_bytes: 12_000, ..WriterOptions::new(format) };
    let mut writer = ShardWriter::open(&folder.path().join("pages"), options).expect("it opens");
    for number in 0..PAGES {
        // The last page repeats one of its own host.
        let (url, body) =
            (format!("http://host{}.example/{number}", number % 3), body(if number == PAGES - 1 { 2 } else { number }));
        let status_line = if number == 5 { "HTTP/1.1 404 Not Found" } else { "HTTP/1.1 200 OK" };
        let response = Response {
            url: &url,
            fetched_at: format!("2026-01-02T03:04:{number:02}Z").parse().expect("a date"),
            ip: None,
            status_line,
            headers: &[("Content-Type", b"text/html; charset=utf-8")],
            body: body.as_bytes(),
            truncated: None,
            revisit: Revisit::Detect,
            preferences: None,
        };
        writer.put(&response).expect("written");
    }
    writer.finish().expect("closed");
    folder
}

fn pith(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_pith")).arg("inspect").args(words).output().expect("it runs")
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[track_caller]
fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

fn shards(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder.join("pages")).expect("listed").map(|entry| entry.expect("listed").path());
    let mut paths: Vec<PathBuf> = entries.filter(|path| path.to_string_lossy().contains(".warc")).collect();
    paths.sort();
    paths
}

#[test]
fn a_crawl_is_counted() {
    for format in [Format::Zstd, Format::Gzip] {
        let folder = crawl(format);
        let output = pith(&[folder.path().to_str().expect("UTF-8"), "--json"]);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let counts = json(&output);
        let n_shards = shards(folder.path()).len();
        assert!(n_shards > 1);
        assert_eq!(counts["files"], n_shards);
        assert_eq!(counts["records"], PAGES + n_shards);
        assert_eq!(counts["types"]["response"], PAGES - 1);
        assert_eq!(counts["types"]["revisit"], 1);
        assert_eq!(counts["types"]["warcinfo"], n_shards);
        assert_eq!(counts["pages"], PAGES);
        assert_eq!(counts["distinct_urls"], PAGES);
        assert_eq!(counts["distinct_hosts"], 3);
        assert_eq!(counts["statuses"]["404"], 1);
        assert_eq!(counts["media_types"]["text/html"], PAGES - 1);
        assert_eq!(counts["hosts"]["host0.example"], PAGES / 3);
        assert_eq!(counts["first"], "2026-01-02T03:04:00Z");
        assert_eq!(counts["last"], "2026-01-02T03:04:59Z");
        assert_eq!(counts["damaged"], 0);
        let table = text(&pith(&[folder.path().to_str().expect("UTF-8")]));
        assert!(table.contains("60 of 60 URLs on 3 hosts"), "{table}");
    }
}

#[test]
fn one_record_is_shown_by_url_and_by_number() {
    let folder = crawl(Format::Zstd);
    let folder = folder.path().to_str().expect("UTF-8");
    let by_url = pith(&[folder, "--url", "http://host1.example/40", "--text"]);
    assert_eq!(
        text(&by_url).trim_end(),
        "Sentence 40. ".repeat(50).trim_end(),
        "the main text, without tags and title"
    );
    let headers = text(&pith(&[folder, "--url", "http://host1.example/40", "--headers"]));
    assert!(headers.starts_with("WARC/1.1\r\n") && headers.contains("HTTP/1.1 200 OK\r\n"), "{headers}");
    assert!(!headers.contains("<html>"));
    let raw = text(&pith(&[folder, "--record", "2", "--raw"]));
    assert!(raw.contains("WARC-Target-URI: http://host0.example/0\r\n") && raw.ends_with(&body(0)), "{raw}");
    let record = json(&pith(&[folder, "--record", "2", "--json"]));
    assert_eq!(record["url"], "http://host0.example/0");
    assert_eq!(record["status"], 200);

    let absent = pith(&[folder, "--url", "http://host1.example/absent"]);
    assert_eq!(absent.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&absent.stderr).contains("no page with the URL"), "{absent:?}");
    assert_eq!(pith(&[folder, "--record", "1000"]).status.code(), Some(1));
    assert_eq!(pith(&[folder, "--text"]).status.code(), Some(2), "a view needs a record");
    assert_eq!(pith(&["no-such-file"]).status.code(), Some(1));
}

/// The next place that means something: the time and the system in a gzip header (the first ten bytes) may be anything.
fn behind_header(shard: &[u8], mut at: usize) -> usize {
    while shard[at - 9..=at + 1].windows(2).any(|pair| pair == [0x1F, 0x8B]) {
        at += 1;
    }
    at
}

#[test]
fn damage_is_counted_and_told_by_the_exit_code() {
    for format in [Format::Zstd, Format::Gzip] {
        let folder = crawl(format);
        let shard = &shards(folder.path())[0];
        let good = fs::read(shard).expect("readable");
        let records = json(&pith(&[shard.to_str().expect("UTF-8"), "--json"]))["records"].as_u64().expect("a number");
        for at in [good.len() / 4, good.len() / 2, good.len() - 20] {
            let at = behind_header(&good, at);
            let mut bad = good.clone();
            bad[at] ^= 0x55;
            fs::write(shard, &bad).expect("written");
            let output = pith(&[shard.to_str().expect("UTF-8"), "--json"]);
            assert_eq!(output.status.code(), Some(3), "byte {at}: {output:?}");
            let counts = json(&output);
            assert_eq!(counts["damaged"], 1, "byte {at}");
            assert_eq!(counts["records"], records - 1, "byte {at}");
        }
    }
}

#[test]
fn a_pipe_is_read_like_a_file() {
    let folder = crawl(Format::Gzip);
    let shard = fs::File::open(&shards(folder.path())[0]).expect("readable");
    let output = Command::new(env!("CARGO_BIN_EXE_pith"))
        .args(["inspect", "-", "--json"])
        .stdin(Stdio::from(shard))
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(json(&output)["pages"].as_u64().expect("a number") > 3);
}

#[test]
fn what_is_no_archive_is_refused_with_a_reason() {
    let folder = tempfile::tempdir().expect("a folder");
    let page = folder.path().join("page.html");
    fs::write(&page, "<html><p>Not an archive.</p></html>").expect("written");
    let output = pith(&[page.to_str().expect("UTF-8")]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("neither a WARC nor an ARC file"), "{output:?}");
    let empty = pith(&[folder.path().to_str().expect("UTF-8")]);
    assert_eq!(empty.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&empty.stderr).contains("no archives in this folder"), "{empty:?}");
}
