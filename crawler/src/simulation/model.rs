//! What must hold in every simulated crawl, whatever happens.

use std::collections::HashMap;
use std::time::Duration;

use super::settings::Settings;
use super::web::Web;
use crate::frontier::{Frontier, LocalFrontier, Stage};
use crate::outcome::Outcome;

/// How often a URL may be put back by a better claim.
const MAX_REVIVALS: u32 = 3;
/// Rests are kept to the millisecond, and clocks read to the microsecond.
const ROUNDING: Duration = Duration::from_millis(2);
/// With slots that are shared out, a host may have to wait for the next reports of the load.
const PATIENCE: Duration = Duration::from_secs(60);

/// What is known of one URL.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct UrlModel {
    pub(super) is_leased: bool,
    pub(super) n_done: u32,
    /// Whether its links were offered before it was settled.
    pub(super) leads_on: bool,
    /// The length of the journal once its outcome was in it.
    pub(super) journal_bytes: u64,
}

/// What is known of one host.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HostModel {
    pub(super) is_busy: bool,
    /// No request before, also after a crash.
    not_before: Duration,
    /// No request before, as long as the process runs: it was not asked, and something else has to wait.
    waits_until: Duration,
    /// A request must be possible from here on.
    ready_at: Duration,
    longest_rest: Duration,
    /// Answered requests that a restart must not forget.
    n_settled: u64,
    n_answered: u64,
}

/// The state of an address that hosts share.
#[derive(Clone, Copy, Debug, Default)]
struct AddressModel {
    n_in_flight: usize,
    not_before: Duration,
}

/// The promises, and what is needed to check them.
pub(super) struct Model {
    pub(super) urls: Vec<UrlModel>,
    hosts: HashMap<String, HostModel>,
    addresses: Vec<AddressModel>,
    per_address: usize,
    address_gap: Duration,
    host_budget: u64,
    has_claims: bool,
    shares_out: bool,
    first_rest: Duration,
    n_leased: u64,
    /// The total of outcomes that the frontier must report.
    n_settled: u64,
    stalled_since: Option<Duration>,
}

impl Model {
    pub(super) fn new(settings: &Settings) -> Model {
        Model {
            urls: vec![UrlModel::default(); settings.n_pages],
            hosts: HashMap::new(),
            addresses: vec![AddressModel::default(); settings.n_addresses],
            per_address: settings.per_address,
            address_gap: settings.delay.least() / settings.per_address as u32,
            host_budget: settings.host_budget,
            has_claims: settings.has_claims,
            shares_out: settings.slots >= 8,
            first_rest: settings.delay.least(),
            n_leased: 0,
            n_settled: 0,
            stalled_since: None,
        }
    }

    pub(super) fn host(&mut self, name: &str) -> &mut HostModel {
        self.hosts.entry(name.to_owned()).or_default()
    }

    /// A host is asked: by a lease, or by a claim.
    pub(super) fn take_host(&mut self, name: &str, now: Duration) {
        let host = self.host(name);
        assert!(!host.is_busy, "{name} is asked while it answers");
        let not_before = host.not_before.max(host.waits_until);
        assert!(now >= not_before, "{name} is asked at {now:?} and rests until {not_before:?}");
        host.is_busy = true;
    }

    pub(super) fn lease(&mut self, page: usize, host: &str, now: Duration) {
        self.take_host(host, now);
        let (budget, max_done) = (self.host_budget, if self.has_claims { 1 + MAX_REVIVALS } else { 1 });
        assert!(self.host(host).n_answered < budget, "{host} is asked more often than {budget} times");
        let url = &mut self.urls[page];
        assert!(!url.is_leased, "page {page} is leased twice at once");
        assert!(url.n_done < max_done, "page {page} is fetched again after {} outcomes", url.n_done);
        url.is_leased = true;
        self.n_leased += 1;
        self.stalled_since = None;
    }

