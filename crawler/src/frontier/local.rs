//! The embedded frontier: one folder, one process.
//!
//! The journal is the source of truth. Queues, the set of known URLs and the checkpoint are derived from it; after a
//! crash the frontier is restored from the last checkpoint and the complete batches of the journal after it.

mod adopt;
mod host_state;
pub(super) mod lanes;
mod lease;
mod offer;
mod open;
mod reclaim;
mod refresh;
mod settle;
mod waiting;

pub use waiting::RestingHost;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, SystemTime};

use hashbrown::{HashMap, HashSet};
use url::Url;

pub(crate) use self::adopt::StoredLease;
use self::adopt::UrlOffsets;
use self::lanes::Lanes;
use self::refresh::RefreshScheduler;
use super::claims::Claims;
use super::hosts::Hosts;
use super::journal::{self, Event, Journal};
use super::queue::Blocks;
use super::records::Records;
use super::robots_file::RobotsFile;
use super::scores::Scores;
use super::seen::Seen;
use super::visits::Visits;
use super::{Claim, ContentMatch, Frontier, FrontierError, Gauges, HostRest, HostTally, Kind, Lease, LeaseId, Leases};
use super::{Link, Next, Offered, SettledBatch, Settlement, StoredRobots, Totals, WorkerId};
use crate::clock::Clock;
use crate::error::Error;
use crate::order::{Explore, OrderingPolicy, Priority};
use crate::recrawl::Refresh;
use crate::trouble::disk_trouble;

/// How an embedded frontier behaves.
pub struct LocalOptions {
    /// The ordering policy.
    pub policy: Box<dyn OrderingPolicy>,
    /// The largest number of requests to one host.
    pub host_budget: u64,
    /// The rest of every host with waiting URLs after reopening: the previous process may have had a request in flight
    /// when it ended.
    pub first_rest: Duration,
    /// Memory for the Bloom filter.
    pub bloom_bytes: usize,
    /// The share of pages that are chosen at random.
    pub explore: Explore,
    /// How stored pages are fetched again, if at all.
    pub refresh: Option<Refresh>,
    /// The requests that are in flight at once: hosts that bring nothing, or little for the time they take, get a part.
    pub slots: usize,
    /// Whether the depth of the crawl is limited: then a page to which a shorter way is found is fetched again for its
    /// links.
    pub tracks_depth: bool,
    /// Tells the time.
    pub clock: Clock,
}

impl LocalOptions {
    /// No host budget, no first rest, no exploration, slots without bound, and a Bloom filter for about twenty million URLs.
    pub fn new(policy: Box<dyn OrderingPolicy>) -> LocalOptions {
        LocalOptions {
            policy,
            host_budget: u64::MAX,
            first_rest: Duration::ZERO,
            bloom_bytes: 16 << 20,
            explore: Explore::NOTHING,
            refresh: None,
            slots: usize::MAX,
            tracks_depth: false,
            clock: Clock::system(),
        }
    }
}

/// The embedded frontier.
pub struct LocalFrontier {
    inner: Mutex<Inner>,
}

impl LocalFrontier {
    /// Opens the frontier in a folder, or creates one.
    ///
    /// # Errors
    /// When a file cannot be read or written, or is corrupt in a way that a crash cannot explain.
    pub fn open(folder: &Path, options: LocalOptions) -> Result<LocalFrontier, Error> {
        Ok(LocalFrontier { inner: Mutex::new(Inner::open(folder, options)?) })
    }

    /// The sink position that was last passed to [`Frontier::settle`]; empty for a new frontier.
    pub fn sink_position(&self) -> Vec<u8> {
        self.lock().sink_position.clone()
    }

    /// The number of stored pages that this run fetched again, and how many of them had changed.
    pub fn refreshed(&self) -> (u64, u64) {
        self.lock().refresh.as_ref().map_or((0, 0), |refresh| (refresh.n_requested, refresh.n_changed))
    }

