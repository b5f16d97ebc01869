//! `kill -9` at any moment loses no page, stores none twice, and makes the crawl no less polite.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use std::time::{Duration, Instant};

use pith_web::{Request, RunningWeb, Web, WebConfig};

use crate::crawl::{TOLERANCE, crawl_command, stored};

/// Kills that the test makes unless `PITH_KILLS` says otherwise.
const KILLS: u64 = 40;

/// How many kills a test makes.
fn n_kills(default: u64) -> u64 {
    std::env::var("PITH_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(default)
}

#[test]
fn nothing_is_lost_and_nothing_comes_twice_after_many_kills() {
    let kills = n_kills(KILLS);
    // Every kill must find a crawl that runs: four slots take fifty answers of 80 ms in a second, eleven in a run of the
    // mean length.
    let (hosts, latency) = (40, Duration::from_millis(80));
    let pages_per_host = (kills as usize * 11).div_ceil(hosts).max(10);
    let config = WebConfig { hosts, pages_per_host, latency, ..WebConfig::default() };
    let web = Web::start(config).unwrap();
    let out = tempfile::tempdir().unwrap();
    // Small shards, so that kills also fall between two of them; few slots, so that the crawl outlives the kills.
    let words = ["--delay", "0s", "--scope", "any", "--slots", "4", "--shard-size", "60k"];
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut ended = 0;
    let started = Instant::now();
    for _ in 0..kills {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let time = Duration::from_millis(30 + (random >> 33) % 350);
        ended += u64::from(run_and_kill(&mut crawl_command(&web, out.path(), &words), time));
    }
    let output = crawl_command(&web, out.path(), &words).output().unwrap();
    assert!(matches!(output.status.code(), Some(0 | 3)), "{}", String::from_utf8_lossy(&output.stderr));
    println!("{kills} kills in {:?}", started.elapsed());
    assert_eq!(ended, 0, "kills that found the crawl ended");
    check_stored(&web, &stored(out.path()));
}

/// Kills the program after a time; gives whether it had ended before.
fn run_and_kill(command: &mut Command, time: Duration) -> bool {
    let mut child = command.spawn().unwrap();
    let until = Instant::now() + time;
    while Instant::now() < until && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
    let has_ended = child.try_wait().unwrap().is_some();
    let _ = child.kill();
    child.wait().unwrap();
    has_ended
}

/// Every page is stored, and none twice.
#[track_caller]
pub fn check_stored(web: &RunningWeb, urls: &[String]) {
    let distinct: BTreeSet<String> = urls.iter().cloned().collect();
    let mut expected = web.truth().reachable(web.seeds());
    expected.extend(web.truth().orphans());
    let n_found = distinct.intersection(&expected).count();
    let n_requests = web.totals().requests;
    println!("{} pages, {n_found} of {} expected, {n_requests} requests", urls.len(), expected.len());
    assert_eq!(urls.len(), distinct.len(), "a page was stored twice");
    let missing: Vec<_> = expected.difference(&distinct).collect();
    assert!(missing.is_empty(), "lost {missing:?}");
}

/// Kills in the test of politeness unless `PITH_KILLS` says otherwise; each takes about a second.
const POLITE_KILLS: u64 = 12;

#[test]
fn kills_shorten_no_rest_and_robots_txt_is_not_asked_for_again() {
    let kills = n_kills(POLITE_KILLS);
    let delay = Duration::from_millis(150);
    // More than a host can be asked for in all the runs, so that every kill finds a crawl that runs.
    let pages_per_host = 8 + kills as usize * 6;
    let config = WebConfig { hosts: 12, pages_per_host, ..WebConfig::default() };
    let web = Web::start(config).unwrap();
    let out = tempfile::tempdir().unwrap();
    let words = ["--delay", "150ms", "--scope", "any", "--shard-size", "60k"];
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    // Where the log stood when each run was killed.
    let mut ends = Vec::new();
    for kill in 0..kills {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // Half of the kills fall into the first second, most of these into its beginning.
        let time = if kill % 2 == 0 { 20 + (random >> 33) % 400 } else { 1000 + (random >> 33) % 500 };
        let has_ended = run_and_kill(&mut crawl_command(&web, out.path(), &words), Duration::from_millis(time));
        assert!(!has_ended, "kill {kill} found the crawl ended");
        ends.push(web.log().len());
    }
    let output = crawl_command(&web, out.path(), &words).output().unwrap();
    assert!(matches!(output.status.code(), Some(0 | 3)), "{}", String::from_utf8_lossy(&output.stderr));
    check_stored(&web, &stored(out.path()));
    let log = web.log();
    ends.push(log.len());
    check_rests(&log, delay);
    check_robots(&log, &ends);
}

/// No host was asked again before its delay was over, counted from the end of the answer or, where the client was
/// killed, from the end of the connection.
#[track_caller]
pub fn check_rests(log: &[Request], delay: Duration) {
    let mut before: BTreeMap<&str, &Request> = BTreeMap::new();
    let mut least = Duration::MAX;
    for request in log {
        if let Some(last) = before.insert(&request.host, request) {
            let gap = request.at.saturating_sub(last.ended.unwrap_or(last.at));
            least = least.min(gap);
            assert!(
                gap + TOLERANCE >= delay,
                "{} rested {gap:?} between {} and {}",
                request.host,
                last.path,
                request.path
            );
        }
    }
    println!("the shortest rest is {least:?} of {delay:?}");
}

/// A robots.txt that a run has used is not asked for by a later one.
#[track_caller]
fn check_robots(log: &[Request], ends: &[usize]) {
    let mut used: BTreeSet<&str> = BTreeSet::new();
    let mut n_asked = 0;
    let mut start = 0;
    let mut asked: BTreeSet<&str> = BTreeSet::new();
    for &end in ends {
        for request in &log[start..end] {
            let host = request.host.as_str();
            if request.path == "/robots.txt" {
                assert!(!used.contains(host), "{host} was asked for its robots.txt again");
                n_asked += 1;
                asked.insert(host);
            } else if asked.contains(host) {
                used.insert(host);
            }
        }
        start = end;
    }
    println!("{n_asked} requests for the robots.txt of {} hosts", used.len());
    assert!(!used.is_empty());
}
