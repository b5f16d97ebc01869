//! What the embedded frontier keeps when its process is killed: what it adds to the contract of every backend.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::contract::MostFound;
use super::{
    Claim, ContentMatch, FetchRecord, Frontier, HostRest, Kind, Lease, Link, LocalFrontier, LocalOptions, Next,
    Outlinks, Settled, Settlement,
};
use crate::clock::Clock;
use crate::order::{Breadth, Opic, OrderingPolicy};
use crate::outcome::Outcome;
use crate::recrawl::{Refresh, RefreshPass};
use crate::validators::Validators;

/// A folder with a frontier that can be dropped without a checkpoint, as by a kill, and reopened.
struct Bench {
    folder: TempDir,
    first_rest: Duration,
    host_budget: u64,
    tracks_depth: bool,
}

impl Bench {
    fn new() -> Bench {
        Bench {
            folder: tempfile::tempdir().unwrap(),
            first_rest: Duration::ZERO,
            host_budget: u64::MAX,
            tracks_depth: true,
        }
    }

    fn open(&self) -> LocalFrontier {
        self.open_ordered(Box::new(Breadth))
    }

    fn open_ordered(&self, order: Box<dyn OrderingPolicy>) -> LocalFrontier {
        let options = LocalOptions {
            first_rest: self.first_rest,
            host_budget: self.host_budget,
            tracks_depth: self.tracks_depth,
            ..LocalOptions::new(order)
        };
        LocalFrontier::open(self.folder.path(), options).unwrap()
    }

