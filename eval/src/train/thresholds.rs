//! What the trees of thresholds learn from: for every page and threshold, how near keeping the blocks above it comes to
//! the best that any threshold could do.

use std::collections::HashMap;

use pith_extractor::blocks::Page;
use pith_extractor::features::words;
use pith_extractor::{Reading, Said, THRESHOLDS, candidates, plausible};

use super::fit::on_threads;
use super::samples::Sample;
use super::trees::Rows;

/// Pages on which no threshold reaches this F1 say nothing about thresholds.
const MIN_F1: f32 = 0.2;

/// A row for every threshold of every page with a gold text.
pub fn threshold_rows(
    samples: &[&Sample],
    block_probabilities: &[Vec<f32>],
    type_probabilities: &[Vec<f32>],
    weights: &[f32],
) -> Rows {
    let pages = on_threads(samples, |page, sample| {
        let gold = words(sample.truth.text.as_deref()?);
        let reading = Reading::of(&sample.page.html, sample.page.url.as_deref().unwrap_or(""));
        let probabilities = plausible(&reading.page, &block_probabilities[page], &type_probabilities[page]);
        let said = Said::on(&type_probabilities[page]);
        let scores = f1_by_threshold(&reading.page, &probabilities, &gold, said);
        let best = scores.iter().copied().fold(0.0, f32::max);
        let matrix = candidates(&reading.page, &probabilities, &type_probabilities[page]);
        (best >= MIN_F1).then_some((page, matrix, scores, best))
    });
    let mut rows = Rows::default();
    for (page, matrix, scores, best) in pages.into_iter().flatten() {
        rows.n_features = matrix.n_features();
        for (candidate, score) in scores.iter().enumerate() {
            rows.targets.push(score / best);
            rows.weights.push(weights[page] * best);
            rows.bytes.extend((0..matrix.n_features()).map(|feature| matrix.value(feature, candidate)));
        }
    }
    rows.features = (0..rows.n_features as u16).collect();
    rows
}

/// The bag-of-words F1 of keeping all blocks above each threshold that say anything new.
fn f1_by_threshold(page: &Page<'_>, probabilities: &[f32], gold: &[u32], mut said: Said) -> [f32; THRESHOLDS.len()] {
    let mut left: HashMap<u32, i32> = HashMap::new();
    for word in gold {
        *left.entry(*word).or_default() += 1;
    }
    let mut order: Vec<usize> = (0..probabilities.len()).collect();
    order.sort_by(|a, b| probabilities[*b].total_cmp(&probabilities[*a]));
    let mut order = order.into_iter().peekable();
    let (mut kept, mut shared) = (0usize, 0usize);
    let mut scores = [0.0; THRESHOLDS.len()];
    for (score, threshold) in scores.iter_mut().zip(THRESHOLDS).rev() {
        while let Some(block) = order.next_if(|block| probabilities[*block] >= threshold) {
            let block = &page.blocks[block];
            if !said.is_new(block) {
                continue;
            }
            for word in page.block_words(block) {
                kept += 1;
                if let Some(count) = left.get_mut(word).filter(|count| **count > 0) {
                    *count -= 1;
                    shared += 1;
                }
            }
        }
        *score = 2.0 * shared as f32 / (kept + gold.len()).max(1) as f32;
    }
    scores
}

#[cfg(test)]
mod tests {
    use super::*;
    use pith_extractor::tree::Tree;

    #[test]
    fn the_right_threshold_has_the_best_score() {
        let page = Page::read(Tree::parse("<p>one two three four<p>home<p>five six"));
        let scores = f1_by_threshold(&page, &[0.9, 0.3, 0.6], &words("one two three four five six"), Said::on(&[]));
        let at = |threshold: f32| scores[THRESHOLDS.iter().position(|other| *other == threshold).unwrap()];
        assert_eq!(at(0.5), 1.0);
        assert_eq!(at(0.87), 0.8);
        assert!((at(0.05) - 12.0 / 13.0).abs() < 1e-6);
    }
}
