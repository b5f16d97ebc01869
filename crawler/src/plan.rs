//! What one crawl may do.

use std::collections::HashMap;
use std::time::Duration;

use url::Url;

use crate::pace::Delay;
use crate::resolve::Override;
use crate::scope::Scope;

/// What one crawl may do. [`Plan::new`] is a polite, unlimited crawl of the seeds' hosts.
#[derive(Debug)]
pub struct Plan {
    /// Where it begins.
    pub seeds: Vec<Url>,
    /// Which links belong to it.
    pub scope: Scope,
    /// When it ends, if not by itself.
    pub limits: Limits,
    /// How it treats hosts.
    pub politeness: Politeness,
    /// Who it says it is.
    pub identity: Identity,
    /// What it takes from one answer.
    pub answers: Answers,
    /// How it reaches hosts.
    pub network: Network,
    /// Requests on their way at once.
    pub slots: usize,
    /// How often a URL is tried before its failure counts.
    pub attempts: u8,
}

impl Plan {
    /// A polite, unlimited crawl of the seeds' hosts.
    pub fn new(seeds: Vec<Url>, scope: Scope) -> Plan {
        Plan {
            seeds,
            scope,
            limits: Limits::default(),
            politeness: Politeness::default(),
            identity: Identity::default(),
            answers: Answers::default(),
            network: Network::default(),
            slots: 128,
            attempts: 3,
        }
    }
}

/// When a crawl ends. What is left waits for the next run.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// Pages kept, over all runs.
    pub pages: Option<u64>,
    /// Clicks from a seed.
    pub depth: Option<u32>,
    /// Time of this run.
    pub time: Option<Duration>,
    /// Bytes of the pages kept, over all runs.
    pub bytes: Option<u64>,
}

/// How a crawl treats hosts.
#[derive(Clone, Debug)]
pub struct Politeness {
    /// The rest between an answer of a host and the next request to it.
    pub delay: Delay,
    /// Requests on their way to one address at once, however many hosts share it.
    pub per_address: usize,
    /// Whether robots.txt is asked for and obeyed.
    pub robots: bool,
    /// Whether `rel=nofollow` and `<meta name=robots content=nofollow>` are obeyed.
    pub nofollow: bool,
    /// Whether pages that ask for it with `noindex` are left out.
    pub noindex: bool,
    /// Whether the sitemaps that robots.txt names are read.
    pub sitemaps: bool,
}

impl Default for Politeness {
    fn default() -> Self {
        Politeness {
            delay: Delay::default(),
            per_address: 4,
            robots: true,
            nofollow: false,
            noindex: false,
            sitemaps: true,
        }
    }
}

/// Who a crawl says it is.
#[derive(Clone, Debug)]
pub struct Identity {
    /// The `User-Agent` header.
    pub user_agent: String,
    /// The name that robots.txt files address it by.
    pub product: String,
}

impl Identity {
    /// An identity from a `User-Agent`, with the way to reach its owner added when there is one.
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

/// What is taken from one answer.
#[derive(Clone, Debug)]
pub struct Answers {
    /// Bytes of a body, decoded; the rest is cut off.
    pub max_bytes: usize,
    /// From the request to the end of the answer.
    pub max_time: Duration,
    /// Until a connection stands.
    pub connect_time: Duration,
    /// Silence in the middle of an answer.
    pub silence: Duration,
    /// A body that comes slower than this many bytes a second, after its first five seconds, is given up.
    pub min_rate: u64,
    /// Whether everything is kept that a server sends, and not only text.
    pub any_type: bool,
}

impl Default for Answers {
    fn default() -> Self {
        Answers {
            max_bytes: 10 << 20,
            max_time: Duration::from_secs(60),
            connect_time: Duration::from_secs(10),
            silence: Duration::from_secs(20),
            min_rate: 200,
            any_type: false,
        }
    }
}

/// How hosts are reached.
#[derive(Clone, Debug, Default)]
pub struct Network {
    /// Where connections to some hosts go, whatever their names say.
    pub overrides: Vec<Override>,
    /// Whether addresses may be connected that are not public.
    pub allow_private: bool,
    /// A proxy for everything, `http://`, `https://` or `socks5://`. It looks names up itself: addresses cannot be
    /// checked behind it.
    pub proxy: Option<String>,
    /// User and password for HTTP basic authentication, by host as [`host_of`](crate::host_of) names it.
    pub credentials: HashMap<String, (String, String)>,
}
