//! What traps, dead hosts and slow ones cost the other hosts of a crawl.
//!
//! ```console
//! $ cargo build --release && cargo run --release --example traps -- target/release/pith
//! ```
//!
//! The same web of a hundred ordinary hosts is crawled with the same pauses three times in turn: alone, with every trap
//! that the test web has, and with ten hosts more that accept a connection and say nothing or send a byte a second. The
//! rate is that of the ordinary hosts, from the server's log: their pages over the time until the last of them came.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use std::time::Duration;

use pith_web::{PageStyle, RunningWeb, Traps, Web, WebConfig};

const HOSTS: usize = 100;
const PAGES: usize = 20;
const BAD_HOSTS: usize = HOSTS / 10;
/// Requests that one host gets at most; an ordinary one needs 21.
const BUDGET: usize = 60;
const ROUNDS: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Company {
    Alone,
    Traps,
    BadHosts,
}

fn main() -> Result<(), Box<dyn Error>> {
    let program = std::env::args().nth(1).ok_or("usage: traps PITH")?;
    let mut rates: BTreeMap<Company, Vec<f64>> = BTreeMap::new();
    for round in 1..=ROUNDS {
        for company in [Company::Alone, Company::Traps, Company::BadHosts] {
            let rate = measure(&program, company)?;
            println!("round {round}: {company:?} {rate:.1} pages/s of ordinary hosts");
            rates.entry(company).or_default().push(rate);
        }
    }
    let median = |company: Company| {
        let mut sorted = rates[&company].clone();
        sorted.sort_by(f64::total_cmp);
        sorted[sorted.len() / 2]
    };
    for company in [Company::Traps, Company::BadHosts] {
        println!("{company:?}: {:.1} % of the rate alone", 100.0 * median(company) / median(Company::Alone));
    }
    Ok(())
}

/// Crawls once; gives the rate of the ordinary hosts.
fn measure(program: &str, company: Company) -> Result<f64, Box<dyn Error>> {
    let traps = if company == Company::Traps { Traps::all(5) } else { Traps::default() };
    let web = Web::start(WebConfig {
        hosts: HOSTS,
        pages_per_host: PAGES,
        pages: PageStyle::Plain(20_000),
        latency: Duration::from_millis(20),
        sitemaps: false,
        traps,
        ..WebConfig::default()
    })?;
    let out = std::env::temp_dir().join(format!("pith-traps-{}", std::process::id()));
    let mut command = Command::new(program);
    command.arg("crawl").args(web.seeds()).arg("--out").arg(&out);
    if company == Company::BadHosts {
        let (silent, slow) = (serve(silent)?, serve(slow)?);
        for number in 0..BAD_HOSTS {
            let address = if number % 2 == 0 { silent } else { slow };
            command.args(["--resolve", &format!("bad-{number}.test={address}")]);
            command.args((0..5).map(|page| format!("http://bad-{number}.test/{page}")));
        }
    }
    command.args(["--resolve", &web.resolve(), "--delay", "300ms", "--scope", "any", "--timeout", "20s", "--quiet"]);
    command.args(["--per-host", &BUDGET.to_string(), "--fresh", "--max-body", "1M"]);
    let status = command.status()?;
    std::fs::remove_dir_all(&out)?;
    if !matches!(status.code(), Some(0 | 3)) {
        return Err(format!("the crawl failed: {status}").into());
    }
    check_budgets(&web)?;
    let ordinary = &web.hosts()[..HOSTS];
    let log = web.log();
    let pages: Vec<_> =
        log.iter().filter(|request| request.status == 200 && ordinary.contains(&request.host)).collect();
    let expected = web.truth().reachable(web.seeds());
    let n_expected =
        expected.iter().filter(|url| ordinary.iter().any(|host| url.contains(&format!("/{host}/")))).count();
    if pages.len() != n_expected {
        return Err(format!("{} of {n_expected} ordinary pages came", pages.len()).into());
    }
    let first = log.iter().map(|request| request.at).min().ok_or("nothing was asked")?;
    let last = pages.iter().filter_map(|request| request.ended).max().ok_or("nothing came")?;
    Ok(pages.len() as f64 / (last - first).as_secs_f64())
}

/// No host was asked more than its budget allows, robots.txt included.
fn check_budgets(web: &RunningWeb) -> Result<(), Box<dyn Error>> {
    let mut by_host: BTreeMap<String, usize> = BTreeMap::new();
    web.log().into_iter().for_each(|request| *by_host.entry(request.host).or_default() += 1);
    let traps = web.truth().traps();
    let of_traps: Vec<String> =
        traps.iter().filter_map(|(host, _)| by_host.get(host).map(|n| format!("{host} {n}"))).collect();
    if !of_traps.is_empty() {
        println!("         requests of trap hosts, {BUDGET} allowed: {}", of_traps.join(", "));
    }
    match by_host.iter().find(|(_, n)| **n > BUDGET + 1) {
        Some((host, n)) => Err(format!("{host} was asked {n} times").into()),
        None => Ok(()),
    }
}

/// Serves every connection on a thread of its own for as long as the program runs.
fn serve(connection: fn(TcpStream)) -> std::io::Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || connection(stream));
        }
    });
    Ok(address)
}

/// Listens and says nothing until the client goes away.
fn silent(mut stream: TcpStream) {
    let mut bytes = [0; 1024];
    while stream.read(&mut bytes).is_ok_and(|n| n > 0) {}
}

/// Begins an answer and goes on with a byte a second.
fn slow(mut stream: TcpStream) {
    let mut sent = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 100000\r\n\r\n");
    while sent.is_ok() {
        std::thread::sleep(Duration::from_secs(1));
        sent = stream.write_all(b".");
    }
}
