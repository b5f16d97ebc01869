//! Which blocks to keep: all that are as likely as a threshold, and the threshold is the page's own.
//!
//! With probabilities that mean what they say, keeping the blocks above `t` gives the expected F1
//! `2 Σ n·p / (Σ n·p over all + Σ n over the kept)`, in words. That promise is one of the things by which a learned
//! judge compares the thresholds; how much is kept, how scattered it is and the kind of page are others.

use crate::blocks::Page;
use crate::features::{Matrix, odds};
use crate::model::Ensemble;

/// Thresholds that are compared.
pub const THRESHOLDS: [f32; 18] =
    [0.05, 0.08, 0.12, 0.16, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.87];

/// For each block whether it is kept.
pub fn choose(page: &Page<'_>, probabilities: &[f32], types: &[f32], judge: &Ensemble) -> Vec<bool> {
    let scores = judge.probabilities(&candidates(page, probabilities, types));
    let threshold = THRESHOLDS[best(&scores)];
    probabilities.iter().map(|probability| *probability >= threshold).collect()
}

/// The best score, where neighbours lend each other half of theirs: a lonely peak is chance.
fn best(scores: &[f32]) -> usize {
    let smooth = |index: usize| {
        let before = scores[index.saturating_sub(1)];
        let after = scores[(index + 1).min(scores.len() - 1)];
        before + 2.0 * scores[index] + after
    };
    (0..scores.len()).max_by(|a, b| smooth(*a).total_cmp(&smooth(*b)).then(b.cmp(a))).unwrap_or(0)
}

/// What would be kept above one threshold.
#[derive(Clone, Copy, Debug, Default)]
struct Kept {
    words: f32,
    expected: f32,
    link_words: f32,
    long_words: f32,
    blocks: f32,
    runs: f32,
    first: usize,
    end: usize,
}

/// What is known about keeping the blocks above each threshold: one row per threshold.
pub fn candidates(page: &Page<'_>, probabilities: &[f32], types: &[f32]) -> Matrix {
    let mut total = Kept::default();
    let mut kept = [Kept::default(); THRESHOLDS.len()];
    let mut before = 0;
    for (index, (block, probability)) in page.blocks.iter().zip(probabilities).enumerate() {
        let words = block.n_words() as f32;
        let long = if block.n_words() >= 12 && block.link_words * 2 < block.n_words() { words } else { 0.0 };
        total.words += words;
        total.expected += words * probability;
        // The block is kept by this many of the thresholds, the lowest ones.
        let passed = THRESHOLDS.partition_point(|threshold| threshold <= probability);
        for (threshold, kept) in kept[..passed].iter_mut().enumerate() {
            if kept.blocks == 0.0 {
                kept.first = index;
            }
            kept.words += words;
            kept.expected += words * probability;
            kept.link_words += block.link_words as f32;
            kept.long_words += long;
            kept.blocks += 1.0;
            kept.runs += f32::from(threshold >= before);
            kept.end = index + 1;
        }
        before = passed;
    }
    columns(&kept, &total, page.blocks.len(), types)
}

fn columns(kept: &[Kept], total: &Kept, n_blocks: usize, types: &[f32]) -> Matrix {
    let part = |part: f32, whole: f32| if whole > 0.0 { part / whole } else { 0.0 };
    let linear = |value: f32| (value * 63.0).clamp(0.0, 63.0) as u8;
    let logarithm = |words: f32| ((words + 1.0).log2() * 4.0).clamp(0.0, 63.0) as u8;
    let promise = |kept: &Kept| part(2.0 * kept.expected, total.expected + kept.words);
    let highest = kept.iter().map(promise).fold(0.0, f32::max);
    let mut matrix = Matrix::of_rows(kept.len());
    let mut column = |value: &dyn Fn(&Kept) -> u8| matrix.push(kept.iter().map(value));
    column(&|kept| linear(promise(kept)));
    column(&|kept| linear(1.0 - 4.0 * (1.0 - part(promise(kept), highest))));
    column(&|kept| linear(part(kept.words, total.words)));
    column(&|kept| logarithm(kept.words));
    column(&|kept| linear(part(kept.expected, kept.words)));
    column(&|kept| linear(part(kept.expected, total.expected)));
    column(&|kept| odds(part(total.expected - kept.expected, total.words - kept.words)));
    column(&|kept| linear(part(kept.runs, kept.blocks)));
    column(&|kept| linear(part(kept.link_words, kept.words)));
    column(&|kept| linear(part(kept.long_words, kept.words)));
    column(&|kept| linear(part((kept.end - kept.first) as f32, n_blocks as f32)));
    column(&|kept| linear(part(kept.blocks, (kept.end - kept.first) as f32)));
    matrix.push((0..kept.len()).map(|index| index as u8));
    matrix.push((0..kept.len()).map(|index| {
        let lower = kept[index.saturating_sub(1)].words;
        linear(1.0 - part(kept[index].words, lower))
    }));
    matrix.push_types(types);
    matrix
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Tree;

    fn page(html: &str) -> Page<'_> {
        Page::read(crate::tree::Tree::parse(html))
    }

    #[test]
    fn a_candidate_counts_what_it_keeps() {
        let page = page("<p>one two three<p>four<p>five six<p>seven");
        let matrix = candidates(&page, &[0.9, 0.1, 0.6, 0.01], &[0.5]);
        assert_eq!(matrix.n_blocks(), THRESHOLDS.len());
        let shares = matrix.column(2);
        // Above 0.05 six of seven words stay, above 0.87 three.
        assert_eq!((shares[0], shares[17]), ((63.0 * 6.0 / 7.0) as u8, (63.0 * 3.0 / 7.0) as u8));
        // One run of three blocks, then two runs of one block each.
        assert_eq!((matrix.column(7)[0], matrix.column(7)[8]), (21, 63));
    }

    #[test]
    fn the_threshold_with_the_best_score_is_taken() {
        let page = page("<p>one two three<p>four");
        let likes_high =
            Ensemble { base: 0.0, scale: 1.0, trees: vec![Tree { splits: vec![(12, 10)], leaves: vec![0, 1] }] };
        assert_eq!(choose(&page, &[0.9, 0.3], &[], &likes_high), [true, false]);
    }

    #[test]
    fn a_page_without_blocks_keeps_nothing() {
        assert!(choose(&page(""), &[], &[], &Ensemble::default()).is_empty());
    }
}
