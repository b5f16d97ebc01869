//! Text with elements in it: to the letter, raised and lowered text, inline code.

use std::collections::HashSet;

use scraper::ElementRef;

use super::output::{Bag, Output, collapsed, letters, take, visible};
use super::reference::{Part, Reference, around, has_class, inside, is_block, parts};
use super::{Counter, Measure};

/// A run of text on the page that no block interrupts.
#[derive(Debug, Default)]
pub(super) struct Paragraph {
    /// Its letters and digits.
    pub letters: String,
    text: String,
    /// Where raised and lowered text begins, in bytes of the letters.
    scripts: Vec<usize>,
    /// Inline code.
    code: Vec<String>,
    /// Where the last piece of code ends in the text.
    code_end: usize,
    n_elements: usize,
    /// It holds a formula, a field or a picture of text, which may be read in many ways.
    is_odd: bool,
}

/// Shorter texts stand anywhere.
const MIN_LETTERS: usize = 15;

impl Paragraph {
    /// Reads an element, if it is a run of text.
    pub fn read(element: ElementRef<'_>) -> Option<Paragraph> {
        let name = element.value().name();
        let is_text = matches!(
            name,
            "p" | "li"
                | "dd"
                | "dt"
                | "td"
                | "th"
                | "div"
                | "figcaption"
                | "blockquote"
                | "h1"
                | "h2"
                | "h3"
                | "h4"
                | "h5"
        );
        let holds_blocks = inside(element).any(|inner| is_block(inner.value().name()));
        if !is_text || holds_blocks || is_in_code(element) {
            return None;
        }
        let mut paragraph = Paragraph::default();
        paragraph.add(element);
        paragraph.letters = letters(&paragraph.text);
        (paragraph.letters.len() >= MIN_LETTERS).then_some(paragraph)
    }

    fn add(&mut self, element: ElementRef<'_>) {
        for part in parts(element) {
            match part {
                Part::Text(text) => self.text.push_str(text),
                Part::Line => self.text.push('\n'),
                Part::Open(inner) => self.add_element(inner),
            }
        }
    }

    fn add_element(&mut self, element: ElementRef<'_>) {
        let name = element.value().name();
        match name {
            "sub" | "sup" => self.add_script(element),
            "code" | "tt" | "kbd" | "samp" if !is_code_inside(element) => {
                let code: String = element.text().collect();
                if !code.trim().is_empty() {
                    self.add_code(&code);
                }
            }
            _ => {}
        }
        self.is_odd |= matches!(name, "math" | "input" | "textarea" | "label" | "rt" | "rp" | "img" | "q")
            || has_class(element, |name| {
                ["katex", "MathJax", "mwe-math", "latex", "math", "tex"].iter().any(|odd| name.starts_with(odd))
            });
        self.n_elements += 1;
    }

    /// Pieces of code that touch are one to the reader, and in Markdown.
    fn add_code(&mut self, code: &str) {
        match self.code.last_mut() {
            Some(last) if self.code_end == self.text.len() => last.push_str(&visible(code)),
            _ => self.code.push(visible(code)),
        }
        self.code_end = self.text.len() + code.len();
    }

    fn add_script(&mut self, element: ElementRef<'_>) {
        let text: String = element.text().collect();
        let ordinals = ["st", "nd", "rd", "th", "e", "er", "re", "o", "a", "TM", "tm", "SM", "R"];
        let follows = self.text.chars().next_back().is_some_and(|last| last.is_alphanumeric());
        let is_told = text.trim().chars().next().is_some_and(char::is_alphanumeric) && !ordinals.contains(&text.trim());
        if follows && is_told && text.trim().chars().count() <= 20 {
            self.scripts.push(letters(&self.text).len());
        }
        // Marks are written around it, so that it is not the same to the letter.
        self.is_odd = true;
    }
}

fn is_in_code(element: ElementRef<'_>) -> bool {
    std::iter::once(element).chain(around(element)).any(|outer| {
        outer.value().name() == "pre"
            || has_class(outer, |name| {
                matches!(name, "fragment" | "RktBlk" | "highlighttable" | "linenums" | "hljs-ln")
            })
    })
}

/// Whether code is a part of other code, or has some in it.
fn is_code_inside(element: ElementRef<'_>) -> bool {
    let is_code = |other: ElementRef<'_>| matches!(other.value().name(), "code" | "tt" | "kbd" | "samp");
    around(element).take(4).any(is_code)
}

pub(super) fn compare(page: &Reference, output: &Output<'_>, counter: &mut Counter) {
    let mut inline_code = output.markdown.as_ref().map_or_else(Bag::new, |markdown| markdown.inline_code.clone());
    let (mut n_kept, mut has_stray_spaces) = (0, false);
    // What the page says twice may well be written once.
    let mut known = HashSet::new();
    for paragraph in page.paragraphs.iter().filter(|paragraph| known.insert(&paragraph.letters)) {
        compare_code(paragraph, output, &mut inline_code, counter);
        let found = output.text.find(&paragraph.letters);
        for script in &paragraph.scripts {
            let is_marked = found.as_ref().is_some_and(|found| is_mark(found.before(*script)));
            counter.count(Measure::Scripts, found.is_some(), is_marked, &collapsed(&paragraph.text));
        }
        if paragraph.is_odd || paragraph.n_elements == 0 {
            continue;
        }
        let expected = collapsed(from_first_to_last_letter(&paragraph.text));
        let written = found.map(|found| collapsed(found.text()));
        let right = written.as_ref().is_some_and(|written| *written == expected);
        counter.count(Measure::InlineText, written.is_some(), right, &expected);
        n_kept += usize::from(written.is_some());
        has_stray_spaces |= written.is_some_and(|written| has_more_spaces(&written, &expected));
    }
    if n_kept > 0 {
        counter.count(Measure::PagesWithoutStraySpaces, true, !has_stray_spaces, "");
    }
}

fn compare_code(paragraph: &Paragraph, output: &Output<'_>, inline_code: &mut Bag, counter: &mut Counter) {
    let Some(markdown) = output.markdown.as_ref().filter(|_| !paragraph.code.is_empty()) else { return };
    let kept = markdown.has_letters(&paragraph.letters);
    for code in &paragraph.code {
        let right = kept && take(inline_code, code);
        counter.count(Measure::InlineCode, kept, right, &format!("{code} in {}", collapsed(&paragraph.text)));
    }
}

/// Whether something is written between two letters that tells raised text from the text before it.
fn is_mark(between: &str) -> bool {
    between.contains(['^', '_', '~', '[', '<', '(', '{'])
}

fn from_first_to_last_letter(text: &str) -> &str {
    text.trim_matches(|character: char| !character.is_alphanumeric())
}

/// Whether two texts differ by spaces that the first has and the second has not.
fn has_more_spaces(written: &str, expected: &str) -> bool {
    let n_spaces = |text: &str| text.matches(' ').count();
    visible(written) == visible(expected) && n_spaces(written) > n_spaces(expected)
}
