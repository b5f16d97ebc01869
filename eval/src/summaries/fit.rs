//! The weights of the default ranking, found on sets of summaries, and their score on a set that was left out.
//!
//! Few weights, and few steps: from [`Weights::STARTING`] one weight at a time goes up or down by steps that get smaller,
//! as long as the mean over sets and lengths grows by more than the penalty on the distance from the start. Sets are few and
//! differ, so that a search without that penalty overfits.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use pith_extractor::{Analysis, Method, Picks, Pith, Ranking, Weights, for_each_word};
use serde::Serialize;

use super::Length;
use super::item::{self, Item, LoadedSet};
use crate::bootstrap::{Bootstrap, PairedDifference, mean_of_means};
use crate::error::Error;
use crate::rouge::{Tokenizer, best_rouge};

/// The lengths that count.
const LENGTHS: [Length; 2] = [Length::Sentences(3), Length::Words(100)];

/// How weights are found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FitConfig {
    /// At most this many documents of each set are fitted to, spread evenly; all are scored.
    pub sample: usize,
    /// The penalty, in points of ROUGE, on moving one weight by its whole scale.
    pub penalty: f64,
}

impl Default for FitConfig {
    fn default() -> Self {
        FitConfig { sample: 400, penalty: 0.3 }
    }
}

/// What was found.
#[derive(Clone, Debug, Serialize)]
pub struct FitReport {
    /// How many documents of each set were scored.
    pub documents: BTreeMap<String, usize>,
    /// Each weight fitted to all sets, by name.
    pub weights: BTreeMap<&'static str, f64>,
    /// The same without one set, by the name of that set.
    pub weights_without: BTreeMap<String, BTreeMap<&'static str, f64>>,
    /// Their scores at each length, by its name.
    pub lengths: BTreeMap<String, LengthResult>,
    /// The weights to compile in.
    #[serde(skip)]
    pub fitted: Weights,
}

/// The scores of weights at one length.
#[derive(Clone, Debug, Serialize)]
pub struct LengthResult {
    /// The mean over sets, each scored with weights that were fitted to the others.
    pub left_out: f64,
    /// That for each set.
    pub left_out_sets: BTreeMap<String, f64>,
    /// The default with weights fitted to all sets, where fitting starts, and every other ranking.
    #[serde(rename = "rivals")]
    pub compared: Vec<ComparedRanking>,
}

/// Another ranking on the same documents.
#[derive(Clone, Debug, Serialize)]
pub struct ComparedRanking {
    /// Its name.
    pub name: String,
    /// Its mean over sets.
    pub mean: f64,
    /// How far the default with the set left out is ahead of it, by paired bootstrap.
    pub left_out_ahead: PairedDifference,
    /// Its mean on each set.
    pub sets: BTreeMap<String, f64>,
}

/// One weight as fitting sees it: whole hundredths, so that what is printed is what was found.
struct Parameter {
    name: &'static str,
    of: fn(&mut Weights) -> &mut f64,
    /// The smallest step.
    step: i32,
    /// The distance from the start that costs the whole penalty.
    scale: i32,
}

const PARAMETERS: [Parameter; 8] = [
    Parameter { name: "length, sentences", of: |weights| &mut weights.length[0], step: 5, scale: 50 },
    Parameter { name: "length, words", of: |weights| &mut weights.length[1], step: 5, scale: 50 },
    Parameter { name: "first", of: |weights| &mut weights.first, step: 5, scale: 30 },
    Parameter { name: "title", of: |weights| &mut weights.title, step: 10, scale: 50 },
    Parameter { name: "new", of: |weights| &mut weights.new, step: 5, scale: 50 },
    Parameter { name: "density", of: |weights| &mut weights.density, step: 15, scale: 150 },
    Parameter { name: "repeated, sentences", of: |weights| &mut weights.repeated[0], step: 5, scale: 30 },
    Parameter { name: "repeated, words", of: |weights| &mut weights.repeated[1], step: 5, scale: 30 },
];

/// Steps of the search, in smallest steps.
const STEPS: [i32; 3] = [4, 2, 1];
/// How often all weights are tried with one step.
const ROUNDS: usize = 3;
/// A gain of less, in points of ROUGE, is none.
const MIN_GAIN: f64 = 0.005;

type Hundredths = [i32; PARAMETERS.len()];

