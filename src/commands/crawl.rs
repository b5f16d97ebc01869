//! `pith crawl`: seeds become page shards.

use std::collections::HashMap;
use std::fs;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use pith_corpus::warc::{Format, WriterOptions};
use pith_crawler::{
    DEFAULT_EXPLORE, Delay, Explore, Frontier, Harvest, Identity, Limits, LocalFrontier, LocalOptions, ORDER_NAMES,
    Order, Override, Pattern, Plan, Reach, Refresh, RefreshPolicy, Report, Scope, Status, Stop, Subject, Topic,
    TopicModel, canonicalize, order_named, parse_seed,
};
use serde_json::Value;
use url::Url;

use crate::exit::{Exit, Failure};
use crate::sink::Shards;

const EXAMPLES: &str = "Examples:
  pith crawl https://example.org/ --out crawl
  pith crawl --seeds seeds.txt --out crawl --scope domain --pages 100000 --contact me@example.org";

/// The words of `pith crawl`.
#[derive(clap::Args, Debug)]
#[command(before_help = EXAMPLES)]
pub struct Args {
    /// Where to begin; more seeds can stand in a file
    #[arg(value_name = "URL", required_unless_present = "seeds")]
    urls: Vec<String>,
    /// A file with one seed per line; empty lines and lines that begin with # are passed over
    #[arg(long, value_name = "FILE")]
    seeds: Option<PathBuf>,
    /// The folder of the crawl; run again with the same folder to go on
    #[arg(long, value_name = "CRAWL")]
    out: PathBuf,
    /// Forget what the folder holds and begin anew
    #[arg(long)]
    fresh: bool,

    /// Which links belong to the crawl: host, domain, tld:NAME or any
    #[arg(long, default_value = "host", value_name = "SCOPE")]
    scope: Reach,
    /// Only URLs that fit: * stands for anything, and without one the text is looked for anywhere
    #[arg(long, value_name = "PATTERN")]
    include: Vec<String>,
    /// No URLs that fit
    #[arg(long, value_name = "PATTERN")]
    exclude: Vec<String>,
    /// Which URL comes first [default: opic, or topic when one is given]
    #[arg(long, value_parser = clap::builder::PossibleValuesParser::new(ORDER_NAMES.iter().chain(&["topic"])))]
    order: Option<String>,
    /// Crawl for a topic: words that its pages have, as a list or as a file. Without words, the topic of the seeds
    #[arg(long, value_name = "WORDS|FILE")]
    topic_words: Option<String>,
    /// How links to the topic are told from others [default: naive-bayes]
    #[arg(long, value_name = "MODEL", value_parser = ["naive-bayes", "frequent-terms"])]
    topic_model: Option<String>,
    /// The share of pages, from 0 to 1, that is chosen by lot from all that wait
    #[arg(long, value_name = "SHARE", default_value_t = DEFAULT_EXPLORE, value_parser = share)]
    explore: f64,
    /// Another number, another lot
    #[arg(long, value_name = "N", default_value_t = 0)]
    explore_seed: u64,

    /// Ask again for pages of earlier runs that are likely to have changed
    #[arg(long)]
    recrawl: bool,
    /// With --recrawl: the share of requests for pages at hand while new ones wait
    #[arg(long, value_name = "SHARE", default_value_t = Refresh::default().share, value_parser = share)]
    refresh_share: f64,
    /// With --recrawl: leave a page alone this long
    #[arg(long, value_name = "TIME", default_value = "1d", value_parser = duration)]
    refresh_after: Duration,
    /// With --recrawl: ask again for this many pages at most
    #[arg(long, value_name = "N")]
    refreshes: Option<u64>,
    /// With --recrawl: which page is asked for again first
    #[arg(long, value_name = "POLICY", default_value = "rate-optimal", value_parser = ["rate-optimal", "profit", "uniform"])]
    refresh_policy: String,

