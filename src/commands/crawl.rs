//! `pith crawl`: seeds become page shards.

mod flags;
mod plan;
mod reach;
mod repair;
mod report;
mod seeds;
#[cfg(feature = "redis")]
mod shared;

use std::sync::{Arc, OnceLock};

use pith_corpus::Error;
use pith_corpus::atomic_file::write_atomically;
use pith_corpus::folder::{FolderKind, OwnedFolder};
use pith_corpus::warc::is_shard_name;
use pith_crawler::{
    Control, Explore, Frontier, LocalFrontier, LocalOptions, OpenFiles, Plan, Report, Sink, Stop, is_frontier_file,
    max_hosts,
};

pub use self::flags::{Args, duration, size, user_agent};
use self::plan::{order, plan, refresh, shard_options};
use self::reach::{REACH_NAME, take_up};
use self::repair::Folders;
pub use self::report::format_size;
use self::report::{Display, advise, print_harvest, print_report, print_resting, report_json, save_topic};
use super::corpus::failure;
use crate::exit::{Exit, Failure};
use crate::signal::Signal;
use crate::sink::Shards;

/// What a crawl writes in its folder.
const NAMES: [&str; 6] = ["frontier/", "frontier/contents/", "pages/", "report.json", "topic.json", REACH_NAME];

/// Crawls until nothing is left or a limit is reached.
pub fn run(args: Args) -> Result<Exit, Failure> {
    args.log.start();
    #[cfg(feature = "redis")]
    if let Some(address) = &args.frontier {
        return shared::run(&args, address);
    }
    let folders = Folders::of(&args.out);
    if args.is_repair_only() {
        let mut folder = OwnedFolder::open(&args.out, FolderKind::Crawl).map_err(failure)?;
        folder.claim(NAMES).map_err(failure)?;
        folders.repair(&mut folder, args.quiet)?;
        return Ok(Exit::Done);
    }
    let mut plan = plan(&args)?;
    if args.ignore_preferences {
        sayln!("warning: what owners reserve is fetched and stored (`--ignore-preferences`): only for your own hosts");
    }
    let open_files = OpenFiles::raise_limit(plan.slots);
    (plan.slots, plan.network.max_idle) = (open_files.slots, open_files.max_idle);
    let (order, harvest) = order(&args)?;
    let mut folder = OwnedFolder::open(&args.out, FolderKind::Crawl).map_err(failure)?;
    if args.fresh {
        remove_previous_crawl(&mut folder).map_err(failure)?;
    }
    folder.claim(NAMES).map_err(failure)?;
    let options = LocalOptions {
        host_budget: args.per_host.unwrap_or(u64::MAX),
        first_rest: plan.politeness.delay.least(),
        explore: Explore { share: args.explore, seed: args.explore_seed },
        refresh: refresh(&args),
        slots: plan.slots,
        tracks_depth: plan.limits.depth.is_some(),
        max_hosts: max_hosts(plan.memory),
        ..LocalOptions::new(order)
    };
    if args.repair {
        folders.repair(&mut folder, args.quiet)?;
    }
    folders.check_frontier()?;
    let damaged = |error| folders.frontier_failure(error);
    let frontier = Arc::new(LocalFrontier::open(&folders.frontier, options).map_err(damaged)?);
    folders.check_shards(&frontier.sink_position())?;
    folders.adopt(&plan, &frontier, args.quiet)?;
    take_up(&args, &plan, &folders, &frontier)?;
    let mark = frontier.sink_position();
    let sink =
        Shards::open(&folders.pages, shard_options(&args), &mark).map_err(|error| folders.shard_failure(error))?;
    let (report, signal) = crawl(&args, &plan, &frontier, Box::new(sink), mark)?;
    let report = report.map_err(damaged)?;
    frontier.checkpoint()?;
    let mut harvest = harvest.map(|harvest| harvest.lock().expect("nothing panics while it holds it").clone());
    if let Some(harvest) = &mut harvest {
        harvest.terms.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    }
    let json = serde_json::to_string_pretty(&report_json(&report, &frontier, harvest.as_ref(), &args)?)?;
    if let Some(harvest) = &harvest {
        save_topic(&args.out.join("topic.json"), harvest)?;
    }
    write_atomically(&folder.path().join("report.json"), format!("{json}\n").as_bytes())?;
    if args.json {
        outln!("{json}");
    } else if !args.quiet {
        print_report(&report)?;
        print_resting(frontier.next_resting_host())?;
        advise(&report, &args);
        if args.recrawl {
            let (asked, changed) = frontier.refreshed();
            outln!("{asked} pages were asked for again, {changed} of them had changed");
        }
        if let Some(harvest) = &harvest {
            print_harvest(harvest)?;
        }
    }
    if let (Stop::Interrupted, Some(signal)) = (report.stopped, signal) {
        sayln!(
            "stopped by {}: {} pages and {} waiting URLs are safe in {}; the same command goes on",
            signal.name(),
            report.pages,
            report.pending,
            args.out.display()
        );
        return Ok(Exit::Stopped(signal));
    }
    if report.pages == 0 && report.stopped == Stop::Finished {
        return Err(bad_seed(&plan, &report));
    }
    Ok(if frontier.gauges().pending == 0 && has_losses(&report) { Exit::Losses } else { Exit::Done })
}

/// Runs the crawl with its progress line; gives its report and the signal that stopped it.
fn crawl(
    args: &Args,
    plan: &Plan,
    frontier: &Arc<LocalFrontier>,
    sink: Box<dyn Sink>,
    mark: Vec<u8>,
) -> Result<(Result<Report, pith_crawler::Error>, Option<Signal>), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let control = Control::default();
    let signal = Arc::new(OnceLock::new());
    runtime.spawn(stop_when_told(args.quiet, control.clone(), signal.clone()));
    let display = (!args.quiet).then(|| {
        let display = Display::new(args.log.is_on());
        let frontier = frontier.clone();
        runtime.spawn(display.follow(control.snapshots(), move || frontier.next_resting_host()))
    });
    let report = runtime.block_on(pith_crawler::crawl(plan, &**frontier, sink, mark, &control));
    if let Some(display) = display {
        runtime.block_on(display).expect("the progress line does not panic");
    }
    // Look-ups of names that nobody answers would hold the end up.
    runtime.shutdown_background();
    Ok((report, signal.get().copied()))
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

/// Removes what a crawl wrote, and nothing else. The folder is locked: no crawl is running.
fn remove_previous_crawl(folder: &mut OwnedFolder) -> Result<(), Error> {
    let reports = ["report.json", "topic.json", REACH_NAME].into_iter().filter(|name| folder.has_claimed(name));
    let reports: Vec<&str> = reports.collect();
    folder.remove(reports.iter().copied())?;
    // The frontier goes first: pages without a frontier are noticed by the next run, a frontier without its pages is not.
    for name in
        ["frontier/contents/", "frontier/"].into_iter().filter(|name| folder.has_claimed(name)).collect::<Vec<_>>()
    {
        folder.remove_below(name, is_frontier_file)?;
    }
    if folder.has_claimed("pages/") {
        folder.remove_below("pages/", is_shard_name)?;
    }
    Ok(())
}

/// Stops the crawl at the first Ctrl-C; a second one ends the process at once. What was settled is safe either way.
async fn stop_when_told(quiet: bool, control: Control, told: Arc<OnceLock<Signal>>) {
    let first = Signal::next().await;
    let _ = told.set(first);
    control.stop();
    if !quiet {
        sayln!("\nstopping: requests on their way may end; again to stop at once");
    }
    let second = Signal::next().await;
    std::process::exit(second.code().into());
}
