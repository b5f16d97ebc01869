//! `pith crawl` and answers that are made to take processor time: none may stop the crawl, or keep it from ending.

use std::borrow::Cow;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use crate::crawl::{pith, stored};
use crate::hostile_hosts::peak_memory;

/// Status, headers and body of an answer.
#[derive(Clone)]
struct Answer {
    status: &'static str,
    headers: Cow<'static, str>,
    body: Arc<[u8]>,
    /// The body is sent again and again for as long as somebody reads.
    is_endless: bool,
    /// The time between two pieces of an endless body.
    pause: Duration,
}

impl Answer {
    fn new(headers: impl Into<Cow<'static, str>>, body: impl Into<Arc<[u8]>>) -> Answer {
        let (headers, body) = (headers.into(), body.into());
        Answer { status: "200 OK", headers, body, is_endless: false, pause: Duration::ZERO }
    }

    fn redirect(to: &str) -> Answer {
        Answer { status: "302 Found", ..Answer::new(format!("location: {to}\r\n"), *b"") }
    }

    fn trickle() -> Answer {
        let pause = Duration::from_millis(100);
        Answer { is_endless: true, pause, ..Answer::new("content-type: text/html\r\n", *b"twenty bytes at once") }
    }

    fn html(body: String) -> Answer {
        Answer::new("content-type: text/html\r\n", body.into_bytes())
    }
}

/// What is served: an answer for a host and a path.
type Site = fn(&str, &str) -> Option<Answer>;

/// Serves on loopback for as long as the process lives: a thread for each connection, one request on each.
fn serve(site: Site) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || answer(stream, site));
        }
    });
    address
}

fn answer(mut stream: TcpStream, site: Site) -> std::io::Result<()> {
    let mut request = Vec::new();
    let mut buffer = [0; 4096];
    while !request.ends_with(b"\r\n\r\n") {
        match stream.read(&mut buffer)? {
            0 => return Ok(()),
            n_read => request.extend_from_slice(&buffer[..n_read]),
        }
    }
    let request = String::from_utf8_lossy(&request);
    let path = request.split(' ').nth(1).unwrap_or("/");
    let host = request.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("host: ").map(str::to_owned));
    let Some(Answer { status, headers, body, is_endless, pause }) = site(&host.unwrap_or_default(), path) else {
        return stream.write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    };
    stream.write_all(format!("HTTP/1.1 {status}\r\n{headers}connection: close\r\n\r\n").as_bytes())?;
    stream.write_all(&body)?;
    if !is_endless {
        return Ok(());
    }
    loop {
        stream.write_all(&body)?;
        std::thread::sleep(pause);
    }
}

/// A gzip member with nothing in it.
const EMPTY_MEMBER: [u8; 20] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0];

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}

fn brotli(bytes: &[u8]) -> Vec<u8> {
    let mut packer = brotli::CompressorWriter::new(Vec::new(), 1 << 16, 2, 24);
    packer.write_all(bytes).unwrap();
    packer.into_inner()
}

static MEMBERS_IN_BROTLI: LazyLock<Arc<[u8]>> = LazyLock::new(|| brotli(&EMPTY_MEMBER.repeat(3 << 20)).into());
static MEMBERS_IN_GZIP: LazyLock<Arc<[u8]>> = LazyLock::new(|| gzip(&EMPTY_MEMBER.repeat(3 << 20)).into());
static ZEROS_IN_BROTLI: LazyLock<Arc<[u8]>> = LazyLock::new(|| brotli(&vec![0; 200 << 20]).into());
static SITEMAP_IN_GZIP: LazyLock<Arc<[u8]>> = LazyLock::new(|| {
    let urls: String = (0..60_000).map(|index| format!("<url><loc>/listed/{index}?b=1&amp;a=2</loc></url>")).collect();
    let text = format!("<!DOCTYPE urlset [<!ENTITY a 'b'>]><urlset>{urls}{}", " ".repeat(60 << 20));
    gzip(&gzip(text.as_bytes())).into()
});
static LARGE_ROBOTS: LazyLock<Arc<[u8]>> = LazyLock::new(|| {
    let lines: String = (0..200_000).map(|index| format!("disallow: /*a*b{index}$\n")).collect();
    let mut text = format!("user-agent: *\n{lines}").into_bytes();
    text.truncate(4 << 20);
    text.into()
});

