//! What a crawl does at one moment, for whoever looks: figures, outcomes, domains and the latest pages.
//!
//! The tables are made when somebody looks for the first time, by one pass over the hosts. From then on they are kept
//! as URLs are settled and hosts rest, so that a snapshot costs the same whatever the size of the crawl.

use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use hashbrown::HashMap;
use serde::{Serialize, Serializer};
use url::Url;

use crate::domain::registrable_domain;
use crate::frontier::{FetchRecord, Frontier, HostTally, host_of};
use crate::progress::Status;

/// Domains in a snapshot.
const MAX_DOMAINS: usize = 100;
/// Pages in a snapshot.
const MAX_LATEST: usize = 50;

/// What a crawl does at one moment.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Snapshot {
    /// How far it has come.
    pub phase: Phase,
    /// Its figures.
    pub status: Status,
    /// The limits in force.
    pub limits: LimitsInForce,
    /// URLs by outcome, over all runs.
    pub outcomes: BTreeMap<&'static str, u64>,
    /// Domains ever met.
    pub n_domains: u64,
    /// The hundred domains with most pages, the first of them first.
    pub domains: Vec<LiveDomain>,
    /// The URLs that were settled last, the newest first.
    pub latest: Vec<SettledUrl>,
}

/// How far a crawl has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// It has not begun.
    #[default]
    Waiting,
    /// It fetches.
    Running,
    /// It was told to pause.
    Paused,
    /// It was told to stop, or has reached a limit: requests in flight may end.
    Stopping,
    /// It is over.
    Ended,
}

/// The limits of a crawl that can change while it runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LimitsInForce {
    /// Pages stored, over all runs.
    pub pages: Option<u64>,
    /// Bytes of the stored pages, over all runs.
    pub bytes: Option<u64>,
    /// Time of this run.
    #[serde(serialize_with = "seconds_if_any")]
    pub time: Option<Duration>,
    /// Requests in flight at once.
    pub slots: usize,
}

/// The figures of a domain while a crawl runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LiveDomain {
    /// The registrable domain, or the host where there is none.
    pub domain: String,
    /// Pages stored, over all runs.
    pub pages: u64,
    /// Their bytes.
    pub bytes: u64,
    /// URLs that were settled, over all runs.
    pub settled: u64,
    /// Of these, URLs that failed since somebody looked for the first time.
    pub errors: u64,
    /// The rest, in seconds, that one of its hosts was given last.
    #[serde(serialize_with = "seconds")]
    pub delay: Duration,
}

/// A URL that was settled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SettledUrl {
    /// The URL.
    pub url: String,
    /// How it ended.
    pub outcome: &'static str,
    /// Bytes of its body.
    pub bytes: u32,
    /// From the request to the end of the response.
    pub milliseconds: u32,
}

/// Keeps the tables of snapshots, once somebody has looked.
#[derive(Default)]
pub(crate) struct LiveTables {
    tables: RefCell<Option<Tables>>,
    are_made: Cell<bool>,
}

#[derive(Default)]
struct Tables {
    rows: Vec<LiveDomain>,
    by_name: HashMap<Box<str>, usize>,
    by_pages: BTreeSet<(Reverse<u64>, usize)>,
    latest: VecDeque<SettledUrl>,
}

impl LiveTables {
    /// Whether the tables are there or being made.
    pub(crate) fn have_begun(&self) -> bool {
        self.are_made.get()
    }

    /// Makes the tables. A frontier that cannot tell its hosts now is asked at the next look.
    pub(crate) async fn begin(&self, frontier: &impl Frontier) {
        self.are_made.set(true);
        let mut tables = Tables::default();
        match frontier.hosts(&mut |host| tables.add_host(&host)).await {
            Ok(()) => *self.tables.borrow_mut() = Some(tables),
            Err(_) => self.are_made.set(false),
        }
    }

    /// A URL was settled for good.
    pub(crate) fn settled(&self, url: &Url, record: &FetchRecord) {
        if let Some(tables) = &mut *self.tables.borrow_mut() {
            tables.settled(url, record);
        }
    }

    /// A host rests.
    pub(crate) fn rested(&self, host: &str, rest: Duration) {
        if let Some(tables) = &mut *self.tables.borrow_mut() {
            let index = tables.index_of(host);
            tables.rows[index].delay = rest;
        }
    }

    /// Adds the tables to a snapshot.
    pub(crate) fn fill(&self, snapshot: &mut Snapshot) {
        if let Some(tables) = &*self.tables.borrow() {
            snapshot.n_domains = tables.rows.len() as u64;
            let first = tables.by_pages.iter().take(MAX_DOMAINS);
            snapshot.domains = first.map(|&(_, index)| tables.rows[index].clone()).collect();
            snapshot.latest = tables.latest.iter().rev().cloned().collect();
        }
    }
}

impl Tables {
    fn add_host(&mut self, host: &HostTally<'_>) {
        let index = self.index_of(host.name);
        self.change(index, |row| {
            row.pages += host.stored;
            row.bytes += host.bytes;
            row.settled += host.fetched;
        });
    }

