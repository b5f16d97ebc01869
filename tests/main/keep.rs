//! `pith crawl --keep all`: redirects, errors, robots.txt and requests as they were sent and received, and who can replay
//! them.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use pith_corpus::warc::{self, RecordType};

use crate::crawl::pith;
use crate::pages::{Carrier, Entry, Pages};
use crate::program::run;

const SITE: &[Entry] = &[
    ("/robots.txt", &[], "User-agent: *\nDisallow: /private/\n"),
    ("/", &[], "<p>Home of all, with a few words to read.</p><a href=/moved>1</a><a href=/secret>2</a><a href=/gone>3</a><a href=/private/x>4</a>"),
    ("/moved", &[("location", "/target")], "moved, see there"),
    ("/target", &[], "<p>Here it is now, and it is worth reading.</p>"),
    ("/secret", &[("status", "401")], "who are you?"),
    ("/gone", &[("status", "404")], "this page has gone home"),
];

fn crawl(pages: &Pages, out: &Path, words: &[&str]) {
    let resolve = format!("own.test={}", pages.address);
    let usual = ["crawl", "http://own.test/", "--delay", "0s", "--no-sitemaps", "--resolve", &resolve, "--out"];
    let done = run(pith().args(usual).arg(out).args(["--shard-format", "warc.gz", "--quiet"]).args(words));
    assert_eq!(done.code, 0, "{}", done.stderr);
}

/// The shards of a folder.
fn shards(folder: &Path) -> Vec<PathBuf> {
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths.filter(|path| path.to_str().is_some_and(|name| name.ends_with(".warc.gz"))).collect()
}

/// Type, URL, and block of every record in a folder, but for the first, which describes the shard.
fn records(folder: &Path) -> Vec<(RecordType, String, String)> {
    let mut records = Vec::new();
    for path in shards(folder) {
        let mut reader = warc::read(&path).unwrap();
        while let Some(record) = reader.next().unwrap() {
            if let Some(url) = record.url() {
                let block = String::from_utf8_lossy(record.block).into_owned();
                records.push((record.kind, url.into_owned(), block));
            }
        }
        assert!(!reader.damage().any());
    }
    records
}

#[test]
fn everything_that_was_sent_and_received_is_kept_and_documents_stay_the_same() {
    let pages = Pages::serve(Carrier::Plain, SITE);
    let folder = tempfile::tempdir().unwrap();
    let (all, plain) = (folder.path().join("all"), folder.path().join("plain"));
    crawl(&pages, &all, &["--keep", "all", "--auth", "own.test=me:sesame", "--header", "X-Token=abc"]);
    crawl(&pages, &plain, &[]);
    assert!(!plain.join("diagnostics").exists());
    let kept = records(&all.join("diagnostics"));
    let check = |path: &str, status: &str, body: &str| {
        let url = format!("http://own.test{path}");
        let of = |wanted: RecordType| {
            kept.iter().find(|(kind, of, _)| *kind == wanted && *of == url).unwrap_or_else(|| panic!("{url}: {kept:?}"))
        };
        let response = &of(RecordType::Response).2;
        assert!(response.starts_with(&format!("HTTP/1.1 {status} ")) && response.ends_with(body), "{response}");
        let request = &of(RecordType::Request).2;
        assert!(request.starts_with(&format!("GET {path} HTTP/1.1\r\nHost: own.test\r\nUser-Agent: pith/")), "{request}");
        assert!(request.ends_with("\r\n\r\n"), "{request}");
    };
    check("/robots.txt", "200", "Disallow: /private/\n");
    check("/moved", "301", "moved, see there");
    check("/secret", "401", "who are you?");
    check("/gone", "404", "this page has gone home");
    let of_pages = records(&all.join("pages"));
    for (_, url, _) in of_pages.iter().filter(|(kind, ..)| *kind == RecordType::Response) {
        assert!(of_pages.iter().any(|(kind, of, _)| *kind == RecordType::Request && of == url), "{url} has no request");
    }
    let everything = format!("{kept:?}{of_pages:?}");
    assert!(!everything.contains("bWU6c2VzYW1l") && !everything.contains("abc"), "secrets are not kept");
    let documents = |out: &Path| {
        let done = run(pith().arg("extract").arg(out).args(["--out", "-", "--quiet", "--fields", "url,text"]));
        let mut lines: Vec<String> = done.stdout.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert!(documents(&all).len() == 2 && documents(&all) == documents(&plain), "{:?}", documents(&all));
    // A second run takes nothing of it for a page.
    crawl(&pages, &all, &["--keep", "all"]);
    let urls = stored_gz(&all);
    assert_eq!(urls, ["http://own.test/", "http://own.test/target"]);
    crawl(&pages, &all, &["--fresh"]);
    assert!(!all.join("diagnostics").exists(), "what is begun anew has no old records");
}

/// The URLs of the pages of a crawl with gzip shards, sorted.
fn stored_gz(out: &Path) -> Vec<String> {
    let pages = records(&out.join("pages")).into_iter().filter(|(kind, ..)| *kind == RecordType::Response);
    let mut urls: Vec<String> = pages.map(|(_, url, _)| url).collect();
    urls.sort();
    urls
}

/// A program of the Python that has pywb; `None`, said, where there is none.
fn pywb(name: &str) -> Option<PathBuf> {
    let named = ["PITH_PYWB", "PITH_PYTHON"].into_iter().filter_map(std::env::var_os);
    let mut beside = named.map(|python| Path::new(&python).with_file_name(name));
    let found = beside.find(|path| path.is_file());
    if found.is_none() {
        println!("skipped: `{name}` is not installed (pip install pywb; PITH_PYWB names the Python that has it)");
    }
    found
}

/// A server that ends with the test.
struct Served(Child);

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Status line, headers and body of a page.
fn get(port: u16, path: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_read_timeout(Some(Duration::from_secs(30)))?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n")?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

#[test]
fn pywb_replays_a_redirect_and_an_error() {
    let (Some(manager), Some(wayback)) = (pywb("wb-manager"), pywb("wayback")) else { return };
    let pages = Pages::serve(Carrier::Plain, SITE);
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("crawl");
    crawl(&pages, &out, &["--keep", "all"]);
    let manage = |words: &[&str]| {
        let mut command = Command::new(&manager);
        let done = command.current_dir(folder.path()).args(words).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    };
    manage(&["init", "web"]);
    // A collection has one file of a name.
    for name in ["pages", "diagnostics"] {
        let [shard] = &shards(&out.join(name))[..] else { panic!("one shard of {name}") };
        let file = folder.path().join(format!("{name}.warc.gz"));
        std::fs::copy(shard, &file).unwrap();
        manage(&["add", "web", file.to_str().unwrap()]);
    }
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut command = Command::new(&wayback);
    command.current_dir(folder.path()).args(["--bind", "127.0.0.1", "--port", &port.to_string()]);
    let _served = Served(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    let until = Instant::now() + Duration::from_secs(60);
    while get(port, "/").is_err() {
        assert!(Instant::now() < until, "pywb does not answer");
        std::thread::sleep(Duration::from_millis(200));
    }
    let replay = |path: &str| get(port, &format!("/web/2100id_/http://own.test{path}")).unwrap();
    let page = replay("/target");
    assert!(page.starts_with("HTTP/1.1 200") && page.contains("worth reading"), "{page}");
    let redirect = replay("/moved");
    assert!(redirect.starts_with("HTTP/1.1 301") && redirect.contains("/target"), "{redirect}");
    let missing = replay("/gone");
    assert!(missing.starts_with("HTTP/1.1 404") && missing.contains("this page has gone home"), "{missing}");
}
