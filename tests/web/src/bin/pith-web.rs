//! Serves a test web until it is stopped: for measuring crawlers, ours and others', against the same pages.
//!
//! `cargo run -p pith-web --release --bin pith-web -- --port 8080 --hosts 500 --pages 40 --bytes 60000 --links 40`
//!
//! One address per host unless `--names` is given. Prints one line with the port when it is ready, and with `--every
//! SECONDS` the totals so far.

use std::process::ExitCode;
use std::time::Duration;

use pith_web::{Addresses, PageStyle, Robots, Traps, Web, WebConfig};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<(), String> {
    let mut config = WebConfig {
        hosts: 500,
        pages_per_host: 40,
        links_per_page: 40,
        addresses: Addresses::Loopback,
        sitemaps: false,
        log: false,
        ..WebConfig::default()
    };
    let mut every = None;
    let mut words = std::env::args().skip(1);
    while let Some(flag) = words.next() {
        match flag.as_str() {
            "--names" => config.addresses = Addresses::Names,
            "--sitemaps" => config.sitemaps = true,
            "--redirects" => config.redirects = true,
            "--robots" => config.robots = Robots::Private,
            "--traps" => config.traps = Traps::all(20),
            flag => {
                let value = words.next().ok_or(format!("{flag} needs a value"))?;
                let number: f64 = value.parse().map_err(|_| format!("{flag} takes a number, not {value:?}"))?;
                match flag {
                    "--port" => config.port = number as u16,
                    "--seed" => config.seed = number as u64,
                    "--hosts" => config.hosts = number as usize,
                    "--pages" => config.pages_per_host = number as usize,
                    "--links" => config.links_per_page = number as usize,
                    "--bytes" => config.pages = PageStyle::Plain(number as usize),
                    "--threads" => config.threads = number as usize,
                    "--latency-ms" => config.latency = Duration::from_secs_f64(number / 1000.0),
                    "--broken" => config.broken = number,
                    "--changes" => config.changes_per_second = number,
                    "--duplicates" => (config.exact_duplicates, config.near_duplicates) = (number / 2.0, number / 2.0),
                    "--every" => every = Some(Duration::from_secs_f64(number)),
                    _ => return Err(format!("there is no flag {flag}")),
                }
            }
        }
    }
    let web = Web::start(config).map_err(|error| format!("cannot listen on loopback: {error}"))?;
    println!("serving {} hosts on port {}; {}", web.hosts().len(), web.port(), web.resolve());
    loop {
        std::thread::sleep(every.unwrap_or(Duration::from_secs(3600)));
        if every.is_some() {
            let totals = web.totals();
            println!("{} requests, {} connections, {} bytes", totals.requests, totals.connections, totals.bytes);
        }
    }
}
