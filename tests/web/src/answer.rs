//! What a request gets: pages, robots.txt, sitemaps, redirects, and whatever the traps do.

use std::collections::{HashMap, HashSet};
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, RwLock};
use std::time::Duration;

use bytes::Bytes;
use flate2::write::GzEncoder;
use flate2::{Compress, Compression, Crc, FlushCompress};
use hyper::HeaderMap;
use hyper::header::{ACCEPT_ENCODING, IF_MODIFIED_SINCE, IF_NONE_MATCH};

use crate::config::{PageStyle, Robots};
use crate::date::http_date;
use crate::graph::Graph;
use crate::random::hash;
use crate::render;
use crate::site::{Charset, Copy, Failure, PRIVATE_PAGES, Role, Site};

/// How many bytes of rendered pages are kept.
const CACHE_BYTES: usize = 256 << 20;

/// What goes back over the wire.
pub(crate) struct Answer {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub body: Body,
}

pub(crate) enum Body {
    Parts(Vec<Bytes>),
    /// One byte at a time, with a pause after each.
    Trickle(Bytes, Duration),
    /// The same bytes for ever.
    Endless(Bytes),
    /// These bytes, and then the connection breaks.
    Cut(Bytes),
}

impl Answer {
    fn new(status: u16, content_type: &str, body: impl Into<Bytes>) -> Self {
        let headers = vec![("content-type", content_type.to_owned())];
        Answer { status, headers, body: Body::Parts(vec![body.into()]) }
    }

    fn html(status: u16, text: impl Into<Bytes>) -> Self {
        Self::new(status, "text/html; charset=utf-8", text)
    }

    fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    fn redirect(status: u16, to: String) -> Self {
        Self::html(status, format!("<p>Moved to <a href=\"{to}\">{to}</a></p>\n")).with("location", to)
    }

    fn missing() -> Self {
        Self::html(404, "<!DOCTYPE html>\n<title>404 Not Found</title>\n<h1>Not Found</h1>\n")
    }
}

/// What the server serves.
pub(crate) enum Content {
    Site(Arc<Site>),
    Graph(Arc<Graph>),
}

/// Answers requests, and remembers what it must.
pub(crate) struct Answers {
    content: Content,
    cache: RwLock<Cache>,
    /// Counts answers, for session ids and every-other-time behaviour.
    n_answers: AtomicU64,
    asked_before: Mutex<HashSet<(usize, usize)>>,
    n_busy: AtomicU64,
    n_dying: AtomicU64,
}

#[derive(Default)]
struct Cache {
    pages: HashMap<(usize, usize, u64, Packing), Bytes>,
    bytes: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Packing {
    Plain,
    Gzip,
}

/// What a request asks for.
pub(crate) struct Question<'r> {
    pub authority: &'r str,
    pub path: &'r str,
    pub headers: &'r HeaderMap,
    /// Seconds on the clock of the pages.
    pub seconds: f64,
}

impl Answers {
    pub fn new(content: Content) -> Self {
        Answers {
            content,
            cache: RwLock::default(),
            n_answers: AtomicU64::new(0),
            asked_before: Mutex::default(),
            n_busy: AtomicU64::new(0),
            n_dying: AtomicU64::new(0),
        }
    }

    pub fn answer(&self, question: &Question) -> Answer {
        let site = match &self.content {
            Content::Site(site) => site,
            Content::Graph(graph) => {
                let page = graph.page(question.authority, question.path);
                return page.map_or_else(Answer::missing, |(id, html)| {
                    Answer::html(200, html).with("x-truth", format!("id={id}"))
                });
            }
        };
        let Some(host) = site.find_host(question.authority) else {
            return Answer::html(421, format!("<p>No host {} here.</p>\n", render::escape(question.authority)));
        };
        let (path, query) = question.path.split_once('?').unwrap_or((question.path, ""));
        match path {
            "/robots.txt" | "/robots-real.txt" => robots(site, host, path),
            "/favicon.ico" => Answer::missing(),
            _ if path.starts_with("/sitemap") => sitemap(site, host, path),
            _ => self.page_or_trap(site, host, path, query, question),
        }
    }