    /// End with this many pages
    #[arg(long, value_name = "N")]
    pages: Option<u64>,
    /// Follow links at most this many clicks from a seed
    #[arg(long, value_name = "N")]
    depth: Option<u32>,
    /// End after this long: 90s, 20m, 12h
    #[arg(long, value_name = "TIME", value_parser = duration)]
    time: Option<Duration>,
    /// End with this many bytes of pages: 500M, 2G
    #[arg(long, value_name = "SIZE", value_parser = size)]
    bytes: Option<u64>,
    /// Ask one host for at most this many URLs
    #[arg(long, value_name = "N")]
    per_host: Option<u64>,

    /// Rest between a host's answer and the next request: a time, or `auto` for ten times the last answer's time,
    /// from 1 to 30 seconds; 0s switches it off
    #[arg(long, default_value = "auto", value_name = "TIME", value_parser = delay)]
    delay: Delay,
    /// Requests on their way to one address at once
    #[arg(long, default_value_t = 4, value_name = "N")]
    per_ip: usize,
    /// Requests on their way at once
    #[arg(long, default_value_t = 128, value_name = "N")]
    slots: usize,
    /// How often a URL is tried
    #[arg(long, default_value_t = 3, value_name = "N")]
    attempts: u8,
    /// Fetch what robots.txt forbids; only for your own hosts
    #[arg(long)]
    ignore_robots: bool,
    /// Obey rel=nofollow and robots meta tags with nofollow
    #[arg(long)]
    nofollow: bool,
    /// Do not store pages that say noindex
    #[arg(long)]
    noindex: bool,
    /// Do not read the sitemaps that robots.txt names
    #[arg(long)]
    no_sitemaps: bool,

    /// The name that the crawler goes by
    #[arg(long, value_name = "NAME", default_value = concat!("pith/", env!("CARGO_PKG_VERSION")))]
    user_agent: String,
    /// How to reach you, for the User-Agent header: a URL or a mail address
    #[arg(long, value_name = "URL")]
    contact: Option<String>,
    /// Cut bodies behind this many bytes
    #[arg(long, value_name = "SIZE", default_value = "10M", value_parser = size)]
    max_body: u64,
    /// Give an answer up after this long
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = duration)]
    timeout: Duration,
    /// Keep everything that is served, and not only text
    #[arg(long)]
    any_type: bool,

    /// Connect to an address for a host, or for every host with *: HOST=ADDRESS:PORT
    #[arg(long, value_name = "HOST=ADDRESS:PORT")]
    resolve: Vec<Override>,
    /// Connect to addresses that are not public
    #[arg(long)]
    allow_private: bool,
    /// Send everything through a proxy: http://, https:// or socks5://
    #[arg(long, value_name = "URL")]
    proxy: Option<String>,
    /// HTTP basic authentication for a host: HOST=USER:PASSWORD
    #[arg(long, value_name = "HOST=USER:PASSWORD", value_parser = credential)]
    auth: Vec<(String, (String, String))>,

    /// How shards are packed
    #[arg(long, default_value = "warc.zst", value_parser = ["warc.zst", "warc.gz"])]
    shard_format: String,
    /// A shard is closed at this size
    #[arg(long, value_name = "SIZE", default_value = "256M", value_parser = size)]
    shard_size: u64,
    /// Compression level: 1 to 19 for zstd (3 unless said; 1 takes less time and 8 % more room), 1 to 9 for gzip (6)
    #[arg(long, value_name = "N")]
    level: Option<i32>,
    /// Print the report as JSON on stdout
    #[arg(long)]
    json: bool,
    /// Print nothing but errors
    #[arg(long)]
    quiet: bool,
}

