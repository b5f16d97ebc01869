//! What a block says by itself.

use super::{Alike, Matrix, count, log, rate, share};
use crate::blocks::lexicon::AROUND;
use crate::blocks::{Break, Page, place};
use crate::tree::Tag;

/// Adds the columns about the block's own text and place.
pub(super) fn columns(page: &Page<'_>, matrix: &mut Matrix<'_>) {
    let blocks = &page.blocks;
    matrix.push(blocks.iter().map(|block| log(block.n_words())));
    matrix.push(blocks.iter().map(|block| log(block.characters)));
    matrix.push(blocks.iter().map(|block| share(block.link_words, block.n_words())));
    matrix.push(blocks.iter().map(|block| share(block.bold_words, block.n_words())));
    matrix.push(blocks.iter().map(|block| block.ending));
    matrix.push(blocks.iter().map(|block| rate(block.commas, block.n_words(), 200)));
    matrix.push(blocks.iter().map(|block| rate(block.stops, block.n_words(), 200)));
    matrix.push(blocks.iter().map(|block| count(block.stops)));
    matrix.push(blocks.iter().map(|block| share(u32::from(block.themes[0]), block.n_words())));
    matrix.push(blocks.iter().map(|block| share(block.capitals, block.n_words())));
    matrix.push(blocks.iter().map(|block| share(block.digits, block.characters)));
    matrix.push(blocks.iter().map(|block| rate(block.characters, block.n_words(), 4)));
    matrix.push(blocks.iter().map(|block| share(block.unspaced, block.characters)));
    matrix.push(blocks.iter().map(|block| count(block.money)));
    matrix.push(blocks.iter().map(|block| count(block.separators)));
    matrix.push(blocks.iter().map(|block| count(block.links)));
    matrix.push(blocks.iter().map(|block| block.heading));
    matrix.push(blocks.iter().map(|block| u8::from(block.begins == Break::Line)));
    matrix.push(blocks.iter().map(|block| block.tag.map_or(0, tag_class)));
    for theme in 1..crate::blocks::lexicon::N_THEMES {
        matrix.push(blocks.iter().map(|block| count(u32::from(block.themes[theme]))));
    }
    matrix.push(
        blocks
            .iter()
            .map(|block| share(block.themes[AROUND].iter().map(|hits| u32::from(*hits)).sum(), block.n_words())),
    );
    // Side by side, so that one bit of many blocks is read at a time.
    let places: Vec<u32> = blocks.iter().map(|block| block.places).collect();
    for bit in 0..place::COUNT {
        matrix.push(places.iter().map(|places| ((places >> bit) & 1) as u8));
    }
    repeated(page, matrix);
}

/// Tags in an order in which a threshold makes sense: prose, lists, tables, boxes.
pub(super) fn tag_class(tag: Tag) -> u8 {
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

/// How often the same words stand on the page, and whether this is the first time.
fn repeated(page: &Page<'_>, matrix: &mut Matrix<'_>) {
    let order = Alike::sorted(page.blocks.iter().map(|block| block.fingerprint));
    let mut times = vec![0u8; page.blocks.len()];
    let mut first = vec![1u8; page.blocks.len()];
    for run in order.runs() {
        for (place, index) in Alike::indices(run).enumerate() {
            times[index] = count(run.len() as u32);
            first[index] = u8::from(place == 0);
        }
    }
    matrix.push(times.into_iter());
    matrix.push(first.into_iter());
}
