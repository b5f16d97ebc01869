//! `pith eval freshness`: policies for asking again, over pages that change at random.

use pith_eval::freshness::{Policy, SimulationConfig, simulate};

use crate::exit::{Exit, Failure};

/// Compare ways to keep pages fresh, at an equal budget of requests.
#[derive(clap::Args, Debug)]
#[command(before_help = "Examples:\n  pith eval freshness\n  pith eval freshness --decades 6 --budget 0.5 --json")]
pub struct Args {
    /// Pages, with rates of change spread evenly over the decades
    #[arg(long, default_value_t = SimulationConfig::default().n_pages)]
    pages: usize,
    /// Decades between the slowest and the fastest page
    #[arg(long, default_value_t = SimulationConfig::default().n_decades)]
    decades: u32,
    /// Requests per page in the time in which the middle page changes once
    #[arg(long, default_value_t = SimulationConfig::default().budget)]
    budget: f64,
    /// One JSON object on stdout instead of a table
    #[arg(long)]
    json: bool,
}

/// Runs every policy and prints the freshness it reached.
pub fn run(args: Args) -> Result<Exit, Failure> {
    if args.pages == 0 || args.decades > 12 || !(args.budget > 0.0 && args.budget.is_finite()) {
        return Err(Failure::usage("--pages and --budget must be more than zero, --decades at most 12"));
    }
    let config = SimulationConfig {
        n_pages: args.pages,
        n_decades: args.decades,
        budget: args.budget,
        ..SimulationConfig::default()
    };
    let kept: Vec<_> = Policy::ALL.iter().map(|policy| simulate(config, *policy)).collect();
    if args.json {
        outln!("{}", serde_json::json!({ "policies": kept }));
        return Ok(Exit::Done);
    }
    outln!("{:20} {:>6}", "policy", "fresh");
    for row in kept {
        let name = serde_json::to_value(row.policy)?;
        outln!("{:20} {:6.3}", name.as_str().unwrap_or(""), row.fresh);
    }
    Ok(Exit::Done)
}
