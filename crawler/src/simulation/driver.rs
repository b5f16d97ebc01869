//! Drives a frontier through a simulated crawl as the engine does: lease, ask, rest, store, settle; and ends it at random.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::{Duration, Instant, UNIX_EPOCH};

use tempfile::TempDir;

use super::model::Model;
use super::settings::Settings;
use super::web::{Answer, Web};
use crate::clock::Clock;
use crate::error::Error;
use crate::frontier::{
    Claim, ContentMatch, FetchRecord, Frontier, HostRest, Kind, Lease, Link, LocalFrontier, LocalOptions, Next,
    Settled, StoredLease, simulated_disk,
};
use crate::order::{FetchedPage, SplitMix64, order_named};
use crate::outcome::Outcome;
use crate::pace::{Addresses, Failures, Health};

const MAX_STEPS: usize = 20_000;
const MAX_ATTEMPTS: u8 = 3;
const MAX_HOPS: u8 = 10;

/// What happened in a crawl; equal for equal seeds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ending {
    pub(super) n_steps: u64,
    pub(super) n_stored: u64,
    pub(super) n_crashes: u64,
    pub(super) n_power_cuts: u64,
    pub(super) n_adopted: u64,
    /// A digest of everything in its order.
    history: u64,
}

impl Ending {
    pub(super) fn add(&mut self, other: &Ending) {
        self.n_steps += other.n_steps;
        self.n_stored += other.n_stored;
        self.n_crashes += other.n_crashes;
        self.n_power_cuts += other.n_power_cuts;
        self.n_adopted += other.n_adopted;
    }
}

/// A request that is on its way.
enum Request {
    Page {
        lease: Lease,
        answer: Answer,
        address: usize,
    },
    /// A robots.txt that another host redirects to.
    Robots {
        host: u32,
        name: String,
    },
}

/// How a crawl ends before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Crash {
    Kill,
    PowerCut,
    Orderly,
}

struct Driver {
    settings: Settings,
    web: Web,
    model: Model,
    clock: Clock,
    /// For pacing by address, which reads the time as an instant.
    origin: Instant,
    random: SplitMix64,
    folder: TempDir,
    addresses: Addresses,
    failures: Failures,
    /// Requests by the time at which they end.
    in_flight: BinaryHeap<Reverse<(Duration, u64)>>,
    requests: std::collections::HashMap<u64, Request>,
    n_requests: u64,
    /// Pages on their way to the sink, and what the sink holds.
    uncommitted: Vec<(Lease, FetchRecord)>,
    without_page: Vec<(Lease, Settled)>,
    /// What the sink holds: pages, each with whether it is a copy or only refers to an equal page.
    sink: Vec<(usize, Outcome)>,
    n_committed: usize,
    ending: Ending,
    is_told: bool,
}

/// Crawls until everything is done.
pub(super) fn simulate(settings: Settings) -> Ending {
    let mut driver = Driver::new(settings);
    simulated_disk::begin();
    let mut frontier = driver.open();
    for step in 0.. {
        assert!(step < MAX_STEPS, "the crawl does not end");
        driver.ending.n_steps += 1;
        if driver.random.below(1000) < driver.settings.crash_rate {
            frontier = driver.crash(frontier);
        }
        let result = driver.step(&frontier);
        if simulated_disk::has_failed() {
            frontier = driver.restart(frontier, Crash::Kill);
            continue;
        }
        if result.expect("nothing but a crash is an error") {
            break;
        }
        driver.model.check(&frontier, &driver.web);
    }
    driver.model.finished(&frontier, &driver.web);
    driver.check_sink();
    simulated_disk::end();
    driver.ending
}

