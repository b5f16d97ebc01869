//! A data table is kept row by row, never cell by cell.

use super::{Row, Table};
use crate::blocks::{Page, ancestor};

/// From this share of kept words on all rows are kept.
const MIN_TABLE_SHARE: f32 = 0.5;

/// Of other tables a row is kept from this share of kept words on.
const MIN_ROW_SHARE: f32 = 0.5;

/// Keeps or drops every row of every data table as a whole. Hidden blocks are left as they are: a cell may hold a copy of
/// its text for sorting.
pub(crate) fn keep_rows_whole(page: &Page<'_>, kept: &mut [bool]) {
    for table in page.tables().iter() {
        crate::cancel::check();
        if is_uniform(&kept[table.blocks.clone()]) {
            continue;
        }
        let mut of_table = Words::default();
        table.rows.iter().for_each(|row| of_table.add(page, row, kept));
        let keeps_all = of_table.share() >= MIN_TABLE_SHARE;
        for row in &table.rows {
            let mut of_row = Words::default();
            of_row.add(page, row, kept);
            set_row(page, row, keeps_all || of_row.share() >= MIN_ROW_SHARE, kept);
        }
        keep_caption(page, table, keeps_all, kept);
    }
}

fn is_uniform(kept: &[bool]) -> bool {
    kept.iter().all(|block| *block) || !kept.contains(&true)
}

/// The words of some rows, and those that are kept.
#[derive(Default)]
struct Words {
    all: u32,
    kept: u32,
}

impl Words {
    fn add(&mut self, page: &Page<'_>, row: &Row, kept: &[bool]) {
        for block in visible_blocks(page, row) {
            let words = page.blocks[block].n_words().max(1);
            self.all += words;
            self.kept += if kept[block] { words } else { 0 };
        }
    }

    fn share(&self) -> f32 {
        self.kept as f32 / self.all.max(1) as f32
    }
}

fn set_row(page: &Page<'_>, row: &Row, keep: bool, kept: &mut [bool]) {
    for block in visible_blocks(page, row) {
        kept[block] = keep;
    }
}

fn keep_caption(page: &Page<'_>, table: &Table, keep: bool, kept: &mut [bool]) {
    if keep {
        for block in table.blocks_outside_cells().filter(|block| is_visible(page, *block)) {
            kept[block] = true;
        }
    }
}

fn visible_blocks(page: &Page<'_>, row: &Row) -> impl Iterator<Item = usize> {
    row.cells.iter().flat_map(|cell| cell.blocks.clone()).filter(|block| is_visible(page, *block))
}

fn is_visible(page: &Page<'_>, block: usize) -> bool {
    page.blocks[block].ancestors & ancestor::HIDDEN == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;

    #[track_caller]
    fn check(html: &str, kept: &[bool], expected: &[bool]) {
        let page = Page::read(Tree::parse(html));
        let mut kept = kept.to_vec();
        keep_rows_whole(&page, &mut kept);
        assert_eq!(kept, expected);
    }

    #[test]
    fn a_row_is_kept_whole() {
        let table = "<table><tr><th>a<th>b<tr><td>1<td>2<tr><td>3<td>4<tr><td>5<td>6</table>";
        check(table, &[true, true, true, false, false, true, true, true], &[true; 8]);
        let few = [false, true, false, false, false, false, false, false];
        check(table, &few, &[true, true, false, false, false, false, false, false]);
        check(table, &[false; 8], &[false; 8]);
    }

    #[test]
    fn hidden_text_stays_dropped() {
        let table = "<table><tr><th>a<th>b<tr><td><p hidden>01</p><p>1</p><td>2</table>";
        check(table, &[true, true, false, true, false], &[true, true, false, true, true]);
    }

    #[test]
    fn the_caption_goes_with_the_table() {
        let table = "<table><caption>c</caption><tr><th>a<th>b<tr><td>1<td>2</table>";
        check(table, &[false, true, true, true, true], &[true; 5]);
    }
}