fn bait(host: &str) -> Answer {
    let links: String = (0..500)
        .map(|index| format!("<a href='/{}{index}'>{host}</a> ", if index % 2 == 0 { "a" } else { "abab/ab" }))
        .collect();
    Answer::html(format!("<title>{host}</title>{links}"))
}

/// Requests for pages of the hosts that are called `fair`.
static N_FAIR: AtomicUsize = AtomicUsize::new(0);

/// Hosts by what they do to whoever asks, which is the first part of their names; every other one is honest.
fn hostile(host: &str, path: &str) -> Option<Answer> {
    let encoded = |headers: &'static str, body: &Arc<[u8]>| Some(Answer::new(headers, Arc::clone(body)));
    let kind = host.split('.').next().unwrap_or(host);
    if kind == "fair" && path.starts_with("/a") {
        N_FAIR.fetch_add(1, Ordering::Relaxed);
    }
    match (kind, path) {
        ("trickle", _) => Some(Answer::trickle()),
        ("maps", _) if path.starts_with("/sitemap") => {
            let maps: String = (0..50).map(|number| format!("<sitemap><loc>{path}-{number}</loc></sitemap>")).collect();
            let index = format!("<sitemapindex>{maps}</sitemapindex>");
            Some(Answer::new("content-type: application/xml\r\n", index.into_bytes()))
        }
        ("away", "/" | "/robots.txt" | "/sitemap.xml") => (path == "/").then(|| bait(host)),
        ("away", _) => Some(Answer::redirect(&format!("{path}x"))),
        ("robots", "/robots.txt") => encoded("content-type: text/plain\r\n", &LARGE_ROBOTS),
        ("packed-robots", "/robots.txt") => encoded("content-encoding: gzip, br\r\n", &MEMBERS_IN_BROTLI),
        ("sitemap", "/sitemap.xml") => encoded("content-encoding: gzip\r\n", &SITEMAP_IN_GZIP),
        ("members-in-sitemap", "/sitemap.xml") => encoded("content-encoding: br\r\n", &MEMBERS_IN_BROTLI),
        (_, "/robots.txt" | "/sitemap.xml") => None,
        (_, "/") => Some(bait(host)),
        ("layers", _) => encoded("content-type: text/html\r\ncontent-encoding: gzip, br\r\n", &MEMBERS_IN_BROTLI),
        ("gzip-twice", _) => encoded("content-type: text/html\r\ncontent-encoding: gzip, gzip\r\n", &MEMBERS_IN_GZIP),
        ("zeros", _) => encoded("content-type: text/html\r\ncontent-encoding: br\r\n", &ZEROS_IN_BROTLI),
        ("members", _) => Some(Answer {
            is_endless: true,
            ..Answer::new("content-type: text/html\r\ncontent-encoding: gzip\r\n", EMPTY_MEMBER.repeat(1000))
        }),
        ("garbage", _) => Some(Answer {
            is_endless: true,
            ..Answer::new(
                "content-type: text/html\r\ncontent-encoding: gzip\r\n",
                [gzip(b"<p>end</p>"), vec![0; 9000]].concat(),
            )
        }),
        // A page that is not linked is missing, as it should be.
        _ if !path.starts_with("/a") => None,
        _ => Some(Answer::html(format!("<p>The page {path} of {host}, which nobody else has.</p>"))),
    }
}

const HOSTILE: &[&str] = &[
    "robots.test",
    "packed-robots.test",
    "sitemap.test",
    "members-in-sitemap.test",
    "layers.test",
    "gzip-twice.test",
    "zeros.test",
    "members.test",
    "garbage.test",
];

/// The kinds of [`HOSTILE`], and hosts that are slow, or lead nowhere.
fn all_kinds() -> impl Iterator<Item = &'static str> {
    HOSTILE.iter().map(|host| host.trim_end_matches(".test")).chain(["trickle", "maps", "away"])
}

fn crawl(address: SocketAddr, hosts: &[&str], out: &std::path::Path, words: &[&str]) -> Child {
    // What takes long to make is made before somebody waits for it.
    for made in [&MEMBERS_IN_BROTLI, &MEMBERS_IN_GZIP, &ZEROS_IN_BROTLI, &SITEMAP_IN_GZIP, &LARGE_ROBOTS] {
        LazyLock::force(made);
    }
    let seeds = hosts.iter().map(|host| format!("http://{host}/"));
    let resolve = format!("*={address}");
    let mut command = pith();
    command.arg("crawl").args(seeds).args(["--resolve", &resolve, "--delay", "0s", "--quiet"]).args(words);
    command.arg("--out").arg(out).stderr(Stdio::null()).spawn().unwrap()
}

