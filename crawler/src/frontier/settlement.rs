//! How leases end, and what their pages bring.

use bytes::Bytes;

use super::{Lease, LeaseId, Link};
use crate::outcome::Outcome;

/// What [`Frontier::settle`](crate::Frontier::settle) did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SettledBatch {
    /// Leases that were not the worker's any more: nothing of theirs was recorded.
    pub fenced: Vec<LeaseId>,
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