    fn page_or_trap(&self, site: &Site, host: usize, path: &str, query: &str, question: &Question) -> Answer {
        let role = site.hosts[host].role;
        match role {
            Role::Calendar if path.starts_with("/calendar/") => return calendar(path),
            Role::Calendar => return trap_root("calendar", "/calendar/2026/11/16", site),
            Role::Path if path != "/" => return endless_path(path),
            Role::Path => return trap_root("path", "/a/", site),
            Role::Query if path == "/search" => return endless_query(query),
            Role::Query => return trap_root("query", "/search?page=1", site),
            Role::Gibberish => return gibberish(path),
            Role::Farm => return farm(path, site),
            Role::Slow => {
                let body = Body::Trickle(Bytes::from_static(&[b'.'; 100_000]), Duration::from_secs(1));
                return Answer { body, ..Answer::html(200, "") }.with("x-truth", "trap=slow");
            }
            Role::Bomb => {
                return Answer::html(200, BOMB.clone()).with("content-encoding", "gzip").with("x-truth", "trap=bomb");
            }
            Role::Endless => {
                let line = Bytes::from("<p>and it goes on and on</p>\n".repeat(500));
                return Answer { body: Body::Endless(line), ..Answer::html(200, "") }.with("x-truth", "trap=endless");
            }
            Role::Busy if self.n_busy.fetch_add(1, Ordering::Relaxed) % 2 == 1 => {
                return Answer::html(429, "<h1>Too many requests</h1>\n").with("retry-after", "1");
            }
            _ => {}
        }
        if let Some(number) = site.find_page(host, path) {
            return self.page(site, host, number, question);
        }
        if let Some(answer) = redirect(site, host, path) {
            return answer;
        }
        if let Some(number) = path.strip_prefix("/private/").and_then(|number| number.parse::<usize>().ok())
            && number < PRIVATE_PAGES
        {
            return Answer::html(200, "<!DOCTYPE html>\n<title>Private</title>\n<p>No robot should read this.</p>\n");
        }
        if role == Role::Soft404 {
            let missing = site.hosts[host].language.vocabulary().chrome.missing;
            return Answer::html(
                200,
                format!("<!DOCTYPE html>\n<title>Not found</title>\n<h1>Not found</h1>\n<p>{missing}</p>\n"),
            )
            .with("x-truth", "trap=soft404");
        }
        Answer::missing()
    }

    fn page(&self, site: &Site, host: usize, number: usize, question: &Question) -> Answer {
        match site.fails(host, number) {
            Some(Failure::Always) => return Answer::html(500, "<h1>Internal Server Error</h1>\n"),
            Some(Failure::Once) if self.asked_before.lock().expect("no holder panics").insert((host, number)) => {
                return Answer::html(503, "<h1>Service Unavailable</h1>\n").with("retry-after", "1");
            }
            _ => {}
        }
        let (version, changed) = site.version(host, number, question.seconds);
        let (etag, last_modified) = validators(site, host, number, version, changed);
        let known = match question.headers.get(IF_NONE_MATCH) {
            Some(tags) => etag.as_deref().is_some_and(|etag| tags.as_bytes() == etag.as_bytes()),
            None => {
                let since = question.headers.get(IF_MODIFIED_SINCE).and_then(|date| date.to_str().ok());
                last_modified.is_some() && since == last_modified.as_deref()
            }
        };
        let mut answer = if known {
            Answer { status: 304, headers: Vec::new(), body: Body::Parts(Vec::new()) }
        } else {
            self.fresh_page(site, host, number, version, packing(site, question))
        };
        answer.headers.extend(etag.map(|etag| ("etag", etag)));
        answer.headers.extend(last_modified.map(|date| ("last-modified", date)));
        answer.with("x-truth", truth_header(site, host, number, version))
    }

