//! `pith eval summaries`: every ranking, and any peer, against reference summaries.

use std::collections::BTreeSet;
use std::path::PathBuf;

use pith_corpus::atomic_file::replace_named_file;
use pith_eval::peer::Peer;
use pith_eval::report::summaries_page;
use pith_eval::summaries::{EvaluationConfig, MainTextShare, Prediction, SummariesReport, evaluate, in_gold};
use pith_extractor::Method;

use super::predictions::Predictions;
use crate::commands::corpus::failure;
use crate::exit::{Exit, Failure};

/// The arguments of `pith eval summaries`.
#[derive(clap::Args, Debug)]
#[command(before_help = "Examples:
  pith eval summaries --data sets --methods pith,lead,textrank
  pith eval summaries --data sets --peer 'sumy=python3 sumy_peer.py lexrank' --json > report.json")]
pub struct Args {
    /// The folder of sets: NAME.jsonl[.zst] with {id, lang, title, text or sentences, summary or summaries} on each line
    #[arg(long, value_name = "DIR")]
    pub data: PathBuf,
    /// The rankings to compare, the first with all others; all of them where none is named
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub methods: Vec<Method>,
    /// Another program as a method: it reads {id, lang, title, sentences} on each line and answers {id, ranking}
    #[arg(long = "peer", value_name = "NAME=COMMAND")]
    pub peers: Vec<Peer>,
    /// Score only the first N documents of each set
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    /// Gold pages: articles with the description that their page gives are one more set
    #[arg(long, value_name = "DIR")]
    pub descriptions: Option<PathBuf>,
    /// Write every summary to DIR/NAME.jsonl as {id, method, budget, picks, text}
    #[arg(long, value_name = "DIR")]
    pub predictions: Option<PathBuf>,
    /// Also rank whole pages of these gold sets and count the picks inside their main text
    #[arg(long, value_name = "DIR")]
    pub pages: Option<PathBuf>,
    /// How many pages of each gold set are ranked
    #[arg(long, value_name = "N", default_value_t = 40)]
    pub pages_per_set: usize,
    /// Write a page with plots and examples
    #[arg(long, value_name = "FILE")]
    pub page: Option<PathBuf>,
    /// Print the report as JSON
    #[arg(long)]
    pub json: bool,
}

/// The lengths of which examples are shown, and how many documents of each set.
const EXAMPLE_BUDGET: &str = "3-sentences";
const EXAMPLES_PER_SET: usize = 2;

/// Scores, prints, writes.
pub fn run(args: Args) -> Result<Exit, Failure> {
    let methods = if args.methods.is_empty() { Method::ALL.to_vec() } else { args.methods };
    let config =
        EvaluationConfig { methods: methods.clone(), peers: args.peers, limit: args.limit, pages: args.descriptions };
    let mut predictions = Predictions::open(args.predictions.as_deref())?;
    let mut examples: Vec<(String, Prediction)> = Vec::new();
    let report = evaluate(&args.data, &config, &mut |set, prediction| {
        predictions.write(&format!("{set}.jsonl"), &prediction)?;
        if prediction.budget == EXAMPLE_BUDGET && is_example(&examples, set, &prediction) {
            examples.push((set.to_owned(), prediction));
        }
        Ok(())
    })?;
    predictions.finish()?;
    let in_gold = match &args.pages {
        Some(folder) => in_gold(folder, &methods, args.pages_per_set)?,
        None => Vec::new(),
    };
    if let Some(path) = &args.page {
        examples.sort_by(|a, b| (&a.0, &a.1.id).cmp(&(&b.0, &b.1.id)));
        let html = summaries_page(&report, &in_gold, &examples);
        replace_named_file(path, html.as_bytes()).map_err(failure)?;
    }
    if args.json {
        let mut value = serde_json::to_value(&report)?;
        if !in_gold.is_empty() {
            value["in_gold"] = serde_json::to_value(&in_gold)?;
        }
        super::print(&format!("{value}\n"))
    } else {
        super::print(&table(&report, &in_gold))
    }
}

/// The first documents of a set, with whatever every method makes of them.
fn is_example(examples: &[(String, Prediction)], set: &str, prediction: &Prediction) -> bool {
    let of_set = examples.iter().filter(|example| example.0 == set);
    let ids: BTreeSet<&str> = of_set.map(|example| example.1.id.as_str()).collect();
    ids.len() < EXAMPLES_PER_SET || ids.contains(prediction.id.as_str())
}

fn table(report: &SummariesReport, in_gold: &[MainTextShare]) -> String {
    use std::fmt::Write as _;
    let mut text = String::new();
    for (budget, length) in report.in_order() {
        let _ = write!(
            text,
            "{budget}\n{:<14} {:>6} {:>15} {:>29} {:>9} {:>7} {:>6}",
            "method", "mean", "95 %", "first ahead by (95 %) p", "docs/s", "repeats", "stable"
        );
        report.documents.keys().for_each(|set| {
            let _ = write!(text, "  {set:>14}");
        });
        text.push('\n');
        let mut rows: Vec<_> = length.methods.iter().collect();
        rows.sort_by(|a, b| b.mean.total_cmp(&a.mean));
        for row in rows {
            let interval = format!("{:.2} to {:.2}", row.interval.low, row.interval.high);
            let ahead = row.first_ahead.map_or(String::new(), |lead| {
                format!("{:+.2} ({:+.2} to {:+.2}) {:.3}", lead.by, lead.low, lead.high, lead.p)
            });
            let rate = row.documents_per_second.map_or(String::new(), |rate| format!("{rate:.0}"));
            let stable = row.stability.map_or(String::new(), |share| format!("{share:.2}"));
            let _ = write!(
                text,
                "{:<14} {:>6.2} {interval:>15} {ahead:>29} {rate:>9} {:>7.3} {stable:>6}",
                row.name, row.mean, row.redundancy
            );
            for [one, two, l] in row.sets.values() {
                let _ = write!(text, "  {one:>4.1} {two:>4.1} {l:>4.1}");
            }
            text.push('\n');
        }
        text.push('\n');
    }
    if !in_gold.is_empty() {
        let _ = writeln!(
            text,
            "picks from whole pages inside the main text\n{:<14} {:>6} {:>10}",
            "method", "units", "characters"
        );
        for row in in_gold {
            let _ = writeln!(text, "{:<14} {:>6.3} {:>10.3}", row.name, row.units, row.characters);
        }
    }
    text
}
