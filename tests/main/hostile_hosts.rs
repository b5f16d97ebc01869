//! `pith crawl` beside hosts that are slow, useless or lead nowhere: nothing stops, and the others keep their rate.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::crawl::{pith, report};
use crate::hostile_server::{Answer, Hostile, not_found, page, redirect};

/// Pages of an honest host.
const N_PAGES: usize = 2_000;
/// Pages that link to other hosts and nothing else, and their links.
const N_FLOODS: usize = 60;
const FLOOD_LINKS: usize = 20_000;

/// `pith crawl` of the home pages of hosts `NAME0.test`, `NAME1.test`, …, in a mixed order.
fn crawl_of(server: &Hostile, out: &Path, hosts: &[(&str, usize)], words: &[&str]) -> Command {
    let mut seeds: Vec<(usize, String)> = hosts
        .iter()
        .flat_map(|(name, count)| {
            (0..*count).map(move |number| (number * 10_000 / count, format!("http://{name}{number}.test/")))
        })
        .collect();
    seeds.sort();
    let seeds: Vec<String> = seeds.into_iter().map(|(_, seed)| seed).collect();
    std::fs::write(out.join("seeds.txt"), seeds.join("\n")).unwrap();
    let mut command = pith();
    let resolve = format!("*={}", server.address);
    command.arg("crawl").arg("--seeds").arg(out.join("seeds.txt")).arg("--out").arg(out.join("crawl"));
    command.args(["--resolve", &resolve, "--quiet"]).args(words);
    command
}

/// What every host does that is not meant to be bad: a home page that links to many others.
fn honest(host: &str, path: &str) -> Answer {
    match path {
        "/robots.txt" | "/sitemap.xml" => not_found(),
        "/" => {
            let links: String = (0..N_PAGES).map(|number| format!("<a href=/{number}>{number}</a> ")).collect();
            page("text/html", &format!("<title>{host}</title>{links}"))
        }
        _ if path[1..].parse::<usize>().is_ok() => {
            page("text/html", &format!("<title>{path}</title>Page {path} of {host} says {path}{host}."))
        }
        _ => not_found(),
    }
}

/// What a host does, by the start of its name.
pub fn answer(host: &str, path: &str) -> Answer {
    let name = host.trim_end_matches(".test");
    let kind = name.trim_end_matches(|c: char| c.is_ascii_digit());
    match (kind, path) {
        ("trickle", _) => Answer::Trickle(210),
        ("turncoat", "/" | "/robots.txt" | "/.well-known/tdmrep.json" | "/sitemap.xml") => honest(host, path),
        ("turncoat", _) => Answer::Trickle(210),
        ("maps", "/robots.txt") => not_found(),
        ("maps", _) if path.starts_with("/sitemap") => {
            let maps: String = (0..50).map(|number| format!("<sitemap><loc>{path}-{number}</loc></sitemap>")).collect();
            page("application/xml", &format!("<sitemapindex>{maps}</sitemapindex>"))
        }
        ("maps", _) => not_found(),
        ("away", "/robots.txt") => not_found(),
        ("away", "/sitemap.xml") => {
            let urls: String = (0..N_PAGES).map(|number| format!("<url><loc>/{number}</loc></url>")).collect();
            page("application/xml", &format!("<urlset>{urls}</urlset>"))
        }
        ("away", _) => redirect(&format!("{path}x")),
        ("large", "/robots.txt" | "/.well-known/tdmrep.json") => not_found(),
        ("small", "/robots.txt" | "/sitemap.xml") => not_found(),
        ("large", _) => Answer::Hold(9_900_000),
        ("small", _) => page("text/html", &format!("<title>{host}</title>All that {host} has to say.")),
        ("flood", "/robots.txt" | "/sitemap.xml") => not_found(),
        ("flood", "/") => {
            let links: String = (0..N_FLOODS).map(|number| format!("<a href=/{number}>{number}</a> ")).collect();
            page("text/html", &links)
        }
        // As many links as are read of a page, each to a host of its own.
        ("flood", _) => {
            let link = |number: usize| format!("<a href=http://x{number}.f{}.flood.test/>x</a>\n", &path[1..]);
            page("text/html", &(0..FLOOD_LINKS).map(link).collect::<String>())
        }
        _ if name.ends_with(".flood") => not_found(),
        ("shared", "/robots.txt") => redirect("http://rules0.test/robots.txt"),
        ("own", "/robots.txt") => redirect(&format!("http://rules0.test/robots.txt?{name}")),
        ("left", "/robots.txt") => redirect(&format!("http://{}/robots.txt", host.replace("left", "right"))),
        ("right", "/robots.txt") => redirect(&format!("http://{}/robots.txt", host.replace("right", "left"))),
        ("rules", _) if path.starts_with("/robots.txt") => page("text/plain", "User-agent: *\nDisallow: /no"),
        ("shared" | "own" | "left" | "right", "/") => page("text/html", &format!("<a href=/no{host}>{host}</a>")),
        _ => honest(host, path),
    }
}

