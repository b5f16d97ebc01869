//! The contract of every frontier backend: one suite, run for each of them.

use std::collections::{BTreeSet, HashSet};
use std::time::{Duration, UNIX_EPOCH};

use tempfile::TempDir;

use super::{
    Claim, ContentMatch, FetchRecord, Frontier, FrontierError, Gauges, HostRest, Kind, Lease, LeaseId, Leases, Link,
    LocalFrontier, LocalOptions, MemoryFrontier, MemoryOptions, Next, Offered, Outlinks, Settled, SettledBatch,
    Settlement, Totals, WorkerId,
};
use crate::clock::Clock;
use crate::order::{Breadth, HostCounts, HostOrder, Level, Opic, OrderingPolicy, Priority, ScoreOrder, SharedOrder};
use crate::outcome::Outcome;

/// What a frontier is opened with.
struct Settings {
    order: Box<dyn OrderingPolicy>,
    host_budget: u64,
    clock: Clock,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { order: Box::new(Breadth), host_budget: u64::MAX, clock: Clock::manual(UNIX_EPOCH) }
    }
}

/// A backend under test.
trait Backend {
    type Frontier: Frontier;

    /// An empty frontier that tracks the depth of pages.
    fn open(settings: Settings, folder: &TempDir) -> Self::Frontier;
}

struct Embedded;

impl Backend for Embedded {
    type Frontier = LocalFrontier;

    fn open(settings: Settings, folder: &TempDir) -> LocalFrontier {
        let options = LocalOptions {
            host_budget: settings.host_budget,
            tracks_depth: true,
            clock: settings.clock,
            ..LocalOptions::new(settings.order)
        };
        LocalFrontier::open(folder.path(), options).unwrap()
    }
}

struct Memory;

impl Backend for Memory {
    type Frontier = MemoryFrontier;

    fn open(settings: Settings, _: &TempDir) -> MemoryFrontier {
        MemoryFrontier::new(MemoryOptions {
            host_budget: settings.host_budget,
            tracks_depth: true,
            clock: settings.clock,
            ..MemoryOptions::new(settings.order)
        })
    }
}

/// On Redis, in so many partitions: one server for all tests, a crawl of its own for each.
#[cfg(feature = "redis")]
struct Redis<const PARTITIONS: u16>;

#[cfg(feature = "redis")]
impl<const PARTITIONS: u16> Backend for Redis<PARTITIONS> {
    type Frontier = super::RedisFrontier;

    fn open(settings: Settings, _: &TempDir) -> super::RedisFrontier {
        let address = super::redis::tests::address().expect("the caller has looked for a server");
        let options = super::RedisOptions {
            host_budget: settings.host_budget,
            tracks_depth: true,
            lease_time: None,
            partitions: Some(PARTITIONS),
            clock: Some(settings.clock),
            ..super::RedisOptions::new(address, "one", settings.order)
        };
        at_once(super::RedisFrontier::open(options, &super::CrawlSettings::new())).unwrap()
    }
}

/// A frontier as one worker uses it.
struct Bench<F> {
    frontier: F,
    worker: WorkerId,
    clock: Clock,
    _folder: TempDir,
}

fn open<B: Backend>() -> Bench<B::Frontier> {
    open_with::<B>(Settings::default())
}

fn open_with<B: Backend>(settings: Settings) -> Bench<B::Frontier> {
    let folder = tempfile::tempdir().unwrap();
    let clock = settings.clock.clone();
    let frontier = B::open(settings, &folder);
    Bench { frontier, worker: WorkerId::new("one"), clock, _folder: folder }
}

fn at_once<T>(call: impl Future<Output = T>) -> T {
    thread_local! {
        static RUNTIME: tokio::runtime::Runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    }
    RUNTIME.with(|runtime| runtime.block_on(call))
}

impl<F: Frontier> Bench<F> {
    fn offer(&self, links: &[Link]) -> Offered {
        at_once(self.frontier.offer(links)).unwrap()
    }

