//! What each threshold would keep: the features by which the judge compares them.

use super::THRESHOLDS;
use crate::blocks::{Block, Page, place};
use crate::features::{Matrix, is_long, odds};

/// Sums over the blocks that are kept.
mod sum {
    pub const WORDS: usize = 0;
    pub const EXPECTED: usize = 1;
    pub const LINK_WORDS: usize = 2;
    pub const LONG_WORDS: usize = 3;
    pub const BLOCKS: usize = 4;
    pub const MAIN: usize = 5;
    pub const ARTICLE: usize = 6;
    pub const HIDDEN: usize = 7;
    pub const ITEMS: usize = 8;
    pub const AROUND: usize = 9;
    pub const COUNT: usize = 10;
}

/// Words in each of these places are counted.
const PLACES: [(usize, u32); 5] = [
    (sum::MAIN, place::MAIN),
    (sum::ARTICLE, place::ARTICLE),
    (sum::HIDDEN, place::HIDDEN),
    (sum::ITEMS, place::LIST | place::TABLE),
    (sum::AROUND, place::NAV | place::HEADER | place::FOOTER | place::ASIDE),
];

/// What would be kept above one threshold.
#[derive(Clone, Copy, Debug)]
struct Kept {
    sums: [f32; sum::COUNT],
    /// Blocks that follow one that is not kept.
    runs: f32,
    /// From the first block to behind the last.
    first: usize,
    end: usize,
}

impl Default for Kept {
    fn default() -> Self {
        Kept { sums: [0.0; sum::COUNT], runs: 0.0, first: usize::MAX, end: 0 }
    }
}

impl Kept {
    fn add_block(&mut self, index: usize, block: &Block, probability: f32) {
        let words = block.n_words() as f32;
        self.sums[sum::WORDS] += words;
        self.sums[sum::EXPECTED] += words * probability;
        self.sums[sum::LINK_WORDS] += block.link_words as f32;
        if is_long(block) {
            self.sums[sum::LONG_WORDS] += words;
        }
        self.sums[sum::BLOCKS] += 1.0;
        for (sum, place) in PLACES {
            if block.places & place != 0 {
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

    /// How many blocks lie between the first and the last.
    fn span(&self) -> f32 {
        self.end.saturating_sub(self.first) as f32
    }
}

/// What is known about keeping the blocks above each threshold: one row per threshold.
pub fn candidates(page: &Page<'_>, probabilities: &[f32], types: &[f32]) -> Matrix<'static> {
    // Blocks by how many of the thresholds keep them; those are the lowest ones.
    let mut levels = [Kept::default(); THRESHOLDS.len() + 1];
    let mut n_runs = [0i32; THRESHOLDS.len() + 1];
    let mut before = 0;
    for (index, (block, probability)) in page.blocks.iter().zip(probabilities).enumerate() {
        let passed = THRESHOLDS.partition_point(|threshold| threshold <= probability);
        levels[passed].add_block(index, block, *probability);
        if passed > before {
            // The thresholds from `before` on start a run here.
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

fn columns(kept: &[Kept], page: &Kept, types: &[f32]) -> Matrix<'static> {
    let part = |part: f32, whole: f32| if whole > 0.0 { part / whole } else { 0.0 };
    let linear = |value: f32| (value * 63.0).clamp(0.0, 63.0) as u8;
    let logarithm = |words: f32| ((words + 1.0).log2() * 4.0).clamp(0.0, 63.0) as u8;
    let promise = |kept: &Kept| part(2.0 * kept.sums[sum::EXPECTED], page.sums[sum::EXPECTED] + kept.sums[sum::WORDS]);
    let highest = kept.iter().map(promise).fold(0.0, f32::max);
    let mut matrix = Matrix::of_rows(kept.len());
    let mut column = |value: &dyn Fn(&Kept) -> u8| matrix.push(kept.iter().map(value));
    column(&|kept| linear(promise(kept)));
    column(&|kept| linear(1.0 - 4.0 * (1.0 - part(promise(kept), highest))));
    column(&|kept| logarithm(kept.sums[sum::WORDS]));
    column(&|kept| {
        odds(part(page.sums[sum::EXPECTED] - kept.sums[sum::EXPECTED], page.sums[sum::WORDS] - kept.sums[sum::WORDS]))
    });
    column(&|kept| linear(part(kept.runs, kept.sums[sum::BLOCKS])));
    column(&|kept| linear(part(kept.span(), page.sums[sum::BLOCKS])));
    column(&|kept| linear(part(kept.sums[sum::BLOCKS], kept.span())));
    // How much of what the page has is kept, and how much of what is kept is of the kind.
    for sum in [sum::WORDS, sum::EXPECTED, sum::MAIN, sum::ARTICLE] {
        column(&|kept| linear(part(kept.sums[sum], page.sums[sum])));
    }
    for sum in [sum::EXPECTED, sum::LINK_WORDS, sum::LONG_WORDS].into_iter().chain(PLACES.map(|(sum, _)| sum)) {
        column(&|kept| linear(part(kept.sums[sum], kept.sums[sum::WORDS])));
    }
    matrix.push((0..kept.len()).map(|index| index as u8));
    // What is lost by going one threshold up to this one, of all words and of those in the main part.
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
    fn a_candidate_counts_what_it_keeps() {
        let page = Page::read(Tree::parse("<p>one two three<p>four<main><p>five six</main><p>seven"));
        let matrix = candidates(&page, &[0.9, 0.1, 0.6, 0.01], &[0.5]);
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