    /// A page that is stored is leased, whatever its host does.
    pub(super) fn lease_stored(&mut self, page: usize, host: &str, now: Duration) {
        self.urls[page].is_leased = true;
        self.n_leased += 1;
        // The host rests, also if a power cut has made it forgotten.
        let first_rest = self.first_rest;
        let host = self.host(host);
        host.ready_at = host.ready_at.max(now + first_rest);
    }

    /// A host is about to be given a rest, which a crash in between may keep or not.
    pub(super) fn begin_rest(&mut self, name: &str, rest: Duration) {
        let host = self.host(name);
        host.longest_rest = host.longest_rest.max(rest);
    }

    /// A host has answered, or was not asked after all, and rests.
    pub(super) fn rest(&mut self, name: &str, rest: Duration, was_asked: bool, now: Duration) {
        let host = self.host(name);
        assert!(host.is_busy);
        host.is_busy = false;
        host.ready_at = now + rest;
        host.waits_until = now + rest;
        if was_asked {
            host.not_before = now + rest;
            host.n_answered += 1;
        }
    }

    /// A request is sent to an address.
    pub(super) fn use_address(&mut self, address: usize, now: Duration) {
        let (per_address, gap) = (self.per_address, self.address_gap);
        let address = &mut self.addresses[address];
        assert!(address.n_in_flight < per_address, "more than {per_address} requests at once to one address");
        assert!(now >= address.not_before, "an address is asked at {now:?}, before {:?}", address.not_before);
        address.n_in_flight += 1;
        address.not_before = now + gap;
    }

    pub(super) fn free_address(&mut self, address: usize, now: Duration) {
        let gap = self.address_gap;
        let address = &mut self.addresses[address];
        address.n_in_flight -= 1;
        address.not_before = address.not_before.max(now + gap);
    }

    pub(super) fn give_back(&mut self, page: usize) {
        self.urls[page].is_leased = false;
        self.n_leased -= 1;
    }

    /// A lease was settled to be tried again.
    pub(super) fn retry(&mut self, page: usize, host: &str) {
        self.give_back(page);
        self.host(host).n_settled += 1;
    }

    /// A lease was settled with an outcome.
    pub(super) fn done(&mut self, page: usize, host: &str, outcome: Outcome, journal_bytes: u64) {
        self.give_back(page);
        let url = &mut self.urls[page];
        url.n_done += 1;
        url.leads_on |= matches!(outcome, Outcome::Stored | Outcome::Redirected | Outcome::SitemapRead);
        url.journal_bytes = journal_bytes;
        self.host(host).n_settled += 1;
        self.n_settled += 1;
    }

    /// The process ends: nothing is leased any more, and whoever was being asked rests as the least politeness demands.
    pub(super) fn crash(&mut self, now: Duration) {
        self.n_leased = 0;
        self.urls.iter_mut().for_each(|url| url.is_leased = false);
        for host in self.hosts.values_mut() {
            if std::mem::take(&mut host.is_busy) {
                host.not_before = host.not_before.max(now + self.first_rest);
            }
            host.waits_until = Duration::ZERO;
            host.n_answered = host.n_settled;
        }
        self.addresses.iter_mut().for_each(|address| *address = AddressModel::default());
    }

    /// The power was cut: rests and counts that were not synced are forgotten.
    pub(super) fn cut_power(&mut self, synced_bytes: u64) {
        for host in self.hosts.values_mut() {
            (host.not_before, host.n_answered, host.n_settled) = (Duration::ZERO, 0, 0);
        }
        for url in &mut self.urls {
            if url.journal_bytes > synced_bytes {
                (url.n_done, url.leads_on) = (0, false);
            }
        }
    }