/// Crawls until nothing is left or a limit is reached.
pub fn run(args: Args) -> Result<Exit, Failure> {
    let plan = plan(&args)?;
    if args.fresh {
        start_anew(&args.out)?;
    }
    let frontier_folder = args.out.join("frontier");
    let pages_folder = args.out.join("pages");
    if !frontier_folder.exists() && pages_folder.read_dir().is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(Failure::new(format!("{} holds pages but no frontier", args.out.display()))
            .hint("choose another folder, or start anew with `--fresh`"));
    }
    let (order, harvest) = order(&args)?;
    let options = LocalOptions {
        host_budget: args.per_host.unwrap_or(u64::MAX),
        first_rest: plan.politeness.delay.least(),
        explore: Explore { share: args.explore, seed: args.explore_seed },
        refresh: refresh(&args),
        ..LocalOptions::new(order)
    };
    fs::create_dir_all(&args.out).map_err(|error| Failure::new(format!("{}: {error}", args.out.display())))?;
    let _lock = lock(&args.out)?;
    let frontier = LocalFrontier::open(&frontier_folder, options)?;
    let mark = frontier.mark();
    let sink = Shards::open(&pages_folder, shard_options(&args), &mark)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut display = Display::new(args.quiet);
    let report = runtime.block_on(pith_crawler::crawl(
        &plan,
        &frontier,
        Box::new(sink),
        mark,
        interrupted(args.quiet),
        |status| display.show(status),
    ));
    display.clear();
    let report = report?;
    frontier.checkpoint()?;
    let mut harvest = harvest.map(|harvest| harvest.lock().expect("nothing panics while it holds it").clone());
    if let Some(harvest) = &mut harvest {
        harvest.terms.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    }
    let json = serde_json::to_string_pretty(&account(&report, &frontier, harvest.as_ref(), &args)?)?;
    if let Some(harvest) = &harvest {
        save_topic(&args.out.join("topic.json"), harvest)?;
    }
    fs::write(args.out.join("report.json"), format!("{json}\n"))
        .map_err(|error| Failure::new(format!("{}: {error}", args.out.join("report.json").display())))?;
    if args.json {
        println!("{json}");
    } else if !args.quiet {
        print_report(&report);
        if args.recrawl {
            let (asked, changed) = frontier.refreshed();
            println!("{asked} pages were asked for again, {changed} of them had changed");
        }
        if let Some(harvest) = &harvest {
            print_harvest(harvest);
        }
    }
    if report.pages == 0 && report.stopped == Stop::Finished {
        return Err(bad_seed(&plan, &report));
    }
    Ok(if frontier.gauges().pending == 0 && has_losses(&report) { Exit::Losses } else { Exit::Done })
}

/// What a focused policy finds, while it finds it.
type SharedHarvest = Arc<Mutex<Harvest>>;

/// The policy, and what a focused one finds.
fn order(args: &Args) -> Result<(Box<dyn Order>, Option<SharedHarvest>), Failure> {
    let has_topic = args.topic_words.is_some() || args.topic_model.is_some();
    let name = args.order.as_deref().unwrap_or(if has_topic { "topic" } else { ORDER_NAMES[0] });
    if name != "topic" {
        return match has_topic {
            true => Err(Failure::usage(format!("`--order {name}` knows of no topic"))
                .hint("leave `--order` out, or the words and the model")),
            false => Ok((order_named(name).expect("the parser knows the names"), None)),
        };
    }
    let subject = match &args.topic_words {
        Some(words) => topic_words(words)?,
        None => Subject::of_seeds(),
    };
    let model = match args.topic_model.as_deref() {
        Some("frequent-terms") => TopicModel::FrequentTerms { n: 20 },
        _ => TopicModel::NaiveBayes,
    };
    let topic = Topic::about(model, subject);
    let harvest = topic.harvest();
    Ok((Box::new(topic), Some(harvest)))
}

/// The words of a topic: those of a file where there is one of that name, else the text itself.
fn topic_words(text: &str) -> Result<Subject, Failure> {
    let path = Path::new(text);
    let words = match path.is_file() {
        true => fs::read_to_string(path)
            .map_err(|error| Failure::usage(format!("{text}: cannot read the words of the topic: {error}")))?,
        false => text.to_owned(),
    };
    let subject = Subject::of_words([words]);
    if subject.words().is_empty() {
        return Err(Failure::usage(format!("{text:?} has no words to look for"))
            .hint("a word has two letters or more, such as --topic-words \"futebol, gol, jogador\""));
    }
    Ok(subject)
}

fn refresh(args: &Args) -> Option<Refresh> {
    args.recrawl.then_some(Refresh {
        share: args.refresh_share,
        after: args.refresh_after,
        limit: args.refreshes,
        policy: match args.refresh_policy.as_str() {
            "profit" => RefreshPolicy::Profit,
            "uniform" => RefreshPolicy::Uniform,
            _ => RefreshPolicy::RateOptimal,
        },
    })
}

