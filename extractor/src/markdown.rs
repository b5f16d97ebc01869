//! The kept blocks as Markdown: headings, lists, tables, quotes and code as such.

use crate::blocks::{Block, Break, Page, place};
use crate::tree::Tag;

/// Main content as Markdown.
pub(crate) fn markdown(page: &Page<'_>, kept: &[bool]) -> String {
    let mut out = String::new();
    let mut last: Option<&Block> = None;
    for (block, _) in page.blocks.iter().zip(kept).filter(|(_, kept)| **kept) {
        let text = page.block_text(block);
        let cell = row(page, block);
        let row_goes_on = cell.is_some() && last.is_some_and(|last| row(page, last) == cell);
        let row_ends = last.and_then(|last| row(page, last)).filter(|_| !row_goes_on);
        if row_ends.is_some() {
            out.push_str(" |");
            out.push_str(&header_line(page, &out, row_ends));
        }
        if let Some(last) = last {
            out.push_str(if row_goes_on { " | " } else { separator(page, last, block) });
        }
        if cell.is_some() {
            if !row_goes_on {
                out.push_str("| ");
            }
            out.push_str(&text.replace('|', "\\|").replace('\n', " "));
        } else if block.places & place::CODE != 0 {
            out.push_str("```\n");
            out.push_str(text);
            out.push_str("\n```");
        } else {
            out.push_str(&prefix(page, block, last));
            out.push_str(&escape(text));
        }
        last = Some(block);
    }
    if last.is_some_and(|last| row(page, last).is_some()) {
        out.push_str(" |");
    }
    out
}

fn separator(page: &Page<'_>, last: &Block, next: &Block) -> &'static str {
    if next.begins == Break::Line && last.element == next.element {
        return "  \n";
    }
    if row(page, last).is_some() && row(page, next).is_some() {
        return "\n";
    }
    let both = last.places & next.places;
    if both & place::LIST != 0 && item(page, last).is_some() && item(page, next).is_some() {
        return "\n";
    }
    "\n\n"
}

fn prefix(page: &Page<'_>, block: &Block, last: Option<&Block>) -> String {
    if block.heading > 0 {
        return format!("{} ", "#".repeat(usize::from(block.heading)));
    }
    let mut prefix = String::new();
    if block.places & place::QUOTE != 0 {
        prefix.push_str("> ");
    }
    if let Some(found) = item(page, block) {
        let goes_on = last.is_some_and(|last| item(page, last) == Some(found));
        let list = page.elements[page.elements[found as usize].parent as usize].tag;
        prefix.push_str(&"  ".repeat(list_depth(page, found).saturating_sub(1)));
        prefix.push_str(match (goes_on, list) {
            (true, _) => "  ",
            (false, Tag::Ol) => "1. ",
            (false, _) => "- ",
        });
    }
    prefix
}

/// Signs at the start of a line that would mean something else.
fn escape(text: &str) -> String {
    match text.as_bytes().first() {
        Some(b'#' | b'>' | b'-' | b'+' | b'*') => format!("\\{text}"),
        _ => text.to_owned(),
    }
}

/// After the first row of a table comes a line that makes it one.
fn header_line(page: &Page<'_>, out: &str, row: Option<u32>) -> String {
    let Some(row) = row else { return String::new() };
    let element = &page.elements[row as usize];
    let first = page.elements[..row as usize]
        .iter()
        .rev()
        .take_while(|other| other.tag != Tag::Table)
        .all(|other| other.tag != Tag::Tr || other.parent != element.parent);
    if !first {
        return String::new();
    }
    let line = out.rsplit('\n').next().unwrap_or("");
    let n_cells = line.matches(" | ").count() + 1;
    format!("\n|{}", " --- |".repeat(n_cells))
}

fn ancestor(page: &Page<'_>, block: &Block, tag: Tag) -> Option<u32> {
    let mut element = block.element;
    for _ in 0..32 {
        if page.elements[element as usize].tag == tag {
            return Some(element);
        }
        element = page.elements[element as usize].parent;
    }
    None
}

fn row(page: &Page<'_>, block: &Block) -> Option<u32> {
    let cell = matches!(block.tag, Some(Tag::Td | Tag::Th));
    if cell { ancestor(page, block, Tag::Tr) } else { None }
}

fn item(page: &Page<'_>, block: &Block) -> Option<u32> {
    if block.places & place::ITEM == 0 { None } else { ancestor(page, block, Tag::Li) }
}

fn list_depth(page: &Page<'_>, mut element: u32) -> usize {
    let mut depth = 0;
    for _ in 0..64 {
        depth += usize::from(matches!(page.elements[element as usize].tag, Tag::Ul | Tag::Ol));
        if element == 0 {
            break;
        }
        element = page.elements[element as usize].parent;
    }
    depth
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;

    #[track_caller]
    fn check(html: &str, expected: &str) {
        let page = Page::read(Tree::parse(html));
        assert_eq!(markdown(&page, &vec![true; page.blocks.len()]), expected);
    }

    #[test]
    fn headings_lists_and_code_are_marked() {
        check("<h2>Rain</h2><p>It rains.</p>", "## Rain\n\nIt rains.");
        check("<ul><li>a<li>b<ol><li>c</ol></ul>", "- a\n- b\n  1. c");
        check("<pre>x\n  y</pre>", "```\nx\n  y\n```");
        check("<blockquote>so</blockquote><p># no</p>", "> so\n\n\\# no");
    }

    #[test]
    fn tables_have_a_line_below_their_first_row() {
        check("<table><tr><th>a<th>b<tr><td>1<td>2</table>", "| a | b |\n| --- | --- |\n| 1 | 2 |");
    }
}
