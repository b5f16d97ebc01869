//! What is known about every block, as bytes below 64: one column per feature, one byte per block.
//!
//! Counts are on a logarithmic scale and shares on a linear one, so that a byte is enough and no page is out of range.
//! Words are characters where a script has no spaces, so nothing here depends on the language.

mod bodies;
mod context;
mod elements;
mod evidence;
mod own;
mod page;
mod repetition;

use crate::blocks::lexicon::{AROUND, Theme};
use crate::blocks::{Block, Page};
use crate::model::NameTable;
pub use evidence::{Evidence, words};

/// Blocks that are looked at together: columns are filled up to a multiple of this.
pub(crate) const LANES: usize = 32;

/// One byte per block and feature, and one byte for each feature that all blocks of a page share.
#[derive(Clone, Debug, Default)]
pub struct Matrix<'m> {
    n_blocks: usize,
    n_columns: usize,
    /// Column after column, with room for more.
    bytes: Vec<[u8; LANES]>,
    /// What all blocks share. These features come after the columns.
    shared: Vec<u8>,
    asked: &'m [bool],
}

impl<'m> Matrix<'m> {
    /// Everything that is known about the blocks of a page. Columns that are not `asked` for stay zero, and take next
    /// to no time; where `asked` ends, all are.
    pub fn of(page: &Page<'_>, evidence: &Evidence, names: &NameTable, asked: &'m [bool]) -> Matrix<'m> {
        let mut matrix = Matrix { n_blocks: page.blocks.len(), asked, ..Matrix::default() };
        // Room for all columns at once: asking for it one by one takes longer than some columns do.
        matrix.bytes = vec![[0; LANES]; matrix.n_groups() * 300];
        if page.blocks.is_empty() {
            return matrix;
        }
        let sums = Sums::count(page);
        own::columns(page, &mut matrix);
        evidence::columns(page, &sums, evidence, &mut matrix);
        let promises = elements::columns(page, &sums, names, &mut matrix);
        repetition::columns(page, &sums, &mut matrix);
        bodies::columns(page, &sums, names, &promises, &mut matrix);
        context::columns(page, &sums, evidence, &mut matrix);
        page::values(page, &sums, evidence, &mut matrix);
        matrix
    }

    /// A matrix of so many rows that says nothing yet.
    pub(crate) fn of_rows(n_rows: usize) -> Matrix<'m> {
        Matrix { n_blocks: n_rows, ..Matrix::default() }
    }

    /// Adds how likely each page type is, as features that all blocks share.
    pub fn push_types(&mut self, probabilities: &[f32]) {
        for probability in probabilities {
            self.push_shared(odds(*probability));
        }
    }

    /// The number of blocks.
    pub fn n_blocks(&self) -> usize {
        self.n_blocks
    }

    /// The number of features that differ from block to block. Those after them describe the page.
    pub fn n_columns(&self) -> usize {
        self.n_columns
    }

    /// The number of features.
    pub fn n_features(&self) -> usize {
        self.n_columns + self.shared.len()
    }

    /// How many groups of [`LANES`] blocks there are, the last one filled up.
    pub(crate) fn n_groups(&self) -> usize {
        self.n_blocks.div_ceil(LANES)
    }

    /// One feature of one block.
    pub fn value(&self, feature: usize, block: usize) -> u8 {
        if feature < self.n_columns { self.column(feature)[block] } else { self.shared_value(feature) }
    }

    /// One feature that all blocks share; nothing when there is none such.
    #[inline]
    pub(crate) fn shared_value(&self, feature: usize) -> u8 {
        feature.checked_sub(self.n_columns).and_then(|place| self.shared.get(place)).copied().unwrap_or(0)
    }

    /// One feature of all blocks.
    fn column(&self, feature: usize) -> &[u8] {
        &self.groups(feature).as_flattened()[..self.n_blocks]
    }

    /// One feature of all blocks, [`LANES`] at a time; what fills up the last group means nothing.
    #[inline]
    pub(crate) fn groups(&self, feature: usize) -> &[[u8; LANES]] {
        &self.bytes[feature * self.n_groups()..(feature + 1) * self.n_groups()]
    }

    /// Whether anybody wants the next column.
    fn is_next_asked(&self) -> bool {
        self.asked.get(self.n_columns).copied().unwrap_or(true)
    }

    /// Adds a column.
    #[inline]
    pub(crate) fn push(&mut self, column: impl Iterator<Item = u8>) {
        if !self.is_next_asked() {
            return self.push_nothing();
        }
        let before = self.n_columns * self.n_groups();
        self.push_nothing();
        let mut n_filled = 0;
        let cells = &mut self.bytes[before..].as_flattened_mut()[..self.n_blocks];
        for (cell, value) in cells.iter_mut().zip(column) {
            *cell = value;
            n_filled += 1;
        }
        debug_assert_eq!(n_filled, self.n_blocks, "a column has a byte for every block");
    }

    /// Adds a column of zeros.
    fn push_nothing(&mut self) {
        self.n_columns += 1;
        let n_filled = self.n_columns * self.n_groups();
        if n_filled > self.bytes.len() {
            self.bytes.resize(n_filled, [0; LANES]);
        }
    }

    /// Adds a feature that all blocks share.
    pub(crate) fn push_shared(&mut self, value: u8) {
        self.shared.push(value);
    }
}