/// The report, with what a topic and asking again add to it.
fn account(
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

fn save_topic(path: &Path, harvest: &Harvest) -> Result<(), Failure> {
    let json = serde_json::to_string_pretty(&harvest_json(harvest))?;
    fs::write(path, format!("{json}\n")).map_err(|error| Failure::new(format!("{}: {error}", path.display())))
}

fn print_harvest(harvest: &Harvest) {
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

/// URLs that could not be had through no fault of theirs.
fn has_losses(report: &Report) -> bool {
    ["server-error", "no-connection", "timeout", "broken-answer", "robots-unreachable"]
        .iter()
        .any(|name| report.outcomes.contains_key(name))
}

fn bad_seed(plan: &Plan, report: &Report) -> Failure {
    let outcomes: Vec<String> = report.outcomes.iter().map(|(name, count)| format!("{count} {name}")).collect();
    let seeds = if plan.seeds.len() == 1 { plan.seeds[0].to_string() } else { format!("{} seeds", plan.seeds.len()) };
    let failure = Failure::new(format!("bad seed: {seeds} gave no page ({})", outcomes.join(", ")));
    if report.outcomes.contains_key("blocked-address") {
        return failure.hint("`--allow-private` lets a crawl reach addresses that are not public");
    }
    failure.hint("check that the URL opens in a browser; `--fresh` asks again")
}

fn plan(args: &Args) -> Result<Plan, Failure> {
    let seeds = seeds(args)?;
    let patterns = |texts: &[String]| texts.iter().map(Pattern::new).collect();
    let scope = Scope::new(args.scope.clone(), &seeds, patterns(&args.include), patterns(&args.exclude));
    let mut plan = Plan::new(seeds, scope);
    plan.limits = Limits { pages: args.pages, depth: args.depth, time: args.time, bytes: args.bytes };
    plan.politeness.delay = args.delay;
    plan.politeness.per_address = args.per_ip;
    plan.politeness.robots = !args.ignore_robots;
    plan.politeness.nofollow = args.nofollow;
    plan.politeness.noindex = args.noindex;
    plan.politeness.sitemaps = !args.no_sitemaps;
    plan.identity = Identity::new(&args.user_agent, args.contact.as_deref());
    plan.answers.max_bytes = usize::try_from(args.max_body).unwrap_or(usize::MAX);
    plan.answers.max_time = args.timeout;
    plan.answers.any_type = args.any_type;
    plan.network.overrides = args.resolve.clone();
    plan.network.allow_private = args.allow_private;
    plan.network.proxy = args.proxy.clone();
    plan.network.credentials = args.auth.iter().cloned().collect::<HashMap<_, _>>();
    plan.slots = args.slots.max(1);
    plan.attempts = args.attempts.max(1);
    Ok(plan)
}

fn seeds(args: &Args) -> Result<Vec<Url>, Failure> {
    let mut texts = args.urls.clone();
    if let Some(path) = &args.seeds {
        let text = fs::read_to_string(path)
            .map_err(|error| Failure::usage(format!("{}: cannot read the seeds: {error}", path.display())))?;
        texts.extend(
            text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')).map(String::from),
        );
    }
    let mut seeds = Vec::with_capacity(texts.len());
    for text in &texts {
        let url = parse_seed(text).and_then(canonicalize).ok_or_else(|| {
            Failure::usage(format!("bad seed: {text:?} is not an http or https URL"))
                .hint("a seed looks like https://example.org/")
        })?;
        seeds.push(url);
    }
    if seeds.is_empty() {
        return Err(Failure::usage("bad seed: no seed was given").hint("name a URL, or a file with `--seeds FILE`"));
    }
    Ok(seeds)
}

fn shard_options(args: &Args) -> WriterOptions {
    let format = if args.shard_format == "warc.gz" { Format::Gzip } else { Format::Zstd };
    let mut options = WriterOptions::new(format);
    options.shard_bytes = args.shard_size;
    if let Some(level) = args.level {
        options.level = level;
    }
    options
}

/// Removes what a crawl wrote, and nothing else.
fn start_anew(folder: &Path) -> Result<(), Failure> {
    for name in ["frontier", "pages"] {
        let path = folder.join(name);
        if path.exists() {
            fs::remove_dir_all(&path).map_err(|error| Failure::new(format!("{}: {error}", path.display())))?;
        }
    }
    for name in ["report.json", "topic.json"] {
        let _ = fs::remove_file(folder.join(name));
    }
    Ok(())
}

/// Holds the folder against another crawl for as long as the file is open.
fn lock(folder: &Path) -> Result<fs::File, Failure> {
    let path = folder.join("lock");
    let file = fs::File::create(&path).map_err(|error| Failure::new(format!("{}: {error}", path.display())))?;
    file.try_lock().map_err(|_| {
        Failure::new(format!("{} is in use by another crawl", folder.display()))
            .hint("wait for it to end, or choose another folder")
    })?;
    Ok(file)
}

/// Ready at the first Ctrl-C; a second one ends the process at once. What was settled is safe either way.
async fn interrupted(quiet: bool) {
    stop_asked().await;
    if !quiet {
        eprintln!("\nstopping: requests on their way may end; again to stop at once");
    }
    tokio::spawn(async {
        stop_asked().await;
        std::process::exit(130);
    });
}

async fn stop_asked() {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut terminate) = signal(SignalKind::terminate()) else { return std::future::pending().await };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = terminate.recv() => {}
    }
}

