//! The frontier: which URLs are known, which wait, and which may be fetched now.
//!
//! A URL passes through three calls. [`Frontier::offer`] adds it if it is new, [`Frontier::lease`] hands it out when
//! its host is ready, and [`Frontier::settle`] records how it ended, together with the links that were found. A lease that
//! was not settled when the process was killed is handed out again after the next start.

mod checkpoint;
mod claims;
mod files;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
mod hosts;
mod journal;
mod local;
mod memory;
mod names;
mod patient;
mod queue;
mod records;
mod robots_file;
mod scores;
mod seen;
mod visits;

#[cfg(test)]
mod contract;
#[cfg(test)]
mod durability;
#[cfg(test)]
pub(crate) mod simulated_disk;

#[cfg(test)]
pub(crate) use local::Stage;
pub(crate) use local::StoredLease;
pub use local::{LocalFrontier, LocalOptions, RestingHost};
pub use memory::{MemoryFrontier, MemoryOptions};
pub use names::is_frontier_file;
pub(crate) use patient::PatientFrontier;

use std::fmt::Write;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use url::Url;

use crate::error::Error;
use crate::outcome::Outcome;
use crate::validators::Validators;

/// What a link leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Kind {
    /// A page, to be stored.
    #[default]
    Page,
    /// A sitemap, to be read for links.
    Sitemap,
    /// A random URL that cannot exist, requested to learn how its host answers missing pages (soft-404 detection).
    Probe,
}

impl Kind {
    fn code(self) -> u8 {
        match self {
            Kind::Page => 0,
            Kind::Sitemap => 1,
            Kind::Probe => 2,
        }
    }

    fn from_code(code: u8) -> Option<Kind> {
        [Kind::Page, Kind::Sitemap, Kind::Probe].into_iter().find(|kind| kind.code() == code)
    }
}

/// A link to fetch, with its URL in canonical form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Where it leads.
    pub url: Url,
    /// How many clicks from a seed.
    pub depth: u32,
    /// How many redirects led here.
    pub hops: u8,
    /// What is expected there.
    pub kind: Kind,
    /// The anchor text; empty unless the ordering policy reads it.
    pub anchor: String,
    /// The words around the anchor; empty unless the ordering policy reads them.
    pub context: String,
}

impl Link {
    /// A page that the user named.
    pub fn seed(url: Url) -> Link {
        Link::page(url, 0)
    }

    /// A page found at a distance from the seeds.
    pub fn page(url: Url, depth: u32) -> Link {
        Link { url, depth, hops: 0, kind: Kind::Page, anchor: String::new(), context: String::new() }
    }

    /// The host name that pacing uses: with the port where that is not the default of the scheme.
    pub fn host(&self) -> String {
        host_of(&self.url)
    }
}

/// The host name that pacing uses: with the port where that is not the default of the scheme.
pub fn host_of(url: &Url) -> String {
    let mut name = String::new();
    write_host(url, &mut name);
    name
}

fn write_host(url: &Url, name: &mut String) {
    name.push_str(url.host_str().unwrap_or(""));
    if let Some(port) = url.port() {
        let _ = write!(name, ":{port}");
    }
}

/// The exclusive right to fetch one URL. While its host is being fetched from, no other URL of that host is leased.
#[derive(Debug)]
pub struct Lease {
    /// The URL, and how it was found.
    pub link: Link,
    /// How often it was tried before.
    pub attempts: u8,
    /// The validators (`ETag`, `Last-Modified`) of the stored copy, for a conditional request. After a fetch they are
    /// replaced by the new ones, which [`Frontier::settle`] stores.
    pub validators: Option<Box<Validators>>,
    /// How long the response may take while other hosts wait for a slot; `None` for as long as it needs.
    pub patience: Option<Duration>,
    /// The backend's handle on the URL.
    pub id: LeaseId,
}

/// Identifies a lease, or a claim, within its backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LeaseId {
    key: u128,
    fence: u64,
}

impl LeaseId {
    /// A lease of what the backend calls `key`. Whoever leases it later gets a larger `fence`, by which the backend
    /// refuses what an earlier holder still asks for.
    pub fn new(key: u128, fence: u64) -> LeaseId {
        LeaseId { key, fence }
    }

    /// What is leased, in the backend's own terms.
    pub fn key(self) -> u128 {
        self.key
    }

    /// The fencing token.
    pub fn fence(self) -> u64 {
        self.fence
    }
}

/// One of the processes that share a frontier.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WorkerId(Box<str>);

impl WorkerId {
    /// A worker of this name, which no other has.
    pub fn new(name: &str) -> WorkerId {
        WorkerId(name.into())
    }

    /// Its name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for WorkerId {
    /// This process, by its number.
    fn default() -> Self {
        WorkerId(format!("process-{}", std::process::id()).into())
    }
}

