//! `pith eval extraction`: main content against gold pages.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use pith_eval::Error;
use pith_eval::extraction::{GroupScore, MethodScore, Study, Worst, evaluate, page};
use pith_eval::floor::Floors;
use pith_eval::peer::Peer;

use super::predictions::Predictions;
use crate::exit::{Exit, Failure};

/// The words of `pith eval extraction`.
#[derive(clap::Args, Debug)]
#[command(before_help = "Examples:
  pith eval extraction --data gold --page worst.html
  pith eval extraction --data gold --peer 'resiliparse=python3 bench/peers/resiliparse_peer.py' --json > scores.json")]
pub struct Args {
    /// The folder of sets, each a folder with pages.jsonl.zst and truth.jsonl
    #[arg(long, value_name = "DIR")]
    pub data: PathBuf,
    /// Another program as a method: it reads {id, url, html} on each line and answers {id, text}
    #[arg(long = "peer", value_name = "NAME=COMMAND")]
    pub peers: Vec<Peer>,
    /// Read one page of so many
    #[arg(long, value_name = "N", default_value_t = NonZeroUsize::MIN)]
    pub every: NonZeroUsize,
    /// Write every text to DIR/SET.jsonl as {id, text}; a peer's to DIR/PEER/SET.jsonl
    #[arg(long, value_name = "DIR")]
    pub predictions: Option<PathBuf>,
    /// Write a page that shows the worst pages of each set beside their gold
    #[arg(long, value_name = "FILE")]
    pub page: Option<PathBuf>,
    /// How many pages of each set are shown there
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub worst: usize,
    /// Compare with the scores pinned in this file, and fail when one fell; reads the pages that they were taken on
    #[arg(long, value_name = "FILE", conflicts_with_all = ["peers", "page", "predictions", "every"])]
    pub floors: Option<PathBuf>,
    /// Pin the scores of now in the file of `--floors`
    #[arg(long, requires = "floors")]
    pub pin: bool,
    /// Print the scores as JSON
    #[arg(long)]
    pub json: bool,
}

/// Reads every gold page, scores it, prints.
pub fn run(args: Args) -> Result<Exit, Failure> {
    if let Some(path) = &args.floors {
        return floors(&args.data, path, args.pin);
    }
    let study = Study { peers: args.peers, every: args.every };
    let mut predictions = Predictions::default();
    let mut worst = Worst::new(args.worst);
    let methods = evaluate(&args.data, &study, |set, judged| {
        if let Some(folder) = &args.predictions {
            let peers = study.peers.iter().map(|peer| folder.join(file_name(&peer.name)));
            for (folder, text) in std::iter::once(folder.clone()).chain(peers).zip(&judged.texts) {
                predictions.write(&folder, set, &judged.page.id, text)?;
            }
        }
        if args.page.is_some() {
            worst.add(set, judged);
        }
        Ok(())
    })?;
    predictions.finish()?;
    if let Some(path) = args.page {
        std::fs::write(&path, page(&methods, &worst)).map_err(|source| Error::Write { path, source })?;
    }
    eprintln!(
        "note: the compiled model was trained on gold pages; on those pages these are not scores of unseen pages \
         (`pith eval train --folds 4` gives them)"
    );
    let text = if args.json { format!("{}\n", json(&methods)) } else { table(&methods) };
    super::print(&text)
}

fn floors(gold: &Path, path: &Path, pin: bool) -> Result<Exit, Failure> {
    if pin {
        Floors::measure(gold, Floors::SAMPLE)?.write(path)?;
        return super::print(&format!("{}: pinned\n", path.display()));
    }
    let pinned = Floors::read(path)?;
    let comparison = pinned.compare(&Floors::measure(gold, pinned.every)?);
    for reason in &comparison.skipped {
        eprintln!("not compared: {reason}");
    }
    if !comparison.below.is_empty() {
        return Err(Failure::new(format!("below the floor: {}", comparison.below.join("; ")))
            .hint("mend it, or pin the scores of now with `--pin` and say why in the commit"));
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
