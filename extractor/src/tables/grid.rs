//! The column of every cell, from the columns and rows that cells span.

use super::Row;
use crate::blocks::Page;
use crate::tree::NodeId;

/// The largest spans that browsers obey.
const MAX_COLUMNS: usize = 1000;
const MAX_ROWS: usize = 65_534;

/// A grid with more places than so many for each cell has spans that nothing needs; then they are ignored.
const MAX_PLACES_PER_CELL: usize = 8;
const MIN_PLACES: usize = 10_000;

/// Sets the column of every cell.
pub(super) fn set_columns(page: &Page<'_>, rows: &mut [Row]) {
    if !set_spanned_columns(page, rows) {
        for row in rows {
            row.cells.iter_mut().enumerate().for_each(|(column, cell)| cell.column = column);
        }
    }
}

/// Sets the columns by the spans; whether the grid is small enough.
fn set_spanned_columns(page: &Page<'_>, rows: &mut [Row]) -> bool {
    let n_cells: usize = rows.iter().map(|row| row.cells.len()).sum();
    let mut budget = n_cells * MAX_PLACES_PER_CELL + MIN_PLACES;
    // For each column how many more rows it is taken.
    let mut taken: Vec<usize> = Vec::new();
    for row in rows {
        crate::cancel::check();
        let mut column = 0;
        for cell in &mut row.cells {
            while taken.get(column).is_some_and(|rows| *rows > 0) {
                column += 1;
            }
            let (n_columns, n_rows) = spans(page, page.elements[cell.element as usize].node);
            cell.column = column;
            column += n_columns;
            if budget < column {
                return false;
            }
            if taken.len() < column {
                taken.resize(column, 0);
            }
            taken[cell.column..column].fill(n_rows);
        }
        if budget < taken.len() {
            return false;
        }
        budget -= taken.len();
        taken.iter_mut().for_each(|rows| *rows = rows.saturating_sub(1));
    }
    true
}

/// How many columns and rows a cell spans.
fn spans(page: &Page<'_>, cell: NodeId) -> (usize, usize) {
    let [columns, rows] = page.tree.find_raw(cell, ["colspan", "rowspan"]);
    let number = |value: Option<&str>| value.and_then(|value| value.trim().parse().ok());
    let rows = match number(rows) {
        // To the end of the table.
        Some(0) => MAX_ROWS,
        Some(rows) => MAX_ROWS.min(rows),
        None => 1,
    };
    (number(columns).unwrap_or(1).clamp(1, MAX_COLUMNS), rows)
}
