//! The features of blocks and pages, as bytes below 64: one column per feature, one byte per block.
//!
//! Counts are on a logarithmic scale and shares on a linear one, so that a byte is enough and no value is out of range.
//! In scripts without spaces every character is a word, so that no feature depends on the language.
//! [`FEATURE_NAMES`] names all of them.

mod ancestors;
mod block;
mod containers;
mod context;
mod metadata;
mod names;
mod page;
mod repetition;

use crate::blocks::lexicon::{BOILERPLATE_THEMES, Theme};
use crate::blocks::{Block, Page};
use crate::cancel;
use crate::model::NameTable;
pub use metadata::{PageMetadata, word_hashes};
pub use names::{FEATURE_NAMES, N_BLOCK_FEATURES};

/// The number of blocks in a group, which are evaluated together: columns are padded to a multiple of this.
pub(crate) const LANES: usize = 32;

/// The features of a page: one byte per block and block feature, and one byte per page feature.
#[derive(Clone, Debug, Default)]
pub struct Matrix<'m> {
    n_blocks: usize,
    n_columns: usize,
    /// Column after column, with spare room at the end.
    bytes: Vec<[u8; LANES]>,
    /// The page features. Their indices follow those of the columns.
    shared: Vec<u8>,
    /// Whether a classifier uses each column; all those beyond its end count as used.
    used: &'m [bool],
}

impl<'m> Matrix<'m> {
    /// All features of a page, except the probabilities of page types ([`Matrix::push_types`]). Columns that are not
    /// `used` stay zero and are not computed; those beyond the end of `used` are.
    pub fn of(page: &Page<'_>, metadata: &PageMetadata, names: &NameTable, used: &'m [bool]) -> Matrix<'m> {
        let mut matrix = Matrix { n_blocks: page.blocks.len(), used, ..Matrix::default() };
        // One allocation for all columns: one per column would take longer than computing some of them.
        matrix.bytes = vec![[0; LANES]; matrix.n_groups() * 300];
        if page.blocks.is_empty() {
            return matrix;
        }
        let sums = PrefixSums::count(page);
        block::columns(page, &mut matrix);
        cancel::check();
        metadata::columns(page, &sums, metadata, &mut matrix);
        cancel::check();
        let name_scores = ancestors::columns(page, &sums, names, &mut matrix);
        cancel::check();
        repetition::columns(page, &sums, &mut matrix);
        cancel::check();
        containers::columns(page, &sums, names, &name_scores, &mut matrix);
        cancel::check();
        context::columns(page, &sums, metadata, &mut matrix);
        cancel::check();
        page::values(page, &sums, metadata, &mut matrix);
        matrix
    }

    /// A matrix of so many rows without any columns.
    pub(crate) fn of_rows(n_rows: usize) -> Matrix<'m> {
        Matrix { n_blocks: n_rows, ..Matrix::default() }
    }

    /// Adds the probability of each page type as page features.
    pub fn push_types(&mut self, probabilities: &[f32]) {
        for probability in probabilities {
            self.push_shared(odds(*probability));
        }
    }

    /// The number of blocks.
    pub fn n_blocks(&self) -> usize {
        self.n_blocks
    }

    /// The number of block features. Page features have the indices after them.
    pub fn n_columns(&self) -> usize {
        self.n_columns
    }

    /// The number of features.
    pub fn n_features(&self) -> usize {
        self.n_columns + self.shared.len()
    }

    /// The number of groups of [`LANES`] blocks, the last one padded.
    pub(crate) fn n_groups(&self) -> usize {
        self.n_blocks.div_ceil(LANES)
    }

    /// One feature of one block.
    pub fn value(&self, feature: usize, block: usize) -> u8 {
        if feature < self.n_columns { self.column(feature)[block] } else { self.shared_value(feature) }
    }

    /// One page feature; 0 when there is no such feature.
    #[inline]
    pub(crate) fn shared_value(&self, feature: usize) -> u8 {
        feature.checked_sub(self.n_columns).and_then(|index| self.shared.get(index)).copied().unwrap_or(0)
    }

    /// One feature of all blocks.
    fn column(&self, feature: usize) -> &[u8] {
        &self.groups(feature).as_flattened()[..self.n_blocks]
    }

    /// One feature of all blocks in groups of [`LANES`]; the padding of the last group is arbitrary.
    #[inline]
    pub(crate) fn groups(&self, feature: usize) -> &[[u8; LANES]] {
        &self.bytes[feature * self.n_groups()..(feature + 1) * self.n_groups()]
    }

    /// Whether a classifier uses the next column.
    fn is_next_used(&self) -> bool {
        self.used.get(self.n_columns).copied().unwrap_or(true)
    }

    /// Adds a column.
    #[inline]
    pub(crate) fn push(&mut self, column: impl Iterator<Item = u8>) {
        if !self.is_next_used() {
            return self.push_zeros();
        }
        let before = self.n_columns * self.n_groups();
        self.push_zeros();
        let mut n_filled = 0;
        let cells = &mut self.bytes[before..].as_flattened_mut()[..self.n_blocks];
        for (cell, value) in cells.iter_mut().zip(column) {
            *cell = value;
            n_filled += 1;
        }
        debug_assert_eq!(n_filled, self.n_blocks, "a column has a byte for every block");
    }

    /// Adds a column of zeros.
    fn push_zeros(&mut self) {
        self.n_columns += 1;
        let n_filled = self.n_columns * self.n_groups();
        if n_filled > self.bytes.len() {
            self.bytes.resize(n_filled, [0; LANES]);
        }
    }

    /// Adds a page feature.
    pub(crate) fn push_shared(&mut self, value: u8) {
        self.shared.push(value);
    }
}