    fn lease(&self) -> Next {
        match at_once(self.frontier.lease(&self.worker, 1)).unwrap() {
            Leases::Granted(mut leases) => {
                assert_eq!(leases.len(), 1);
                Next::Fetch(leases.remove(0))
            }
            Leases::Wait(time) => Next::Wait(time),
            Leases::Empty => Next::Empty,
        }
    }

    #[track_caller]
    fn fetch(&self) -> Lease {
        match self.lease() {
            Next::Fetch(lease) => lease,
            other => panic!("nothing to fetch: {other:?}"),
        }
    }

    fn rest(&self, lease: &Lease, rest: HostRest) -> Result<(), FrontierError> {
        at_once(self.frontier.rest(lease, rest))
    }

    /// Fetches the next URL; its host may be asked again at once.
    #[track_caller]
    fn answered(&self) -> Lease {
        let lease = self.fetch();
        self.rest(&lease, HostRest::AfterResponse(Duration::ZERO)).unwrap();
        lease
    }

    fn give_back(&self, lease: &Lease) -> Result<(), FrontierError> {
        at_once(self.frontier.give_back(lease, HostRest::NotRequested(Duration::ZERO)))
    }

    fn claim(&self, host: &str) -> Claim {
        at_once(self.frontier.claim(&self.worker, host)).unwrap()
    }

    fn release(&self, claim: LeaseId) -> Result<(), FrontierError> {
        at_once(self.frontier.release(claim, HostRest::AfterResponse(Duration::ZERO)))
    }

    fn match_content(&self, lease: &Lease, digest: u64) -> ContentMatch {
        at_once(self.frontier.match_content(lease, digest)).unwrap()
    }

    fn settle(&self, settlement: Settlement) -> SettledBatch {
        at_once(self.frontier.settle(&self.worker, &[settlement], b"")).unwrap()
    }

    #[track_caller]
    fn end(&self, lease: Lease, settled: Settled) {
        assert_eq!(self.settle(Settlement::new(lease, settled)), SettledBatch::default());
    }

    fn gauges(&self) -> Gauges {
        self.frontier.gauges()
    }

    fn totals(&self) -> Totals {
        self.frontier.totals()
    }

    /// Fetches everything that is ready; gives the URLs in their order.
    fn drain(&self) -> Vec<String> {
        let mut urls = Vec::new();
        while let Next::Fetch(lease) = self.lease() {
            urls.push(lease.link.url.to_string());
            self.rest(&lease, HostRest::AfterResponse(Duration::ZERO)).unwrap();
            self.end(lease, done(Outcome::Stored));
        }
        urls
    }
}

fn link(url: &str) -> Link {
    Link::seed(url.parse().unwrap())
}

fn links(host: u32, pages: std::ops::Range<u32>) -> Vec<Link> {
    pages.map(|page| link(&format!("http://h{host}.test/{page}"))).collect()
}

fn done(outcome: Outcome) -> Settled {
    Settled::Done(FetchRecord { outcome, bytes: 10, milliseconds: 5, digest: 0 })
}

/// Another holder of the same lease.
fn copy(lease: &Lease) -> Lease {
    Lease { link: lease.link.clone(), attempts: lease.attempts, validators: None, patience: None, id: lease.id }
}

macro_rules! contract {
    ($($name:ident),+ $(,)?) => {
        mod embedded {
            $(#[test] fn $name() { super::$name::<super::Embedded>() })+
        }
        mod memory {
            $(#[test] fn $name() { super::$name::<super::Memory>() })+
        }
        #[cfg(feature = "redis")]
        mod redis {
            $(#[test] fn $name() {
                if super::super::redis::tests::has_server() {
                    super::$name::<super::Redis<1>>()
                }
            })+
        }
        #[cfg(feature = "redis")]
        mod redis_partitions {
            $(#[test] fn $name() {
                if super::super::redis::tests::has_server() {
                    super::$name::<super::Redis<5>>()
                }
            })+
        }
    };
}

