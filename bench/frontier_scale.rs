//! The embedded frontier at scale, without a network: millions of URLs are offered, leased and settled.
//!
//! ```console
//! $ cargo run --release --example frontier_scale -- /tmp/frontier 10000000
//! ```
//!
//! Every leased page offers 40 links, of which eight are new. Of the 32 known ones 28 were offered lately and four are
//! drawn evenly from all that is known: of the known links that a breadth-first crawl of the Debian documentation finds
//! (237 441 URLs, 5.3 million links), 93 % were among the last 4 096. With `even` as the last word all of them are drawn
//! evenly, which is the worst that can happen to a set on disk. A process of its own does that and is killed with SIGKILL when
//! it has offered all; then the frontier is opened again and everything that waits is leased and settled. A row is
//! printed for every tenth. Rates by the processor's time are told beside those by the clock, because only they mean
//! something on a busy machine; they include the making of the links and all threads.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use pith_crawler::{
    FetchRecord, FetchedPage, Frontier, HostRest, Lease, Link, LocalFrontier, LocalOptions, Next, Outcome, Settled,
    order_named,
};

/// Links on a page; one in five of them is new.
const LINKS: u64 = 40;
const NEW_LINKS: u64 = 8;
/// Links before this one are new or drawn evenly, the others were offered lately.
const EVEN_LINKS: u64 = 12;
/// How many links ago is lately.
const LATELY: u64 = 4096;
const HOSTS: u64 = 100_000;
/// Leases settled together, as a crawl does with the pages of a quarter second.
const BATCH: usize = 250;
/// What the filling process says when it is to be killed.
const FULL: &str = "full";

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [folder, n_urls, rest @ ..] = words.as_slice() else {
        return Err("usage: frontier_scale FOLDER URLS [ORDER [web|even]]".into());
    };
    let order = rest.first().map_or("breadth", String::as_str);
    let n_urls: u64 = n_urls.parse()?;
    let draw = rest.get(1).map_or("web", String::as_str);
    if rest.get(2).is_some_and(|word| word == "fill") {
        return fill(Path::new(folder), n_urls, order, draw == "even");
    }
    println!(
        "{:>10} {:>11} {:>15} {:>11} {:>15} {:>8} {:>8}",
        "URLs", "offered/s", "offered/CPU s", "leased/s", "leased/CPU s", "RSS MB", "disk MB"
    );
    fill_and_kill(folder, n_urls, order, draw)?;
    let started = Instant::now();
    let frontier = open(Path::new(folder), order)?;
    println!("opened after a kill in {:.2} s, {} URLs known", started.elapsed().as_secs_f64(), frontier.gauges().known);
    drain(Path::new(folder), &frontier)
}

fn open(folder: &Path, order: &str) -> Result<LocalFrontier, Failure> {
    let order = order_named(order).ok_or("no such order")?;
    Ok(LocalFrontier::open(folder, LocalOptions::new(order))?)
}

/// Fills the frontier in a process of its own, which ends as crashes do.
fn fill_and_kill(folder: &str, n_urls: u64, order: &str, draw: &str) -> Result<(), Failure> {
    let mut child = Command::new(std::env::current_exe()?)
        .args([folder, &n_urls.to_string(), order, draw, "fill"])
        .stdout(Stdio::piped())
        .spawn()?;
    let mut rates = Vec::new();
    for line in BufReader::new(child.stdout.take().ok_or("no stdout")?).lines() {
        let line = line?;
        if line == FULL {
            child.kill()?;
            break;
        }
        println!("{line}");
        rates.extend(line.split_whitespace().nth(2).and_then(|rate| rate.parse::<f64>().ok()));
    }
    let status = child.wait()?;
    if status.code().is_some() {
        return Err(format!("filling ended by itself: {status}").into());
    }
    if let (Some(first), Some(last)) = (rates.first(), rates.last()) {
        println!("the last tenth at {:.0} % of the first one's rate, by CPU time", last / first * 100.0);
    }
    Ok(())
}

