//! The settings of one crawl.

use std::time::Duration;

use url::Url;

use crate::frontier::{Kind, Link};
use crate::host_name::HostName;
use crate::pace::Delay;
use crate::request_headers::RequestHeaders;
use crate::resolve::Override;
use crate::scope::Scope;
use crate::sitemap::is_sitemap_name;

/// The memory, in bytes, that a crawl stays within unless told otherwise.
pub const DEFAULT_MEMORY: usize = 512_000_000;

/// The settings of one crawl. [`Plan::new`] is a polite, unlimited crawl of the seeds' hosts.
#[derive(Debug)]
pub struct Plan {
    /// Where it begins.
    pub seeds: Vec<Url>,
    /// Which links belong to it.
    pub scope: Scope,
    /// What is fetched beside the seeds.
    pub follow: Follow,
    /// What is kept beside pages.
    pub keep: Keep,
    /// Whether pages of low quality are left out of the sink.
    pub drop_low_quality: bool,
    /// When it ends, if not by itself.
    pub limits: Limits,
    /// Politeness towards hosts.
    pub politeness: Politeness,
    /// The identity that it declares.
    pub identity: Identity,
    /// Limits on one response.
    pub response_limits: ResponseLimits,
    /// Network access.
    pub network: Network,
    /// Requests in flight at once.
    pub slots: usize,
    /// Attempts per URL before a failure is its outcome.
    pub attempts: u8,
    /// The memory, in bytes, that a crawl is to stay within.
    pub memory: usize,
}

impl Plan {
    /// A polite, unlimited crawl of the seeds' hosts.
    pub fn new(seeds: Vec<Url>, scope: Scope) -> Plan {
        Plan {
            seeds,
            scope,
            follow: Follow::default(),
            keep: Keep::default(),
            drop_low_quality: false,
            limits: Limits::default(),
            politeness: Politeness::default(),
            identity: Identity::default(),
            response_limits: ResponseLimits::default(),
            network: Network::default(),
            slots: 128,
            attempts: 3,
            memory: DEFAULT_MEMORY,
        }
    }

    /// The seeds as links: those that are called as sitemaps are, are read as such.
    pub(crate) fn seed_links(&self) -> Vec<Link> {
        let kind_of = |url: &Url| match self.politeness.sitemaps && is_sitemap_name(url.path()) {
            true => Kind::Sitemap,
            false => Kind::Page,
        };
        self.seeds.iter().map(|seed| Link { kind: kind_of(seed), ..Link::seed(seed.clone()) }).collect()
    }
}

/// What a crawl fetches beside its seeds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Follow {
    /// The links of pages, sitemaps, and probes that tell how a host answers for missing pages.
    #[default]
    Links,
    /// What sitemaps list, and probes; no links of pages.
    Sitemaps,
    /// Nothing but the targets of redirects.
    Redirects,
}

/// What the sink gets of what is sent and received.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    /// The pages.
    #[default]
    Pages,
    /// Pages with their requests, and redirects, errors and robots.txt files as they were received.
    All,
}

/// When a crawl ends. What is left waits for the next run.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// Pages stored, over all runs.
    pub pages: Option<u64>,
    /// Clicks from a seed.
    pub depth: Option<u32>,
    /// Time of this run.
    pub time: Option<Duration>,
    /// Bytes of the stored pages, over all runs.
    pub bytes: Option<u64>,
}

/// The politeness of a crawl.
#[derive(Clone, Debug)]
pub struct Politeness {
    /// The rest between a response of a host and the next request to it.
    pub delay: Delay,
    /// The same for single hosts; of several that fit the last counts. A `Crawl-delay` that is longer is obeyed.
    pub host_delays: Vec<(HostName, Delay)>,
    /// Requests in flight to one IP address, however many hosts share it.
    pub per_address: usize,
    /// Whether robots.txt is fetched and obeyed.
    pub robots: bool,
    /// Whether `rel=nofollow` and `<meta name=robots content=nofollow>` are obeyed.
    pub nofollow: bool,
    /// Whether pages that ask for it with `noindex` are left out.
    pub noindex: bool,
    /// Whether the sitemaps that robots.txt names are read.
    pub sitemaps: bool,
}

impl Politeness {
    /// The rest between a response of a host, as [`host_of`](crate::host_of) names it, and the next request to it.
    pub fn delay_of(&self, host: &str) -> Delay {
        let own = self.host_delays.iter().rfind(|(name, _)| name.matches_name(host));
        own.map_or(self.delay, |(_, delay)| *delay)
    }
}

impl Default for Politeness {
    fn default() -> Self {
        Politeness {
            delay: Delay::default(),
            host_delays: Vec::new(),
            per_address: 4,
            robots: true,
            nofollow: false,
            noindex: false,
            sitemaps: true,
        }
    }
}

/// The identity that a crawl declares.
#[derive(Clone, Debug)]
pub struct Identity {
    /// The `User-Agent` header.
    pub user_agent: String,
    /// The product token that robots.txt groups are matched with.
    pub product: String,
}

impl Identity {
    /// An identity from a `User-Agent`, with a contact added if given.
    pub fn new(user_agent: &str, contact: Option<&str>) -> Identity {
        let product: String = user_agent.chars().take_while(|c| c.is_ascii_alphabetic() || "-_".contains(*c)).collect();
        let user_agent = match contact {
            Some(contact) => format!("{user_agent} (+{contact})"),
            None => user_agent.to_owned(),
        };
        Identity { user_agent, product }
    }
}

impl Default for Identity {
    fn default() -> Self {
        Identity::new(concat!("pith/", env!("CARGO_PKG_VERSION")), None)
    }
}

/// Limits on one response.
#[derive(Clone, Debug)]
pub struct ResponseLimits {
    /// Bytes of a body, decoded; the rest is cut off.
    pub max_bytes: usize,
    /// From the request to the end of the response.
    pub max_time: Duration,
    /// Time to establish a connection.
    pub connect_time: Duration,
    /// The longest time without a byte in the middle of a response.
    pub silence: Duration,
    /// A body that comes slower than this many bytes a second, after its first five seconds, is aborted.
    pub min_rate: u64,
    /// Whether bodies of any media type are stored, and not only text.
    pub any_type: bool,
}

impl Default for ResponseLimits {
    fn default() -> Self {
        ResponseLimits {
            max_bytes: 10_000_000,
            max_time: Duration::from_secs(60),
            connect_time: Duration::from_secs(10),
            silence: Duration::from_secs(20),
            min_rate: 200,
            any_type: false,
        }
    }
}

/// How hosts are reached.
#[derive(Clone, Debug)]
pub struct Network {
    /// Connections that are kept open, over all hosts, while no request is sent over them.
    pub max_idle: usize,
    /// Fixed addresses for some hosts, instead of DNS.
    pub overrides: Vec<Override>,
    /// Whether connections to addresses that are not public are allowed.
    pub allow_private: bool,
    /// A proxy for everything, `http://`, `https://` or `socks5://`. It resolves names itself, so that addresses are
    /// not checked.
    pub proxy: Option<String>,
    /// What is added to requests, by host.
    pub headers: RequestHeaders,
}

impl Default for Network {
    fn default() -> Self {
        Network {
            max_idle: 2_048,
            overrides: Vec::new(),
            allow_private: false,
            proxy: None,
            headers: RequestHeaders::default(),
        }
    }
}
