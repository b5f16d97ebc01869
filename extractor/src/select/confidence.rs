//! The features of a selection, from which its F1 is predicted.

use super::thresholds::Kept;
use super::{expected_f1, thresholds};
use crate::PageType;
use crate::blocks::Page;
use crate::features::Matrix;

/// The names of the features of a selection, in the order of their columns. The first are those of a threshold that keeps
/// the same blocks.
pub const CONFIDENCE_FEATURES: [&str; 34] = [
    "kept.expected_f1",
    "kept.expected_f1_of_highest",
    "kept.words",
    "dropped.odds",
    "kept.runs_of_blocks",
    "kept.span_of_page",
    "kept.blocks_of_span",
    "kept.words_of_page",
    "kept.expected_of_page",
    "kept.main_of_page",
    "kept.article_of_page",
    "kept.expected_of_words",
    "kept.link_words_of_words",
    "kept.prose_of_words",
    "kept.main_of_words",
    "kept.article_of_words",
    "kept.hidden_of_words",
    "kept.items_of_words",
    "kept.boilerplate_of_words",
    "kept.index",
    "kept.words_lost",
    "kept.main_lost",
    "page.main_of_words",
    "page.article_of_words",
    "type.article",
    "type.forum",
    "type.product",
    "type.listing",
    "type.collection",
    "type.documentation",
    "type.service",
    "page.words",
    "page.uncertain_of_expected",
    "page.highest_expected_f1",
];

/// The features of what is kept of a page, given the probabilities of the blocks: one row.
pub fn confidence_features(page: &Page<'_>, probabilities: &[f32], kept: &[bool], types: &[f32]) -> Matrix<'static> {
    let (mut of_kept, mut of_page) = (Kept::default(), Kept::default());
    let mut uncertain = 0.0;
    let mut was_kept = false;
    for (index, (block, probability)) in page.blocks.iter().zip(probabilities).enumerate() {
        of_page.add_block(index, block, *probability);
        uncertain += block.n_words() as f32 * probability * (1.0 - probability);
        let is_kept = kept.get(index).copied().unwrap_or_default();
        if is_kept {
            of_kept.add_block(index, block, *probability);
            of_kept.add_runs(f32::from(!was_kept));
        }
        was_kept = is_kept;
    }
    // Where no type is known, as on a page without blocks, all are as unlikely.
    let types: Vec<f32> = (0..PageType::ALL.len()).map(|index| types.get(index).copied().unwrap_or_default()).collect();
    let mut matrix = thresholds::columns(&[of_kept], &of_page, &types);
    let byte = |value: f32| (value * 63.0).clamp(0.0, 63.0) as u8;
    let highest: f32 = expected_f1(page, probabilities).into_iter().fold(0.0, f32::max);
    matrix.push_shared(((of_page.n_words() + 1.0).log2() * 4.0).clamp(0.0, 63.0) as u8);
    matrix.push_shared(byte(uncertain / of_page.n_expected().max(1.0)));
    matrix.push_shared(byte(highest));
    matrix
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;

    #[test]
    fn every_feature_of_a_selection_has_a_name() {
        let page = Page::read(Tree::parse("<p>one two three<p>four<main><p>five six</main>"));
        for types in [&[0.1; 7][..], &[]] {
            let matrix = confidence_features(&page, &[0.9, 0.1, 0.6], &[true, false, true], types);
            assert_eq!((matrix.n_blocks(), matrix.n_features()), (1, CONFIDENCE_FEATURES.len()));
        }
    }

    #[test]
    fn the_features_are_those_of_the_threshold_that_keeps_the_same() {
        let page = Page::read(Tree::parse("<p>one two three<p>four<main><p>five six</main><p>seven"));
        let probabilities = [0.9, 0.1, 0.6, 0.01];
        let types = [0.5; 7];
        let candidates = thresholds::threshold_features(&page, &probabilities, &types);
        let matrix = confidence_features(&page, &probabilities, &[true, false, true, false], &types);
        // The threshold 0.5 has the index 10; the features that compare thresholds with each other differ.
        for (feature, name) in
            CONFIDENCE_FEATURES.iter().enumerate().take(19).filter(|(_, name)| !name.ends_with("highest"))
        {
            assert_eq!(matrix.value(feature, 0), candidates.value(feature, 10), "{name}");
        }
    }
}