contract! {
    a_url_is_handed_out_once_however_often_it_is_offered,
    a_page_brings_its_links_when_it_is_settled_and_pays_them_once,
    a_redirect_passes_all_it_has_to_its_target,
    a_host_is_asked_one_thing_at_a_time,
    a_batch_of_leases_has_one_of_each_host_and_no_more_than_asked_for,
    a_host_rests_as_long_as_it_was_told,
    a_lease_given_back_is_next_and_one_to_try_again_is_last,
    what_concerns_a_lease_that_has_ended_is_refused,
    what_is_asked_for_twice_is_done_once,
    the_policy_decides_the_order,
    a_url_found_again_moves_ahead_and_is_still_handed_out_once,
    a_host_gives_no_more_than_its_budget_which_may_change,
    a_page_that_repeats_another_of_its_host_is_told,
    a_claimed_host_is_nobody_elses,
    a_waiting_url_is_fetched_by_its_best_claims,
    a_url_that_ended_by_a_worse_claim_is_put_back_a_few_times_at_most,
    a_better_claim_that_comes_during_a_fetch_counts_after_it,
    an_expedited_url_is_next_and_fetched_once,
    what_was_kept_is_given_again,
    every_host_is_told_with_its_figures,
}

fn a_url_is_handed_out_once_however_often_it_is_offered<B: Backend>() {
    let bench = open::<B>();
    assert_eq!(bench.offer(&links(1, 0..100)), Offered { new: 100, known: 0, postponed: 0 });
    assert_eq!(bench.offer(&links(1, 50..150)), Offered { new: 50, known: 50, postponed: 0 });
    let urls = bench.drain();
    assert_eq!((urls.len(), urls.iter().collect::<HashSet<_>>().len()), (150, 150));
    assert_eq!(bench.offer(&links(1, 0..150)).new, 0, "settled URLs stay known");
    assert!(matches!(bench.lease(), Next::Empty));
}

fn a_page_brings_its_links_when_it_is_settled_and_pays_them_once<B: Backend>() {
    let bench = open_with::<B>(Settings { order: Box::new(Opic::default()), ..Settings::default() });
    bench.offer(&links(1, 0..1));
    let lease = bench.answered();
    let again = copy(&lease);
    let found = || [links(1, 0..4), links(2, 0..4), links(2, 0..4)].concat();
    let outlinks = || Some(Outlinks { links: found(), ..Outlinks::default() });
    assert_eq!(bench.gauges().known, 1, "nothing is known of it before");
    bench.settle(Settlement { lease, settled: done(Outcome::Stored), outlinks: outlinks() });
    assert_eq!((bench.gauges().known, bench.gauges().pending), (8, 7), "each once, and not the page itself");
    let id = again.id;
    let refused = bench.settle(Settlement { lease: again, settled: done(Outcome::Stored), outlinks: outlinks() });
    assert_eq!(refused.fenced, [id]);
    assert_eq!((bench.gauges().known, bench.totals().settled()), (8, 1), "it is not settled twice");
    assert_eq!(bench.drain().len(), 7);
}

fn a_redirect_passes_all_it_has_to_its_target<B: Backend>() {
    let bench = open_with::<B>(Settings { order: Box::new(Opic::default()), ..Settings::default() });
    bench.offer(&[links(1, 0..1), links(2, 0..1)].concat());
    let (first, second) = (bench.answered(), bench.answered());
    let outlinks = |links: Vec<Link>, is_redirect| Some(Outlinks { links, is_redirect, ..Outlinks::default() });
    let many = [vec![link("http://x.test/many")], links(3, 0..9)].concat();
    let many: Vec<Link> = many.into_iter().map(|link| Link { depth: 1, ..link }).collect();
    let target = vec![Link { depth: 1, hops: 1, ..link("http://x.test/target") }];
    bench.settle(Settlement { lease: first, settled: done(Outcome::Stored), outlinks: outlinks(many, false) });
    bench.settle(Settlement { lease: second, settled: done(Outcome::Redirected), outlinks: outlinks(target, true) });
    let of_host = |urls: Vec<String>| urls.into_iter().filter(|url| url.contains("x.test")).collect::<Vec<_>>();
    assert_eq!(of_host(bench.drain()), ["http://x.test/target", "http://x.test/many"]);
}

