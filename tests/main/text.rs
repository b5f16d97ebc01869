//! `pith text`, and the shapes that `pith extract` writes: stdout, files, saved folders, the newest version.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use pith_web::{Robots, RunningWeb, Web, WebConfig};
use serde_json::Value;

use super::corpus::lines_of;
use super::program::{Run, pith_in, run};

fn text_of_url(web: &RunningWeb, url: &str, words: &[&str]) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pith"));
    run(command.arg("text").arg(url).args(["--resolve", &web.resolve()]).args(words))
}

#[test]
fn a_url_becomes_text_with_one_request_for_the_page() {
    let web = Web::start(WebConfig { robots: Robots::Private, ..WebConfig::default() }).unwrap();
    let url = web.seeds()[0].clone();
    let told = text_of_url(&web, &url, &[]);
    assert_eq!(told.code, 0, "{}", told.stderr);
    let truth = web.truth().page(&url).unwrap();
    let sentence = truth.text.split('.').next().unwrap().lines().last().unwrap().trim();
    assert!(told.stdout.contains(sentence), "{sentence:?} is not in {}", told.stdout);
    let asked: Vec<String> = web.log().iter().map(|request| request.path.clone()).collect();
    assert_eq!(asked, ["/robots.txt", "/"], "nothing else is asked for");

    let markdown = text_of_url(&web, &url, &["--markdown"]).stdout;
    assert!(markdown.lines().any(|line| line.starts_with('#')), "{markdown}");
    let json: Value = serde_json::from_str(&text_of_url(&web, &url, &["--json"]).stdout).unwrap();
    assert_eq!(json["url"], url.as_str());
    assert!(json["fetched_at"].is_string() && json["summary"][0]["text"].is_string(), "{json}");
}

#[test]
fn a_url_without_a_page_says_why() {
    let web = Web::start(WebConfig { robots: Robots::Private, ..WebConfig::default() }).unwrap();
    let forbidden = format!("{}private/x", web.seeds()[0]);
    let told = text_of_url(&web, &forbidden, &[]);
    assert_eq!((told.code, told.stdout.as_str()), (1, ""), "{}", told.stderr);
    assert!(told.stderr.contains("disallowed") && told.stderr.contains("--ignore-robots"), "{}", told.stderr);
    let missing = format!("{}no-such-page", web.seeds()[0]);
    assert!(text_of_url(&web, &missing, &[]).stderr.contains("not-found"));
}

fn html(title: &str, sentence: &str) -> String {
    let paragraphs: String = (0..8)
        .map(|n| {
            format!("<p>{sentence} Paragraph {n} tells how the river rose in the night and who carried the chairs.</p>")
        })
        .collect();
    format!(
        "<html><head><title>{title}</title></head><body><article><h1>{title}</h1>{paragraphs}</article></body></html>"
    )
}

fn record(url: &str, day: u32, body: &str) -> String {
    let block = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n{body}");
    format!(
        "WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:{url}{day}>\r\nWARC-Target-URI: {url}\r\n\
         WARC-Date: 2026-11-{day:02}T00:00:00Z\r\nContent-Type: application/http;msgtype=response\r\n\
         Content-Length: {}\r\n\r\n{block}\r\n\r\n",
        block.len()
    )
}

/// Two archives; the first URL has a version in each, the newer one in the first file.
fn archives(folder: &Path) {
    let new = html("New", "This is the new version.");
    let old = html("Old", "This is the old version.");
    let other = html("Other", "This is another page.");
    fs::write(folder.join("a.warc"), record("https://a.example/x.html", 17, &new)).unwrap();
    let both = record("https://a.example/x.html", 11, &old) + &record("https://a.example/y?page=2", 12, &other);
    fs::write(folder.join("b.warc"), both).unwrap();
}

