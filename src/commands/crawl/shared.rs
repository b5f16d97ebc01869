//! `pith crawl --frontier`: one worker of a crawl that several machines share. What the crawl knows is on the server,
//! what this worker fetches is in its own folder.

use std::io::Read;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use pith_corpus::atomic_file::write_atomically;
use pith_corpus::folder::{FolderKind, OwnedFolder};
use pith_corpus::warc::{self, ShardPosition};
use pith_crawler::{
    Control, CrawlSettings, Frontier, OpenFiles, Plan, RedisAddress, RedisFrontier, RedisOptions, Report, Stop,
    WorkerId,
};
use xxhash_rust::xxh3::xxh3_64;

use super::flags::Args;
use super::plan::{order, plan, shard_options};
use super::repair::Folders;
use super::report::{Display, advise, print_report, save_topic};
use super::{bad_seed, failure, has_losses, stop_when_told};
use crate::exit::{Exit, Failure};
use crate::sink::Shards;

/// What a worker writes in its folder.
const NAMES: [&str; 4] = ["pages/", "report.json", "topic.json", WORKER_NAME];
/// The file with the name of the worker that a folder belongs to.
const WORKER_NAME: &str = "worker";
/// How much longer than a request a lease lasts, unless told otherwise.
const LEASE_MARGIN: std::time::Duration = std::time::Duration::from_secs(60);

