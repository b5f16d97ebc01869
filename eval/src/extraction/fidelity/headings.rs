//! Headings: as headings, and without the marks of their permanent links.

use scraper::ElementRef;

use super::output::{Output, collapsed, letters};
use super::reference::{ANCHOR_MARKS, Reference, inside, is_anchor_mark, text_of};
use super::{Counter, Measure};

/// A heading of the page, or a term that can be linked to.
#[derive(Debug)]
pub(super) struct Heading {
    /// Its letters and digits.
    pub letters: String,
    text: String,
    is_heading: bool,
    has_anchor: bool,
}

impl Heading {
    /// Reads an element, if it is a heading with text.
    pub fn read(element: ElementRef<'_>) -> Option<Heading> {
        let name = element.value().name();
        let is_heading = matches!(name, "h1" | "h2" | "h3" | "h4" | "h5" | "h6");
        if !is_heading && name != "dt" {
            return None;
        }
        let has_anchor = inside(element).any(|inner| {
            is_anchor_mark(inner) && inner.text().any(|text| text.contains(|mark| ANCHOR_MARKS.contains(mark)))
        });
        let text = collapsed(&text_of(element));
        let letters = letters(&text);
        let is_wanted = !letters.is_empty() && (is_heading || has_anchor);
        is_wanted.then_some(Heading { letters, text, is_heading, has_anchor })
    }
}

pub(super) fn compare(page: &Reference, output: &Output<'_>, counter: &mut Counter) {
    for heading in &page.headings {
        let lines: Vec<&str> = output.text.lines_with_letters(&heading.letters).collect();
        if let Some(markdown) = output.markdown.as_ref().filter(|_| heading.is_heading) {
            let right = markdown.headings.contains(&heading.letters);
            counter.count(Measure::Headings, !lines.is_empty() || right, right, &heading.text);
        }
        if heading.has_anchor {
            let is_clean = |line: &&str| n_marks(line.trim_start_matches(['#', ' '])) <= n_marks(&heading.text);
            counter.count(Measure::HeadingsWithoutMark, !lines.is_empty(), lines.iter().all(is_clean), &heading.text);
        }
    }
}

fn n_marks(text: &str) -> usize {
    text.chars().filter(|character| ANCHOR_MARKS.contains(*character)).count()
}