fn a_host_is_asked_one_thing_at_a_time<B: Backend>() {
    let bench = open::<B>();
    bench.offer(&[links(1, 0..2), links(2, 0..2)].concat());
    let (first, second) = (bench.fetch(), bench.fetch());
    assert_ne!(first.link.host(), second.link.host());
    assert!(matches!(bench.lease(), Next::Wait(_)));
    bench.rest(&first, HostRest::AfterResponse(Duration::ZERO)).unwrap();
    assert_eq!(bench.fetch().link.host(), first.link.host(), "it has answered, though it is not settled");
}

fn a_batch_of_leases_has_one_of_each_host_and_no_more_than_asked_for<B: Backend>() {
    let bench = open::<B>();
    bench.offer(&(0..6).flat_map(|host| links(host, 0..3)).collect::<Vec<_>>());
    let lease = |most| match at_once(bench.frontier.lease(&bench.worker, most)).unwrap() {
        Leases::Granted(leases) => leases.iter().map(|lease| lease.link.host()).collect::<BTreeSet<_>>(),
        other => panic!("{other:?}"),
    };
    assert_eq!(lease(4).len(), 4);
    assert_eq!(lease(100).len(), 2, "those that are left");
    assert!(matches!(bench.lease(), Next::Wait(_)));
}

fn a_host_rests_as_long_as_it_was_told<B: Backend>() {
    let bench = open::<B>();
    bench.offer(&links(1, 0..3));
    let lease = bench.fetch();
    bench.rest(&lease, HostRest::AfterResponse(Duration::from_secs(60))).unwrap();
    bench.end(lease, done(Outcome::Stored));
    let Next::Wait(time) = bench.lease() else { panic!("it rests") };
    assert!(time > Duration::from_secs(59) && time < Duration::from_secs(61), "{time:?}");
    bench.clock.advance(Duration::from_millis(59_999));
    assert!(matches!(bench.lease(), Next::Wait(_)));
    bench.clock.advance(Duration::from_millis(2));
    bench.fetch();
}

fn a_lease_given_back_is_next_and_one_to_try_again_is_last<B: Backend>() {
    let bench = open::<B>();
    bench.offer(&links(1, 0..3));
    let lease = bench.fetch();
    bench.give_back(&lease).unwrap();
    let lease = bench.answered();
    assert_eq!((lease.link.url.path(), lease.attempts), ("/0", 0));
    bench.end(lease, Settled::Retry);
    let mut paths = Vec::new();
    for _ in 0..3 {
        let lease = bench.answered();
        paths.push((lease.link.url.path().to_owned(), lease.attempts));
        bench.end(lease, done(Outcome::Stored));
    }
    assert_eq!(paths, [("/1".to_owned(), 0), ("/2".to_owned(), 0), ("/0".to_owned(), 1)]);
}

fn what_concerns_a_lease_that_has_ended_is_refused<B: Backend>() {
    let bench = open::<B>();
    bench.offer(&links(1, 0..1));
    let old = bench.fetch();
    bench.give_back(&old).unwrap();
    let new = bench.fetch();
    assert_eq!(old.link.url, new.link.url);
    assert!(new.id.fence() > old.id.fence());
    let is_fenced = |result: Result<(), FrontierError>| matches!(result, Err(FrontierError::Fenced));
    assert!(is_fenced(bench.give_back(&old)));
    assert!(is_fenced(bench.rest(&old, HostRest::AfterResponse(Duration::ZERO))));
    assert!(matches!(at_once(bench.frontier.match_content(&old, 7)), Err(FrontierError::Fenced)));
    assert!(is_fenced(at_once(bench.frontier.renew(&bench.worker, &[new.id, old.id]))));
    at_once(bench.frontier.renew(&bench.worker, &[new.id])).unwrap();
    let id = old.id;
    assert_eq!(bench.settle(Settlement::new(old, done(Outcome::NotFound))).fenced, [id]);
    assert!(matches!(bench.lease(), Next::Wait(_)), "the host is busy with the new one");
    bench.rest(&new, HostRest::AfterResponse(Duration::ZERO)).unwrap();
    bench.end(new, done(Outcome::Stored));
    assert_eq!((bench.totals().of(Outcome::Stored), bench.totals().settled()), (1, 1));
    let Claim::Granted(claim) = bench.claim("h1.test") else { panic!("it is free") };
    bench.release(claim).unwrap();
    assert!(is_fenced(bench.release(claim)));
}

