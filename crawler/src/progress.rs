//! The progress of a crawl: live figures while it runs, and the report when it ends.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::domain::registrable_domain;
use crate::failures::{FailureRow, Failures};
use crate::frontier::{Frontier, FrontierError, Gauges, HostTally, Totals};
use crate::outcome::Outcome;
use crate::snapshot::{seconds, seconds_if_any};

/// Times kept for the page rate by deciles.
const MAX_STORE_TIMES: usize = 4096;
/// The time over which the live rate is taken.
const RATE_WINDOW: Duration = Duration::from_secs(10);

/// Why a crawl ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stop {
    /// Nothing was left to fetch.
    Finished,
    /// It has the pages it was to get.
    Pages,
    /// It has the bytes it was to get.
    Bytes,
    /// Its time was up.
    Time,
    /// It was told to stop.
    Interrupted,
}

/// Live figures.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Status {
    /// Since this run began.
    #[serde(rename = "seconds", serialize_with = "seconds")]
    pub elapsed: Duration,
    /// Pages stored, over all runs.
    pub pages: u64,
    /// Their bytes.
    pub bytes: u64,
    /// URLs that failed, over all runs.
    pub errors: u64,
    /// Pages a second, over the last ten seconds.
    pub rate: f64,
    /// Requests in flight.
    pub in_flight: usize,
    /// The figures of the frontier.
    pub gauges: Gauges,
    /// The trouble of this machine for which the crawl pauses, such as too many open files.
    pub trouble: Option<&'static str>,
    /// The estimated time until a limit ends the run, at the current rate.
    #[serde(rename = "seconds_left", serialize_with = "seconds_if_any")]
    pub left: Option<Duration>,
}

/// The figures of one domain.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DomainRow {
    /// The registrable domain, or the host where there is none.
    pub domain: String,
    /// Hosts of it.
    pub hosts: u64,
    /// Pages stored.
    pub pages: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Requests answered.
    pub requests: u64,
    /// Response times, added up over its requests.
    pub seconds: f64,
    /// URLs still waiting.
    pub pending: u64,
}

/// Pages that asked for something which the crawl was not told to obey.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Unheard {
    /// Not to be stored.
    pub noindex: u64,
    /// That their links are not followed.
    pub nofollow: u64,
}

/// The report of a crawl.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Why this run ended.
    pub stopped: Stop,
    /// How long it took.
    pub seconds: f64,
    /// Pages stored in this run.
    pub pages_this_run: u64,
    /// Pages a second in this run.
    pub pages_per_second: f64,
    /// Pages a second while each tenth of this run's pages came in.
    pub pages_per_second_by_decile: Vec<f64>,
    /// Bytes of the pages stored in this run.
    pub bytes_this_run: u64,
    /// URLs that this run has settled, by outcome.
    pub outcomes_this_run: BTreeMap<&'static str, u64>,
    /// URLs that this run has found reserved by their owners, by the signal that said so.
    pub reserved_this_run: BTreeMap<&'static str, u64>,
    /// Pages of this run whose wishes were not obeyed.
    pub unheard_this_run: Unheard,
    /// Responses to this run's URLs, by status. Those to robots.txt, and of attempts that were repeated, are not among them.
    pub statuses_this_run: BTreeMap<u16, u64>,
    /// URLs that failed in this run, by outcome and status.
    pub failures_this_run: Vec<FailureRow>,
    /// Pages stored, over all runs, as everything below.
    pub pages: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Their bytes, on average.
    pub bytes_per_page: f64,
    /// URLs that are done.
    pub settled: u64,
    /// Time between a request and the end of its response, on average.
    pub seconds_per_request: f64,
    /// URLs by outcome.
    pub outcomes: BTreeMap<&'static str, u64>,
    /// URLs ever found.
    pub known: u64,
    /// URLs that still wait.
    pub pending: u64,
    /// Hosts that are known.
    pub hosts: u64,
    /// Links to further hosts, for which there was no room in the memory.
    pub postponed: u64,
    /// Domains with at least one stored page.
    pub n_domains: u64,
    /// Each domain, the one with most pages first.
    pub domains: Vec<DomainRow>,
}

/// Measures the page rate while a crawl runs.
pub(crate) struct Progress {
    /// How the URLs of this run were answered.
    pub(crate) failures: Failures,
    started: Instant,
    pages_before: u64,
    /// The totals when this run began.
    before: Totals,
    /// The times at which every `stride`-th page was stored.
    store_times: Vec<Duration>,
    stride: u64,
    /// The number of pages when it last grew, and the time.
    last_recorded: (u64, Duration),
    recent: std::collections::VecDeque<(Instant, u64)>,
}

