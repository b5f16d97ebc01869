//! Summaries against references: every ranking, and any peer, on the same sentences, within the same budgets. Without
//! references: the same methods on documents of one's own.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use pith_extractor::{Method, for_each_word};
use serde::Serialize;

use crate::bootstrap::{Bootstrap, Interval, PairedDifference, mean_of_means};
use crate::error::Error;
use crate::peer::Peer;
use crate::rouge::{DetailedRouge, Overlap};
use item::LoadedSet;
use scoring::{ScoredSummary, ScoresByMethod, SetScores, score_set};

mod example;
mod fit;
mod fragments;
mod item;
mod length;
mod measures;
mod oracle;
mod own;
mod pairs;
mod picks;
mod scoring;

pub use example::{Example, ExampleSummary};
pub use fit::{ComparedRanking, FitConfig, FitReport, LengthResult, fit_weights, weights_source};
pub use item::LeftOut;
pub use length::Length;
pub use measures::Measures;
pub use own::{MethodMeasures, OwnDocument, OwnReport, compare};
pub use pairs::{CorrectedDifference, MethodPair};
pub use picks::{MainTextShare, in_gold};

/// Documents with fewer sentences say nothing about a ranking and are not scored.
pub const MIN_SENTENCES: usize = 4;

/// What is compared.
#[derive(Clone, Debug, Default)]
pub struct EvaluationConfig {
    /// Rankings of ours.
    pub methods: Vec<Method>,
    /// Other programs.
    pub peers: Vec<Peer>,
    /// Other programs that measure summaries: they read {id, lang, title, source, references, summary} and answer
    /// {id, value}.
    pub metrics: Vec<Peer>,
    /// At most this many documents of each set, the first ones; all where it is nothing.
    pub limit: Option<usize>,
    /// Gold pages, whose articles with their descriptions make one more set.
    pub pages: Option<PathBuf>,
}

impl EvaluationConfig {
    fn names(&self) -> Vec<String> {
        let ours = self.methods.iter().map(|method| method.name().to_owned());
        ours.chain(self.peers.iter().map(|peer| peer.name.clone())).collect()
    }
}

/// One summary that was scored.
#[derive(Clone, Debug, Serialize)]
pub struct Prediction {
    /// The document.
    pub id: String,
    /// Who made it.
    pub method: String,
    /// How long it was to be.
    pub budget: String,
    /// The sentences taken, by number; nothing where the summary is not made of sentences of the text.
    pub picks: Option<Vec<usize>>,
    /// The summary.
    pub text: String,
    /// Precision, recall and F1 of ROUGE, from 0 to 1, for each measure with the best reference.
    pub rouge: DetailedRouge,
    /// What it is beside its source.
    pub measures: Measures,
}

/// The scores of one method on one set, times 100.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct SetRouge {
    /// ROUGE-1, -2, -L and -Lsum, each with the best reference.
    #[serde(flatten)]
    pub rouge: DetailedRouge,
    /// The mean of ROUGE-1, -2 and -L with the best reference.
    pub mean: f64,
    /// Where that mean lies, by bootstrap.
    pub interval: Interval,
    /// The same mean over all references of a document.
    pub mean_of_references: f64,
}

/// The outcome of one method at one length.
#[derive(Clone, Debug, Serialize)]
pub struct MethodReport {
    /// The ranking or peer.
    pub name: String,
    /// The mean over sets of the mean of ROUGE-1, -2 and -L, times 100.
    pub mean: f64,
    /// Where that mean lies, by bootstrap.
    pub interval: Interval,
    /// How far the first method is ahead of this one, by paired bootstrap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_ahead: Option<PairedDifference>,
    /// ROUGE-1, -2 and -L for each set, times 100.
    pub sets: BTreeMap<String, [f64; 3]>,
    /// Precision and recall, ROUGE-Lsum and intervals for each set.
    pub details: BTreeMap<String, SetRouge>,
    /// Documents per second on one core, splitting and counting included; nothing for the oracle.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub documents_per_second: Option<f64>,
    /// What the summaries are beside their sources, as means over sets.
    pub measures: Measures,
    /// The share of picks that stay when every tenth sentence is taken away; ours only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stability: Option<f64>,
    /// The means over sets of the metrics of others, by name.
    pub metrics: BTreeMap<String, f64>,
}

