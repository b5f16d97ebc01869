//! Selects the blocks of a page that are main content: all whose probability reaches a threshold chosen for the page.
//!
//! With calibrated probabilities, keeping the blocks above `t` gives the expected F1
//! `2 Σ n·p / (Σ n·p over all + Σ n over the kept)`, counted in words. The expected F1 is one feature of the classifier
//! that scores the thresholds; how much is kept, how scattered it is, what surrounds it and the page type are others.
//! On product pages the expected F1 alone decides.
//!
//! Rules run before and after the threshold. Before ([`prefilter`]): low probabilities in menus, headers, footers, asides
//! and link lists next to prose are set to zero; a page with no likely block has no content; a page unlike the training
//! pages falls back to its `<main>`. After ([`postprocess`]): hidden parts of articles, signatures below posts and
//! repeated blocks and pleas for scripts or cookies ([`notices`]) are dropped, a thread of comments is kept whole, and a result of a few words or a `noscript` notice is
//! dropped.

mod confidence;
mod notices;
mod postprocess;
mod prefilter;
mod thresholds;

use crate::blocks::Page;
use crate::model::Ensemble;
use crate::{Favor, PageType, cancel, tables};
pub use confidence::{CONFIDENCE_FEATURES, confidence_features};
pub use postprocess::RepeatFilter;
pub use prefilter::suppress_boilerplate;
pub use thresholds::threshold_features;

/// The candidate thresholds, of which one is chosen for each page.
pub const THRESHOLDS: [f32; 18] =
    [0.05, 0.08, 0.12, 0.16, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.87];

/// An expected F1 from which on the other ensembles are not evaluated.
const CONFIDENT_F1: f32 = 0.9;

/// Whether some threshold has so high an expected F1 that evaluating more ensembles would hardly change the result.
pub(crate) fn is_confident(page: &Page<'_>, probabilities: &[f32]) -> bool {
    expected_f1(page, probabilities).iter().any(|f1| *f1 >= CONFIDENT_F1)
}

/// The expected F1, in words, of keeping the blocks above each threshold.
fn expected_f1(page: &Page<'_>, probabilities: &[f32]) -> [f32; THRESHOLDS.len()] {
    // Words by the number of thresholds that keep them: all words, and the expected number of content words.
    let mut levels = [(0.0f32, 0.0f32); THRESHOLDS.len() + 1];
    for (block, probability) in page.blocks.iter().zip(probabilities) {
        let words = block.n_words() as f32;
        let (all, right) = &mut levels[THRESHOLDS.partition_point(|threshold| threshold <= probability)];
        *all += words;
        *right += words * probability;
    }
    let expected: f32 = levels.iter().map(|(_, right)| right).sum();
    let (mut all, mut right) = (0.0, 0.0);
    let mut scores = [0.0; THRESHOLDS.len()];
    for (score, (more, more_right)) in scores.iter_mut().zip(&levels[1..]).rev() {
        all += more;
        right += more_right;
        *score = if all > 0.0 { 2.0 * right / (expected + all) } else { 0.0 };
    }
    scores
}

/// Another threshold is taken for the sake of precision or recall where its score is at least this share of the best.
const FAVORED_SHARE: f32 = 0.92;

/// For each block whether it is main content, given its probability, the probability of each page type and the
/// classifier that scores thresholds.
pub fn select_blocks(
    page: &Page<'_>,
    probabilities: &[f32],
    types: &[f32],
    classifier: &Ensemble,
    favor: Favor,
) -> Vec<bool> {
    let nothing = || vec![false; probabilities.len()];
    let probabilities = &suppress_boilerplate(page, probabilities, types)[..];
    let mut kept = match prefilter::fallback_to_main(page, probabilities) {
        Some(kept) => kept,
        None if prefilter::has_no_content(page, probabilities) => nothing(),
        None => {
            // Product pages differ too much between shops for the few in the training set: there the classifier scores
            // below the expected F1.
            let scores = if is_most_likely(types, PageType::Product) {
                expected_f1(page, probabilities).to_vec()
            } else {
                classifier.probabilities(&threshold_features(page, probabilities, types))
            };
            let threshold = THRESHOLDS[choose(&scores, favor)];
            probabilities.iter().map(|probability| *probability >= threshold).collect()
        }
    };
    cancel::check();
    postprocess::postprocess(page, types, &mut kept);
    cancel::check();
    notices::drop_notices(page, &mut kept);
    if prefilter::is_negligible(page, probabilities, &kept) { nothing() } else { kept }
}

/// Keeps or drops every row of every data table as a whole, as selections do.
pub fn keep_table_rows_whole(page: &Page<'_>, kept: &mut [bool]) {
    tables::keep_rows_whole(page, kept);
}