/// The time after which the hosts of a crawl are known for what they are.
const WARM_UP: Duration = Duration::from_secs(5);

/// How many requests honest hosts got in so many seconds, beside others, by the server's clock.
fn honest_requests(others: &[(&str, usize)], seconds: u32, words: &[&str]) -> usize {
    let server = Hostile::serve(answer);
    let out = tempfile::tempdir().unwrap();
    let mut hosts = others.to_vec();
    hosts.push(("honest", 30));
    let mut child = crawl_of(&server, out.path(), &hosts, &["--time", "10m"]).args(words).spawn().unwrap();
    std::thread::sleep(WARM_UP);
    let counts = || (server.n_requests("honest"), server.n_requests(""));
    let before = counts();
    std::thread::sleep(Duration::from_secs(seconds.into()));
    let after = counts();
    child.kill().unwrap();
    child.wait().unwrap();
    let (n_honest, n_all) = (after.0 - before.0, after.1 - before.1);
    println!("{others:?}: {n_honest} requests to honest hosts, {} to others", n_all - n_honest);
    n_honest
}

/// Rates depend on what else the machine does: they are compared when asked for (`PITH_FULL=1`), on a quiet one.
#[track_caller]
fn check_rate(others: &[(&str, usize)], seconds: u32, words: &[&str]) {
    if !is_full_run() {
        println!("skipped: rates beside {others:?}, PITH_FULL is not set");
        return;
    }
    // By turns: what else the machine does changes while it is measured.
    let (mut alone, mut beside) = (0, 0);
    for _ in 0..2 {
        alone += honest_requests(&[], seconds, words);
        beside += honest_requests(others, seconds, words);
    }
    assert!(beside * 100 >= alone * 90, "{beside} requests beside {others:?}, {alone} alone");
}

/// Whether everything is to be measured, however long it takes.
pub fn is_full_run() -> bool {
    std::env::var_os("PITH_FULL").is_some()
}

#[test]
fn slow_hosts_leave_the_others_their_rate() {
    check_rate(&[("trickle", 400)], 30, &["--delay", "300ms"]);
}

#[test]
fn hosts_that_turn_slow_leave_the_others_their_rate() {
    check_rate(&[("turncoat", 300)], 30, &["--delay", "300ms"]);
}

#[test]
fn endless_sitemaps_and_redirects_leave_the_others_their_rate() {
    check_rate(&[("maps", 300)], 15, &["--delay", "50ms"]);
    check_rate(&[("away", 300)], 15, &["--delay", "50ms"]);
}

/// Crawls hosts whose robots.txt redirect elsewhere; all of it must end soon.
#[track_caller]
fn check_end(hosts: &[(&str, usize)], slots: &str, delay: &str) -> Hostile {
    let server = Hostile::serve(answer);
    let out = tempfile::tempdir().unwrap();
    let words = ["--slots", slots, "--delay", delay, "--no-sitemaps", "--time", "60s"];
    let started = Instant::now();
    let status = crawl_of(&server, out.path(), hosts, &words).status().unwrap();
    let report = report(&out.path().join("crawl"));
    assert_eq!(report["stopped"], "finished", "{status} after {:?}: {}", started.elapsed(), report["outcomes"]);
    let n_hosts: usize = hosts.iter().map(|(_, count)| count).sum();
    assert_eq!(report["pages"], n_hosts, "{}", report["outcomes"]);
    server
}

