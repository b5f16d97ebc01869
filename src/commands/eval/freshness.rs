//! `pith eval freshness`: policies for asking again, over pages that change by chance.

use pith_eval::freshness::{Policy, Setting, simulate};

use crate::exit::{Exit, Failure};

/// Compare ways to keep pages fresh, at an equal budget of requests.
#[derive(clap::Args, Debug)]
#[command(before_help = "Examples:\n  pith eval freshness\n  pith eval freshness --decades 6 --budget 0.5 --json")]
pub struct Args {
    /// Pages, with rates of change spread evenly over the decades
    #[arg(long, default_value_t = 400)]
    pages: usize,
    /// Decades between the slowest and the fastest page
    #[arg(long, default_value_t = 4)]
    decades: u32,
    /// Requests per page in the time in which the middle page changes once
    #[arg(long, default_value_t = 1.0)]
    budget: f64,
    /// One JSON object on stdout instead of a table
    #[arg(long)]
    json: bool,
}

/// Runs every policy and prints what it kept fresh.
pub fn run(args: Args) -> Result<Exit, Failure> {
    if args.pages == 0 || args.decades > 12 || !(args.budget > 0.0 && args.budget.is_finite()) {
        return Err(Failure::usage("--pages and --budget must be more than zero, --decades at most 12"));
    }
    let setting = Setting { n_pages: args.pages, n_decades: args.decades, budget: args.budget, ..Setting::default() };
    let kept: Vec<_> = Policy::ALL.iter().map(|policy| simulate(setting, *policy)).collect();
    if args.json {
        println!("{}", serde_json::json!({ "policies": kept }));
        return Ok(Exit::Done);
    }
    println!("{:20} {:>6}", "policy", "fresh");
    for row in kept {
        let name = serde_json::to_value(row.policy)?;
        println!("{:20} {:6.3}", name.as_str().unwrap_or(""), row.fresh);
    }
    Ok(Exit::Done)
}
