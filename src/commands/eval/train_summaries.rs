//! `pith eval train-summaries`: the weights of the default ranking, and their scores on unseen sets.

use std::fmt::Write as _;
use std::path::PathBuf;

use pith_corpus::atomic_file::replace_named_file;
use pith_eval::summaries::{FitConfig, FitReport, fit_weights, weights_source};

use crate::commands::corpus::failure;
use crate::exit::{Exit, Failure};

/// The arguments of `pith eval train-summaries`.
#[derive(clap::Args, Debug)]
#[command(before_help = "Examples:
  pith eval train-summaries --data sets --descriptions gold
  pith eval train-summaries --data sets --descriptions gold --out extractor/src/rank/weights.rs")]
pub struct Args {
    /// The folder of sets, as `pith eval summaries` reads them
    #[arg(long, value_name = "DIR")]
    pub data: PathBuf,
    /// Gold pages: articles with the description that their page gives are one more set
    #[arg(long, value_name = "DIR")]
    pub descriptions: Option<PathBuf>,
    /// Write the weights here, as source; the same sets give the same bytes
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Fit to at most this many documents of each set
    #[arg(long, value_name = "N", default_value_t = FitConfig::default().sample)]
    pub sample: usize,
    /// The penalty, in points of ROUGE, on moving one weight by its whole scale
    #[arg(long, alias = "pull", value_name = "POINTS", default_value_t = FitConfig::default().penalty)]
    pub penalty: f64,
    /// Print the report as JSON
    #[arg(long)]
    pub json: bool,
}

/// Fits, compares, prints, writes.
pub fn run(args: Args) -> Result<Exit, Failure> {
    let config = FitConfig { sample: args.sample, penalty: args.penalty };
    let report = fit_weights(&args.data, args.descriptions.as_deref(), &config)?;
    if let Some(path) = &args.out {
        let source = weights_source(&report.fitted);
        replace_named_file(path, source.as_bytes()).map_err(failure)?;
    }
    match args.json {
        true => super::print(&format!("{}\n", serde_json::to_string(&report)?)),
        false => super::print(&table(&report)),
    }
}

fn table(report: &FitReport) -> String {
    let mut text = String::new();
    for (name, result) in report.lengths.iter().rev() {
        let _ = write!(text, "{name}\n{:<14} {:>6} {:>30}", "method", "mean", "left out ahead by (95 %) p");
        report.documents.iter().for_each(|(set, n)| {
            let _ = write!(text, "  {:>18}", format!("{set} ({n})"));
        });
        let _ = write!(text, "\n{:<14} {:>6.2} {:>30}", "left out", result.left_out, "");
        result.left_out_sets.values().for_each(|value| {
            let _ = write!(text, "  {value:>18.2}");
        });
        for ranking in &result.compared {
            let lead = ranking.left_out_ahead;
            let ahead = format!("{:+.2} ({:+.2} to {:+.2}) {:.3}", lead.by, lead.low, lead.high, lead.p);
            let _ = write!(text, "\n{:<14} {:>6.2} {ahead:>30}", ranking.name, ranking.mean);
            ranking.sets.values().for_each(|value| {
                let _ = write!(text, "  {value:>18.2}");
            });
        }
        text.push_str("\n\n");
    }
    let _ = write!(text, "{:<20} {:>8}", "weight", "all sets");
    report.weights_without.keys().for_each(|set| {
        let _ = write!(text, "  {:>20}", format!("without {set}"));
    });
    for (name, value) in &report.weights {
        let _ = write!(text, "\n{name:<20} {value:>8.2}");
        report.weights_without.values().for_each(|weights| {
            let _ = write!(text, "  {:>20.2}", weights[name]);
        });
    }
    text.push('\n');
    text
}