/// Crawls as one of several workers until nothing is left or a limit is reached.
pub(super) fn run(args: &Args, address: &RedisAddress) -> Result<Exit, Failure> {
    refuse_unshared(args)?;
    let mut plan = plan(args)?;
    let open_files = OpenFiles::raise_limit(plan.slots);
    (plan.slots, plan.network.max_idle) = (open_files.slots, open_files.max_idle);
    let (policy, harvest) = order(args)?;
    let mut folder = OwnedFolder::open(&args.out, FolderKind::Crawl).map_err(failure)?;
    let folders = Folders::of(&args.out);
    if folders.frontier.exists() {
        return Err(Failure::usage(format!("{}: this is a crawl with a frontier of its own", args.out.display()))
            .hint("each worker of a shared crawl has a folder of its own"));
    }
    folder.claim(NAMES).map_err(failure)?;
    let worker = worker_name(args, &args.out.join(WORKER_NAME))?;
    plan.worker = WorkerId::new(&worker);
    let lease_time = args.lease.unwrap_or(args.timeout + LEASE_MARGIN);
    if lease_time <= args.timeout {
        return Err(Failure::usage("`--lease` must be longer than `--timeout`: a request must end before its lease"));
    }
    let options = RedisOptions {
        host_budget: args.per_host.unwrap_or(u64::MAX),
        tracks_depth: plan.limits.depth.is_some(),
        lease_time: Some(lease_time),
        first_rest: plan.politeness.delay.least(),
        allow_volatile: args.allow_volatile,
        ..RedisOptions::new(address.clone(), &worker, policy)
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let frontier = runtime.block_on(RedisFrontier::open(options, &settings(args, &plan)))?;
    let mark = frontier.sink_position();
    folders.check_shards(&mark)?;
    let n_bytes = warc::roll_back(&folders.pages, ShardPosition::from_bytes(&mark))?;
    if n_bytes > 0 && !args.quiet {
        sayln!("{n_bytes} bytes of pages that were never settled are taken back: they are fetched again");
    }
    let sink =
        Shards::open(&folders.pages, shard_options(args), &mark).map_err(|error| folders.shard_failure(error))?;
    if !args.quiet {
        sayln!("worker {worker} joins the crawl {:?}", address.crawl());
    }
    let control = Control::default();
    let signal = Arc::new(OnceLock::new());
    runtime.spawn(stop_when_told(args.quiet, control.clone(), signal.clone()));
    let display = (!args.quiet).then(|| {
        let display = Display::new(args.log.is_on());
        runtime.spawn(display.follow(control.snapshots(), || None))
    });
    let report = runtime.block_on(pith_crawler::crawl(&plan, &frontier, Box::new(sink), mark, &control));
    if let Some(display) = display {
        runtime.block_on(display).expect("the progress line does not panic");
    }
    let report = report?;
    let pending = frontier.gauges().pending;
    drop(frontier);
    runtime.shutdown_background();
    if let Some(harvest) = harvest {
        let harvest = harvest.lock().expect("nothing panics while it holds it").clone();
        save_topic(&args.out.join("topic.json"), &harvest)?;
    }
    let mut json = serde_json::to_value(&report)?;
    json["worker"] = worker.clone().into();
    let json = serde_json::to_string_pretty(&json)?;
    write_atomically(&folder.path().join("report.json"), format!("{json}\n").as_bytes())?;
    tell(args, &report, &json)?;
    if let (Stop::Interrupted, Some(signal)) = (report.stopped, signal.get().copied()) {
        sayln!(
            "stopped by {}: what worker {worker} has settled is safe in {}; the others go on, and the same command joins again",
            signal.name(),
            args.out.display()
        );
        return Ok(Exit::Stopped(signal));
    }
    if report.pages == 0 && report.stopped == Stop::Finished {
        return Err(bad_seed(&plan, &report));
    }
    Ok(if pending == 0 && has_losses(&report) { Exit::Losses } else { Exit::Done })
}

fn tell(args: &Args, report: &Report, json: &str) -> Result<(), Failure> {
    if args.json {
        outln!("{json}");
    } else if !args.quiet {
        outln!("the figures are those of all workers together");
        print_report(report)?;
        advise(report, args);
    }
    Ok(())
}

/// Refuses what a shared frontier cannot do.
fn refuse_unshared(args: &Args) -> Result<(), Failure> {
    for (is_set, flag) in [(args.recrawl, "--recrawl"), (args.repair, "--repair"), (args.fresh, "--fresh")] {
        if is_set {
            return Err(Failure::usage(format!(
                "`{flag}` needs a crawl on one machine: it cannot go with `--frontier`"
            ))
            .hint("another name behind the # of `--frontier` begins another crawl"));
        }
    }
    Ok(())
}

/// The name of this worker: as told, or as the folder had it before, or the host's with a number.
fn worker_name(args: &Args, path: &Path) -> Result<String, Failure> {
    let before = std::fs::read_to_string(path).ok().map(|name| name.trim().to_owned());
    let name = match (&args.worker, before) {
        (Some(name), Some(before)) if *name != before => {
            return Err(Failure::usage(format!("{} belongs to worker {before}, not to {name}", args.out.display()))
                .hint("each worker has a folder of its own"));
        }
        (Some(name), _) => name.clone(),
        (None, Some(before)) => before,
        (None, None) => {
            let mut host = String::new();
            let found = std::fs::File::open("/proc/sys/kernel/hostname");
            let _ = found.and_then(|file| file.take(200).read_to_string(&mut host));
            let host = if host.trim().is_empty() { "worker" } else { host.trim() };
            format!("{host}-{}", std::process::id())
        }
    };
    let is_word = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if name.is_empty() || name.len() > 100 || !name.chars().all(is_word) {
        return Err(Failure::usage(format!("{name:?} is no name of a worker: letters, digits and -_.")));
    }
    write_atomically(path, format!("{name}\n").as_bytes())?;
    Ok(name)
}

/// What belongs to the crawl, so that every worker must have the same.
fn settings(args: &Args, plan: &Plan) -> CrawlSettings {
    let mut seeds: Vec<&str> = plan.seeds.iter().map(url::Url::as_str).collect();
    seeds.sort_unstable();
    seeds.dedup();
    let digest = xxh3_64(seeds.join("\n").as_bytes());
    let optional = |number: Option<u64>| number.map_or("none".to_owned(), |number| number.to_string());
    let pairs = [
        ("seeds", format!("{} with digest {digest:016x}", seeds.len())),
        ("--scope", format!("{:?}", args.scope).to_lowercase()),
        ("--include", args.include.join(" ")),
        ("--exclude", args.exclude.join(" ")),
        ("--depth", optional(args.depth.map(u64::from))),
        ("--pages", optional(args.pages)),
        ("--bytes", optional(args.bytes)),
        ("--per-host", optional(args.per_host)),
        ("--list or --sitemaps-only", format!("{:?}", plan.follow).to_lowercase()),
        ("--no-sitemaps", args.no_sitemaps.to_string()),
        ("--nofollow", args.nofollow.to_string()),
        ("--noindex", args.noindex.to_string()),
        ("--any-type", args.any_type.to_string()),
        ("--ignore-robots", args.ignore_robots.to_string()),
        ("--purpose", if args.ignore_preferences { "any".to_owned() } else { args.purpose.name().to_owned() }),
        ("--delay", format!("{:?} {:?}", plan.politeness.delay, plan.politeness.host_delays)),
        ("--user-agent", plan.identity.user_agent.clone()),
        ("--attempts", plan.attempts.to_string()),
        ("--topic-words", args.topic_words.clone().unwrap_or_default()),
    ];
    pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
