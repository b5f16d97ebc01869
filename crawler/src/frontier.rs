//! The frontier: which URLs are known, which wait, and which may be fetched now.
//!
//! A URL goes through three doors. [`Frontier::offer`] takes it in, once; [`Frontier::lease`] hands it out when its
//! host may be asked; [`Frontier::settle`] says how it ended. A lease that is never settled, because the process was
//! killed, is handed out again after the next start.

mod checkpoint;
mod files;
mod hosts;
mod journal;
mod local;
mod queue;
mod records;
mod scores;
mod seen;
mod visits;

#[cfg(test)]
mod contract;

pub use local::{LocalFrontier, LocalOptions};

use std::fmt::Write;
use std::time::Duration;

use url::Url;

use crate::error::Error;
use crate::order::Visit;
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
    /// An address that nobody can have made, to learn how its host answers what is missing.
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

/// A URL worth asking for, in its one canonical spelling.
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

    /// The name that pacing goes by: the host, and the port where it is not the scheme's own.
    pub fn host(&self) -> String {
        host_of(&self.url)
    }
}

/// The name that pacing goes by: the host, and the port where it is not the scheme's own.
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

/// The right to ask for one URL. While it is held nobody else gets a URL of its host.
#[derive(Debug)]
pub struct Lease {
    /// The URL, and how it was found.
    pub link: Link,
    /// How often it was tried before.
    pub attempts: u8,
    /// What the server told about the page when it was last kept. A visit that brings the page puts what it tells now
    /// in its place, for [`Frontier::settle`] to remember.
    pub validators: Option<Box<Validators>>,
    /// What the backend needs to find the URL again.
    pub ticket: Ticket,
}

/// A backend's own handle on a leased URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ticket {
    /// The host, by number.
    pub host: u32,
    /// The URL, by number.
    pub url: u32,
    /// Where its record starts.
    pub offset: u64,
}

/// The frontier's answer to a worker without work.
#[derive(Debug)]
pub enum Next {
    /// Ask for this.
    Fetch(Lease),
    /// Nothing may be asked now; come back after this long, or when something was offered or settled.
    Wait(Duration),
    /// Nothing is waiting and nothing is leased.
    Empty,
}

/// How a lease ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    /// The URL is done, well or badly, and will not be handed out again.
    Done(Receipt),
    /// The URL goes back to the end of its class with one more attempt counted.
    Again,
}

/// What a URL led to, and what it cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// How it ended.
    pub outcome: Outcome,
    /// Bytes of the body, decoded.
    pub bytes: u32,
    /// Time between the request and the end of the answer.
    pub milliseconds: u32,
    /// The digest of a page that was kept; zero for everything else.
    pub digest: u64,
}

/// What happened to a host while one of its URLs was leased.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// It was asked and has answered: it wants to be left alone this long, also after a crash.
    Answered(Duration),
    /// It was not asked; it may be after this long.
    Unasked(Duration),
}

/// The answer to somebody who wants to ask a host something that is not in its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// Nobody else asks the host until [`Frontier::release`] is called with this number.
    Yours(u32),
    /// The host is being asked or rests; try again after this long.
    Later(Duration),
}

/// What an offer did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offered {
    /// URLs never seen before.
    pub new: u64,
    /// URLs that were known.
    pub known: u64,
}

/// Figures for the live line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gauges {
    /// URLs waiting.
    pub pending: u64,
    /// URLs ever taken in.
    pub known: u64,
    /// URLs handed out and not settled.
    pub leased: u64,
    /// Hosts that may be asked now.
    pub ready_hosts: u64,
    /// Hosts ever met.
    pub hosts: u64,
}

/// What was counted since the crawl began, over all its runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// How often each outcome came, by its code.
    outcomes: Vec<u64>,
    /// Bytes of the pages that were kept.
    pub bytes: u64,
    /// Time spent waiting for answers, all slots together.
    pub milliseconds: u64,
}

impl Totals {
    /// How often an outcome came.
    pub fn of(&self, outcome: Outcome) -> u64 {
        self.outcomes.get(usize::from(outcome.code())).copied().unwrap_or(0)
    }

    /// URLs that are done.
    pub fn settled(&self) -> u64 {
        self.outcomes.iter().sum()
    }

    pub(crate) fn count(&mut self, receipt: Receipt) {
        let code = usize::from(receipt.outcome.code());
        if code >= self.outcomes.len() {
            self.outcomes.resize(code + 1, 0);
        }
        self.outcomes[code] += 1;
        self.milliseconds += u64::from(receipt.milliseconds);
        if receipt.outcome == Outcome::Stored {
            self.bytes += u64::from(receipt.bytes);
        }
    }
}

/// What one host gave.
#[derive(Clone, Copy, Debug)]
pub struct HostTally<'f> {
    /// Its name, with the port where that is not the scheme's own.
    pub name: &'f str,
    /// URLs waiting.
    pub pending: u64,
    /// Requests answered.
    pub fetched: u64,
    /// Pages kept.
    pub stored: u64,
    /// Bytes of those pages.
    pub bytes: u64,
    /// Time spent waiting for its answers.
    pub milliseconds: u64,
}

/// A frontier. Every backend passes the same suite.
pub trait Frontier: Send + Sync {
    /// Takes in the links of a page, or the seeds when there is no page; each URL once, whoever offers it. A page that
    /// answered with a redirect is offered with its target alone, one hop further.
    fn offer(&self, page: Option<Visit<'_>>, links: &[Link]) -> Result<Offered, Error>;

    /// A URL whose host may be asked now.
    fn lease(&self) -> Result<Next, Error>;

    /// The host is free again after a pause, while the lease lives on until it is settled.
    fn rest(&self, lease: &Lease, pause: Pause) -> Result<(), Error>;

    /// The URL was not asked for after all: it waits at the front of its queue, and its host for the pause.
    fn give_back(&self, lease: Lease, pause: Pause) -> Result<(), Error>;

    /// Takes a host out of turn, for a robots.txt that another host redirects to.
    fn claim(&self, host: &str) -> Result<Claim, Error>;

    /// Ends a claim.
    fn release(&self, host: u32, pause: Pause) -> Result<(), Error>;

    /// Whether a page with this digest was kept, or will be, under another URL. The first to ask is told no.
    fn is_repeat(&self, lease: &Lease, digest: u64) -> Result<bool, Error>;

    /// Ends leases; what they led to must be durable by now. `mark` is kept with them: how far the sink was.
    fn settle(&self, leases: Vec<(Lease, Settled)>, mark: &[u8]) -> Result<(), Error>;

    /// Remembers that a seed led to this URL, so that its host belongs to the crawl in every later run too.
    fn admit(&self, url: &Url) -> Result<(), Error>;

    /// Every URL that was given to [`Frontier::admit`].
    fn admitted(&self) -> Vec<Url>;

    /// Whether the ordering policy wants links with their anchor texts.
    fn reads_text(&self) -> bool;

    /// Figures for the live line.
    fn gauges(&self) -> Gauges;

    /// What was counted since the crawl began.
    fn totals(&self) -> Totals;

    /// Shows every host.
    fn hosts(&self, each: &mut dyn FnMut(HostTally<'_>));
}
