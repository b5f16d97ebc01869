//! Features of the elements around a block: their class names, how much text they hold, and how dense it is.

use super::block::tag_order;
use super::{Matrix, PrefixSums, count, log, rate, share, sum};
use crate::blocks::lexicon::N_ROLES;
use crate::blocks::{Element, Page};
use crate::model::NameTable;

/// The number of ancestors with features of their own, each holding more blocks than the one before.
const LEVELS: usize = 4;

/// Features of one ancestor.
const PER_LEVEL: usize = 14;

/// Adds the columns about the elements around each block; returns the mean log-odds of each element's own names.
pub(super) fn columns(page: &Page<'_>, sums: &PrefixSums, names: &NameTable, matrix: &mut Matrix<'_>) -> Vec<f32> {
    roles(page, matrix);
    let name_scores = name_columns(page, names, matrix);
    ancestors(page, sums, matrix);
    name_scores
}

fn n_blocks(element: &Element) -> u32 {
    element.end_block.saturating_sub(element.first_block)
}

/// The elements that hold any block.
fn with_blocks<'p>(page: &'p Page<'_>) -> impl Iterator<Item = (usize, &'p Element)> {
    page.elements.iter().enumerate().filter(|(_, element)| n_blocks(element) > 0)
}

/// The number of roles, padded for vector instructions.
const ROLE_LANES: usize = N_ROLES.next_multiple_of(16);

/// For each role, how near the nearest ancestor of that role is; 0 when there is none.
#[expect(clippy::needless_range_loop, reason = "one column of many rows at a time")]
fn roles(page: &Page<'_>, matrix: &mut Matrix<'_>) {
    // Padded, so that a row fills two vector registers.
    let mut near = vec![[0u8; ROLE_LANES]; page.elements.len()];
    for (index, element) in with_blocks(page) {
        let mut row = near[element.parent as usize];
        for value in &mut row {
            *value -= u8::from(*value > 1);
        }
        let mut roles = element.roles;
        while roles != 0 {
            row[roles.trailing_zeros() as usize % ROLE_LANES] = 63;
            roles &= roles - 1;
        }
        near[index] = row;
    }
    for role in 0..N_ROLES {
        matrix.push(page.blocks.iter().map(|block| near[block.element as usize][role]));
    }
    matrix.push(page.blocks.iter().map(|block| count(u32::from(page.elements[block.element as usize].depth))));
}

/// The log-odds of the class names of an element and its ancestors.
#[derive(Clone, Copy, Default)]
struct NameScores {
    lowest: f32,
    highest: f32,
    own: f32,
    nearest: f32,
    decayed: f32,
    last_three: [f32; 3],
    since_lowest: u8,
}

/// The log-odds of the class names of one element.
#[derive(Clone, Copy, Default)]
struct ElementNames {
    signature: u32,
    total: f32,
    n_known: u32,
    low: f32,
    high: f32,
}

impl ElementNames {
    fn of(page: &Page<'_>, element: &Element, names: &NameTable) -> ElementNames {
        let mut own = ElementNames { signature: element.signature, ..ElementNames::default() };
        // Themes name the page after all kinds of things; what speaks against content there speaks against the page.
        let is_whole = page.is_whole(element);
        let known = page.names_of(element).iter().filter_map(|name| names.get(*name));
        for known in known.filter(|known| !is_whole || *known > 0.0) {
            own.total += known;
            own.n_known += 1;
            own.low = own.low.min(known);
            own.high = own.high.max(known);
        }
        own
    }
}

