//! What every frontier must do, whatever it keeps its URLs in.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::{Claim, Frontier, Lease, Link, LocalFrontier, LocalOptions, Next, Pause, Receipt, Settled};
use crate::order::{Breadth, Class, HostCounts, Level, Order};
use crate::outcome::Outcome;

/// A frontier that can be killed: dropped without a word and opened again.
struct Bench {
    folder: TempDir,
    first_rest: Duration,
    host_budget: u64,
}

impl Bench {
    fn new() -> Bench {
        Bench { folder: tempfile::tempdir().unwrap(), first_rest: Duration::ZERO, host_budget: u64::MAX }
    }

    fn open(&self) -> LocalFrontier {
        self.open_ordered(Box::new(Breadth))
    }

    fn open_ordered(&self, order: Box<dyn Order>) -> LocalFrontier {
        let options =
            LocalOptions { first_rest: self.first_rest, host_budget: self.host_budget, ..LocalOptions::new(order) };
        LocalFrontier::open(self.folder.path(), options).unwrap()
    }
}

fn link(url: &str) -> Link {
    Link::seed(url.parse().unwrap())
}

fn links(host: u32, pages: std::ops::Range<u32>) -> Vec<Link> {
    pages.map(|page| link(&format!("http://h{host}.test/{page}"))).collect()
}

#[track_caller]
fn fetch(frontier: &impl Frontier) -> Lease {
    match frontier.lease().unwrap() {
        Next::Fetch(lease) => lease,
        other => panic!("nothing to fetch: {other:?}"),
    }
}

fn done(outcome: Outcome) -> Settled {
    Settled::Done(Receipt { outcome, bytes: 10, milliseconds: 5, digest: 0 })
}

/// Fetches everything that may be fetched now; gives the URLs in their order.
fn drain(frontier: &impl Frontier) -> Vec<String> {
    let mut urls = Vec::new();
    while let Next::Fetch(lease) = frontier.lease().unwrap() {
        urls.push(lease.link.url.to_string());
        frontier.rest(&lease, Pause::Answered(Duration::ZERO)).unwrap();
        frontier.settle(vec![(lease, done(Outcome::Stored))], b"").unwrap();
    }
    urls
}

#[test]
fn a_url_is_handed_out_once_however_often_it_is_offered() {
    let bench = Bench::new();
    let frontier = bench.open();
    let offered = frontier.offer(None, &links(1, 0..100)).unwrap();
    assert_eq!((offered.new, offered.known), (100, 0));
    let offered = frontier.offer(None, &links(1, 50..150)).unwrap();
    assert_eq!((offered.new, offered.known), (50, 50));
    let urls = drain(&frontier);
    assert_eq!(urls.len(), 150);
    assert_eq!(urls.iter().collect::<HashSet<_>>().len(), 150);
    assert_eq!(frontier.offer(None, &links(1, 0..150)).unwrap().new, 0, "settled URLs stay known");
    assert!(matches!(frontier.lease().unwrap(), Next::Empty));
}

#[test]
fn a_host_is_asked_one_thing_at_a_time() {
    let bench = Bench::new();
    let frontier = bench.open();
    frontier.offer(None, &[links(1, 0..2), links(2, 0..2)].concat()).unwrap();
    let first = fetch(&frontier);
    let second = fetch(&frontier);
    assert_ne!(first.link.host(), second.link.host());
    assert!(matches!(frontier.lease().unwrap(), Next::Wait(_)));
    frontier.rest(&first, Pause::Answered(Duration::ZERO)).unwrap();
    assert_eq!(fetch(&frontier).link.host(), first.link.host(), "it has answered, though it is not settled");
}

#[test]
fn a_host_rests_as_long_as_it_was_told() {
    let bench = Bench::new();
    let frontier = bench.open();
    frontier.offer(None, &links(1, 0..3)).unwrap();
    let lease = fetch(&frontier);
    let answered = Instant::now();
    let rest = Duration::from_millis(60);
    frontier.rest(&lease, Pause::Answered(rest)).unwrap();
    frontier.settle(vec![(lease, done(Outcome::Stored))], b"").unwrap();
    loop {
        match frontier.lease().unwrap() {
            Next::Fetch(_) => break,
            Next::Wait(time) => std::thread::sleep(time.min(Duration::from_millis(5))),
            Next::Empty => panic!("two URLs wait"),
        }
    }
    assert!(answered.elapsed() >= rest);
}

