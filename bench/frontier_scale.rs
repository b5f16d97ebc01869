//! The embedded frontier at scale, without a network: offers, leases and settles millions of URLs and prints a row for
//! every tenth of them, then kills itself half-way through a reopening test.
//!
//! ```console
//! $ cargo run --release --example frontier_scale -- /tmp/frontier 10000000
//! ```

use std::path::Path;
use std::time::{Duration, Instant};

use pith_crawler::{
    Frontier, Link, LocalFrontier, LocalOptions, Next, Outcome, Pause, Receipt, Settled, Visit, order_named,
};

/// Links on a page; one in five of them is new.
const LINKS: u64 = 40;
const NEW_LINKS: u64 = 8;
const HOSTS: u64 = 100_000;
/// Leases settled together, as a crawl does with the pages of a quarter second.
const BATCH: usize = 250;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [folder, n_urls, rest @ ..] = words.as_slice() else {
        return Err("usage: frontier_scale FOLDER URLS [ORDER]".into());
    };
    let order = rest.first().map_or("breadth", String::as_str);
    let n_urls: u64 = n_urls.parse()?;
    let open = || {
        let order = order_named(order).ok_or("no such order")?;
        Ok::<_, Box<dyn std::error::Error>>(LocalFrontier::open(Path::new(folder), LocalOptions::new(order))?)
    };
    let frontier = open()?;
    let mut known = frontier.gauges().known;
    println!("{:>10} {:>12} {:>12} {:>10} {:>10} {:>9}", "URLs", "offered/s", "leased/s", "cpu s", "RSS MB", "disk MB");
    let mut held = Vec::new();
    let mut tenth = (Instant::now(), cpu_seconds(), 0_u64, 0_u64);
    let mut next_row = known + n_urls / 10;
    if known == 0 {
        let seeds: Vec<Link> = (0..1000).map(link).collect();
        known += frontier.offer(None, &seeds)?.new;
    }
    let mut random = 7_u64;
    while known < n_urls {
        let Next::Fetch(lease) = frontier.lease()? else { return Err("the frontier ran dry".into()) };
        frontier.rest(&lease, Pause::Answered(Duration::ZERO))?;
        let mut links = Vec::with_capacity(LINKS as usize);
        for index in 0..LINKS {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let number = if index < NEW_LINKS { known + index } else { (random >> 20) % known };
            links.push(link(number));
        }
        let visit = Visit { link: &lease.link, n_links: links.len(), body: b"" };
        let offered = frontier.offer(Some(visit), &links)?;
        assert_eq!(offered.new, NEW_LINKS, "one in five is new, and none is forgotten");
        known += offered.new;
        tenth.2 += LINKS;
        tenth.3 += 1;
        held.push((lease, done()));
        if held.len() == BATCH {
            frontier.settle(std::mem::take(&mut held), &known.to_le_bytes())?;
        }
        if known >= next_row {
            row(folder, known, &mut tenth);
            next_row += n_urls / 10;
        }
    }
    frontier.settle(std::mem::take(&mut held), b"")?;
    println!("now leasing and settling what waits");
    drop(frontier);
    let started = Instant::now();
    let frontier = open()?;
    println!(
        "reopened after a kill in {:.2} s, {} URLs known",
        started.elapsed().as_secs_f64(),
        frontier.gauges().known
    );
    let waiting = frontier.gauges().pending;
    tenth = (Instant::now(), cpu_seconds(), 0, 0);
    let mut left = waiting;
    while let Next::Fetch(lease) = frontier.lease()? {
        frontier.rest(&lease, Pause::Answered(Duration::ZERO))?;
        held.push((lease, done()));
        left -= 1;
        tenth.3 += 1;
        if held.len() == BATCH {
            frontier.settle(std::mem::take(&mut held), &left.to_le_bytes())?;
        }
        if left.is_multiple_of(waiting.div_ceil(10)) {
            row(folder, known, &mut tenth);
        }
    }
    frontier.settle(held, b"")?;
    assert_eq!(frontier.totals().settled(), known, "every URL was settled once");
    Ok(())
}

fn link(number: u64) -> Link {
    let host = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    let url = format!("http://www.host-{}.example/section/{}/article-{number}.html", host % HOSTS, number % 97);
    Link::page(url.parse().expect("a URL"), 1)
}

fn done() -> Settled {
    Settled::Done(Receipt { outcome: Outcome::NotFound, bytes: 0, milliseconds: 1, digest: 0 })
}

fn row(folder: &str, known: u64, tenth: &mut (Instant, f64, u64, u64)) {
    let seconds = tenth.0.elapsed().as_secs_f64();
    let cpu = cpu_seconds();
    println!(
        "{known:>10} {:>12.0} {:>12.0} {:>10.1} {:>10.1} {:>9}",
        tenth.2 as f64 / seconds,
        tenth.3 as f64 / seconds,
        cpu - tenth.1,
        resident_megabytes(),
        disk_megabytes(Path::new(folder)),
    );
    *tenth = (Instant::now(), cpu, 0, 0);
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

fn disk_megabytes(folder: &Path) -> u64 {
    let size = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => disk_megabytes(&entry.path()) * 1_000_000,
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    };
    std::fs::read_dir(folder).map_or(0, |entries| entries.flatten().map(size).sum::<u64>() / 1_000_000)
}
