//! What a crawl asks of the embedded frontier. Every call is answered at once.

use std::time::Duration;

use url::Url;

use super::super::journal::Event;
use super::super::{
    Claim, ContentMatch, Frontier, FrontierError, Gauges, HostRest, HostTally, Kind, Lease, LeaseId, Leases, Link,
    Next, Offered, SettledBatch, Settlement, StoredRobots, Totals, WorkerId,
};
use super::LocalFrontier;
use crate::trouble::disk_trouble;

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
        if inner.leased.get_mut(&id).is_some_and(|held| std::mem::replace(&mut held.has_rested, true)) {
            return Ok(());
        }
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
        if content == ContentMatch::New {
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
        for (_, host) in self.lock().hosts.iter().filter(|(_, host)| !host.name.is_empty()) {
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
            hosts: inner.hosts.n_known() as u64,
            postponed: inner.postponed.queue.len() as u64,
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