/// The answer to [`Frontier::lease`].
#[derive(Debug)]
pub enum Leases {
    /// Fetch these URLs, each of another host.
    Granted(Vec<Lease>),
    /// No host is ready; try again after this long, or when something was offered or settled.
    Wait(Duration),
    /// Nothing is waiting and nothing is leased.
    Empty,
}

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

/// What [`Frontier::settle`] did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SettledBatch {
    /// Leases that were not the worker's any more: nothing of theirs was recorded.
    pub fenced: Vec<LeaseId>,
}

/// What to do next.
#[derive(Debug)]
pub enum Next {
    /// Fetch this URL.
    Fetch(Lease),
    /// No host is ready; try again after this long, or when something was offered or settled.
    Wait(Duration),
    /// Nothing is waiting and nothing is leased.
    Empty,
}

/// How a lease ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    /// The URL has its final outcome and will not be handed out again.
    Done(FetchRecord),
    /// The URL failed for now and is queued again, behind others of its priority, with one more attempt counted.
    Retry,
}

/// The end of a lease and the links of its page: one unit. Either both are recorded or neither is, so that a page passes
/// its score on to its links once.
#[derive(Debug)]
pub struct Settlement {
    /// The lease that ends.
    pub lease: Lease,
    /// How it ends.
    pub settled: Settled,
    /// What the page links to; `None` when nothing was read, or when its links do not count.
    pub outlinks: Option<Outlinks>,
}

impl Settlement {
    /// An end without links.
    pub fn new(lease: Lease, settled: Settled) -> Settlement {
        Settlement { lease, settled, outlinks: None }
    }

    /// The bytes of memory that its links take, about.
    pub(crate) fn link_bytes(&self) -> usize {
        let bytes = |link: &Link| size_of::<Link>() + link.url.as_str().len() + link.anchor.len() + link.context.len();
        self.outlinks.as_ref().map_or(0, |found| found.links.iter().map(bytes).sum())
    }
}

/// What a page links to.
#[derive(Clone, Debug, Default)]
pub struct Outlinks {
    /// The links that belong to the crawl. The target of a redirect is the only one, one hop further.
    pub links: Vec<Link>,
    /// Whether the URL redirects.
    pub is_redirect: bool,
    /// The text of the page in UTF-8, for an ordering policy that reads it; empty for others.
    pub text: Bytes,
}

/// The result of one fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FetchRecord {
    /// How it ended.
    pub outcome: Outcome,
    /// Bytes of the body, decoded.
    pub bytes: u32,
    /// Time between the request and the end of the response.
    pub milliseconds: u32,
    /// The content digest of a stored page; zero otherwise.
    pub digest: u64,
}

impl FetchRecord {
    /// Whether a page was requested. What is reserved was, where it took time.
    pub(crate) fn is_page_request(&self) -> bool {
        self.outcome.is_page_request() && (self.outcome != Outcome::Reserved || self.milliseconds > 0)
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

/// What [`Frontier::offer`] did with the links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offered {
    /// URLs never seen before.
    pub new: u64,
    /// URLs that were known.
    pub known: u64,
}

/// Current figures of the frontier, for the progress line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Gauges {
    /// URLs waiting.
    pub pending: u64,
    /// URLs ever added.
    pub known: u64,
    /// URLs handed out and not settled.
    pub leased: u64,
    /// Hosts that are ready for a request.
    pub ready_hosts: u64,
    /// Hosts ever seen.
    pub hosts: u64,
}

/// Totals since the crawl began, over all its runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// The number of URLs per outcome, by its code.
    outcomes: Vec<u64>,
    /// Bytes of the stored pages.
    pub bytes: u64,
    /// Response times, added up over all requests.
    pub milliseconds: u64,
}

impl Totals {
    /// The number of URLs with this outcome.
    pub fn of(&self, outcome: Outcome) -> u64 {
        self.outcomes.get(usize::from(outcome.code())).copied().unwrap_or(0)
    }

    /// URLs that are done.
    pub fn settled(&self) -> u64 {
        // The counts come from a file.
        self.outcomes.iter().fold(0_u64, |sum, count| sum.saturating_add(*count))
    }

    pub(crate) fn count(&mut self, record: FetchRecord) {
        let code = usize::from(record.outcome.code());
        if code >= self.outcomes.len() {
            self.outcomes.resize(code + 1, 0);
        }
        self.outcomes[code] += 1;
        self.milliseconds += u64::from(record.milliseconds);
        if record.outcome == Outcome::Stored {
            self.bytes += u64::from(record.bytes);
        }
    }
}

/// The figures of one host.
#[derive(Clone, Copy, Debug)]
pub struct HostTally<'f> {
    /// Its name, with the port where that is not the default of the scheme.
    pub name: &'f str,
    /// URLs waiting.
    pub pending: u64,
    /// Requests answered.
    pub fetched: u64,
    /// Pages stored.
    pub stored: u64,
    /// Bytes of those pages.
    pub bytes: u64,
    /// Response times, added up over its requests.
    pub milliseconds: u64,
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