    /// Compares with what a reopened frontier knows. Outcomes that were being written when it ended may be there or not.
    pub(super) fn reopened(&mut self, frontier: &LocalFrontier, web: &Web, now: Duration, journal_bytes: u64) {
        frontier.hosts(&mut |known| {
            let host = self.hosts.entry(known.name.to_owned()).or_default();
            host.ready_at = now + host.longest_rest.max(self.first_rest);
        });
        for page in 0..self.urls.len() {
            let stage = frontier.stage(&web.url(page)).expect("the frontier can be read");
            let url = self.urls[page];
            if url.n_done > 0 && !self.has_claims {
                assert_eq!(stage, Some(Stage::Done), "page {page} was settled");
            }
            if url.leads_on {
                for to in web.targets(page).into_iter().filter(|_| !web.is_redirect(page)) {
                    assert!(is_kept(frontier, web, to), "page {page} was settled and its link to {to} is lost");
                }
            }
            if stage == Some(Stage::Done) && url.n_done == 0 {
                (self.urls[page].n_done, self.urls[page].journal_bytes) = (1, journal_bytes);
            }
        }
        let settled = frontier.totals().settled();
        let n_done: u64 = self.urls.iter().map(|url| u64::from(url.n_done.min(1))).sum();
        assert!(settled >= n_done, "{settled} outcomes are counted of {n_done} URLs");
        self.n_settled = settled;
        self.stalled_since = None;
    }

    /// Checks what must hold after every step.
    pub(super) fn check(&self, frontier: &LocalFrontier, web: &Web) {
        let gauges = frontier.gauges();
        assert_eq!(gauges.leased, self.n_leased, "leases");
        assert_eq!(frontier.totals().settled(), self.n_settled, "outcomes");
        let mut stages = [0_u64; 3];
        for page in 0..self.urls.len() {
            if let Some(stage) = frontier.stage(&web.url(page)).expect("the frontier can be read") {
                stages[stage as usize] += 1;
                assert_eq!(stage == Stage::Leased, self.urls[page].is_leased, "page {page}");
            }
        }
        let mut n_waiting = 0;
        frontier.hosts(&mut |host| n_waiting += host.pending);
        assert_eq!(
            n_waiting,
            stages[Stage::Waiting as usize],
            "URLs that wait, and those in the queues of their hosts"
        );
        assert_eq!(gauges.known, stages.iter().sum::<u64>(), "known, and waiting, leased or done");
    }

    /// The frontier had nothing to hand out: then no host may be ready that has URLs.
    pub(super) fn nothing_to_lease(&mut self, frontier: &LocalFrontier, n_in_flight: usize, now: Duration) {
        let mut ready = None;
        frontier.hosts(&mut |host| {
            let known = self.hosts.get(host.name).copied().unwrap_or_default();
            let is_ready = !known.is_busy && now > known.ready_at + self.first_rest.min(ROUNDING) + ROUNDING;
            if host.pending > 0 && is_ready && host.fetched < self.host_budget {
                ready = Some(host.name.to_owned());
            }
        });
        let Some(name) = ready else {
            self.stalled_since = None;
            return;
        };
        if !self.shares_out {
            panic!("{name} has URLs and is ready, and nothing is handed out");
        }
        let since = *self.stalled_since.get_or_insert(now);
        assert!(n_in_flight > 0 || now < since + PATIENCE, "{name} has URLs and gets no slot");
    }

    /// The frontier is empty: everything that was found is done, or waits for a larger budget.
    pub(super) fn finished(&self, frontier: &LocalFrontier, web: &Web) {
        frontier.hosts(&mut |host| {
            assert!(
                host.pending == 0 || host.fetched >= self.host_budget,
                "{} has {} URLs left",
                host.name,
                host.pending
            );
        });
        for page in (0..self.urls.len()).filter(|page| self.urls[*page].leads_on && !web.is_redirect(*page)) {
            for to in web.targets(page) {
                assert!(is_kept(frontier, web, to), "{page} links to {to}");
            }
        }
    }
}

/// Whether a frontier knows a page, or has a link to it that waits for room.
fn is_kept(frontier: &LocalFrontier, web: &Web, page: usize) -> bool {
    let url = web.url(page);
    frontier.stage(&url).expect("the frontier can be read").is_some() || frontier.is_postponed(&url)
}