/// The outcome of an evaluation.
#[derive(Clone, Debug, Serialize)]
pub struct SummariesReport {
    /// How many documents of each set were scored.
    pub documents: BTreeMap<String, usize>,
    /// The documents of each set that were not, by reason.
    pub left_out: BTreeMap<String, BTreeMap<&'static str, LeftOut>>,
    /// The methods at every length, by its name.
    pub budgets: BTreeMap<String, LengthReport>,
    /// The documents of each set on which the methods differ most.
    #[serde(skip)]
    pub examples: Vec<Example>,
}

impl SummariesReport {
    /// The lengths by name, in the order in which they are shown.
    pub fn in_order(&self) -> impl Iterator<Item = (String, &LengthReport)> {
        Length::ALL.into_iter().filter_map(|length| Some((length.name(), self.budgets.get(&length.name())?)))
    }
}

/// All methods at one length.
#[derive(Clone, Debug, Serialize)]
pub struct LengthReport {
    /// In the order of the configuration, then peers, then the oracle.
    pub methods: Vec<MethodReport>,
    /// Every two methods, the oracle aside.
    pub pairs: Vec<MethodPair>,
}

/// Scores every method on every set of a folder, and gives each summary to `keep` with the name of its set.
///
/// # Errors
/// When a set cannot be read or a peer fails.
pub fn evaluate(
    folder: &Path,
    config: &EvaluationConfig,
    keep: &mut dyn FnMut(&str, Prediction) -> Result<(), Error>,
) -> Result<SummariesReport, Error> {
    load_dictionary();
    let loaded = item::load(folder, config.pages.as_deref(), config.limit)?;
    let left_out = (loaded.iter().filter(|set| !set.left_out.is_empty()))
        .map(|set| (set.name.clone(), set.left_out.clone()))
        .collect();
    let sets: Vec<LoadedSet> = loaded.into_iter().filter(|set| !set.items.is_empty()).collect();
    let names: Vec<String> = config.names().into_iter().chain(["oracle".to_owned()]).collect();
    let mut scores = Vec::new();
    let mut examples = Vec::new();
    for set in &sets {
        let of_set = score_set(&set.items, config)?;
        keep_all(set, &names, &of_set, keep)?;
        examples.extend(example::most_different(set, &names, &of_set));
        scores.push(of_set);
    }
    let set_names: Vec<&String> = sets.iter().map(|set| &set.name).collect();
    let budgets = Length::ALL.map(|length| (length.name(), length_report(length, &names, &set_names, &scores)));
    Ok(SummariesReport {
        documents: sets.iter().map(|set| (set.name.clone(), set.items.len())).collect(),
        left_out,
        budgets: budgets.into(),
        examples,
    })
}

/// The dictionary of Chinese words is loaded before any clock runs.
fn load_dictionary() {
    for_each_word("中文", None, |_| ());
}

fn keep_all(
    set: &LoadedSet,
    names: &[String],
    scores: &ScoresByMethod,
    keep: &mut dyn FnMut(&str, Prediction) -> Result<(), Error>,
) -> Result<(), Error> {
    for ((length, method), of_method) in scores {
        for (item, scored) in set.items.iter().zip(&of_method.summaries) {
            let prediction = Prediction {
                id: item.id.clone(),
                method: names[*method].clone(),
                budget: length.name(),
                picks: scored.summary.picks.clone(),
                text: scored.summary.text(),
                rouge: scored.rouge,
                measures: scored.measures,
            };
            keep(&set.name, prediction)?;
        }
    }
    Ok(())
}

