//! In which order pages are fetched: one trait, one file per policy below `order/`.
//!
//! A frontier keeps a queue per host, and every queue in classes: class 0 is fetched before class 1, and within a
//! class the link found first goes first. A policy answers two questions, and nothing else decides the order:
//! in which [`Class`] a link stands ([`Order::place`]), and which of the hosts that may be asked now is asked first
//! ([`Order::precedence`]). The same code runs inside a crawl and in a simulation over a stored graph.

mod backlink;
mod breadth;
mod explore;
mod largest;
mod least_visited;
mod level;
mod opic;
mod pagerank;
mod topic;

pub use backlink::Backlink;
pub use breadth::Breadth;
pub use explore::{DEFAULT_EXPLORE, Draw, Explore};
pub use largest::Largest;
pub use least_visited::LeastVisited;
pub use level::Level;
pub use opic::Opic;
pub use pagerank::PageRank;
pub use topic::{Harvest, Judge, Topic, TopicModel};

use crate::frontier::Link;

/// Where a link stands in its host's queue: the smallest class is fetched first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Class(pub u8);

impl Class {
    /// Before every other class.
    pub const FIRST: Class = Class(0);
    /// After every other class.
    pub const LAST: Class = Class(u8::MAX);

    /// The class of a number, where numbers beyond the last class all share it.
    pub fn saturating(value: u64) -> Class {
        Class(u8::try_from(value).unwrap_or(u8::MAX))
    }
}

/// What a policy may know about a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostCounts {
    /// Links waiting in its queue.
    pub pending: u64,
    /// Pages of it that were asked for, whatever came back.
    pub fetched: u64,
    /// The class of the link that would be fetched next; [`Class::LAST`] when none is waiting.
    pub best: Class,
}

/// A page that has just been fetched, told to the policy before its links are offered.
#[derive(Clone, Copy, Debug)]
pub struct Visit<'p> {
    /// The link that led to it.
    pub link: &'p Link,
    /// How many links will be offered from it.
    pub n_links: usize,
    /// Its body, decoded from its content encoding; empty when it is not text.
    pub body: &'p [u8],
}

/// A policy.
///
/// `score` is one number per URL that the frontier keeps for the policy when [`Order::keeps_scores`] says so: zero
/// when the URL is first found, afterwards what the policy left there. Scores change together with the frontier: after
/// `kill -9` they are what they were when its last page was settled.
pub trait Order: Send {
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

    /// The class of a link found for the first time.
    fn place(&mut self, link: &Link, host: &HostCounts, score: &mut f32) -> Class;

    /// The class of a waiting link that was found again; it moves only when this is before the class it has.
    /// Asked only of a policy that keeps scores.
    fn place_again(&mut self, _link: &Link, _host: &HostCounts, _score: &mut f32) -> Class {
        Class::LAST
    }

    /// A page was fetched; `score` is its own. Its links follow through [`Order::place`] and [`Order::place_again`].
    /// Told once of every page, also when a crash makes it necessary to fetch one again.
    fn visit(&mut self, _page: &Visit<'_>, _host: &HostCounts, _score: &mut f32) {}

    /// A link led to another address, which follows through [`Order::place`] or [`Order::place_again`]; `score` is the
    /// link's own.
    fn redirect(&mut self, _link: &Link, _host: &HostCounts, _score: &mut f32) {}

    /// The links that follow stand on no page: they are seeds, or listed in a sitemap.
    fn unlinked(&mut self) {}

    /// The class of a link that is about to be fetched: when it is after the class it stands in, the link goes back
    /// there and the next one is looked at. A policy that learns can correct what it placed when it knew less.
    fn review(&mut self, _link: &Link, _host: &HostCounts) -> Class {
        Class::FIRST
    }

    /// Whether [`Order::review`] says anything; a frontier need not read the link otherwise.
    fn reviews(&self) -> bool {
        false
    }

    /// Whether every waiting link should be looked at again now, because all that is known of them has changed. Asked
    /// after each page's links.
    fn reranks(&mut self) -> bool {
        false
    }

    /// Among hosts that may be asked now, the one with the smallest number is asked first.
    ///
    /// By default the host whose next link has the best class, and among those the one with most links waiting: its
    /// queue decides when the crawl can end.
    fn precedence(&self, host: &HostCounts) -> u64 {
        u64::from(host.best.0) << 32 | (u64::from(u32::MAX) - host.pending.min(u64::from(u32::MAX)))
    }

    /// What the policy knows besides the scores, in a few bytes: kept with every page, so that nothing of it is lost.
    fn state(&self) -> Vec<u8> {
        Vec::new()
    }

    /// Goes on with what [`Order::state`] gave.
    fn resume(&mut self, _state: &[u8]) {}
}

/// The policy of that name, or nothing when there is none.
pub fn order_named(name: &str) -> Option<Box<dyn Order>> {
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