fn fill(folder: &Path, n_urls: u64, order: &str, evenly: bool) -> Result<(), Failure> {
    let frontier = open(folder, order)?;
    let mut known = frontier.gauges().known;
    if known == 0 {
        let seeds: Vec<Link> = (0..1000).map(link).collect();
        known += frontier.offer(None, &seeds)?.new;
    }
    let mut meter = Meter::start();
    let mut next_row = known + n_urls / 10;
    let mut held = Vec::new();
    let mut random = 7_u64;
    let mut lately: Vec<u64> = (0..LATELY).map(|number| number % known).collect();
    let mut n_links = 0;
    while known < n_urls {
        let Next::Fetch(lease) = frontier.lease()? else { return Err("the frontier ran dry".into()) };
        frontier.rest(&lease, HostRest::AfterResponse(Duration::ZERO))?;
        let mut links = Vec::with_capacity(LINKS as usize);
        for index in 0..LINKS {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let any = (random >> 20) % known;
            let number = match index {
                0..NEW_LINKS => known + index,
                NEW_LINKS..EVEN_LINKS => any,
                _ if evenly => any,
                _ => lately[any as usize % lately.len()],
            };
            lately[(n_links % LATELY) as usize] = number;
            n_links += 1;
            links.push(link(number));
        }
        let visit = FetchedPage { link: &lease.link, n_links: links.len(), body: b"" };
        let offered = frontier.offer(Some(visit), &links)?;
        assert_eq!(offered.new, NEW_LINKS, "one in five is new, and none is forgotten");
        known += offered.new;
        meter.offered += LINKS;
        meter.leased += 1;
        settle_later(&frontier, &mut held, lease, known)?;
        if known >= next_row || known >= n_urls {
            meter.row(folder, known);
            next_row += n_urls / 10;
        }
    }
    println!("{FULL}");
    std::io::stdout().flush()?;
    // Here it is killed.
    std::thread::sleep(Duration::from_secs(600));
    Ok(())
}

/// Leases and settles everything that waits.
fn drain(folder: &Path, frontier: &LocalFrontier) -> Result<(), Failure> {
    let (known, waiting) = (frontier.gauges().known, frontier.gauges().pending);
    let tenth = waiting.div_ceil(10);
    let mut meter = Meter::start();
    let mut held = Vec::new();
    let mut n_leased = 0;
    while let Next::Fetch(lease) = frontier.lease()? {
        frontier.rest(&lease, HostRest::AfterResponse(Duration::ZERO))?;
        n_leased += 1;
        meter.leased += 1;
        settle_later(frontier, &mut held, lease, n_leased)?;
        if n_leased % tenth == 0 || n_leased == waiting {
            meter.row(folder, known);
        }
    }
    frontier.settle(held, b"")?;
    assert_eq!(frontier.totals().settled(), known, "every URL was settled once");
    println!("all {known} URLs were settled once");
    Ok(())
}

fn settle_later(
    frontier: &LocalFrontier,
    held: &mut Vec<(Lease, Settled)>,
    lease: Lease,
    mark: u64,
) -> Result<(), Failure> {
    let receipt = FetchRecord { outcome: Outcome::NotFound, status: 0, bytes: 0, milliseconds: 1, digest: 0 };
    held.push((lease, Settled::Done(receipt)));
    if held.len() == BATCH {
        frontier.settle(std::mem::take(held), &mark.to_le_bytes())?;
    }
    Ok(())
}

fn link(number: u64) -> Link {
    let host = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    let url = format!("http://www.host-{}.example/section/{}/article-{number}.html", host % HOSTS, number % 97);
    Link::page(url.parse().expect("a URL"), 1)
}

/// What was done since the last row.
struct Meter {
    started: Instant,
    cpu: f64,
    offered: u64,
    leased: u64,
}

impl Meter {
    fn start() -> Meter {
        Meter { started: Instant::now(), cpu: cpu_seconds(), offered: 0, leased: 0 }
    }

    fn row(&mut self, folder: &Path, known: u64) {
        let (seconds, cpu) = (self.started.elapsed().as_secs_f64(), cpu_seconds() - self.cpu);
        println!(
            "{known:>10} {:>11.0} {:>15.0} {:>11.0} {:>15.0} {:>8.1} {:>8}",
            self.offered as f64 / seconds,
            self.offered as f64 / cpu,
            self.leased as f64 / seconds,
            self.leased as f64 / cpu,
            resident_megabytes(),
            disk_bytes(folder) / 1_000_000,
        );
        *self = Meter::start();
    }
}

fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = text.rsplit(") ").next().unwrap_or("").split(' ').collect();
    let ticks = |index: usize| fields.get(index).and_then(|field| field.parse::<f64>().ok()).unwrap_or(0.0);
    (ticks(11) + ticks(12)) / 100.0
}

fn resident_megabytes() -> f64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with("VmRSS:")).unwrap_or("");
    line.split_whitespace().nth(1).and_then(|kilobytes| kilobytes.parse::<f64>().ok()).unwrap_or(0.0) / 1000.0
}

fn disk_bytes(folder: &Path) -> u64 {
    let size = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => disk_bytes(&entry.path()),
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    };
    std::fs::read_dir(folder).map_or(0, |entries| entries.flatten().map(size).sum())
}
