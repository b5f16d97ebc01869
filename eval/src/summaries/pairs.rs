//! Every method beside every other, corrected for the number of comparisons.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::bootstrap::{Bootstrap, PairedDifference, holm};

/// Two methods on the same documents.
#[derive(Clone, Debug, Serialize)]
pub struct MethodPair {
    /// The one.
    pub first: String,
    /// The other.
    pub second: String,
    /// How far the first is ahead by the mean over sets.
    pub all: CorrectedDifference,
    /// The same on each set alone.
    pub sets: BTreeMap<String, CorrectedDifference>,
}

/// A difference with the p that the number of comparisons leaves.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CorrectedDifference {
    /// The difference, its interval, and p before correction.
    #[serde(flatten)]
    pub difference: PairedDifference,
    /// The same p, corrected by Holm's method for all pairs of methods; on single sets for all sets, too.
    pub p_corrected: f64,
}

/// The scores of one method: for every set, those of its documents.
pub(super) type Scores = Vec<Vec<f64>>;

/// Compares every method with those behind it.
pub(super) fn compare_all(names: &[String], sets: &[&String], scores: &[Scores]) -> Vec<MethodPair> {
    let Some(first) = scores.first() else { return Vec::new() };
    let together = Bootstrap::new(&first.iter().map(Vec::len).collect::<Vec<_>>());
    let alone: Vec<Bootstrap> = first.iter().map(|set| Bootstrap::new(&[set.len()])).collect();
    let indices = (0..names.len()).flat_map(|a| (a + 1..names.len()).map(move |b| (a, b)));
    let pairs: Vec<(usize, usize)> = indices.collect();
    let of_all: Vec<PairedDifference> =
        pairs.iter().map(|&(a, b)| together.paired_difference(&scores[a], &scores[b])).collect();
    let of_sets: Vec<PairedDifference> = pairs
        .iter()
        .flat_map(|&(a, b)| {
            let sampled = alone.iter().enumerate();
            sampled.map(move |(set, alone)| alone.paired_difference(&scores[a][set..=set], &scores[b][set..=set]))
        })
        .collect();
    let (of_all, of_sets) = (corrected(&of_all), corrected(&of_sets));
    let rows = pairs.iter().zip(&of_all).enumerate();
    rows.map(|(index, (&(a, b), all))| MethodPair {
        first: names[a].clone(),
        second: names[b].clone(),
        all: *all,
        sets: (sets.iter().enumerate())
            .map(|(set, name)| ((*name).clone(), of_sets[index * sets.len() + set]))
            .collect(),
    })
    .collect()
}

fn corrected(differences: &[PairedDifference]) -> Vec<CorrectedDifference> {
    let values: Vec<f64> = differences.iter().map(|difference| difference.p).collect();
    let pairs = differences.iter().zip(holm(&values));
    pairs.map(|(difference, p_corrected)| CorrectedDifference { difference: *difference, p_corrected }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_is_compared_once_on_all_sets_and_on_each() {
        let names: Vec<String> = ["a", "b", "c"].map(String::from).into();
        let sets = ["x".to_owned(), "y".to_owned()];
        let noise = |shift: f64| -> Scores {
            [3, 5].map(|n| (0..40).map(|i| f64::from((i * 7 + n) % 11) + shift * f64::from(i % 3)).collect()).into()
        };
        let scores = [noise(0.0), noise(0.0), noise(1.0)];
        let pairs = compare_all(&names, &sets.iter().collect::<Vec<_>>(), &scores);
        let named: Vec<_> = pairs.iter().map(|pair| (pair.first.as_str(), pair.second.as_str())).collect();
        assert_eq!(named, [("a", "b"), ("a", "c"), ("b", "c")]);
        assert_eq!((pairs[0].all.difference.by, pairs[0].all.p_corrected), (0.0, 1.0));
        assert!(pairs[1].all.difference.by < 0.0 && pairs[1].all.p_corrected < 1e-6);
        assert!(pairs[1].all.p_corrected >= pairs[1].all.difference.p);
        assert_eq!(pairs[1].sets.keys().collect::<Vec<_>>(), ["x", "y"]);
    }
}