    fn fresh_page(&self, site: &Site, host: usize, number: usize, version: u64, packing: Packing) -> Answer {
        let role = site.hosts[host].role;
        let nonce = self.n_answers.fetch_add(1, Ordering::Relaxed);
        let charset = match site.hosts[host].charset {
            // Declared in the page only, as many old sites do.
            Charset::Big5 | Charset::Windows1252 => String::new(),
            charset => format!("; charset={}", charset.label()),
        };
        let body = match site.config.pages {
            PageStyle::Plain(mean) => Body::Parts(render::plain_page(site, host, number, mean, nonce)),
            PageStyle::Realistic if role == Role::Session => {
                Body::Parts(vec![render::page(site, host, number, version, nonce)])
            }
            PageStyle::Realistic => Body::Parts(vec![self.cached(site, host, number, version, packing)]),
        };
        let mut headers = vec![("content-type", format!("text/html{charset}"))];
        if packing == Packing::Gzip && site.config.pages == PageStyle::Realistic && role != Role::Session {
            headers.push(("content-encoding", "gzip".to_owned()));
        }
        match body {
            Body::Parts(parts) if role == Role::Dying && self.n_dying.fetch_add(1, Ordering::Relaxed) % 2 == 1 => {
                let whole: usize = parts.iter().map(Bytes::len).sum();
                let half = parts[0].slice(..parts[0].len() / 2);
                Answer { status: 200, headers, body: Body::Cut(half) }.with("content-length", whole.to_string())
            }
            body => Answer { status: 200, headers, body },
        }
    }

    fn cached(&self, site: &Site, host: usize, number: usize, version: u64, packing: Packing) -> Bytes {
        let key = (host, number, version, packing);
        if let Some(page) = self.cache.read().expect("no holder panics").pages.get(&key) {
            return page.clone();
        }
        let page = match packing {
            Packing::Plain => render::page(site, host, number, version, 0),
            Packing::Gzip => Bytes::from(gzip(&self.cached(site, host, number, version, Packing::Plain))),
        };
        let mut cache = self.cache.write().expect("no holder panics");
        if cache.bytes + page.len() <= CACHE_BYTES && cache.pages.insert(key, page.clone()).is_none() {
            cache.bytes += page.len();
        }
        page
    }
}

fn packing(site: &Site, question: &Question) -> Packing {
    let accepted = question.headers.get(ACCEPT_ENCODING).and_then(|value| value.to_str().ok());
    let gzip = site.config.gzip && accepted.is_some_and(|value| value.split(',').any(|name| name.trim() == "gzip"));
    if gzip { Packing::Gzip } else { Packing::Plain }
}

/// What the crawler must not read and a scorer may.
fn truth_header(site: &Site, host: usize, number: usize, version: u64) -> String {
    let home = &site.hosts[host];
    let plan = site.plan(host, number);
    let mut header = format!(
        "id=h{host}/p{number}; version={version}; type={}; language={}",
        plan.page_type.name(),
        home.language.tag()
    );
    let (source, source_number) = site.source(host, number);
    match plan.copy_of {
        Some((original, Copy::Exact)) => header += &format!("; dup-of=h{source}/p{original}"),
        Some((original, Copy::Near)) => header += &format!("; near-of=h{source}/p{original}"),
        None if source != host => header += &format!("; dup-of=h{source}/p{source_number}"),
        None => {}
    }
    if let Some(trap) = home.role.trap() {
        header += &format!("; trap={trap}");
    }
    header
}

