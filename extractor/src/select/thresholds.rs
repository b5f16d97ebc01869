//! The features of each candidate threshold, from which the classifier scores it.

use super::THRESHOLDS;
use crate::blocks::{Block, Page, ancestor};
use crate::features::{Matrix, is_prose, odds};

/// Sums over the kept blocks, as indices.
mod sum {
    pub const WORDS: usize = 0;
    pub const EXPECTED: usize = 1;
    pub const LINK_WORDS: usize = 2;
    pub const PROSE_WORDS: usize = 3;
    pub const BLOCKS: usize = 4;
    pub const MAIN: usize = 5;
    pub const ARTICLE: usize = 6;
    pub const HIDDEN: usize = 7;
    pub const ITEMS: usize = 8;
    pub const BOILERPLATE: usize = 9;
    pub const COUNT: usize = 10;
}

/// Words inside these ancestors are counted.
const ANCESTORS: [(usize, u32); 5] = [
    (sum::MAIN, ancestor::MAIN),
    (sum::ARTICLE, ancestor::ARTICLE),
    (sum::HIDDEN, ancestor::HIDDEN),
    (sum::ITEMS, ancestor::LIST | ancestor::TABLE),
    (sum::BOILERPLATE, ancestor::NAV | ancestor::HEADER | ancestor::FOOTER | ancestor::ASIDE),
];

/// The blocks that one threshold, or a whole selection, keeps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kept {
    sums: [f32; sum::COUNT],
    /// Runs of neighbouring kept blocks.
    runs: f32,
    /// The index of the first kept block and the one after the last.
    first: usize,
    end: usize,
}

impl Default for Kept {
    fn default() -> Self {
        Kept { sums: [0.0; sum::COUNT], runs: 0.0, first: usize::MAX, end: 0 }
    }
}

impl Kept {
    pub(super) fn add_block(&mut self, index: usize, block: &Block, probability: f32) {
        let words = block.n_words() as f32;
        self.sums[sum::WORDS] += words;
        self.sums[sum::EXPECTED] += words * probability;
        self.sums[sum::LINK_WORDS] += block.link_words as f32;
        if is_prose(block) {
            self.sums[sum::PROSE_WORDS] += words;
        }
        self.sums[sum::BLOCKS] += 1.0;
        for (sum, bits) in ANCESTORS {
            if block.ancestors & bits != 0 {
                self.sums[sum] += words;
            }
        }
        self.first = self.first.min(index);
        self.end = self.end.max(index + 1);
    }

    fn add(&mut self, other: &Kept) {
        for (sum, more) in self.sums.iter_mut().zip(other.sums) {
            *sum += more;
        }
        self.first = self.first.min(other.first);
        self.end = self.end.max(other.end);
    }

    pub(super) fn add_runs(&mut self, runs: f32) {
        self.runs += runs;
    }

    pub(super) fn n_words(&self) -> f32 {
        self.sums[sum::WORDS]
    }

    /// The expected number of content words.
    pub(super) fn n_expected(&self) -> f32 {
        self.sums[sum::EXPECTED]
    }

    /// The number of blocks from the first to the last kept one.
    fn span(&self) -> f32 {
        self.end.saturating_sub(self.first) as f32
    }
}

