//! The default ranking is ahead of the others, and its weights are what fitting finds.

use std::path::PathBuf;

use pith_eval::summaries::{Recipe, Study, evaluate, fit_weights};
use pith_extractor::{Method, Weights};

/// The shared sets, or nothing, with a word about it, where they are not at hand.
fn shared(folder: &str) -> Option<PathBuf> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    let shared = std::env::var_os("PITH_SHARED").map_or(root.join("../shared"), PathBuf::from);
    let path = shared.join("data").join(folder);
    if path.is_dir() {
        return Some(path);
    }
    println!("skipped: {} is not there", path.display());
    None
}

/// Means over the five sets, the first 150 documents of each, less a tenth of a point for other machines' arithmetic.
const FLOORS: [(&str, f64); 2] = [("3-sentences", 28.9), ("100-words", 29.6)];

#[test]
fn the_default_is_ahead_of_every_ranking_and_not_worse_than_it_was() {
    let Some(data) = shared("summaries") else { return };
    let study = Study { methods: Method::ALL.to_vec(), peers: Vec::new(), limit: Some(150), pages: None };
    let report = evaluate(&data, &study, &mut |_, _| Ok(())).expect("the shared sets can be read");
    for (length, floor) in FLOORS {
        let methods = &report.budgets[length].methods;
        let (default, others) = methods.split_first().expect("the default is the first");
        println!("{length}: {:.2}", default.mean);
        assert!(default.mean >= floor, "{length}: {:.2} is below {floor}", default.mean);
        for other in others.iter().filter(|other| other.name != "oracle") {
            assert!(
                default.mean > other.mean,
                "{length}: {} {:.2}, default {:.2}",
                other.name,
                other.mean,
                default.mean
            );
        }
    }
}

#[test]
fn weights_fitted_to_the_other_sets_hold_on_the_set_left_out() {
    let Some(data) = shared("summaries") else { return };
    let recipe = Recipe { sample: 25, ..Recipe::default() };
    let report = fit_weights(&data, None, &recipe).expect("the shared sets can be read");
    for (length, trial) in &report.lengths {
        let textrank = trial.rivals.iter().find(|rival| rival.name == "textrank").expect("it is a rival");
        println!("{length}: {:.2} left out, textrank {:.2}", trial.left_out, textrank.mean);
        assert!(trial.left_out > textrank.mean, "{length}: {:.2}, textrank {:.2}", trial.left_out, textrank.mean);
    }
}

/// With `PITH_FULL=1`: a minute of work.
#[test]
fn the_weights_that_are_compiled_in_are_those_that_fitting_finds() {
    if std::env::var_os("PITH_FULL").is_none() {
        println!("skipped: PITH_FULL is not set");
        return;
    }
    let (Some(data), Some(pages)) = (shared("summaries"), shared("extraction")) else { return };
    let report = fit_weights(&data, Some(&pages), &Recipe::default()).expect("the shared sets can be read");
    assert_eq!(report.fitted, Weights::FITTED);
}