impl Driver {
    fn new(settings: Settings) -> Driver {
        let clock = Clock::manual(UNIX_EPOCH + Duration::from_secs(1_767_225_600));
        Driver {
            web: Web::new(&settings),
            model: Model::new(&settings),
            clock,
            origin: Instant::now(),
            random: SplitMix64::new(settings.seed),
            folder: tempfile::tempdir().expect("a temporary folder"),
            addresses: Addresses::new(settings.per_address, &settings.delay),
            failures: Failures::default(),
            in_flight: BinaryHeap::new(),
            requests: Default::default(),
            n_requests: 0,
            uncommitted: Vec::new(),
            without_page: Vec::new(),
            sink: Vec::new(),
            n_committed: 0,
            ending: Ending::default(),
            is_told: std::env::var_os("PITH_SEED").is_some(),
            settings,
        }
    }

    fn now(&self) -> Duration {
        self.clock.elapsed()
    }

    /// Notes what happens, for the history of the seed.
    fn tell(&mut self, what: impl FnOnce() -> String) {
        let what = what();
        self.ending.history = xxhash_rust::xxh3::xxh3_64_with_seed(what.as_bytes(), self.ending.history);
        if self.is_told {
            println!("{:12.6} {what}", self.now().as_secs_f64());
        }
    }

    fn journal(&self) -> PathBuf {
        self.folder.path().join("journal")
    }

    fn open(&mut self) -> LocalFrontier {
        let options = LocalOptions {
            host_budget: self.settings.host_budget,
            first_rest: self.settings.delay.least(),
            bloom_bytes: 4096,
            explore: self.settings.explore,
            slots: self.settings.slots,
            tracks_depth: self.settings.has_claims,
            clock: self.clock.clone(),
            ..LocalOptions::new(order_named(self.settings.order).expect("a policy"))
        };
        let frontier = LocalFrontier::open(self.folder.path(), options).expect("a crash leaves what can be opened");
        self.model.reopened(&frontier, &self.web, self.now(), self.journal_bytes());
        self.adopt(&frontier).expect("stored pages can be adopted");
        frontier.offer(None, &self.web.seeds()).expect("seeds can be offered");
        self.model.check(&frontier, &self.web);
        frontier
    }

    /// Settles the pages that the sink holds and the frontier does not know to be stored.
    fn adopt(&mut self, frontier: &LocalFrontier) -> Result<(), Error> {
        let position = frontier.sink_position();
        let n_known = match position.is_empty() {
            true => 0,
            false => String::from_utf8_lossy(&position).parse().expect("a position of this sink"),
        };
        assert!(n_known <= self.sink.len(), "{n_known} pages were settled, and {} are stored", self.sink.len());
        for index in n_known..self.sink.len() {
            let (page, _) = self.sink[index];
            self.tell(|| format!("adopt {page}"));
            self.ending.n_adopted += 1;
            let url = self.web.url(page);
            let StoredLease { lease, is_refresh, .. } = frontier.lease_stored(&url, self.clock.date())?;
            assert!(!is_refresh || self.settings.has_claims, "page {page} is settled and stored behind the position");
            self.model.lease_stored(page, &Web::host_name(self.web.host(page)), self.now());
            let (record, _) = self.store(frontier, &lease, page)?;
            frontier.settle(vec![(lease, Settled::Done(record))], format!("{}", index + 1).as_bytes())?;
            self.model.done(page, &Web::host_name(self.web.host(page)), record.outcome, self.journal_bytes());
        }
        self.n_committed = self.sink.len();
        frontier.finish_adoption()
    }

    fn journal_bytes(&self) -> u64 {
        std::fs::metadata(self.journal()).map_or(0, |file| file.len())
    }