/// The highest byte.
const TOP: u8 = 63;

/// Four steps per doubling, up to 2^15.
#[inline]
fn log(count: u32) -> u8 {
    match LOGS.get(count as usize) {
        Some(step) => *step,
        None => log_of(count),
    }
}

/// The steps of small counts, which most are.
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

/// A share of a whole; 0 when there is no whole.
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

/// Things in the order of their keys, those with the same key in their own order. Key and index share a number, which
/// is sorted in half the time of a pair.
struct Alike(Vec<u64>);

impl Alike {
    fn sorted(keys: impl Iterator<Item = u32>) -> Alike {
        let mut order: Vec<u64> = keys.enumerate().map(|(index, key)| (u64::from(key) << 32) | index as u64).collect();
        order.sort_unstable();
        Alike(order)
    }

    /// Those with the same key.
    fn runs(&self) -> impl Iterator<Item = &[u64]> {
        self.0.chunk_by(|a, b| a >> 32 == b >> 32)
    }

    /// The indices of a run.
    fn indices(run: &[u64]) -> impl Iterator<Item = usize> {
        run.iter().map(|keyed| *keyed as u32 as usize)
    }
}

/// Sums over blocks from the first: any run of blocks is a difference of two rows.
struct Sums {
    rows: Vec<[u32; sum::COUNT]>,
}

/// What is summed.
mod sum {
    pub const WORDS: usize = 0;
    pub const LINK_WORDS: usize = 1;
    pub const STOPS: usize = 2;
    pub const STOP_WORDS: usize = 3;
    pub const LONG_WORDS: usize = 4;
    pub const THEME_WORDS: usize = 5;
    pub const PARAGRAPH_WORDS: usize = 6;
    pub const HEADINGS: usize = 7;
    pub const PICTURES: usize = 8;
    pub const FIELDS: usize = 9;
    pub const LINKS: usize = 10;
    pub const MONEY: usize = 11;
    pub const SPEAKER_WORDS: usize = 12;
    pub const COUNT: usize = 13;
}

/// Words of the blocks that read like sentences: at least this many, few of them links.
const LONG: u32 = 12;

/// Whether a block is a sentence or more, most of it no link.
pub(crate) fn is_long(block: &Block) -> bool {
    block.n_words() >= LONG && block.link_words * 2 < block.n_words()
}

impl Sums {
    fn count(page: &Page<'_>) -> Sums {
        let mut rows = vec![[0u32; sum::COUNT]; page.blocks.len() + 1];
        for (block, row) in page.blocks.iter().zip(&mut rows[1..]) {
            let words = block.n_words();
            let long = is_long(block);
            row[sum::WORDS] = words;
            row[sum::LINK_WORDS] = block.link_words;
            row[sum::STOPS] = block.stops;
            row[sum::STOP_WORDS] = u32::from(block.themes[0]);
            row[sum::LONG_WORDS] = if long { words } else { 0 };
            row[sum::THEME_WORDS] = block.themes[AROUND].iter().map(|count| u32::from(*count)).sum();
            row[sum::PARAGRAPH_WORDS] = if block.places & crate::blocks::place::PARAGRAPH != 0 { words } else { 0 };
            row[sum::HEADINGS] = u32::from(block.heading > 0);
            row[sum::LINKS] = block.links;
            row[sum::MONEY] = block.money;
            row[sum::SPEAKER_WORDS] = u32::from(block.themes[Theme::Speaker as usize]);
        }
        for (places, column) in [(&page.pictures, sum::PICTURES), (&page.fields, sum::FIELDS)] {
            for block in places {
                // Counted before the block that follows it.
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
        Sums { rows }
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