#[test]
fn documents_go_to_stdout_as_json_lines_and_a_reader_may_leave() {
    let place = tempfile::tempdir().unwrap();
    archives(place.path());
    let told = pith_in(place.path(), &["extract", "a.warc", "b.warc", "--out", "-"]);
    assert_eq!(told.code, 0, "{}", told.stderr);
    let titles: Vec<Value> =
        told.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["title"].clone()).collect();
    assert_eq!(titles, ["New", "Old", "Other"]);
    assert!(told.stderr.contains("extracted 3"), "{}", told.stderr);

    let pipe = format!("{} extract a.warc b.warc --out - --quiet | head -c 1", env!("CARGO_BIN_EXE_pith"));
    let script = format!("set -o pipefail; {pipe}");
    let told = run(Command::new("bash").args(["-c", &script]).current_dir(place.path()));
    assert_eq!((told.code, told.stderr.as_str(), told.stdout.as_str()), (0, "", "{"));
    let told = pith_in(place.path(), &["text", "a.warc", "b.warc"]);
    assert_eq!(told.stdout.matches('\u{c}').count(), 2, "a form feed stands between two texts: {}", told.stdout);
}

#[test]
fn the_latest_version_of_a_url_is_taken_wherever_it_stands() {
    let place = tempfile::tempdir().unwrap();
    archives(place.path());
    let told =
        pith_in(place.path(), &["extract", "a.warc", "b.warc", "--out", "docs", "--latest", "--json", "--quiet"]);
    assert_eq!(told.code, 0, "{}", told.stderr);
    let counts: Value = serde_json::from_str(&told.stdout).unwrap();
    assert_eq!((&counts["counts"]["extracted"], &counts["counts"]["skipped"]["older-version"]), (&2.into(), &1.into()));
    let titles: Vec<Value> =
        lines_of(&place.path().join("docs")).iter().map(|document| document["title"].clone()).collect();
    assert_eq!(titles, ["New", "Other"]);

    // Building a corpus does so by itself.
    assert_eq!(pith_in(place.path(), &["extract", "a.warc", "b.warc", "--out", "all", "--quiet"]).code, 0);
    let told = pith_in(place.path(), &["corpus", "dedup", "all", "--out", "unique", "--exact", "--json", "--quiet"]);
    let counts: Value = serde_json::from_str(&told.stdout).unwrap();
    assert_eq!((&counts["counts"]["kept"], &counts["counts"]["dropped"]["older-version"]), (&2.into(), &1.into()));
    let all = ["corpus", "dedup", "all", "--out", "every", "--exact", "--all-versions", "--json", "--quiet"];
    let counts: Value = serde_json::from_str(&pith_in(place.path(), &all).stdout).unwrap();
    assert_eq!(counts["counts"]["kept"], 3);
}

#[test]
fn files_of_markdown_leave_links_out_on_request() {
    let place = tempfile::tempdir().unwrap();
    fs::create_dir(place.path().join("saved")).unwrap();
    let page = "<main><h1>Start</h1><p>Install it as <a href=/how>the page about it</a> tells, then begin.</p></main>";
    fs::write(place.path().join("saved/start.html"), page).unwrap();
    let words = ["extract", "saved", "--base", "https://a.example/", "--out", "site", "--format", "markdown"];
    let told = pith_in(place.path(), &[&words[..], &["--no-links", "--no-images", "--quiet"]].concat());
    assert_eq!(told.code, 0, "{}", told.stderr);
    let written = fs::read_to_string(place.path().join("site/a.example/start.md")).unwrap();
    assert!(written.contains("as the page about it tells"), "{written}");
    let refused = pith_in(place.path(), &["extract", "saved", "--out", "docs", "--no-links"]);
    assert!(refused.code == 2 && refused.stderr.contains("`--format markdown`"), "{}", refused.stderr);
}