fn what_is_asked_for_twice_is_done_once<B: Backend>() {
    let bench = open::<B>();
    bench.offer(&links(1, 0..3));
    let first = bench.answered();
    let second = bench.fetch();
    bench.rest(&first, HostRest::AfterResponse(Duration::ZERO)).unwrap();
    assert!(matches!(bench.lease(), Next::Wait(_)), "the host is busy with the second");
    bench.rest(&second, HostRest::AfterResponse(Duration::ZERO)).unwrap();
    let mut n_requests = 0;
    at_once(bench.frontier.hosts(&mut |host| n_requests += host.fetched)).unwrap();
    assert_eq!(n_requests, 2);
    bench.end(first, done(Outcome::Stored));
    bench.end(second, done(Outcome::Stored));
    assert_eq!(bench.drain().len(), 1);
}

fn the_policy_decides_the_order<B: Backend>() {
    let bench = open_with::<B>(Settings { order: Box::new(Level), ..Settings::default() });
    let pages = ["http://a.test/x/y/", "http://a.test/x/", "http://a.test/", "http://a.test/z/"];
    bench.offer(&pages.map(link));
    assert_eq!(bench.drain(), ["http://a.test/", "http://a.test/x/", "http://a.test/z/", "http://a.test/x/y/"]);
}

/// A policy that fetches first what was found most often.
pub(super) struct MostFound;

impl OrderingPolicy for MostFound {
    fn name(&self) -> &'static str {
        "most-found"
    }
    fn shared(&self) -> Option<SharedOrder> {
        Some(SharedOrder { hosts: HostOrder::Best, scores: ScoreOrder::Count(201) })
    }
    fn keeps_scores(&self) -> bool {
        true
    }
    fn prioritize(&mut self, _link: &Link, _host: &HostCounts, score: &mut f32) -> Priority {
        *score = 1.0;
        Priority(200)
    }
    fn reprioritize(&mut self, _link: &Link, _host: &HostCounts, score: &mut f32) -> Priority {
        *score += 1.0;
        Priority(201 - *score as u8)
    }
}

fn a_url_found_again_moves_ahead_and_is_still_handed_out_once<B: Backend>() {
    let bench = open_with::<B>(Settings { order: Box::new(MostFound), ..Settings::default() });
    bench.offer(&links(1, 0..5));
    for _ in 0..3 {
        bench.offer(&links(1, 4..5));
    }
    bench.offer(&links(1, 2..3));
    let urls = bench.drain();
    let paths: Vec<&str> = urls.iter().map(|url| url.rsplit('/').next().unwrap()).collect();
    assert_eq!(paths, ["4", "2", "0", "1", "3"]);
    bench.offer(&links(1, 0..5));
    assert!(matches!(bench.lease(), Next::Empty), "what is done stays done");
}

fn a_host_gives_no_more_than_its_budget_which_may_change<B: Backend>() {
    let bench = open_with::<B>(Settings { host_budget: 3, ..Settings::default() });
    bench.offer(&[links(1, 0..10), links(2, 0..2)].concat());
    assert_eq!(bench.drain().len(), 5);
    assert!(matches!(bench.lease(), Next::Empty));
    assert_eq!(bench.gauges().pending, 0, "the rest waits for a larger budget");
    at_once(bench.frontier.set_host_budget(6)).unwrap();
    assert_eq!(bench.gauges().pending, 7);
    assert_eq!(bench.drain().len(), 3);
    at_once(bench.frontier.set_host_budget(u64::MAX)).unwrap();
    assert_eq!(bench.drain().len(), 4);
}

