//! A polite, durable crawler.
//!
//! It turns seeds into pages: a frontier decides which URL is next, robots.txt and pacing decide when,
//! a fetcher downloads pages and a sink of the caller stores them.
//!
//! It is not: a renderer (no JavaScript), a store (pages leave through a sink), or a parser of main content.

mod adopt;
mod canonical;
mod clock;
mod connections;
mod control;
mod cookies;
mod domain;
mod engine;
mod error;
mod fetch;
mod frontier;
mod generations;
mod host_name;
mod links;
mod load;
mod media_type;
mod memory;
mod mirror;
mod open_files;
mod order;
mod outcome;
mod pace;
mod page;
mod plan;
mod process;
mod progress;
mod recrawl;
mod request_headers;
mod resolve;
mod robots;
mod robots_cache;
mod scope;
mod signature;
mod simhash;
#[cfg(test)]
mod simulation;
mod sink;
mod sitemap;
mod snapshot;
mod soft404;
mod timed;
mod topic;
mod traps;
mod trouble;
mod validators;
mod writer;

pub use adopt::{StoredBody, StoredPage, adopt, offer_links_again};
pub use canonical::{canonicalize, join, parse_seed, resolve};
pub use clock::Clock;
pub use control::{Control, HasEnded, Limit, Snapshots};
pub use cookies::Cookies;
pub use domain::{registrable_domain, site};
pub use engine::crawl;
pub use error::Error;
pub use frontier::{
    Claim, ContentMatch, FetchRecord, Frontier, FrontierError, Gauges, HostRest, HostTally, Kind, Lease, LeaseId,
    Leases, Link, LocalFrontier, LocalOptions, MemoryFrontier, MemoryOptions, Next, Offered, Outlinks, RestingHost,
    Settled, SettledBatch, Settlement, StoredRobots, Totals, WorkerId, host_of, is_frontier_file, max_hosts,
};
#[cfg(feature = "redis")]
pub use frontier::{CrawlSettings, RedisAddress, RedisFrontier, RedisOptions};
pub use host_name::HostName;
pub use links::{AnchorText, FoundLink, LinkScanner, PageLinks, RobotsDirectives, Source};
pub use media_type::MediaType;
pub use open_files::OpenFiles;
pub use order::{
    Backlink, Breadth, DEFAULT_EXPLORE, Explore, FetchedPage, Harvest, HostCounts, Largest, LeastVisited, Level,
    ORDER_NAMES, Opic, OrderingPolicy, PageClassifier, PageRank, Priority, SplitMix64, Topic, TopicModel, order_named,
};
pub use outcome::Outcome;
pub use pace::Delay;
pub use page::{Page, Truncation};
pub use pith_notation::Headers;
pub use plan::{DEFAULT_MEMORY, Follow, Identity, Limits, Network, OwnerPreferences, Plan, Politeness, ResponseLimits};
pub use progress::{DomainRow, Report, Status, Stop, Unheard};
pub use recrawl::{
    ChangeHistory, Refresh, RefreshPass, RefreshPolicy, freshness, optimal_rates, profit, refresh_value,
};
pub use request_headers::{CustomHeader, RequestHeaders};
pub use resolve::Override;
pub use robots::{MAX_ROBOTS_BYTES, Robots};
pub use scope::{BadPattern, Pattern, Reach, Scope, UnknownReach};
pub use signature::{InvalidKey, SigningKey};
pub use sink::Sink;
pub use sitemap::{MAX_SITEMAP_BYTES, MAX_SITEMAP_ENTRIES, Sitemap, SitemapKind, SitemapReader, read_sitemap};
pub use snapshot::{LimitsInForce, LiveDomain, Phase, SettledUrl, Snapshot};
pub use topic::{LinkModel, TermTable, TopicProfile};
pub use traps::{Trap, trap};
pub use validators::Validators;

/// Private parts, for the fuzz targets alone.
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing {
    pub use crate::frontier::fuzzing::{open_checkpoint, open_journal};
}
