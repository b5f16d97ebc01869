//! The fidelity part of `pith eval extraction`: a table for each set, a column for each method; and the misses.

use std::fmt::Write as _;

use pith_eval::Error;
use pith_eval::extraction::fidelity::{Fidelity, Measure, Tally};
use pith_eval::extraction::{MethodScore, ScoredPage};

use super::predictions::Predictions;

/// The tables of all sets, and one of their sums where there are several.
pub fn table(methods: &[MethodScore]) -> String {
    let mut out = String::new();
    let Some(ours) = methods.first() else { return out };
    for set in ours.sets.keys() {
        let columns: Vec<Fidelity> = methods.iter().map(|method| method.sets[set].fidelity.clone()).collect();
        push_table(&mut out, set, methods, &columns);
        push_words(&mut out, set, methods);
    }
    if ours.sets.len() > 1 {
        let columns: Vec<Fidelity> = methods.iter().map(sum).collect();
        push_table(&mut out, "all sets", methods, &columns);
    }
    out
}

fn sum(method: &MethodScore) -> Fidelity {
    let mut all = Fidelity::default();
    method.sets.values().for_each(|set| all.add(&set.fidelity));
    all
}

fn push_table(out: &mut String, set: &str, methods: &[MethodScore], columns: &[Fidelity]) {
    if columns.iter().all(Fidelity::is_empty) {
        return;
    }
    let _ = writeln!(out, "\n{set}: right of kept of all");
    let _ = write!(out, "{:<30}", "");
    for method in methods {
        let _ = write!(out, "  {:>26}", method.name);
    }
    out.push('\n');
    for measure in Measure::ALL {
        let tallies: Vec<Option<&Tally>> = columns.iter().map(|column| column.tally(measure)).collect();
        if tallies.iter().all(Option::is_none) {
            continue;
        }
        let _ = write!(out, "{:<30}", measure.title());
        for tally in tallies {
            let _ = write!(out, "  {:>26}", cell(tally));
        }
        out.push('\n');
    }
}

fn cell(tally: Option<&Tally>) -> String {
    match tally {
        Some(tally) => {
            let share = tally.share().map_or("-".into(), |share| format!("{share:.3}"));
            format!("{share} of {} of {}", tally.kept, tally.total)
        }
        None => "-".into(),
    }
}

/// The words of the main part, where there is gold.
fn push_words(out: &mut String, set: &str, methods: &[MethodScore]) {
    let groups = || methods.iter().map(|method| &method.sets[set].all);
    if groups().all(|group| group.bow_recall.is_none()) {
        return;
    }
    let _ = write!(out, "{:<30}", "words kept / precision");
    for group in groups() {
        let number = |value: Option<f64>| value.map_or("-".into(), |value| format!("{value:.3}"));
        let both = format!("{} / {}", number(group.bow_recall), number(group.bow_precision));
        let _ = write!(out, "  {both:>26}");
    }
    out.push('\n');
}

/// Writes the elements of a page that are kept and not right.
pub fn write_misses(
    predictions: &mut Predictions,
    set: &str,
    scored: &ScoredPage,
    names: &[String],
) -> Result<(), Error> {
    for (name, (_, wrong)) in names.iter().zip(&scored.fidelity) {
        for miss in wrong {
            let row = serde_json::json!({
                "set": set, "page": scored.page.id, "method": name, "measure": miss.measure, "element": miss.element,
            });
            predictions.write("misses.jsonl", &row)?;
        }
    }
    Ok(())
}