/// A quarter of the pages each: both validators, one, the other, none.
fn validators(site: &Site, host: usize, number: usize, version: u64, changed: f64) -> (Option<String>, Option<String>) {
    let kind = hash(&[site.config.seed, host as u64, number as u64, 41]) % 4;
    let etag = (kind < 2).then(|| format!("\"h{host}p{number}v{version}\""));
    // The web began on the first of January 2026.
    let date = kind.is_multiple_of(2).then(|| http_date(1_767_225_600 + changed as u64));
    (etag, date)
}

fn redirect(site: &Site, host: usize, path: &str) -> Option<Answer> {
    let mut parts = path.strip_prefix('/')?.split('/');
    let (kind, first, second) = (parts.next()?, parts.next()?, parts.next());
    let number = |text: Option<&str>| text.and_then(|text| text.parse::<usize>().ok());
    Some(match kind {
        "moved" => {
            let (hops, target) = (number(Some(first))?, number(second)?);
            let to = match hops {
                0 | 1 if target < site.n_linked(host) => site.path(host, target),
                0 | 1 => return None,
                hops => format!("/moved/{}/{target}", hops - 1),
            };
            Answer::redirect(if hops % 2 == 0 { 302 } else { 301 }, to)
        }
        "away" => {
            let (other, target) = (number(Some(first))?, number(second)?);
            if other >= site.hosts.len() || target >= site.n_linked(other) {
                return None;
            }
            Answer::redirect(302, site.url(other, target))
        }
        "loop" => match first {
            "a" => Answer::redirect(302, "/loop/b".to_owned()),
            "b" => Answer::redirect(302, "/loop/a".to_owned()),
            "self" => Answer::redirect(302, "/loop/self".to_owned()).with("set-cookie", "seen=1"),
            _ => return None,
        },
        _ => return None,
    })
}

fn robots(site: &Site, host: usize, path: &str) -> Answer {
    let sitemap = match site.config.sitemaps && site.hosts[host].role == Role::Ordinary {
        true => format!("\nSitemap: http://{}/sitemap.xml\n", site.hosts[host].authority),
        false => String::new(),
    };
    let plain = |text: String| Answer::new(200, "text/plain", text + &sitemap);
    let private = "User-agent: *\nDisallow: /private/\n";
    if site.hosts[host].role != Role::Ordinary {
        return Answer::missing();
    }
    match site.config.robots {
        Robots::Open if sitemap.is_empty() => Answer::missing(),
        Robots::Open => plain(String::new()),
        Robots::Private => plain(private.to_owned()),
        Robots::Varied if path == "/robots-real.txt" => plain(private.to_owned()),
        Robots::Varied => match host % 10 {
            1 => plain(format!(
                "User-agent: greedybot\nDisallow: /\n\n# everybody else\nUser-agent: pith\n{private}\nUser-agent: pith\nDisallow: /private/\n"
            )),
            2 => plain(format!("\u{feff}{private}").replace('\n', "\r\n")),
            3 => plain("User-agent: *\nDisallow: /priv*/\nAllow: /list/\nDisallow: /*.pdf$\n".to_owned()),
            4 => plain(format!("{private}{}", "# a long story nobody reads\n".repeat(22_000))),
            5 => Answer::redirect(301, "/robots-real.txt".to_owned()),
            6 => Answer::html(401, "<h1>Unauthorized</h1>\n"),
            7 => plain(format!("{private}Crawl-delay: 1\n")),
            8 => Answer::html(503, "<h1>Service Unavailable</h1>\n"),
            9 => Answer::missing(),
            _ => plain(private.to_owned()),
        },
    }
}