    /// Opens the frontier for another pass over stored pages, which may be asked for at once.
    fn open_to_refresh(&self, pass: RefreshPass) -> LocalFrontier {
        // A pass takes pages that were fetched before it began, by a clock of milliseconds.
        std::thread::sleep(Duration::from_millis(3));
        let refresh = Some(Refresh { after: Duration::ZERO, pass, ..Refresh::default() });
        let options = LocalOptions { refresh, ..LocalOptions::new(Box::new(Breadth)) };
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
fn fetch(frontier: &LocalFrontier) -> Lease {
    match frontier.lease().unwrap() {
        Next::Fetch(lease) => lease,
        other => panic!("nothing to fetch: {other:?}"),
    }
}

fn done(outcome: Outcome) -> Settled {
    Settled::Done(FetchRecord { outcome, bytes: 10, milliseconds: 5, digest: 0 })
}

/// Fetches everything that is ready; gives the URLs in their order.
fn drain(frontier: &LocalFrontier) -> Vec<String> {
    let mut urls = Vec::new();
    while let Next::Fetch(lease) = frontier.lease().unwrap() {
        urls.push(lease.link.url.to_string());
        frontier.rest(&lease, HostRest::AfterResponse(Duration::ZERO)).unwrap();
        frontier.settle(&[Settlement::new(lease, done(Outcome::Stored))], b"").unwrap();
    }
    urls
}

#[test]
fn a_page_and_its_links_are_recorded_together_or_not_at_all() {
    let orders: [fn() -> Box<dyn OrderingPolicy>; 2] = [|| Box::new(Breadth), || Box::new(Opic::default())];
    for order in orders {
        let bench = Bench::new();
        for is_settled in [false, true] {
            let frontier = bench.open_ordered(order());
            frontier.offer(&links(1, 0..1)).unwrap();
            let lease = fetch(&frontier);
            assert_eq!(lease.link.url.path(), "/0", "it was not settled before");
            frontier.rest(&lease, HostRest::AfterResponse(Duration::ZERO)).unwrap();
            let found = [links(1, 0..4), links(2, 0..4), links(2, 0..4)].concat();
            let outlinks = Some(Outlinks { links: found, ..Outlinks::default() });
            let settlement = Settlement { lease, settled: done(Outcome::Stored), outlinks };
            assert_eq!(frontier.gauges().known, 1);
            if is_settled {
                frontier.settle(&[settlement], b"1").unwrap();
                assert_eq!(frontier.gauges().known, 8, "the page itself, three more of its host, four of the other");
            }
        }
        let frontier = bench.open_ordered(order());
        assert_eq!((frontier.gauges().known, frontier.gauges().pending), (8, 7));
        assert_eq!(frontier.sink_position(), b"1");
        assert_eq!(drain(&frontier).len(), 7);
    }
}

#[test]
fn after_a_kill_hosts_rest_before_they_are_asked_again() {
    let mut bench = Bench::new();
    bench.first_rest = Duration::from_millis(40);
    let frontier = bench.open();
    frontier.offer(&[links(1, 0..2), links(2, 0..2)].concat()).unwrap();
    let lease = fetch(&frontier);
    let slow = lease.link.host();
    frontier.rest(&lease, HostRest::AfterResponse(Duration::from_millis(90))).unwrap();
    frontier.settle(&[Settlement::new(lease, done(Outcome::Stored))], b"").unwrap();
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
fn a_kill_loses_no_url_and_repeats_none_that_was_settled() {
    let bench = Bench::new();
    let mut settled = HashSet::new();
    let mut offered = 0;
    for round in 0..12 {
        let frontier = bench.open();
        assert_eq!(
            frontier.sink_position(),
            if round == 0 { Vec::new() } else { format!("{}", round - 1).into_bytes() }
        );
        if round < 8 {
            for host in 0..5 {
                offered += frontier.offer(&links(host, round * 20..round * 20 + 40)).unwrap().new;
            }
        }
        for step in 0..60 {
            let Next::Fetch(lease) = frontier.lease().unwrap() else { break };
            frontier.rest(&lease, HostRest::AfterResponse(Duration::ZERO)).unwrap();
            if step % 7 == 3 {
                continue; // never settled: killed before
            }
            if step % 11 == 5 {
                frontier.settle(&[Settlement::new(lease, Settled::Retry)], format!("{round}").as_bytes()).unwrap();
                continue;
            }
            assert!(settled.insert(lease.link.url.to_string()), "{} was settled before", lease.link.url);
            frontier.settle(&[Settlement::new(lease, done(Outcome::Stored))], format!("{round}").as_bytes()).unwrap();
        }
        frontier.settle(&[], format!("{round}").as_bytes()).unwrap();
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
fn a_url_found_again_moves_ahead_and_is_still_handed_out_once() {
    let bench = Bench::new();
    let frontier = bench.open_ordered(Box::new(MostFound));
    frontier.offer(&links(1, 0..4)).unwrap();
    frontier.offer(&links(1, 2..4)).unwrap();
    frontier.settle(&[], b"").unwrap();
    drop(frontier);
    let frontier = bench.open_ordered(Box::new(MostFound));
    frontier.offer(&links(1, 3..4)).unwrap();
    let paths: Vec<String> = drain(&frontier).iter().map(|url| url[url.len() - 2..].to_owned()).collect();
    assert_eq!(paths, ["/3", "/2", "/0", "/1"]);
}

#[test]
fn a_host_gives_no_more_than_its_budget() {
    let mut bench = Bench::new();
    bench.host_budget = 3;
    let frontier = bench.open();
    frontier.offer(&[links(1, 0..10), links(2, 0..2)].concat()).unwrap();
    assert_eq!(drain(&frontier).len(), 5);
    assert!(matches!(frontier.lease().unwrap(), Next::Empty));
    drop(frontier);
    bench.host_budget = 100;
    assert_eq!(drain(&bench.open()).len(), 7, "the rest waits for a larger budget");
}

#[test]
fn a_page_that_repeats_another_of_its_host_is_told_also_after_a_kill() {
    let bench = Bench::new();
    let frontier = bench.open();
    frontier.offer(&[links(1, 0..3), links(2, 0..1)].concat()).unwrap();
    let mut leases = Vec::new();
    while leases.len() < 4 {
        let lease = fetch(&frontier);
        frontier.rest(&lease, HostRest::AfterResponse(Duration::ZERO)).unwrap();
        leases.push(lease);
    }
    let other = leases.remove(leases.iter().position(|lease| lease.link.host() == "h2.test").unwrap());
    let (second, first) = (leases.pop().unwrap(), leases.pop().unwrap());
    assert!(frontier.match_content(&first, 77).unwrap() == ContentMatch::New);
    assert!(
        frontier.match_content(&second, 77).unwrap() == ContentMatch::Duplicate,
        "though the first is not settled yet"
    );
    assert!(frontier.match_content(&first, 77).unwrap() == ContentMatch::New, "a page does not repeat itself");
    assert!(
        frontier.match_content(&other, 77).unwrap() == ContentMatch::New,
        "a copy on another host takes nothing from this one"
    );
    let record = FetchRecord { outcome: Outcome::Stored, bytes: 1, milliseconds: 1, digest: 77 };
    frontier.settle(&[Settlement::new(first, Settled::Done(record))], b"").unwrap();
    drop(frontier);
    let frontier = bench.open();
    let (one, two) = (fetch(&frontier), fetch(&frontier));
    let (own, other) = if one.link.host() == "h1.test" { (one, two) } else { (two, one) };
    assert!(frontier.match_content(&own, 77).unwrap() == ContentMatch::Duplicate);
    assert!(frontier.match_content(&own, 78).unwrap() == ContentMatch::New);
    assert!(frontier.match_content(&other, 77).unwrap() == ContentMatch::New);
}

/// A claim about one URL.
fn claim(kind: Kind, depth: u32, hops: u8) -> Link {
    Link { kind, depth, hops, ..link("http://a.test/x") }
}

fn parts(lease: &Lease) -> (Kind, u32, u8) {
    (lease.link.kind, lease.link.depth, lease.link.hops)
}

#[test]
fn a_waiting_url_is_fetched_by_its_best_claims_also_after_a_kill() {
    for is_killed in [false, true] {
        let bench = Bench::new();
        let mut frontier = bench.open();
        frontier.offer(&[claim(Kind::Probe, 0, 0)]).unwrap();
        frontier.offer(&[claim(Kind::Page, 5, 9)]).unwrap();
        frontier.offer(&[claim(Kind::Page, 7, 1)]).unwrap();
        frontier.offer(&[claim(Kind::Page, 2, 9)]).unwrap();
        assert_eq!(frontier.gauges().pending, 1);
        if is_killed {
            frontier.settle(&[], b"").unwrap();
            drop(frontier);
            frontier = bench.open();
        }
        let lease = fetch(&frontier);
        assert_eq!(parts(&lease), (Kind::Page, 2, 1));
        frontier.rest(&lease, HostRest::AfterResponse(Duration::ZERO)).unwrap();
        frontier.settle(&[Settlement::new(lease, done(Outcome::Stored))], b"").unwrap();
        assert!(matches!(frontier.lease().unwrap(), Next::Empty), "it was fetched once");
    }
}

#[test]
fn a_url_that_ended_by_a_worse_claim_is_put_back_a_few_times_at_most() {
    let bench = Bench::new();
    let mut frontier = bench.open();
    let settle = |frontier: &LocalFrontier, outcome: Outcome| {
        let lease = fetch(frontier);
        let claim = parts(&lease);
        frontier.rest(&lease, HostRest::AfterResponse(Duration::ZERO)).unwrap();
        frontier.settle(&[Settlement::new(lease, done(outcome))], b"").unwrap();
        claim
    };
    frontier.offer(&[claim(Kind::Page, 9, 10)]).unwrap();
    assert_eq!(settle(&frontier, Outcome::TooManyRedirects), (Kind::Page, 9, 10));
    frontier.offer(&[claim(Kind::Page, 9, 10)]).unwrap();
    assert!(matches!(frontier.lease().unwrap(), Next::Empty), "the same claim changes nothing");
    frontier.offer(&[claim(Kind::Page, 9, 0)]).unwrap();
    frontier.settle(&[], b"").unwrap();
    drop(frontier);
    frontier = bench.open();
    assert_eq!(settle(&frontier, Outcome::Stored), (Kind::Page, 9, 0));
    let mut n_revivals = 0;
    for depth in (0..9).rev() {
        frontier.offer(&[claim(Kind::Page, depth, 0)]).unwrap();
        if frontier.gauges().pending > 0 {
            assert_eq!(settle(&frontier, Outcome::Stored), (Kind::Page, depth, 0));
            n_revivals += 1;
        }
    }
    assert_eq!(n_revivals, 2, "and one for the redirects");
    assert!(matches!(frontier.lease().unwrap(), Next::Empty));
    drop(frontier);
    assert!(matches!(bench.open().lease().unwrap(), Next::Empty));
}

#[test]
fn a_better_claim_that_comes_during_a_fetch_counts_after_it() {
    for ends in [Settled::Retry, done(Outcome::Stored)] {
        let bench = Bench::new();
        let frontier = bench.open();
        frontier.offer(&[claim(Kind::Page, 3, 0)]).unwrap();
        let lease = fetch(&frontier);
        frontier.offer(&[claim(Kind::Page, 1, 0)]).unwrap();
        frontier.rest(&lease, HostRest::AfterResponse(Duration::ZERO)).unwrap();
        frontier.settle(&[Settlement::new(lease, ends)], b"").unwrap();
        drop(frontier);
        let frontier = bench.open();
        let lease = fetch(&frontier);
        assert_eq!(parts(&lease), (Kind::Page, 1, 0));
        frontier.rest(&lease, HostRest::AfterResponse(Duration::ZERO)).unwrap();
        frontier.settle(&[Settlement::new(lease, done(Outcome::Stored))], b"").unwrap();
        assert!(matches!(frontier.lease().unwrap(), Next::Empty));
    }
}

#[test]
fn a_host_rests_after_a_kill_even_if_nothing_of_it_was_settled() {
    let mut bench = Bench::new();
    bench.first_rest = Duration::from_secs(60);
    let frontier = bench.open();
    frontier.offer(&links(1, 0..1)).unwrap();
    fetch(&frontier);
    assert!(matches!(frontier.claim("other.test").unwrap(), Claim::Granted(_)));
    drop(frontier);
    let frontier = bench.open();
    assert_eq!(frontier.offer(&links(1, 0..1)).unwrap().known, 1, "it was written before its first request");
    assert!(matches!(frontier.lease().unwrap(), Next::Wait(_)));
    assert!(matches!(frontier.claim("other.test").unwrap(), Claim::RetryAfter(_)));
}

#[test]
fn a_host_without_waiting_urls_rests_after_a_kill_too() {
    let mut bench = Bench::new();
    bench.first_rest = Duration::from_secs(60);
    let frontier = bench.open();
    frontier.offer(&links(1, 0..1)).unwrap();
    assert_eq!(drain(&frontier).len(), 1);
    drop(frontier);
    let frontier = bench.open();
    frontier.offer(&links(1, 1..2)).unwrap();
    assert!(matches!(frontier.lease().unwrap(), Next::Wait(_)));
}

#[test]
fn a_longer_rest_is_known_after_a_kill() {
    let bench = Bench::new();
    let frontier = bench.open();
    frontier.offer(&links(1, 0..2)).unwrap();
    let lease = fetch(&frontier);
    frontier.rest(&lease, HostRest::AfterResponse(Duration::from_secs(60))).unwrap();
    drop(frontier);
    assert!(matches!(bench.open().lease().unwrap(), Next::Wait(_)));
}

#[test]
fn a_url_whose_better_claim_was_lost_with_the_power_is_fetched_by_the_one_before() {
    let bench = Bench::new();
    let frontier = bench.open();
    frontier.offer(&[claim(Kind::Page, 5, 0)]).unwrap();
    frontier.checkpoint().unwrap();
    let journal = bench.folder.path().join("journal");
    let synced = std::fs::metadata(&journal).unwrap().len();
    frontier.offer(&[claim(Kind::Page, 2, 0)]).unwrap();
    frontier.settle(&[], b"").unwrap();
    drop(frontier);
    // The file of claims has reached the disk, the end of the journal has not.
    std::fs::File::options().write(true).open(&journal).unwrap().set_len(synced).unwrap();
    let frontier = bench.open();
    assert_eq!(parts(&fetch(&frontier)), (Kind::Page, 5, 0));
}

#[test]
fn a_rest_is_not_shorter_after_a_kill_not_by_a_part_of_a_millisecond() {
    let bench = Bench::new();
    let clock = Clock::manual(std::time::UNIX_EPOCH);
    let open = || {
        let options = LocalOptions { clock: clock.clone(), ..LocalOptions::new(Box::new(Breadth)) };
        LocalFrontier::open(bench.folder.path(), options).unwrap()
    };
    let frontier = open();
    frontier.offer(&links(1, 0..2)).unwrap();
    let lease = fetch(&frontier);
    frontier.rest(&lease, HostRest::AfterResponse(Duration::from_micros(1_000_700))).unwrap();
    drop(frontier);
    let frontier = open();
    clock.advance(Duration::from_micros(1_000_600));
    assert!(matches!(frontier.lease().unwrap(), Next::Wait(_)));
    clock.advance(Duration::from_micros(500));
    fetch(&frontier);
}

/// Fetches stored pages again until there are none, but not more than twenty.
fn refresh_all(frontier: &LocalFrontier) -> usize {
    for n_refreshed in 0..20 {
        let lease = loop {
            match frontier.lease().unwrap() {
                Next::Fetch(lease) => break lease,
                Next::Wait(time) => std::thread::sleep(time.min(Duration::from_millis(50))),
                Next::Empty => return n_refreshed,
            }
        };
        frontier.rest(&lease, HostRest::AfterResponse(Duration::ZERO)).unwrap();
        frontier.settle(&[Settlement::new(lease, done(Outcome::Stored))], b"").unwrap();
    }
    20
}

#[test]
fn a_pass_asks_for_each_page_once_however_long_it_takes() {
    let bench = Bench::new();
    let frontier = bench.open();
    frontier.offer(&links(1, 0..5)).unwrap();
    drain(&frontier);
    drop(frontier);
    assert_eq!(refresh_all(&bench.open_to_refresh(RefreshPass::Once)), 5);
    assert_eq!(refresh_all(&bench.open_to_refresh(RefreshPass::Once)), 5, "the next run asks again");
    assert_eq!(refresh_all(&bench.open_to_refresh(RefreshPass::Repeated)), 20);
}

#[test]
fn validators_are_renewed_when_the_same_bytes_come_with_new_ones() {
    let bench = Bench::new();
    let kept_at = std::time::UNIX_EPOCH + Duration::from_millis(1_767_225_600_000);
    let tagged = |tag: &str, seconds: u64| {
        let kept_at = kept_at + Duration::from_secs(seconds);
        Some(Box::new(Validators { etag: Some(tag.to_owned()), last_modified: None, kept_at }))
    };
    let same = Settled::Done(FetchRecord { outcome: Outcome::Stored, bytes: 1, milliseconds: 1, digest: 77 });
    let not_modified =
        Settled::Done(FetchRecord { outcome: Outcome::NotModified, bytes: 0, milliseconds: 1, digest: 0 });
    let visits =
        [(same, tagged("1", 0)), (same, tagged("2", 9)), (not_modified, None), (not_modified, tagged("3", 20))];
    let mut expected = None;
    for (number, (settled, validators)) in visits.into_iter().enumerate() {
        let frontier = if number == 0 { bench.open() } else { bench.open_to_refresh(RefreshPass::Once) };
        frontier.offer(&links(1, 0..1)).unwrap();
        let mut lease = fetch(&frontier);
        assert_eq!(lease.validators, expected, "visit {number}");
        if let Some(new) = &validators {
            expected = Some(Box::new(Validators { kept_at, ..(**new).clone() }));
        }
        lease.validators = validators;
        frontier.rest(&lease, HostRest::AfterResponse(Duration::ZERO)).unwrap();
        frontier.settle(&[Settlement::new(lease, settled)], b"").unwrap();
    }
    let lease = fetch(&bench.open_to_refresh(RefreshPass::Once));
    assert_eq!(lease.validators, expected, "of the copy that was stored first");
}