#[test]
fn after_a_kill_hosts_rest_before_they_are_asked_again() {
    let mut bench = Bench::new();
    bench.first_rest = Duration::from_millis(40);
    let frontier = bench.open();
    frontier.offer(None, &[links(1, 0..2), links(2, 0..2)].concat()).unwrap();
    let lease = fetch(&frontier);
    let slow = lease.link.host();
    frontier.rest(&lease, Pause::Answered(Duration::from_millis(90))).unwrap();
    frontier.settle(vec![(lease, done(Outcome::Stored))], b"").unwrap();
    drop(frontier);
    let frontier = bench.open();
    let opened = Instant::now();
    let mut rested = HashMap::new();
    while rested.len() < 2 {
        match frontier.lease().unwrap() {
            Next::Fetch(lease) => drop(rested.insert(lease.link.host(), opened.elapsed())),
            _ => std::thread::sleep(Duration::from_millis(2)),
        }
    }
    for (host, time) in rested {
        let least = if host == slow { 85 } else { 35 };
        assert!(time >= Duration::from_millis(least), "{host} rested {time:?}");
    }
}

#[test]
fn a_lease_given_back_is_next_and_one_to_try_again_is_last() {
    let bench = Bench::new();
    let frontier = bench.open();
    frontier.offer(None, &links(1, 0..3)).unwrap();
    let lease = fetch(&frontier);
    frontier.give_back(lease, Pause::Unasked(Duration::ZERO)).unwrap();
    let lease = fetch(&frontier);
    assert_eq!((lease.link.url.path(), lease.attempts), ("/0", 0));
    frontier.rest(&lease, Pause::Answered(Duration::ZERO)).unwrap();
    frontier.settle(vec![(lease, Settled::Again)], b"").unwrap();
    let mut paths = Vec::new();
    for _ in 0..3 {
        let lease = fetch(&frontier);
        paths.push((lease.link.url.path().to_owned(), lease.attempts));
        frontier.rest(&lease, Pause::Answered(Duration::ZERO)).unwrap();
        frontier.settle(vec![(lease, done(Outcome::Stored))], b"").unwrap();
    }
    assert_eq!(paths, [("/1".to_owned(), 0), ("/2".to_owned(), 0), ("/0".to_owned(), 1)]);
}

#[test]
fn a_kill_loses_no_url_and_repeats_none_that_was_settled() {
    let bench = Bench::new();
    let mut settled = HashSet::new();
    let mut offered = 0;
    for round in 0..12 {
        let frontier = bench.open();
        assert_eq!(frontier.mark(), if round == 0 { Vec::new() } else { format!("{}", round - 1).into_bytes() });
        if round < 8 {
            for host in 0..5 {
                offered += frontier.offer(None, &links(host, round * 20..round * 20 + 40)).unwrap().new;
            }
        }
        for step in 0..60 {
            let Next::Fetch(lease) = frontier.lease().unwrap() else { break };
            frontier.rest(&lease, Pause::Answered(Duration::ZERO)).unwrap();
            if step % 7 == 3 {
                continue; // never settled: killed before
            }
            if step % 11 == 5 {
                frontier.settle(vec![(lease, Settled::Again)], format!("{round}").as_bytes()).unwrap();
                continue;
            }
            assert!(settled.insert(lease.link.url.to_string()), "{} was settled before", lease.link.url);
            frontier.settle(vec![(lease, done(Outcome::Stored))], format!("{round}").as_bytes()).unwrap();
        }
        frontier.settle(Vec::new(), format!("{round}").as_bytes()).unwrap();
        if round % 3 == 1 {
            frontier.checkpoint().unwrap();
        }
    }
    let frontier = bench.open();
    for url in drain(&frontier) {
        assert!(settled.insert(url.clone()), "{url} was settled before");
    }
    assert_eq!(settled.len() as u64, offered);
    assert_eq!(frontier.totals().of(Outcome::Stored), offered);
    assert_eq!(frontier.totals().bytes, 10 * offered);
}

