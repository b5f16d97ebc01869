//! Which blocks to keep: the threshold that promises the best F1 on this page.

use crate::blocks::Page;

/// Thresholds tried, in hundredths.
const LOWEST: usize = 5;
const HIGHEST: usize = 80;

/// For each block whether it is kept.
///
/// With probabilities that mean what they say, keeping the blocks above `t` gives the expected F1
/// `2 Σ n·p / (Σ n·p over all + Σ n over the kept)`, in words; the best `t` is taken.
pub fn choose(page: &Page<'_>, probabilities: &[f32]) -> Vec<bool> {
    let threshold = threshold(page, probabilities);
    probabilities.iter().map(|probability| *probability >= threshold).collect()
}

fn threshold(page: &Page<'_>, probabilities: &[f32]) -> f32 {
    // Words and expected words of content by hundredths of probability.
    let mut cells = [(0.0f32, 0.0f32); 101];
    for (block, probability) in page.blocks.iter().zip(probabilities) {
        let words = block.n_words() as f32;
        let cell = &mut cells[(probability * 100.0) as usize];
        cell.0 += words;
        cell.1 += words * probability;
    }
    let expected: f32 = cells.iter().map(|cell| cell.1).sum();
    let (mut kept, mut right) = (0.0, 0.0);
    let mut best = (0.0f32, HIGHEST);
    for cell in (LOWEST..=100).rev() {
        kept += cells[cell].0;
        right += cells[cell].1;
        let f1 = 2.0 * right / (expected + kept).max(1e-6);
        if cell <= HIGHEST && f1 > best.0 {
            best = (f1, cell);
        }
    }
    best.1 as f32 / 100.0
}
