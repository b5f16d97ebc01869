//! Lists of seeds as people write them, sitemaps as seeds, and crawls that follow nothing.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use pith_web::{RunningWeb, Web, WebConfig};

use super::crawl::stored;
use super::program::{Run, run};

fn crawl(web: &RunningWeb, folder: &Path, words: &[&str]) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pith"));
    let command = command.current_dir(folder).args(["crawl", "--out", "crawl", "--delay", "0s"]);
    run(command.args(["--resolve", &web.resolve()]).args(words))
}

fn paths_asked(web: &RunningWeb) -> BTreeSet<String> {
    web.log().iter().map(|request| format!("{}{}", request.host, request.path)).collect()
}

#[test]
fn a_list_may_have_a_bom_crlf_comments_and_bad_lines() {
    let web = Web::start(WebConfig { hosts: 3, pages_per_host: 4, ..WebConfig::default() }).unwrap();
    let place = tempfile::tempdir().unwrap();
    let [first, second, third] = [0, 1, 2].map(|host: usize| web.seeds()[host].clone());
    let list =
        format!("\u{feff}{first}\r\n# a comment\r\n{second} # the second\r\nnot a url at all\r\n\r\n{third}#top\r\n");
    fs::write(place.path().join("seeds.txt"), list).unwrap();
    let strict = crawl(&web, place.path(), &["--seeds", "seeds.txt", "--strict"]);
    assert_eq!(strict.code, 2);
    assert!(strict.stderr.contains("seeds.txt:4: \"not a url at all\""), "{}", strict.stderr);
    assert!(web.log().is_empty(), "nothing was asked for");

    let told = crawl(&web, place.path(), &["--seeds", "seeds.txt", "--list", "--quiet"]);
    assert_eq!(told.code, 0, "{}", told.stderr);
    assert!(told.stderr.contains("seeds.txt:4: \"not a url at all\""), "{}", told.stderr);
    let urls: BTreeSet<String> = stored(&place.path().join("crawl")).into_iter().collect();
    assert_eq!(urls, [first, second, third].into_iter().collect(), "these URLs and no others");
    let is_file = |path: &str| path.ends_with("/robots.txt") || path.ends_with("/.well-known/tdmrep.json");
    assert!(paths_asked(&web).iter().all(|path| is_file(path) || path.ends_with(".test/")));
}

#[test]
fn seeds_come_from_stdin_too() {
    let web = Web::start(WebConfig { hosts: 1, pages_per_host: 4, ..WebConfig::default() }).unwrap();
    let place = tempfile::tempdir().unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_pith"))
        .current_dir(place.path())
        .args(["crawl", "--seeds", "-", "--out", "crawl", "--list", "--quiet", "--resolve", &web.resolve()])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(web.seeds()[0].as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(stored(&place.path().join("crawl")), [web.seeds()[0].clone()]);
}

#[test]
fn a_sitemap_as_a_seed_is_read_and_its_pages_alone_are_fetched_when_asked() {
    let web = Web::start(WebConfig { hosts: 1, pages_per_host: 12, ..WebConfig::default() }).unwrap();
    let place = tempfile::tempdir().unwrap();
    let sitemap = format!("{}sitemap.xml", web.seeds()[0]);
    let told = crawl(&web, place.path(), &[&sitemap, "--sitemaps-only", "--quiet"]);
    assert_eq!(told.code, 0, "{}", told.stderr);
    let urls: BTreeSet<String> = stored(&place.path().join("crawl")).into_iter().collect();
    assert!(web.truth().orphans().is_subset(&urls) && !urls.is_empty(), "{urls:?}");
    assert!(!urls.contains(&sitemap), "a sitemap is no page");
    let named: BTreeSet<String> = paths_asked(&web);
    assert!(named.iter().any(|path| path.ends_with("/sitemap.xml")), "{named:?}");
}

#[test]
fn names_in_other_scripts_can_be_resolved() {
    let web = Web::start(WebConfig { hosts: 1, pages_per_host: 2, ..WebConfig::default() }).unwrap();
    let place = tempfile::tempdir().unwrap();
    let address = web.resolve().split_once('=').unwrap().1.to_owned();
    let told = run(Command::new(env!("CARGO_BIN_EXE_pith")).current_dir(place.path()).args([
        "crawl",
        "http://bücher.test/",
        "--out",
        "crawl",
        "--list",
        "--resolve",
        &format!("Bücher.test={address}"),
        "--quiet",
    ]));
    assert_eq!(web.log().iter().filter(|request| request.host == "xn--bcher-kva.test").count(), 3, "{}", told.stderr);
    let told = run(Command::new(env!("CARGO_BIN_EXE_pith")).args([
        "crawl",
        "http://a.test/",
        "--out",
        "x",
        "--resolve",
        "a b=127.0.0.1",
    ]));
    assert!(told.code == 2 && told.stderr.contains("is not a host name"), "{}", told.stderr);
}
