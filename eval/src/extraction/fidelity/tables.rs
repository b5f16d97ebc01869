//! Rows of data tables, every cell in its column.

use std::collections::HashMap;

use scraper::ElementRef;

use super::markdown::cells_of;
use super::output::{Output, Text, letters};
use super::reference::{Reference, around, has_class, inside, is_hidden, text_of};
use super::{Counter, Measure};

/// A data table of the page.
#[derive(Debug)]
pub(super) struct Table {
    rows: Vec<Row>,
}

#[derive(Debug)]
struct Row {
    /// By column: the text of the cell that begins there, or of the one that spans it.
    cells: Vec<Place>,
    /// It has spans, paragraphs or empty cells.
    is_hard: bool,
}

#[derive(Clone, Debug)]
struct Place {
    text: String,
    key: String,
    /// The cell began in another column or row: empty, or its text again.
    is_spanned: bool,
}

/// A cell with more text is a part of a page.
const MAX_CELL_BYTES: usize = 2000;

/// Larger spans are mistakes.
const MAX_SPAN: usize = 50;

/// A row with fewer letters stands anywhere.
const MIN_ROW_LETTERS: usize = 6;

impl Table {
    /// Reads an element, if it is a data table.
    pub fn read(element: ElementRef<'_>) -> Option<Table> {
        if element.value().name() != "table" || is_layout(element) {
            return None;
        }
        let rows: Vec<Vec<ElementRef<'_>>> = inside(element)
            .filter(|inner| inner.value().name() == "tr" && !is_hidden(*inner))
            .map(|row| row.children().filter_map(ElementRef::wrap).filter(|cell| is_cell(*cell)).collect())
            .filter(|row: &Vec<_>| !row.is_empty())
            .collect();
        let n_wide = rows.iter().filter(|row| row.len() > 1).count();
        let is_regular = rows.len() > 2 && rows.iter().all(|row| row.len() == rows[0].len());
        if n_wide < 2 || !(is_marked(element) || is_regular) {
            return None;
        }
        let table = Table { rows: place(&rows) };
        let is_short = table.cells().all(|cell| cell.len() <= MAX_CELL_BYTES);
        is_short.then_some(table)
    }

    /// The texts of all cells.
    pub fn cells(&self) -> impl Iterator<Item = &str> {
        let places = self.rows.iter().flat_map(|row| &row.cells);
        places.filter(|place| !place.is_spanned).map(|place| place.text.as_str())
    }
}

fn is_cell(element: ElementRef<'_>) -> bool {
    matches!(element.value().name(), "td" | "th")
}

fn is_layout(table: ElementRef<'_>) -> bool {
    let is_code = |name: &str| {
        matches!(
            name,
            "highlighttable"
                | "codehilitetable"
                | "rouge-table"
                | "lntable"
                | "RktBlk"
                | "hljs-ln"
                | "memname"
                | "mlabels"
                | "SCodeFlow"
                | "js-file-line-container"
        )
    };
    let holds_parts = inside(table).any(|inner| {
        matches!(
            inner.value().name(),
            "table" | "h1" | "h2" | "nav" | "form" | "math" | "article" | "header" | "footer" | "input" | "select"
        )
    });
    let holds_code = inside(table).any(|inner| {
        (inner.value().name() == "pre" && text_of(inner).trim().lines().nth(2).is_some())
            || has_class(inner, |name| name == "fragment")
    });
    holds_parts
        || holds_code
        || table.attr("role").is_some_and(|role| matches!(role, "presentation" | "none"))
        || has_class(table, is_code)
        || around(table).any(|outer| matches!(outer.value().name(), "table" | "pre"))
}

fn is_marked(table: ElementRef<'_>) -> bool {
    table.attr("border").is_some_and(|border| border != "0")
        || inside(table).any(|inner| matches!(inner.value().name(), "th" | "thead" | "caption"))
}