#[test]
fn every_url_becomes_a_file_of_markdown_or_text() {
    let place = tempfile::tempdir().unwrap();
    archives(place.path());
    let words = ["extract", "a.warc", "b.warc", "--out", "site", "--format", "markdown", "--json", "--quiet"];
    let told = pith_in(place.path(), &words);
    assert_eq!(told.code, 0, "{}", told.stderr);
    let page = fs::read_to_string(place.path().join("site/a.example/x.md")).unwrap();
    assert!(page.starts_with("---\ntitle: \"New\"\nurl: \"https://a.example/x.html\"\n"), "{page}");
    assert!(page.contains("\n# New\n") && page.contains("new version"), "{page}");
    let mut names: Vec<String> = fs::read_dir(place.path().join("site/a.example"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names.len(), 2, "{names:?}");
    assert!(names[1].starts_with("y-") && names[1].ends_with(".md"), "{names:?}");
    let list = fs::read_to_string(place.path().join("site/files-00001.tsv")).unwrap();
    assert!(list.contains("https://a.example/y?page=2\tOther"), "{list}");

    let again = pith_in(place.path(), &words);
    assert!(again.code == 0, "{}", again.stderr);
    let other = ["extract", "b.warc", "--out", "site", "--format", "text", "--quiet"];
    assert_eq!(pith_in(place.path(), &other).code, 1, "other settings are refused");
    assert_eq!(pith_in(place.path(), &[&other[..], &["--redo"]].concat()).code, 0);
    assert!(!place.path().join("site/a.example/x.md").exists(), "what was replaced is gone");
    let text = fs::read_to_string(place.path().join("site/a.example/x.txt")).unwrap();
    assert!(text.contains("old version") && !text.contains("---"), "{text}");
}

#[test]
fn saved_folders_are_searched_and_their_pages_have_addresses() {
    let place = tempfile::tempdir().unwrap();
    let deep = place.path().join("saved/library/more");
    fs::create_dir_all(&deep).unwrap();
    let page = html("Saved", "This page was saved.")
        .replace("</article>", "<p><a href=\"../next.html\">next</a></p></article>");
    fs::write(deep.join("a b.html"), &page).unwrap();
    fs::write(place.path().join("saved/index.htm"), html("Start", "This is the start.")).unwrap();
    fs::write(place.path().join("saved/style.css"), "p {}").unwrap();
    let documents = |words: &[&str]| -> Vec<Value> {
        let told = pith_in(place.path(), &[&["extract", "saved", "--out", "-", "--quiet"], words].concat());
        assert_eq!(told.code, 0, "{}", told.stderr);
        told.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let plain = documents(&[]);
    assert_eq!(plain.len(), 2);
    let urls: Vec<&str> = plain.iter().map(|document| document["url"].as_str().unwrap()).collect();
    assert!(urls[0].starts_with("file:///") && urls[0].ends_with("/saved/index.htm"), "{urls:?}");
    let based = documents(&["--base", "https://docs.example.org/v2"]);
    assert_eq!(based[1]["url"], "https://docs.example.org/v2/library/more/a%20b.html");
    assert_eq!(based[1]["links"][0]["url"], "https://docs.example.org/v2/library/next.html");
    // All of them are one shard, not one each.
    assert_eq!(pith_in(place.path(), &["extract", "saved", "--out", "docs", "--quiet"]).code, 0);
    assert_eq!(pith_corpus::jsonl::shards(&[place.path().join("docs")]).unwrap().len(), 1);
}

#[test]
fn unknown_fields_are_refused_with_the_list() {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("a.html"), html("A", "One.")).unwrap();
    let told = pith_in(place.path(), &["extract", "a.html", "--fields", "title,txet"]);
    assert_eq!(told.code, 2);
    assert!(told.stderr.contains("\"txet\"") && told.stderr.contains("published"), "{}", told.stderr);
    let mut child = Command::new(env!("CARGO_BIN_EXE_pith"))
        .args(["text", "-", "--json", "--fields", "title"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(html("A", "One.").as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "{\"title\":\"A\"}\n");
}
