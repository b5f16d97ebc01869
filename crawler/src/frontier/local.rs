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
use super::{Claim, ContentMatch, Frontier, Gauges, HostRest, HostTally, Kind};
use super::{Lease, LeaseId, Link, Next, Offered, Settled, StoredRobots, Totals};
use crate::clock::Clock;
use crate::error::Error;
use crate::order::{Explore, FetchedPage, OrderingPolicy, Priority};
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

impl Frontier for LocalFrontier {
    fn offer(&self, page: Option<FetchedPage<'_>>, links: &[Link]) -> Result<Offered, Error> {
        self.lock().offer(page, links)
    }

    fn expedite(&self, links: &[Link]) -> Result<(), Error> {
        self.lock().expedite(links)
    }

    fn lease(&self) -> Result<Next, Error> {
        self.lock().lease()
    }

    fn rest(&self, lease: &Lease, rest: HostRest) -> Result<(), Error> {
        let mut inner = self.lock();
        if lease.link.kind == Kind::Page && !matches!(rest, HostRest::NotRequested(_)) {
            inner.hosts.get_mut(lease.id.host).pages += 1;
        }
        inner.rest(lease.id.host, rest)
    }

    fn give_back(&self, lease: Lease, rest: HostRest) -> Result<(), Error> {
        self.lock().give_back(lease.id, rest)
    }

    fn claim(&self, host: &str) -> Result<Claim, Error> {
        self.lock().claim(host)
    }

    fn release(&self, host: u32, rest: HostRest) -> Result<(), Error> {
        self.lock().rest(host, rest)
    }

    fn n_waiting_hosts(&self, is_full: bool) -> usize {
        self.lock().lanes.n_waiting(is_full)
    }

    fn count_work(&self, host: u32, work: Duration) {
        let mut inner = self.lock();
        let inner = &mut *inner;
        inner.lanes.count_work(inner.hosts.get_mut(host), work);
    }

    fn set_load(&self, busy_share: f64) {
        let mut inner = self.lock();
        let now = inner.now();
        inner.lanes.set_load(busy_share, now);
    }

    fn disk_trouble(&self) -> Option<&'static str> {
        disk_trouble(&self.lock().folder)
    }

    fn offer_last(&self, links: &[Link]) -> Result<Offered, Error> {
        self.lock().offer_last(links)
    }

    fn match_content(&self, lease: &Lease, digest: u64) -> Result<ContentMatch, Error> {
        let mut inner = self.lock();
        let content = inner.match_content(lease.id, digest)?;
        if matches!(content, ContentMatch::New | ContentMatch::Same) {
            inner.hosts.get_mut(lease.id.host).account.has_page = true;
            inner.update_lane(lease.id.host);
        }
        Ok(content)
    }

    fn settle(&self, leases: Vec<(Lease, Settled)>, sink_position: &[u8]) -> Result<(), Error> {
        self.lock().settle(leases, sink_position)
    }

    fn extend_scope(&self, url: &Url) -> Result<(), Error> {
        let mut inner = self.lock();
        if !inner.scope_extensions.iter().any(|known| known == url.as_str()) {
            inner.scope_extensions.push(url.to_string());
            inner.journal.push(&Event::ScopeExtended { url: url.to_string() })?;
        }
        Ok(())
    }

    fn scope_extensions(&self) -> Vec<Url> {
        self.lock().scope_extensions.iter().filter_map(|url| url.parse().ok()).collect()
    }

    fn store_robots(&self, origin: &str, robots: &StoredRobots) -> Result<(), Error> {
        self.lock().robots.set(origin, robots)
    }

    fn stored_robots(&self, origin: &str) -> Result<Option<StoredRobots>, Error> {
        self.lock().robots.get(origin)
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

    fn hosts(&self, each: &mut dyn FnMut(HostTally<'_>)) {
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
    /// Pages whose scores were distributed to their links and that were not settled when the previous process was
    /// killed, by host. They are fetched first, so that the order of the crawl stays the same.
    interrupted: HashMap<u32, Vec<u64>>,
    /// Hosts that are ready for a request.
    lanes: Lanes,
    /// Resting hosts, by the microsecond at which their rest ends.
    resting: BinaryHeap<Reverse<(u64, u32)>>,
    done: Vec<u64>,
    attempts: HashMap<u32, u8>,
    leased: HashMap<LeaseId, ActiveLease>,
    leased_urls: HashSet<u32>,
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
    /// Whether a link of another priority than the last waits, and when that was found out.
    ranked_waits: (bool, Duration),
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