    /// Writes a checkpoint, so that the next opening replays little of the journal.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn checkpoint(&self) -> Result<(), Error> {
        self.lock().checkpoint()
    }

    /// Whether there is a frontier in a folder.
    pub fn exists(folder: &Path) -> bool {
        journal::exists(&folder.join("journal"))
    }

    /// Leases a URL whose page is stored already, whatever its host does now; the URL is added if it is not known. The
    /// host rests as after a request. For pages that the sink holds and the frontier has not settled.
    pub(crate) fn lease_stored(&self, url: &Url, fetched_at: SystemTime) -> Result<StoredLease, Error> {
        self.lock().lease_stored(url, fetched_at)
    }

    /// How a URL was found; `None` for one that was never offered.
    pub(crate) fn known_link(&self, url: &Url) -> Result<Option<(Link, u64)>, Error> {
        self.lock().known_link(url)
    }

    /// Ends a series of [`LocalFrontier::lease_stored`] or [`LocalFrontier::known_link`].
    pub(crate) fn finish_adoption(&self) -> Result<(), Error> {
        self.lock().finish_adoption()
    }

    /// How far a URL has come; `None` when it is not known.
    #[cfg(test)]
    pub(crate) fn stage(&self, url: &Url) -> Result<Option<Stage>, Error> {
        let mut inner = self.lock();
        let fingerprint = xxhash_rust::xxh3::xxh3_64_with_seed(url.as_str().as_bytes(), inner.journal.key());
        let number = inner.seen.get(fingerprint)?;
        Ok(number.map(|number| match (inner.leased_urls.contains(&number), is_set(&inner.done, number)) {
            (true, _) => Stage::Leased,
            (false, true) => Stage::Done,
            (false, false) => Stage::Waiting,
        }))
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().expect("nothing panics while it holds the frontier")
    }
}

/// The calls of [`Frontier`], answered at once. The folder has one worker, and its leases last as long as the process.
impl LocalFrontier {
    /// See [`Frontier::offer`].
    pub fn offer(&self, links: &[Link]) -> Result<Offered, FrontierError> {
        Ok(self.lock().offer(links)?)
    }

    /// See [`Frontier::expedite`].
    pub fn expedite(&self, links: &[Link]) -> Result<(), FrontierError> {
        Ok(self.lock().expedite(links)?)
    }

    /// The next URL to fetch, from a host that is ready.
    pub fn lease(&self) -> Result<Next, FrontierError> {
        Ok(self.lock().lease()?)
    }

    /// See [`Frontier::renew`].
    pub fn renew(&self, leases: &[LeaseId]) -> Result<(), FrontierError> {
        let inner = self.lock();
        leases.iter().try_for_each(|lease| inner.held(*lease).map(drop))
    }

    /// See [`Frontier::rest`].
    pub fn rest(&self, lease: &Lease, rest: HostRest) -> Result<(), FrontierError> {
        let mut inner = self.lock();
        let id = inner.held(lease.id)?;
        if lease.link.kind == Kind::Page && !matches!(rest, HostRest::NotRequested(_)) {
            inner.hosts.get_mut(id.host).pages += 1;
        }
        Ok(inner.rest(id.host, rest)?)
    }

    /// See [`Frontier::give_back`].
    pub fn give_back(&self, lease: &Lease, rest: HostRest) -> Result<(), FrontierError> {
        let mut inner = self.lock();
        let id = inner.held(lease.id)?;
        Ok(inner.give_back(id, rest)?)
    }

    /// See [`Frontier::claim`].
    pub fn claim(&self, host: &str) -> Result<Claim, FrontierError> {
        Ok(self.lock().claim(host)?)
    }

    /// See [`Frontier::release`].
    pub fn release(&self, claim: LeaseId, rest: HostRest) -> Result<(), FrontierError> {
        let mut inner = self.lock();
        let host = inner.end_claim(claim).ok_or(FrontierError::Fenced)?;
        Ok(inner.rest(host, rest)?)
    }