/// Puts the cells of each row into their columns.
fn place(rows: &[Vec<ElementRef<'_>>]) -> Vec<Row> {
    // For each column how many more rows a cell above takes, and its text.
    let mut taken: Vec<(usize, Place)> = Vec::new();
    let mut placed = Vec::new();
    for row in rows {
        let mut cells: Vec<Place> = Vec::new();
        let mut is_hard = false;
        for cell in row {
            fill_taken(&mut cells, &mut taken);
            let span = |name| cell.attr(name).and_then(|span| span.trim().parse().ok()).unwrap_or(1).clamp(1, MAX_SPAN);
            let (n_columns, n_rows): (usize, usize) = (span("colspan"), span("rowspan"));
            let text = text_of(*cell);
            is_hard |= n_columns > 1 || n_rows > 1 || text.trim().is_empty() || holds_blocks(*cell);
            for column in 0..n_columns {
                let place = Place { key: key(&text), text: text.clone(), is_spanned: column > 0 };
                let below = Place { is_spanned: true, ..place.clone() };
                let at = cells.len();
                cells.push(place);
                if taken.len() <= at {
                    taken.resize(at + 1, (0, below.clone()));
                }
                taken[at] = (n_rows - 1, below);
            }
        }
        fill_taken(&mut cells, &mut taken);
        is_hard |= cells.iter().any(|cell| cell.is_spanned);
        placed.push(Row { cells, is_hard });
    }
    placed
}

/// Adds the columns that cells of rows above take, up to the next free one.
fn fill_taken(cells: &mut Vec<Place>, taken: &mut [(usize, Place)]) {
    while let Some((rows, place)) = taken.get_mut(cells.len()).filter(|(rows, _)| *rows > 0) {
        *rows -= 1;
        cells.push(place.clone());
    }
}

fn holds_blocks(cell: ElementRef<'_>) -> bool {
    inside(cell).any(|inner| matches!(inner.value().name(), "p" | "ul" | "ol" | "dl" | "pre" | "div" | "br"))
}

/// The characters of a cell that are no white space and no marks.
fn key(text: &str) -> String {
    let is_mark = |character: char| "\\`*_^[](){}|~<>¶\u{2060}\u{ad}\u{200b}".contains(character);
    text.chars().filter(|character| !character.is_whitespace() && !is_mark(*character)).collect()
}

/// The rows of an output by their first cell that is not empty.
struct Rows {
    by_first: HashMap<String, Vec<Vec<String>>>,
}

impl Rows {
    fn of(rows: impl Iterator<Item = Vec<String>>) -> Rows {
        let mut by_first: HashMap<String, Vec<Vec<String>>> = HashMap::new();
        for row in rows {
            let row: Vec<String> = row.iter().map(|cell| key(cell)).collect();
            if let Some(first) = row.iter().find(|cell| !cell.is_empty()).cloned() {
                by_first.entry(first).or_default().push(row);
            }
        }
        Rows { by_first }
    }

    fn has(&self, wanted: &Row) -> bool {
        let firsts = wanted.cells.iter().filter(|cell| !cell.key.is_empty());
        let found = firsts.take(2).filter_map(|cell| self.by_first.get(&cell.key)).flatten();
        found.into_iter().any(|row| is_row(row, wanted))
    }
}

fn is_row(row: &[String], wanted: &Row) -> bool {
    let empty = String::new();
    let is_cell = |(column, place): (usize, &Place)| {
        let cell = row.get(column).unwrap_or(&empty);
        *cell == place.key || (place.is_spanned && cell.is_empty())
    };
    wanted.cells.iter().enumerate().all(is_cell) && row.iter().skip(wanted.cells.len()).all(String::is_empty)
}

/// The lines of a text as rows: with tabs, or with bars, as some methods write them.
fn rows_of(text: &Text<'_>) -> Rows {
    // White space at the end of a line is empty cells; a line that begins with a tab has an empty first cell.
    let tabs = text.lines().iter().map(|line| line.split('\t').map(str::to_owned).collect());
    let bars = text.lines().iter().filter(|line| line.contains('|')).map(|line| cells_of(line));
    Rows::of(tabs.chain(bars))
}

pub(super) fn compare(page: &Reference, output: &Output<'_>, counter: &mut Counter) {
    if page.tables.is_empty() {
        return;
    }
    let rows = rows_of(&output.text);
    let has_cell = |cell: &str| output.text.has_letters(cell);
    compare_rows(page, &rows, &has_cell, [Measure::TextRows, Measure::HardTextRows], counter);
    if let Some(markdown) = &output.markdown {
        let rows = Rows::of(markdown.rows.iter().cloned());
        let has_cell = |cell: &str| markdown.has_letters(cell);
        compare_rows(page, &rows, &has_cell, [Measure::MarkdownRows, Measure::HardMarkdownRows], counter);
    }
}

fn compare_rows(
    page: &Reference,
    rows: &Rows,
    has_cell: &dyn Fn(&str) -> bool,
    [all, hard]: [Measure; 2],
    counter: &mut Counter,
) {
    for table in &page.tables {
        let kept = is_kept(table, has_cell);
        for row in
            table.rows.iter().filter(|row| row.cells.len() > 1 && row.cells.iter().any(|cell| !cell.key.is_empty()))
        {
            let right = rows.has(row);
            let shown = || row.cells.iter().map(|cell| cell.key.as_str()).collect::<Vec<_>>().join(" | ");
            counter.count(all, kept, right, &shown());
            if row.is_hard {
                counter.count(hard, kept, right, &shown());
            }
        }
    }
}

/// Whether most rows of a table are in the output, in whatever form: the first two cells that hold text follow each
/// other there, and the beginning of the next row follows a row. Single cells and single rows stand anywhere, and so does
/// a row with what begins another: a manual lists functions in a table and then describes each, where `void rain (void)`
/// is a row and the type of the next function.
fn is_kept(table: &Table, has_letters: &dyn Fn(&str) -> bool) -> bool {
    [Spans::Empty, Spans::Repeated].into_iter().any(|spans| follow_each_other(table, spans, has_letters))
}

/// How a method may write a cell that spans columns or rows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Spans {
    Empty,
    Repeated,
}

