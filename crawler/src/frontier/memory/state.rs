//! What a frontier in memory knows: every URL with its claim, its score and how far it has come.

use std::collections::BTreeSet;
use std::time::Duration;

use hashbrown::HashMap;
use url::Url;

use super::super::claims::Claim as UrlClaim;
use super::super::{
    FetchRecord, Gauges, HostTally, Link, Settled, SettledBatch, Settlement, StoredRobots, Totals, WorkerId,
};
use super::MemoryOptions;
use super::links::End;
use super::scheduling::{Host, Schedule};
use crate::order::{OrderingPolicy, Priority};
use crate::outcome::Outcome;

/// A URL.
pub(super) struct Entry {
    pub(super) link: Link,
    pub(super) host: usize,
    /// The best claim about it, if a better one may come.
    pub(super) claim: Option<UrlClaim>,
    /// A better claim that came while it was leased.
    pub(super) late_claim: Option<Link>,
    pub(super) score: f32,
    pub(super) priority: Priority,
    pub(super) attempts: u8,
    pub(super) stage: Stage,
    /// The digest of the page that was stored; zero for none.
    pub(super) content: u64,
}

/// How far a URL has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// At this place among those of its priority.
    Waiting(i64),
    Leased,
    Done,
}

/// A lease or a claim.
pub(super) struct Held {
    pub(super) fence: u64,
    pub(super) worker: WorkerId,
    /// Whether its host was let go: that is done once, however often it is asked for.
    pub(super) has_rested: bool,
    /// When it ends unless it is renewed.
    pub(super) until: Option<Duration>,
}

/// Everything behind the lock.
pub(super) struct State {
    pub(super) options: MemoryOptions,
    pub(super) schedule: Schedule,
    pub(super) urls: Vec<Entry>,
    pub(super) by_url: HashMap<Url, usize>,
    /// Leases and claims, by key.
    pub(super) held: HashMap<u128, Held>,
    /// Those that end, by the time.
    pub(super) ends: BTreeSet<(Duration, u128)>,
    pub(super) last_fence: u64,
    /// The places given out at the front and at the back of queues.
    pub(super) places: (i64, i64),
    pub(super) n_leased: u64,
    pub(super) totals: Totals,
    pub(super) sink_positions: HashMap<WorkerId, Vec<u8>>,
    pub(super) scope_extensions: Vec<Url>,
    pub(super) robots: HashMap<String, StoredRobots>,
}

impl State {
    pub(super) fn new(options: MemoryOptions) -> State {
        State {
            schedule: Schedule::new(options.host_budget),
            options,
            urls: Vec::new(),
            by_url: HashMap::new(),
            held: HashMap::new(),
            ends: BTreeSet::new(),
            last_fence: 0,
            places: (0, 0),
            n_leased: 0,
            totals: Totals::default(),
            sink_positions: HashMap::new(),
            scope_extensions: Vec::new(),
            robots: HashMap::new(),
        }
    }

    pub(super) fn policy(&mut self) -> &mut dyn OrderingPolicy {
        &mut *self.options.policy
    }

    pub(super) fn now(&self) -> Duration {
        self.options.clock.elapsed()
    }

    pub(super) fn settle(&mut self, worker: &WorkerId, batch: &[Settlement], sink_position: &[u8]) -> SettledBatch {
        let mut result = SettledBatch::default();
        for Settlement { lease, settled, outlinks } in batch {
            if self.check(lease.id).is_err() {
                result.fenced.push(lease.id);
                continue;
            }
            let url = lease.id.key() as usize;
            if let Some(outlinks) = outlinks {
                self.offer_outlinks(url, &lease.link, outlinks);
            }
            let _ = self.let_go(lease.id);
            self.n_leased -= 1;
            self.urls[url].stage = Stage::Done;
            match settled {
                Settled::Done(record) => self.count(url, *record),
                Settled::Retry => {
                    self.urls[url].attempts = self.urls[url].attempts.saturating_add(1);
                    self.queue(url, self.urls[url].priority, End::Back);
                }
            }
            self.apply_late_claim(url);
        }
        self.sink_positions.insert(worker.clone(), sink_position.to_vec());
        result
    }

    fn count(&mut self, url: usize, record: FetchRecord) {
        let entry = &mut self.urls[url];
        entry.claim = UrlClaim::after(entry.claim, record.outcome, self.options.tracks_depth);
        self.totals.count(record);
        let host: &mut Host = &mut self.schedule.hosts[entry.host];
        host.milliseconds += u64::from(record.milliseconds);
        if record.outcome == Outcome::Stored {
            entry.content = record.digest;
            host.stored += 1;
            host.bytes += u64::from(record.bytes);
        }
    }

    pub(super) fn set_host_budget(&mut self, budget: u64) {
        self.schedule.set_budget(budget, &*self.options.policy);
    }

    pub(super) fn extend_scope(&mut self, url: &Url) {
        if !self.scope_extensions.contains(url) {
            self.scope_extensions.push(url.clone());
        }
    }

    pub(super) fn scope_extensions(&self) -> Vec<Url> {
        self.scope_extensions.clone()
    }

    pub(super) fn store_robots(&mut self, origin: &str, robots: &StoredRobots) {
        self.robots.insert(origin.to_owned(), robots.clone());
    }

    pub(super) fn stored_robots(&self, origin: &str) -> Option<StoredRobots> {
        self.robots.get(origin).cloned()
    }

    pub(super) fn hosts(&self, each: &mut dyn FnMut(HostTally<'_>)) {
        self.schedule.hosts.iter().for_each(|host| each(host.tally()));
    }

    pub(super) fn reads_text(&self) -> bool {
        self.options.policy.reads_text()
    }

    pub(super) fn gauges(&self) -> Gauges {
        Gauges {
            pending: self.schedule.pending(),
            known: self.urls.len() as u64,
            leased: self.n_leased,
            ready_hosts: self.schedule.n_ready() as u64,
            hosts: self.schedule.hosts.len() as u64,
            postponed: 0,
        }
    }

    pub(super) fn totals(&self) -> Totals {
        self.totals.clone()
    }
}