/// The features of each threshold, given the probabilities of the blocks: one row per entry of [`THRESHOLDS`].
pub fn threshold_features(page: &Page<'_>, probabilities: &[f32], types: &[f32]) -> Matrix<'static> {
    // Blocks by the number of thresholds that keep them, which are always the lowest ones.
    let mut levels = [Kept::default(); THRESHOLDS.len() + 1];
    let mut n_runs = [0i32; THRESHOLDS.len() + 1];
    let mut before = 0;
    for (index, (block, probability)) in page.blocks.iter().zip(probabilities).enumerate() {
        let passed = THRESHOLDS.partition_point(|threshold| threshold <= probability);
        levels[passed].add_block(index, block, *probability);
        if passed > before {
            // For the thresholds `before..passed` a run of kept blocks starts here.
            n_runs[before] += 1;
            n_runs[passed] -= 1;
        }
        before = passed;
    }
    let mut kept = [Kept::default(); THRESHOLDS.len()];
    let mut above = Kept::default();
    for (kept, level) in kept.iter_mut().zip(&levels[1..]).rev() {
        above.add(level);
        *kept = above;
    }
    let mut runs = 0;
    for (kept, change) in kept.iter_mut().zip(n_runs) {
        runs += change;
        kept.runs = runs as f32;
    }
    let mut page_total = above;
    page_total.add(&levels[0]);
    columns(&kept, &page_total, types)
}

/// The columns of some selections of a page, one row each.
pub(super) fn columns(kept: &[Kept], page: &Kept, types: &[f32]) -> Matrix<'static> {
    let part = |part: f32, whole: f32| if whole > 0.0 { part / whole } else { 0.0 };
    let linear = |value: f32| (value * 63.0).clamp(0.0, 63.0) as u8;
    let logarithm = |words: f32| ((words + 1.0).log2() * 4.0).clamp(0.0, 63.0) as u8;
    let expected_f1 =
        |kept: &Kept| part(2.0 * kept.sums[sum::EXPECTED], page.sums[sum::EXPECTED] + kept.sums[sum::WORDS]);
    let highest = kept.iter().map(expected_f1).fold(0.0, f32::max);
    let mut matrix = Matrix::of_rows(kept.len());
    let mut column = |value: &dyn Fn(&Kept) -> u8| matrix.push(kept.iter().map(value));
    column(&|kept| linear(expected_f1(kept)));
    column(&|kept| linear(1.0 - 4.0 * (1.0 - part(expected_f1(kept), highest))));
    column(&|kept| logarithm(kept.sums[sum::WORDS]));
    column(&|kept| {
        odds(part(page.sums[sum::EXPECTED] - kept.sums[sum::EXPECTED], page.sums[sum::WORDS] - kept.sums[sum::WORDS]))
    });
    column(&|kept| linear(part(kept.runs, kept.sums[sum::BLOCKS])));
    column(&|kept| linear(part(kept.span(), page.sums[sum::BLOCKS])));
    column(&|kept| linear(part(kept.sums[sum::BLOCKS], kept.span())));
    // The share of the page's words of each kind that is kept, and the share of each kind in the kept words.
    for sum in [sum::WORDS, sum::EXPECTED, sum::MAIN, sum::ARTICLE] {
        column(&|kept| linear(part(kept.sums[sum], page.sums[sum])));
    }
    for sum in [sum::EXPECTED, sum::LINK_WORDS, sum::PROSE_WORDS].into_iter().chain(ANCESTORS.map(|(sum, _)| sum)) {
        column(&|kept| linear(part(kept.sums[sum], kept.sums[sum::WORDS])));
    }
    matrix.push((0..kept.len()).map(|index| index as u8));
    // The share lost against the next lower threshold, of all words and of those inside `<main>`.
    for sum in [sum::WORDS, sum::MAIN] {
        matrix.push((0..kept.len()).map(|index| {
            let lower = kept[index.saturating_sub(1)].sums[sum];
            linear(1.0 - part(kept[index].sums[sum], lower))
        }));
    }
    for sum in [sum::MAIN, sum::ARTICLE] {
        matrix.push_shared(linear(part(page.sums[sum], page.sums[sum::WORDS])));
    }
    matrix.push_types(types);
    matrix
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;

    #[test]
    fn a_threshold_counts_what_it_keeps() {
        let page = Page::read(Tree::parse("<p>one two three<p>four<main><p>five six</main><p>seven"));
        let matrix = threshold_features(&page, &[0.9, 0.1, 0.6, 0.01], &[0.5]);
        assert_eq!(matrix.n_blocks(), THRESHOLDS.len());
        let row = |feature| (matrix.value(feature, 0), matrix.value(feature, 8), matrix.value(feature, 17));
        // Above 0.05 six of seven words stay, above 0.4 five, above 0.87 three.
        assert_eq!(row(7), [6.0, 5.0, 3.0].map(|words: f32| (63.0 * words / 7.0) as u8).into());
        // One run of three blocks, then two runs of one block each, then one.
        assert_eq!(row(4), (21, 63, 63));
        // The two words of the main part stay as long as their block.
        assert_eq!(row(9), (63, 63, 0));
    }
}
