//! The embedded frontier: one folder, one process.
//!
//! The journal is the truth. Queues, the set of known URLs and the checkpoint are made from it; after a crash the
//! frontier is the last checkpoint plus the whole batches of the journal behind it.

mod lease;
mod open;
mod place;
mod refresh;
mod settle;
mod turns;

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use hashbrown::{HashMap, HashSet};
use url::Url;

use self::refresh::Refreshing;
use super::hosts::Hosts;
use super::journal::{Event, Journal};
use super::queue::Blocks;
use super::records::Records;
use super::scores::Scores;
use super::seen::Seen;
use super::visits::Visits;
use super::{Claim, Frontier, Gauges, HostTally, Kind, Lease, Link, Next, Offered, Pause, Settled, Ticket, Totals};
use crate::error::Error;
use crate::order::{Class, Explore, Order, Visit};
use crate::recrawl::Refresh;

/// How an embedded frontier behaves.
pub struct LocalOptions {
    /// The ordering policy.
    pub order: Box<dyn Order>,
    /// Requests that one host answers at most.
    pub host_budget: u64,
    /// The rest that every host with waiting URLs gets when a frontier is opened again: a request may have been on
    /// its way when the process before this one ended.
    pub first_rest: Duration,
    /// Memory for the Bloom filter.
    pub bloom_bytes: usize,
    /// The pages that are chosen by lot.
    pub explore: Explore,
    /// How pages that are kept are asked for again, if they are.
    pub refresh: Option<Refresh>,
}

impl LocalOptions {
    /// No budget, no rest, nothing by lot, and a filter that serves about twenty million URLs well.
    pub fn new(order: Box<dyn Order>) -> LocalOptions {
        LocalOptions {
            order,
            host_budget: u64::MAX,
            first_rest: Duration::ZERO,
            bloom_bytes: 16 << 20,
            explore: Explore::NOTHING,
            refresh: None,
        }
    }
}

/// The embedded frontier.
pub struct LocalFrontier {
    inner: Mutex<Inner>,
}

impl LocalFrontier {
    /// Opens the frontier in a folder, or starts one.
    ///
    /// # Errors
    /// When a file cannot be read or written, or holds what no crash can have left there.
    pub fn open(folder: &Path, options: LocalOptions) -> Result<LocalFrontier, Error> {
        Ok(LocalFrontier { inner: Mutex::new(Inner::open(folder, options)?) })
    }

    /// What was last given to [`Frontier::settle`] as the place of the sink; empty at the start.
    pub fn mark(&self) -> Vec<u8> {
        self.lock().mark.clone()
    }

    /// How many pages this run asked for again, and how many of them had changed.
    pub fn refreshed(&self) -> (u64, u64) {
        self.lock().refresh.as_ref().map_or((0, 0), |refresh| (refresh.n_asked, refresh.n_changed))
    }

    /// Writes a checkpoint, so that the next opening is quick.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn checkpoint(&self) -> Result<(), Error> {
        self.lock().checkpoint()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().expect("nothing panics while it holds the frontier")
    }
}

impl Frontier for LocalFrontier {
    fn offer(&self, page: Option<Visit<'_>>, links: &[Link]) -> Result<Offered, Error> {
        self.lock().offer(page, links)
    }

    fn lease(&self) -> Result<Next, Error> {
        self.lock().lease()
    }

    fn rest(&self, lease: &Lease, pause: Pause) -> Result<(), Error> {
        let mut inner = self.lock();
        if lease.link.kind == Kind::Page && matches!(pause, Pause::Answered(_)) {
            inner.hosts.get_mut(lease.ticket.host).pages += 1;
        }
        inner.rest(lease.ticket.host, pause)
    }

    fn give_back(&self, lease: Lease, pause: Pause) -> Result<(), Error> {
        self.lock().give_back(lease.ticket, pause)
    }

    fn claim(&self, host: &str) -> Result<Claim, Error> {
        self.lock().claim(host)
    }

    fn release(&self, host: u32, pause: Pause) -> Result<(), Error> {
        self.lock().rest(host, pause)
    }

    fn is_repeat(&self, lease: &Lease, digest: u64) -> Result<bool, Error> {
        self.lock().is_repeat(lease.ticket.url, digest)
    }