/// Waits for the end of a process; ends it and gives `None` after this time.
fn wait(child: &mut Child, time: Duration) -> Option<Duration> {
    let started = Instant::now();
    while started.elapsed() < time {
        if child.try_wait().unwrap().is_some() {
            return Some(started.elapsed());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    None
}

fn terminate(child: &Child) {
    assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
}

#[test]
fn answers_that_take_processor_time_end_soon_and_honest_pages_are_stored() {
    let address = serve(hostile);
    let out = tempfile::tempdir().unwrap();
    // A robots.txt that cannot be read is asked for again after long pauses.
    let ending = HOSTILE.iter().copied().filter(|host| *host != "packed-robots.test");
    let hosts: Vec<&str> = ending.chain(["honest.test"]).collect();
    // Some pages of each host are enough: what matters is that every kind of answer was met.
    let mut child = crawl(address, &hosts, out.path(), &["--per-host", "40"]);
    let took = wait(&mut child, Duration::from_secs(120));
    assert!(took.is_some(), "it did not end");
    let honest = stored(out.path()).iter().filter(|url| url.starts_with("http://honest.test/")).count();
    assert!(honest >= 30, "{honest} pages of the honest host");
}

#[test]
fn sigterm_ends_a_crawl_under_every_hostile_answer() {
    let address = serve(hostile);
    for host in HOSTILE {
        let out = tempfile::tempdir().unwrap();
        let mut child = crawl(address, &[host], out.path(), &[]);
        std::thread::sleep(Duration::from_millis(1500));
        if child.try_wait().unwrap().is_none() {
            terminate(&child);
        }
        let took = wait(&mut child, Duration::from_secs(10));
        assert!(took.is_some(), "{host} keeps the process alive");
    }
}

#[test]
fn twelve_kinds_of_hostile_hosts_at_once_cost_others_no_page_and_neither_memory_nor_the_end() {
    const N_FAIR_HOSTS: usize = 8;
    /// A host has 36 pages within its forty requests, so that none is left with fewer than twenty of all these.
    const PAGES: usize = 34;
    // It keeps both cores busy: when asked for, on a quiet machine.
    if std::env::var_os("PITH_FULL").is_none() {
        println!("skipped: PITH_FULL is not set");
        return;
    }
    let address = serve(hostile);
    let out = tempfile::tempdir().unwrap();
    // Twice as many hosts as slots.
    let hostile = all_kinds().flat_map(|kind| (0..2).map(move |number| format!("{kind}.n{number}.test")));
    let fair = (0..N_FAIR_HOSTS).map(|number| format!("fair.n{number}.test"));
    let hosts: Vec<String> = hostile.chain(fair).collect();
    assert_eq!(hosts.len(), 32);
    let hosts: Vec<&str> = hosts.iter().map(String::as_str).collect();
    let words = ["--slots", "16", "--memory", "256M", "--per-host", "40"];
    let mut child = crawl(address, &hosts, out.path(), &words);
    let (started, mut peak) = (Instant::now(), 0);
    while N_FAIR.load(Ordering::Relaxed) < N_FAIR_HOSTS * PAGES && started.elapsed() < Duration::from_secs(120) {
        assert!(child.try_wait().unwrap().is_none(), "it has ended early");
        peak = peak.max(peak_memory(child.id()).unwrap_or(0));
        std::thread::sleep(Duration::from_millis(20));
    }
    println!("{} pages of honest hosts after {:?}, {peak} bytes", N_FAIR.load(Ordering::Relaxed), started.elapsed());
    terminate(&child);
    assert!(wait(&mut child, Duration::from_secs(10)).is_some(), "it does not end");
    let pages = stored(out.path());
    for number in 0..N_FAIR_HOSTS {
        let start = format!("http://fair.n{number}.test/");
        let n_pages = pages.iter().filter(|url| url.starts_with(&start)).count();
        assert!(n_pages >= 15, "{n_pages} pages of {start}");
    }
    assert!((1_000_000..256_000_000).contains(&peak), "{peak} bytes");
}
