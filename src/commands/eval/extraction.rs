//! `pith eval extraction`: main content against gold pages, and its form against the pages themselves.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use pith_corpus::atomic_file::replace_named_file;
use pith_eval::extraction::{
    EvaluationConfig, FIELDS, GroupScore, MethodScore, OURS, PageSet, WorstPages, evaluate_sets, page,
};
use pith_eval::floor::Floors;
use pith_eval::peer::Peer;
use pith_eval::saved::SavedPages;

use super::fidelity;
use super::predictions::Predictions;
use crate::commands::corpus::failure;
use crate::exit::{Exit, Failure};

/// The arguments of `pith eval extraction`.
#[derive(clap::Args, Debug)]
#[command(before_help = "Examples:
  pith eval extraction --data gold --page worst.html
  pith eval extraction --data gold --peer 'resiliparse=python3 bench/peers/resiliparse_peer.py' --json > scores.json
  pith eval extraction --pages /usr/share/doc/git/html --every 10")]
pub struct Args {
    /// The folder of sets, each a folder with pages.jsonl[.zst] and truth.jsonl
    #[arg(long, value_name = "DIR", required_unless_present = "pages")]
    pub data: Option<PathBuf>,
    /// A folder of saved HTML without gold: code, tables, lists, headings and marks are compared with the pages
    #[arg(long, value_name = "DIR", conflicts_with = "floors")]
    pub pages: Vec<PathBuf>,
    /// Another program as a method: it reads {id, url, html} on each line and answers {id, text[, markdown]}
    #[arg(long = "peer", value_name = "NAME=COMMAND")]
    pub peers: Vec<Peer>,
    /// Read one page in N
    #[arg(long, value_name = "N", default_value_t = NonZeroUsize::MIN)]
    pub every: NonZeroUsize,
    /// Write every text to DIR/SET.jsonl as {id, text}, a peer's to DIR/PEER/SET.jsonl, and what is not as on its page to
    /// DIR/misses.jsonl
    #[arg(long, value_name = "DIR")]
    pub predictions: Option<PathBuf>,
    /// Write a page that shows the pages with the lowest scores of each set next to their gold
    #[arg(long, value_name = "FILE")]
    pub page: Option<PathBuf>,
    /// How many pages of each set are shown there
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub worst: usize,
    /// Compare with the scores pinned in this file, and fail when one is lower; reads the same pages
    #[arg(long, value_name = "FILE", conflicts_with_all = ["peers", "page", "predictions", "every"])]
    pub floors: Option<PathBuf>,
    /// Pin the current scores in the file of `--floors`
    #[arg(long, requires = "floors")]
    pub pin: bool,
    /// Print the scores as JSON
    #[arg(long)]
    pub json: bool,
}

/// Reads every gold page, scores it, prints.
pub fn run(args: Args) -> Result<Exit, Failure> {
    if let (Some(path), Some(data)) = (&args.floors, &args.data) {
        return floors(data, path, args.pin);
    }
    let sets = page_sets(args.data.as_deref(), &args.pages)?;
    let config = EvaluationConfig { peers: args.peers, every: args.every, fidelity: true };
    let names: Vec<String> =
        std::iter::once(OURS.to_owned()).chain(config.peers.iter().map(|peer| peer.name.clone())).collect();
    let mut predictions = Predictions::open(args.predictions.as_deref())?;
    let mut worst = WorstPages::new(args.worst);
    let methods = evaluate_sets(&sets, &config, |set, scored| {
        if predictions.are_wanted() {
            fidelity::write_misses(&mut predictions, set, scored, &names)?;
            let set = file_name(set);
            let peers = config.peers.iter().map(|peer| format!("{}/{set}.jsonl", file_name(&peer.name)));
            for (name, text) in std::iter::once(format!("{set}.jsonl")).chain(peers).zip(&scored.texts) {
                predictions.write(&name, &serde_json::json!({ "id": scored.page.id, "text": text }))?;
            }
        }
        if args.page.is_some() {
            worst.add(set, scored);
        }
        Ok(())
    })?;
    predictions.finish()?;
    if let Some(path) = args.page {
        replace_named_file(&path, page(&methods, &worst).as_bytes()).map_err(failure)?;
    }
    if args.data.is_some() {
        sayln!(
            "note: the compiled model was trained on gold pages; on those pages these are not scores of unseen pages \
         (`pith eval train --folds 4` gives them)"
        );
    }
    let text = if args.json { format!("{}\n", json(&methods)) } else { table(&methods) + &fidelity::table(&methods) };
    super::print(&text)
}