    /// See [`Frontier::match_content`].
    pub fn match_content(&self, lease: &Lease, digest: u64) -> Result<ContentMatch, FrontierError> {
        let mut inner = self.lock();
        let id = inner.held(lease.id)?;
        let content = inner.match_content(id, digest)?;
        if matches!(content, ContentMatch::New | ContentMatch::Same) {
            inner.hosts.get_mut(id.host).account.has_page = true;
            inner.update_lane(id.host);
        }
        Ok(content)
    }

    /// See [`Frontier::settle`].
    pub fn settle(&self, batch: &[Settlement], sink_position: &[u8]) -> Result<SettledBatch, FrontierError> {
        Ok(self.lock().settle(batch, sink_position)?)
    }

    /// See [`Frontier::hosts`].
    pub fn hosts(&self, each: &mut dyn FnMut(HostTally<'_>)) {
        for (_, host) in self.lock().hosts.iter() {
            each(HostTally {
                name: &host.name,
                pending: u64::from(host.pending),
                fetched: u64::from(host.fetched),
                stored: u64::from(host.stored),
                bytes: host.bytes,
                milliseconds: host.milliseconds,
            });
        }
    }

    /// See [`Frontier::set_host_budget`].
    pub fn set_host_budget(&self, budget: u64) -> Result<(), FrontierError> {
        self.lock().set_host_budget(budget);
        Ok(())
    }
}

impl Frontier for LocalFrontier {
    async fn offer(&self, links: &[Link]) -> Result<Offered, FrontierError> {
        self.offer(links)
    }

    async fn expedite(&self, links: &[Link]) -> Result<(), FrontierError> {
        self.expedite(links)
    }

    async fn lease(&self, _: &WorkerId, most: usize) -> Result<Leases, FrontierError> {
        let mut granted = Vec::new();
        while granted.len() < most.max(1) {
            match self.lease()? {
                Next::Fetch(lease) => granted.push(lease),
                Next::Wait(_) | Next::Empty if !granted.is_empty() => break,
                Next::Wait(time) => return Ok(Leases::Wait(time)),
                Next::Empty => return Ok(Leases::Empty),
            }
        }
        Ok(Leases::Granted(granted))
    }

    async fn renew(&self, _: &WorkerId, leases: &[LeaseId]) -> Result<(), FrontierError> {
        self.renew(leases)
    }

    async fn rest(&self, lease: &Lease, rest: HostRest) -> Result<(), FrontierError> {
        self.rest(lease, rest)
    }

    async fn give_back(&self, lease: &Lease, rest: HostRest) -> Result<(), FrontierError> {
        self.give_back(lease, rest)
    }

    async fn claim(&self, _: &WorkerId, host: &str) -> Result<Claim, FrontierError> {
        self.claim(host)
    }

    async fn release(&self, claim: LeaseId, rest: HostRest) -> Result<(), FrontierError> {
        self.release(claim, rest)
    }

    async fn match_content(&self, lease: &Lease, digest: u64) -> Result<ContentMatch, FrontierError> {
        self.match_content(lease, digest)
    }

    async fn settle(
        &self,
        _: &WorkerId,
        batch: &[Settlement],
        sink_position: &[u8],
    ) -> Result<SettledBatch, FrontierError> {
        self.settle(batch, sink_position)
    }

    async fn set_host_budget(&self, budget: u64) -> Result<(), FrontierError> {
        self.set_host_budget(budget)
    }

    async fn extend_scope(&self, url: &Url) -> Result<(), FrontierError> {
        let mut inner = self.lock();
        if !inner.scope_extensions.iter().any(|known| known == url.as_str()) {
            inner.scope_extensions.push(url.to_string());
            inner.journal.push(&Event::ScopeExtended { url: url.to_string() })?;
        }
        Ok(())
    }

