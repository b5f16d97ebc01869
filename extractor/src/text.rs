//! The kept blocks as text: paragraphs apart, lines of one paragraph together, cells of a row side by side.

use crate::blocks::{Block, Break, Page, place};
use crate::tree::Tag;

/// Main content as plain text, paragraphs separated by a blank line.
pub fn plain(page: &Page<'_>, kept: &[bool]) -> String {
    let mut text = String::with_capacity(page.text.len());
    let mut last: Option<&Block> = None;
    for (block, _) in page.blocks.iter().zip(kept).filter(|(_, kept)| **kept) {
        if let Some(last) = last {
            text.push_str(between(page, last, block));
        }
        text.push_str(page.block_text(block));
        last = Some(block);
    }
    text
}

/// Text in which control characters are spaces: terminals obey them, and nobody sees them on the page.
pub(crate) fn without_controls(text: String) -> String {
    let is_control = |character: char| character.is_control() && !matches!(character, '\n' | '\t');
    // Beyond ASCII they begin with 0xC2, as few others do.
    let may_be = |byte: u8| (byte < b' ' && !matches!(byte, b'\n' | b'\t')) || matches!(byte, 0x7F | 0xC2);
    if text.bytes().any(may_be) { text.replace(is_control, " ") } else { text }
}

/// What separates two blocks that follow each other in the text.
fn between(page: &Page<'_>, last: &Block, next: &Block) -> &'static str {
    if next.begins == Break::Line && last.element == next.element {
        return "\n";
    }
    if is_cell(last) && is_cell(next) && row(page, last) == row(page, next) {
        return "\t";
    }
    let both = last.places & next.places;
    if both & (place::LIST | place::TABLE | place::DEFINITION) != 0 && last.heading == 0 && next.heading == 0 {
        return "\n";
    }
    "\n\n"
}

fn is_cell(block: &Block) -> bool {
    matches!(block.tag, Some(Tag::Td | Tag::Th))
}

/// The row of a table that a block stands in.
fn row(page: &Page<'_>, block: &Block) -> Option<u32> {
    let mut element = block.element;
    for _ in 0..8 {
        if page.elements[element as usize].tag == Tag::Tr {
            return Some(element);
        }
        element = page.elements[element as usize].parent;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_become_spaces() {
        for (text, clean) in [
            ("a\u{1b}[31mb", "a [31mb"),
            ("\u{7}\u{7f}\u{9b}x", "   x"),
            ("a\tb\nc", "a\tb\nc"),
            ("© «ça» 中文", "© «ça» 中文"),
        ] {
            assert_eq!(without_controls(text.to_owned()), clean);
        }
    }
}
