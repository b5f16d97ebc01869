//! The data tables of a page: rows, and the column of every cell. Tables that only arrange a page are not among them.

mod grid;
mod layout;
mod selection;

use std::ops::Range;

use crate::blocks::{Element, Page, ancestor};
use crate::cancel;
use crate::tree::{NodeId, Tag};
use layout::Signs;
pub(crate) use selection::keep_rows_whole;

/// Elements between two looks at whether the work was cancelled.
const ELEMENTS_PER_CHECK: usize = 1024;

/// The data tables of a page in document order. None is inside another.
#[derive(Debug, Default)]
pub(crate) struct Tables {
    all: Vec<Table>,
}

/// A data table.
#[derive(Debug)]
pub(crate) struct Table {
    /// The `<table>`, an index into `page.elements`.
    pub element: u32,
    /// All of its blocks, those of its caption among them.
    pub blocks: Range<usize>,
    /// Its rows in document order, those without text among them.
    pub rows: Vec<Row>,
}

/// A row of a table.
#[derive(Debug, Default)]
pub(crate) struct Row {
    /// The cells that begin in this row.
    pub cells: Vec<Cell>,
    /// Whether it stands in a `<thead>`.
    pub in_head: bool,
}

/// A cell of a table.
#[derive(Debug)]
pub(crate) struct Cell {
    /// The `<td>` or `<th>`, an index into `page.elements`.
    pub element: u32,
    /// Its blocks; empty where the cell is.
    pub blocks: Range<usize>,
    /// Its first column. The other columns and rows that it spans are left empty.
    pub column: usize,
    /// Whether it is a `<th>`.
    pub is_header: bool,
}

impl Tables {
    /// Finds the data tables of a page.
    pub(crate) fn find(page: &Page<'_>) -> Tables {
        let mut finder = Finder { page, open: Vec::new(), found: Vec::new() };
        if page.elements.iter().any(|element| element.tag == Tag::Table) {
            for (index, element) in page.elements.iter().enumerate() {
                if index.is_multiple_of(ELEMENTS_PER_CHECK) {
                    cancel::check();
                }
                finder.close_before(element.node);
                finder.read(index as u32, element);
            }
            finder.close_before(page.tree.end(NodeId::DOCUMENT));
        }
        let mut all = finder.found;
        all.sort_unstable_by_key(|table| table.element);
        Tables { all }
    }

    /// All of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Table> {
        self.all.iter()
    }

    /// Whether an element holds a data table.
    pub(crate) fn is_inside(&self, page: &Page<'_>, element: &Element) -> bool {
        let node = |table: &Table| page.elements[table.element as usize].node;
        let index = self.all.partition_point(|table| node(table) < element.node);
        self.all.get(index).is_some_and(|table| page.tree.contains(element.node, node(table)))
    }

    /// The table that a block belongs to.
    pub(crate) fn around(&self, block: usize) -> Option<&Table> {
        let index = self.all.partition_point(|table| table.blocks.end <= block);
        self.all.get(index).filter(|table| table.blocks.contains(&block))
    }
}

impl Table {
    /// The blocks that stand in no cell, as those of the caption.
    pub(crate) fn blocks_outside_cells(&self) -> impl Iterator<Item = usize> {
        let mut cells = self.rows.iter().flat_map(|row| &row.cells).map(|cell| cell.blocks.clone()).peekable();
        self.blocks.clone().filter(move |block| {
            while cells.next_if(|cell| cell.end <= *block).is_some() {}
            cells.peek().is_none_or(|cell| !cell.contains(block))
        })
    }

    /// How many columns the widest row needs.
    pub(crate) fn n_columns(&self) -> usize {
        self.rows.iter().filter_map(|row| row.cells.last()).map(|cell| cell.column + 1).max().unwrap_or(0)
    }
}

impl Row {
    /// Whether a block of the row is kept.
    pub(crate) fn is_kept(&self, kept: &[bool]) -> bool {
        self.cells.iter().any(|cell| kept[cell.blocks.clone()].contains(&true))
    }

    /// Writes the text of each cell, tabs between columns. A cell is one line, whatever it holds.
    pub(crate) fn push_plain(&self, page: &Page<'_>, kept: &[bool], out: &mut String) {
        let mut column = 0;
        for cell in &self.cells {
            out.extend(std::iter::repeat_n('\t', cell.column - column));
            column = cell.column;
            let from = out.len();
            for block in cell.blocks.clone().filter(|block| kept[*block]) {
                if out.len() > from {
                    out.push(' ');
                }
                push_line(page.block_text(&page.blocks[block]), out);
            }
        }
    }
}

/// Adds text with each run of tabs and line breaks as one space; other spaces stay.
fn push_line(text: &str, out: &mut String) {
    for (index, part) in text.split(['\n', '\r', '\t']).filter(|part| !part.is_empty()).enumerate() {
        if index > 0 {
            out.push(' ');
        }
        out.push_str(part);
    }
}