/// The highest byte.
const TOP: u8 = 63;

/// A count on a logarithmic scale: four steps per doubling, up to 2^15.
#[inline]
fn log(count: u32) -> u8 {
    match LOGS.get(count as usize) {
        Some(step) => *step,
        None => log_of(count),
    }
}

/// The logarithms of small counts, which are the most frequent.
static LOGS: [u8; 1024] = {
    let mut logs = [0; 1024];
    let mut count = 0;
    while count < logs.len() {
        logs[count] = log_of(count as u32);
        count += 1;
    }
    logs
};

const fn log_of(count: u32) -> u8 {
    if count == 0 {
        return 0;
    }
    let bits = count.ilog2();
    let fraction = if bits >= 2 { (count >> (bits - 2)) & 3 } else { (count << (2 - bits)) & 3 };
    let step = 1 + 4 * bits + fraction;
    if step < TOP as u32 { step as u8 } else { TOP }
}

/// A share of a whole from 1 to 63; 0 when the whole is 0.
#[inline]
fn share(part: u32, whole: u32) -> u8 {
    const STEPS: u32 = 62;
    let part = part.min(whole);
    if whole == 0 {
        0
    } else if part <= u32::MAX / STEPS {
        // Dividing 32 bits takes half the time of dividing 64.
        (1 + STEPS * part / whole) as u8
    } else {
        (1 + u64::from(STEPS) * u64::from(part) / u64::from(whole)) as u8
    }
}

/// A quotient times `scale`.
#[inline]
fn rate(part: u32, whole: u32, scale: u32) -> u8 {
    if whole == 0 {
        0
    } else if let Some(scaled) = part.checked_mul(scale) {
        (scaled / whole).min(u32::from(TOP)) as u8
    } else {
        (u64::from(part) * u64::from(scale) / u64::from(whole)).min(u64::from(TOP)) as u8
    }
}

#[inline]
fn count(value: u32) -> u8 {
    value.min(u32::from(TOP)) as u8
}

/// A probability on the scale of its log-odds: the middle is even odds, the ends are a thousand to one.
#[inline]
pub(crate) fn odds(probability: f32) -> u8 {
    let probability = probability.clamp(1e-3, 0.999);
    (32.0 + (probability / (1.0 - probability)).ln() * 4.5).clamp(1.0, 63.0) as u8
}

/// A distance forwards (above 32) or backwards (below) on the logarithmic scale.
#[inline]
fn signed_log(distance: i64) -> u8 {
    let size = (log(distance.unsigned_abs().min(u64::from(u32::MAX)) as u32) / 2).min(31);
    if distance < 0 { 32 - size } else { 32 + size }
}

/// Indices grouped by key, in their own order within a group. Key and index share one integer, which is sorted in half
/// the time of a pair.
struct GroupedByKey(Vec<u64>);

impl GroupedByKey {
    fn sorted(keys: impl Iterator<Item = u32>) -> GroupedByKey {
        let mut order: Vec<u64> = keys.enumerate().map(|(index, key)| (u64::from(key) << 32) | index as u64).collect();
        order.sort_unstable();
        GroupedByKey(order)
    }

    /// The groups.
    fn runs(&self) -> impl Iterator<Item = &[u64]> {
        self.0.chunk_by(|a, b| a >> 32 == b >> 32)
    }

    /// The indices of one group.
    fn indices(run: &[u64]) -> impl Iterator<Item = usize> {
        run.iter().map(|keyed| *keyed as u32 as usize)
    }
}