#[test]
fn many_robots_files_may_redirect_to_one_host() {
    let server = check_end(&[("shared", 300)], "128", "100ms");
    assert_eq!(server.n_requests_for("shared", "/no"), 0);
    assert!(server.n_requests("rules") < 10, "one answer serves all: {}", server.n_requests("rules"));
    let server = check_end(&[("own", 12)], "8", "100ms");
    assert_eq!(server.n_requests("rules"), 12);
    assert_eq!(
        server.n_requests("own"),
        36,
        "robots.txt, tdmrep.json and the home page, and nothing that is disallowed"
    );
}

#[test]
fn robots_files_that_redirect_to_each_other_count_as_missing() {
    let server = check_end(&[("left", 5), ("right", 5)], "8", "20ms");
    assert_eq!(server.n_requests_for("left", "/noleft0.test"), 1, "a missing file disallows nothing");
    assert!(server.n_requests_for("left0", "/robots.txt") <= 8);
}

#[test]
fn a_machine_with_few_files_gives_no_host_up() {
    let server = Hostile::serve(answer);
    let out = tempfile::tempdir().unwrap();
    let command = crawl_of(&server, out.path(), &[("small", 500)], &["--delay", "100ms"]);
    // Few files of its own, for the crawl alone.
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -n 200 && exec \"$0\" \"$@\""]).arg(command.get_program()).args(command.get_args());
    assert!(limited.status().unwrap().success());
    let report = report(&out.path().join("crawl"));
    assert_eq!(report["pages"], 500, "{}", report["outcomes"]);
}

/// The most memory that a process has held so far, in bytes.
pub fn peak_memory(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches(" kB").parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}

#[test]
fn large_pages_on_every_slot_stay_within_the_memory() {
    let server = Hostile::serve(answer);
    let out = tempfile::tempdir().unwrap();
    let words = ["--memory", "256M", "--time", "12s", "--delay", "0s"];
    let mut child = crawl_of(&server, out.path(), &[("large", 200)], &words).spawn().unwrap();
    let (started, mut peak) = (Instant::now(), 0);
    while child.try_wait().unwrap().is_none() && started.elapsed() < Duration::from_secs(60) {
        peak = peak.max(peak_memory(child.id()).unwrap_or(0));
        std::thread::sleep(Duration::from_millis(20));
    }
    let _ = child.kill();
    assert!(server.n_requests_for("large", "/") >= 128, "every slot has a large page");
    assert!((20_000_000..256_000_000).contains(&peak), "{peak} bytes");
}

#[test]
fn a_flood_of_hosts_by_links_stays_within_the_memory() {
    let server = Hostile::serve(answer);
    let out = tempfile::tempdir().unwrap();
    // A twentieth of a second between two pages of the flood.
    let words = ["--memory", "160M", "--time", "40s", "--delay", "50ms", "--scope", "any", "--no-sitemaps"];
    let mut child = crawl_of(&server, out.path(), &[("flood", 1)], &words).spawn().unwrap();
    let (started, mut peak) = (Instant::now(), 0);
    while child.try_wait().unwrap().is_none() && started.elapsed() < Duration::from_secs(100) {
        peak = peak.max(peak_memory(child.id()).unwrap_or(0));
        std::thread::sleep(Duration::from_millis(20));
    }
    let _ = child.kill();
    let report = report(&out.path().join("crawl"));
    let (hosts, postponed) = (report["hosts"].as_u64().unwrap(), report["postponed"].as_u64().unwrap());
    let asked = server.n_requests("x");
    println!("{hosts} hosts known, {postponed} links wait, {asked} requests to hosts of the flood, {peak} bytes");
    assert!(hosts > 50_000 && postponed > 1_000, "{hosts} hosts, {postponed} links");
    assert!((20_000_000..160_000_000).contains(&peak), "{peak} bytes");
}
