//! `pith crawl` against a web served from memory: what the servers saw, and what is in the shards.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

use pith_corpus::warc;
use pith_web::{Request, Robots, RunningWeb, Traps, Web, WebConfig};
use serde_json::Value;

/// A clock reading may be late by as much: the server notes the end of an answer after the client has it.
pub const TOLERANCE: Duration = Duration::from_millis(25);

pub fn pith() -> Command {
    Command::new(env!("CARGO_BIN_EXE_pith"))
}

/// `pith crawl` of a web's seeds.
pub fn crawl_command(web: &RunningWeb, out: &Path, words: &[&str]) -> Command {
    let mut command = pith();
    command
        .arg("crawl")
        .args(web.seeds())
        .arg("--out")
        .arg(out)
        .args(["--resolve", &web.resolve(), "--quiet"])
        .args(words);
    command
}

#[track_caller]
fn crawl(web: &RunningWeb, out: &Path, words: &[&str]) -> Output {
    let output = crawl_command(web, out, words).output().unwrap();
    let code = output.status.code();
    assert!(matches!(code, Some(0 | 3)), "{code:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

/// The URLs of all records of a crawl, response and revisit, in their order.
pub fn stored(out: &Path) -> Vec<String> {
    let mut shards: Vec<_> = std::fs::read_dir(out.join("pages")).unwrap().map(|entry| entry.unwrap().path()).collect();
    shards.retain(|path| path.to_str().is_some_and(|name| name.ends_with(".warc.zst")));
    shards.sort();
    let mut urls = Vec::new();
    for shard in shards {
        let mut reader = warc::read(&shard).unwrap();
        while let Some(record) = reader.next().unwrap() {
            if matches!(record.kind, warc::RecordType::Response | warc::RecordType::Revisit) {
                urls.push(record.url().unwrap().into_owned());
            }
        }
        assert!(!reader.damage().any(), "{} is damaged", shard.display());
    }
    urls
}

pub fn report(out: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(out.join("report.json")).unwrap()).unwrap()
}

fn by_host(web: &RunningWeb) -> BTreeMap<String, Vec<Request>> {
    let mut hosts: BTreeMap<String, Vec<Request>> = BTreeMap::new();
    for request in web.log() {
        hosts.entry(request.host.clone()).or_default().push(request);
    }
    hosts
}

/// From the servers' log: never two requests to one host at once, and never a gap below the delay.
#[track_caller]
pub fn check_gaps(web: &RunningWeb, delay: impl Fn(&str) -> Duration) {
    let mut n_gaps = 0;
    for (host, mut requests) in by_host(web) {
        requests.sort_by_key(|request| request.at);
        for pair in requests.windows(2) {
            let ended = pair[0].ended.expect("it has ended before the next began");
            let gap = pair[1].at.checked_sub(ended).unwrap_or_else(|| panic!("{host} was asked twice at once"));
            let least = delay(&host);
            assert!(gap + TOLERANCE >= least, "{host} rested {gap:?} of {least:?} before {}", pair[1].path);
            n_gaps += 1;
        }
    }
    assert!(n_gaps > 0, "nothing was measured");
}

#[test]
fn a_log_is_written_where_it_is_asked_for() {
    let web = Web::start(WebConfig { hosts: 2, pages_per_host: 5, ..WebConfig::default() }).unwrap();
    let out = tempfile::tempdir().unwrap();
    let log = |words: &[&str]| {
        let words = [&["--delay", "0s", "--fresh"], words].concat();
        String::from_utf8(crawl(&web, out.path(), &words).stderr).unwrap()
    };
    assert_eq!(log(&[]), "");
    let text = log(&["--log-level", "info"]);
    assert!(text.contains("INFO pith_crawler::engine: the crawl begins") && !text.contains("DEBUG"), "{text}");
    let lines = log(&["--log-level", "debug", "--log-format", "json"]);
    let events: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let settled = events.iter().filter(|event| event["message"] == "settled" && event["outcome"] == "stored");
    assert_eq!(settled.count() as u64, report(out.path())["pages"].as_u64().unwrap(), "{lines}");
    assert!(events.iter().all(|event| event["target"].as_str().unwrap().starts_with("pith")), "{lines}");
}

#[test]
fn every_reachable_page_is_stored_once() {
    let traps = Traps { session_ids: true, ..Traps::default() };
    let config =
        WebConfig { robots: Robots::Private, redirects: true, flaky: 0.1, broken: 0.05, traps, ..WebConfig::default() };
    let web = Web::start(config).unwrap();
    let out = tempfile::tempdir().unwrap();
    crawl(&web, out.path(), &["--delay", "0s", "--scope", "any"]);
    let urls = stored(out.path());
    let distinct: BTreeSet<String> = urls.iter().cloned().collect();
    assert_eq!(urls.len(), distinct.len(), "a page was stored twice");
    let mut expected = web.truth().reachable(web.seeds());
    expected.extend(web.truth().orphans());
    let asked = |url: &str| -> Vec<u16> {
        let same = |request: &&Request| url == format!("http://{}{}", request.host, request.path);
        web.log().iter().filter(same).map(|request| request.status).collect()
    };
    // Pages that always fail are not there to be had, also where only a sitemap knows them.
    expected.retain(|url| asked(url).is_empty() || asked(url).iter().any(|status| *status < 500));
    let missing: Vec<_> = expected.difference(&distinct).collect();
    let strange: Vec<_> = distinct.difference(&expected).collect();
    let missing: Vec<_> = missing.into_iter().map(|url| (url, asked(url))).collect();
    let outcomes = &report(out.path())["outcomes"];
    assert!(missing.is_empty() && strange.is_empty(), "missing {missing:?}, strange {strange:?}, {outcomes}");
    let mut seen = BTreeSet::new();
    for request in web.log() {
        assert!(!request.path.starts_with("/private/"), "{} is disallowed", request.path);
        if request.status == 200 {
            assert!(
                seen.insert((request.host.clone(), request.path.clone())),
                "{} {} again",
                request.host,
                request.path
            );
        }
    }
    assert_eq!(report(out.path())["pages"], urls.len() - repeats(out.path()), "the report counts what is stored");
}

fn repeats(out: &Path) -> usize {
    report(out)["outcomes"]["duplicate"].as_u64().unwrap_or(0) as usize
}

#[test]
fn hosts_are_asked_one_at_a_time_and_rest_in_between() {
    let config =
        WebConfig { hosts: 10, pages_per_host: 6, robots: Robots::Varied, redirects: true, ..WebConfig::default() };
    let web = Web::start(config.clone()).unwrap();
    let out = tempfile::tempdir().unwrap();
    crawl(&web, out.path(), &["--delay", "300ms", "--scope", "any"]);
    // Asked of a second web, so that these requests stand in no log that is looked at.
    let slow: BTreeSet<String> = slow_hosts(&Web::start(config).unwrap());
    assert!(!slow.is_empty(), "some host asks for a Crawl-delay");
    let delay = |host: &str| Duration::from_millis(if slow.contains(host) { 1000 } else { 300 });
    check_gaps(&web, delay);
    for (host, requests) in by_host(&web) {
        let robots = requests.iter().find(|request| request.path == "/robots.txt");
        assert!(robots.is_some(), "{host} was asked without its robots.txt");
        let is_open = robots.is_some_and(|request| (400..500).contains(&request.status));
        assert!(is_open || !requests.iter().any(|request| request.path.starts_with("/private/")), "{host}");
        if robots.is_some_and(|request| request.status >= 500) {
            let others: Vec<_> = requests.iter().filter(|request| request.path != "/robots.txt").collect();
            assert!(others.is_empty(), "{host} has no robots.txt to be had, and was asked for {others:?}");
        }
    }
}

/// Hosts whose robots.txt names a Crawl-delay, by asking them.
fn slow_hosts(web: &RunningWeb) -> BTreeSet<String> {
    use std::io::{Read, Write};
    let ask = |host: &str| {
        let mut stream = std::net::TcpStream::connect(web.address()).unwrap();
        write!(stream, "GET /robots.txt HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).to_ascii_lowercase().contains("crawl-delay")
    };
    web.hosts().iter().filter(|host| ask(host)).cloned().collect()
}

#[test]
fn a_killed_crawl_rests_before_it_asks_again() {
    let web = Web::start(WebConfig { hosts: 6, pages_per_host: 10, ..WebConfig::default() }).unwrap();
    let out = tempfile::tempdir().unwrap();
    let words = ["--delay", "400ms", "--scope", "any"];
    for _ in 0..4 {
        let mut child = crawl_command(&web, out.path(), &words).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(1500));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    crawl(&web, out.path(), &words);
    check_gaps(&web, |_| Duration::from_millis(400));
    let urls = stored(out.path());
    assert_eq!(urls.iter().collect::<BTreeSet<_>>().len(), urls.len());
    let mut expected = web.truth().reachable(web.seeds());
    expected.extend(web.truth().orphans());
    assert_eq!(urls.into_iter().collect::<BTreeSet<_>>(), expected);
}

#[test]
fn a_host_that_is_overloaded_is_left_alone_as_long_as_it_asks() {
    let traps = Traps { too_many_requests: true, ..Traps::default() };
    let web = Web::start(WebConfig { hosts: 2, pages_per_host: 5, traps, ..WebConfig::default() }).unwrap();
    let out = tempfile::tempdir().unwrap();
    crawl(&web, out.path(), &["--delay", "0s", "--scope", "any", "--attempts", "5"]);
    let busy = by_host(&web).remove("busy-trap.test").expect("it is linked");
    let mut n_refused = 0;
    for pair in busy.windows(2).filter(|pair| pair[0].status == 429) {
        n_refused += 1;
        let gap = pair[1].at - pair[0].ended.unwrap();
        assert!(gap + TOLERANCE >= Duration::from_secs(1), "asked again after {gap:?}");
    }
    assert!(n_refused > 0);
    assert!(stored(out.path()).iter().any(|url| url.contains("busy-trap.test")), "and then it answers");
}

#[test]
fn traps_end_at_their_budget_and_cost_the_others_nothing() {
    let traps = Traps { slow_loris: false, ..Traps::all(3) };
    let web = Web::start(WebConfig { hosts: 8, pages_per_host: 30, traps, ..WebConfig::default() }).unwrap();
    let out = tempfile::tempdir().unwrap();
    let words = [
        "--delay",
        "0s",
        "--scope",
        "any",
        "--per-host",
        "60",
        "--max-body",
        "1M",
        "--attempts",
        "2",
        "--timeout",
        "5s",
    ];
    crawl(&web, out.path(), &words);
    let traps: BTreeMap<String, &str> = web.truth().traps().into_iter().collect();
    for (host, requests) in by_host(&web) {
        assert!(requests.len() <= 61, "{host} was asked {} times", requests.len());
    }
    let urls: BTreeSet<String> = stored(out.path()).into_iter().collect();
    let expected: BTreeSet<String> = web.truth().reachable(web.seeds());
    let ordinary: Vec<&String> = expected.iter().filter(|url| !urls.contains(*url)).collect();
    assert!(
        ordinary.iter().all(|url| traps.keys().any(|host| url.contains(host.as_str()))),
        "missing {:?}",
        ordinary.iter().filter(|url| !traps.keys().any(|host| url.contains(host.as_str()))).collect::<Vec<_>>()
    );
}

#[test]
fn a_mirror_costs_the_host_that_it_repeats_nothing() {
    let traps = Traps { mirror: true, ..Traps::default() };
    let web = Web::start(WebConfig { hosts: 4, pages_per_host: 60, traps, ..WebConfig::default() }).unwrap();
    let out = tempfile::tempdir().unwrap();
    crawl(&web, out.path(), &["--delay", "0s", "--scope", "any"]);
    let urls: BTreeSet<String> = stored(out.path()).into_iter().collect();
    let expected = web.truth().reachable(web.seeds());
    let is_of = |host: &str, url: &str| url.starts_with(&format!("http://{host}/"));
    let of = |host: &str, urls: &BTreeSet<String>| urls.iter().filter(|url| is_of(host, url)).count();
    let first = &web.hosts()[0];
    let (n_mirrored, n_known) = (of("mirror-trap.test", &urls), of("mirror-trap.test", &expected));
    println!("a mirror of {} pages gave {n_mirrored} of {n_known}", of(first, &expected));
    // How many depends on the random samples that confirm a mirror; `mirror.rs` tests that it is found, and when.
    assert!(n_known >= 30 && n_mirrored > 0, "{n_mirrored} of {n_known}");
    let missing: Vec<_> = expected.difference(&urls).filter(|url| !is_of("mirror-trap.test", url)).collect();
    assert!(missing.is_empty(), "missing {missing:?}");
}

#[test]
fn limits_end_a_crawl_and_the_next_run_goes_on() {
    let web = Web::start(WebConfig::default()).unwrap();
    let out = tempfile::tempdir().unwrap();
    crawl(&web, out.path(), &["--delay", "0s", "--scope", "any", "--pages", "25"]);
    assert_eq!(stored(out.path()).len(), 25);
    assert_eq!(report(out.path())["stopped"], "pages");
    crawl(&web, out.path(), &["--delay", "0s", "--scope", "any", "--depth", "1"]);
    crawl(&web, out.path(), &["--delay", "0s", "--scope", "any"]);
    let urls = stored(out.path());
    assert_eq!(urls.iter().collect::<BTreeSet<_>>().len(), urls.len());
    assert!(urls.len() > 25);
    crawl(&web, out.path(), &["--delay", "0s", "--scope", "any", "--fresh", "--pages", "5"]);
    assert_eq!(stored(out.path()).len(), 5);
}

#[test]
fn a_seed_that_gives_nothing_is_an_error_that_says_so() {
    let web = Web::start(WebConfig::default()).unwrap();
    let out = tempfile::tempdir().unwrap();
    let seed = format!("http://{}/nothing-here", web.hosts()[0]);
    let run = |words: &[&str]| pith().arg("crawl").args(words).arg("--out").arg(out.path()).output().unwrap();
    let output = run(&[&seed, "--resolve", &web.resolve(), "--delay", "0s", "--fresh", "--no-sitemaps"]);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("bad seed") && stderr.contains("not-found"), "{stderr}");
    let loopback = format!("http://127.0.0.1:{}/", web.port());
    let output = run(&[&loopback, "--fresh"]);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(stderr.contains("blocked-address") && stderr.contains("--allow-private"), "{stderr}");
    assert_eq!(run(&["ftp://x/"]).status.code(), Some(2));
}
