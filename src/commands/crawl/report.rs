//! What is told of a crawl: the live line, the table at the end, and the account in JSON.

use std::fs;
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use pith_crawler::{Harvest, LocalFrontier, Report, Status, Stop};
use serde_json::Value;

use super::flags::Args;
use crate::exit::Failure;

/// The live line: redrawn on a terminal, a plain line every ten seconds elsewhere.
pub(super) struct Display {
    quiet: bool,
    is_terminal: bool,
    shown: Option<Instant>,
}

impl Display {
    pub(super) fn new(quiet: bool) -> Display {
        let is_terminal = std::io::stderr().is_terminal();
        Display { quiet, is_terminal, shown: (!is_terminal).then(Instant::now) }
    }

    pub(super) fn show(&mut self, status: &Status) {
        let pause = if self.is_terminal { Duration::from_millis(500) } else { Duration::from_secs(10) };
        if self.quiet || self.shown.is_some_and(|shown| shown.elapsed() < pause) {
            return;
        }
        self.shown = Some(Instant::now());
        let gauges = &status.gauges;
        let left = status.left.map_or(String::new(), |left| format!(", {} left", spell_time(left)));
        let line = format!(
            "{} pages, {:.1}/s, {} ready hosts, {} waiting, {} in flight, {} errors, {}{left}",
            status.pages,
            status.rate,
            gauges.ready_hosts,
            gauges.pending,
            status.in_flight,
            status.errors,
            spell_size(status.bytes),
        );
        if self.is_terminal {
            eprint!("\r\x1b[K{line}");
            let _ = std::io::stderr().flush();
        } else {
            eprintln!("{line}");
        }
    }

    pub(super) fn clear(&self) {
        if self.is_terminal && self.shown.is_some() {
            eprint!("\r\x1b[K");
        }
    }
}

/// The report, with what a topic and asking again add to it.
pub(super) fn account(
    report: &Report,
    frontier: &LocalFrontier,
    harvest: Option<&Harvest>,
    args: &Args,
) -> Result<Value, Failure> {
    let mut account = serde_json::to_value(report)?;
    if let Some(harvest) = harvest {
        account["topic"] = harvest_json(harvest);
    }
    if args.recrawl {
        let (asked, changed) = frontier.refreshed();
        account["refresh"] = serde_json::json!({ "asked": asked, "changed": changed });
    }
    Ok(account)
}

fn harvest_json(harvest: &Harvest) -> Value {
    serde_json::json!({
        "pages": harvest.n_pages,
        "on_topic": harvest.n_on_topic,
        "harvest_rate": harvest.rate(),
        "words": harvest.words,
        "terms": harvest.terms,
    })
}

pub(super) fn save_topic(path: &Path, harvest: &Harvest) -> Result<(), Failure> {
    let json = serde_json::to_string_pretty(&harvest_json(harvest))?;
    fs::write(path, format!("{json}\n")).map_err(|error| Failure::new(format!("{}: {error}", path.display())))
}

pub(super) fn print_harvest(harvest: &Harvest) {
    println!(
        "{} of {} pages are on the topic: a harvest rate of {:.3}",
        harvest.n_on_topic,
        harvest.n_pages,
        harvest.rate()
    );
    let words: Vec<String> = harvest.words.iter().map(|(word, weight)| format!("{word} {weight:.2}")).collect();
    println!("topic: {}", words.join(", "));
    let terms: Vec<String> = harvest.terms.iter().map(|(term, count)| format!("{term} {count}")).collect();
    println!("most frequent terms: {}", terms.join(", "));
}

pub(super) fn print_report(report: &Report) {
    let stopped = match report.stopped {
        Stop::Finished => "nothing is left to fetch",
        Stop::Pages => "the limit of pages is reached",
        Stop::Bytes => "the limit of bytes is reached",
        Stop::Time => "the time is up",
        Stop::Interrupted => "stopped; run again to go on",
    };
    println!("{:<24} {:>9} {:>9} {:>11} {:>9} {:>9}", "domain", "pages", "requests", "bytes", "seconds", "waiting");
    for row in report.domains.iter().take(20) {
        println!(
            "{:<24} {:>9} {:>9} {:>11} {:>9.1} {:>9}",
            row.domain,
            row.pages,
            row.requests,
            spell_size(row.bytes),
            row.seconds,
            row.pending
        );
    }
    if report.domains.len() > 20 {
        println!("… and {} more domains; all are in report.json", report.domains.len() - 20);
    }
    let outcomes: Vec<String> = report.outcomes.iter().map(|(name, count)| format!("{name} {count}")).collect();
    println!("\n{}", outcomes.join(", "));
    println!(
        "Crawled {} pages of {} domains in {:.1} seconds ({:.1} pages/s), {:.3} seconds on average per request, {} ({} per page)",
        report.pages_this_run,
        report.n_domains,
        report.seconds,
        report.pages_per_second,
        report.seconds_per_request,
        spell_size(report.bytes),
        spell_size(report.bytes_per_page as u64),
    );
    if let [first, .., last] = report.pages_per_second_by_decile[..] {
        println!("pages/s by decile: first {first:.1}, last {last:.1}");
    }
    println!("{stopped}; {} URLs wait", report.pending);
}

fn spell_size(bytes: u64) -> String {
    let units = [("G", 1e9), ("M", 1e6), ("k", 1e3)];
    match units.iter().find(|(_, size)| bytes as f64 >= *size) {
        Some((unit, size)) => format!("{:.1} {unit}B", bytes as f64 / size),
        None => format!("{bytes} B"),
    }
}

fn spell_time(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..=119 => format!("{seconds} s"),
        seconds @ 120..=7199 => format!("{} min", seconds / 60),
        seconds => format!("{} h", seconds / 3600),
    }
}