fn length_report(length: Length, names: &[String], sets: &[&String], scores: &[ScoresByMethod]) -> LengthReport {
    let of_method = |method: usize| -> Vec<&SetScores> { scores.iter().map(|set| &set[&(length, method)]).collect() };
    let values: Vec<pairs::Scores> =
        (0..names.len()).map(|method| of_method(method).iter().map(|set| means(set)).collect()).collect();
    let sampling = Bootstrap::new(&values[0].iter().map(Vec::len).collect::<Vec<_>>());
    let methods = (0..names.len()).map(|method| {
        let (of_sets, values_here) = (of_method(method), &values[method]);
        let seconds: f64 = of_sets.iter().map(|set| set.seconds).sum();
        let n: usize = of_sets.iter().map(|set| set.summaries.len()).sum();
        let named = || sets.iter().map(|name| (*name).clone()).zip(&of_sets);
        let details: BTreeMap<String, SetRouge> = named().map(|(name, set)| (name, set_rouge(set))).collect();
        let f1 = |set: &SetRouge| [set.rouge.one.f1, set.rouge.two.f1, set.rouge.l.f1];
        MethodReport {
            name: names[method].clone(),
            mean: mean_of_means(values_here),
            interval: sampling.interval(values_here),
            first_ahead: (method > 0).then(|| sampling.paired_difference(&values[0], values_here)),
            sets: details.iter().map(|(name, set)| (name.clone(), f1(set))).collect(),
            details,
            documents_per_second: (seconds > 0.0).then(|| n as f64 / seconds),
            measures: mean_measures(&of_sets),
            stability: mean_stability(&of_sets),
            metrics: mean_metrics(&of_sets),
        }
    });
    let methods = methods.collect();
    // The oracle is the last.
    let compared = names.len() - 1;
    LengthReport { methods, pairs: pairs::compare_all(&names[..compared], sets, &values[..compared]) }
}

/// The mean of ROUGE-1, -2 and -L of every document, times 100.
fn means(set: &SetScores) -> Vec<f64> {
    set.summaries.iter().map(|scored| 100.0 * scored.rouge.mean()).collect()
}

fn set_rouge(set: &SetScores) -> SetRouge {
    let n = set.summaries.len().max(1) as f64;
    let mean = |of: &dyn Fn(&ScoredSummary) -> f64| 100.0 * set.summaries.iter().map(of).sum::<f64>() / n;
    let overlap = |measure: usize| Overlap {
        precision: mean(&|scored| scored.rouge.measures()[measure].precision),
        recall: mean(&|scored| scored.rouge.measures()[measure].recall),
        f1: mean(&|scored| scored.rouge.measures()[measure].f1),
    };
    let values = vec![means(set)];
    SetRouge {
        rouge: DetailedRouge::from_measures([0, 1, 2, 3].map(overlap)),
        mean: mean_of_means(&values),
        interval: Bootstrap::new(&[values[0].len()]).interval(&values),
        mean_of_references: mean(&|scored| scored.mean_of_references),
    }
}

fn mean_measures(sets: &[&SetScores]) -> Measures {
    let of_sets: Vec<Measures> =
        sets.iter().map(|set| Measures::mean(set.summaries.iter().map(|scored| &scored.measures))).collect();
    Measures::mean(&of_sets)
}

fn mean_stability(sets: &[&SetScores]) -> Option<f64> {
    let of_sets: Option<Vec<f64>> = sets.iter().map(|set| set.stability).collect();
    of_sets.map(|values| values.iter().sum::<f64>() / values.len().max(1) as f64)
}

fn mean_metrics(sets: &[&SetScores]) -> BTreeMap<String, f64> {
    let mut sums: BTreeMap<String, f64> = BTreeMap::new();
    for (name, value) in sets.iter().flat_map(|set| &set.metrics) {
        *sums.entry(name.clone()).or_default() += value / sets.len() as f64;
    }
    sums
}
