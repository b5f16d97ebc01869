//! One lease from beginning to end: may it be asked for, what came back, where it leads.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use url::Url;
use xxhash_rust::xxh3::xxh3_64;

use crate::canonical::{canonicalize, resolve as resolve_reference};
use crate::error::Error;
use crate::fetch::{Answer, Fetcher, Wanted, charset};
use crate::frontier::{Claim, Frontier, Kind, Lease, Link, Pause, Receipt, Settled, host_of};
use crate::links::{AnchorText, LinkScanner, PageLinks, RobotsDirectives, Source};
use crate::mirror::Mirrors;
use crate::order::Visit;
use crate::outcome::Outcome;
use crate::pace::{Addresses, Failures, Health};
use crate::page::Page;
use crate::plan::Plan;
use crate::resolve::Resolver;
use crate::robots::{MAX_ROBOTS_BYTES, Robots};
use crate::robots_cache::{RobotsCache, Rules};
use crate::scope::Scope;
use crate::sitemap::{MAX_SITEMAP_BYTES, SitemapKind, read_sitemap};
use crate::soft404::SoftNotFound;
use crate::traps::trap;
use crate::validators::Validators;

/// Redirects followed from one link.
const MAX_HOPS: u8 = 10;
/// Redirects followed from one robots.txt, as RFC 9309 asks.
const MAX_ROBOTS_HOPS: usize = 5;
/// Sitemap indexes inside sitemap indexes.
const MAX_SITEMAP_DEPTH: u32 = 3;
/// The longest rest that a Crawl-delay can ask for before its host is as good as closed.
const MAX_CRAWL_DELAY: Duration = Duration::from_secs(600);

/// How one lease ended.
pub(crate) enum Ending {
    /// It went back to the frontier.
    GivenBack,
    /// It is settled, and nothing has to be kept first.
    Settle(Lease, Settled),
    /// It is settled once this page is durable.
    Keep(Lease, Box<Page>, Receipt),
}

/// What all visits of a crawl share. It lives on one thread.
pub(crate) struct Visitor<'c, F> {
    plan: &'c Plan,
    /// The plan's scope, and what seeds have led to.
    scope: RefCell<Scope>,
    frontier: &'c F,
    fetcher: Fetcher,
    resolver: Resolver,
    anchors: AnchorText,
    robots: RefCell<RobotsCache>,
    failures: RefCell<Failures>,
    addresses: RefCell<Addresses>,
    soft: RefCell<SoftNotFound>,
    mirrors: RefCell<Mirrors>,
}