/// The sets of gold pages and the folders of saved ones.
fn page_sets(data: Option<&Path>, pages: &[PathBuf]) -> Result<Vec<PageSet>, Failure> {
    let mut sets = data.map(PageSet::all_gold).transpose()?.unwrap_or_default();
    for folder in pages {
        sets.push(PageSet::Saved(SavedPages::open(folder)?));
    }
    Ok(sets)
}

fn floors(gold: &Path, path: &Path, pin: bool) -> Result<Exit, Failure> {
    if pin {
        Floors::measure(gold, Floors::SAMPLE)?.write(path)?;
        return super::print(&format!("{}: pinned\n", path.display()));
    }
    let pinned = Floors::read(path)?;
    let comparison = pinned.compare(&Floors::measure(gold, pinned.every)?);
    for reason in &comparison.skipped {
        sayln!("not compared: {reason}");
    }
    if !comparison.below.is_empty() {
        return Err(Failure::new(format!("below the floor: {}", comparison.below.join("; ")))
            .hint("fix it, or pin the current scores with `--pin` and say why in the commit"));
    }
    super::print(&format!("{} sets at or above their floors\n", comparison.compared.len()))
}

/// A peer's name as the name of a folder.
fn file_name(name: &str) -> String {
    let plain = |character: char| if character.is_alphanumeric() || "-_".contains(character) { character } else { '_' };
    name.chars().map(plain).collect()
}

fn json(methods: &[MethodScore]) -> serde_json::Value {
    let (ours, peers) = methods.split_first().expect("our own extractor is a method");
    let peers: BTreeMap<&str, serde_json::Value> =
        peers.iter().map(|peer| (peer.name.as_str(), serde_json::json!({ "sets": peer.sets }))).collect();
    match peers.is_empty() {
        true => serde_json::json!({ "sets": ours.sets }),
        false => serde_json::json!({ "sets": ours.sets, "peers": peers }),
    }
}

fn table(methods: &[MethodScore]) -> String {
    let mut out = String::new();
    for method in methods {
        let _ = writeln!(
            out,
            "{:<28} {:>6}  {:>22}  {:>8}  {:>8}  {:>8}  ours ahead by",
            method.name, "pages", "words F1 (95 %)", "shingles", "ROUGE-L", "snippets"
        );
        for (name, set) in &method.sets {
            line(&mut out, name, &set.all);
            for (kind, group) in set.page_types.iter().filter(|_| set.page_types.len() > 1) {
                line(&mut out, &format!("  {kind}"), group);
            }
            let several = set.languages.len() > 1;
            for (language, group) in set.languages.iter().filter(|(_, group)| several && group.pages >= 5) {
                line(&mut out, &format!("  language {language}"), group);
            }
            for field in FIELDS {
                if let Some(score) = set.metadata.get(field) {
                    let _ = writeln!(
                        out,
                        "  {field:<26} {:>6}  exact {:.3}, found {:.3}; given without gold: {}",
                        score.pages, score.exact, score.found, score.given_though_none
                    );
                }
            }
        }
        out.push('\n');
    }
    out
}

fn line(out: &mut String, name: &str, group: &GroupScore) {
    let number = |value: Option<f64>| value.map_or("-".into(), |value| format!("{value:.3}"));
    let interval =
        group.bow_f1_interval.map_or(String::new(), |found| format!(" ({:.3}–{:.3})", found.low, found.high));
    let ahead = group.behind_ours.map_or(String::new(), |found| format!("{:+.3} to {:+.3}", found.low, found.high));
    let row = format!(
        "{name:<28} {:>6}  {:>22}  {:>8}  {:>8}  {:>8}  {ahead}",
        group.pages,
        number(group.bow_f1) + &interval,
        number(group.shingle_f1),
        number(group.rouge_l),
        number(group.snippet_f1)
    );
    let _ = writeln!(out, "{}", row.trim_end());
}
