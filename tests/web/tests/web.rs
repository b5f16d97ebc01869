//! The test web over real HTTP, asked with a plain socket.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use flate2::read::{GzDecoder, MultiGzDecoder};
use pith_web::{Addresses, Charset, PageStyle, PageType, Robots, RunningWeb, Traps, Web, WebConfig};

struct Reply {
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl Reply {
    fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// Asks for a URL on a connection of its own.
fn get(web: &RunningWeb, url: &str) -> Reply {
    get_with(web, url, "")
}

fn get_with(web: &RunningWeb, url: &str, headers: &str) -> Reply {
    let mut stream = TcpStream::connect(web.address()).expect("the web is there");
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a timeout can be set");
    let (authority, path) = split(url);
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n{headers}\r\n")
        .expect("it listens");
    let mut bytes = Vec::new();
    // A cut connection may end in an error: what came before it counts.
    let _ = stream.read_to_end(&mut bytes);
    reply(&bytes)
}

fn split(url: &str) -> (&str, &str) {
    let rest = url.strip_prefix("http://").expect("the web speaks http");
    rest.split_at(rest.find('/').expect("URLs have a path"))
}

fn reply(bytes: &[u8]) -> Reply {
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").expect("a head that ends");
    let head = String::from_utf8(bytes[..end].to_vec()).expect("an ASCII head");
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status");
    Reply { status, head, body: bytes[end + 4..].to_vec() }
}

/// Every `href` of a page, resolved as far as the test web needs it.
fn links(url: &str, html: &str) -> Vec<String> {
    let (authority, _) = split(url);
    html.split("href=\"")
        .skip(1)
        .filter_map(|rest| {
            let href = rest.split('"').next()?.replace("&amp;", "&");
            let href = href.split('#').next()?.replace("/list/..", "");
            if href.is_empty() {
                None
            } else if href.starts_with("http://") {
                Some(href)
            } else if let Some(rest) = href.strip_prefix("//") {
                Some(format!("http://{rest}"))
            } else {
                Some(format!("http://{authority}{href}"))
            }
        })
        .collect()
}

/// Follows every link from the seeds, as a naive crawler without robots would, and gives the pages with status 200.
fn walk(web: &RunningWeb, limit: usize) -> BTreeSet<String> {
    let mut waiting: Vec<String> = web.seeds().to_vec();
    let mut seen: BTreeSet<String> = waiting.iter().cloned().collect();
    let mut pages = BTreeSet::new();
    while let Some(url) = waiting.pop() {
        let reply = get(web, &url);
        if let Some(to) = reply.header("location") {
            let to = if to.starts_with('/') { format!("http://{}{to}", split(&url).0) } else { to.to_owned() };
            waiting.extend(seen.insert(to.clone()).then_some(to));
        }
        if reply.status == 200 {
            waiting.extend(links(&url, &reply.text()).into_iter().filter(|link| seen.insert(link.clone())));
            pages.insert(url);
        }
        assert!(seen.len() < limit, "the walk has no end");
    }
    pages
}

#[test]
fn following_links_reaches_exactly_what_the_truth_says() {
    let config = WebConfig { hosts: 8, pages_per_host: 25, redirects: true, broken: 0.1, ..WebConfig::default() };
    let web = Web::start(config).expect("it starts");
    let pages = walk(&web, 5_000);
    assert_eq!(pages, web.truth().reachable(web.seeds()));
    assert!(pages.len() > 150 && pages.len() < 200, "{} of 200: some are broken", pages.len());
    assert!(web.log().iter().any(|request| request.status == 500));
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_does_not() {
    let page = |seed| {
        let web = Web::start(WebConfig { seed, ..WebConfig::default() }).expect("it starts");
        get(&web, &web.seeds()[0]).body
    };
    assert_eq!(page(5), page(5));
    assert_ne!(page(5), page(6));
}

#[test]
fn pages_hold_their_gold_text_in_the_charset_they_declare() {
    let web = Web::start(WebConfig { hosts: 20, ..WebConfig::default() }).expect("it starts");
    let (mut types, mut charsets, mut sizes) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
    for truth in web.truth().pages() {
        let reply = get(&web, &truth.url);
        let encoding = match truth.charset {
            Charset::Utf8 => encoding_rs::UTF_8,
            Charset::Big5 => encoding_rs::BIG5,
            Charset::Gb18030 => encoding_rs::GB18030,
            Charset::Windows1252 => encoding_rs::WINDOWS_1252,
        };
        let (html, _, damaged) = encoding.decode(&reply.body);
        assert!(!damaged, "{}", truth.url);
        assert!(html.contains(&format!("<meta charset=\"{}\">", truth.charset.label())));
        let html = html.replace("&quot;", "\"").replace("&amp;", "&");
        for block in truth.text.split("\n\n").filter(|block| !block.contains('\n')) {
            assert!(html.contains(block), "{} lacks {block}", truth.url);
        }
        types.insert(truth.page_type.name());
        charsets.insert(truth.charset.label());
        sizes.push(reply.body.len());
    }
    assert_eq!(types.len(), 5, "{types:?}");
    assert_eq!(charsets.len(), 4, "{charsets:?}");
    let inside = sizes.iter().filter(|size| (5_000..=100_000).contains(*size)).count();
    assert!(inside * 100 >= sizes.len() * 98, "{inside} of {} pages are 5 to 100 KB", sizes.len());
    assert!(sizes.iter().any(|size| *size < 15_000) && sizes.iter().any(|size| *size > 60_000));
}

#[test]
fn the_log_has_every_request_with_its_connection_and_its_end() {
    let web = Web::start(WebConfig::default()).expect("it starts");
    let url = web.seeds()[1].clone();
    let reply = get_with(&web, &url, "User-Agent: tester\r\n");
    let started = Instant::now();
    while web.log().iter().any(|request| request.ended.is_none()) && started.elapsed() < Duration::from_secs(5) {}
    let log = web.log();
    assert_eq!(log.len(), 1);
    assert_eq!((log[0].host.as_str(), log[0].path.as_str(), log[0].status), (split(&url).0, "/", 200));
    assert_eq!(log[0].headers["user-agent"], "tester");
    assert_eq!(log[0].bytes, reply.body.len() as u64);
    assert!(log[0].ended.expect("it has ended") >= log[0].at);
    assert_eq!(web.connections().len(), 1);
    assert_eq!(web.totals().requests, 1);
}

#[test]
fn every_host_can_have_an_address_of_its_own() {
    let config = WebConfig { hosts: 3, addresses: Addresses::Loopback, ..WebConfig::default() };
    let web = Web::start(config).expect("it starts");
    assert_eq!(web.hosts()[2], format!("127.0.0.3:{}", web.port()));
    let mut stream = TcpStream::connect(&web.hosts()[2]).expect("it listens there");
    write!(stream, "GET / HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", web.hosts()[2]).expect("it listens");
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).expect("it answers");
    assert_eq!(reply(&bytes).status, 200);
}

#[test]
fn pages_are_compressed_for_those_who_accept_it() {
    let web = Web::start(WebConfig { gzip: true, ..WebConfig::default() }).expect("it starts");
    let url = &web.seeds()[0];
    let plain = get(&web, url);
    let packed = get_with(&web, url, "Accept-Encoding: br, gzip\r\n");
    assert_eq!((plain.header("content-encoding"), packed.header("content-encoding")), (None, Some("gzip")));
    let mut unpacked = Vec::new();
    GzDecoder::new(&packed.body[..]).read_to_end(&mut unpacked).expect("it is gzip");
    assert_eq!(unpacked, plain.body);
    assert!(packed.body.len() * 2 < plain.body.len());
}

#[test]
fn planted_duplicates_are_what_the_truth_says() {
    let config = WebConfig {
        hosts: 4,
        pages_per_host: 80,
        exact_duplicates: 0.15,
        near_duplicates: 0.15,
        ..WebConfig::default()
    };
    let web = Web::start(config).expect("it starts");
    let pages: Vec<_> = web.truth().pages().collect();
    let text = |id: &str| &pages.iter().find(|page| page.id == id).expect("originals exist").text;
    let exact: Vec<_> = pages.iter().filter_map(|page| Some((page, page.duplicate_of.as_ref()?))).collect();
    let near: Vec<_> = pages.iter().filter_map(|page| Some((page, page.near_duplicate_of.as_ref()?))).collect();
    assert!(exact.len() > 20 && near.len() > 20, "{} exact, {} near", exact.len(), near.len());
    assert!(exact.iter().all(|(page, original)| page.text == *text(original)));
    assert!(near.iter().all(|(page, original)| page.text != *text(original) && page.text.starts_with(text(original))));
}

#[test]
fn robots_forbid_what_they_should_in_every_form() {
    let config = WebConfig { hosts: 10, robots: Robots::Varied, ..WebConfig::default() };
    let web = Web::start(config).expect("it starts");
    let robots: Vec<Reply> = web.hosts().iter().map(|host| get(&web, &format!("http://{host}/robots.txt"))).collect();
    let statuses: Vec<u16> = robots.iter().map(|reply| reply.status).collect();
    assert_eq!(statuses, [200, 200, 200, 200, 200, 301, 401, 200, 503, 404]);
    assert!(robots[2].body.starts_with("\u{feff}".as_bytes()) && robots[2].text().contains("\r\n"));
    assert!(robots[4].body.len() > 600_000);
    assert!(robots[7].text().contains("Crawl-delay: 1"));
    assert_eq!(web.truth().reachable(&[&web.seeds()[8]]).len(), 0, "a host whose robots.txt fails is closed");
    assert!(get(&web, &web.seeds()[0]).text().contains("/private/0"));
}

#[test]
fn sitemaps_name_the_pages_that_nothing_links_to() {
    let web = Web::start(WebConfig { hosts: 2, ..WebConfig::default() }).expect("it starts");
    let host = &web.hosts()[0];
    let index = get(&web, &format!("http://{host}/sitemap.xml")).text();
    assert!(index.contains("sitemap-pages.xml") && index.contains("sitemap-more.xml.gz"));
    let packed = get(&web, &format!("http://{host}/sitemap-more.xml.gz")).body;
    let mut xml = String::new();
    GzDecoder::new(&packed[..]).read_to_string(&mut xml).expect("it is gzip");
    let orphans = web.truth().orphans();
    let own: Vec<_> = orphans.iter().filter(|url| url.contains(host.as_str())).collect();
    assert_eq!(own.len(), 4);
    assert!(own.iter().all(|url| xml.contains(url.as_str()) && get(&web, url).status == 200));
    assert!(web.truth().reachable(web.seeds()).is_disjoint(&orphans));
}

#[test]
fn pages_change_and_conditional_requests_tell() {
    let config = WebConfig { hosts: 4, pages_per_host: 30, changes_per_second: 0.01, ..WebConfig::default() };
    let web = Web::start(config).expect("it starts");
    let urls: Vec<String> = web.truth().pages().map(|page| page.url).collect();
    let before: Vec<Reply> = urls.iter().map(|url| get(&web, url)).collect();
    let condition = |reply: &Reply| match (reply.header("etag"), reply.header("last-modified")) {
        (Some(etag), _) => format!("If-None-Match: {etag}\r\n"),
        (None, Some(date)) => format!("If-Modified-Since: {date}\r\n"),
        (None, None) => String::new(),
    };
    let again = |expected: f64| {
        let replies = urls.iter().zip(&before).map(|(url, reply)| get_with(&web, url, &condition(reply)));
        let unchanged = replies.filter(|reply| reply.status == 304).count() as f64 / urls.len() as f64;
        assert!((unchanged - expected).abs() < 0.2, "{unchanged} of the pages answer 304, not about {expected}");
    };
    // Three quarters have a validator; after a mean of 100 changes per page only the slowest are as they were.
    again(0.75);
    web.advance(Duration::from_secs(10_000));
    again(0.10);
}

#[test]
fn flaky_pages_work_the_second_time() {
    let web = Web::start(WebConfig { flaky: 1.0, ..WebConfig::default() }).expect("it starts");
    let leaf = web.truth().pages().filter(|page| page.url.starts_with(&web.seeds()[0])).last().expect("pages").url;
    let first = get(&web, &leaf);
    assert_eq!((first.status, first.header("retry-after")), (503, Some("1")));
    assert_eq!(get(&web, &leaf).status, 200);
}

#[test]
fn every_trap_does_what_it_is_named_for() {
    let config = WebConfig { hosts: 3, traps: Traps::all(5), ..WebConfig::default() };
    let web = Web::start(config).expect("it starts");
    let root = get(&web, &web.seeds()[0]).text();
    for (host, trap) in web.truth().traps() {
        assert!(trap == "spam" || root.contains(&host), "the first root leads to {host}");
    }
    let follow = |start: &str, steps: usize| {
        let mut seen = BTreeSet::from([start.to_owned()]);
        let mut url = start.to_owned();
        for _ in 0..steps {
            let reply = get(&web, &url);
            let next = links(&url, &reply.text()).into_iter().find(|link| link.len() < 4_000 && !seen.contains(link));
            url = next.unwrap_or_else(|| panic!("{url} leads nowhere new"));
            seen.insert(url.clone());
        }
    };
    follow("http://calendar-trap.test/calendar/2026/11/16", 60);
    follow("http://path-trap.test/a/", 60);
    follow("http://query-trap.test/search?page=1", 60);

    let sid = |reply: Reply| {
        reply.text().split("?sid=").nth(1).expect("a session").split(['"', '#']).next().map(str::to_owned)
    };
    let session = "http://session-trap.test/";
    assert_ne!(sid(get(&web, session)), sid(get(&web, session)));

    let missing = get(&web, "http://soft404-trap.test/no/such/page");
    assert!(missing.status == 200 && missing.text().contains("could not find"));

    let first = web.truth().page(&web.seeds()[0]).expect("a root");
    let mirror = web.truth().page("http://mirror-trap.test/").expect("a root");
    assert_eq!((mirror.text, mirror.duplicate_of), (first.text, Some(first.id)));

    let busy: Vec<u16> = (0..4).map(|_| get(&web, "http://busy-trap.test/").status).collect();
    assert_eq!(busy, [200, 429, 200, 429]);

    let dying: Vec<Reply> = (0..2).map(|_| get(&web, "http://dying-trap.test/")).collect();
    let whole: usize = dying[1].header("content-length").expect("a promise").parse().expect("a number");
    assert_eq!(dying[0].body.len(), whole);
    assert!(dying[1].body.len() < whole);

    let bomb = get(&web, "http://bomb-trap.test/");
    assert!(bomb.body.len() < 2 << 20 && bomb.header("content-encoding") == Some("gzip"));
    let size = std::io::copy(&mut MultiGzDecoder::new(&bomb.body[..]), &mut std::io::sink()).expect("it is gzip");
    assert_eq!(size, 1 << 30);

    let farm = get(&web, "http://spam-0.test/").text();
    assert!((1..5).all(|host| farm.contains(&format!("spam-{host}.test"))));
}

#[test]
fn bodies_that_do_not_end_end_with_the_client() {
    let traps = Traps { slow_loris: true, endless_body: true, ..Traps::default() };
    let web = Web::start(WebConfig { hosts: 1, traps, ..WebConfig::default() }).expect("it starts");
    let read = |host: &str, bytes: usize| {
        let mut stream = TcpStream::connect(web.address()).expect("the web is there");
        write!(stream, "GET / HTTP/1.1\r\nHost: {host}\r\n\r\n").expect("it listens");
        let started = Instant::now();
        let mut buffer = vec![0; bytes];
        stream.read_exact(&mut buffer).expect("it goes on");
        started.elapsed()
    };
    read("endless-trap.test", 20 << 20);
    assert!(read("slow-trap.test", 150) >= Duration::from_secs(1), "one byte per second");
    let started = Instant::now();
    while web.log().iter().any(|request| request.ended.is_none()) {
        assert!(started.elapsed() < Duration::from_secs(10), "an answer outlives its client");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_given_graph_is_served_as_given() {
    let urls = ["http://a.test/", "http://a.test/x?y=1", "http://b.test"].map(str::to_owned).to_vec();
    let web = Web::from_graph(urls, &[(0, 1), (1, 2), (0, 2)]).expect("it starts");
    assert_eq!(web.hosts(), ["a.test", "b.test"]);
    let root = get(&web, "http://a.test/").text();
    assert!(root.contains("\"http://a.test/x?y=1\"") && root.contains("\"http://b.test\""));
    assert!(get(&web, "http://b.test/").status == 200);
    assert!(get(&web, "http://b.test/nothing").status == 404);
}

#[test]
fn plain_pages_have_the_size_and_the_links_that_were_asked_for() {
    let config = WebConfig {
        hosts: 10,
        pages_per_host: 40,
        links_per_page: 40,
        pages: PageStyle::Plain(60_000),
        addresses: Addresses::Names,
        sitemaps: false,
        ..WebConfig::default()
    };
    let web = Web::start(config).expect("it starts");
    let urls = web.truth().reachable(web.seeds());
    assert_eq!(urls.len(), 400);
    let replies: Vec<Reply> = urls.iter().map(|url| get(&web, url)).collect();
    let mean = replies.iter().map(|reply| reply.body.len()).sum::<usize>() / replies.len();
    assert!((52_000..72_000).contains(&mean), "{mean}");
    assert!(replies.iter().all(|reply| reply.text().matches("<a href").count() == 40));
    assert!(web.truth().pages().all(|page| page.page_type != PageType::Forum || page.trap.is_none()));
}