/// Prefix sums over the blocks: the sum over any range of blocks is the difference of two rows.
struct PrefixSums {
    rows: Vec<[u32; sum::COUNT]>,
}

/// The summed quantities, as indices into a row.
mod sum {
    pub const WORDS: usize = 0;
    pub const LINK_WORDS: usize = 1;
    pub const SENTENCE_MARKS: usize = 2;
    pub const STOP_WORDS: usize = 3;
    pub const PROSE_WORDS: usize = 4;
    pub const THEME_WORDS: usize = 5;
    pub const PARAGRAPH_WORDS: usize = 6;
    pub const HEADINGS: usize = 7;
    pub const IMAGES: usize = 8;
    pub const FORM_FIELDS: usize = 9;
    pub const LINKS: usize = 10;
    pub const CURRENCY_SIGNS: usize = 11;
    pub const FIRST_PERSON_WORDS: usize = 12;
    pub const COUNT: usize = 13;
}

/// The fewest words of a prose block.
const MIN_PROSE_WORDS: u32 = 12;

/// Whether a block reads like prose: long enough for a sentence, less than half of it links.
pub(crate) fn is_prose(block: &Block) -> bool {
    block.n_words() >= MIN_PROSE_WORDS && block.link_words * 2 < block.n_words()
}

impl PrefixSums {
    fn count(page: &Page<'_>) -> PrefixSums {
        let mut rows = vec![[0u32; sum::COUNT]; page.blocks.len() + 1];
        for (block, row) in page.blocks.iter().zip(&mut rows[1..]) {
            let words = block.n_words();
            let prose = is_prose(block);
            row[sum::WORDS] = words;
            row[sum::LINK_WORDS] = block.link_words;
            row[sum::SENTENCE_MARKS] = block.sentence_marks;
            row[sum::STOP_WORDS] = u32::from(block.themes[0]);
            row[sum::PROSE_WORDS] = if prose { words } else { 0 };
            row[sum::THEME_WORDS] = block.themes[BOILERPLATE_THEMES].iter().map(|count| u32::from(*count)).sum();
            row[sum::PARAGRAPH_WORDS] =
                if block.ancestors & crate::blocks::ancestor::PARAGRAPH != 0 { words } else { 0 };
            row[sum::HEADINGS] = u32::from(block.heading > 0);
            row[sum::LINKS] = block.links;
            row[sum::CURRENCY_SIGNS] = block.currency_signs;
            row[sum::FIRST_PERSON_WORDS] = u32::from(block.themes[Theme::FirstPerson as usize]);
        }
        for (positions, column) in [(&page.images, sum::IMAGES), (&page.form_fields, sum::FORM_FIELDS)] {
            for block in positions {
                // Counted with the block that follows it.
                let row = (*block as usize + 1).min(page.blocks.len());
                rows[row][column] += 1;
            }
        }
        for index in 1..rows.len() {
            let before = rows[index - 1];
            for (value, sum) in rows[index].iter_mut().zip(before) {
                *value = value.wrapping_add(sum);
            }
        }
        PrefixSums { rows }
    }

    /// The sums over the blocks `start..end`.
    #[inline]
    fn over(&self, start: usize, end: usize) -> [u32; sum::COUNT] {
        let last = self.rows.len() - 1;
        let (first, end) = (self.rows[start.min(last)], self.rows[end.min(last)]);
        std::array::from_fn(|column| end[column].saturating_sub(first[column]))
    }

    /// One sum over the blocks `start..end`.
    #[inline]
    fn of(&self, column: usize, start: usize, end: usize) -> u32 {
        let last = self.rows.len() - 1;
        self.rows[end.min(last)][column].saturating_sub(self.rows[start.min(last)][column])
    }

    fn words_before(&self, block: usize) -> u32 {
        self.rows[block.min(self.rows.len() - 1)][sum::WORDS]
    }

    fn page(&self) -> [u32; sum::COUNT] {
        self.rows[self.rows.len() - 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_keep_their_order_and_their_range() {
        let logs: Vec<u8> = [0, 1, 2, 3, 4, 5, 7, 8, 100, 1000, 40_000, u32::MAX].map(log).to_vec();
        assert!(logs.is_sorted() && logs[1] == 1 && logs[11] == 63, "{logs:?}");
        assert_eq!([share(0, 0), share(0, 9), share(9, 9), share(20, 9)], [0, 1, 63, 63]);
        assert_eq!(signed_log(0), 32);
        assert!(signed_log(-5) < 32 && signed_log(5) > 32 && signed_log(i64::MIN) <= 1);
    }
}
