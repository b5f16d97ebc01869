//! Which blocks to keep: all that are as likely as a threshold, and the threshold is the page's own.
//!
//! With probabilities that mean what they say, keeping the blocks above `t` gives the expected F1
//! `2 Σ n·p / (Σ n·p over all + Σ n over the kept)`, in words. That promise is one of the things by which a learned
//! judge compares the thresholds; how much is kept, how scattered it is and the kind of page are others.
//!
//! Two things are settled without the judge: a page whose every block is unlikely has no content, and what an article
//! hides is not a part of it.

use crate::PageType;
use crate::blocks::{Page, place};
use crate::features::{Matrix, odds};
use crate::model::Ensemble;

/// Thresholds that are compared.
pub const THRESHOLDS: [f32; 18] =
    [0.05, 0.08, 0.12, 0.16, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.87];

/// Where no block is as likely as this, there is no content: shells that a script fills, walls, errors.
const LIKELY: f32 = 0.3;

/// With fewer words there is too little of a page to say so.
const MIN_PAGE_WORDS: usize = 100;

/// The least share of the kept words that must be in sight before the hidden ones go: some pages hide everything until
/// a script has run.
const IN_SIGHT: f32 = 0.2;

/// Pages that promise this F1 are as good as settled.
const SURE: f32 = 0.9;

/// Whether these probabilities leave so little open that more work on them would not pay.
pub(crate) fn is_sure(page: &Page<'_>, probabilities: &[f32]) -> bool {
    let mut kept = [(0.0f32, 0.0f32); THRESHOLDS.len() + 1];
    for (block, probability) in page.blocks.iter().zip(probabilities) {
        let words = block.n_words() as f32;
        let (all, right) = &mut kept[THRESHOLDS.partition_point(|threshold| threshold <= probability)];
        *all += words;
        *right += words * probability;
    }
    let expected: f32 = kept.iter().map(|(_, right)| right).sum();
    let (mut all, mut right) = (0.0, 0.0);
    kept[1..].iter().rev().any(|(more, more_right)| {
        all += more;
        right += more_right;
        2.0 * right >= SURE * (expected + all) && all > 0.0
    })
}

/// For each block whether it is kept.
pub fn choose(page: &Page<'_>, probabilities: &[f32], types: &[f32], judge: &Ensemble) -> Vec<bool> {
    let likeliest = probabilities.iter().copied().fold(0.0, f32::max);
    if likeliest < LIKELY && page.words.len() >= MIN_PAGE_WORDS {
        return vec![false; probabilities.len()];
    }
    let scores = judge.probabilities(&candidates(page, probabilities, types));
    let threshold = THRESHOLDS[best(&scores)];
    let mut kept: Vec<bool> = probabilities.iter().map(|probability| *probability >= threshold).collect();
    if types.get(PageType::Article as usize).is_some_and(|article| *article >= 0.5) {
        drop_hidden(page, &mut kept);
    }
    kept
}

/// Drops what is hidden, where enough in sight is kept.
fn drop_hidden(page: &Page<'_>, kept: &mut [bool]) {
    let (mut hidden, mut in_sight) = (0, 0);
    for (block, _) in page.blocks.iter().zip(&*kept).filter(|(_, kept)| **kept) {
        *(if block.places & place::HIDDEN != 0 { &mut hidden } else { &mut in_sight }) += block.n_words();
    }
    if in_sight as f32 >= IN_SIGHT * (hidden + in_sight) as f32 {
        for (block, kept) in page.blocks.iter().zip(kept) {
            *kept &= block.places & place::HIDDEN == 0;
        }
    }
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
    fn sure_is_who_expects_to_be_right() {
        let page = page("<p>one two three<p>four<p>five six");
        assert!(is_sure(&page, &[0.99, 0.01, 0.98]));
        assert!(!is_sure(&page, &[0.99, 0.5, 0.5]));
        assert!(!is_sure(&page, &[0.0, 0.0, 0.0]));
    }

    /// Keeps all blocks above the lowest threshold.
    fn likes_low() -> Ensemble {
        Ensemble { base: 0.0, scale: 1.0, trees: vec![Tree { splits: vec![(12, 0)], leaves: vec![1, 0] }] }
    }

    #[test]
    fn a_long_page_without_any_likely_block_has_no_content() {
        let long = format!("<p>{}<p>b", "a ".repeat(120));
        assert_eq!(choose(&page(&long), &[0.2, 0.1], &[], &likes_low()), [false, false]);
        assert_eq!(choose(&page(&long), &[0.4, 0.1], &[], &likes_low()), [true, true]);
        assert_eq!(choose(&page("<p>one two<p>b"), &[0.2, 0.1], &[], &likes_low()), [true, true]);
    }

    #[test]
    fn what_an_article_hides_is_dropped_unless_it_hides_nearly_all() {
        let [article, other] = [[0.9], [0.1]];
        let some = page("<p>one two three<p hidden>four");
        assert_eq!(choose(&some, &[0.9, 0.9], &article, &likes_low()), [true, false]);
        assert_eq!(choose(&some, &[0.9, 0.9], &other, &likes_low()), [true, true]);
        let nearly_all = page("<p>one<p hidden>two three four five six seven");
        assert_eq!(choose(&nearly_all, &[0.9, 0.9], &article, &likes_low()), [true, true]);
    }

    #[test]
    fn a_page_without_blocks_keeps_nothing() {
        assert!(choose(&page(""), &[], &[], &Ensemble::default()).is_empty());
    }
}