    /// One round of the engine's loop; `true` when everything is done.
    fn step(&mut self, frontier: &LocalFrontier) -> Result<bool, Error> {
        if self.random.below(20) == 0 {
            self.claim(frontier)?;
        }
        if self.random.below(10) == 0 {
            frontier.set_load(self.random.below(100) as f64 / 100.0);
        }
        let next = self.fill_slots(frontier)?;
        if self.random.below(4) == 0 {
            self.commit(frontier)?;
        }
        let ends = self.in_flight.peek().map(|Reverse((at, _))| *at);
        match (ends, next) {
            (Some(at), Next::Wait(wait)) if self.now() + wait < at => self.clock.advance(wait),
            (Some(_), _) => self.finish_request(frontier)?,
            (None, Next::Wait(wait)) => {
                self.commit(frontier)?;
                self.clock.advance(wait.min(Duration::from_secs(3600)));
                frontier.set_load(0.1);
            }
            (None, _) => {
                let is_over = self.uncommitted.is_empty() && self.without_page.is_empty();
                self.commit(frontier)?;
                return Ok(is_over);
            }
        }
        Ok(false)
    }

    /// Leases while slots are free; gives why it ended.
    fn fill_slots(&mut self, frontier: &LocalFrontier) -> Result<Next, Error> {
        while self.in_flight.len() < self.settings.slots {
            let next = frontier.lease()?;
            let Next::Fetch(lease) = next else {
                self.model.nothing_to_lease(frontier, self.in_flight.len(), self.now());
                return Ok(next);
            };
            self.begin_request(frontier, lease)?;
        }
        Ok(Next::Wait(Duration::from_millis(200)))
    }

    fn begin_request(&mut self, frontier: &LocalFrontier, lease: Lease) -> Result<(), Error> {
        let (page, host, now) = (Web::page(&lease.link.url), lease.link.host(), self.now());
        self.tell(|| format!("lease {page} of {host}, attempt {}", lease.attempts));
        self.model.lease(page, &host, now);
        let address = self.web.host(page) % self.settings.n_addresses;
        if let Err(wait) = self.addresses.acquire(ip(address), self.origin + now) {
            frontier.give_back(lease, HostRest::NotRequested(wait))?;
            self.model.give_back(page);
            self.model.rest(&host, wait, false, now);
            return Ok(());
        }
        self.model.use_address(address, now);
        self.n_requests += 1;
        let (answer, latency) = self.web.answer(page, lease.attempts, self.n_requests);
        self.in_flight.push(Reverse((now + latency, self.n_requests)));
        self.requests.insert(self.n_requests, Request::Page { lease, answer, address });
        Ok(())
    }

    /// Claims a host, as for a robots.txt that another host redirects to.
    fn claim(&mut self, frontier: &LocalFrontier) -> Result<(), Error> {
        let (name, now) = (Web::host_name(self.random.below(self.settings.n_hosts + 1)), self.now());
        match frontier.claim(&name)? {
            Claim::Granted(host) => {
                self.tell(|| format!("claim {name}"));
                self.model.take_host(&name, now);
                self.n_requests += 1;
                self.in_flight.push(Reverse((now + Duration::from_millis(30), self.n_requests)));
                self.requests.insert(self.n_requests, Request::Robots { host, name });
            }
            Claim::Busy => assert!(self.model.host(&name).is_busy, "{name} is not busy"),
            Claim::RetryAfter(wait) => assert!(!wait.is_zero(), "a wait of nothing is no wait"),
        }
        Ok(())
    }

    fn finish_request(&mut self, frontier: &LocalFrontier) -> Result<(), Error> {
        let Some(Reverse((at, number))) = self.in_flight.pop() else { return Ok(()) };
        self.clock.advance(at.saturating_sub(self.now()));
        let now = self.now();
        match self.requests.remove(&number).expect("a request that is in flight") {
            Request::Robots { host, name } => {
                let rest = self.settings.delay.after(Duration::from_millis(30));
                self.model.begin_rest(&name, rest);
                frontier.release(host, HostRest::AfterResponse(rest))?;
                self.model.rest(&name, rest, true, now);
                Ok(())
            }
            Request::Page { lease, answer, address } => {
                self.addresses.release(ip(address), self.origin + now);
                self.model.free_address(address, now);
                self.answered(frontier, lease, answer)
            }
        }
    }