fn hundredths(mut weights: Weights) -> Hundredths {
    std::array::from_fn(|index| (*(PARAMETERS[index].of)(&mut weights) * 100.0).round() as i32)
}

fn weights(values: &Hundredths) -> Weights {
    let mut weights = Weights::STARTING;
    for (parameter, value) in PARAMETERS.iter().zip(values) {
        *(parameter.of)(&mut weights) = f64::from(*value) / 100.0;
    }
    weights
}

fn named(mut weights: Weights) -> BTreeMap<&'static str, f64> {
    PARAMETERS.iter().map(|parameter| (parameter.name, *(parameter.of)(&mut weights))).collect()
}

/// The source of the file that holds the weights, for `extractor/src/rank/weights.rs`.
pub fn weights_source(weights: &Weights) -> String {
    let Weights { length, first, title, new, density, repeated } = weights;
    format!(
        "//! The weights of the default ranking, as `pith eval train-summaries --out` wrote them.\n\n\
         use super::Weights;\n\n\
         pub(super) const FITTED: Weights =\n    \
         Weights {{ length: {length:?}, first: {first:?}, title: {title:?}, new: {new:?}, density: {density:?}, \
         repeated: {repeated:?} }};\n"
    )
}

/// Fits the weights to the sets of a folder, and to all but one of them in turn. `pages`, gold pages whose articles come
/// with descriptions, are one more set.
///
/// # Errors
/// When a set cannot be read.
pub fn fit_weights(folder: &Path, pages: Option<&Path>, config: &FitConfig) -> Result<FitReport, Error> {
    for_each_word("中文", None, |_| ());
    let mut sets = item::load(folder, pages, None)?;
    sets.retain(|set| !set.items.is_empty());
    let mut scorer = Scorer::new(&sets);
    let names: Vec<&String> = sets.iter().map(|set| &set.name).collect();
    let all: Vec<usize> = (0..sets.len()).collect();
    let fitted = scorer.fit(&all, config);
    let mut weights_without = BTreeMap::new();
    let mut left_out: [Vec<Vec<f64>>; 2] = Default::default();
    for out in &all {
        let others: Vec<usize> = all.iter().copied().filter(|set| set != out).collect();
        let without = scorer.fit(&others, config);
        for (length, values) in left_out.iter_mut().enumerate() {
            values.push(scorer.values(*out, length, &Pith { weights: without }));
        }
        weights_without.insert(names[*out].clone(), named(without));
    }
    let (fitted_ranking, start) = (Pith { weights: fitted }, Pith { weights: Weights::STARTING });
    let mut compared: Vec<(&str, &dyn Ranking)> = vec![("fitted to all", &fitted_ranking), ("start", &start)];
    let others = Method::ALL.into_iter().filter(|method| *method != Method::Pith);
    compared.extend(others.map(|method| (method.name(), method.ranking())));
    let documents: BTreeMap<String, usize> = sets.iter().map(|set| (set.name.clone(), set.items.len())).collect();
    let sampling = Bootstrap::new(&sets.iter().map(|set| set.items.len()).collect::<Vec<_>>());
    let by_set = |values: &[Vec<f64>]| -> BTreeMap<String, f64> {
        let mean = |values: &Vec<f64>| values.iter().sum::<f64>() / values.len().max(1) as f64;
        names.iter().map(|name| (*name).clone()).zip(values.iter().map(mean)).collect()
    };
    let mut lengths = BTreeMap::new();
    for (length, ours) in left_out.iter().enumerate() {
        let compare_ranking = |(name, ranking): &(&str, &dyn Ranking)| {
            let values: Vec<Vec<f64>> = all.iter().map(|set| scorer.values(*set, length, *ranking)).collect();
            let left_out_ahead = sampling.paired_difference(ours, &values);
            ComparedRanking {
                name: (*name).to_owned(),
                mean: mean_of_means(&values),
                left_out_ahead,
                sets: by_set(&values),
            }
        };
        let compared = compared.iter().map(compare_ranking).collect();
        let result = LengthResult { left_out: mean_of_means(ours), left_out_sets: by_set(ours), compared };
        lengths.insert(LENGTHS[length].name(), result);
    }
    Ok(FitReport { documents, weights: named(fitted), weights_without, lengths, fitted })
}