    async fn scope_extensions(&self) -> Result<Vec<Url>, FrontierError> {
        Ok(self.lock().scope_extensions.iter().filter_map(|url| url.parse().ok()).collect())
    }

    async fn store_robots(&self, origin: &str, robots: &StoredRobots) -> Result<(), FrontierError> {
        Ok(self.lock().robots.set(origin, robots)?)
    }

    async fn stored_robots(&self, origin: &str) -> Result<Option<StoredRobots>, FrontierError> {
        Ok(self.lock().robots.get(origin)?)
    }

    async fn hosts(&self, each: &mut dyn FnMut(HostTally<'_>)) -> Result<(), FrontierError> {
        self.hosts(each);
        Ok(())
    }

    fn reads_text(&self) -> bool {
        self.lock().policy.reads_text()
    }

    fn gauges(&self) -> Gauges {
        let inner = self.lock();
        Gauges {
            pending: inner.pending,
            known: u64::from(inner.n_urls),
            leased: inner.leased.len() as u64,
            ready_hosts: inner.lanes.n_ready() as u64,
            hosts: inner.hosts.len() as u64,
        }
    }

    fn totals(&self) -> Totals {
        self.lock().totals.clone()
    }

    fn n_waiting_hosts(&self, is_full: bool) -> usize {
        self.lock().lanes.n_waiting(is_full)
    }

    fn count_work(&self, host: &str, work: Duration) {
        let mut inner = self.lock();
        let inner = &mut *inner;
        if let Some(number) = inner.hosts.find(host) {
            inner.lanes.count_work(inner.hosts.get_mut(number), work);
        }
    }

    fn set_load(&self, busy_share: f64) {
        let mut inner = self.lock();
        let now = inner.now();
        inner.lanes.set_load(busy_share, now);
    }

    fn set_slots(&self, slots: usize) {
        self.lock().lanes.set_slots(slots);
    }

    fn disk_trouble(&self) -> Option<&'static str> {
        disk_trouble(&self.lock().folder)
    }
}

/// A leased URL in the terms of this frontier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct LeaseKey {
    /// The host, by number.
    host: u32,
    /// The URL, by number.
    url: u32,
    /// The offset of its record in the journal.
    offset: u64,
}

impl LeaseKey {
    fn of(id: LeaseId) -> LeaseKey {
        let key = id.key();
        LeaseKey { host: (key >> 96) as u32, url: (key >> 64) as u32, offset: key as u64 }
    }

    /// A claimed host, of which no URL is leased.
    fn of_host(host: u32) -> LeaseKey {
        LeaseKey { host, url: u32::MAX, offset: 0 }
    }

    fn leased(self, fence: u64) -> LeaseId {
        LeaseId::new(u128::from(self.host) << 96 | u128::from(self.url) << 64 | u128::from(self.offset), fence)
    }
}

/// How far a URL has come.
#[cfg(test)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    Waiting,
    Leased,
    Done,
}

/// The state of a lease until it is settled.
struct ActiveLease {
    fence: u64,
    priority: Priority,
    attempts: u8,
    kind: Kind,
    /// Whether this is a refresh of a stored page.
    is_refresh: bool,
    /// When the page was fetched, in milliseconds since 1970; `None` for now.
    fetched_at: Option<u64>,
}

