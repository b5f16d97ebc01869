//! Floors: scores pinned in a file, so that no change makes main content worse unnoticed.
//!
//! They are taken on a sample of gold pages, most of which the model was trained on: a guard against mistakes, not a
//! measure of quality.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::extraction::{EvaluationConfig, GroupScore, ScoredPage, evaluate};

/// Scores that were reached once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Floors {
    /// One page of so many is read.
    pub every: NonZeroUsize,
    /// By set.
    pub sets: BTreeMap<String, Floor>,
}

/// What was reached on one set.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Floor {
    /// Names the gold: other texts or pages have another digest.
    pub digest: String,
    /// Pages read.
    pub pages: usize,
    /// The scores, by name.
    pub scores: BTreeMap<String, f64>,
}

/// How floors and a run compare.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    /// Sets that were compared.
    pub compared: Vec<String>,
    /// Sets that could not be, each with its reason.
    pub skipped: Vec<String>,
    /// Scores below their floor.
    pub below: Vec<String>,
}

impl Floors {
    /// One page of so many is enough to notice a fall, and takes seconds.
    pub const SAMPLE: NonZeroUsize = NonZeroUsize::new(8).expect("not zero");

    /// Reads pinned floors.
    ///
    /// # Errors
    /// When the file cannot be read or holds something else.
    pub fn read(path: &Path) -> Result<Floors, Error> {
        let bytes = std::fs::read(path).map_err(|source| Error::Read { path: path.to_owned(), source })?;
        let wrong = |error: serde_json::Error| Error::Data { path: path.to_owned(), problem: error.to_string() };
        serde_json::from_slice(&bytes).map_err(wrong)
    }

    /// Writes floors for [`Floors::read`].
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        let mut text = serde_json::to_string_pretty(self).expect("numbers and names become JSON");
        text.push('\n');
        let replaced = pith_corpus::atomic_file::replace_named_file(path, text.as_bytes());
        replaced.map_err(|error| Error::Write { path: path.to_owned(), source: std::io::Error::other(error) })
    }

    /// What the extractor reaches now on one page of `every`.
    ///
    /// # Errors
    /// When the gold cannot be read.
    pub fn measure(gold: &Path, every: NonZeroUsize) -> Result<Floors, Error> {
        let mut digests: BTreeMap<String, u64> = BTreeMap::new();
        let config = EvaluationConfig { every, ..EvaluationConfig::default() };
        let methods = evaluate(gold, &config, |set, scored| {
            let digest = digests.entry(set.to_owned()).or_insert(FNV_SEED);
            *digest = mix_page(*digest, scored);
            Ok(())
        })?;
        let sets = methods.into_iter().take(1).flat_map(|ours| ours.sets).map(|(name, set)| {
            let digest = format!("{:016x}", digests.get(&name).copied().unwrap_or(FNV_SEED));
            (name, Floor { digest, pages: set.all.pages, scores: scores(&set.all) })
        });
        Ok(Floors { every, sets: sets.collect() })
    }

    /// Compares what is reached `now` with these floors.
    pub fn compare(&self, now: &Floors) -> Comparison {
        let mut comparison = Comparison::default();
        for (set, floor) in &self.sets {
            let Some(found) = now.sets.get(set) else {
                comparison.skipped.push(format!("{set}: no such set here"));
                continue;
            };
            if found.digest != floor.digest {
                comparison.skipped.push(format!("{set}: other gold pages than those that the floor was taken on"));
                continue;
            }
            comparison.compared.push(set.clone());
            for (score, pinned) in &floor.scores {
                let reached = found.scores.get(score).copied().unwrap_or(0.0);
                if reached < pinned - slack(floor.pages) {
                    comparison.below.push(format!("{set}: {score} {reached:.4}, pinned {pinned:.4}"));
                }
            }
        }
        comparison
    }
}

/// How far a score may fall: a retrained model moves single pages, and in a small set a page weighs more.
fn slack(n_pages: usize) -> f64 {
    0.002 + 0.08 / (n_pages.max(1) as f64).sqrt()
}

fn scores(group: &GroupScore) -> BTreeMap<String, f64> {
    let named = [
        ("bow_f1", group.bow_f1),
        ("shingle_f1", group.shingle_f1),
        ("rouge_l", group.rouge_l),
        ("snippet_f1", group.snippet_f1),
    ];
    let round = |value: f64| (value * 10_000.0).round() / 10_000.0;
    named.into_iter().filter_map(|(name, value)| Some((name.to_owned(), round(value?)))).collect()
}

const FNV_SEED: u64 = 0xCBF2_9CE4_8422_2325;

/// FNV-1a over what a page and its gold are.
fn mix_page(digest: u64, scored: &ScoredPage) -> u64 {
    let truth = &scored.truth;
    let texts = [Some(&truth.id), Some(&scored.page.html), truth.text.as_ref(), truth.lang.as_ref()];
    let texts = texts.into_iter().flatten().chain(&truth.with).chain(&truth.without);
    texts.fold(digest, |digest, text| {
        let bytes = text.bytes().chain([0]);
        bytes.fold(digest, |digest, byte| (digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn floors(digest: &str, bow_f1: f64) -> Floors {
        let floor = Floor { digest: digest.into(), pages: 100, scores: BTreeMap::from([("bow_f1".into(), bow_f1)]) };
        Floors { every: NonZeroUsize::MIN, sets: BTreeMap::from([("set".into(), floor)]) }
    }

    #[test]
    fn a_fall_is_named_and_noise_is_not() {
        let pinned = floors("a", 0.9);
        assert!(pinned.compare(&floors("a", 0.895)).below.is_empty());
        let fallen = pinned.compare(&floors("a", 0.85));
        assert_eq!(fallen.below, ["set: bow_f1 0.8500, pinned 0.9000"]);
    }

    #[test]
    fn other_gold_is_not_compared() {
        let comparison = floors("a", 0.9).compare(&floors("b", 0.1));
        assert!(comparison.below.is_empty() && comparison.compared.is_empty() && comparison.skipped.len() == 1);
    }
}