    fn settled(&mut self, url: &Url, record: &FetchRecord) {
        let index = self.index_of(&host_of(url));
        let outcome = record.outcome;
        let is_stored = outcome == crate::outcome::Outcome::Stored;
        self.change(index, |row| {
            row.settled += 1;
            row.errors += u64::from(outcome.is_error());
            row.pages += u64::from(is_stored);
            row.bytes += if is_stored { u64::from(record.bytes) } else { 0 };
        });
        if self.latest.len() == MAX_LATEST {
            self.latest.pop_front();
        }
        let (bytes, milliseconds) = (record.bytes, record.milliseconds);
        self.latest.push_back(SettledUrl { url: url.to_string(), outcome: outcome.name(), bytes, milliseconds });
    }

    /// Changes a row and keeps the order by pages.
    fn change(&mut self, index: usize, change: impl FnOnce(&mut LiveDomain)) {
        let row = &mut self.rows[index];
        let before = row.pages;
        change(row);
        if row.pages != before {
            self.by_pages.remove(&(Reverse(before), index));
            self.by_pages.insert((Reverse(row.pages), index));
        }
    }

    /// The row of a host's domain, which is added if it is new.
    fn index_of(&mut self, host: &str) -> usize {
        let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
        let domain = registrable_domain(name).unwrap_or(host);
        if let Some(&index) = self.by_name.get(domain) {
            return index;
        }
        let index = self.rows.len();
        self.rows.push(LiveDomain { domain: domain.to_owned(), ..LiveDomain::default() });
        self.by_name.insert(domain.into(), index);
        self.by_pages.insert((Reverse(0), index));
        index
    }
}

/// Writes a time as a number of seconds.
pub(crate) fn seconds<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(time.as_secs_f64())
}

/// Writes a time as a number of seconds, or nothing.
pub(crate) fn seconds_if_any<S: Serializer>(time: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
    time.map(|time| time.as_secs_f64()).serialize(serializer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frontier::{Link, LocalFrontier, LocalOptions};
    use crate::order::Breadth;
    use crate::outcome::Outcome;

    fn record(outcome: Outcome) -> FetchRecord {
        FetchRecord { outcome, status: 0, bytes: 100, milliseconds: 7, digest: 0 }
    }

    #[tokio::test]
    async fn tables_are_kept_from_the_first_look_on_and_not_before() {
        let folder = tempfile::tempdir().unwrap();
        let frontier = LocalFrontier::open(folder.path(), LocalOptions::new(Box::new(Breadth))).unwrap();
        frontier.offer(&[Link::seed("http://www.known.test/".parse().unwrap())]).unwrap();
        let tables = LiveTables::default();
        let settle = |url: &str, outcome| tables.settled(&url.parse().unwrap(), &record(outcome));
        settle("http://a.test/0", Outcome::Stored);
        tables.begin(&frontier).await;
        for (url, outcome) in [
            ("http://www.a.test/1", Outcome::Stored),
            ("http://b.test:81/1", Outcome::Stored),
            ("http://b.test:81/2", Outcome::Stored),
            ("http://a.test/2", Outcome::Timeout),
            ("http://a.test/3", Outcome::Disallowed),
        ] {
            settle(url, outcome);
        }
        tables.rested("b.test:81", Duration::from_millis(1500));
        let mut snapshot = Snapshot::default();
        tables.fill(&mut snapshot);
        let rows: Vec<_> = snapshot
            .domains
            .iter()
            .map(|row| (row.domain.as_str(), row.pages, row.settled, row.errors, row.delay.as_millis()))
            .collect();
        assert_eq!(rows, [("b.test", 2, 2, 0, 1500), ("a.test", 1, 3, 1, 0), ("known.test", 0, 0, 0, 0)]);
        assert_eq!((snapshot.n_domains, snapshot.domains[0].bytes), (3, 200));
        let latest: Vec<&str> = snapshot.latest.iter().map(|page| page.outcome).collect();
        assert_eq!(latest, ["disallowed", "timeout", "stored", "stored", "stored"]);
    }

    #[tokio::test]
    async fn a_snapshot_has_the_same_size_whatever_was_crawled() {
        let folder = tempfile::tempdir().unwrap();
        let frontier = LocalFrontier::open(folder.path(), LocalOptions::new(Box::new(Breadth))).unwrap();
        let tables = LiveTables::default();
        tables.begin(&frontier).await;
        for number in 0..1000 {
            let url = format!("http://h{}.test/{number}", number % 300).parse().unwrap();
            tables.settled(&url, &record(Outcome::Stored));
        }
        let mut snapshot = Snapshot::default();
        tables.fill(&mut snapshot);
        assert_eq!((snapshot.n_domains, snapshot.domains.len(), snapshot.latest.len()), (300, 100, 50));
        assert!(snapshot.domains.iter().all(|row| row.pages == 4), "those with most pages");
        let json = serde_json::to_value(&snapshot).unwrap();
        assert_eq!((&json["phase"], &json["domains"][0]["delay"]), (&"waiting".into(), &0.0.into()));
    }
}
