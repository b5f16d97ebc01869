//! The processing of one lease: robots.txt and politeness checks, fetch, duplicate detection, links.

mod hops;
mod page;
mod preferences;
mod response;
mod robots;
mod sitemap;

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::time::{Duration, Instant};

use pith_notation::Headers;
use url::Url;

pub(crate) use self::hops::RobotsHop;
use self::hops::RobotsHops;
use self::preferences::{Owners, Permission};
use self::sitemap::SitemapBody;
use crate::error::Error;
use crate::fetch::{FetchResponse, Fetcher, Need, NotNow, Wanted, charset};
use crate::frontier::{
    FetchRecord, Frontier, HostRest, Kind, Lease, LeaseId, PatientFrontier, Settled, Settlement, host_of,
};
use crate::links::{AnchorText, LinkScanner};
use crate::mirror::Mirrors;
use crate::outcome::Outcome;
use crate::pace::{Addresses, Failures, Health};
use crate::page::Page;
use crate::plan::Plan;
use crate::progress::Unheard;
use crate::resolve::Resolver;
use crate::robots_cache::{RobotsCache, Rules};
use crate::scope::Scope;
use crate::sitemap::MAX_SITEMAP_BYTES;
use crate::snapshot::LiveTables;
use crate::soft404::Soft404Detector;
use crate::timed::timed;
use crate::trouble::Pauses;

/// A longer Crawl-delay is capped to this.
const MAX_CRAWL_DELAY: Duration = Duration::from_secs(600);

/// The part of the memory that is for robots.txt rules: one in so many.
const ROBOTS_SHARE: usize = 8;
/// How long a slot is held for a name to be resolved; a slower look-up goes on without it.
const LOOKUP_PATIENCE: Duration = Duration::from_millis(200);
/// How often a request that has used up its patience looks whether other hosts wait.
const PATIENCE_STEP: Duration = Duration::from_millis(250);

/// What a slot is used for.
pub(crate) enum Task {
    /// The URL of a lease.
    Lease(Lease),
    /// A robots.txt that other hosts redirect to.
    RobotsHop(RobotsHop),
}

/// The result of a task.
pub(crate) enum Processed {
    /// It was given back to the frontier.
    Returned(LeaseId),
    /// To be settled; there is no page to store.
    Settle(Settlement),
    /// To be settled once this page is durable.
    Store(Settlement, Box<Page>),
}

impl Processed {
    /// Whether a page was processed whose links were followed: neither a duplicate nor a missing page.
    pub(crate) fn is_news(&self) -> bool {
        let (Processed::Settle(settlement) | Processed::Store(settlement, _)) = self else { return false };
        match settlement.settled {
            Settled::Done(record) => !matches!(record.outcome, Outcome::SoftNotFound | Outcome::Duplicate),
            Settled::Retry => false,
        }
    }
}

/// What reads a body while it arrives.
enum BodyReader {
    /// The links of a page, if it is HTML.
    Links(Option<LinkScanner>),
    /// The entries of a sitemap.
    Sitemap(SitemapBody),
}

/// Processes leases; holds the state that all requests of a crawl share. It lives on one thread.
pub(crate) struct Processor<'c, F> {
    plan: &'c Plan,
    /// The plan's scope, extended by redirect targets of seeds.
    scope: RefCell<Scope>,
    frontier: PatientFrontier<'c, F>,
    fetcher: Fetcher,
    resolver: Resolver,
    anchors: AnchorText,
    robots: RefCell<RobotsCache>,
    failures: RefCell<Failures>,
    addresses: RefCell<Addresses>,
    soft404: RefCell<Soft404Detector>,
    mirrors: RefCell<Mirrors>,
    hops: RefCell<RobotsHops>,
    pauses: RefCell<Pauses>,
    owners: Owners,
    /// Pages that ask for something and were not heard: not to be stored, or not to be followed.
    unheard: Cell<Unheard>,
    /// Hosts that wait for a slot: so many requests that have used up their patience are aborted.
    n_waiting: Cell<usize>,
    live: LiveTables,
}

