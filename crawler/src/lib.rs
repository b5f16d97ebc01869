//! A polite, durable crawler.
//!
//! It turns seeds into pages: a frontier decides which URL is next, robots.txt and pacing decide when,
//! a fetcher brings the bytes and a sink of the caller keeps them.
//!
//! It is not: a renderer (no JavaScript), a store (pages leave through a sink), or a parser of main content.

mod canonical;
mod decode;
mod domain;
mod engine;
mod error;
mod fetch;
mod frontier;
mod keeper;
mod links;
mod media_type;
mod mirror;
mod order;
mod outcome;
mod pace;
mod page;
mod plan;
mod recrawl;
mod registry;
mod resolve;
mod robots;
mod robots_cache;
mod scope;
mod simhash;
mod sink;
mod sitemap;
mod soft404;
mod topic;
mod traps;
mod validators;
mod visit;

pub use canonical::{canonicalize, join, parse_seed, resolve};
pub use domain::{registrable_domain, site};
pub use engine::crawl;
pub use error::Error;
pub use frontier::{
    Claim, Frontier, Gauges, HostTally, Kind, Lease, Link, LocalFrontier, LocalOptions, Next, Offered, Pause, Receipt,
    Settled, Ticket, Totals, host_of,
};
pub use links::{AnchorText, FoundLink, LinkScanner, PageLinks, RobotsDirectives, Source};
pub use media_type::MediaType;
pub use order::{
    Backlink, Breadth, Class, DEFAULT_EXPLORE, Draw, Explore, Harvest, HostCounts, Judge, Largest, LeastVisited, Level,
    ORDER_NAMES, Opic, Order, PageRank, Topic, TopicModel, Visit, order_named,
};
pub use outcome::Outcome;
pub use pace::Delay;
pub use page::{Cut, Page};
pub use plan::{Answers, Identity, Limits, Network, Plan, Politeness};
pub use recrawl::{ChangeHistory, Refresh, RefreshPolicy, freshness, optimal_rates, profit, refresh_value};
pub use registry::{DomainRow, Report, Status, Stop};
pub use resolve::Override;
pub use robots::{MAX_ROBOTS_BYTES, Robots};
pub use scope::{Pattern, Reach, Scope, UnknownReach};
pub use sink::Sink;
pub use sitemap::{MAX_SITEMAP_BYTES, MAX_SITEMAP_ENTRIES, Sitemap, SitemapKind, read_sitemap};
pub use topic::{LinkModel, Subject, TermTable};
pub use traps::{Trap, trap};
pub use validators::Validators;
