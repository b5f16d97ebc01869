//! What a shared frontier adds to the contract: several workers, leases that end, servers that end.

use std::collections::HashSet;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, UNIX_EPOCH};

use pith_web::RedisServer;
use tempfile::TempDir;

use super::super::{FetchRecord, Frontier, HostRest, Lease, Leases, Link, Outlinks, Settled, Settlement, WorkerId};
use super::{CrawlSettings, RedisAddress, RedisFrontier, RedisOptions};
use crate::clock::Clock;
use crate::order::Opic;
use crate::outcome::Outcome;

/// The server of all tests of this process; it ends with the process.
fn server() -> Option<&'static RedisServer> {
    static SERVER: OnceLock<Option<(RedisServer, TempDir)>> = OnceLock::new();
    let made = SERVER.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let server = RedisServer::start(folder.path(), &["--appendfsync", "no"]).unwrap();
        server.map(|server| (server, folder))
    });
    made.as_ref().map(|(server, _)| server)
}

/// Whether there is a server; says so when there is none.
pub(in crate::frontier) fn has_server() -> bool {
    let is_there = server().is_some();
    if !is_there {
        eprintln!("skipped: there is no redis-server on this machine");
    }
    is_there
}

/// The address of a crawl that no other test has.
pub(in crate::frontier) fn address() -> Option<RedisAddress> {
    static N_CRAWLS: AtomicU32 = AtomicU32::new(0);
    let crawl = format!("test-{}", N_CRAWLS.fetch_add(1, Ordering::Relaxed));
    Some(server()?.address(&crawl).parse().unwrap())
}

fn options(address: &RedisAddress, worker: &str) -> RedisOptions {
    RedisOptions { partitions: Some(3), ..RedisOptions::new(address.clone(), worker, Box::new(Opic::default())) }
}

async fn open(options: RedisOptions) -> RedisFrontier {
    RedisFrontier::open(options, &CrawlSettings::new()).await.unwrap()
}

fn links(hosts: u32, pages: u32) -> Vec<Link> {
    let urls = (0..hosts * pages).map(|n| format!("http://h{}.test/{}", n % hosts, n / hosts));
    urls.map(|url| Link::page(url.parse().unwrap(), 1)).collect()
}

fn done() -> Settled {
    Settled::Done(FetchRecord { outcome: Outcome::Stored, bytes: 10, milliseconds: 5, digest: 0 })
}

async fn granted(frontier: &RedisFrontier, worker: &WorkerId, most: usize) -> Vec<Lease> {
    match frontier.lease(worker, most).await.unwrap() {
        Leases::Granted(leases) => leases,
        Leases::Wait(_) | Leases::Empty => Vec::new(),
    }
}

#[tokio::test]
async fn a_lease_that_is_not_renewed_is_another_workers_and_its_host_rests_first() {
    let Some(address) = address().filter(|_| has_server()) else { return };
    let clock = Clock::manual(UNIX_EPOCH);
    let minute = Duration::from_secs(60);
    let shared = |worker: &str| RedisOptions {
        clock: Some(clock.clone()),
        lease_time: Some(minute),
        first_rest: Duration::from_secs(1),
        ..options(&address, worker)
    };
    let (one, two) = (open(shared("one")).await, open(shared("two")).await);
    let (first, second) = (WorkerId::new("one"), WorkerId::new("two"));
    one.offer(&links(2, 1)).await.unwrap();
    let [kept, lost]: [Lease; 2] = granted(&one, &first, 9).await.try_into().unwrap();
    clock.advance(minute / 2);
    one.renew(&first, &[kept.id]).await.unwrap();
    assert!(two.renew(&second, &[lost.id]).await.is_err(), "it is not its own");
    clock.advance(minute / 2 + Duration::from_millis(1));
    assert!(granted(&two, &second, 9).await.is_empty(), "its host rests");
    clock.advance(Duration::from_secs(1));
    let taken = granted(&two, &second, 9).await;
    assert_eq!((taken.len(), &taken[0].link.url), (1, &lost.link.url));
    let fenced = lost.id;
    let batch = [Settlement::new(kept, done()), Settlement::new(lost, done())];
    let settled = one.settle(&first, &batch, b"behind").await.unwrap();
    assert_eq!((settled.fenced, one.totals().settled()), (vec![fenced], 1));
    let batch = taken.into_iter().map(|lease| Settlement::new(lease, done())).collect::<Vec<_>>();
    assert_eq!(two.settle(&second, &batch, b"").await.unwrap().fenced, []);
    assert!(matches!(two.lease(&second, 9).await.unwrap(), Leases::Empty));
    assert_eq!(open(shared("one")).await.sink_position(), b"behind");
}

#[tokio::test]
async fn many_urls_of_many_pages_are_handed_out_once_each() {
    let Some(address) = address().filter(|_| has_server()) else { return };
    let (one, two) = (open(options(&address, "one")).await, open(options(&address, "two")).await);
    let workers = [(WorkerId::new("one"), &one), (WorkerId::new("two"), &two)];
    one.offer(&links(20, 1)).await.unwrap();
    let mut seen = HashSet::new();
    let mut has_work = true;
    while has_work {
        has_work = false;
        for (worker, frontier) in &workers {
            let mut batch = Vec::new();
            for lease in granted(frontier, worker, 7).await {
                has_work = true;
                assert!(seen.insert(lease.link.url.to_string()), "{} came twice", lease.link.url);
                frontier.rest(&lease, HostRest::AfterResponse(Duration::ZERO)).await.unwrap();
                let found = Outlinks { links: links(20, 150), ..Outlinks::default() };
                let outlinks = (seen.len() % 20 == 1).then_some(found);
                batch.push(Settlement { lease, settled: done(), outlinks });
            }
            frontier.settle(worker, &batch, b"").await.unwrap();
        }
    }
    assert_eq!(seen.len(), 3000);
    for (worker, frontier) in &workers {
        assert!(matches!(frontier.lease(worker, 1).await.unwrap(), Leases::Empty));
        assert_eq!((frontier.gauges().known, frontier.totals().settled()), (3000, 3000));
    }
}

#[tokio::test]
async fn what_a_worker_wrote_down_and_left_is_delivered_once() {
    let Some(address) = address().filter(|_| has_server()) else { return };
    let one = open(options(&address, "one")).await;
    let worker = WorkerId::new("one");
    one.offer(&links(1, 1)).await.unwrap();
    let lease = granted(&one, &worker, 1).await.remove(0);
    let outlinks = Some(Outlinks { links: links(9, 2), ..Outlinks::default() });
    let batch = [Settlement { lease, settled: done(), outlinks }];
    // It writes the batch down, tells nobody and dies.
    one.write_down(&worker, &batch, b"behind").await;
    let again = open(options(&address, "one")).await;
    assert_eq!(again.sink_position(), b"behind");
    assert!(granted(&again, &worker, 1).await.len() == 1);
    assert_eq!((again.gauges().known, again.totals().settled()), (18, 1));
}
