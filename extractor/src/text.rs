//! The kept blocks as text: paragraphs apart, lines of one paragraph together, cells of a row side by side.

use std::ops::Range;

use crate::blocks::{Block, Break, Page, ancestor};
use crate::tables::Table;

/// Main content as plain text, paragraphs separated by a blank line. A data table has one line for each row and a tab
/// before each column but the first.
pub fn plain(page: &Page<'_>, kept: &[bool]) -> String {
    let mut writer = Writer { page, kept, text: String::with_capacity(page.text.len()), last: Last::Nothing };
    let mut written = 0;
    for table in page.tables().iter() {
        writer.push_blocks(written..table.blocks.start);
        writer.push_table(table);
        written = table.blocks.end;
    }
    writer.push_blocks(written..page.blocks.len());
    writer.text
}

/// What the text ends with.
#[derive(Clone, Copy)]
enum Last<'p> {
    Nothing,
    Block(&'p Block),
    Row,
}

struct Writer<'p, 'a> {
    page: &'p Page<'a>,
    kept: &'p [bool],
    text: String,
    last: Last<'p>,
}

impl<'p> Writer<'p, '_> {
    /// Adds the kept blocks of a range.
    fn push_blocks(&mut self, range: Range<usize>) {
        let blocks = self.page.blocks[range.clone()].iter().zip(&self.kept[range]);
        for (block, _) in blocks.filter(|(_, kept)| **kept) {
            self.text.push_str(match self.last {
                Last::Nothing => "",
                Last::Block(last) => between(last, block),
                Last::Row => "\n\n",
            });
            self.text.push_str(self.page.block_text(block));
            self.last = Last::Block(block);
        }
    }

    /// Adds a data table: its caption, then a line for each row.
    fn push_table(&mut self, table: &'p Table) {
        for block in table.blocks_outside_cells() {
            self.push_blocks(block..block + 1);
        }
        let mut separator = if matches!(self.last, Last::Nothing) { "" } else { "\n\n" };
        for row in table.rows.iter().filter(|row| row.is_kept(self.kept)) {
            self.text.push_str(separator);
            row.push_plain(self.page, self.kept, &mut self.text);
            self.last = Last::Row;
            separator = "\n";
        }
    }
}

/// Text in which control characters are spaces: terminals interpret them, and they are invisible on the page.
pub(crate) fn without_controls(text: String) -> String {
    let is_control = |character: char| character.is_control() && !matches!(character, '\n' | '\t');
    // Beyond ASCII they begin with 0xC2, as few others do.
    let may_be = |byte: u8| (byte < b' ' && !matches!(byte, b'\n' | b'\t')) || matches!(byte, 0x7F | 0xC2);
    // Without an early end many bytes are compared at a time.
    let may_hold = text.bytes().fold(false, |found, byte| found | may_be(byte));
    if may_hold { text.replace(is_control, " ") } else { text }
}

/// What separates two blocks that follow each other in the text.
fn between(last: &Block, next: &Block) -> &'static str {
    if next.break_before == Break::Line && last.element == next.element {
        return "\n";
    }
    let both = last.ancestors & next.ancestors;
    if both & (ancestor::LIST | ancestor::TABLE | ancestor::DEFINITION) != 0 && last.heading == 0 && next.heading == 0 {
        return "\n";
    }
    "\n\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;

    #[test]
    fn a_table_has_a_line_for_each_row() {
        let html = "<p>a<table><caption>c</caption><tr><th><th>x<tr><td><p>1<p>2<td>3<tr><td>4<td></table><p>b";
        let page = Page::read(Tree::parse(html));
        assert_eq!(plain(&page, &[true; 8]), "a\n\nc\n\n\tx\n1 2\t3\n4\t\n\nb");
        let kept = [true, false, true, true, true, true, false, true];
        assert_eq!(plain(&page, &kept), "a\n\n\tx\n1 2\t3\n\nb");
    }

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