fn a_page_that_repeats_another_of_its_host_is_told<B: Backend>() {
    let bench = open::<B>();
    bench.offer(&[links(1, 0..3), links(2, 0..1)].concat());
    let mut leases: Vec<Lease> = (0..4).map(|_| bench.answered()).collect();
    let other = leases.remove(leases.iter().position(|lease| lease.link.host() == "h2.test").unwrap());
    let (second, first) = (leases.pop().unwrap(), leases.pop().unwrap());
    assert_eq!(bench.match_content(&first, 77), ContentMatch::New);
    assert_eq!(bench.match_content(&second, 77), ContentMatch::Duplicate, "though the first is not settled yet");
    assert_eq!(bench.match_content(&first, 77), ContentMatch::New, "a page does not repeat itself");
    assert_eq!(bench.match_content(&other, 77), ContentMatch::New, "another host's copy takes nothing from this one");
    let record = FetchRecord { outcome: Outcome::Stored, bytes: 1, milliseconds: 1, digest: 77 };
    bench.end(first, Settled::Done(record));
    assert_eq!(bench.match_content(&second, 77), ContentMatch::Duplicate);
    assert_eq!(bench.match_content(&second, 78), ContentMatch::New);
}

fn a_claimed_host_is_nobody_elses<B: Backend>() {
    let bench = open::<B>();
    bench.offer(&links(1, 0..2));
    let Claim::Granted(claim) = bench.claim("h1.test") else { panic!("it is free") };
    assert_eq!(bench.claim("h1.test"), Claim::Busy);
    assert!(matches!(bench.lease(), Next::Wait(_)));
    bench.release(claim).unwrap();
    let lease = bench.fetch();
    assert_eq!(bench.claim("h1.test"), Claim::Busy);
    bench.rest(&lease, HostRest::AfterResponse(Duration::from_secs(9))).unwrap();
    let Claim::RetryAfter(wait) = bench.claim("h1.test") else { panic!("it rests") };
    assert!(wait > Duration::from_secs(8));
    assert!(matches!(bench.claim("new.test"), Claim::Granted(_)));
}

/// A claim about one URL.
fn claim(kind: Kind, depth: u32, hops: u8) -> Link {
    Link { kind, depth, hops, ..link("http://a.test/x") }
}

fn parts(lease: &Lease) -> (Kind, u32, u8) {
    (lease.link.kind, lease.link.depth, lease.link.hops)
}

fn a_waiting_url_is_fetched_by_its_best_claims<B: Backend>() {
    let bench = open::<B>();
    for (kind, depth, hops) in [(Kind::Probe, 0, 0), (Kind::Page, 5, 9), (Kind::Page, 7, 1), (Kind::Page, 2, 9)] {
        bench.offer(&[claim(kind, depth, hops)]);
    }
    assert_eq!(bench.gauges().pending, 1);
    let lease = bench.answered();
    assert_eq!(parts(&lease), (Kind::Page, 2, 1));
    bench.end(lease, done(Outcome::Stored));
    assert!(matches!(bench.lease(), Next::Empty), "it was fetched once");
}

fn a_url_that_ended_by_a_worse_claim_is_put_back_a_few_times_at_most<B: Backend>() {
    let bench = open::<B>();
    let settle = |outcome: Outcome| {
        let lease = bench.answered();
        let claim = parts(&lease);
        bench.end(lease, done(outcome));
        claim
    };
    bench.offer(&[claim(Kind::Page, 9, 10)]);
    assert_eq!(settle(Outcome::TooManyRedirects), (Kind::Page, 9, 10));
    bench.offer(&[claim(Kind::Page, 9, 10)]);
    assert!(matches!(bench.lease(), Next::Empty), "the same claim changes nothing");
    bench.offer(&[claim(Kind::Page, 9, 0)]);
    assert_eq!(settle(Outcome::Stored), (Kind::Page, 9, 0));
    let mut n_revivals = 0;
    for depth in (0..9).rev() {
        bench.offer(&[claim(Kind::Page, depth, 0)]);
        if bench.gauges().pending > 0 {
            assert_eq!(settle(Outcome::Stored), (Kind::Page, depth, 0));
            n_revivals += 1;
        }
    }
    assert_eq!(n_revivals, 2, "and one for the redirects");
    assert!(matches!(bench.lease(), Next::Empty));
}

