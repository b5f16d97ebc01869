//! Data tables as Markdown tables.

use super::Writer;
use super::frames::Flow;
use super::inline::Position;
use super::spans::{Gap, Span};
use crate::blocks::ancestor;
use crate::tables::{Cell, Row, Table};

impl Writer<'_, '_> {
    /// Writes the caption of a table as a paragraph, and its rows as lines.
    pub(super) fn push_table(&mut self, table: &Table, out: &mut String) {
        let outside: Vec<usize> = table.blocks_outside_cells().filter(|block| self.kept[*block]).collect();
        for block in outside {
            self.push_run(block..block + 1, out);
        }
        let kept = self.kept;
        let mut rows = table.rows.iter().filter(|row| row.is_kept(kept)).peekable();
        let Some(first) = rows.peek() else { return };
        self.frames.open(table.element);
        self.frames.begin(Flow::Table, out);
        let n_columns = table.n_columns();
        if is_header(first, table) {
            let n_written = rows.next().map_or(0, |row| self.push_row(row, out));
            out.push_str(&" |".repeat(n_columns - n_written));
        } else {
            out.push('|');
            out.push_str(&"  |".repeat(n_columns));
        }
        self.frames.next_line(out);
        out.push('|');
        out.push_str(&" --- |".repeat(n_columns));
        for row in rows {
            self.frames.next_line(out);
            self.push_row(row, out);
        }
    }

    /// Writes the cells of a row; how many columns were written.
    fn push_row(&mut self, row: &Row, out: &mut String) -> usize {
        out.push('|');
        let mut column = 0;
        for cell in &row.cells {
            out.push_str(&" |".repeat(cell.column - column));
            out.push(' ');
            self.push_cell(cell, out);
            out.push_str(" |");
            column = cell.column + 1;
        }
        column
    }

    /// Writes all that a cell holds, `<br>` between its paragraphs.
    fn push_cell(&mut self, cell: &Cell, out: &mut String) {
        let start = out.len();
        let mut at = cell.blocks.start;
        while at < cell.blocks.end {
            let end = self.run_end(at, cell.blocks.end);
            if self.kept[at] {
                if out.len() > start {
                    out.push_str("<br>");
                }
                self.push_cell_run(at..end, out);
            }
            at = end;
        }
        let node = self.page.elements[cell.element as usize].node;
        let mut spans: Vec<Span> = Vec::new();
        for image in self.images_in(node) {
            self.push_image_span(image, Gap::Space, &mut spans);
        }
        if !spans.is_empty() && out.len() > start {
            out.push_str("<br>");
        }
        self.push_spans(&spans, Position::Cell, out);
    }

    fn push_cell_run(&mut self, blocks: std::ops::Range<usize>, out: &mut String) {
        let block = &self.page.blocks[blocks.start];
        if block.ancestors & ancestor::CODE == 0 {
            let spans = self.spans(blocks, Position::Cell);
            self.push_spans(&spans, Position::Cell, out);
            return;
        }
        let code = self.code_text(blocks);
        for (index, line) in code.lines().filter(|line| !line.trim().is_empty()).enumerate() {
            if index > 0 {
                out.push_str("<br>");
            }
            self.push_code(line.trim_end(), Position::Cell, out);
        }
    }
}

/// Whether the first row that is written says what the columns are. In tables without any header cell it may.
fn is_header(first: &Row, table: &Table) -> bool {
    let headers = |row: &Row| row.cells.iter().filter(|cell| cell.is_header).count();
    let names_rows_only = headers(first) == 1 && first.cells.len() > 1 && first.cells[0].is_header;
    let has_headers = table.rows.iter().any(|row| headers(row) > 0);
    first.in_head || (headers(first) > 0 && !names_rows_only) || !has_headers
}