    fn settle(&self, leases: Vec<(Lease, Settled)>, mark: &[u8]) -> Result<(), Error> {
        self.lock().settle(leases, mark)
    }

    fn admit(&self, url: &Url) -> Result<(), Error> {
        let mut inner = self.lock();
        if !inner.admitted.iter().any(|known| known == url.as_str()) {
            inner.admitted.push(url.to_string());
            inner.journal.push(&Event::Admitted { url: url.to_string() })?;
        }
        Ok(())
    }

    fn admitted(&self) -> Vec<Url> {
        self.lock().admitted.iter().filter_map(|url| url.parse().ok()).collect()
    }

    fn reads_text(&self) -> bool {
        self.lock().order.reads_text()
    }

    fn gauges(&self) -> Gauges {
        let inner = self.lock();
        Gauges {
            pending: inner.pending,
            known: u64::from(inner.n_urls),
            leased: inner.leased.len() as u64,
            ready_hosts: inner.ready.len() as u64,
            hosts: inner.hosts.iter().len() as u64,
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

/// What is known of a lease while somebody holds it.
struct Held {
    class: Class,
    attempts: u8,
    kind: Kind,
    /// Whether the page was kept before and is asked for again.
    is_refresh: bool,
}

/// Everything behind the lock. What it does stands in the files below: [`place`] takes links in, [`turns`] says whose
/// turn it is, [`lease`] hands out, [`settle`] takes back, [`refresh`] asks again, [`open`] makes it all from the disk.
struct Inner {
    folder: PathBuf,
    order: Box<dyn Order>,
    host_budget: u64,
    journal: Journal,
    checkpointed: u64,
    seen: Seen,
    /// Digests of kept pages, each with the URL that it was kept under.
    contents: Seen,
    /// Digests of pages that are on their way to the sink.
    coming: HashMap<u64, u32>,
    blocks: Blocks,
    hosts: Hosts,
    /// Where the validators of kept pages stand in the journal.
    validators: Records<NonZeroU64, 8>,
    scores: Option<Scores>,
    visits: Visits,
    refresh: Option<Refreshing>,
    explore: Explore,
    /// Pages handed out, for the lot.
    n_handed_out: u64,
    /// Pages that had paid their links and were not settled when the process before this one was killed, by host:
    /// they are asked for first, so that everything is as it was.
    unfinished: HashMap<u32, Vec<u64>>,
    /// Hosts that may be asked now, by precedence.
    ready: BTreeSet<(u64, u32)>,
    /// Hosts that rest, by the microsecond at which they have rested enough.
    resting: BinaryHeap<Reverse<(u64, u32)>>,
    done: Vec<u64>,
    attempts: HashMap<u32, u8>,
    leased: HashMap<Ticket, Held>,
    leased_urls: HashSet<u32>,
    n_urls: u32,
    /// Whether a URL may stand in queues more than once, or though it is done: when a policy moves URLs ahead, and after
    /// the frontier was opened again.
    has_doubles: bool,
    pending: u64,
    totals: Totals,
    mark: Vec<u8>,
    admitted: Vec<String>,
    started: Instant,
    /// When the journal was last known to be on the disk.
    synced: Instant,
    host_name: String,
    /// Links of one page, each once.
    once: HashSet<u64>,
}

impl Inner {
    fn now(&self) -> u64 {
        self.started.elapsed().as_micros() as u64
    }

    /// Writes everything that happened so far; a killed process loses nothing of it.
    fn write(&mut self) -> Result<(), Error> {
        let Some(scores) = &mut self.scores else { return self.journal.write() };
        let (end, state) = (self.journal.end_when_written(), self.order.state());
        scores.log(end, &state)?;
        self.journal.write()?;
        scores.journal_is_written(end, &state)
    }
}

fn is_set(bits: &[u64], index: u32) -> bool {
    bits.get(index as usize / 64).is_some_and(|word| word >> (index % 64) & 1 == 1)
}

fn set(bits: &mut Vec<u64>, index: u32) {
    let word = index as usize / 64;
    if word >= bits.len() {
        bits.resize(word + 1, 0);
    }
    bits[word] |= 1 << (index % 64);
}