/// Everything behind the lock. Its methods are in the submodules: [`offer`] adds links, [`host_state`] schedules hosts,
/// [`lease`] hands out URLs, [`settle`] ends leases, [`adopt`] settles pages that are stored already, [`reclaim`] applies better claims, [`refresh`] schedules stored
/// pages again, [`open`] restores everything from disk.
struct Inner {
    folder: PathBuf,
    policy: Box<dyn OrderingPolicy>,
    host_budget: u64,
    journal: Journal,
    checkpointed: u64,
    seen: Seen,
    /// Content digests of stored pages, each mixed with its host, with the number of the URL.
    content_digests: Seen,
    /// Content digests of pages that are on their way to the sink and not settled.
    pending_digests: HashMap<u64, u32>,
    blocks: Blocks,
    hosts: Hosts,
    claims: Claims,
    /// Better claims about URLs that are leased.
    late_claims: HashMap<u32, Link>,
    /// Offsets in the journal of the validators of stored pages.
    validators: Records<NonZeroU64, 8>,
    scores: Option<Scores>,
    visits: Visits,
    robots: RobotsFile,
    refresh: Option<RefreshScheduler>,
    explore: Explore,
    /// Pages leased so far: the index of the next page for exploration.
    n_handed_out: u64,
    /// Hosts that are ready for a request.
    lanes: Lanes,
    /// Resting hosts, by the microsecond at which their rest ends.
    resting: BinaryHeap<Reverse<(u64, u32)>>,
    done: Vec<u64>,
    attempts: HashMap<u32, u8>,
    leased: HashMap<LeaseKey, ActiveLease>,
    leased_urls: HashSet<u32>,
    /// Hosts that are claimed, with the fence of the claim.
    claimed: HashMap<u32, u64>,
    /// The fence that was given out last.
    last_fence: u64,
    /// The offsets of all URL records, while stored pages are adopted and the policy keeps no scores.
    url_offsets: Option<UrlOffsets>,
    /// Hosts whose records are written: the first so many.
    n_hosts_written: u32,
    /// The shortest rest of a host after opening.
    first_rest: Duration,
    n_urls: u32,
    /// Whether queues may hold a URL twice, or one that is done: when the policy promotes URLs, and after the frontier
    /// was reopened.
    may_have_stale_entries: bool,
    pending: u64,
    totals: Totals,
    sink_position: Vec<u8>,
    scope_extensions: Vec<String>,
    clock: Clock,
    /// When the journal was last synced to disk.
    synced: Duration,
    host_name: String,
    /// Fingerprints of the links of one page, without duplicates.
    distinct_links: HashSet<u64>,
}

impl Inner {
    /// Makes sure, before a host gets a request, that a killed process leaves a record of the host: after reopening, all
    /// known hosts rest before they are asked again.
    fn write_host_record(&mut self, number: u32) -> Result<(), Error> {
        if number >= self.n_hosts_written { self.write() } else { Ok(()) }
    }

    /// The key of a lease, unless it has ended.
    fn held(&self, id: LeaseId) -> Result<LeaseKey, FrontierError> {
        let key = LeaseKey::of(id);
        let is_held = self.leased.get(&key).is_some_and(|held| held.fence == id.fence());
        is_held.then_some(key).ok_or(FrontierError::Fenced)
    }

    fn next_fence(&mut self) -> u64 {
        self.last_fence += 1;
        self.last_fence
    }

    fn now(&self) -> u64 {
        self.clock.elapsed().as_micros() as u64
    }

    /// Writes all changes so far to the files; a killed process loses none of them.
    fn write(&mut self) -> Result<(), Error> {
        self.n_hosts_written = self.hosts.len() as u32;
        let Some(scores) = &mut self.scores else {
            self.journal.write()?;
            return self.claims.write();
        };
        let (end, state) = (self.journal.end_when_written(), self.policy.state());
        scores.log(end, &state)?;
        self.journal.write()?;
        scores.journal_is_written(end, &state)?;
        self.claims.write()
    }
}

pub(super) fn is_set(bits: &[u64], index: u32) -> bool {
    bits.get(index as usize / 64).is_some_and(|word| word >> (index % 64) & 1 == 1)
}

pub(super) fn set(bits: &mut Vec<u64>, index: u32) {
    let word = index as usize / 64;
    if word >= bits.len() {
        bits.resize(word + 1, 0);
    }
    bits[word] |= 1 << (index % 64);
}

pub(super) fn unset(bits: &mut [u64], index: u32) {
    if let Some(word) = bits.get_mut(index as usize / 64) {
        *word &= !(1 << (index % 64));
    }
}
