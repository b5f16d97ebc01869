//! Is a table one of data, or does it arrange the parts of a page?

use super::{Cell, Row};
use crate::blocks::{Element, Page, ancestor};
use crate::tree::{NodeId, Tag, Tree};

/// So many words in one cell of a table with few rows are a part of a page, even if its markup is that of a data table …
const MAX_CELL_WORDS: u32 = 200;
/// … and so many if it is not.
const MAX_UNMARKED_CELL_WORDS: u32 = 60;

/// A table of so few rows has few.
const FEW_ROWS: usize = 3;

/// What the markup of a table says about its purpose.
#[derive(Debug, Default)]
pub(super) struct Signs {
    /// A table stands in one of its cells.
    pub holds_table: bool,
    /// It has headers, a caption, a border or the like.
    is_marked: bool,
    /// It is said to be for layout, or it holds parts of a page.
    is_layout: bool,
}

impl Signs {
    /// What the attributes of a `<table>` say.
    pub(super) fn of_table(tree: &Tree<'_>, table: NodeId) -> Signs {
        let [role, border, summary] = tree.find_raw(table, ["role", "border", "summary"]);
        let is_role = |names: &[&str]| role.is_some_and(|role| names.contains(&role.trim()));
        Signs {
            holds_table: false,
            is_marked: border.is_some_and(|border| border.trim() != "0")
                || summary.is_some_and(|summary| !summary.trim().is_empty())
                || is_role(&["table", "grid", "treegrid"]),
            is_layout: is_role(&["presentation", "none"]),
        }
    }

    /// Reads an element inside the table.
    pub(super) fn read(&mut self, tree: &Tree<'_>, element: &Element) {
        match element.tag {
            Tag::Th | Tag::Caption | Tag::Thead => self.is_marked = true,
            Tag::Td => self.is_marked |= tree.has_attribute(element.node, "scope"),
            Tag::H1 | Tag::H2 | Tag::Main | Tag::Article | Tag::Nav | Tag::Header | Tag::Footer | Tag::Aside => {
                self.is_layout = true;
            }
            _ => {}
        }
    }

    /// Whether these are the rows of a data table.
    pub(super) fn is_data(&self, page: &Page<'_>, rows: &[Row]) -> bool {
        if self.holds_table || self.is_layout || rows.len() < 2 {
            return false;
        }
        let several_columns = rows.iter().filter(|row| row.cells.len() >= 2).count();
        let longest = rows.iter().flat_map(|row| &row.cells).map(|cell| n_words(page, cell)).max().unwrap_or(0);
        let limit = if self.is_marked { MAX_CELL_WORDS } else { MAX_UNMARKED_CELL_WORDS };
        let holds_prose = longest > limit && (rows.len() <= FEW_ROWS || !self.is_marked);
        if holds_prose || several_columns == 0 || !has_full_row(rows) || holds_code(page, rows) {
            return false;
        }
        self.is_marked || (several_columns >= 2 && several_columns * 2 >= rows.len() && is_filled(rows))
    }
}

/// Whether two cells of a row hold text: a note with a picture beside it has its heading in one row and its text in
/// another.
fn has_full_row(rows: &[Row]) -> bool {
    rows.iter().any(|row| row.cells.iter().filter(|cell| !cell.blocks.is_empty()).nth(1).is_some())
}

/// Shorter code can be read in a cell.
const MIN_CODE_LINES: usize = 3;

/// Whether a third of the rows or more hold code of several lines, which has no place in a row.
fn holds_code(page: &Page<'_>, rows: &[Row]) -> bool {
    let is_code = |cell: &Cell| {
        page.blocks[cell.blocks.clone()].iter().any(|block| {
            block.ancestors & ancestor::CODE != 0 && page.block_text(block).lines().nth(MIN_CODE_LINES - 1).is_some()
        })
    };
    let n_rows = rows.iter().filter(|row| row.cells.iter().any(is_code)).count();
    n_rows * 3 >= rows.len()
}

/// Whether half of the cells or more hold text: tables for layout have many that only keep a distance.
fn is_filled(rows: &[Row]) -> bool {
    let cells = rows.iter().flat_map(|row| &row.cells);
    let (filled, all) =
        cells.fold((0, 0), |(filled, all), cell| (filled + usize::from(!cell.blocks.is_empty()), all + 1));
    filled * 2 >= all
}

fn n_words(page: &Page<'_>, cell: &Cell) -> u32 {
    match page.blocks.get(cell.blocks.clone()) {
        Some([first, .., last]) => last.end_word - first.first_word,
        Some([block]) => block.n_words(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(html: &str, n_tables: usize) {
        let page = Page::read(Tree::parse(html));
        assert_eq!(page.tables().iter().count(), n_tables, "{html}");
    }

    #[test]
    fn tables_of_data_are_told_from_layout() {
        check("<table><tr><th>a<th>b<tr><td>1<td>2</table>", 1);
        check("<table border=1><tr><td>a<td>b<tr><td>1<td>2</table>", 1);
        check("<table><tr><td>a<td>b<tr><td>1<td>2<tr><td>3<td>4</table>", 1);
        check("<table role=presentation><tr><th>a<th>b<tr><td>1<td>2</table>", 0);
        check("<table><tr><td>one column<tr><td>of<tr><td>text</table>", 0);
        check("<table><tr><td>a single<td>row</table>", 0);
        check("<table><tr><td>a<td><table><tr><th>a<th>b<tr><td>1<td>2</table><tr><td>b<td>c</table>", 1);
        check("<table><tr><td><h1>Title</h1><td>Menu<tr><td>Text<td>More</table>", 0);
        let prose = "word ".repeat(300);
        check(&format!("<table><tr><td>Menu<td>Home<tr><td>{prose}<td>{prose}</table>"), 0);
        check(&format!("<table><tr><th>Menu<th>Home<tr><td>{prose}<td>{prose}</table>"), 0);
        check("<table><tr><td>a<td><td><td>b<tr><td><td>c<td><td></table>", 0);
    }

    #[test]
    fn notes_and_examples_in_tables_are_no_tables() {
        check("<table summary=Tip><tr><td rowspan=2><img src=tip.png><th>Tip<tr><td>Mind the step.</table>", 0);
        let code = "<pre>one\ntwo\nthree</pre>";
        check(&format!("<table><tr><th>Example<th>Output<tr><td>{code}<td>{code}</table>"), 0);
        check("<table><tr><th>Name<th>Example<tr><td>a<td><pre>a 1\na 2</pre></table>", 1);
        let row = "<tr><td>1<td>2";
        check(&format!("<table><tr><th>a<th>b<tr><td>x<td>{code}{}</table>", row.repeat(3)), 1);
    }
}
