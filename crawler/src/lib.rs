//! A polite, durable crawler.
//!
//! It turns seeds into pages: a frontier decides which URL is next, robots.txt and pacing decide when,
//! a fetcher brings the bytes and a sink of the caller keeps them.
//!
//! It is not: a renderer (no JavaScript), a store (pages leave through a sink), or a parser of main content.

mod canonical;
mod domain;
mod error;
mod frontier;
mod links;
mod order;
mod outcome;
mod recrawl;
mod robots;
mod scope;
mod sitemap;
mod topic;
mod traps;

pub use canonical::{canonicalize, join, parse_seed, resolve};
pub use domain::{registrable_domain, site};
pub use error::Error;
pub use frontier::{
    Frontier, Gauges, HostTally, Kind, Lease, Link, LocalFrontier, LocalOptions, Next, Offered, Receipt, Settled,
    Ticket, Totals, host_of,
};
pub use links::{AnchorText, FoundLink, LinkScanner, PageLinks, RobotsDirectives, Source};
pub use order::{
    Backlink, Breadth, Class, Harvest, HostCounts, Judge, Largest, LeastVisited, Level, ORDER_NAMES, Opic, Order,
    PageRank, Topic, TopicModel, Visit, order_named,
};
pub use outcome::Outcome;
pub use recrawl::{ChangeHistory, freshness, optimal_rates, profit, refresh_value};
pub use robots::{MAX_ROBOTS_BYTES, Robots};
pub use scope::{Pattern, Reach, Scope, UnknownReach};
pub use sitemap::{MAX_SITEMAP_BYTES, MAX_SITEMAP_ENTRIES, Sitemap, SitemapKind, read_sitemap};
pub use topic::{LinkModel, TermTable, TopicWords};
pub use traps::{Trap, trap};