fn a_better_claim_that_comes_during_a_fetch_counts_after_it<B: Backend>() {
    for ends in [Settled::Retry, done(Outcome::Stored)] {
        let bench = open::<B>();
        bench.offer(&[claim(Kind::Page, 3, 0)]);
        let lease = bench.fetch();
        bench.offer(&[claim(Kind::Page, 1, 0)]);
        bench.rest(&lease, HostRest::AfterResponse(Duration::ZERO)).unwrap();
        bench.end(lease, ends);
        let lease = bench.answered();
        assert_eq!(parts(&lease), (Kind::Page, 1, 0));
        bench.end(lease, done(Outcome::Stored));
        assert!(matches!(bench.lease(), Next::Empty));
    }
}

fn an_expedited_url_is_next_and_fetched_once<B: Backend>() {
    let bench = open::<B>();
    bench.offer(&links(1, 0..30));
    at_once(bench.frontier.expedite(&links(1, 20..22))).unwrap();
    let urls = bench.drain();
    let paths: Vec<&str> = urls.iter().map(|url| url.rsplit('/').next().unwrap()).collect();
    assert_eq!((paths.len(), &paths[..3]), (30, &["21", "20", "0"][..]));
}

fn what_was_kept_is_given_again<B: Backend>() {
    let frontier = open::<B>().frontier;
    assert_eq!(at_once(frontier.stored_robots("http://a.test")).unwrap(), None);
    let robots = super::StoredRobots { body: b"Disallow: /".to_vec(), fetched_at: std::time::SystemTime::now() };
    at_once(frontier.store_robots("http://a.test", &robots)).unwrap();
    let kept = at_once(frontier.stored_robots("http://a.test")).unwrap().expect("it was stored");
    assert_eq!(kept.body, robots.body);
    let url: url::Url = "http://b.test/x".parse().unwrap();
    (0..2).for_each(|_| at_once(frontier.extend_scope(&url)).unwrap());
    assert_eq!(at_once(frontier.scope_extensions()).unwrap(), [url]);
}

fn every_host_is_told_with_its_figures<B: Backend>() {
    let bench = open::<B>();
    bench.offer(&[links(1, 0..3), links(2, 0..1)].concat());
    let lease = bench.answered();
    bench.end(lease, done(Outcome::Stored));
    let mut told = Vec::new();
    at_once(bench.frontier.hosts(&mut |host| {
        told.push((host.name.to_owned(), host.pending, host.fetched, host.stored, host.bytes, host.milliseconds));
    }))
    .unwrap();
    told.sort();
    assert_eq!(told, [("h1.test".to_owned(), 2, 1, 1, 10, 5), ("h2.test".to_owned(), 1, 0, 0, 0, 0)]);
    assert_eq!(bench.gauges(), Gauges { pending: 3, known: 4, leased: 0, ready_hosts: 2, hosts: 2, postponed: 0 });
}

#[test]
fn a_lease_in_memory_that_is_not_renewed_is_another_workers() {
    let clock = Clock::manual(UNIX_EPOCH);
    let options = MemoryOptions::new(Box::new(Breadth));
    let lease_time = Some(Duration::from_secs(60));
    let frontier = MemoryFrontier::new(MemoryOptions { lease_time, clock: clock.clone(), ..options });
    let bench = |worker: &str| {
        let granted = at_once(frontier.lease(&WorkerId::new(worker), 9)).unwrap();
        if let Leases::Granted(leases) = granted { leases } else { Vec::new() }
    };
    at_once(frontier.offer(&[links(1, 0..1), links(2, 0..1)].concat())).unwrap();
    let [kept, lost]: [Lease; 2] = bench("one").try_into().unwrap();
    clock.advance(Duration::from_secs(40));
    assert!(bench("two").is_empty());
    at_once(frontier.renew(&WorkerId::new("one"), &[kept.id])).unwrap();
    assert!(at_once(frontier.renew(&WorkerId::new("two"), &[lost.id])).is_err(), "it is not its own");
    clock.advance(Duration::from_secs(40));
    let taken = bench("two");
    assert_eq!((taken.len(), &taken[0].link.url), (1, &lost.link.url));
    let batch = [Settlement::new(kept, done(Outcome::Stored)), Settlement::new(copy(&lost), done(Outcome::Stored))];
    let settled = at_once(frontier.settle(&WorkerId::new("one"), &batch, b"")).unwrap();
    assert_eq!((settled.fenced, frontier.totals().settled()), (vec![lost.id], 1));
}
