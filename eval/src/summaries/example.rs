//! Documents that show how methods differ: their source, references and every summary side by side.

use super::item::{LoadedSet, Summary};
use super::scoring::ScoresByMethod;
use super::{DetailedRouge, Length};

/// The length of which examples are shown.
const LENGTH: Length = Length::Sentences(3);
/// So many documents of each set are shown.
const PER_SET: usize = 2;

/// A document with what every method makes of it.
#[derive(Clone, Debug)]
pub struct Example {
    /// Its set.
    pub set: String,
    /// Its id.
    pub id: String,
    /// Its title, if it has one.
    pub title: Option<String>,
    /// Its sentences.
    pub sentences: Vec<String>,
    /// What people wrote; nothing for documents of one's own.
    pub references: Vec<String>,
    /// The summaries, in the order of the methods.
    pub summaries: Vec<ExampleSummary>,
}

/// A summary of an example.
#[derive(Clone, Debug)]
pub struct ExampleSummary {
    /// Who made it.
    pub method: String,
    /// The sentences taken, by number; nothing where it is not made of them.
    pub picks: Option<Vec<usize>>,
    /// The summary.
    pub text: String,
    /// Its scores; nothing where there is no reference.
    pub rouge: Option<DetailedRouge>,
}

/// The documents of a set on which the methods differ most: by their scores, or without references by their picks.
pub(super) fn most_different(set: &LoadedSet, names: &[String], scores: &ScoresByMethod) -> Vec<Example> {
    let mut by_difference: Vec<(f64, usize)> =
        (0..set.items.len()).map(|document| (difference(set, names, scores, document), document)).collect();
    by_difference.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    by_difference.iter().take(PER_SET).map(|(_, document)| example(set, names, scores, *document)).collect()
}

fn difference(set: &LoadedSet, names: &[String], scores: &ScoresByMethod, document: usize) -> f64 {
    let compared = (0..names.len()).filter(|method| names[*method] != "oracle");
    let summaries: Vec<_> = compared.map(|method| &scores[&(LENGTH, method)].summaries[document]).collect();
    if !set.items[document].references.is_empty() {
        let values = || summaries.iter().map(|scored| scored.rouge.mean());
        return values().fold(0.0, f64::max) - values().fold(1.0, f64::min);
    }
    let pairs = summaries.iter().enumerate().flat_map(|(at, a)| summaries[at + 1..].iter().map(move |b| (a, b)));
    pairs.filter_map(|(a, b)| Some(1.0 - shared_picks(&a.summary, &b.summary)?)).sum()
}

fn example(set: &LoadedSet, names: &[String], scores: &ScoresByMethod, document: usize) -> Example {
    let item = &set.items[document];
    let summaries = names.iter().enumerate().map(|(method, name)| {
        let scored = &scores[&(LENGTH, method)].summaries[document];
        ExampleSummary {
            method: name.clone(),
            picks: scored.summary.picks.clone(),
            text: scored.summary.text(),
            rouge: (!item.references.is_empty()).then_some(scored.rouge),
        }
    });
    Example {
        set: set.name.clone(),
        id: item.id.clone(),
        title: item.title.clone(),
        sentences: item.sentences.clone(),
        references: item.references.clone(),
        summaries: summaries.collect(),
    }
}

/// The share of picks that both have of those that either has; nothing where one of them has no picks.
pub(super) fn shared_picks(a: &Summary, b: &Summary) -> Option<f64> {
    let (a, b) = (a.picks.as_ref()?, b.picks.as_ref()?);
    let both = a.iter().filter(|pick| b.contains(pick)).count();
    let either = a.len() + b.len() - both;
    Some(if either == 0 { 1.0 } else { both as f64 / either as f64 })
}
