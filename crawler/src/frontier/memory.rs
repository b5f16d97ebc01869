//! A frontier in memory: nothing is left when it is dropped. Several workers of one process may share it, and their
//! leases end when they are not renewed.

mod leases;
mod links;
mod scheduling;
mod state;

use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use url::Url;

use self::state::State;
use super::{
    Claim, ContentMatch, Frontier, FrontierError, Gauges, HostRest, HostTally, Lease, LeaseId, Leases, Link, Offered,
    SettledBatch, Settlement, StoredRobots, Totals, WorkerId,
};
use crate::clock::Clock;
use crate::order::OrderingPolicy;

/// How a frontier in memory behaves.
pub struct MemoryOptions {
    /// The ordering policy.
    pub policy: Box<dyn OrderingPolicy>,
    /// The largest number of requests to one host.
    pub host_budget: u64,
    /// Whether the depth of the crawl is limited: then a page to which a shorter way is found is fetched again for its
    /// links.
    pub tracks_depth: bool,
    /// How long a lease lasts unless it is renewed; `None` for ever.
    pub lease_time: Option<Duration>,
    /// Tells the time.
    pub clock: Clock,
}

impl MemoryOptions {
    /// No host budget, no limit of depth, and leases that last for ever.
    pub fn new(policy: Box<dyn OrderingPolicy>) -> MemoryOptions {
        MemoryOptions { policy, host_budget: u64::MAX, tracks_depth: false, lease_time: None, clock: Clock::system() }
    }
}

/// The frontier in memory.
pub struct MemoryFrontier {
    state: Mutex<State>,
}

impl MemoryFrontier {
    /// An empty frontier.
    pub fn new(options: MemoryOptions) -> MemoryFrontier {
        MemoryFrontier { state: Mutex::new(State::new(options)) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nothing panics while it holds the frontier")
    }
}

impl Frontier for MemoryFrontier {
    async fn offer(&self, links: &[Link]) -> Result<Offered, FrontierError> {
        Ok(self.lock().offer(links))
    }

    async fn expedite(&self, links: &[Link]) -> Result<(), FrontierError> {
        self.lock().expedite(links);
        Ok(())
    }

    async fn lease(&self, worker: &WorkerId, most: usize) -> Result<Leases, FrontierError> {
        Ok(self.lock().lease(worker, most))
    }

    fn lease_time(&self) -> Option<Duration> {
        self.lock().lease_time()
    }

    async fn renew(&self, worker: &WorkerId, leases: &[LeaseId]) -> Result<(), FrontierError> {
        self.lock().renew(worker, leases)
    }

    async fn rest(&self, lease: &Lease, rest: HostRest) -> Result<(), FrontierError> {
        self.lock().rest(lease.id, rest)
    }

    async fn give_back(&self, lease: &Lease, rest: HostRest) -> Result<(), FrontierError> {
        self.lock().give_back(lease.id, rest)
    }

    async fn claim(&self, worker: &WorkerId, host: &str) -> Result<Claim, FrontierError> {
        Ok(self.lock().claim(worker, host))
    }

    async fn release(&self, claim: LeaseId, rest: HostRest) -> Result<(), FrontierError> {
        self.lock().release(claim, rest)
    }

    async fn match_content(&self, lease: &Lease, digest: u64) -> Result<ContentMatch, FrontierError> {
        self.lock().match_content(lease.id, digest)
    }

    async fn settle(
        &self,
        worker: &WorkerId,
        batch: &[Settlement],
        sink_position: &[u8],
    ) -> Result<SettledBatch, FrontierError> {
        Ok(self.lock().settle(worker, batch, sink_position))
    }

    async fn set_host_budget(&self, budget: u64) -> Result<(), FrontierError> {
        self.lock().set_host_budget(budget);
        Ok(())
    }

    async fn extend_scope(&self, url: &Url) -> Result<(), FrontierError> {
        self.lock().extend_scope(url);
        Ok(())
    }

    async fn scope_extensions(&self) -> Result<Vec<Url>, FrontierError> {
        Ok(self.lock().scope_extensions())
    }

    async fn store_robots(&self, origin: &str, robots: &StoredRobots) -> Result<(), FrontierError> {
        self.lock().store_robots(origin, robots);
        Ok(())
    }

    async fn stored_robots(&self, origin: &str) -> Result<Option<StoredRobots>, FrontierError> {
        Ok(self.lock().stored_robots(origin))
    }

    async fn hosts(&self, each: &mut dyn FnMut(HostTally<'_>)) -> Result<(), FrontierError> {
        self.lock().hosts(each);
        Ok(())
    }

    fn reads_text(&self) -> bool {
        self.lock().reads_text()
    }

    fn gauges(&self) -> Gauges {
        self.lock().gauges()
    }

    fn totals(&self) -> Totals {
        self.lock().totals()
    }
}
