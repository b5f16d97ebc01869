//! `pith eval ordering`: the crawler's policies over a stored graph.

use std::path::{Path, PathBuf};

use pith_corpus::atomic_file::write_atomically;
use pith_corpus::folder::{FolderKind, OwnedFolder};
use pith_crawler::{DEFAULT_EXPLORE, Explore, ORDER_NAMES, order_named};
use pith_eval::ordering::{Comparison, Focused, Graph, Row, SimulationConfig, compare, focus, plot};

use crate::commands::corpus::failure;
use crate::exit::{Exit, Failure};

/// Compare crawl orders on a stored graph: how much PageRank, or how much of a topic, comes early.
#[derive(clap::Args, Debug)]
#[command(
    before_help = "Examples:\n  pith eval ordering --graph graphs/webkb\n  pith eval ordering --graph graphs/webkb --topic course,faculty --json"
)]
pub struct Args {
    /// Folder with edges.tsv[.zst] and urls.txt[.zst], and labels.txt and anchors.jsonl where there are any
    #[arg(long, value_name = "DIR")]
    graph: PathBuf,
    /// Random seed pages for each run [default: the graph's portal if it has one, else 10]
    #[arg(long, value_name = "N")]
    seeds: Option<usize>,
    /// Runs with other seeds, of which the mean is given
    #[arg(long, value_name = "N", default_value_t = SimulationConfig::default().n_runs)]
    runs: usize,
    /// Policies to compare
    #[arg(long, value_delimiter = ',', default_values = ORDER_NAMES)]
    policies: Vec<String>,
    /// Pages fetched at once in the polite runs, never two of one host
    #[arg(long, value_name = "N", default_value_t = SimulationConfig::default().slots)]
    slots: usize,
    /// The share of pages chosen at random, as in a crawl
    #[arg(long, value_name = "SHARE", default_value_t = DEFAULT_EXPLORE)]
    explore: f64,
    /// Focused crawls for these labels instead: recall after a quarter of the pages
    #[arg(long, value_name = "LABEL", value_delimiter = ',')]
    topic: Vec<String>,
    /// Write the curves there, as ordering.svg and ordering.json
    #[arg(long, value_name = "DIR", conflicts_with = "topic")]
    out: Option<PathBuf>,
    /// One JSON object on stdout instead of a table
    #[arg(long)]
    json: bool,
}

/// Simulates every policy and prints the table.
pub fn run(args: Args) -> Result<Exit, Failure> {
    if let Some(name) = args.policies.iter().find(|name| order_named(name).is_none()) {
        return Err(
            Failure::usage(format!("no policy {name:?}")).hint(format!("use any of {}", ORDER_NAMES.join(", ")))
        );
    }
    if args.runs == 0 || args.seeds == Some(0) || args.slots == 0 {
        return Err(Failure::usage("--runs, --seeds and --slots must be more than zero"));
    }
    let graph = Graph::read(&args.graph)?;
    let config = SimulationConfig {
        n_seeds: args.seeds,
        n_runs: args.runs,
        policies: args.policies,
        slots: args.slots,
        explore: Explore { share: args.explore, seed: 0 },
    };
    if !args.topic.is_empty() {
        if !graph.has_labels() {
            return Err(Failure::new(format!("{}: no labels.txt, so there is no topic", args.graph.display())));
        }
        return print_focused(&focus(&graph, &args.topic, &config), args.json);
    }
    let folder = args.out.as_deref().map(open_folder).transpose()?;
    let comparison = compare(&graph, &config);
    if let Some(folder) = folder {
        write_curves(&folder, &comparison, &args.graph.display().to_string())?;
    }
    if args.json {
        outln!("{}", serde_json::to_string(&comparison)?);
    } else {
        print_table(&comparison)?;
    }
    Ok(Exit::Done)
}

/// Opens the folder for the curves, before anything is computed.
fn open_folder(path: &Path) -> Result<OwnedFolder, Failure> {
    let mut folder = OwnedFolder::open(path, FolderKind::Evaluation).map_err(failure)?;
    folder.claim(["ordering.svg", "ordering.json"]).map_err(failure)?;
    Ok(folder)
}

fn write_curves(folder: &OwnedFolder, comparison: &Comparison, title: &str) -> Result<(), Failure> {
    let json = serde_json::to_string_pretty(comparison)?;
    for (name, text) in [("ordering.svg", plot(comparison, title)), ("ordering.json", json)] {
        write_atomically(&folder.path().join(name), text.as_bytes()).map_err(failure)?;
    }
    Ok(())
}

fn print_table(comparison: &Comparison) -> Result<(), Failure> {
    let Comparison { pages, edges, hosts, reached, runs, .. } = comparison;
    outln!("{pages} pages, {edges} links, {hosts} hosts; {reached:.0} reached; mean of {runs} runs");
    outln!(
        "PageRank gathered at 10, 25 and 50 % of the pages, area under the curve and its ratios; then with pacing\n"
    );
    outln!(
        "{:14} {:>6} {:>6} {:>6} {:>7} {:>8} {:>8} {:>7}   {:>6} {:>6} {:>6} {:>7} {:>7}",
        "policy",
        "10 %",
        "25 %",
        "50 %",
        "area",
        "/breadth",
        "/greedy",
        "/bound",
        "10 %",
        "25 %",
        "50 %",
        "area",
        "rounds"
    );
    for row in comparison.policies.iter().chain(&comparison.references) {
        outln!("{}", line(row));
    }
    Ok(())
}

fn line(row: &Row) -> String {
    let at =
        |at: &std::collections::BTreeMap<String, f64>| format!("{:6.3} {:6.3} {:6.3}", at["10"], at["25"], at["50"]);
    let polite = row.polite.as_ref().map_or(String::new(), |polite| {
        format!("   {} {:7.4} {:7.2}", at(&polite.at), polite.auc, polite.rounds_to_ideal)
    });
    format!(
        "{:14} {} {:7.4} {:8.3} {:8.3} {:7.3}{polite}",
        row.policy,
        at(&row.at),
        row.auc,
        row.auc_to_breadth,
        row.auc_to_greedy,
        row.auc_to_bound
    )
}

fn print_focused(rows: &[Focused], json: bool) -> Result<Exit, Failure> {
    if json {
        outln!("{}", serde_json::json!({ "topic": rows }));
        return Ok(Exit::Done);
    }
    outln!("share of the topic's pages found in the first quarter of the crawl\n");
    let labels = rows.first().map(|row| row.recall_at_25.keys().cloned().collect::<Vec<_>>()).unwrap_or_default();
    let heads: String = labels.iter().map(|label| format!(" {label:>10}")).collect();
    outln!("{:16}{heads} {:>8} {:>8}", "model", "mean", "harvest");
    for row in rows {
        let recalls: String = labels.iter().map(|label| format!(" {:10.3}", row.recall_at_25[label])).collect();
        outln!("{:16}{recalls} {:8.3} {:8.3}", row.model, row.mean, row.harvest_rate);
    }
    Ok(Exit::Done)
}