/// An index of two: one plain, one compressed; the pages that nothing links to stand in the second.
fn sitemap(site: &Site, host: usize, path: &str) -> Answer {
    if !site.config.sitemaps || site.hosts[host].role != Role::Ordinary {
        return Answer::missing();
    }
    let authority = &site.hosts[host].authority;
    let urls = |range: std::ops::Range<usize>| {
        let urls: String = range.map(|number| format!("<url><loc>{}</loc></url>\n", site.url(host, number))).collect();
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n{urls}</urlset>\n"
        )
    };
    let linked = site.n_linked(host);
    match path {
        "/sitemap.xml" => {
            let parts: String = ["/sitemap-pages.xml", "/sitemap-more.xml.gz"]
                .map(|part| format!("<sitemap><loc>http://{authority}{part}</loc></sitemap>\n"))
                .concat();
            Answer::new(
                200,
                "application/xml",
                format!(
                    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n{parts}</sitemapindex>\n"
                ),
            )
        }
        "/sitemap-pages.xml" => Answer::new(200, "application/xml", urls(0..linked)),
        "/sitemap-more.xml.gz" => {
            Answer::new(200, "application/gzip", gzip(urls(linked / 2..site.n_pages(host)).as_bytes()))
        }
        _ => Answer::missing(),
    }
}

fn trap_root(trap: &str, way_in: &str, site: &Site) -> Answer {
    let home = site.hosts.first().map_or("/".to_owned(), |_| site.url(0, 0));
    Answer::html(200, format!("<!DOCTYPE html>\n<title>Welcome</title>\n<p>Come <a href=\"{way_in}\">in</a> or go <a href=\"{home}\">home</a>.</p>\n"))
        .with("x-truth", format!("trap={trap}"))
}

/// Random words, and the way to more of them.
fn gibberish(path: &str) -> Answer {
    let number = path.bytes().fold(41, |number, byte| hash(&[number, u64::from(byte)]));
    let letter = |at: u64| char::from(b'a' + (hash(&[number, at]) % 26) as u8);
    let word =
        |at: u64| -> String { (0..3 + hash(&[number, at, 1]) % 7).map(|index| letter(100 * at + index)).collect() };
    let text: Vec<String> = (0..300).map(word).collect();
    let link = |at: u64| format!("<a href=\"/g/{}\">{}</a> ", hash(&[number, at, 2]) % 10_000, word(1000 + at));
    let links: String = (0..20).map(link).collect();
    Answer::html(200, format!("<!DOCTYPE html>\n<title>{}</title>\n<p>{}</p>\n{links}\n", word(2000), text.join(" ")))
        .with("x-truth", "trap=gibberish")
}

/// A few words, and links to everybody else in the farm.
fn farm(path: &str, site: &Site) -> Answer {
    let number = path.bytes().fold(43, |number, byte| hash(&[number, u64::from(byte)]));
    let hosts: Vec<&str> =
        site.hosts.iter().filter(|host| host.role == Role::Farm).map(|host| host.authority.as_str()).collect();
    let link = |at: u64| {
        let host = hosts[(hash(&[number, at, 3]) % hosts.len() as u64) as usize];
        let page = hash(&[number, at, 4]) % site.config.pages_per_host.max(1) as u64;
        format!("<li class=\"row\"><a class=\"out\" href=\"http://{host}/p/{page}\">deal {page}</a></li>\n")
    };
    let links: String = (0..40).map(link).collect();
    Answer::html(200, format!("<!DOCTYPE html>\n<title>Deals {number}</title>\n<div class=\"head\"><h1>Best deals</h1></div>\n<p class=\"lead\">All the best deals of offer {} in one place.</p>\n<ul class=\"deals\">\n{links}</ul>\n", number % 1000))
        .with("x-truth", "trap=farm")
}