/// A table whose end has not been reached.
struct OpenTable {
    element: u32,
    signs: Signs,
    rows: Vec<Row>,
    head: Option<NodeId>,
}

struct Finder<'p, 'a> {
    page: &'p Page<'a>,
    open: Vec<OpenTable>,
    found: Vec<Table>,
}

impl Finder<'_, '_> {
    /// Closes the tables that end before a node.
    fn close_before(&mut self, node: NodeId) {
        let ends = |table: &OpenTable| self.page.tree.end(self.page.elements[table.element as usize].node) <= node;
        while let Some(table) = self.open.pop_if(|table| ends(table)) {
            self.close(table);
        }
    }

    fn close(&mut self, table: OpenTable) {
        let element = &self.page.elements[table.element as usize];
        let blocks = element.first_block as usize..element.end_block as usize;
        let is_code = self.page.blocks[blocks.clone()].iter().all(|block| block.ancestors & ancestor::CODE != 0);
        let mut rows = table.rows;
        rows.retain(|row| !row.cells.is_empty());
        if !is_code && table.signs.is_data(self.page, &rows) {
            grid::set_columns(self.page, &mut rows);
            self.found.push(Table { element: table.element, blocks, rows });
        }
    }

    fn read(&mut self, index: u32, element: &Element) {
        if element.tag == Tag::Table {
            if let Some(outer) = self.open.last_mut() {
                outer.signs.holds_table = true;
            }
            let signs = Signs::of_table(&self.page.tree, element.node);
            self.open.push(OpenTable { element: index, signs, rows: Vec::new(), head: None });
            return;
        }
        let Some(table) = self.open.last_mut() else { return };
        table.signs.read(&self.page.tree, element);
        match element.tag {
            Tag::Thead => table.head = Some(element.node),
            Tag::Tr => {
                let in_head = table.head.is_some_and(|head| self.page.tree.contains(head, element.node));
                table.rows.push(Row { cells: Vec::new(), in_head });
            }
            Tag::Td | Tag::Th => {
                let blocks = element.first_block as usize..element.end_block as usize;
                let cell = Cell { element: index, blocks, column: 0, is_header: element.tag == Tag::Th };
                if let Some(row) = table.rows.last_mut() {
                    row.cells.push(cell);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;

    fn page(html: &str) -> Page<'_> {
        Page::read(Tree::parse(html))
    }

    /// The rows of the only data table as plain text.
    #[track_caller]
    fn check(html: &str, expected: &[&str]) {
        let page = page(html);
        let kept = vec![true; page.blocks.len()];
        let table = page.tables().iter().next().expect("a data table");
        let mut rows = Vec::new();
        for row in &table.rows {
            let mut text = String::new();
            row.push_plain(&page, &kept, &mut text);
            rows.push(text);
        }
        assert_eq!(rows, expected);
    }

    #[test]
    fn empty_cells_keep_their_column() {
        check("<table><tr><th><th>a<th>b<tr><th>x<td><td>1<tr><th>y<td>2<td></table>", &["\ta\tb", "x\t\t1", "y\t2\t"]);
    }

    #[test]
    fn a_span_is_its_first_cell_and_empty_ones() {
        check(
            "<table><tr><th colspan=2>a<th>b<tr><td rowspan=2>1<td>2<td>3<tr><td>4<td>5</table>",
            &["a\t\tb", "1\t2\t3", "\t4\t5"],
        );
    }

    #[test]
    fn a_cell_of_several_blocks_is_one_line() {
        check(
            "<table><tr><th>a<th>b<tr><td><p>one<p>two<td><ul><li>x<li>y</ul><pre>p\nq</pre></table>",
            &["a\tb", "one two\tx y p q"],
        );
    }

    #[test]
    fn spans_that_no_table_needs_are_ignored() {
        let row = "<tr><td colspan=100000 rowspan=100000>a<td>b";
        let html = format!("<table border=1>{}</table>", row.repeat(3000));
        let page = page(&html);
        assert!(page.tables().iter().next().is_some_and(|table| table.n_columns() == 2));
    }

    #[test]
    fn one_row_of_spans_is_no_larger_than_its_cells() {
        let html = format!("<table><tr><th>a<th>b<tr>{}</table>", "<td colspan=1000>".repeat(3000));
        assert_eq!(page(&html).tables().iter().next().map(Table::n_columns), Some(3000));
    }

    #[test]
    fn the_table_around_a_block_is_found() {
        let page = page("<p>a<table><caption>c</caption><tr><th>1<th>2<tr><td>3<td>4</table><p>b");
        let around: Vec<bool> = (0..page.blocks.len()).map(|block| page.tables().around(block).is_some()).collect();
        assert_eq!(around, [false, true, true, true, true, true, false]);
        let table = page.tables().iter().next().unwrap();
        assert_eq!(table.blocks_outside_cells().collect::<Vec<_>>(), [1]);
    }
}
