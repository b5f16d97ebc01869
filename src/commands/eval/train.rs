//! `pith eval train`: the extractor's tables from gold pages, and what they are worth on pages not seen.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use pith_eval::Error;
use pith_eval::extraction::group_score;
use pith_eval::score::{PageScore, score};
use pith_eval::train::{Answer, Recipe, Sample, Samples, cross_validate, fit, leave_one_set_out};

use super::predictions::Predictions;
use crate::exit::{Exit, Failure};

/// The words of `pith eval train`.
#[derive(clap::Args, Debug)]
#[command(before_help = "Examples:
  pith eval train --data gold --out extractor/src/model/tables.bin
  pith eval train --data gold --folds 4 --leave-out all")]
pub struct Args {
    /// The folder of sets, each a folder with pages.jsonl.zst and truth.jsonl
    #[arg(long, value_name = "DIR")]
    pub data: PathBuf,
    /// Train on all pages and write the tables here; the same pages give the same bytes
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Judge every page by a model that has not seen its site, in this many folds
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub folds: u32,
    /// Judge this set by a model that has seen neither it nor its sites; `all` takes the sets one by one
    #[arg(long = "leave-out", value_name = "SET")]
    pub leave_out: Vec<String>,
    /// Write the texts kept in folds to DIR/folds/SET.jsonl as {id, text}, those of a set left out to DIR/left-out
    #[arg(long, value_name = "DIR")]
    pub predictions: Option<PathBuf>,
    /// Let chance start elsewhere: how much of a figure hangs on it is seen by comparing draws
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub draw: u64,
    /// Trees that judge blocks
    #[arg(long, value_name = "N")]
    pub trees: Option<usize>,
    /// About how many blocks to learn from
    #[arg(long, value_name = "N")]
    pub rows: Option<usize>,
}

/// Trains, validates, prints.
pub fn run(args: Args) -> Result<Exit, Failure> {
    let mut recipe = Recipe::default().draw(args.draw);
    recipe.blocks.n_trees = args.trees.unwrap_or(recipe.blocks.n_trees);
    recipe.n_rows = args.rows.unwrap_or(recipe.n_rows);
    let samples = Samples::load(&args.data)?;
    let mut out = String::new();
    let mut predictions = Predictions::default();
    let mut write = |kind: &str, answers: &[Answer]| -> Result<(), Error> {
        let Some(folder) = args.predictions.as_ref().map(|folder| folder.join(kind)) else { return Ok(()) };
        answers.iter().try_for_each(|answer| {
            let sample = &samples.all[answer.sample];
            predictions.write(&folder, &samples.sets[sample.set], &sample.page.id, &answer.text)
        })
    };
    if args.folds > 0 {
        let folds: Vec<u32> = (0..args.folds).collect();
        let answers = cross_validate(&samples, &recipe, args.folds, &folds);
        let _ = writeln!(out, "{} folds by site", args.folds);
        describe(&mut out, &samples, &answers);
        write("folds", &answers)?;
    }
    let left_out = if args.leave_out.iter().any(|name| name == "all") { &samples.sets } else { &args.leave_out };
    for name in left_out {
        let set = samples.sets.iter().position(|set| set == name).ok_or_else(|| {
            Failure::usage(format!("no set {name:?}")).hint(format!("the sets are {}", samples.sets.join(", ")))
        })?;
        let _ = writeln!(out, "{name} left out");
        let answers = leave_one_set_out(&samples, &recipe, set);
        describe(&mut out, &samples, &answers);
        write("left-out", &answers)?;
    }
    predictions.finish()?;
    if let Some(path) = args.out {
        let all: Vec<&Sample> = samples.all.iter().collect();
        let bytes = fit(&all, &samples.sets, &recipe).write();
        std::fs::write(&path, &bytes).map_err(|source| Error::Write { path: path.clone(), source })?;
        eprintln!("{}: {} bytes from {} pages", path.display(), bytes.len(), all.len());
    }
    super::print(&out)
}

fn describe(out: &mut String, samples: &Samples, answers: &[Answer]) {
    let scored: Vec<(&Sample, PageScore)> = answers
        .iter()
        .map(|answer| (&samples.all[answer.sample], score(&samples.all[answer.sample].truth, &answer.text)))
        .collect();
    let mut groups: BTreeMap<String, Vec<&PageScore>> = BTreeMap::new();
    for (sample, page) in &scored {
        let set = &samples.sets[sample.set];
        groups.entry(set.clone()).or_default().push(page);
        if let Some(kind) = &sample.truth.page_type {
            groups.entry(format!("{set} {kind}")).or_default().push(page);
        }
    }
    for (name, pages) in groups {
        let group = group_score(&pages);
        let number = |value: Option<f64>| value.map_or("-".into(), |value| format!("{value:.4}"));
        let _ = writeln!(
            out,
            "  {name:<28} {:>5} pages  words F1 {}  snippet F1 {}",
            group.pages,
            number(group.bow_f1),
            number(group.snippet_f1)
        );
    }
}