    /// Handles an answer as the processor does: the host rests, then the lease ends.
    fn answered(&mut self, frontier: &LocalFrontier, lease: Lease, answer: Answer) -> Result<(), Error> {
        let (page, host, now) = (Web::page(&lease.link.url), lease.link.host(), self.now());
        self.tell(|| format!("answer {page} {answer:?}"));
        let usual = self.settings.delay.after(Duration::from_micros(self.random.below(400_000) as u64));
        let health = match answer {
            Answer::Overloaded(wait) => Health::Overloaded(wait),
            Answer::Unreachable => Health::Unreachable,
            Answer::Aborted | Answer::NotSent => {
                let rest = if answer == Answer::Aborted { HostRest::Aborted } else { HostRest::NotRequested };
                self.model.begin_rest(&host, usual);
                frontier.give_back(lease, rest(usual))?;
                self.model.give_back(page);
                self.model.rest(&host, usual, answer == Answer::Aborted, now);
                return Ok(());
            }
            _ => Health::Healthy,
        };
        let rest = usual.max(self.failures.back_off(&host, health));
        self.model.begin_rest(&host, rest);
        frontier.rest(&lease, HostRest::AfterResponse(rest))?;
        self.model.rest(&host, rest, true, now);
        frontier.count_work(lease.id.host, Duration::from_micros(self.random.below(3000) as u64));
        let outcome = match (lease.link.kind, answer) {
            (Kind::Probe, _) => Outcome::Probed,
            (_, Answer::Page { .. }) if lease.link.kind == Kind::Sitemap => {
                frontier.offer(None, &self.web.links(&lease.link))?;
                Outcome::SitemapRead
            }
            (_, Answer::Page { .. }) => {
                let (record, is_stored) = self.store(frontier, &lease, page)?;
                if is_stored {
                    self.uncommitted.push((lease, record));
                } else {
                    self.without_page.push((lease, Settled::Done(record)));
                }
                return Ok(());
            }
            (_, Answer::NotFound) => Outcome::NotFound,
            (_, Answer::Redirect { .. }) if lease.link.hops >= MAX_HOPS => Outcome::TooManyRedirects,
            (_, Answer::Redirect { to }) => {
                let target = Link { hops: lease.link.hops + 1, ..Link::page(self.web.url(to), lease.link.depth) };
                let from = FetchedPage { link: &lease.link, n_links: 1, body: b"" };
                frontier.offer(Some(from), &[target])?;
                Outcome::Redirected
            }
            _ if lease.attempts + 1 < MAX_ATTEMPTS => {
                self.without_page.push((lease, Settled::Retry));
                return Ok(());
            }
            _ => Outcome::ServerError,
        };
        let record = FetchRecord { outcome, status: 404, bytes: 0, milliseconds: 7, digest: 0 };
        self.without_page.push((lease, Settled::Done(record)));
        Ok(())
    }

    /// Offers the links of a page and gives its record, and whether the sink gets it.
    fn store(&mut self, frontier: &LocalFrontier, lease: &Lease, page: usize) -> Result<(FetchRecord, bool), Error> {
        let (Answer::Page { digest }, _) = self.web.answer(page, MAX_ATTEMPTS, 0) else {
            unreachable!("a page that was stored")
        };
        let content = frontier.match_content(lease, digest)?;
        if content != ContentMatch::Duplicate {
            let links = self.web.links(&lease.link);
            let from = FetchedPage { link: &lease.link, n_links: links.len(), body: b"<p>text" };
            frontier.offer(Some(from), &links)?;
        }
        let (outcome, digest) = match content {
            ContentMatch::New | ContentMatch::Same => (Outcome::Stored, digest),
            ContentMatch::Duplicate => (Outcome::Duplicate, 0),
            ContentMatch::Unchanged => (Outcome::NotModified, 0),
        };
        let is_stored = content != ContentMatch::Unchanged;
        let bytes = if is_stored { 7 } else { 0 };
        Ok((FetchRecord { outcome, status: 200, bytes, milliseconds: 7, digest }, is_stored))
    }

