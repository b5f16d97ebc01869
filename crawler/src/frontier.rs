//! The frontier: which URLs are known, which wait, and which may be fetched now.
//!
//! A URL passes through three calls. [`Frontier::offer`] adds it if it is new, [`Frontier::lease`] hands it out when
//! its host is ready, and [`Frontier::settle`] records how it ended. A lease that was not settled when the process was
//! killed is handed out again after the next start.

mod checkpoint;
mod claims;
mod files;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
mod hosts;
mod journal;
mod local;
mod names;
mod queue;
mod records;
mod robots_file;
mod scores;
mod seen;
mod visits;

#[cfg(test)]
mod contract;
#[cfg(test)]
pub(crate) mod simulated_disk;

#[cfg(test)]
pub(crate) use local::Stage;
pub(crate) use local::StoredLease;
pub use local::{LocalFrontier, LocalOptions, RestingHost};
pub use names::is_frontier_file;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::{Duration, SystemTime};

use url::Url;

use crate::error::Error;
use crate::order::FetchedPage;
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
    /// Where it was found: [`LeaseId::offset`] of the page or sitemap that named it; zero for a seed.
    pub found_on: u64,
}

impl Link {
    /// A page that the user named.
    pub fn seed(url: Url) -> Link {
        Link::page(url, 0)
    }

    /// A page found at a distance from the seeds.
    pub fn page(url: Url, depth: u32) -> Link {
        Link { url, depth, hops: 0, kind: Kind::Page, anchor: String::new(), context: String::new(), found_on: 0 }
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
    /// The page or sitemap where the link was found; `None` for a seed.
    pub found_on: Option<Url>,
    /// Where the response redirected to, if it did. Set after the fetch, for the log.
    pub redirect: Option<Url>,
    /// How long the response may take while other hosts wait for a slot; `None` for as long as it needs.
    pub patience: Option<Duration>,
    /// The backend's handle on the URL.
    pub id: LeaseId,
}

/// Identifies a leased URL within its backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LeaseId {
    /// The host, by number.
    pub host: u32,
    /// The URL, by number.
    pub url: u32,
    /// The offset of its record in the journal.
    pub offset: u64,
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

/// The result of one fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FetchRecord {
    /// How it ended.
    pub outcome: Outcome,
    /// The status of the response; zero when there was none.
    pub status: u16,
    /// Bytes of the body, decoded.
    pub bytes: u32,
    /// Time between the request and the end of the response.
    pub milliseconds: u32,
    /// The content digest of a stored page; zero otherwise.
    pub digest: u64,
}

/// What is known of the content of a page, among the pages of its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentMatch {
    /// It is to be stored.
    New,
    /// It was stored under this URL, which is asked for again: it has not changed since.
    Same,
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
    /// The host with this number is reserved until [`Frontier::release`] is called.
    Granted(u32),
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
    /// The number of URLs per outcome, by its code, and status; only those that had a response, since statuses are
    /// recorded.
    statuses: BTreeMap<(u8, u16), u64>,
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

    /// The number of URLs with this outcome, by status. URLs without a response are not among them.
    pub fn by_status(&self, outcome: Outcome) -> impl Iterator<Item = (u16, u64)> {
        let code = outcome.code();
        self.statuses.range((code, 0)..=(code, u16::MAX)).map(|((_, status), count)| (*status, *count))
    }

    /// URLs that are done.
    pub fn settled(&self) -> u64 {
        self.outcomes.iter().sum()
    }

    pub(crate) fn count(&mut self, record: FetchRecord) {
        let code = usize::from(record.outcome.code());
        if code >= self.outcomes.len() {
            self.outcomes.resize(code + 1, 0);
        }
        self.outcomes[code] += 1;
        if record.status != 0 {
            *self.statuses.entry((record.outcome.code(), record.status)).or_default() += 1;
        }
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
pub trait Frontier: Send + Sync {
    /// Adds the links of a page, or seeds and sitemap entries when there is no page. A URL is added once, however often
    /// it is offered; of several claims about its kind, depth and hops the best counts, also when it was fetched by a
    /// worse one before. A redirect is offered as a page with its target as the only link, one hop further.
    fn offer(&self, page: Option<FetchedPage<'_>>, links: &[Link]) -> Result<Offered, Error>;

    /// Adds the links of a page of low quality: those that are new wait behind all others, of whatever host, and nothing
    /// is learned from them. They move up when another page links to them and the policy ranks them.
    fn offer_last(&self, links: &[Link]) -> Result<Offered, Error> {
        self.offer(None, links)
    }

    /// Lets these URLs be fetched before all others of their hosts, unless they were fetched before.
    fn expedite(&self, links: &[Link]) -> Result<(), Error>;

    /// The next URL to fetch, from a host that is ready.
    fn lease(&self) -> Result<Next, Error>;

    /// Frees the host of a lease after a rest; the lease itself stays until it is settled.
    fn rest(&self, lease: &Lease, rest: HostRest) -> Result<(), Error>;

    /// Returns a lease unused: the URL goes back to the front of its queue, and its host rests.
    fn give_back(&self, lease: Lease, rest: HostRest) -> Result<(), Error>;

    /// Reserves a host for a request outside its queue: a robots.txt that another host redirects to.
    fn claim(&self, host: &str) -> Result<Claim, Error>;

    /// Ends a claim.
    fn release(&self, host: u32, rest: HostRest) -> Result<(), Error>;

    /// How many hosts are ready and have to wait for a slot. `is_full` says that every slot is taken.
    fn n_waiting_hosts(&self, is_full: bool) -> usize;

    /// Reports the processor time that the responses of a host have taken.
    fn count_work(&self, host: u32, work: Duration);

    /// Reports the share of the time, from 0 to 1, in which the crawl was busy. When it has more work than time, hosts
    /// that bring nothing get fewer slots.
    fn set_load(&self, busy_share: f64);

    /// Why nothing new should be fetched for now: what is on its way could not be recorded.
    fn disk_trouble(&self) -> Option<&'static str> {
        None
    }

    /// What is known of a content on the host of a lease. The first URL of a host that asks gets
    /// [`ContentMatch::New`].
    fn match_content(&self, lease: &Lease, digest: u64) -> Result<ContentMatch, Error>;

    /// Ends leases. Their pages must be durable by now. `sink_position`, the end of the durable data in the sink, is
    /// journaled with them.
    fn settle(&self, leases: Vec<(Lease, Settled)>, sink_position: &[u8]) -> Result<(), Error>;

    /// Records that a seed was redirected to this URL, so that its host is within scope in later runs too.
    fn extend_scope(&self, url: &Url) -> Result<(), Error>;

    /// Every URL that was passed to [`Frontier::extend_scope`].
    fn scope_extensions(&self) -> Vec<Url>;

    /// Keeps the robots.txt of an origin (scheme, host and port) for later runs, as long as it may be used.
    fn store_robots(&self, origin: &str, robots: &StoredRobots) -> Result<(), Error>;

    /// The robots.txt of an origin that was last kept. It may be older than is allowed.
    fn stored_robots(&self, origin: &str) -> Result<Option<StoredRobots>, Error>;

    /// Whether the ordering policy needs links with their anchor text and context.
    fn reads_text(&self) -> bool;

    /// Current figures of the frontier, for the progress line.
    fn gauges(&self) -> Gauges;

    /// The totals since the crawl began, over all runs.
    fn totals(&self) -> Totals;

    /// Calls `each` with every host.
    fn hosts(&self, each: &mut dyn FnMut(HostTally<'_>));
}
