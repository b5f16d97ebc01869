//! What a crawl prints: the progress line, the table at the end, and the report as JSON.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use pith_corpus::atomic_file::write_atomically;
use pith_crawler::{Harvest, LocalFrontier, Phase, Report, RestingHost, Snapshots, Status, Stop};
use serde_json::Value;

use super::flags::Args;
use crate::exit::Failure;

/// The progress line, redrawn on a terminal. Elsewhere only what is out of the ordinary is said.
pub(super) struct Display {
    /// Whether there is a line: a terminal that no log is written to.
    has_line: bool,
    shown: Option<Instant>,
    /// The host whose long rest was told last.
    told: Option<String>,
    /// The trouble that was said last, and when it last made the crawl pause.
    trouble: Option<&'static str>,
    paused: Option<Instant>,
}

/// Between two drawings of the line.
const REDRAW_EVERY: Duration = Duration::from_millis(500);
/// A rest that is longer than this is no usual pause between requests, and is told with its host and its end.
const LONG_REST: Duration = Duration::from_secs(30);
/// After so long without it, the same trouble is said again.
const SAID_AGAIN_AFTER: Duration = Duration::from_secs(60);

impl Display {
    /// A display beside a log on the same terminal has no line.
    pub(super) fn new(has_log: bool) -> Display {
        let has_line = std::io::stderr().is_terminal() && !has_log;
        Display { has_line, shown: None, told: None, trouble: None, paused: None }
    }

    /// Shows a crawl until it ends; `resting` gives the host that is waited for when nothing else is left to do.
    pub(super) async fn follow(mut self, mut snapshots: Snapshots, resting: impl Fn() -> Option<RestingHost>) {
        while let Some(snapshot) = snapshots.next().await {
            if snapshot.phase != Phase::Ended {
                self.show(&snapshot.status, &resting);
            }
        }
        self.clear();
    }

    /// Shows the figures; `resting` gives the host that is waited for when nothing else is left to do.
    fn show(&mut self, status: &Status, resting: impl FnOnce() -> Option<RestingHost>) {
        self.say_trouble(status.trouble);
        let is_idle = status.gauges.ready_hosts == 0 && status.in_flight == 0 && status.gauges.pending > 0;
        // A crawl that only waits says so at once, not at the next line.
        let resting = if is_idle { resting().filter(|host| host.time > LONG_REST) } else { None };
        if let Some(host) = resting.as_ref().filter(|host| self.told.as_deref() != Some(&host.name)) {
            self.clear();
            sayln!("waiting: {}; stop with Ctrl-C, run again to go on", describe_rest(host));
            self.told = Some(host.name.clone());
        }
        if !self.has_line || self.shown.is_some_and(|shown| shown.elapsed() < REDRAW_EVERY) {
            return;
        }
        self.shown = Some(Instant::now());
        let gauges = &status.gauges;
        let left = status.left.map_or(String::new(), |left| format!(", {} left", format_time(left)));
        let rest = resting.map_or(String::new(), |host| format!("; {}", describe_rest(&host)));
        let line = format!(
            "{} pages, {:.1}/s, {} ready hosts, {} waiting, {} in flight, {} errors, {}{left}{rest}",
            status.pages,
            status.rate,
            gauges.ready_hosts,
            gauges.pending,
            status.in_flight,
            status.errors,
            format_size(status.bytes),
        );
        let (_, width) = console::Term::stderr().size();
        // A line that fills the terminal would wrap, and be drawn again below itself.
        let line: String = line.chars().take(usize::from(width).saturating_sub(1)).collect();
        crate::print::talk(format_args!("\r\x1b[K{line}"));
    }

    /// Says once for what trouble of this machine the crawl pauses.
    fn say_trouble(&mut self, trouble: Option<&'static str>) {
        if let Some(what) = trouble.filter(|_| trouble != self.trouble) {
            self.clear();
            sayln!("the crawl pauses and tries again: {what}");
        }
        if trouble.is_some() || self.paused.is_some_and(|paused| paused.elapsed() > SAID_AGAIN_AFTER) {
            (self.trouble, self.paused) = (trouble, trouble.map(|_| Instant::now()));
        }
    }

    fn clear(&self) {
        if self.has_line && self.shown.is_some() {
            crate::print::talk(format_args!("\r\x1b[K"));
        }
    }
}

/// The report, with what a topic and asking again add to it.
pub(super) fn report_json(
    report: &Report,
    frontier: &LocalFrontier,
    harvest: Option<&Harvest>,
    args: &Args,
) -> Result<Value, Failure> {
    let mut report_json = serde_json::to_value(report)?;
    if let Some(harvest) = harvest {
        report_json["topic"] = harvest_json(harvest);
    }
    if args.recrawl {
        let (asked, changed) = frontier.refreshed();
        report_json["refresh"] = serde_json::json!({ "asked": asked, "changed": changed });
    }
    Ok(report_json)
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
    write_atomically(path, format!("{json}\n").as_bytes())?;
    Ok(())
}

pub(super) fn print_harvest(harvest: &Harvest) -> Result<(), Failure> {
    outln!(
        "{} of {} pages are on the topic: a harvest rate of {:.3}",
        harvest.n_on_topic,
        harvest.n_pages,
        harvest.rate()
    );
    let words: Vec<String> = harvest.words.iter().map(|(word, weight)| format!("{word} {weight:.2}")).collect();
    outln!("topic: {}", words.join(", "));
    let terms: Vec<String> = harvest.terms.iter().map(|(term, count)| format!("{term} {count}")).collect();
    outln!("most frequent terms: {}", terms.join(", "));
    Ok(())
}