/// The live line: redrawn on a terminal, a plain line every ten seconds elsewhere.
struct Display {
    quiet: bool,
    is_terminal: bool,
    shown: Option<Instant>,
}

impl Display {
    fn new(quiet: bool) -> Display {
        let is_terminal = std::io::stderr().is_terminal();
        Display { quiet, is_terminal, shown: (!is_terminal).then(Instant::now) }
    }

    fn show(&mut self, status: &Status) {
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

    fn clear(&self) {
        if self.is_terminal && self.shown.is_some() {
            eprint!("\r\x1b[K");
        }
    }
}

fn print_report(report: &Report) {
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

fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let value: f64 = digits.parse().map_err(|_| "expected a time such as 500ms, 30s, 5m or 2h".to_owned())?;
    let factor = match &text[digits.len()..] {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        unit => return Err(format!("{unit:?} is no unit of time: use ms, s, m, h or d")),
    };
    Duration::try_from_secs_f64(value * factor).map_err(|error| error.to_string())
}

fn delay(text: &str) -> Result<Delay, String> {
    if text == "auto" { Ok(Delay::default()) } else { duration(text).map(Delay::Fixed) }
}

fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "expected a share from 0 to 1, such as 0.02".to_owned())
}

fn size(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let value: f64 = digits.parse().map_err(|_| "expected a size such as 500k, 20M or 2G".to_owned())?;
    let factor = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "k" | "kb" => 1e3,
        "m" | "mb" => 1e6,
        "g" | "gb" => 1e9,
        "t" | "tb" => 1e12,
        unit => return Err(format!("{unit:?} is no unit of size: use k, M, G or T")),
    };
    if value < 0.0 { Err("a size is not negative".to_owned()) } else { Ok((value * factor) as u64) }
}

fn credential(text: &str) -> Result<(String, (String, String)), String> {
    let (host, both) = text.split_once('=').ok_or("expected HOST=USER:PASSWORD")?;
    let (user, password) = both.split_once(':').ok_or("expected HOST=USER:PASSWORD")?;
    Ok((host.to_ascii_lowercase(), (user.to_owned(), password.to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_sizes_have_units() {
        assert_eq!(duration("30s"), Ok(Duration::from_secs(30)));
        assert_eq!(duration("1.5h"), Ok(Duration::from_secs(5400)));
        assert_eq!(duration("250ms"), Ok(Duration::from_millis(250)));
        assert!(duration("soon").is_err() && duration("3 weeks").is_err() && duration("-1s").is_err());
        assert_eq!(size("10M"), Ok(10_000_000));
        assert_eq!(size("77"), Ok(77));
        assert!(size("-5").is_err() && size("5 apples").is_err());
        assert_eq!(delay("0s"), Ok(Delay::Fixed(Duration::ZERO)));
        assert_eq!(delay("auto"), Ok(Delay::default()));
    }
}
