//! `pith eval summaries`: every ranking, and any peer, against reference summaries, or side by side on pages of one's own.

mod own_pages;
mod provenance;
mod sheets;

use std::path::PathBuf;

use pith_corpus::atomic_file::replace_named_file;
use pith_eval::peer::Peer;
use pith_eval::report::{own_page, summaries_page};
use pith_eval::sheet::Sheet;
use pith_eval::summaries::{EvaluationConfig, compare, evaluate, in_gold};
use pith_extractor::Method;
use serde_json::Value;

use super::predictions::Predictions;
use crate::commands::corpus::failure;
use crate::exit::{Exit, Failure};

/// The arguments of `pith eval summaries`.
#[derive(clap::Args, Debug)]
#[command(before_help = "Examples:
  pith eval summaries --data sets --methods pith,lead,textrank
  pith eval summaries --pages crawl --methods pith,lead,textrank --page compared.html
  pith eval summaries --data sets --peer 'sumy=python3 sumy_peer.py lexrank' --json > report.json")]
pub struct Args {
    /// The folder of sets: NAME.jsonl[.zst] with {id, lang, title, text or sentences, summary or summaries} on each line
    #[arg(long, value_name = "DIR", required_unless_present = "pages")]
    pub data: Option<PathBuf>,
    /// Compare on your own pages, without references: crawls, archives, .html files or folders of documents
    #[arg(long, value_name = "INPUT", num_args = 1.., conflicts_with = "data")]
    pub pages: Vec<PathBuf>,
    /// The rankings to compare, the first with all others; all of them where none is named
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub methods: Vec<Method>,
    /// Another program as a method: it reads {id, lang, title, sentences} on each line and answers {id, ranking}, the
    /// numbers of sentences, or {id, summary}, a finished text
    #[arg(long = "peer", value_name = "NAME=COMMAND")]
    pub peers: Vec<Peer>,
    /// Another program as a measure: it reads {id, lang, title, source, references, summary} on each line and answers
    /// {id, value}
    #[arg(long = "metric", value_name = "NAME=COMMAND")]
    pub metrics: Vec<Peer>,
    /// Score only the first N documents of each set
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    /// Gold pages: articles with the description that their page gives are one more set
    #[arg(long, value_name = "DIR", conflicts_with = "pages")]
    pub descriptions: Option<PathBuf>,
    /// Write every summary to DIR/NAME.jsonl as {id, method, budget, picks, text, rouge, measures}
    #[arg(long, value_name = "DIR", conflicts_with = "pages")]
    pub predictions: Option<PathBuf>,
    /// Also rank whole pages of these gold sets and count the picks inside their main text
    #[arg(long, value_name = "DIR", conflicts_with = "pages")]
    pub gold: Option<PathBuf>,
    /// How many pages of each gold set are ranked
    #[arg(long, value_name = "N", default_value_t = 40)]
    pub pages_per_set: usize,
    /// Write a page with plots and examples
    #[arg(long, value_name = "FILE")]
    pub page: Option<PathBuf>,
    /// How the report is printed
    #[arg(long, value_enum, default_value_t = FormatArg::Text)]
    pub format: FormatArg,
    /// Print the report as JSON
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
}

/// How a report is printed.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormatArg {
    /// Columns for a terminal.
    Text,
    /// Everything, as one object.
    Json,
    /// A row for every method, length and set.
    Csv,
    /// Tables of Markdown.
    Markdown,
    /// Tables of LaTeX (booktabs).
    Latex,
}

/// Scores, prints, writes.
pub fn run(args: Args) -> Result<Exit, Failure> {
    let methods = if args.methods.is_empty() { Method::ALL.to_vec() } else { args.methods.clone() };
    let config = EvaluationConfig {
        methods,
        peers: args.peers.clone(),
        metrics: args.metrics.clone(),
        limit: args.limit,
        pages: args.descriptions.clone(),
    };
    match &args.data {
        Some(data) => run_sets(data.clone(), &args, &config),
        None => run_own_pages(&args, &config),
    }
}

fn run_sets(data: PathBuf, args: &Args, config: &EvaluationConfig) -> Result<Exit, Failure> {
    let mut predictions = Predictions::open(args.predictions.as_deref())?;
    let report =
        evaluate(&data, config, &mut |set, prediction| predictions.write(&format!("{set}.jsonl"), &prediction))?;
    predictions.finish()?;
    let in_gold = match &args.gold {
        Some(folder) => in_gold(folder, &config.methods, args.pages_per_set)?,
        None => Vec::new(),
    };
    write_page(args, || summaries_page(&report, &in_gold))?;
    let mut value = serde_json::to_value(&report)?;
    value["provenance"] = provenance::of_sets(&data)?;
    if !in_gold.is_empty() {
        value["in_gold"] = serde_json::to_value(&in_gold)?;
    }
    print(args, &value, &sheets::of_sets(&report, &in_gold), &sheets::rows_of_sets(&report))
}

fn run_own_pages(args: &Args, config: &EvaluationConfig) -> Result<Exit, Failure> {
    let report = compare(own_pages::read(&args.pages, args.limit)?, config)?;
    write_page(args, || own_page(&report))?;
    let mut value = serde_json::to_value(&report)?;
    value["provenance"] = provenance::of_pages(&args.pages);
    print(args, &value, &sheets::of_own_pages(&report), &sheets::rows_of_own_pages(&report))
}

fn write_page(args: &Args, html: impl FnOnce() -> String) -> Result<(), Failure> {
    match &args.page {
        Some(path) => replace_named_file(path, html().as_bytes()).map_err(failure).map(drop),
        None => Ok(()),
    }
}

/// Prints the whole report, its tables, or its rows.
fn print(args: &Args, report: &Value, tables: &[Sheet], rows: &Sheet) -> Result<Exit, Failure> {
    let format = if args.json { FormatArg::Json } else { args.format };
    let all = |print: fn(&Sheet) -> String| tables.iter().map(print).collect::<Vec<_>>().join("\n");
    super::print(&match format {
        FormatArg::Text => all(Sheet::to_text),
        FormatArg::Json => format!("{report}\n"),
        FormatArg::Csv => rows.to_csv(),
        FormatArg::Markdown => all(Sheet::to_markdown),
        FormatArg::Latex => all(Sheet::to_latex),
    })
}