    /// Makes pages durable and settles what has ended.
    fn commit(&mut self, frontier: &LocalFrontier) -> Result<(), Error> {
        let pages: Vec<_> = self.uncommitted.drain(..).collect();
        self.sink.extend(pages.iter().map(|(lease, record)| (Web::page(&lease.link.url), record.outcome)));
        self.n_committed = self.sink.len();
        let pages = pages.into_iter().map(|(lease, record)| (lease, Settled::Done(record)));
        let all: Vec<(Lease, Settled)> = self.without_page.drain(..).chain(pages).collect();
        let ends: Vec<_> = all.iter().map(|(lease, settled)| (lease.link.clone(), *settled)).collect();
        frontier.settle(all, format!("{}", self.n_committed).as_bytes())?;
        let journal_bytes = self.journal_bytes();
        for (link, settled) in ends {
            let page = Web::page(&link.url);
            self.tell(|| format!("settled {page} {settled:?}"));
            match settled {
                Settled::Retry => self.model.retry(page, &link.host()),
                Settled::Done(record) => self.model.done(page, &link.host(), record.outcome, journal_bytes),
            }
        }
        Ok(())
    }

    /// Ends the process in one of the ways there are, or lets one of its next writes be the last.
    fn crash(&mut self, frontier: LocalFrontier) -> LocalFrontier {
        match self.random.below(5) {
            0 => self.restart(frontier, Crash::Kill),
            1 => self.restart(frontier, Crash::PowerCut),
            2 => self.restart(frontier, Crash::Orderly),
            3 => {
                simulated_disk::fail_after(1 + self.random.below(40) as u64);
                frontier
            }
            _ => {
                // A checkpoint has many writes: the last one is one of them, or comes after it.
                simulated_disk::fail_after(1 + self.random.below(60) as u64);
                let _ = frontier.checkpoint();
                frontier
            }
        }
    }

    fn restart(&mut self, frontier: LocalFrontier, crash: Crash) -> LocalFrontier {
        if crash == Crash::Orderly && self.commit(&frontier).and_then(|()| frontier.checkpoint()).is_err() {
            assert!(simulated_disk::has_failed(), "nothing but a crash is an error");
        }
        drop(frontier);
        simulated_disk::mend();
        self.tell(|| format!("{crash:?}"));
        self.ending.n_crashes += 1;
        self.model.crash(self.now());
        // Of the pages that were not committed, the sink has any number.
        let n_uncommitted = self.uncommitted.len();
        let n_written = self.random.below(n_uncommitted + 1);
        let written = self.uncommitted.drain(..).take(n_written);
        self.sink.extend(written.map(|(lease, record)| (Web::page(&lease.link.url), record.outcome)));
        self.without_page.clear();
        self.in_flight.clear();
        self.requests.clear();
        self.addresses = Addresses::new(self.settings.per_address, &self.settings.delay);
        self.failures = Failures::default();
        let mut down = Duration::from_micros([0, 1, 400_000][self.random.below(3)]);
        if crash == Crash::PowerCut {
            self.ending.n_power_cuts += 1;
            self.model.cut_power(simulated_disk::synced_bytes(&self.journal()));
            simulated_disk::cut_power(self.folder.path(), &mut self.random).expect("files can be cut");
            down += Duration::from_secs(30);
        }
        self.clock.advance(down);
        self.open()
    }

    /// Every page is stored once.
    fn check_sink(&mut self) {
        let is_copy = |(_, outcome): &&(usize, Outcome)| *outcome == Outcome::Stored;
        let mut stored: Vec<usize> = self.sink.iter().filter(is_copy).map(|(page, _)| *page).collect();
        stored.sort_unstable();
        assert!(stored.windows(2).all(|pair| pair[0] != pair[1]), "a page is stored twice: {stored:?}");
        self.ending.n_stored = stored.len() as u64;
    }
}

fn ip(address: usize) -> IpAddr {
    IpAddr::from([192, 0, 2, address as u8])
}