fn follow_each_other(table: &Table, spans: Spans, has_letters: &dyn Fn(&str) -> bool) -> bool {
    let rows: Vec<Vec<String>> = table.rows.iter().map(|row| filled_cells(row, spans)).collect();
    let rows: Vec<&Vec<String>> = rows.iter().filter(|row| !row.is_empty()).collect();
    let is_long = |text: &String| text.len() >= MIN_ROW_LETTERS;
    let beginning = |row: &[String]| row.iter().take(2).map(String::as_str).collect::<String>();
    let (n_rows, n_kept) = count(rows.iter().map(|row| beginning(row)).filter(is_long), has_letters);
    let joints = rows.windows(2).map(|pair| pair[0].last().cloned().unwrap_or_default() + &beginning(pair[1]));
    let (n_joints, n_joined) = count(joints.filter(is_long), has_letters);
    n_rows > 0 && n_kept * 5 >= n_rows * 3 && n_joined * 2 >= n_joints
}

fn filled_cells(row: &Row, spans: Spans) -> Vec<String> {
    let cells = row.cells.iter().filter(|cell| !cell.is_spanned || spans == Spans::Repeated);
    cells.map(|cell| letters(&cell.text)).filter(|cell| !cell.is_empty()).collect()
}

/// How many texts there are, and how many of them are in the output.
fn count(texts: impl Iterator<Item = String>, has_letters: &dyn Fn(&str) -> bool) -> (usize, usize) {
    texts.fold((0, 0), |(all, found), text| (all + 1, found + usize::from(has_letters(&text))))
}
