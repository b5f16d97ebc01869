//! Features of a block's own text, tag and ancestors.

use super::{GroupedByKey, Matrix, count, log, rate, share};
use crate::blocks::lexicon::BOILERPLATE_THEMES;
use crate::blocks::{Break, Page, ancestor};
use crate::tree::Tag;

/// Adds the columns about the block's own text, tag and ancestors.
pub(super) fn columns(page: &Page<'_>, matrix: &mut Matrix<'_>) {
    let blocks = &page.blocks;
    matrix.push(blocks.iter().map(|block| log(block.n_words())));
    matrix.push(blocks.iter().map(|block| log(block.characters)));
    matrix.push(blocks.iter().map(|block| share(block.link_words, block.n_words())));
    matrix.push(blocks.iter().map(|block| share(block.bold_words, block.n_words())));
    matrix.push(blocks.iter().map(|block| block.ending));
    matrix.push(blocks.iter().map(|block| rate(block.commas, block.n_words(), 200)));
    matrix.push(blocks.iter().map(|block| rate(block.sentence_marks, block.n_words(), 200)));
    matrix.push(blocks.iter().map(|block| count(block.sentence_marks)));
    matrix.push(blocks.iter().map(|block| share(u32::from(block.themes[0]), block.n_words())));
    matrix.push(blocks.iter().map(|block| share(block.capitals, block.n_words())));
    matrix.push(blocks.iter().map(|block| share(block.digits, block.characters)));
    matrix.push(blocks.iter().map(|block| rate(block.characters, block.n_words(), 4)));
    matrix.push(blocks.iter().map(|block| share(block.unspaced, block.characters)));
    matrix.push(blocks.iter().map(|block| count(block.currency_signs)));
    matrix.push(blocks.iter().map(|block| count(block.separators)));
    matrix.push(blocks.iter().map(|block| count(block.links)));
    matrix.push(blocks.iter().map(|block| block.heading));
    matrix.push(blocks.iter().map(|block| u8::from(block.break_before == Break::Line)));
    matrix.push(blocks.iter().map(|block| block.tag.map_or(0, tag_order)));
    for theme in 1..crate::blocks::lexicon::N_THEMES {
        matrix.push(blocks.iter().map(|block| count(u32::from(block.themes[theme]))));
    }
    matrix.push(blocks.iter().map(|block| {
        share(block.themes[BOILERPLATE_THEMES].iter().map(|hits| u32::from(*hits)).sum(), block.n_words())
    }));
    // A compact copy, so that one bit of many blocks is read at a time.
    let ancestors: Vec<u32> = blocks.iter().map(|block| block.ancestors).collect();
    for bit in 0..ancestor::COUNT {
        matrix.push(ancestors.iter().map(|ancestors| ((ancestors >> bit) & 1) as u8));
    }
    repeated(page, matrix);
}

/// A number for each tag, ordered by use (prose, tables, lists, forms, boxes), so that a threshold separates uses.
pub(super) fn tag_order(tag: Tag) -> u8 {
    match tag {
        Tag::P => 1,
        Tag::Blockquote => 2,
        Tag::Pre => 3,
        Tag::H1 => 4,
        Tag::H2 => 5,
        Tag::H3 => 6,
        Tag::H4 | Tag::H5 | Tag::H6 => 7,
        Tag::Article => 8,
        Tag::Main => 9,
        Tag::Section => 10,
        Tag::Div => 11,
        Tag::Center => 12,
        Tag::Td => 13,
        Tag::Th => 14,
        Tag::Tr => 15,
        Tag::Tbody | Tag::Thead | Tag::Tfoot => 16,
        Tag::Table => 17,
        Tag::Li => 18,
        Tag::Ul => 19,
        Tag::Ol => 20,
        Tag::Dd => 21,
        Tag::Dt => 22,
        Tag::Dl => 23,
        Tag::Figcaption => 24,
        Tag::Figure => 25,
        Tag::Button | Tag::Option => 26,
        Tag::Label | Tag::Legend => 27,
        Tag::Form | Tag::Fieldset => 28,
        Tag::Header => 29,
        Tag::Footer => 30,
        Tag::Aside => 31,
        Tag::Nav => 32,
        Tag::Span => 33,
        Tag::A => 34,
        Tag::Body => 35,
        Tag::Html => 36,
        _ => 37,
    }
}

/// How many blocks of the page have the same words, and whether this is the first of them.
fn repeated(page: &Page<'_>, matrix: &mut Matrix<'_>) {
    let order = GroupedByKey::sorted(page.blocks.iter().map(|block| block.fingerprint));
    let mut times = vec![0u8; page.blocks.len()];
    let mut first = vec![1u8; page.blocks.len()];
    for run in order.runs() {
        for (position, index) in GroupedByKey::indices(run).enumerate() {
            times[index] = count(run.len() as u32);
            first[index] = u8::from(position == 0);
        }
    }
    matrix.push(times.into_iter());
    matrix.push(first.into_iter());
}
