//! `pith eval train`: the extractor's tables from gold pages, and their scores on unseen pages.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use pith_corpus::atomic_file::replace_named_file;
use pith_eval::Error;
use pith_eval::extraction::group_score;
use pith_eval::score::{PageScore, score};
use pith_eval::train::{
    Answer, ConfidenceFolds, Sample, Samples, TrainingConfig, calibration_error, cross_validate, feature_gains, fit,
    leave_one_set_out, refit_confidence, reliability,
};
use pith_extractor::model::Model;

use super::predictions::Predictions;
use crate::commands::corpus::failure;
use crate::exit::{Exit, Failure};

/// The arguments of `pith eval train`.
#[derive(clap::Args, Debug)]
#[command(before_help = "Examples:
  pith eval train --data gold --out extractor/src/model/tables.bin
  pith eval train --data gold --folds 4 --leave-out all")]
pub struct Args {
    /// The folder of sets, each a folder with pages.jsonl[.zst] and truth.jsonl
    #[arg(long, value_name = "DIR")]
    pub data: PathBuf,
    /// Train on all pages and write the tables here; the same pages give the same bytes
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Do not train trees of blocks: take these tables and learn their confidence anew. Prints expected beside real F1, out of
    /// fold and by sets left out of the confidence
    #[arg(long, value_name = "FILE", conflicts_with_all = ["folds", "leave_out", "features"])]
    pub confidence_of: Option<PathBuf>,
    /// Cross-validate in this many folds: every page is predicted by a model that was not trained on its site
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub folds: u32,
    /// Predict this set by a model that was trained neither on it nor on its sites; `all` takes the sets one by one
    #[arg(long = "leave-out", value_name = "SET")]
    pub leave_out: Vec<String>,
    /// Write the texts kept in folds to DIR/folds/SET.jsonl as {id, text, confidence}, those of a set left out to DIR/left-out
    #[arg(long, value_name = "DIR")]
    pub predictions: Option<PathBuf>,
    /// Seed of the random generators; the spread of scores over seeds shows how far one run can be trusted
    #[arg(long, alias = "draw", value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Print what each feature of blocks is worth: its share of the gain of an ensemble that is trained on all of them
    #[arg(long)]
    pub features: bool,
    /// Trees of each block ensemble
    #[arg(long, value_name = "N")]
    pub trees: Option<usize>,
    /// About how many blocks to learn from
    #[arg(long, value_name = "N")]
    pub rows: Option<usize>,
}

/// Trains, validates, prints.
pub fn run(args: Args) -> Result<Exit, Failure> {
    let mut config = TrainingConfig::default().with_seed(args.seed);
    config.blocks.n_trees = args.trees.unwrap_or(config.blocks.n_trees);
    config.n_rows = args.rows.unwrap_or(config.n_rows);
    let samples = Samples::load(&args.data)?;
    let mut predictions = Predictions::open(args.predictions.as_deref())?;
    let mut write = |kind: &str, answers: &[Answer]| -> Result<(), Error> {
        answers.iter().try_for_each(|answer| {
            let sample = &samples.all[answer.sample];
            let name = format!("{kind}/{}.jsonl", samples.sets[sample.set]);
            predictions.write(
                &name,
                &serde_json::json!({
                    "id": sample.page.id, "text": answer.text, "confidence": answer.confidence,
                }),
            )
        })
    };
    if args.folds > 0 {
        let folds: Vec<u32> = (0..args.folds).collect();
        let answers = cross_validate(&samples, &config, args.folds, &folds);
        let scores = describe(&samples, &answers);
        super::print(&format!("{} folds by site\n{}{}", args.folds, scores.text, curve(scores.confidences)))?;
        write("folds", &answers)?;
    }
    let left_out = if args.leave_out.iter().any(|name| name == "all") { &samples.sets } else { &args.leave_out };
    let mut confidences = Vec::new();
    for name in left_out {
        let set = samples.sets.iter().position(|set| set == name).ok_or_else(|| {
            Failure::usage(format!("no set {name:?}")).hint(format!("the sets are {}", samples.sets.join(", ")))
        })?;
        let answers = leave_one_set_out(&samples, &config, set);
        let scores = describe(&samples, &answers);
        super::print(&format!("{name} left out\n{}", scores.text))?;
        confidences.extend(scores.confidences);
        write("left-out", &answers)?;
    }
    if !confidences.is_empty() {
        super::print(&format!("all sets left out\n{}", curve(confidences)))?;
    }
    predictions.finish()?;
    let all: Vec<&Sample> = samples.all.iter().collect();
    if args.features {
        let mut out = "shares of the gain, by feature\n".to_owned();
        for (name, share) in feature_gains(&all, &samples.sets, &config) {
            let _ = writeln!(out, "  {name:<44} {share:.5}");
        }
        super::print(&out)?;
    }
    let refitted = args.confidence_of.as_deref().map(|tables| refit(tables, &all, &config)).transpose()?;
    if let Some(path) = args.out {
        let model = refitted.unwrap_or_else(|| fit(&all, &samples.sets, &config));
        let bytes = model.write();
        replace_named_file(&path, &bytes).map_err(failure)?;
        sayln!("{}: {} bytes from {} pages", path.display(), bytes.len(), all.len());
    }
    Ok(Exit::Done)
}

/// The tables of a file with a confidence that is learnt anew.
fn refit(tables: &Path, samples: &[&Sample], config: &TrainingConfig) -> Result<Model, Failure> {
    let at = |problem: String| Failure::new(format!("{}: {problem}", tables.display()));
    let bytes = std::fs::read(tables).map_err(|error| at(error.to_string()))?;
    let mut model = Model::read(&bytes).map_err(|error| at(error.to_string()))?;
    let by_set = refit_confidence(&model, samples, config, ConfidenceFolds::Sets);
    let by_site = refit_confidence(&model, samples, config, ConfidenceFolds::Sites);
    super::print(&format!("out of fold\n{}", curve(by_site.out_of_fold)))?;
    super::print(&format!("sets left out of the confidence\n{}", curve(by_set.out_of_fold)))?;
    model.confidence = by_site.confidence;
    Ok(model)
}

/// What answers score.
struct Scores {
    /// A line for each set and page type.
    text: String,
    /// The confidence and the words F1 of each page.
    confidences: Vec<(f64, f64)>,
}

/// Expected and real F1 by confidence.
fn curve(confidences: Vec<(f64, f64)>) -> String {
    let bins = reliability(confidences);
    let mut out = format!("  confidence, by tenths of the pages; mean error {:.4}\n", calibration_error(&bins));
    for bin in bins {
        let _ = writeln!(out, "    {:>5} pages  expected F1 {:.4}  real F1 {:.4}", bin.pages, bin.expected, bin.real);
    }
    out
}

fn describe(samples: &Samples, answers: &[Answer]) -> Scores {
    let mut out = String::new();
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
    let confidences = answers
        .iter()
        .zip(&scored)
        .filter_map(|(answer, (_, page))| Some((f64::from(answer.confidence), page.text.as_ref()?.bag.f1)));
    Scores { text: out, confidences: confidences.collect() }
}
