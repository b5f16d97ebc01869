//! What the elements around a block say: their names, how much text they hold, and how dense it is.

use super::own::tag_class;
use super::{Matrix, Sums, count, log, rate, share, sum};
use crate::blocks::lexicon::N_ROLES;
use crate::blocks::{Element, Page};
use crate::model::NameTable;

/// Ancestors looked at, each holding more blocks than the one before.
const LEVELS: usize = 4;

/// Features of one ancestor.
const PER_LEVEL: usize = 14;

/// Adds the columns about the elements around each block; gives for each element what its own names promise.
pub(super) fn columns(page: &Page<'_>, sums: &Sums, names: &NameTable, matrix: &mut Matrix<'_>) -> Vec<f32> {
    roles(page, matrix);
    let promises = name_values(page, names, matrix);
    ancestors(page, sums, matrix);
    promises
}

fn n_blocks(element: &Element) -> u32 {
    element.end_block.saturating_sub(element.first_block)
}

/// The elements that hold any text: the others are around no block.
fn with_blocks<'p>(page: &'p Page<'_>) -> impl Iterator<Item = (usize, &'p Element)> {
    page.elements.iter().enumerate().filter(|(_, element)| n_blocks(element) > 0)
}

/// Roles, filled up.
const ROLE_LANES: usize = N_ROLES.next_multiple_of(16);

/// For each role, how near the nearest ancestor that announces it is; 0 when none does.
#[expect(clippy::needless_range_loop, reason = "one column of many rows at a time")]
fn roles(page: &Page<'_>, matrix: &mut Matrix<'_>) {
    // A little wider than needed, so that a row is two steps of a vector.
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

/// What the learned table says about the class names on the way up.
#[derive(Clone, Copy, Default)]
struct NameValue {
    lowest: f32,
    highest: f32,
    own: f32,
    nearest: f32,
    decayed: f32,
    last_three: [f32; 3],
    since_lowest: u8,
}

/// What the learned table says about the names of one element.
#[derive(Clone, Copy, Default)]
struct OwnNames {
    signature: u32,
    total: f32,
    n_known: u32,
    low: f32,
    high: f32,
}

impl OwnNames {
    fn of(page: &Page<'_>, element: &Element, names: &NameTable) -> OwnNames {
        let mut own = OwnNames { signature: element.signature, ..OwnNames::default() };
        for known in page.names_of(element).iter().filter_map(|name| names.get(*name)) {
            own.total += known;
            own.n_known += 1;
            own.low = own.low.min(known);
            own.high = own.high.max(known);
        }
        own
    }
}

fn name_values(page: &Page<'_>, names: &NameTable, matrix: &mut Matrix<'_>) -> Vec<f32> {
    /// Elements that are remembered, a power of two: most of a page look like a few others.
    const N_REMEMBERED: usize = 128;
    let mut remembered = [OwnNames::default(); N_REMEMBERED];
    let mut values = vec![NameValue::default(); page.elements.len()];
    let mut promises = vec![0.0; page.elements.len()];
    for (index, element) in with_blocks(page) {
        let mut value = values[element.parent as usize];
        let slot = &mut remembered[element.signature as usize % N_REMEMBERED];
        if slot.signature != element.signature {
            *slot = OwnNames::of(page, element, names);
        }
        let OwnNames { total, n_known, low, high, .. } = *slot;
        value.since_lowest = value.since_lowest.saturating_add(1).min(63);
        if n_known > 0 {
            let own = total / n_known as f32;
            promises[index] = own;
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
    promises
}

/// Log-odds from -4 to 4 as a byte.
fn scale(value: f32) -> u8 {
    (32.0 + value * 7.75).clamp(0.0, 63.0) as u8
}

fn ancestors(page: &Page<'_>, sums: &Sums, matrix: &mut Matrix<'_>) {
    let wider = wider(page);
    let page_words = sums.page()[sum::WORDS];
    let long_words =
        |element: &Element| sums.of(sum::LONG_WORDS, element.first_block as usize, element.end_block as usize);
    let mut chain: Vec<u32> = page.blocks.iter().map(|block| block.element).collect();
    for level in 0..LEVELS {
        // Blocks of one element stand together, so that the last row is the one that most blocks need again.
        let mut last = (u32::MAX, [0; PER_LEVEL]);
        let rows: Vec<[u8; PER_LEVEL]> = chain
            .iter()
            .map(|index| {
                if last.0 != *index {
                    let (element, around) =
                        (&page.elements[*index as usize], &page.elements[wider[*index as usize] as usize]);
                    let part = share(long_words(element), long_words(around));
                    last = (*index, row(element, sums, page_words, part));
                }
                last.1
            })
            .collect();
        for feature in 0..PER_LEVEL {
            matrix.push(rows.iter().map(|row| row[feature]));
        }
        // Where in the element the block stands.
        matrix.push(chain.iter().enumerate().map(|(block, element)| {
            let element = &page.elements[*element as usize];
            share((block as u32).saturating_sub(element.first_block), n_blocks(element))
        }));
        if level + 1 < LEVELS {
            for element in &mut chain {
                *element = wider[*element as usize];
            }
        }
    }
}

/// For each element, the nearest one around it that holds more blocks.
pub(super) fn wider(page: &Page<'_>) -> Vec<u32> {
    let mut wider = vec![0u32; page.elements.len()];
    for (index, element) in page.elements.iter().enumerate().skip(1) {
        let parent = &page.elements[element.parent as usize];
        wider[index] =
            if n_blocks(parent) > n_blocks(element) { element.parent } else { wider[element.parent as usize] };
    }
    wider
}

fn row(element: &Element, sums: &Sums, page_words: u32, part_of_wider: u8) -> [u8; PER_LEVEL] {
    let inside = sums.over(element.first_block as usize, element.end_block as usize);
    let n_blocks = n_blocks(element);
    let words = inside[sum::WORDS];
    [
        log(words),
        share(inside[sum::LINK_WORDS], words),
        log(n_blocks),
        log(words.checked_div(n_blocks).unwrap_or(0)),
        share(inside[sum::PARAGRAPH_WORDS], words),
        rate(inside[sum::STOPS], words, 300),
        share(inside[sum::STOP_WORDS], words),
        share(words, page_words),
        share(inside[sum::LONG_WORDS], words),
        rate(inside[sum::HEADINGS], n_blocks, 100),
        tag_class(element.tag),
        share(inside[sum::THEME_WORDS], words),
        rate(inside[sum::PICTURES], n_blocks, 32),
        part_of_wider,
    ]
}