/// The probability of a page type; 0 where none is known.
fn type_probability(types: &[f32], page_type: PageType) -> f32 {
    types.get(page_type as usize).copied().unwrap_or_default()
}

/// Whether no other page type is more likely.
fn is_most_likely(types: &[f32], page_type: PageType) -> bool {
    let probability = type_probability(types, page_type);
    probability > 0.0 && types.iter().all(|other| *other <= probability)
}

/// The index of the threshold to use: of the best score, or of the highest or lowest threshold that scores nearly as well.
/// Scores are smoothed with weights 1, 2, 1, so that a single outlier does not win.
fn choose(scores: &[f32], favor: Favor) -> usize {
    let smoothed = |index: usize| {
        let before = scores[index.saturating_sub(1)];
        let after = scores[(index + 1).min(scores.len() - 1)];
        before + 2.0 * scores[index] + after
    };
    let best = (0..scores.len()).max_by(|a, b| smoothed(*a).total_cmp(&smoothed(*b)).then(b.cmp(a))).unwrap_or(0);
    let is_near = |index: &usize| smoothed(*index) >= FAVORED_SHARE * smoothed(best);
    match favor {
        Favor::Balance => best,
        Favor::Precision => (best..scores.len()).rev().find(is_near).unwrap_or(best),
        Favor::Recall => (0..best).find(is_near).unwrap_or(best),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::DecisionTree;

    /// The blocks that are kept where neither precision nor recall is favored.
    fn select_blocks(page: &Page<'_>, probabilities: &[f32], types: &[f32], classifier: &Ensemble) -> Vec<bool> {
        super::select_blocks(page, probabilities, types, classifier, Favor::Balance)
    }

    fn page(html: &str) -> Page<'_> {
        Page::read(crate::tree::Tree::parse(html))
    }

    #[test]
    fn the_threshold_with_the_best_score_is_taken() {
        let page = page("<p>one two three<p>four");
        let prefers_high = Ensemble {
            base: 0.0,
            scale: 1.0,
            trees: vec![DecisionTree { splits: vec![(19, 10)], leaves: vec![0, 1] }],
        };
        assert_eq!(select_blocks(&page, &[0.9, 0.3], &[], &prefers_high), [true, false]);
    }

    #[test]
    fn the_highest_or_lowest_threshold_near_the_best_is_taken_on_demand() {
        let scores = [0.5, 0.7, 0.8, 0.84, 0.86, 0.84, 0.83, 0.6, 0.3];
        assert_eq!(choose(&scores, Favor::Balance), 4);
        assert_eq!(choose(&scores, Favor::Precision), 5);
        assert_eq!(choose(&scores, Favor::Recall), 2);
        assert_eq!(choose(&[0.1, 0.9, 0.1], Favor::Precision), 1);
    }

    #[test]
    fn on_products_the_expected_f1_decides() {
        let page = page("<p>one two three<p>four five");
        let prefers_high = Ensemble {
            base: 0.0,
            scale: 1.0,
            trees: vec![DecisionTree { splits: vec![(19, 16)], leaves: vec![0, 1] }],
        };
        let kept = |product| select_blocks(&page, &[0.95, 0.7], &[0.5, 0.0, product], &prefers_high);
        assert_eq!(kept(0.1), [true, false]);
        assert_eq!(kept(0.9), [true, true]);
    }

    #[test]
    fn a_thread_of_unlikely_comments_is_not_empty() {
        let says = "<div class=comment><p>Nobody has said why the new solver is slower than the old one.</div>";
        let html =
            format!("<h1>A link</h1>{}", (0..12).map(|n| says.replace("one", &n.to_string())).collect::<String>());
        let page = page(&html);
        let kept = select_blocks(&page, &vec![0.1; page.blocks.len()], &[0.3, 0.8], &Ensemble::default());
        assert_eq!(kept.iter().filter(|kept| **kept).count(), 12);
        let article = select_blocks(&page, &vec![0.1; page.blocks.len()], &[0.8, 0.1], &Ensemble::default());
        assert!(!article.contains(&true));
    }

    #[test]
    fn a_high_expected_f1_is_confident() {
        let page = page("<p>one two three<p>four<p>five six");
        assert!(is_confident(&page, &[0.99, 0.01, 0.98]));
        assert!(!is_confident(&page, &[0.99, 0.5, 0.5]));
        assert!(!is_confident(&page, &[0.0, 0.0, 0.0]));
    }

    #[test]
    fn a_page_without_blocks_keeps_nothing() {
        assert!(select_blocks(&page(""), &[], &[], &Ensemble::default()).is_empty());
    }
}