fn name_columns(page: &Page<'_>, names: &NameTable, matrix: &mut Matrix<'_>) -> Vec<f32> {
    /// Entries of the cache by signature, a power of two: most elements of a page share a few signatures.
    const CACHE_SIZE: usize = 128;
    let mut cache = [ElementNames::default(); CACHE_SIZE];
    let mut values = vec![NameScores::default(); page.elements.len()];
    let mut name_scores = vec![0.0; page.elements.len()];
    for (index, element) in with_blocks(page) {
        let mut value = values[element.parent as usize];
        let slot = &mut cache[element.signature as usize % CACHE_SIZE];
        if slot.signature != element.signature {
            *slot = ElementNames::of(page, element, names);
        }
        let ElementNames { total, n_known, low, high, .. } = *slot;
        value.since_lowest = value.since_lowest.saturating_add(1).min(63);
        if n_known > 0 {
            let own = total / n_known as f32;
            name_scores[index] = own;
            value.own = own;
            value.nearest = if -low > high { low } else { high };
            value.decayed = 0.7 * value.decayed + own;
            value.last_three = [own, value.last_three[0], value.last_three[1]];
            value.highest = value.highest.max(high);
            if low < value.lowest {
                value.lowest = low;
                value.since_lowest = 0;
            }
        }
        values[index] = value;
    }
    let of_blocks = || page.blocks.iter().map(|block| &values[block.element as usize]);
    matrix.push(of_blocks().map(|value| scale(value.lowest)));
    matrix.push(of_blocks().map(|value| scale(value.highest)));
    matrix.push(of_blocks().map(|value| scale(value.own)));
    matrix.push(of_blocks().map(|value| scale(value.nearest)));
    matrix.push(of_blocks().map(|value| scale(value.decayed * 0.5)));
    matrix.push(of_blocks().map(|value| scale(value.last_three.iter().sum::<f32>() * 0.5)));
    matrix.push(of_blocks().map(|value| value.since_lowest));
    name_scores
}

/// Log-odds from -4 to 4 as a byte.
fn scale(value: f32) -> u8 {
    (32.0 + value * 7.75).clamp(0.0, 63.0) as u8
}

fn ancestors(page: &Page<'_>, sums: &PrefixSums, matrix: &mut Matrix<'_>) {
    let larger_ancestors = larger_ancestors(page);
    let page_words = sums.page()[sum::WORDS];
    let prose_words =
        |element: &Element| sums.of(sum::PROSE_WORDS, element.first_block as usize, element.end_block as usize);
    let mut chain: Vec<u32> = page.blocks.iter().map(|block| block.element).collect();
    for level in 0..LEVELS {
        // Blocks of one element are neighbours, so that most blocks need the last row again.
        let mut last = (u32::MAX, [0; PER_LEVEL]);
        let rows: Vec<[u8; PER_LEVEL]> = chain
            .iter()
            .map(|index| {
                if last.0 != *index {
                    let (element, larger) =
                        (&page.elements[*index as usize], &page.elements[larger_ancestors[*index as usize] as usize]);
                    let part = share(prose_words(element), prose_words(larger));
                    last = (*index, row(element, sums, page_words, part));
                }
                last.1
            })
            .collect();
        for feature in 0..PER_LEVEL {
            matrix.push(rows.iter().map(|row| row[feature]));
        }
        // The position of the block within the element.
        matrix.push(chain.iter().enumerate().map(|(block, element)| {
            let element = &page.elements[*element as usize];
            share((block as u32).saturating_sub(element.first_block), n_blocks(element))
        }));
        if level + 1 < LEVELS {
            for element in &mut chain {
                *element = larger_ancestors[*element as usize];
            }
        }
    }
}

/// For each element, its nearest ancestor that holds more blocks.
pub(super) fn larger_ancestors(page: &Page<'_>) -> Vec<u32> {
    let mut larger_ancestors = vec![0u32; page.elements.len()];
    for (index, element) in page.elements.iter().enumerate().skip(1) {
        let parent = &page.elements[element.parent as usize];
        larger_ancestors[index] = if n_blocks(parent) > n_blocks(element) {
            element.parent
        } else {
            larger_ancestors[element.parent as usize]
        };
    }
    larger_ancestors
}

fn row(element: &Element, sums: &PrefixSums, page_words: u32, share_of_larger_prose: u8) -> [u8; PER_LEVEL] {
    let inside = sums.over(element.first_block as usize, element.end_block as usize);
    let n_blocks = n_blocks(element);
    let words = inside[sum::WORDS];
    [
        log(words),
        share(inside[sum::LINK_WORDS], words),
        log(n_blocks),
        log(words.checked_div(n_blocks).unwrap_or(0)),
        share(inside[sum::PARAGRAPH_WORDS], words),
        rate(inside[sum::SENTENCE_MARKS], words, 300),
        share(inside[sum::STOP_WORDS], words),
        share(words, page_words),
        share(inside[sum::PROSE_WORDS], words),
        rate(inside[sum::HEADINGS], n_blocks, 100),
        tag_order(element.tag),
        share(inside[sum::THEME_WORDS], words),
        rate(inside[sum::IMAGES], n_blocks, 32),
        share_of_larger_prose,
    ]
}
