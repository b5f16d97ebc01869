//! Methods on documents of one's own, which have no references.

use std::collections::BTreeMap;
use std::path::PathBuf;

use pith_extractor::Language;
use serde::Serialize;

use super::item::{Item, LoadedSet};
use super::scoring::{ScoresByMethod, SetScores, score_set};
use super::{EvaluationConfig, Example, LeftOut, Length, MIN_SENTENCES, Measures};
use super::{example, load_dictionary, mean_measures};
use crate::error::Error;

/// A document of one's own: there is no reference.
#[derive(Clone, Debug, Default)]
pub struct OwnDocument {
    /// Its URL or any other name.
    pub id: String,
    /// The tag of its language, if it is known.
    pub language: Option<String>,
    /// Its title, if it has one.
    pub title: Option<String>,
    /// Its text.
    pub text: String,
}

/// One method on documents without references.
#[derive(Clone, Debug, Serialize)]
pub struct MethodMeasures {
    /// The ranking or peer.
    pub name: String,
    /// What its summaries are beside their sources.
    pub measures: Measures,
    /// The share of picks that stay when every tenth sentence is taken away; ours only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stability: Option<f64>,
    /// Documents per second on one core.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub documents_per_second: Option<f64>,
    /// The means of the metrics of others, by name.
    pub metrics: BTreeMap<String, f64>,
    /// With each method by name: the share of picks that both have of those that either has.
    pub agreement: BTreeMap<String, f64>,
}

/// Methods on documents without references.
#[derive(Clone, Debug, Serialize)]
pub struct OwnReport {
    /// How many documents were summarized.
    pub documents: usize,
    /// Those that were not, by reason.
    pub left_out: BTreeMap<&'static str, LeftOut>,
    /// The methods at every length, by its name.
    pub budgets: BTreeMap<String, Vec<MethodMeasures>>,
    /// The documents on which the methods agree least.
    #[serde(skip)]
    pub examples: Vec<Example>,
}

impl OwnReport {
    /// The lengths by name, in the order in which they are shown.
    pub fn in_order(&self) -> impl Iterator<Item = (String, &Vec<MethodMeasures>)> {
        Length::ALL.into_iter().filter_map(|length| Some((length.name(), self.budgets.get(&length.name())?)))
    }
}

/// Compares methods on documents without references.
///
/// # Errors
/// When a peer fails, or no document has sentences enough.
pub fn compare(documents: Vec<OwnDocument>, config: &EvaluationConfig) -> Result<OwnReport, Error> {
    load_dictionary();
    let items = documents.into_iter().map(|document| {
        let known = document.language.as_deref().and_then(Language::from_tag);
        let language = known.or_else(|| Language::of(&document.text));
        Item::unreferenced(document.id, language, document.title, document.text)
    });
    let set = LoadedSet::of("pages".to_owned(), items.collect(), false);
    if set.items.is_empty() {
        let problem = format!("no document has {MIN_SENTENCES} sentences");
        return Err(Error::Data { path: PathBuf::from("pages"), problem });
    }
    let names = config.names();
    let scores = score_set(&set.items, config)?;
    let budgets = Length::ALL.map(|length| (length.name(), own_methods(length, &names, &scores)));
    Ok(OwnReport {
        documents: set.items.len(),
        budgets: budgets.into(),
        examples: example::most_different(&set, &names, &scores),
        left_out: set.left_out,
    })
}

fn own_methods(length: Length, names: &[String], scores: &ScoresByMethod) -> Vec<MethodMeasures> {
    let row = |(method, name): (usize, &String)| {
        let set = &scores[&(length, method)];
        let others = names.iter().enumerate().filter(|(other, _)| *other != method);
        MethodMeasures {
            name: name.clone(),
            measures: mean_measures(&[set]),
            stability: set.stability,
            documents_per_second: (set.seconds > 0.0).then(|| set.summaries.len() as f64 / set.seconds),
            metrics: set.metrics.clone(),
            agreement: others
                .filter_map(|(other, name)| Some((name.clone(), agreement(set, &scores[&(length, other)])?)))
                .collect(),
        }
    };
    names.iter().enumerate().map(row).collect()
}

/// The share of picks that both have of those that either has, as a mean over documents.
fn agreement(a: &SetScores, b: &SetScores) -> Option<f64> {
    let both = a.summaries.iter().zip(&b.summaries);
    let shares: Option<Vec<f64>> = both.map(|(a, b)| example::shared_picks(&a.summary, &b.summary)).collect();
    shares.map(|shares| shares.iter().sum::<f64>() / shares.len().max(1) as f64)
}
