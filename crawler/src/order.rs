//! In which order pages are fetched: one trait, one file per policy below `order/`.
//!
//! A frontier keeps one queue per host and priority: priority 0 is fetched before priority 1, and links of equal
//! priority are fetched in the order in which they were found. A policy decides two things: the [`Priority`] of a link
//! ([`OrderingPolicy::prioritize`]), and which of the ready hosts is served first ([`OrderingPolicy::host_priority`]).
//! The same code runs inside a crawl and in a simulation over a stored graph.

mod backlink;
mod breadth;
mod explore;
mod largest;
mod least_visited;
mod level;
mod opic;
mod pagerank;
mod shared;
mod topic;

pub use backlink::Backlink;
pub use breadth::Breadth;
pub use explore::{DEFAULT_EXPLORE, Explore, SplitMix64};
pub use largest::Largest;
pub use least_visited::LeastVisited;
pub use level::Level;
pub use opic::Opic;
pub use pagerank::PageRank;
pub use shared::{HostOrder, ScoreOrder, SharedOrder};
pub use topic::{Harvest, PageClassifier, Topic, TopicModel};

use crate::frontier::Link;

/// How soon a link is fetched among those of its host: the smallest number goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Priority(pub u8);

impl Priority {
    /// Before every other priority.
    pub const FIRST: Priority = Priority(0);
    /// After every other priority.
    pub const LAST: Priority = Priority(u8::MAX);

    /// The priority with this number; numbers above 255 give [`Priority::LAST`].
    pub fn saturating(value: u64) -> Priority {
        Priority(u8::try_from(value).unwrap_or(u8::MAX))
    }
}

/// What a policy may know about a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostCounts {
    /// Links waiting in its queues.
    pub pending: u64,
    /// Pages of it that were requested, with any outcome.
    pub fetched: u64,
    /// The priority of the link that would be fetched next; [`Priority::LAST`] when none is waiting.
    pub best: Priority,
}

/// A page that has just been fetched; the policy sees it before its links.
#[derive(Clone, Copy, Debug)]
pub struct FetchedPage<'p> {
    /// The link that led to it.
    pub link: &'p Link,
    /// How many links will be offered from it.
    pub n_links: usize,
    /// Its body, decoded from its content encoding; empty when it is not text.
    pub body: &'p [u8],
}

/// An ordering policy.
///
/// `score` is one number per URL that the frontier keeps for the policy when [`OrderingPolicy::keeps_scores`] says so:
/// zero when the URL is first found, afterwards what the policy left there. Scores change together with the frontier:
/// after `kill -9` they are what they were when its last page was settled.
pub trait OrderingPolicy: Send {
    /// The name that `--order` takes.
    fn name(&self) -> &'static str;

    /// Whether the frontier must keep a score per URL and report links that are found again.
    fn keeps_scores(&self) -> bool {
        false
    }

    /// Whether links must carry their anchor text and its surroundings.
    fn reads_text(&self) -> bool {
        false
    }

    /// The priority of a link found for the first time.
    fn prioritize(&mut self, link: &Link, host: &HostCounts, score: &mut f32) -> Priority;

    /// The new priority of a waiting link that was found again; the link moves only when this is smaller than its
    /// current priority. Called only for a policy that keeps scores.
    fn reprioritize(&mut self, _link: &Link, _host: &HostCounts, _score: &mut f32) -> Priority {
        Priority::LAST
    }

    /// Called when a page was fetched, before its links are passed to [`OrderingPolicy::prioritize`] and
    /// [`OrderingPolicy::reprioritize`]. `score` is the score of the page. Called once per page, even when a page is
    /// fetched again after a crash.
    fn page_fetched(&mut self, _page: &FetchedPage<'_>, _host: &HostCounts, _score: &mut f32) {}

    /// Called when a link was redirected, before the target is passed to [`OrderingPolicy::prioritize`] or
    /// [`OrderingPolicy::reprioritize`]; `score` is the score of the redirected link.
    fn redirected(&mut self, _link: &Link, _host: &HostCounts, _score: &mut f32) {}

    /// Called before links that were found on no page: seeds and sitemap entries.
    fn no_source_page(&mut self) {}

    /// The current priority of a link that is about to be fetched: when it is larger than the priority in its queue,
    /// the link is queued again with it and the next one is taken. A policy that learns corrects old priorities here.
    fn review(&mut self, _link: &Link, _host: &HostCounts) -> Priority {
        Priority::FIRST
    }

    /// Whether the policy implements [`OrderingPolicy::review`]; otherwise the frontier does not read the link for it.
    fn reviews(&self) -> bool {
        false
    }

    /// Whether every waiting link must be prioritized again now. Called after the links of each page; a request is
    /// reported once.
    fn reranks(&mut self) -> bool {
        false
    }

    /// The ready host with the smallest number is served first.
    ///
    /// By default the host whose next link has the smallest priority; among equals the host with the longest queue,
    /// because the longest queue decides when the crawl can end.
    fn host_priority(&self, host: &HostCounts) -> u64 {
        u64::from(host.best.0) << 32 | (u64::from(u32::MAX) - host.pending.min(u64::from(u32::MAX)))
    }

    /// How machines that share a frontier keep this order, where each of them knows a part of the crawl only; `None` for
    /// a policy that needs all of it in one place.
    fn shared(&self) -> Option<SharedOrder> {
        None
    }

    /// The state of the policy besides the scores, in a few bytes. It is logged with every page, so that a crash does
    /// not lose it.
    fn state(&self) -> Vec<u8> {
        Vec::new()
    }

    /// Restores what [`OrderingPolicy::state`] returned.
    fn resume(&mut self, _state: &[u8]) {}
}

/// The policy of that name, or nothing when there is none.
pub fn order_named(name: &str) -> Option<Box<dyn OrderingPolicy>> {
    match name {
        "opic" => Some(Box::new(Opic::default())),
        "breadth" => Some(Box::new(Breadth)),
        "level" => Some(Box::new(Level)),
        "largest" => Some(Box::new(Largest)),
        "least-visited" => Some(Box::new(LeastVisited)),
        "backlink" => Some(Box::new(Backlink)),
        "pagerank" => Some(Box::new(PageRank::default())),
        _ => None,
    }
}

/// The names that [`order_named`] knows, the default first.
pub const ORDER_NAMES: &[&str] = &["opic", "breadth", "level", "largest", "least-visited", "backlink", "pagerank"];