impl<'c, F: Frontier> Visitor<'c, F> {
    pub(crate) fn new(plan: &'c Plan, frontier: &'c F) -> Result<Visitor<'c, F>, Error> {
        let resolver = Resolver::new(plan.network.overrides.clone(), plan.network.allow_private);
        let mut scope = plan.scope.clone();
        frontier.admitted().iter().for_each(|url| scope.admit(url));
        Ok(Visitor {
            plan,
            scope: RefCell::new(scope),
            frontier,
            fetcher: Fetcher::new(plan, resolver.clone())?,
            resolver,
            anchors: if frontier.reads_text() { AnchorText::Keep } else { AnchorText::Skip },
            robots: RefCell::default(),
            failures: RefCell::default(),
            addresses: RefCell::new(Addresses::new(plan.politeness.per_address, &plan.politeness.delay)),
            soft: RefCell::default(),
            mirrors: RefCell::default(),
        })
    }

    /// Takes a lease to its end.
    pub(crate) async fn visit(&self, lease: Lease) -> Result<Ending, Error> {
        let url = lease.link.url.clone();
        let host = host_of(&url);
        if self.failures.borrow().is_gone(&host) {
            return self.settle_unasked(lease, Outcome::NoConnection);
        }
        if self.mirrors.borrow().is_mirror(&host) {
            return self.settle_unasked(lease, Outcome::Mirror);
        }
        let mut crawl_delay = None;
        if self.plan.politeness.robots {
            let rules = self.robots.borrow().get(&url);
            match rules {
                Rules::Unknown => return self.ask_robots(lease, &host).await,
                Rules::Unreachable => return self.settle_unasked(lease, Outcome::RobotsUnreachable),
                Rules::Known(robots) if !robots.allows_canonical(url.as_str()) => {
                    return self.settle_unasked(lease, Outcome::Disallowed);
                }
                Rules::Known(robots) => crawl_delay = robots.crawl_delay(),
            }
        }
        let turn = match self.take_turn(&url).await {
            Ok(turn) => turn,
            Err(wait) => {
                self.frontier.give_back(lease, Pause::Unasked(wait))?;
                return Ok(Ending::GivenBack);
            }
        };
        let started = Instant::now();
        let (answer, links) = self.fetch(&lease).await;
        let elapsed = started.elapsed();
        drop(turn);
        self.let_rest(&lease, &host, elapsed, health_of(&answer), crawl_delay)?;
        self.conclude(lease, answer, links, elapsed)
    }

    fn settle_unasked(&self, lease: Lease, outcome: Outcome) -> Result<Ending, Error> {
        self.frontier.rest(&lease, Pause::Unasked(Duration::ZERO))?;
        Ok(Ending::Settle(lease, done(outcome, 0, Duration::ZERO)))
    }

    /// Takes a turn at the address of a host, where addresses are shared; or says after how long to try again.
    async fn take_turn(&self, url: &Url) -> Result<Option<Turn<'_>>, Duration> {
        if self.plan.network.proxy.is_some() {
            return Ok(None);
        }
        // A name without an address fails on connecting, where its outcome is told.
        let Ok(located) = self.resolver.locate(url.host_str().unwrap_or("")).await else { return Ok(None) };
        if located.by_override {
            return Ok(None);
        }
        let address = located.addresses[0].ip();
        self.addresses.borrow_mut().enter(address, Instant::now())?;
        Ok(Some(Turn { addresses: &self.addresses, address }))
    }

    async fn fetch(&self, lease: &Lease) -> (Result<Answer, Outcome>, Option<LinkScanner>) {
        let link = &lease.link;
        if link.kind == Kind::Sitemap {
            let wanted = Wanted::Anything(MAX_SITEMAP_BYTES);
            return (self.fetcher.fetch(&link.url, wanted, None, |_, _, _| {}).await, None);
        }
        let mut scanner: Option<LinkScanner> = None;
        let product = &self.plan.identity.product;
        let answer = self
            .fetcher
            .fetch(&link.url, Wanted::Pages, lease.validators.as_deref(), |media_type, head, piece| {
                if is_html(media_type) {
                    let start = || LinkScanner::new(charset(head).as_deref(), product, self.anchors);
                    scanner.get_or_insert_with(start).feed(piece);
                }
            })
            .await;
        (answer, scanner)
    }

    /// Tells the frontier how long to leave a host alone, counted from now: the answer has just ended.
    fn let_rest(
        &self,
        lease: &Lease,
        host: &str,
        elapsed: Duration,
        health: Health,
        crawl_delay: Option<Duration>,
    ) -> Result<(), Error> {
        let rest = self.rest_of(host, elapsed, health, crawl_delay);
        self.frontier.rest(lease, Pause::Answered(rest))
    }

    fn rest_of(&self, host: &str, elapsed: Duration, health: Health, crawl_delay: Option<Duration>) -> Duration {
        let usual = self.plan.politeness.delay.after(elapsed);
        let asked = crawl_delay.unwrap_or_default().min(MAX_CRAWL_DELAY);
        usual.max(asked).max(self.failures.borrow_mut().pause(host, health))
    }

    /// Asks for a host's robots.txt in place of the leased URL, which waits for the next turn.
    async fn ask_robots(&self, lease: Lease, host: &str) -> Result<Ending, Error> {
        let url = lease.link.url.clone();
        let turn = match self.take_turn(&url).await {
            Ok(turn) => turn,
            Err(wait) => {
                self.frontier.give_back(lease, Pause::Unasked(wait))?;
                return Ok(Ending::GivenBack);
            }
        };
        let started = Instant::now();
        let found = self.fetch_robots(&url, host).await?;
        drop(turn);
        let (health, crawl_delay) = match found {
            Ok(robots) => {
                let robots = self.robots.borrow_mut().keep(&url, robots);
                self.offer_sitemaps(&url, &robots)?;
                (Health::Well, robots.crawl_delay())
            }
            Err(health) => {
                self.robots.borrow_mut().fail(&url);
                (health, None)
            }
        };
        let rest = self.rest_of(host, started.elapsed(), health, crawl_delay);
        self.frontier.give_back(lease, Pause::Answered(rest))?;
        Ok(Ending::GivenBack)
    }

    /// The rules of an origin, through at most five redirects; or how its host failed.
    async fn fetch_robots(&self, url: &Url, host: &str) -> Result<Result<Robots, Health>, Error> {
        let mut at = url.join("/robots.txt").expect("an HTTP URL has a path");
        for _ in 0..=MAX_ROBOTS_HOPS {
            let answer = self.fetch_robots_hop(&at, host).await?;
            match answer {
                Ok(Answer::Page(page)) => {
                    return Ok(Ok(Robots::parse(&page.body, &self.plan.identity.product)));
                }
                Ok(Answer::Redirect(target)) => {
                    let Some(next) = resolve_reference(&at, &target) else { break };
                    if host_of(&next) == host {
                        tokio::time::sleep(self.plan.politeness.delay.least()).await;
                    }
                    at = next;
                }
                Ok(Answer::Status(429, wait)) => return Ok(Err(Health::Overloaded(wait))),
                Ok(Answer::Status(500.., wait)) => return Ok(Err(Health::Overloaded(wait))),
                Ok(Answer::Status(..) | Answer::Unwanted | Answer::NotModified(_)) => {
                    return Ok(Ok(Robots::allow_all()));
                }
                // Nothing will be asked of this origin, so it does no harm that the URL itself will say so.
                Err(Outcome::BlockedAddress | Outcome::NoAddress | Outcome::TlsError)
                    if at.origin() == url.origin() =>
                {
                    return Ok(Ok(Robots::allow_all()));
                }
                Err(_) => return Ok(Err(Health::Unreachable)),
            }
        }
        // More redirects than that: RFC 9309 lets the file count as missing.
        Ok(Ok(Robots::allow_all()))
    }

    /// One request for a robots.txt; on a host other than the leased one it waits for that host's turn.
    async fn fetch_robots_hop(&self, at: &Url, host: &str) -> Result<Result<Answer, Outcome>, Error> {
        let wanted = Wanted::Anything(MAX_ROBOTS_BYTES);
        let other = host_of(at);
        if other == host {
            return Ok(self.fetcher.fetch(at, wanted, None, |_, _, _| {}).await);
        }
        let number = loop {
            match self.frontier.claim(&other)? {
                Claim::Yours(number) => break number,
                Claim::Later(wait) => tokio::time::sleep(wait).await,
            }
        };
        let started = Instant::now();
        let answer = self.fetcher.fetch(at, wanted, None, |_, _, _| {}).await;
        let rest = self.plan.politeness.delay.after(started.elapsed());
        self.frontier.release(number, Pause::Answered(rest))?;
        Ok(answer)
    }

    fn offer_sitemaps(&self, url: &Url, robots: &Robots) -> Result<(), Error> {
        if !self.plan.politeness.sitemaps {
            return Ok(());
        }
        let mut named: Vec<&str> = robots.sitemaps().iter().map(String::as_str).collect();
        if named.is_empty() {
            named.push("/sitemap.xml");
        }
        let found = named.into_iter().filter_map(|text| resolve_reference(url, text));
        let wanted = found.filter(|sitemap| self.scope.borrow().contains(sitemap));
        let links: Vec<Link> = wanted.map(|url| Link { kind: Kind::Sitemap, ..Link::page(url, 0) }).collect();
        self.frontier.offer(None, &links)?;
        Ok(())
    }

    fn conclude(
        &self,
        lease: Lease,
        answer: Result<Answer, Outcome>,
        scanner: Option<LinkScanner>,
        elapsed: Duration,
    ) -> Result<Ending, Error> {
        if lease.link.kind == Kind::Probe {
            let body = match &answer {
                Ok(Answer::Page(page)) => Some(&page.body[..]),
                _ => None,
            };
            self.soft.borrow_mut().answered(&lease.link.host(), lease.link.url.path(), body);
            return Ok(Ending::Settle(lease, done(Outcome::Probed, 0, elapsed)));
        }
        let outcome = match answer {
            Ok(Answer::Page(page)) if lease.link.kind == Kind::Sitemap => {
                self.offer_listed(&lease.link, &page)?;
                Outcome::SitemapRead
            }
            Ok(Answer::Page(page)) => return self.keep(lease, page, scanner, elapsed),
            Ok(Answer::Redirect(target)) => self.offer_redirect(&lease.link, &target)?,
            Ok(Answer::NotModified(page)) => {
                let receipt =
                    Receipt { outcome: Outcome::NotModified, bytes: 0, milliseconds: milliseconds(elapsed), digest: 0 };
                return Ok(Ending::Keep(lease, page, receipt));
            }
            Ok(Answer::Unwanted) => Outcome::UnwantedType,
            Ok(Answer::Status(429 | 500.., _)) => return Ok(self.again_or(lease, Outcome::ServerError, elapsed)),
            Ok(Answer::Status(400..500, _)) if lease.link.kind == Kind::Sitemap => Outcome::NoSitemap,
            Ok(Answer::Status(404 | 410, _)) => Outcome::NotFound,
            Ok(Answer::Status(400..500, _)) => Outcome::Refused,
            Ok(Answer::Status(..)) => Outcome::NoContent,
            Err(outcome @ (Outcome::BlockedAddress | Outcome::TlsError | Outcome::BadEncoding)) => outcome,
            Err(outcome) => return Ok(self.again_or(lease, outcome, elapsed)),
        };
        Ok(Ending::Settle(lease, done(outcome, 0, elapsed)))
    }

    /// Another try, unless there have been enough.
    fn again_or(&self, lease: Lease, outcome: Outcome, elapsed: Duration) -> Ending {
        let settled = match lease.attempts + 1 < self.plan.attempts {
            true => Settled::Again,
            false => done(outcome, 0, elapsed),
        };
        Ending::Settle(lease, settled)
    }

    fn keep(
        &self,
        mut lease: Lease,
        page: Box<Page>,
        scanner: Option<LinkScanner>,
        elapsed: Duration,
    ) -> Result<Ending, Error> {
        let host = lease.link.host();
        if self.soft.borrow().is_apology(&host, lease.link.url.path(), &page.body) {
            return Ok(Ending::Settle(lease, done(Outcome::SoftNotFound, 0, elapsed)));
        }
        if scanner.is_some() {
            self.mirrors.borrow_mut().compare(&host, &page.url, &page.body);
        }
        let found = scanner.map(|scanner| scanner.finish(&page.url));
        let digest = xxh3_64(&page.body).max(1);
        let repeats = !page.body.is_empty() && self.frontier.is_repeat(&lease, digest)?;
        let asks = self.directives(&page, found.as_ref());
        // Links of a page that is known by its bytes lead to pages that are known, or to endless copies of them.
        if !repeats && let Some(found) = found {
            self.offer_found(&lease.link, &page, found, asks)?;
        }
        if asks.noindex && self.plan.politeness.noindex {
            return Ok(Ending::Settle(lease, done(Outcome::NoIndex, 0, elapsed)));
        }
        let probe = if repeats { None } else { self.soft.borrow_mut().probe(&host, &page.url) };
        if let Some(url) = probe {
            self.frontier.offer(None, &[Link { kind: Kind::Probe, ..Link::page(url, lease.link.depth) }])?;
        }
        let outcome = if repeats { Outcome::Duplicate } else { Outcome::Stored };
        let digest = if repeats || page.body.is_empty() { 0 } else { digest };
        lease.validators = Validators::of(&page).map(Box::new);
        let receipt = Receipt { outcome, bytes: page.body.len() as u32, milliseconds: milliseconds(elapsed), digest };
        Ok(Ending::Keep(lease, page, receipt))
    }

    /// What a page asks of crawlers, in its headers and in itself.
    fn directives(&self, page: &Page, found: Option<&PageLinks>) -> RobotsDirectives {
        let mut asks = found.map(|found| found.robots).unwrap_or_default();
        if self.plan.politeness.nofollow || self.plan.politeness.noindex {
            for line in page.head.split(|&byte| byte == b'\n') {
                let line = String::from_utf8_lossy(line);
                if let Some((name, value)) = line.split_once(':')
                    && name.eq_ignore_ascii_case("x-robots-tag")
                {
                    asks = asks.and(RobotsDirectives::from_header(value.trim(), &self.plan.identity.product));
                }
            }
        }
        asks
    }

    fn offer_found(&self, from: &Link, page: &Page, found: PageLinks, asks: RobotsDirectives) -> Result<(), Error> {
        let depth = from.depth + 1;
        let obeys = self.plan.politeness.nofollow;
        let is_too_deep = self.plan.limits.depth.is_some_and(|most| depth > most);
        let mut links = Vec::with_capacity(found.links.len());
        for link in found.links {
            // A page's own address and a refresh say where the page itself is: no click away.
            let own = matches!(link.source, Source::Canonical | Source::Refresh);
            if (obeys && (link.nofollow || asks.nofollow)) || (is_too_deep && !own) || !self.is_wanted(&link.url) {
                continue;
            }
            let depth = if own { from.depth } else { depth };
            let (anchor, context) = (link.anchor, link.context);
            links.push(Link { url: link.url, depth, hops: 0, kind: Kind::Page, anchor, context });
        }
        let text = self.text(page, found.charset);
        let visit = Visit { link: from, n_links: links.len(), body: &text };
        self.frontier.offer(Some(visit), &links)?;
        Ok(())
    }

    /// The body, in UTF-8 where the ordering policy reads it.
    fn text<'p>(&self, page: &'p Page, charset: Option<&'static str>) -> std::borrow::Cow<'p, [u8]> {
        let encoding = charset.and_then(|name| encoding_rs::Encoding::for_label(name.as_bytes()));
        match encoding.filter(|encoding| self.anchors == AnchorText::Keep && *encoding != encoding_rs::UTF_8) {
            Some(encoding) => encoding.decode(&page.body).0.into_owned().into_bytes().into(),
            None => (&page.body[..]).into(),
        }
    }

    fn is_wanted(&self, url: &Url) -> bool {
        self.scope.borrow().contains(url) && trap(url).is_none() && (self.plan.answers.any_type || !looks_binary(url))
    }

    fn offer_redirect(&self, from: &Link, target: &str) -> Result<Outcome, Error> {
        if from.hops >= MAX_HOPS {
            return Ok(Outcome::TooManyRedirects);
        }
        let Some(url) = resolve_reference(&from.url, target).and_then(canonicalize) else {
            return Ok(Outcome::NoContent);
        };
        let is_seed = from.depth == 0 && from.kind == Kind::Page;
        if !self.scope.borrow().contains(&url) {
            if !is_seed {
                return Ok(Outcome::OutOfScope);
            }
            // Whoever names example.org means what example.org leads to.
            self.scope.borrow_mut().admit(&url);
            self.frontier.admit(&url)?;
        }
        let link = Link { hops: from.hops + 1, kind: from.kind, ..Link::page(url, from.depth) };
        self.frontier.offer(Some(Visit { link: from, n_links: 1, body: b"" }), &[link])?;
        Ok(Outcome::Redirected)
    }

    fn offer_listed(&self, from: &Link, page: &Page) -> Result<(), Error> {
        let sitemap = read_sitemap(&page.body, &page.url);
        let is_index = sitemap.kind == SitemapKind::Index;
        if is_index && from.depth >= MAX_SITEMAP_DEPTH {
            return Ok(());
        }
        let depth = if is_index { from.depth + 1 } else { 1 };
        if !is_index && self.plan.limits.depth.is_some_and(|most| depth > most) {
            return Ok(());
        }
        let kind = if is_index { Kind::Sitemap } else { Kind::Page };
        let is_wanted = |url: &Url| if is_index { self.scope.borrow().contains(url) } else { self.is_wanted(url) };
        let wanted = sitemap.urls.into_iter().filter(is_wanted);
        let links: Vec<Link> = wanted.map(|url| Link { kind, ..Link::page(url, depth) }).collect();
        self.frontier.offer(None, &links)?;
        Ok(())
    }
}

