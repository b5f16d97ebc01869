//! A table that can be printed for people, for spreadsheets, for documents.

use std::fmt::Write;

/// Cells in rows under headings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sheet {
    /// What the table is about.
    pub title: String,
    /// The headings.
    pub columns: Vec<String>,
    /// The cells, as many in each row as there are headings.
    pub rows: Vec<Vec<String>>,
}

impl Sheet {
    /// An empty table.
    pub fn new(title: impl Into<String>, columns: impl IntoIterator<Item = impl Into<String>>) -> Sheet {
        Sheet { title: title.into(), columns: columns.into_iter().map(Into::into).collect(), rows: Vec::new() }
    }

    /// In columns of spaces: the first to the left, the others to the right.
    pub fn to_text(&self) -> String {
        let lines = || std::iter::once(&self.columns).chain(&self.rows);
        let width = |column: usize| lines().map(|line| line[column].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..self.columns.len()).map(width).collect();
        let mut text = format!("{}\n", self.title);
        for line in lines() {
            for (column, (cell, width)) in line.iter().zip(&widths).enumerate() {
                let _ = if column == 0 { write!(text, "{cell:<width$}") } else { write!(text, "  {cell:>width$}") };
            }
            text.truncate(text.trim_end_matches(' ').len());
            text.push('\n');
        }
        text
    }

    /// As RFC 4180 has it, headings first.
    pub fn to_csv(&self) -> String {
        let cell = |text: &String| match text.contains([',', '"', '\n', '\r']) {
            true => format!("\"{}\"", text.replace('"', "\"\"")),
            false => text.clone(),
        };
        let line = |cells: &Vec<String>| cells.iter().map(cell).collect::<Vec<_>>().join(",") + "\r\n";
        std::iter::once(&self.columns).chain(&self.rows).map(line).collect()
    }

    /// As a table of Markdown under a heading.
    pub fn to_markdown(&self) -> String {
        let line = |cells: &Vec<String>| {
            let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let mut text = format!("### {}\n\n{}|", self.title, line(&self.columns));
        (0..self.columns.len()).for_each(|column| text.push_str(if column == 0 { " --- |" } else { " ---: |" }));
        text.push('\n');
        text.extend(self.rows.iter().map(line));
        text
    }

    /// As a table of LaTeX, with the rules of `booktabs`.
    pub fn to_latex(&self) -> String {
        let line =
            |cells: &Vec<String>| cells.iter().map(|cell| latex(cell)).collect::<Vec<_>>().join(" & ") + " \\\\\n";
        let columns = "r".repeat(self.columns.len().saturating_sub(1));
        let rows: String = self.rows.iter().map(line).collect();
        format!(
            "\\begin{{table}}\n\\caption{{{}}}\n\\begin{{tabular}}{{l{columns}}}\n\\toprule\n{}\\midrule\n{rows}\\bottomrule\n\
             \\end{{tabular}}\n\\end{{table}}\n",
            latex(&self.title),
            line(&self.columns)
        )
    }
}

/// Text in which LaTeX sees no command.
fn latex(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\\' => escaped.push_str("\\textbackslash{}"),
            '~' => escaped.push_str("\\textasciitilde{}"),
            '^' => escaped.push_str("\\textasciicircum{}"),
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => escaped.extend(['\\', character]),
            _ => escaped.push(character),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sheet() -> Sheet {
        let mut sheet = Sheet::new("3 sentences", ["method", "a_set"]);
        sheet.rows.push(vec!["one, \"two\"".to_owned(), "1.5 %".to_owned()]);
        sheet.rows.push(vec!["a|b".to_owned(), "10".to_owned()]);
        sheet
    }

    #[test]
    fn cells_cannot_break_the_table_they_stand_in() {
        assert_eq!(sheet().to_csv(), "method,a_set\r\n\"one, \"\"two\"\"\",1.5 %\r\na|b,10\r\n");
        assert!(sheet().to_markdown().ends_with("| a\\|b | 10 |\n"), "{}", sheet().to_markdown());
        assert!(sheet().to_latex().contains("one, \"two\" & 1.5 \\% \\\\\n"), "{}", sheet().to_latex());
        assert!(sheet().to_latex().contains("method & a\\_set"));
    }

    #[test]
    fn columns_of_text_are_as_wide_as_their_widest_cell() {
        assert_eq!(sheet().to_text(), "3 sentences\nmethod      a_set\none, \"two\"  1.5 %\na|b            10\n");
    }
}