#[test]
fn the_policy_decides_the_order() {
    let bench = Bench::new();
    let frontier = bench.open_ordered(Box::new(Level));
    let pages = ["http://a.test/x/y/", "http://a.test/x/", "http://a.test/", "http://a.test/z/"];
    frontier.offer(None, &pages.map(link)).unwrap();
    assert_eq!(drain(&frontier), ["http://a.test/", "http://a.test/x/", "http://a.test/z/", "http://a.test/x/y/"]);
}

/// Places what was found most often first.
struct MostFound;

impl Order for MostFound {
    fn name(&self) -> &'static str {
        "most-found"
    }
    fn keeps_scores(&self) -> bool {
        true
    }
    fn place(&mut self, _link: &Link, _host: &HostCounts, score: &mut f32) -> Class {
        *score = 1.0;
        Class(200)
    }
    fn place_again(&mut self, _link: &Link, _host: &HostCounts, score: &mut f32) -> Class {
        *score += 1.0;
        Class(201 - *score as u8)
    }
}

#[test]
fn a_url_found_again_moves_ahead_and_is_still_handed_out_once() {
    let bench = Bench::new();
    let frontier = bench.open_ordered(Box::new(MostFound));
    frontier.offer(None, &links(1, 0..4)).unwrap();
    frontier.offer(None, &links(1, 2..4)).unwrap();
    frontier.settle(Vec::new(), b"").unwrap();
    drop(frontier);
    let frontier = bench.open_ordered(Box::new(MostFound));
    frontier.offer(None, &links(1, 3..4)).unwrap();
    let paths: Vec<String> = drain(&frontier).iter().map(|url| url[url.len() - 2..].to_owned()).collect();
    assert_eq!(paths, ["/3", "/2", "/0", "/1"]);
}

#[test]
fn a_host_gives_no_more_than_its_budget() {
    let mut bench = Bench::new();
    bench.host_budget = 3;
    let frontier = bench.open();
    frontier.offer(None, &[links(1, 0..10), links(2, 0..2)].concat()).unwrap();
    assert_eq!(drain(&frontier).len(), 5);
    assert!(matches!(frontier.lease().unwrap(), Next::Empty));
    drop(frontier);
    bench.host_budget = 100;
    assert_eq!(drain(&bench.open()).len(), 7, "the rest waits for a larger budget");
}

#[test]
fn a_page_that_repeats_another_is_told_also_after_a_kill() {
    let bench = Bench::new();
    let frontier = bench.open();
    frontier.offer(None, &[links(1, 0..1), links(2, 0..1), links(3, 0..1)].concat()).unwrap();
    let (first, second) = (fetch(&frontier), fetch(&frontier));
    assert!(!frontier.is_repeat(&first, 77).unwrap());
    assert!(frontier.is_repeat(&second, 77).unwrap(), "though the first is not settled yet");
    assert!(!frontier.is_repeat(&first, 77).unwrap(), "a page does not repeat itself");
    let receipt = Receipt { outcome: Outcome::Stored, bytes: 1, milliseconds: 1, digest: 77 };
    frontier.settle(vec![(first, Settled::Done(receipt))], b"").unwrap();
    drop(frontier);
    let frontier = bench.open();
    let lease = fetch(&frontier);
    assert!(frontier.is_repeat(&lease, 77).unwrap());
    assert!(!frontier.is_repeat(&lease, 78).unwrap());
}

#[test]
fn a_claimed_host_is_nobody_elses() {
    let bench = Bench::new();
    let frontier = bench.open();
    frontier.offer(None, &links(1, 0..2)).unwrap();
    let Claim::Yours(host) = frontier.claim("h1.test").unwrap() else { panic!("it is free") };
    assert!(matches!(frontier.claim("h1.test").unwrap(), Claim::Later(_)));
    assert!(matches!(frontier.lease().unwrap(), Next::Wait(_)));
    frontier.release(host, Pause::Answered(Duration::ZERO)).unwrap();
    let lease = fetch(&frontier);
    assert!(matches!(frontier.claim("h1.test").unwrap(), Claim::Later(_)));
    frontier.rest(&lease, Pause::Answered(Duration::from_secs(9))).unwrap();
    let Claim::Later(wait) = frontier.claim("h1.test").unwrap() else { panic!("it rests") };
    assert!(wait > Duration::from_secs(8));
    assert!(matches!(frontier.claim("new.test").unwrap(), Claim::Yours(_)));
}
