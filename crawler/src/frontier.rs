//! The frontier: which URLs are known, which wait, and which may be fetched now.
//!
//! A URL passes through three calls. [`Frontier::offer`] adds it if it is new, [`Frontier::lease`] hands it out when
//! its host is ready, and [`Frontier::settle`] records how it ended, together with the links that were found. A lease that
//! was not settled when the process was killed is handed out again after the next start.

mod checkpoint;
mod claims;
mod figures;
mod files;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
mod hosts;
mod journal;
mod lease;
mod link;
mod local;
mod memory;
mod names;
mod patient;
mod queue;
mod records;
#[cfg(feature = "redis")]
mod redis;
mod robots_file;
mod scores;
mod seen;
mod settlement;
mod visits;

#[cfg(test)]
mod contract;
#[cfg(test)]
mod durability;
#[cfg(test)]
pub(crate) mod simulated_disk;

pub use figures::{Gauges, HostTally, Offered, Totals};
pub use lease::{Lease, LeaseId, Leases, Next, WorkerId};
use link::write_host;
pub use link::{Kind, Link, host_of};
#[cfg(test)]
pub(crate) use local::Stage;
pub(crate) use local::StoredLease;
pub use local::{LocalFrontier, LocalOptions, RestingHost, max_hosts};
pub use memory::{MemoryFrontier, MemoryOptions};
pub use names::is_frontier_file;
pub(crate) use patient::PatientFrontier;
#[cfg(feature = "redis")]
pub use redis::{CrawlSettings, RedisAddress, RedisFrontier, RedisOptions};
pub use settlement::{FetchRecord, Outlinks, Settled, SettledBatch, Settlement};

use std::time::{Duration, SystemTime};

use url::Url;

use crate::error::Error;

/// Why a frontier did not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FrontierError {
    /// It cannot be reached for now; the same call may succeed later.
    #[error("the frontier cannot be reached: {0}")]
    Unavailable(String),
    /// The lease is not the caller's any more: it has ended, or expired and may be another worker's.
    #[error("the lease has ended")]
    Fenced,
    /// Its state cannot be read or written.
    #[error(transparent)]
    Damaged(#[from] Error),
}

impl From<FrontierError> for Error {
    fn from(error: FrontierError) -> Error {
        match error {
            FrontierError::Damaged(error) => error,
            FrontierError::Fenced => Error::Fenced,
            FrontierError::Unavailable(reason) => Error::Unavailable(reason),
        }
    }
}

/// What is known of the content of a page, among the pages of its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentMatch {
    /// It is to be stored.
    New,
    /// It was stored under this URL, which is fetched again for its links alone.
    Unchanged,
    /// It was stored, or is about to be, under another URL of the same host.
    Duplicate,
}

/// How long a host is left alone after a lease, and whether it was sent a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostRest {
    /// It was sent a request and has answered: no further request for this long, even after a crash.
    AfterResponse(Duration),
    /// It was sent no request; one may follow after this long.
    NotRequested(Duration),
    /// Its response was aborted because it took too long while other hosts waited: no further request for this long,
    /// and then one that may take longer.
    Aborted(Duration),
}

/// The result of claiming a host for a request that is not in its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// The host is reserved until [`Frontier::release`] is called.
    Granted(LeaseId),
    /// The host is resting; try again after this long.
    RetryAfter(Duration),
    /// A request to the host is in flight; try again when a response has ended.
    Busy,
}

/// A robots.txt, as it is kept for later runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRobots {
    /// Its bytes; none where there is no such file.
    pub body: Vec<u8>,
    /// When it was fetched.
    pub fetched_at: SystemTime,
}

/// The interface of a frontier. Every backend passes the same contract tests.
///
/// A call may take its time, as over a network, and be repeated when nothing is heard of it: a backend must take a call
/// twice as if it came once. What concerns a lease names it with its fencing token, and is refused with
/// [`FrontierError::Fenced`] when the lease is not the caller's any more.
#[expect(async_fn_in_trait, reason = "a crawl runs on one thread, so that its futures need not be Send")]
pub trait Frontier {
    /// Adds links that no page is settled with: seeds, sitemap entries, probes. A URL is added once, however often it is
    /// found; of several claims about its kind, depth and hops the best counts, also when it was fetched by a worse one
    /// before.
    async fn offer(&self, links: &[Link]) -> Result<Offered, FrontierError>;