/// A turn at a shared address; it ends when it is dropped, also when the visit is abandoned.
struct Turn<'v> {
    addresses: &'v RefCell<Addresses>,
    address: std::net::IpAddr,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.addresses.borrow_mut().leave(self.address, Instant::now());
    }
}

fn done(outcome: Outcome, bytes: u32, elapsed: Duration) -> Settled {
    Settled::Done(Receipt { outcome, bytes, milliseconds: milliseconds(elapsed), digest: 0 })
}

fn milliseconds(elapsed: Duration) -> u32 {
    u32::try_from(elapsed.as_millis()).unwrap_or(u32::MAX)
}

fn health_of(answer: &Result<Answer, Outcome>) -> Health {
    match answer {
        Ok(Answer::Status(429 | 503, wait)) => Health::Overloaded(*wait),
        Ok(Answer::Status(500.., wait)) => Health::Overloaded(*wait),
        Err(Outcome::NoConnection | Outcome::NoAddress | Outcome::Timeout) => Health::Unreachable,
        _ => Health::Well,
    }
}

fn is_html(media_type: &str) -> bool {
    matches!(media_type, "text/html" | "application/xhtml+xml" | "")
}

/// Whether a URL's last segment ends like a file that is no page.
fn looks_binary(url: &Url) -> bool {
    const ENDINGS: &[&str] = &[
        "7z", "apk", "avi", "bin", "bmp", "bz2", "css", "dmg", "doc", "docx", "eot", "epub", "exe", "flac", "flv",
        "gif", "gz", "ico", "iso", "jar", "jpeg", "jpg", "js", "m4a", "m4v", "mkv", "mov", "mp3", "mp4", "mpeg", "mpg",
        "msi", "ogg", "otf", "pdf", "png", "ppt", "pptx", "rar", "rpm", "svg", "tar", "tgz", "tif", "tiff", "ttf",
        "wav", "webm", "webp", "wmv", "woff", "woff2", "xls", "xlsx", "xz", "zip", "zst",
    ];
    let path = url.path();
    let Some(dot) = path.rfind('.').filter(|&dot| path.len() - dot <= 6 && dot > path.rfind('/').unwrap_or(0)) else {
        return false;
    };
    let ending = path[dot + 1..].to_ascii_lowercase();
    ENDINGS.binary_search(&ending.as_str()).is_ok()
}

#[cfg(test)]
mod tests {
    use super::looks_binary;

    #[test]
    fn only_the_end_of_a_path_tells_a_file() {
        let check = |url: &str| looks_binary(&url.parse().unwrap());
        assert!(check("http://a.test/x/photo.JPG?size=2"));
        assert!(check("http://a.test/x.tar.gz"));
        assert!(!check("http://a.test/x.pdf/"));
        assert!(!check("http://a.test/page.html"));
        assert!(!check("http://a.test/?file=x.pdf"));
        assert!(!check("http://zip/"));
    }
}
