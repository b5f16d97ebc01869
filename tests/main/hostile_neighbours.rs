//! Hosts that try to take the pages of another host: by copying them, by naming them first in a worse way, or by wasting
//! what limits a crawl. The other host, `victim.test`, has 41 pages, and all of them must be stored.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pith_corpus::warc;

use crate::crawl::{pith, report};

/// The pages of the victim behind its home page.
const N_PAGES: usize = 40;

/// What a host answers.
#[derive(Clone)]
enum Answer {
    Html(String),
    Text(&'static str, String),
    Redirect(String),
    Missing,
}

/// The requests of a crawl, host and path, in their order.
type Log = Arc<Mutex<Vec<(String, String)>>>;

/// Hosts on loopback that are served for as long as this lives.
struct Hosts {
    address: SocketAddr,
    log: Log,
}

impl Hosts {
    /// Answers every request by its host and path.
    fn serve(answer: impl Fn(&str, &str) -> Answer + Send + Sync + 'static) -> Hosts {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let hosts = Hosts { address: listener.local_addr().unwrap(), log: Log::default() };
        let (log, answer) = (hosts.log.clone(), Arc::new(answer));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (log, answer) = (log.clone(), answer.clone());
                std::thread::spawn(move || respond(stream, &log, &*answer));
            }
        });
        hosts
    }

    fn asked(&self, host: &str) -> usize {
        self.log.lock().unwrap().iter().filter(|(asked, _)| asked == host).count()
    }

    /// Crawls these seeds without delays.
    #[track_caller]
    fn crawl(&self, seeds: &[&str], out: &Path, words: &[&str]) {
        let resolve = format!("*={}", self.address);
        let mut command = pith();
        command.arg("crawl").args(seeds).arg("--out").arg(out).args(["--resolve", &resolve, "--quiet"]);
        if !words.contains(&"--scope") {
            command.args(["--scope", "any"]);
        }
        let output = command.args(["--delay", "0s"]).args(words).output().unwrap();
        let code = output.status.code();
        assert!(matches!(code, Some(0 | 3)), "{code:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

/// Answers the requests of one connection.
fn respond(stream: TcpStream, log: &Log, answer: &dyn Fn(&str, &str) -> Answer) {
    let Ok(mut out) = stream.try_clone() else { return };
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    while let Some(start) = lines.next() {
        let path = start.split(' ').nth(1).unwrap_or("/").to_owned();
        let head: Vec<String> = lines.by_ref().take_while(|line| !line.is_empty()).collect();
        let host = head.iter().find_map(|line| line.to_ascii_lowercase().strip_prefix("host: ").map(str::to_owned));
        let host = host.unwrap_or_default();
        log.lock().unwrap().push((host.clone(), path.clone()));
        let (status, header, body) = match answer(&host, &path) {
            Answer::Html(body) => ("200 OK", "content-type: text/html".to_owned(), body),
            Answer::Text(media_type, body) => ("200 OK", format!("content-type: {media_type}"), body),
            Answer::Redirect(target) => ("301 Moved", format!("location: {target}"), String::new()),
            Answer::Missing => ("404 Not Found", "content-type: text/plain".to_owned(), "no".to_owned()),
        };
        let head = format!("HTTP/1.1 {status}\r\n{header}\r\ncontent-length: {}\r\n\r\n", body.len());
        if out.write_all(head.as_bytes()).and_then(|()| out.write_all(body.as_bytes())).is_err() {
            return;
        }
    }
}

/// A paragraph of its own for every number.
fn words(number: usize) -> String {
    (0..120).map(|word| format!("w{number}x{} ", word * 7 % 101)).collect()
}

/// The victim's site: a home page that links to all others, and pages that link home.
fn victim(path: &str) -> Answer {
    if path == "/" {
        let links: String = (1..=N_PAGES).map(|page| format!("<a href='/page/{page}'>{page}</a> ")).collect();
        return Answer::Html(format!("<html><title>Home</title><p>{}</p>{links}", words(0)));
    }
    match path.strip_prefix("/page/").and_then(|number| number.parse().ok()) {
        Some(number @ 1..=N_PAGES) => {
            Answer::Html(format!("<html><title>{number}</title><p>{}</p><a href='/'>Home</a>", words(number)))
        }
        _ => Answer::Missing,
    }
}

fn victim_urls() -> impl Iterator<Item = String> {
    std::iter::once("http://victim.test/".to_owned())
        .chain((1..=N_PAGES).map(|page| format!("http://victim.test/page/{page}")))
}

fn page_with_links(urls: impl IntoIterator<Item = String>) -> Answer {
    let links: String = urls.into_iter().map(|url| format!("<a href='{url}'>x</a> ")).collect();
    Answer::Html(format!("<html><p>links</p>{links}"))
}

/// The URLs of all whole pages of a crawl; `revisit` records do not count, because they give no document.
fn whole_pages(out: &Path) -> BTreeMap<String, usize> {
    stored_as(out, warc::RecordType::Response)
}

/// The URLs of all records of a type, and how many each has.
fn stored_as(out: &Path, kind: warc::RecordType) -> BTreeMap<String, usize> {
    let mut shards: Vec<_> = std::fs::read_dir(out.join("pages")).unwrap().map(|entry| entry.unwrap().path()).collect();
    shards.retain(|path| path.to_str().is_some_and(|name| name.ends_with(".warc.zst")));
    let mut urls = BTreeMap::new();
    for shard in shards {
        let mut reader = warc::read(&shard).unwrap();
        while let Some(record) = reader.next().unwrap() {
            if record.kind == kind {
                *urls.entry(record.url().unwrap().into_owned()).or_default() += 1;
            }
        }
    }
    urls
}

/// Every page of the victim is stored whole, and once.
#[track_caller]
fn check_victim(out: &Path) {
    let pages = whole_pages(out);
    let missing: Vec<String> = victim_urls().filter(|url| !pages.contains_key(url)).collect();
    let outcomes = &report(out)["outcomes"];
    assert!(missing.is_empty(), "{} of 41 are missing: {missing:?}, {outcomes}", missing.len());
    let again: Vec<_> = pages.iter().filter(|(_, count)| **count > 1).collect();
    assert!(again.is_empty(), "stored twice: {again:?}");
}

#[test]
fn a_copy_of_the_home_page_costs_its_host_nothing() {
    let hosts = Hosts::serve(|host, path| match (host, path) {
        ("victim.test", _) => victim(path),
        ("thief.test", "/") => page_with_links(["http://thief.test/copy".to_owned()]),
        ("thief.test", "/copy") => victim("/"),
        ("thief.test", "/page/1") => page_with_links(["http://victim.test/".to_owned()]),
        _ => Answer::Missing,
    });
    let out = tempfile::tempdir().unwrap();
    hosts.crawl(&["http://thief.test/"], out.path(), &[]);
    check_victim(out.path());
}

#[test]
fn pages_that_others_name_with_a_query_are_stored_under_their_own_urls() {
    let hosts = Hosts::serve(|host, path| match (host, path) {
        ("victim.test", _) => victim(path.split('?').next().unwrap()),
        ("thief.test", "/") => page_with_links(victim_urls().map(|url| format!("{url}?from=thief"))),
        _ => Answer::Missing,
    });
    let out = tempfile::tempdir().unwrap();
    hosts.crawl(&["http://thief.test/"], out.path(), &[]);
    check_victim(out.path());
}

#[test]
fn documents_of_a_copied_site_bear_its_own_urls() {
    let hosts = Hosts::serve(|host, path| match (host, path) {
        ("victim.test", _) => victim(path),
        // All of it, and met first.
        ("thief.test", "/start") => page_with_links(["/".to_owned(), "http://victim.test/".to_owned()]),
        ("thief.test", _) => victim(path),
        _ => Answer::Missing,
    });
    let out = tempfile::tempdir().unwrap();
    hosts.crawl(&["http://thief.test/page/40"], out.path(), &["--pages", "20"]);
    hosts.crawl(&["http://victim.test/"], out.path(), &[]);
    check_victim(out.path());
    let documents = out.path().join("documents");
    let status = pith().arg("extract").arg(out.path()).arg("--out").arg(&documents).arg("--quiet").status().unwrap();
    assert!(status.success());
    let of_victim = documents_in(&documents).iter().filter(|line| line.contains("\"http://victim.test/")).count();
    assert_eq!(of_victim, 41);
}

/// The lines of all document shards in a folder.
fn documents_in(folder: &Path) -> Vec<String> {
    let mut lines = Vec::new();
    for shard in pith_corpus::jsonl::shards(&[folder.to_owned()]).unwrap() {
        let mut reader = pith_corpus::jsonl::Reader::open(&shard).unwrap();
        while let Some(line) = reader.next_line() {
            let pith_corpus::jsonl::Line::Good { bytes, .. } = line else { panic!("{line:?}") };
            lines.push(String::from_utf8(bytes.to_vec()).unwrap());
        }
    }
    lines
}

#[test]
fn a_copy_of_some_pages_makes_no_host_a_mirror() {
    let hosts = Hosts::serve(|host, path| match (host, path) {
        ("victim.test", "/") => {
            // The copy is complete before the site is asked.
            std::thread::sleep(Duration::from_millis(300));
            victim(path)
        }
        ("victim.test", _) => victim(path),
        ("thief.test", "/start") => {
            page_with_links((1..=8).map(|page| format!("/page/{page}")).chain(["http://victim.test/".to_owned()]))
        }
        ("thief.test", _) if (1..=8).any(|page| path == format!("/page/{page}")) => victim(path),
        ("friend.test", "/") => page_with_links(["http://thief.test/start".to_owned()]),
        _ => Answer::Missing,
    });
    let out = tempfile::tempdir().unwrap();
    hosts.crawl(&["http://thief.test/start", "http://friend.test/"], out.path(), &[]);
    check_victim(out.path());
    assert_eq!(report(out.path())["outcomes"]["mirror"].as_u64().unwrap_or(0), 0);
}

/// A site of many pages, each with a text of its own.
fn large_site(path: &str) -> Answer {
    if path == "/" {
        let links: String = (1..=N_LARGE).map(|page| format!("<a href='/page/{page}'>{page}</a> ")).collect();
        return Answer::Html(format!("<html><title>Home</title><p>{}</p>{links}", words(0)));
    }
    match path.strip_prefix("/page/").and_then(|number| number.parse().ok()) {
        Some(number @ 1..=N_LARGE) => Answer::Html(format!("<html><title>{number}</title><p>{}</p>", words(number))),
        _ => Answer::Missing,
    }
}

/// Pages of a large site behind its home page.
const N_LARGE: usize = 400;

#[test]
fn a_host_that_mirrors_another_is_left_out_after_some_pages_and_the_other_loses_none() {
    let hosts = Hosts::serve(|host, path| match (host, path) {
        ("site.test" | "mirror.test", _) => large_site(path),
        // The mirror is named first; other sites link to the site it copies.
        ("friend.test", "/") => page_with_links(["http://mirror.test/".to_owned(), "http://site.test/".to_owned()]),
        ("other.test", "/") => page_with_links(["http://site.test/".to_owned()]),
        _ => Answer::Missing,
    });
    let out = tempfile::tempdir().unwrap();
    hosts.crawl(&["http://friend.test/", "http://other.test/"], out.path(), &[]);
    let pages = whole_pages(out.path());
    let of = |host: &str| pages.keys().filter(|url| url.starts_with(&format!("http://{host}/"))).count();
    let asked = hosts.asked("mirror.test");
    println!(
        "{} pages of the site, {} of the mirror, which was asked {asked} times",
        of("site.test"),
        of("mirror.test")
    );
    assert_eq!(of("site.test"), N_LARGE + 1);
    assert!(asked <= N_LARGE / 2, "the mirror was asked {asked} times");
    assert!(report(out.path())["outcomes"]["mirror"].as_u64().is_some_and(|left_out| left_out > 100));
}

#[test]
fn redirects_before_a_page_do_not_use_up_its_own() {
    let hosts = Hosts::serve(|host, path| match (host, path) {
        // The victim's home is at the end of a redirect of its own.
        ("victim.test", "/start") => Answer::Redirect("http://victim.test/".to_owned()),
        ("victim.test", _) => victim(path),
        ("thief.test", "/9") => Answer::Redirect("http://victim.test/start".to_owned()),
        ("thief.test", _) => match path[1..].parse::<u32>() {
            Ok(number) => Answer::Redirect(format!("/{}", number + 1)),
            Err(_) => Answer::Missing,
        },
        ("honest.test", "/") => {
            std::thread::sleep(Duration::from_millis(800));
            page_with_links(["http://victim.test/start".to_owned()])
        }
        _ => Answer::Missing,
    });
    let out = tempfile::tempdir().unwrap();
    hosts.crawl(&["http://thief.test/0", "http://honest.test/"], out.path(), &[]);
    check_victim(out.path());
}

#[test]
fn a_long_way_that_is_found_first_does_not_keep_a_page_too_deep() {
    let hosts = Hosts::serve(|host, path| match (host, path) {
        ("victim.test", _) => victim(path),
        ("thief.test", "/0") => page_with_links(["/1".to_owned()]),
        ("thief.test", "/1") => page_with_links(["http://victim.test/".to_owned()]),
        ("honest.test", "/") => {
            std::thread::sleep(Duration::from_millis(800));
            page_with_links(["http://victim.test/".to_owned()])
        }
        _ => Answer::Missing,
    });
    let out = tempfile::tempdir().unwrap();
    hosts.crawl(&["http://thief.test/0", "http://honest.test/"], out.path(), &["--depth", "2"]);
    check_victim(out.path());
    // In two runs: the shorter way is found after the crawl has ended once.
    let out = tempfile::tempdir().unwrap();
    hosts.crawl(&["http://thief.test/0"], out.path(), &["--depth", "2"]);
    assert_eq!(whole_pages(out.path()).keys().filter(|url| url.contains("victim.test")).count(), 1);
    hosts.crawl(&["http://honest.test/"], out.path(), &["--depth", "2"]);
    check_victim(out.path());
}

#[test]
fn a_duplicate_to_which_a_shorter_way_is_found_is_recorded_once() {
    let hosts = Hosts::serve(|host, path| match (host, path) {
        ("site.test", "/") => page_with_links(["/first".to_owned(), "/1".to_owned()]),
        ("site.test", "/1") => page_with_links(["/copy".to_owned()]),
        ("site.test", "/first" | "/copy") => Answer::Html(format!("<html><p>{}", words(7))),
        ("near.test", "/") => page_with_links(["http://site.test/copy".to_owned()]),
        _ => Answer::Missing,
    });
    let out = tempfile::tempdir().unwrap();
    hosts.crawl(&["http://site.test/"], out.path(), &["--depth", "3"]);
    hosts.crawl(&["http://near.test/"], out.path(), &["--depth", "3"]);
    let n_records = |url: &str| stored_as(out.path(), warc::RecordType::Revisit).get(url).copied();
    assert_eq!(n_records("http://site.test/copy"), Some(1));
    assert_eq!(report(out.path())["outcomes"]["duplicate"], 1);
}

#[test]
fn what_redirected_out_of_the_scope_is_followed_when_the_scope_is_wider() {
    let hosts = Hosts::serve(|host, path| match (host, path) {
        ("here.test", "/") => page_with_links(["/away".to_owned(), "/gone".to_owned()]),
        ("here.test", "/away") => Answer::Redirect("http://there.test/".to_owned()),
        ("there.test", "/") => page_with_links(["/more".to_owned()]),
        ("there.test", "/more") => Answer::Html(format!("<html><p>{}", words(3))),
        _ => Answer::Missing,
    });
    let out = tempfile::tempdir().unwrap();
    let seeds = ["http://here.test/"];
    hosts.crawl(&seeds, out.path(), &["--scope", "host"]);
    assert_eq!(report(out.path())["outcomes"]["out-of-scope"], 1);
    assert_eq!(hosts.asked("there.test"), 0);
    hosts.crawl(&seeds, out.path(), &["--scope", "any"]);
    let pages = whole_pages(out.path());
    assert!(pages.contains_key("http://there.test/more"), "{pages:?}");
    let asked_twice = |path: &str| hosts.log.lock().unwrap().iter().filter(|(_, asked)| asked == path).count() == 2;
    assert!(asked_twice("/away") && !asked_twice("/gone"), "what ended otherwise is not asked again");
}

#[test]
fn a_sitemap_that_others_link_to_as_a_page_is_read() {
    let hosts = Hosts::serve(|host, path| match (host, path) {
        ("victim.test", "/robots.txt") => {
            std::thread::sleep(Duration::from_millis(300));
            Answer::Text("text/plain", "Sitemap: http://victim.test/map".to_owned())
        }
        ("victim.test", "/map") => {
            let entries: String = victim_urls().map(|url| format!("<url><loc>{url}</loc></url>")).collect();
            Answer::Text("application/xml", format!("<?xml version='1.0'?><urlset>{entries}</urlset>"))
        }
        ("victim.test", "/") => Answer::Html(format!("<html><title>Home</title><p>{}</p>", words(0))),
        ("victim.test", _) => victim(path),
        ("thief.test", "/") => page_with_links(["http://victim.test/map".to_owned()]),
        _ => Answer::Missing,
    });
    let out = tempfile::tempdir().unwrap();
    hosts.crawl(&["http://thief.test/"], out.path(), &[]);
    check_victim(out.path());
}

#[test]
fn pages_that_go_on_naming_others_end_within_the_limit() {
    // The first two have the same texts, and so samples are asked for: these must not begin anew.
    let hosts = Hosts::serve(|host, path| {
        let Ok(number) = path[1..].parse::<u64>() else { return Answer::Missing };
        let (two, three) = (number.wrapping_mul(2).wrapping_add(2), number.wrapping_mul(2).wrapping_add(3));
        match host {
            "canonical.test" => Answer::Html(format!(
                "<html><link rel=canonical href='/{two}'><link rel=canonical href='/{three}'><p>{}",
                words(number as usize)
            )),
            "refresh.test" => Answer::Html(format!(
                "<html><meta http-equiv=refresh content='0; url=/{two}'><link rel=canonical href='/{three}'><p>{}",
                words(number as usize)
            )),
            _ => Answer::Redirect(format!("/{two}")),
        }
    });
    let out = tempfile::tempdir().unwrap();
    let seeds = ["http://canonical.test/0", "http://refresh.test/0", "http://redirect.test/0"];
    hosts.crawl(&seeds, out.path(), &["--depth", "0", "--time", "20s"]);
    for host in ["canonical.test", "refresh.test", "redirect.test"] {
        let asked = hosts.asked(host);
        // The seed and ten hops, robots.txt, tdmrep.json, a sitemap and a probe.
        assert!((11..=15).contains(&asked), "{host} was asked {asked} times");
    }
}

#[test]
fn pages_that_others_name_as_sitemaps_are_pages() {
    let named: String = victim_urls().map(|url| format!("Sitemap: {url}\n")).collect();
    let index = |urls: &mut dyn Iterator<Item = String>| {
        let entries: String = urls.map(|url| format!("<sitemap><loc>{url}</loc></sitemap>")).collect();
        Answer::Text("application/xml", format!("<?xml version='1.0'?><sitemapindex>{entries}</sitemapindex>"))
    };
    let hosts = Hosts::serve(move |host, path| match (host, path) {
        ("victim.test", _) => victim(path),
        ("robots.test", "/robots.txt") => Answer::Text("text/plain", named.clone()),
        ("index.test", "/robots.txt") => Answer::Text("text/plain", "Sitemap: http://index.test/i.xml".to_owned()),
        ("index.test", "/i.xml") => index(&mut victim_urls()),
        // The seed is slow, so that its robots.txt and sitemaps come first.
        (_, "/") => {
            std::thread::sleep(Duration::from_millis(400));
            page_with_links(["http://victim.test/".to_owned()])
        }
        _ => Answer::Missing,
    });
    for seed in ["http://robots.test/", "http://index.test/"] {
        let out = tempfile::tempdir().unwrap();
        hosts.crawl(&[seed], out.path(), &[]);
        check_victim(out.path());
    }
}