/// A day that always has a next and a previous one.
fn calendar(path: &str) -> Answer {
    let numbers: Vec<i64> = path.split('/').filter_map(|part| part.parse().ok()).collect();
    let [year, month, day] = numbers[..] else { return Answer::missing() };
    let days = (year.clamp(-99_999, 99_999) * 12 + month.clamp(1, 12) - 1) * 28 + day.clamp(1, 28) - 1;
    let link = |days: i64, text: &str| {
        let (year, month, day) = (days.div_euclid(336), days.rem_euclid(336) / 28 + 1, days.rem_euclid(28) + 1);
        format!("<a href=\"/calendar/{year}/{month:02}/{day:02}\">{text}</a> ")
    };
    let links = [
        link(days - 1, "previous day"),
        link(days + 1, "next day"),
        link(days + 28, "next month"),
        link(days + 336, "next year"),
    ];
    Answer::html(200, format!("<!DOCTYPE html>\n<title>Events on {year}-{month}-{day}</title>\n<h1>{year}-{month}-{day}</h1>\n<p>No events on this day.</p>\n{}\n", links.concat()))
        .with("x-truth", "trap=calendar")
}

/// Paths that grow: the old ones again, and words that look like any other page.
fn endless_path(path: &str) -> Answer {
    let word = |salt: u64| {
        let number = path.bytes().fold(salt, |number, byte| hash(&[number, u64::from(byte)]));
        const PARTS: [&str; 8] = ["north", "river", "stone", "field", "light", "paper", "glass", "cloud"];
        format!("{}-{}", PARTS[(number % 8) as usize], PARTS[(number / 8 % 8) as usize])
    };
    let base = path.trim_end_matches('/');
    Answer::html(200, format!(
        "<!DOCTYPE html>\n<title>{0}</title>\n<p>About {0} and {1}.</p>\n<a href=\"{base}/a/b/\">a</a> <a href=\"{base}/{0}/\">{0}</a> <a href=\"/{1}.html\">{1}</a>\n",
        word(1),
        word(2)
    ))
    .with("x-truth", "trap=path")
}

/// Every order and filter of the same few things, and a next page that never is the last.
fn endless_query(query: &str) -> Answer {
    let number = query.split('&').find_map(|pair| pair.strip_prefix("page=")).and_then(|page| page.parse::<u64>().ok());
    let next = number.unwrap_or(0).saturating_add(1);
    let rest: Vec<&str> = query.split('&').filter(|pair| !pair.starts_with("page=") && !pair.is_empty()).collect();
    let facets: String = ["color=red", "color=blue", "size=l", "size=m", "sort=price", "order=desc"]
        .iter()
        .map(|facet| {
            let mut pairs = rest.clone();
            pairs.push(facet);
            format!("<a href=\"/search?{}\">{facet}</a> ", pairs.join("&amp;"))
        })
        .collect();
    let kept = rest.iter().map(|pair| format!("&amp;{}", render::escape(pair))).collect::<String>();
    Answer::html(200, format!("<!DOCTYPE html>\n<title>Search</title>\n<p>12 things found.</p>\n{facets}<a href=\"/search?page={next}{kept}\">next page</a>\n"))
        .with("x-truth", "trap=query")
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).expect("a Vec takes all")
}

/// A gigabyte of one letter in one megabyte: the same compressed block a thousand times, which costs almost nothing to
/// make. A full flush ends the block, so that it refers to nothing before it.
static BOMB: LazyLock<Bytes> = LazyLock::new(|| {
    const REPEATS: usize = 1024;
    let piece = vec![b'a'; 1 << 20];
    let mut block = Vec::with_capacity(8 << 10);
    let mut compress = Compress::new(Compression::best(), false);
    compress.compress_vec(&piece, &mut block, FlushCompress::Full).expect("the block has room");
    let (mut piece_sum, mut sum) = (Crc::new(), Crc::new());
    piece_sum.update(&piece);
    (0..REPEATS).for_each(|_| sum.combine(&piece_sum));
    let mut bomb = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    (0..REPEATS).for_each(|_| bomb.extend_from_slice(&block));
    // A last, empty block; then the checksum and the size.
    bomb.extend_from_slice(&[3, 0]);
    bomb.extend_from_slice(&sum.sum().to_le_bytes());
    bomb.extend_from_slice(&((piece.len() * REPEATS) as u32).to_le_bytes());
    Bytes::from(bomb)
});