impl Progress {
    pub(crate) fn new(totals: &Totals) -> Progress {
        let now = Instant::now();
        Progress {
            failures: Failures::default(),
            started: now,
            pages_before: totals.of(Outcome::Stored),
            before: totals.clone(),
            store_times: Vec::new(),
            stride: 1,
            last_recorded: (totals.of(Outcome::Stored), Duration::ZERO),
            recent: [(now, totals.of(Outcome::Stored))].into(),
        }
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Records the current number of pages.
    pub(crate) fn record(&mut self, totals: &Totals) {
        let pages = totals.of(Outcome::Stored);
        let elapsed = self.elapsed();
        let (before, recorded_at) = self.last_recorded;
        while (self.store_times.len() as u64) < (pages - self.pages_before) / self.stride {
            if self.store_times.len() == MAX_STORE_TIMES {
                self.store_times = self.store_times.iter().skip(1).step_by(2).copied().collect();
                self.stride *= 2;
                continue;
            }
            // Pages become durable in groups; their times are interpolated linearly within a group.
            let number = self.pages_before + (self.store_times.len() as u64 + 1) * self.stride;
            let share = number.saturating_sub(before) as f64 / (pages - before).max(1) as f64;
            self.store_times.push(recorded_at + (elapsed - recorded_at).mul_f64(share.min(1.0)));
        }
        if pages > before {
            self.last_recorded = (pages, elapsed);
        }
        let now = Instant::now();
        if self.recent.back().is_none_or(|(at, _)| now - *at >= Duration::from_millis(500)) {
            self.recent.push_back((now, pages));
        }
        while self.recent.len() > 2 && self.recent.front().is_some_and(|(at, _)| now - *at > RATE_WINDOW) {
            self.recent.pop_front();
        }
    }

    /// Pages a second lately.
    pub(crate) fn rate(&self, totals: &Totals) -> f64 {
        let Some((at, pages)) = self.recent.front() else { return 0.0 };
        (totals.of(Outcome::Stored) - pages) as f64 / at.elapsed().as_secs_f64().max(0.001)
    }

    /// Pages a second by tenths of the pages of this run.
    fn deciles(&self) -> Vec<f64> {
        let n = self.store_times.len();
        if n < 10 {
            return Vec::new();
        }
        let time_at = |index: usize| if index == 0 { 0.0 } else { self.store_times[index - 1].as_secs_f64() };
        let tenth = |number: usize| {
            let (from, to) = (n * number / 10, n * (number + 1) / 10);
            let pages = (to - from) as u64 * self.stride;
            pages as f64 / (time_at(to) - time_at(from)).max(0.001)
        };
        (0..10).map(tenth).collect()
    }

    /// The report of the whole crawl.
    pub(crate) async fn report(&self, frontier: &impl Frontier, stopped: Stop) -> Result<Report, FrontierError> {
        let (totals, gauges) = (frontier.totals(), frontier.gauges());
        let pages = totals.of(Outcome::Stored);
        let seconds = self.elapsed().as_secs_f64();
        let mut by_domain: BTreeMap<String, DomainRow> = BTreeMap::new();
        let mut requests = 0;
        let count = &mut |host: HostTally<'_>| {
            requests += host.fetched;
            let name = host.name.rsplit_once(':').map_or(host.name, |(name, _)| name);
            let domain = registrable_domain(name).unwrap_or(host.name);
            let row = by_domain.entry(domain.to_owned()).or_default();
            row.hosts += 1;
            row.pages += host.stored;
            row.bytes += host.bytes;
            row.requests += host.fetched;
            row.seconds += host.milliseconds as f64 / 1000.0;
            row.pending += host.pending;
        };
        frontier.hosts(count).await?;
        let mut domains: Vec<DomainRow> =
            by_domain.into_iter().map(|(domain, row)| DomainRow { domain, ..row }).collect();
        domains.sort_by(|a, b| b.pages.cmp(&a.pages).then_with(|| a.domain.cmp(&b.domain)));
        let counted = Outcome::ALL.iter().map(|&outcome| (outcome.name(), totals.of(outcome)));
        let new = |outcome: Outcome| totals.of(outcome).saturating_sub(self.before.of(outcome));
        let counted_now = Outcome::ALL.iter().map(|&outcome| (outcome.name(), new(outcome)));
        Ok(Report {
            stopped,
            seconds,
            pages_this_run: pages - self.pages_before,
            pages_per_second: (pages - self.pages_before) as f64 / seconds.max(0.001),
            pages_per_second_by_decile: self.deciles(),
            bytes_this_run: totals.bytes.saturating_sub(self.before.bytes),
            outcomes_this_run: counted_now.filter(|(_, count)| *count > 0).collect(),
            reserved_this_run: BTreeMap::new(),
            unheard_this_run: Unheard::default(),
            statuses_this_run: self.failures.statuses(),
            failures_this_run: self.failures.rows(),
            pages,
            bytes: totals.bytes,
            bytes_per_page: totals.bytes as f64 / (pages.max(1)) as f64,
            settled: totals.settled(),
            seconds_per_request: totals.milliseconds as f64 / 1000.0 / (requests.max(1)) as f64,
            outcomes: counted.filter(|(_, count)| *count > 0).collect(),
            known: gauges.known,
            pending: gauges.pending,
            hosts: gauges.hosts,
            postponed: gauges.postponed,
            n_domains: domains.iter().filter(|row| row.pages > 0).count() as u64,
            domains,
        })
    }
}

/// URLs that failed: neither good nor left out on purpose.
pub(crate) fn errors(totals: &Totals) -> u64 {
    Outcome::ALL.iter().filter(|outcome| outcome.is_error()).map(|&outcome| totals.of(outcome)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frontier::FetchRecord;

    #[test]
    fn pages_that_become_durable_together_are_spread_over_their_time() {
        let mut totals = Totals::default();
        let mut progress = Progress::new(&totals);
        for group in 1..=5 {
            let record = FetchRecord { outcome: Outcome::Stored, bytes: 1, milliseconds: 1, digest: 1 };
            (0..20).for_each(|_| totals.count(record));
            progress.started = Instant::now() - Duration::from_secs(group);
            progress.record(&totals);
        }
        let rates = progress.deciles();
        assert!(rates.iter().all(|rate| (19.0..21.0).contains(rate)), "{rates:?}");
    }
}
