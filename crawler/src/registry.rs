//! What happened: live figures while a crawl runs, and the report when it ends.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::domain::registrable_domain;
use crate::frontier::{Frontier, Gauges, Totals};
use crate::outcome::Outcome;

/// Moments kept to draw the page rate from.
const MAX_MOMENTS: usize = 4096;
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
#[derive(Clone, Debug)]
pub struct Status {
    /// Since this run began.
    pub elapsed: Duration,
    /// Pages kept, over all runs.
    pub pages: u64,
    /// Their bytes.
    pub bytes: u64,
    /// URLs that ended badly, over all runs.
    pub errors: u64,
    /// Pages a second, over the last ten seconds.
    pub rate: f64,
    /// Requests on their way.
    pub in_flight: usize,
    /// How the frontier stands.
    pub gauges: Gauges,
    /// How long the run will go on until one of its limits ends it, if it has one and goes on as it does.
    pub left: Option<Duration>,
}

/// What a domain gave.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DomainRow {
    /// The registrable domain, or the host where there is none.
    pub domain: String,
    /// Hosts of it.
    pub hosts: u64,
    /// Pages kept.
    pub pages: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Requests answered.
    pub requests: u64,
    /// Time spent waiting for its answers.
    pub seconds: f64,
    /// URLs still waiting.
    pub pending: u64,
}

/// The account of a crawl.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Why this run ended.
    pub stopped: Stop,
    /// How long it took.
    pub seconds: f64,
    /// Pages kept in this run.
    pub pages_this_run: u64,
    /// Pages a second in this run.
    pub pages_per_second: f64,
    /// Pages a second while each tenth of this run's pages came in.
    pub pages_per_second_by_decile: Vec<f64>,
    /// Pages kept, over all runs, as everything below.
    pub pages: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Their bytes, on average.
    pub bytes_per_page: f64,
    /// URLs that are done.
    pub settled: u64,
    /// Time between a request and the end of its answer, on average.
    pub seconds_per_request: f64,
    /// How URLs ended.
    pub outcomes: BTreeMap<&'static str, u64>,
    /// URLs ever found.
    pub known: u64,
    /// URLs that still wait.
    pub pending: u64,
    /// Hosts ever met.
    pub hosts: u64,
    /// Domains that gave a page.
    pub n_domains: u64,
    /// Each domain, the one with most pages first.
    pub domains: Vec<DomainRow>,
}

/// Keeps time while a crawl runs.
pub(crate) struct Registry {
    started: Instant,
    pages_before: u64,
    /// When every `stride`-th page was kept.
    moments: Vec<Duration>,
    stride: u64,
    /// How many pages there were when more were last noted, and when that was.
    noted: (u64, Duration),
    recent: std::collections::VecDeque<(Instant, u64)>,
}

impl Registry {
    pub(crate) fn new(totals: &Totals) -> Registry {
        let now = Instant::now();
        Registry {
            started: now,
            pages_before: totals.of(Outcome::Stored),
            moments: Vec::new(),
            stride: 1,
            noted: (totals.of(Outcome::Stored), Duration::ZERO),
            recent: [(now, totals.of(Outcome::Stored))].into(),
        }
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Notes how many pages there are now.
    pub(crate) fn note(&mut self, totals: &Totals) {
        let pages = totals.of(Outcome::Stored);
        let elapsed = self.elapsed();
        let (before, noted_at) = self.noted;
        while (self.moments.len() as u64) < (pages - self.pages_before) / self.stride {
            if self.moments.len() == MAX_MOMENTS {
                self.moments = self.moments.iter().skip(1).step_by(2).copied().collect();
                self.stride *= 2;
                continue;
            }
            // Pages become durable in groups; within one they are taken to have come evenly.
            let number = self.pages_before + (self.moments.len() as u64 + 1) * self.stride;
            let share = number.saturating_sub(before) as f64 / (pages - before).max(1) as f64;
            self.moments.push(noted_at + (elapsed - noted_at).mul_f64(share.min(1.0)));
        }
        if pages > before {
            self.noted = (pages, elapsed);
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
        let n = self.moments.len();
        if n < 10 {
            return Vec::new();
        }
        let time_at = |index: usize| if index == 0 { 0.0 } else { self.moments[index - 1].as_secs_f64() };
        let tenth = |number: usize| {
            let (from, to) = (n * number / 10, n * (number + 1) / 10);
            let pages = (to - from) as u64 * self.stride;
            pages as f64 / (time_at(to) - time_at(from)).max(0.001)
        };
        (0..10).map(tenth).collect()
    }

    /// The account of the whole crawl.
    pub(crate) fn report(&self, frontier: &impl Frontier, stopped: Stop) -> Report {
        let (totals, gauges) = (frontier.totals(), frontier.gauges());
        let pages = totals.of(Outcome::Stored);
        let seconds = self.elapsed().as_secs_f64();
        let mut by_domain: BTreeMap<String, DomainRow> = BTreeMap::new();
        let mut requests = 0;
        frontier.hosts(&mut |host| {
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
        });
        let mut domains: Vec<DomainRow> =
            by_domain.into_iter().map(|(domain, row)| DomainRow { domain, ..row }).collect();
        domains.sort_by(|a, b| b.pages.cmp(&a.pages).then_with(|| a.domain.cmp(&b.domain)));
        let counted = Outcome::ALL.iter().map(|&outcome| (outcome.name(), totals.of(outcome)));
        Report {
            stopped,
            seconds,
            pages_this_run: pages - self.pages_before,
            pages_per_second: (pages - self.pages_before) as f64 / seconds.max(0.001),
            pages_per_second_by_decile: self.deciles(),
            pages,
            bytes: totals.bytes,
            bytes_per_page: totals.bytes as f64 / (pages.max(1)) as f64,
            settled: totals.settled(),
            seconds_per_request: totals.milliseconds as f64 / 1000.0 / (requests.max(1)) as f64,
            outcomes: counted.filter(|(_, count)| *count > 0).collect(),
            known: gauges.known,
            pending: gauges.pending,
            hosts: gauges.hosts,
            n_domains: domains.iter().filter(|row| row.pages > 0).count() as u64,
            domains,
        }
    }
}

/// URLs that ended badly: neither well nor left out on purpose.
pub(crate) fn errors(totals: &Totals) -> u64 {
    let is_error = |outcome: &&Outcome| !outcome.is_good() && !outcome.is_left_out();
    Outcome::ALL.iter().filter(is_error).map(|&outcome| totals.of(outcome)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frontier::Receipt;

    #[test]
    fn pages_that_become_durable_together_are_spread_over_their_time() {
        let mut totals = Totals::default();
        let mut registry = Registry::new(&totals);
        for group in 1..=5 {
            let receipt = Receipt { outcome: Outcome::Stored, bytes: 1, milliseconds: 1, digest: 1 };
            (0..20).for_each(|_| totals.count(receipt));
            registry.started = Instant::now() - Duration::from_secs(group);
            registry.note(&totals);
        }
        let rates = registry.deciles();
        assert!(rates.iter().all(|rate| (19.0..21.0).contains(rate)), "{rates:?}");
    }
}