impl<'c, F: Frontier> Processor<'c, F> {
    pub(crate) async fn new(plan: &'c Plan, frontier: &'c F) -> Result<Processor<'c, F>, Error> {
        let resolver = Resolver::new(plan.network.overrides.clone(), plan.network.allow_private);
        let anchors = if frontier.reads_text() { AnchorText::Keep } else { AnchorText::Skip };
        let frontier = PatientFrontier::new(frontier, plan.worker.clone());
        let mut scope = plan.scope.clone();
        frontier.scope_extensions().await?.iter().for_each(|url| scope.add_seed(url));
        Ok(Processor {
            plan,
            scope: RefCell::new(scope),
            frontier,
            fetcher: Fetcher::new(plan, resolver.clone())?,
            resolver,
            anchors,
            robots: RefCell::new(RobotsCache::new(plan.memory / ROBOTS_SHARE)),
            failures: RefCell::default(),
            addresses: RefCell::new(Addresses::new(plan.politeness.per_address, &plan.politeness.delay)),
            soft404: RefCell::default(),
            mirrors: RefCell::new(Mirrors::new(&plan.seeds)),
            hops: RefCell::default(),
            pauses: RefCell::default(),
            owners: Owners::new(plan),
            unheard: Cell::default(),
            n_waiting: Cell::new(0),
            live: LiveTables::default(),
        })
    }

    /// Offers the seeds of the plan.
    pub(crate) async fn offer_seeds(&self) -> Result<(), Error> {
        self.frontier.offer(&self.plan.seed_links(&self.plan.seeds)).await.map(drop)
    }

    /// Offers more seeds, with which the scope grows.
    pub(crate) async fn add_seeds(&self, seeds: &[Url]) -> Result<(), Error> {
        for seed in seeds {
            self.extend_scope(seed).await?;
            self.mirrors.borrow_mut().keep(seed);
        }
        self.frontier.offer(&self.plan.seed_links(seeds)).await.map(drop)
    }

    /// The frontier, as this worker calls it.
    pub(crate) fn frontier(&self) -> &PatientFrontier<'c, F> {
        &self.frontier
    }

    /// The tables for whoever looks at the crawl.
    pub(crate) fn live(&self) -> &LiveTables {
        &self.live
    }

    /// The name of this crawler in robots directives.
    pub(crate) fn product(&self) -> &str {
        &self.plan.identity.product
    }

    /// Whether links are read with their text.
    pub(crate) fn anchors(&self) -> AnchorText {
        self.anchors
    }

    /// Takes a URL into the scope, in this run and later ones.
    pub(crate) async fn extend_scope(&self, url: &Url) -> Result<(), Error> {
        if self.scope.borrow().contains(url) {
            return Ok(());
        }
        self.scope.borrow_mut().add_seed(url);
        self.frontier.extend_scope(url).await
    }

    /// Does what a slot was given for. A lease that was lost meanwhile is another worker's, and nothing is left to do.
    pub(crate) async fn process(&self, task: Task) -> Result<Processed, Error> {
        let (id, host) = match &task {
            Task::Lease(lease) => (lease.id, lease.link.host()),
            Task::RobotsHop(hop) => (hop.claim, host_of(&hop.url)),
        };
        let work = async {
            match task {
                Task::Lease(lease) => self.process_lease(lease).await,
                Task::RobotsHop(hop) => self.process_hop(hop).await,
            }
        };
        let (processed, work) = timed(work).await;
        self.frontier.backend().count_work(&host, work);
        match processed {
            Err(Error::Fenced) => {
                tracing::warn!(host, "a lease was lost");
                Ok(Processed::Returned(id))
            }
            Ok(Processed::Returned(_)) => Ok(Processed::Returned(id)),
            processed => processed,
        }
    }

    /// The trouble of this machine for which the crawl pauses.
    pub(crate) fn trouble(&self) -> Option<&'static str> {
        self.pauses.borrow().current(Instant::now()).or(self.frontier.trouble())
    }

    /// Whether a response could not be had through no fault of the host; pauses the crawl if need be.
    fn is_postponed(&self, response: &Result<FetchResponse, Outcome>) -> bool {
        match response {
            Ok(FetchResponse::NotNow(NotNow::Trouble(what))) => {
                self.pauses.borrow_mut().begin(what, Instant::now());
                true
            }
            Ok(FetchResponse::NotNow(NotNow::Memory)) => true,
            Ok(_) => {
                self.pauses.borrow_mut().end(Instant::now());
                false
            }
            Err(_) => false,
        }
    }

    /// Pages of this run whose wishes were not heard.
    pub(crate) fn unheard(&self) -> Unheard {
        self.unheard.get()
    }

    /// Says how many hosts wait for a slot.
    pub(crate) fn set_waiting(&self, n_waiting: usize) {
        self.n_waiting.set(n_waiting);
    }

    async fn process_lease(&self, lease: Lease) -> Result<Processed, Error> {
        let url = lease.link.url.clone();
        let host = host_of(&url);
        if self.failures.borrow().is_unreachable(&host) {
            return self.settle_unrequested(lease, Outcome::NoConnection).await;
        }
        if self.mirrors.borrow().is_mirror(&host) {
            return self.settle_unrequested(lease, Outcome::Mirror).await;
        }
        let mut crawl_delay = None;
        if self.plan.politeness.robots {
            match self.rules(&url).await? {
                Rules::Unknown => return self.process_robots(lease, &host).await,
                Rules::Unreachable => return self.settle_unrequested(lease, Outcome::RobotsUnreachable).await,
                Rules::Known(robots) if !robots.allows_canonical(url.as_str()) => {
                    return self.settle_unrequested(lease, Outcome::Disallowed).await;
                }
                Rules::Known(robots) => crawl_delay = robots.crawl_delay(),
            }
        }
        match self.permission(&url).await? {
            Permission::Granted => {}
            Permission::Reserved => return self.settle_unrequested(lease, Outcome::Reserved).await,
            Permission::Unknown(at) => return self.process_tdmrep(lease, &host, at, crawl_delay).await,
        }
        let slot = match self.acquire_address(&url).await {
            Ok(slot) => slot,
            Err(wait) => return self.give_back(lease, HostRest::NotRequested(wait)).await,
        };
        let started = Instant::now();
        let fetched = self.unless_others_wait(lease.patience, self.fetch(&lease)).await;
        let elapsed = started.elapsed();
        drop(slot);
        let Some((response, reader)) = fetched else { return self.abort(lease, elapsed).await };
        if self.is_postponed(&response) {
            return self
                .give_back(lease, HostRest::AfterResponse(self.plan.politeness.delay_of(&host).after(elapsed)))
                .await;
        }
        self.rest_host(&lease, &host, elapsed, health_of(&response), crawl_delay).await?;
        self.handle_response(lease, response, reader, elapsed).await
    }

    async fn settle_unrequested(&self, lease: Lease, outcome: Outcome) -> Result<Processed, Error> {
        self.frontier.rest(&lease, HostRest::NotRequested(Duration::ZERO)).await?;
        Ok(settle(lease, done(outcome, 0, Duration::ZERO)))
    }

    async fn give_back(&self, lease: Lease, rest: HostRest) -> Result<Processed, Error> {
        self.frontier.give_back(&lease, rest).await?;
        Ok(Processed::Returned(lease.id))
    }

    /// Gives a lease back whose response took too long while other hosts waited. No attempt is counted.
    async fn abort(&self, lease: Lease, elapsed: Duration) -> Result<Processed, Error> {
        let rest = self.plan.politeness.delay_of(&lease.link.host()).after(elapsed);
        self.give_back(lease, HostRest::Aborted(rest)).await
    }

    /// Waits for a response; `None` when it took longer than its patience while other hosts waited for a slot.
    async fn unless_others_wait<T>(&self, patience: Option<Duration>, response: impl Future<Output = T>) -> Option<T> {
        let Some(mut wait) = patience else { return Some(response.await) };
        tokio::pin!(response);
        loop {
            tokio::select! {
                biased;
                response = &mut response => return Some(response),
                () = tokio::time::sleep(wait) => {}
            }
            if self.n_waiting.get() > 0 {
                self.n_waiting.set(self.n_waiting.get() - 1);
                return None;
            }
            wait = PATIENCE_STEP;
        }
    }

    /// Acquires a slot at the IP address of a host, which hosts may share; or gives the time after which to try again.
    async fn acquire_address(&self, url: &Url) -> Result<Option<AddressSlot<'_>>, Duration> {
        if self.plan.network.proxy.is_some() {
            return Ok(None);
        }
        // A name without an address fails on connecting, which gives the outcome.
        let found = self.resolver.lookup_within(url.host_str().unwrap_or(""), LOOKUP_PATIENCE).await?;
        let Ok(resolved) = found else { return Ok(None) };
        if resolved.by_override {
            return Ok(None);
        }
        let address = resolved.addresses[0].ip();
        self.addresses.borrow_mut().acquire(address, Instant::now())?;
        Ok(Some(AddressSlot { addresses: &self.addresses, address }))
    }

    async fn fetch(&self, lease: &Lease) -> (Result<FetchResponse, Outcome>, BodyReader) {
        let link = &lease.link;
        if link.kind == Kind::Sitemap {
            let wanted = Wanted::Sitemap(MAX_SITEMAP_BYTES);
            let mut body = SitemapBody::new(&link.url);
            let feed = |media_type: &str, _: &Headers, piece: &[u8]| body.feed(media_type, piece);
            let response = self.fetcher.fetch(&link.url, wanted, None, feed).await;
            return (response, BodyReader::Sitemap(body));
        }
        let mut scanner: Option<LinkScanner> = None;
        let product = &self.plan.identity.product;
        let response = self
            .fetcher
            .fetch(&link.url, Wanted::Pages, lease.validators.as_deref(), |media_type, headers, piece| {
                if is_html(media_type) {
                    let start = || LinkScanner::new(charset(headers).as_deref(), product, self.anchors);
                    scanner.get_or_insert_with(start).feed(piece);
                }
                Need::Body
            })
            .await;
        (response, BodyReader::Links(scanner))
    }

    /// Lets a host rest, counted from now: its response has just ended.
    async fn rest_host(
        &self,
        lease: &Lease,
        host: &str,
        elapsed: Duration,
        health: Health,
        crawl_delay: Option<Duration>,
    ) -> Result<(), Error> {
        let rest = self.rest_after(host, elapsed, health, crawl_delay);
        self.frontier.rest(lease, HostRest::AfterResponse(rest)).await
    }

    fn rest_after(&self, host: &str, elapsed: Duration, health: Health, crawl_delay: Option<Duration>) -> Duration {
        let usual = self.plan.politeness.delay_of(host).after(elapsed);
        let asked = crawl_delay.unwrap_or_default().min(MAX_CRAWL_DELAY);
        let rest = usual.max(asked).max(self.failures.borrow_mut().back_off(host, health));
        if health != Health::Healthy {
            tracing::debug!(host, ?health, ?rest, "the host is left alone");
        }
        self.live.rested(host, rest);
        rest
    }
}

