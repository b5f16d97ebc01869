//! `pith crawl`: seeds become page shards.

mod flags;
mod plan;
mod report;

use std::fs;
use std::path::Path;

use pith_crawler::{Explore, Frontier, LocalFrontier, LocalOptions, Plan, Report, Stop};

pub use self::flags::Args;
use self::plan::{order, plan, refresh, shard_options};
use self::report::{Display, account, print_harvest, print_report, save_topic};
use crate::exit::{Exit, Failure};
use crate::sink::Shards;

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