/// One document, ready to be ranked and scored.
struct PreparedDocument<'i> {
    item: &'i Item,
    analysis: Analysis<'i>,
    references: Vec<Vec<u32>>,
}

/// Scores rankings; a summary that was scored before is not scored again.
struct Scorer<'i> {
    sets: Vec<Vec<PreparedDocument<'i>>>,
    tokenizer: Tokenizer,
    known: HashMap<(usize, usize, usize, Vec<usize>), f64>,
}

impl<'i> Scorer<'i> {
    fn new(sets: &'i [LoadedSet]) -> Scorer<'i> {
        let mut tokenizer = Tokenizer::default();
        let mut document = |item: &'i Item| {
            let sentences = item.sentences.iter().map(String::as_str).collect();
            let references = item.references.iter().map(|text| tokenizer.tokens(text, &item.tag)).collect();
            PreparedDocument {
                item,
                analysis: Analysis::of(sentences, item.title.as_deref(), item.language),
                references,
            }
        };
        let sets = sets.iter().map(|set| set.items.iter().map(&mut document).collect()).collect();
        Scorer { sets, tokenizer, known: HashMap::new() }
    }

    /// The mean of ROUGE-1, -2 and -L of a ranking's summary of one document, times 100.
    fn value(&mut self, set: usize, index: usize, length: usize, ranking: &dyn Ranking) -> f64 {
        let document = &self.sets[set][index];
        let mut picks = Picks::overrunning(&document.analysis, LENGTHS[length].budget(document.item.spaceless()));
        ranking.rank(&document.analysis, &mut picks);
        let key = (set, index, length, picks.best_first());
        if let Some(value) = self.known.get(&key) {
            return *value;
        }
        let tokens = self.tokenizer.tokens(&document.item.summary(&key.3, LENGTHS[length]).text(), &document.item.tag);
        let value = 100.0 * best_rouge(document.references.iter().map(Vec::as_slice), &tokens).mean();
        self.known.insert(key, value);
        value
    }

    /// The same for every document of a set.
    fn values(&mut self, set: usize, length: usize, ranking: &dyn Ranking) -> Vec<f64> {
        (0..self.sets[set].len()).map(|document| self.value(set, document, length, ranking)).collect()
    }

    /// The scores of weights on some sets, and what their distance from the start costs.
    fn objective(&mut self, sets: &[usize], values: &Hundredths, config: &FitConfig) -> f64 {
        let ranking = Pith { weights: weights(values) };
        let mut sum = 0.0;
        for set in sets {
            let n = self.sets[*set].len();
            let sample = config.sample.clamp(1, n);
            for length in 0..LENGTHS.len() {
                let of_set: f64 = (0..sample).map(|k| self.value(*set, k * n / sample, length, &ranking)).sum();
                sum += of_set / sample as f64;
            }
        }
        let moved = |((parameter, value), start): ((&Parameter, &i32), i32)| {
            (f64::from(value - start) / f64::from(parameter.scale)).powi(2)
        };
        let distance: f64 = PARAMETERS.iter().zip(values).zip(hundredths(Weights::STARTING)).map(moved).sum();
        sum / (sets.len() * LENGTHS.len()) as f64 - config.penalty * distance
    }

    fn fit(&mut self, sets: &[usize], config: &FitConfig) -> Weights {
        let mut found = hundredths(Weights::STARTING);
        let mut best = self.objective(sets, &found, config);
        for step in STEPS {
            for _ in 0..ROUNDS {
                let before = found;
                for (index, parameter) in PARAMETERS.iter().enumerate() {
                    for direction in [step, -step] {
                        // On in the same direction for as long as it pays.
                        loop {
                            let mut next = found;
                            next[index] += direction * parameter.step;
                            let value = if next[index] >= 0 { self.objective(sets, &next, config) } else { f64::MIN };
                            if value <= best + MIN_GAIN {
                                break;
                            }
                            (found, best) = (next, value);
                        }
                    }
                }
                if found == before {
                    break;
                }
            }
        }
        weights(&found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weights_that_are_compiled_in_were_written_by_this() {
        let file = include_str!("../../../extractor/src/rank/weights.rs");
        assert_eq!(file, weights_source(&Weights::FITTED));
        assert_eq!(weights(&hundredths(Weights::FITTED)), Weights::FITTED);
    }
}
