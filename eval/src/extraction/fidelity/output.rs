//! The output of a method, prepared for finding elements of the page in it.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::markdown::Markdown;

/// What a method made of a page.
#[derive(Debug)]
pub struct Output<'o> {
    /// The plain text.
    pub(super) text: Text<'o>,
    /// The Markdown, where the method writes it.
    pub(super) markdown: Option<Markdown>,
}

impl<'o> Output<'o> {
    /// Prepares the text of a method, and its Markdown where it has one.
    pub fn new(text: &'o str, markdown: Option<&str>) -> Self {
        Output { text: Text::new(text), markdown: markdown.map(Markdown::read) }
    }
}

/// A text with its letters and digits, its lines, and all of its visible characters.
#[derive(Debug)]
pub(super) struct Text<'o> {
    pub raw: &'o str,
    letters: Letters,
    visible: String,
    lines: Vec<String>,
    /// Where each line stands, by its text without indentation.
    by_line: HashMap<String, Vec<usize>>,
    /// The letters of every line.
    line_letters: HashMap<String, Vec<usize>>,
}

impl<'o> Text<'o> {
    fn new(raw: &'o str) -> Self {
        let lines: Vec<String> =
            raw.lines().map(|line| spaces(line).trim_end().to_owned()).filter(|line| !line.is_empty()).collect();
        let mut by_line: HashMap<String, Vec<usize>> = HashMap::new();
        let mut line_letters: HashMap<String, Vec<usize>> = HashMap::new();
        for (index, line) in lines.iter().enumerate() {
            by_line.entry(line.trim_start().to_owned()).or_default().push(index);
            line_letters.entry(letters(line)).or_default().push(index);
        }
        Text { raw, letters: Letters::of(raw), visible: visible(raw), lines, by_line, line_letters }
    }

    /// Where these letters stand in the text.
    pub fn find(&self, letters: &str) -> Option<Found<'_>> {
        self.letters.find(letters).map(|at| Found { raw: self.raw, letters: &self.letters, at })
    }

    /// Whether the text has these letters in a row.
    pub fn has_letters(&self, letters: &str) -> bool {
        self.letters.find(letters).is_some()
    }

    /// Whether all visible characters of an element stand in the text in a row.
    pub fn has_visible(&self, visible: &str) -> bool {
        self.visible.contains(visible)
    }

    /// The lines with these letters.
    pub fn lines_with_letters(&self, letters: &str) -> impl Iterator<Item = &str> {
        self.line_letters.get(letters).into_iter().flatten().map(|index| self.lines[*index].as_str())
    }

    /// All lines that are not blank, without white space at their end.
    pub fn lines(&self) -> &[String] {
        &self.lines
    }

    /// Whether a line, without its indentation, is one of the text's.
    pub fn has_line(&self, line: &str) -> bool {
        self.by_line.contains_key(line.trim())
    }

    /// Whether these lines, of which none is blank, follow each other in the text, all indented alike. The first may
    /// have lost its indentation.
    pub fn has_lines(&self, wanted: &[String]) -> bool {
        let Some(first) = wanted.first() else { return true };
        let starts = self.by_line.get(first.trim()).into_iter().flatten();
        starts
            .copied()
            .any(|start| self.lines.get(start..start + wanted.len()).is_some_and(|lines| is_same_code(lines, wanted)))
    }
}

/// Whether lines are those of the page, each with the same text more or less before it.
fn is_same_code(lines: &[String], wanted: &[String]) -> bool {
    let indent = |line: &String| line.chars().take_while(|character| character.is_whitespace()).count() as isize;
    let mut shift = None;
    lines.iter().zip(wanted).enumerate().all(|(index, (line, wanted))| {
        let moved = indent(line) - indent(wanted);
        line.trim() == wanted.trim() && (index == 0 || *shift.get_or_insert(moved) == moved)
    })
}

/// A place of an element's letters in a text.
pub(super) struct Found<'t> {
    raw: &'t str,
    letters: &'t Letters,
    at: Range<usize>,
}

impl<'t> Found<'t> {
    /// The text from the first letter to the last.
    pub fn text(&self) -> &'t str {
        &self.raw[self.letters.places[self.at.start] as usize..self.end_of(self.at.end - 1)]
    }

    /// What stands before the letter at this byte of the element's letters.
    pub fn before(&self, letter: usize) -> &'t str {
        let at = self.at.start + letter;
        &self.raw[self.end_of(at - 1)..self.letters.places[at] as usize]
    }

    /// Where the letter ends that this byte belongs to.
    fn end_of(&self, letter: usize) -> usize {
        let start = self.letters.places[letter] as usize;
        start + self.raw[start..].chars().next().map_or(0, char::len_utf8)
    }
}

/// The letters and digits of a text, and where each stands in it.
#[derive(Debug)]
struct Letters {
    letters: String,
    /// For each byte of the letters the character's place in the text.
    places: Vec<u32>,
    /// Where the last search ended: elements are looked for in their order.
    cursor: Cell<usize>,
}

impl Letters {
    fn of(raw: &str) -> Self {
        let mut letters = String::with_capacity(raw.len());
        let mut places = Vec::with_capacity(raw.len());
        for (at, character) in raw.char_indices().filter(|(_, character)| character.is_alphanumeric()) {
            letters.push(character);
            places.extend(std::iter::repeat_n(at as u32, character.len_utf8()));
        }
        Letters { letters, places, cursor: Cell::new(0) }
    }

    fn find(&self, wanted: &str) -> Option<Range<usize>> {
        if wanted.is_empty() {
            return None;
        }
        let from = self.cursor.get();
        let ahead = self.letters[from..].find(wanted).map(|at| from + at);
        let start = ahead.or_else(|| self.letters.find(wanted))?;
        self.cursor.set(start + wanted.len());
        Some(start..start + wanted.len())
    }
}

/// The letters and digits of a text.
pub(super) fn letters(text: &str) -> String {
    text.chars().filter(|character| character.is_alphanumeric()).collect()
}

/// A text without white space and characters of zero width.
pub(super) fn visible(text: &str) -> String {
    text.chars().filter(|character| !character.is_whitespace() && !is_zero_width(*character)).collect()
}

/// A text with no-break spaces as spaces, and without characters of zero width.
pub(super) fn spaces(text: &str) -> String {
    text.chars()
        .filter(|character| !is_zero_width(*character))
        .map(|character| if character == '\u{a0}' { ' ' } else { character })
        .collect()
}

/// A text with each run of white space as one space.
pub(super) fn collapsed(text: &str) -> String {
    spaces(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Characters that show nothing.
fn is_zero_width(character: char) -> bool {
    matches!(character, '\u{ad}' | '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}')
}

/// The first so many letters stand for a text.
pub(super) fn beginning(letters: &str, n_letters: usize) -> &str {
    letters.char_indices().nth(n_letters).map_or(letters, |(at, _)| &letters[..at])
}

/// The lines of code that are not blank, without white space at their end.
pub(super) fn code_lines(code: &str) -> Vec<String> {
    let lines = code.lines().map(|line| spaces(line).trim_end().to_owned());
    lines.filter(|line| !line.trim().is_empty()).collect()
}

/// How often each text is there.
pub(super) type Bag = HashMap<String, usize>;

/// Takes one text out of a bag, if it is there.
pub(super) fn take(bag: &mut Bag, text: &str) -> bool {
    match bag.get_mut(text) {
        Some(count) if *count > 0 => {
            *count -= 1;
            true
        }
        _ => false,
    }
}

/// Texts of which each counts once.
pub(super) type Texts = HashSet<String>;