    /// Lets these URLs be fetched before all others of their hosts, unless they were fetched before.
    async fn expedite(&self, links: &[Link]) -> Result<(), FrontierError>;

    /// The next URLs to fetch, from hosts that are ready: at least one and not more than `most`, or how long to wait.
    async fn lease(&self, worker: &WorkerId, most: usize) -> Result<Leases, FrontierError>;

    /// How long a lease lasts unless it is renewed; `None` for as long as the process lives.
    fn lease_time(&self) -> Option<Duration> {
        None
    }

    /// Lets leases last for another [`Frontier::lease_time`]; refuses if one of them has ended, and renews the others.
    async fn renew(&self, worker: &WorkerId, leases: &[LeaseId]) -> Result<(), FrontierError>;

    /// Frees the host of a lease after a rest; the lease itself stays until it is settled.
    async fn rest(&self, lease: &Lease, rest: HostRest) -> Result<(), FrontierError>;

    /// Returns a lease unused: the URL goes back to the front of its queue, and its host rests.
    async fn give_back(&self, lease: &Lease, rest: HostRest) -> Result<(), FrontierError>;

    /// Reserves a host for a request outside its queue: a robots.txt that another host redirects to.
    async fn claim(&self, worker: &WorkerId, host: &str) -> Result<Claim, FrontierError>;

    /// Ends a claim.
    async fn release(&self, claim: LeaseId, rest: HostRest) -> Result<(), FrontierError>;

    /// What is known of a content on the host of a lease. The first URL of a host that asks gets
    /// [`ContentMatch::New`].
    async fn match_content(&self, lease: &Lease, digest: u64) -> Result<ContentMatch, FrontierError>;

    /// Ends leases and adds the links of their pages, which must be durable by now. `sink_position`, the end of the
    /// durable data in the worker's sink, is recorded with them, all at once.
    async fn settle(
        &self,
        worker: &WorkerId,
        batch: &[Settlement],
        sink_position: &[u8],
    ) -> Result<SettledBatch, FrontierError>;

    /// Changes the largest number of requests to one host.
    async fn set_host_budget(&self, budget: u64) -> Result<(), FrontierError>;

    /// Records that a seed was redirected to this URL, so that its host is within scope in later runs too.
    async fn extend_scope(&self, url: &Url) -> Result<(), FrontierError>;

    /// Every URL that was passed to [`Frontier::extend_scope`].
    async fn scope_extensions(&self) -> Result<Vec<Url>, FrontierError>;

    /// Keeps the robots.txt of an origin (scheme, host and port) for later runs, as long as it may be used.
    async fn store_robots(&self, origin: &str, robots: &StoredRobots) -> Result<(), FrontierError>;

    /// The robots.txt of an origin that was last kept. It may be older than is allowed.
    async fn stored_robots(&self, origin: &str) -> Result<Option<StoredRobots>, FrontierError>;

    /// Calls `each` with every host.
    async fn hosts(&self, each: &mut dyn FnMut(HostTally<'_>)) -> Result<(), FrontierError>;

    /// Whether the ordering policy needs links with their anchor text and context.
    fn reads_text(&self) -> bool;

    /// The latest figures that are known without asking anyone.
    fn gauges(&self) -> Gauges;

    /// The latest totals that are known without asking anyone: since the crawl began, over all runs.
    fn totals(&self) -> Totals;

    /// How many hosts are ready and have to wait for a slot. `is_full` says that every slot is taken.
    fn n_waiting_hosts(&self, _is_full: bool) -> usize {
        0
    }

    /// Reports the processor time that the responses of a host have taken.
    fn count_work(&self, _host: &str, _work: Duration) {}

    /// Reports the share of the time, from 0 to 1, in which the crawl was busy. When it has more work than time, hosts
    /// that bring nothing get fewer slots.
    fn set_load(&self, _busy_share: f64) {}

    /// Reports the number of requests that are in flight at once.
    fn set_slots(&self, _slots: usize) {}

    /// Why nothing new should be fetched for now: what is on its way could not be recorded.
    fn disk_trouble(&self) -> Option<&'static str> {
        None
    }
}
