//! What the trees of thresholds learn from: for every page and threshold, how near keeping the blocks above it comes to
//! the best that any threshold could do.

use std::collections::HashMap;

use pith_extractor::blocks::Page;
use pith_extractor::features::word_hashes;
use pith_extractor::{
    ParsedPage, RepeatFilter, THRESHOLDS, keep_table_rows_whole, suppress_boilerplate, threshold_features,
};

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
        let gold = word_hashes(sample.truth.text.as_deref()?);
        let reading = ParsedPage::parse(&sample.page.html, sample.page.url.as_deref().unwrap_or(""));
        let probabilities = suppress_boilerplate(&reading.page, &block_probabilities[page], &type_probabilities[page]);
        let said = RepeatFilter::new(&type_probabilities[page]);
        let scores = f1_by_threshold(&reading.page, &probabilities, &gold, said);
        let best = scores.iter().copied().fold(0.0, f32::max);
        let matrix = threshold_features(&reading.page, &probabilities, &type_probabilities[page]);
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

/// The bag-of-words F1 of keeping all blocks above each threshold that say anything new, tables by whole rows.
fn f1_by_threshold(
    page: &Page<'_>,
    probabilities: &[f32],
    gold: &[u32],
    mut said: RepeatFilter,
) -> [f32; THRESHOLDS.len()] {
    let mut words = SharedWords::new(gold);
    let mut counted = vec![false; probabilities.len()];
    let mut scores = [0.0; THRESHOLDS.len()];
    for (score, threshold) in scores.iter_mut().zip(THRESHOLDS).rev() {
        let mut kept: Vec<bool> = probabilities.iter().map(|probability| *probability >= threshold).collect();
        keep_table_rows_whole(page, &mut kept);
        for (index, kept) in kept.into_iter().enumerate() {
            let block = &page.blocks[index];
            if kept == counted[index] {
                continue;
            }
            if !kept {
                page.block_words(block).iter().for_each(|word| words.remove(*word));
            } else if said.insert(block) {
                page.block_words(block).iter().for_each(|word| words.add(*word));
            } else {
                continue;
            }
            counted[index] = kept;
        }
        *score = 2.0 * words.n_shared as f32 / (words.n_kept + gold.len()).max(1) as f32;
    }
    scores
}

/// How many words are kept, and how many of them the gold has too.
struct SharedWords {
    /// For each word of the gold how often it has it, less how often it is kept.
    left: HashMap<u32, i32>,
    n_kept: usize,
    n_shared: usize,
}

impl SharedWords {
    fn new(gold: &[u32]) -> SharedWords {
        let mut left: HashMap<u32, i32> = HashMap::new();
        for word in gold {
            *left.entry(*word).or_default() += 1;
        }
        SharedWords { left, n_kept: 0, n_shared: 0 }
    }

    fn add(&mut self, word: u32) {
        self.n_kept += 1;
        if let Some(left) = self.left.get_mut(&word) {
            self.n_shared += usize::from(*left > 0);
            *left -= 1;
        }
    }

    fn remove(&mut self, word: u32) {
        self.n_kept -= 1;
        if let Some(left) = self.left.get_mut(&word) {
            *left += 1;
            self.n_shared -= usize::from(*left > 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pith_extractor::tree::Tree;

    #[test]
    fn the_right_threshold_has_the_best_score() {
        let page = Page::read(Tree::parse("<p>one two three four<p>home<p>five six"));
        let scores = f1_by_threshold(
            &page,
            &[0.9, 0.3, 0.6],
            &word_hashes("one two three four five six"),
            RepeatFilter::new(&[]),
        );
        let at = |threshold: f32| scores[THRESHOLDS.iter().position(|other| *other == threshold).unwrap()];
        assert_eq!(at(0.5), 1.0);
        assert_eq!(at(0.87), 0.8);
        assert!((at(0.05) - 12.0 / 13.0).abs() < 1e-6);
    }
    #[test]
    fn a_table_counts_by_whole_rows() {
        let page = Page::read(Tree::parse(
            "<table><tr><th>name<th>size<tr><td>integer<td>four bytes<tr><td>bigint<td>eight bytes</table>",
        ));
        assert_eq!(page.blocks.len(), 6, "{:?}", page.blocks);
        // Above 0.5 the larger part of every row is kept, so that the table is.
        let scores = f1_by_threshold(
            &page,
            &[0.9, 0.6, 0.3, 0.9, 0.3, 0.9],
            &word_hashes("name size integer four bytes bigint eight bytes"),
            RepeatFilter::new(&[]),
        );
        let at = |threshold: f32| scores[THRESHOLDS.iter().position(|other| *other == threshold).unwrap()];
        assert_eq!((at(0.05), at(0.5)), (1.0, 1.0));
    }

    #[test]
    fn words_that_are_taken_back_do_not_count() {
        let mut words = SharedWords::new(&[1, 1, 2]);
        [1, 1, 1, 3].into_iter().for_each(|word| words.add(word));
        assert_eq!((words.n_kept, words.n_shared), (4, 2));
        [1, 3].into_iter().for_each(|word| words.remove(word));
        assert_eq!((words.n_kept, words.n_shared), (2, 2));
        words.remove(1);
        assert_eq!((words.n_kept, words.n_shared), (1, 1));
    }
}
