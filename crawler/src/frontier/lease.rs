//! Leases: the exclusive right to fetch a URL, until it is settled, given back or not renewed.

use std::time::{Duration, SystemTime};

use url::Url;

use super::Link;
use crate::validators::Validators;

/// What the log tells of a lease beside its outcome.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// The page where the link was found, if the backend knows it; `None` for a seed.
    pub found_on: Option<Url>,
    /// When it was requested. This and what follows is set after the fetch.
    pub requested_at: Option<SystemTime>,
    /// The status of the response.
    pub status: Option<u16>,
    /// Where the response redirects to.
    pub redirect: Option<Url>,
}

/// The exclusive right to fetch one URL. While its host is being fetched from, no other URL of that host is leased.
#[derive(Debug)]
pub struct Lease {
    /// The URL, and how it was found.
    pub link: Link,
    /// How often it was tried before.
    pub attempts: u8,
    /// The validators (`ETag`, `Last-Modified`) of the stored copy, for a conditional request. After a fetch they are
    /// replaced by the new ones, which [`Frontier::settle`](crate::Frontier::settle) stores.
    pub validators: Option<Box<Validators>>,
    /// How long the response may take while other hosts wait for a slot; `None` for as long as it needs.
    pub patience: Option<Duration>,
    /// Where the link was found, and how it was answered.
    pub trace: Box<Trace>,
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

/// The answer to [`Frontier::lease`](crate::Frontier::lease).
#[derive(Debug)]
pub enum Leases {
    /// Fetch these URLs, each of another host.
    Granted(Vec<Lease>),
    /// No host is ready; try again after this long, or when something was offered or settled.
    Wait(Duration),
    /// Nothing is waiting and nothing is leased.
    Empty,
}

/// What to do next.
#[expect(clippy::large_enum_variant, reason = "it is taken apart at once, and never kept")]
#[derive(Debug)]
pub enum Next {
    /// Fetch this URL.
    Fetch(Lease),
    /// No host is ready; try again after this long, or when something was offered or settled.
    Wait(Duration),
    /// Nothing is waiting and nothing is leased.
    Empty,
}
