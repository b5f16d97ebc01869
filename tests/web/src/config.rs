//! What web to make.

use std::time::Duration;

/// What web to make: everything on it follows from these values.
#[derive(Clone, Debug)]
pub struct WebConfig {
    /// The seed that the whole web is generated from.
    pub seed: u64,
    /// Ordinary hosts; traps and mirrors come on top.
    pub hosts: usize,
    /// Pages on each ordinary host, all of them reachable from its root.
    pub pages_per_host: usize,
    /// About as many links on each page; at least the tree that makes every page reachable.
    pub links_per_page: usize,
    /// How much of what a page holds is made with care.
    pub pages: PageStyle,
    /// How a client finds the hosts.
    pub addresses: Addresses,
    /// The port to listen on; 0 takes a free one.
    pub port: u16,
    /// Realistic pages are compressed for clients that accept gzip, as on most of the web.
    pub gzip: bool,
    /// Threads that serve.
    pub threads: usize,
    /// How long every answer waits, at the median; single waits spread around it (log-normal).
    pub latency: Duration,
    /// Which robots.txt the hosts serve.
    pub robots: Robots,
    /// Hosts offer sitemaps, which also list some pages that nothing links to.
    pub sitemaps: bool,
    /// Pages link to redirects: chains, loops, to other hosts.
    pub redirects: bool,
    /// The share of leaf pages that always answer 500.
    pub broken: f64,
    /// The share of leaf pages that answer 503 the first time.
    pub flaky: f64,
    /// How many changes each page sees per second, on average; single pages differ by four decades.
    pub changes_per_second: f64,
    /// The share of pages that repeat an earlier page of their host byte for byte in their main text.
    pub exact_duplicates: f64,
    /// The share of pages that repeat an earlier page of their host with a few words changed.
    pub near_duplicates: f64,
    /// Crawler traps.
    pub traps: Traps,
    /// Every request is kept for the assertions. Turn it off for a long benchmark.
    pub log: bool,
}

impl Default for WebConfig {
    /// A small, friendly web: realistic pages in four languages, no traps, no delays.
    fn default() -> Self {
        WebConfig {
            seed: 1,
            hosts: 12,
            pages_per_host: 20,
            links_per_page: 20,
            pages: PageStyle::Realistic,
            addresses: Addresses::Names,
            port: 0,
            gzip: false,
            threads: 2,
            latency: Duration::ZERO,
            robots: Robots::Open,
            sitemaps: true,
            redirects: false,
            broken: 0.0,
            flaky: 0.0,
            changes_per_second: 0.0,
            exact_duplicates: 0.0,
            near_duplicates: 0.0,
            traps: Traps::default(),
            log: true,
        }
    }
}

/// How much of what a page holds is made with care.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageStyle {
    /// Articles, forums, products, listings and documentation in four languages, 5 to 100 KB.
    Realistic,
    /// English prose and links around a mean size in bytes, made almost without work: for measuring others.
    Plain(usize),
}

/// How a client finds the hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addresses {
    /// Names such as `news-0.test`, all on one port of 127.0.0.1: the client must be told where they are.
    Names,
    /// `127.0.0.1:PORT`, `127.0.0.2:PORT` and so on: any client finds them.
    Loopback,
    /// `127.0.0.1:PORT` with a port for every host: any client finds them, and they share an address.
    Ports,
}

/// Which robots.txt the hosts serve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Robots {
    /// None: 404, everything is allowed.
    Open,
    /// `/private/` is forbidden everywhere, and pages link to it.
    Private,
    /// As [`Robots::Private`], and every host takes the next of the odd forms: groups for several agents, BOM, CRLF,
    /// wildcards, 600 kB, a redirect, 401, a Crawl-delay of one second.
    Varied,
}

/// Crawler traps. Each switch adds hosts of its own, linked from the root of the first host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traps {
    /// `calendar-trap.test`: a next day and a previous day for ever.
    pub calendar: bool,
    /// `session-trap.test`: ordinary pages whose links carry a new `sid` in every answer.
    pub session_ids: bool,
    /// `path-trap.test`: paths that grow and repeat for ever.
    pub endless_paths: bool,
    /// `query-trap.test`: every combination of facets, and a next page for ever.
    pub endless_queries: bool,
    /// `soft404-trap.test`: ordinary pages, broken links among them, and 200 with an apology for whatever is missing.
    pub soft_404: bool,
    /// `mirror-trap.test`: everything the first host has, under another name.
    pub mirror: bool,
    /// `slow-trap.test`: a page that arrives one byte per second.
    pub slow_loris: bool,
    /// `bomb-trap.test`: a megabyte of gzip that becomes a gigabyte.
    pub gzip_bomb: bool,
    /// `endless-trap.test`: a body that does not end.
    pub endless_body: bool,
    /// `busy-trap.test`: 429 with `Retry-After` for every other request.
    pub too_many_requests: bool,
    /// `dying-trap.test`: the connection is cut in the middle of every second page.
    pub dying: bool,
    /// `gibberish-trap.test`: ten thousand pages of random words.
    pub gibberish: bool,
    /// `farm-0.test` and so on: so many hosts of one template with more links to each other than words.
    pub farm_hosts: usize,
    /// `spam-0.test` and so on: so many hosts that link to each other's every page.
    pub spam_hosts: usize,
}

impl Traps {
    /// The hosts that the traps add.
    pub fn count(&self) -> usize {
        let single = [
            self.calendar,
            self.session_ids,
            self.endless_paths,
            self.endless_queries,
            self.soft_404,
            self.mirror,
            self.slow_loris,
            self.gzip_bomb,
            self.endless_body,
            self.too_many_requests,
            self.dying,
            self.gibberish,
        ];
        single.into_iter().filter(|on| *on).count() + self.farm_hosts + self.spam_hosts
    }

    /// Every trap, with `spam_hosts` hosts in the link farm; those of low-quality text are for tests of their own.
    pub fn all(spam_hosts: usize) -> Self {
        Traps {
            calendar: true,
            session_ids: true,
            endless_paths: true,
            endless_queries: true,
            soft_404: true,
            mirror: true,
            slow_loris: true,
            gzip_bomb: true,
            endless_body: true,
            too_many_requests: true,
            dying: true,
            gibberish: false,
            farm_hosts: 0,
            spam_hosts,
        }
    }
}