/// A slot at a shared IP address; released when dropped, also when the request is cancelled.
struct AddressSlot<'v> {
    addresses: &'v RefCell<Addresses>,
    address: std::net::IpAddr,
}

impl Drop for AddressSlot<'_> {
    fn drop(&mut self) {
        self.addresses.borrow_mut().release(self.address, Instant::now());
    }
}

/// The end of a lease without a page to store or links to add.
fn settle(lease: Lease, settled: Settled) -> Processed {
    Processed::Settle(Settlement::new(lease, settled))
}

fn done(outcome: Outcome, bytes: u32, elapsed: Duration) -> Settled {
    Settled::Done(FetchRecord { outcome, bytes, milliseconds: milliseconds(elapsed), digest: 0 })
}

fn milliseconds(elapsed: Duration) -> u32 {
    u32::try_from(elapsed.as_millis()).unwrap_or(u32::MAX)
}

fn health_of(response: &Result<FetchResponse, Outcome>) -> Health {
    match response {
        Ok(FetchResponse::Status(429 | 503, wait)) => Health::Overloaded(*wait),
        Ok(FetchResponse::Status(500.., wait)) => Health::Overloaded(*wait),
        Err(Outcome::NoConnection | Outcome::NoAddress | Outcome::Timeout) => Health::Unreachable,
        _ => Health::Healthy,
    }
}

pub(crate) fn is_html(media_type: &str) -> bool {
    matches!(media_type, "text/html" | "application/xhtml+xml" | "")
}