pub(super) fn print_report(report: &Report) -> Result<(), Failure> {
    let stopped = match report.stopped {
        Stop::Finished => "nothing is left to fetch",
        Stop::Pages => "the limit of pages is reached",
        Stop::Bytes => "the limit of bytes is reached",
        Stop::Time => "the time is up",
        Stop::Interrupted => "stopped",
    };
    outln!("{:<24} {:>9} {:>9} {:>11} {:>9} {:>9}", "domain", "pages", "requests", "bytes", "seconds", "waiting");
    for row in report.domains.iter().take(20) {
        outln!(
            "{:<24} {:>9} {:>9} {:>11} {:>9.1} {:>9}",
            row.domain,
            row.pages,
            row.requests,
            format_size(row.bytes),
            row.seconds,
            row.pending
        );
    }
    if report.domains.len() > 20 {
        outln!("… and {} more domains; all are in report.json", report.domains.len() - 20);
    }
    let list = |outcomes: &BTreeMap<&str, u64>| -> String {
        let named: Vec<String> = outcomes.iter().map(|(name, count)| format!("{name} {count}")).collect();
        named.join(", ")
    };
    let is_first_run = report.outcomes == report.outcomes_this_run;
    outln!("\n{}{}", if is_first_run { "" } else { "this run: " }, list(&report.outcomes_this_run));
    if !report.reserved_this_run.is_empty() {
        outln!("reserved by their owners: {}", list(&report.reserved_this_run));
    }
    outln!(
        "Crawled {} pages of {} domains in {:.1} seconds ({:.1} pages/s), {:.3} seconds on average per request, {}",
        report.pages_this_run,
        report.n_domains,
        report.seconds,
        report.pages_per_second,
        report.seconds_per_request,
        format_size(report.bytes_this_run),
    );
    if !is_first_run {
        outln!("all runs: {}", list(&report.outcomes));
        let per_page = format_size(report.bytes_per_page as u64);
        outln!("all runs: {} pages, {} ({per_page} per page)", report.pages, format_size(report.bytes));
    }
    if let [first, .., last] = report.pages_per_second_by_decile[..] {
        outln!("pages/s by decile: first {first:.1}, last {last:.1}");
    }
    outln!("{stopped}; {}", describe_waiting(report));
    if report.postponed > 0 {
        outln!("{} links to further hosts wait for room: the hosts fill their part of `--memory`", report.postponed);
    }
    Ok(())
}

/// What a crawler that means well would do otherwise, said once, on stderr.
pub(super) fn advise(report: &Report, args: &Args) {
    let unheard = report.unheard_this_run;
    for (count, word) in [(unheard.noindex, "noindex"), (unheard.nofollow, "nofollow")] {
        if count > 0 {
            let pages = if count == 1 { "1 page says".to_owned() } else { format!("{count} pages say") };
            sayln!("{pages} {word}, which was not asked of this crawl: `--{word}` obeys");
        }
    }
    let has_contact = args.contact.is_some() || args.user_agent.contains(['@', '+']);
    if !has_contact && !args.allow_private {
        sayln!("nobody who minds this crawl can reach you: `--contact` puts a URL or a mail address into its name");
    }
}

/// How many URLs wait, and how many of them for hosts that have had their share.
fn describe_waiting(report: &Report) -> String {
    let in_all: u64 = report.domains.iter().map(|row| row.pending).sum();
    let held_back = in_all.saturating_sub(report.pending);
    match held_back {
        0 => format!("{} URLs wait", report.pending),
        _ => format!("{in_all} URLs wait, {held_back} of them on hosts that have had their `--per-host` share"),
    }
}

/// Says when URLs that were left can be had, if that is not soon.
pub(super) fn print_resting(resting: Option<RestingHost>) -> Result<(), Failure> {
    if let Some(host) = resting.filter(|host| host.time > LONG_REST) {
        outln!("{}", describe_rest(&host));
    }
    Ok(())
}

/// `3 URLs wait for a.example, which rests for another 59 min, until 14:05:09 UTC`.
fn describe_rest(host: &RestingHost) -> String {
    let urls = if host.pending == 1 { "1 URL waits".to_owned() } else { format!("{} URLs wait", host.pending) };
    let until = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default() + host.time;
    let second = until.as_secs() % 86_400;
    let clock = format!("{:02}:{:02}:{:02} UTC", second / 3600, second / 60 % 60, second % 60);
    format!("{urls} for {}, which rests for another {}, until {clock}", host.name, format_time(host.time))
}

/// Bytes for readers: `700.6 kB`.
pub fn format_size(bytes: u64) -> String {
    let units = [("G", 1e9), ("M", 1e6), ("k", 1e3)];
    match units.iter().find(|(_, size)| bytes as f64 >= *size) {
        Some((unit, size)) => format!("{:.1} {unit}B", bytes as f64 / size),
        None => format!("{bytes} B"),
    }
}

fn format_time(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..=119 => format!("{seconds} s"),
        seconds @ 120..=7199 => format!("{} min", seconds / 60),
        seconds => format!("{} h", seconds / 3600),
    }
}
