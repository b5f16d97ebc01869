//! What words do not see: each piece of code, row, item, heading and mark of a page against the output.
//!
//! The page is read with `scraper` and the Markdown with `pulldown-cmark`, never with our own code, so that the measure
//! can contradict it. An element counts where its text is in the gold, or, on a page without gold, where it stands
//! outside of menus, headers and footers. It is kept when its text is in the output, and right when it is there as it
//! stands on the page.

mod code;
mod headings;
mod inline;
mod lists;
mod markdown;
mod output;
mod reference;
mod tables;

use std::collections::BTreeMap;

use serde::Serialize;

pub use output::Output;
pub use reference::Reference;

/// What is measured, in the order of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// `pre` with highlighting, in lines as on the page.
    HighlightedCode,
    /// `pre` without highlighting, in lines as on the page.
    PlainCode,
    /// `pre`, four of five lines as on the page, whatever their indentation.
    CodeMostLines,
    /// `pre` as a block of code of the Markdown.
    FencedCode,
    /// `pre` whose language the page names, with that language in the Markdown.
    CodeLanguage,
    /// Code in tables, divisions and lists of lines, in lines as on the page.
    CodeInLines,
    /// `code` within text as code of the Markdown.
    InlineCode,
    /// Rows of tables in the text, every cell in its column.
    TextRows,
    /// Those with spans, paragraphs or empty cells.
    HardTextRows,
    /// Rows of tables in the Markdown, every cell in its column.
    MarkdownRows,
    /// Those with spans, paragraphs or empty cells.
    HardMarkdownRows,
    /// Items of ordered lists with their number in the Markdown.
    OrderedItems,
    /// Items of lists in lists at their depth in the Markdown.
    NestedItems,
    /// Raised and lowered text that is told from the text before it.
    Scripts,
    /// Text with elements in it, character by character.
    InlineText,
    /// Pages without a space in their text that the page has not.
    PagesWithoutStraySpaces,
    /// Headings as headings of the Markdown.
    Headings,
    /// Headings without the mark of their permanent link.
    HeadingsWithoutMark,
}

impl Measure {
    /// Every measure.
    pub const ALL: [Measure; 18] = [
        Measure::HighlightedCode,
        Measure::PlainCode,
        Measure::CodeMostLines,
        Measure::FencedCode,
        Measure::CodeLanguage,
        Measure::CodeInLines,
        Measure::InlineCode,
        Measure::TextRows,
        Measure::HardTextRows,
        Measure::MarkdownRows,
        Measure::HardMarkdownRows,
        Measure::OrderedItems,
        Measure::NestedItems,
        Measure::Scripts,
        Measure::InlineText,
        Measure::PagesWithoutStraySpaces,
        Measure::Headings,
        Measure::HeadingsWithoutMark,
    ];

    /// The name in tables.
    pub fn title(self) -> &'static str {
        match self {
            Measure::HighlightedCode => "highlighted code, all lines",
            Measure::PlainCode => "plain code, all lines",
            Measure::CodeMostLines => "code, most lines",
            Measure::FencedCode => "code in a fence",
            Measure::CodeLanguage => "code with its language",
            Measure::CodeInLines => "code in tables, divs, lists",
            Measure::InlineCode => "inline code",
            Measure::TextRows => "table rows, text",
            Measure::HardTextRows => "  spans, paragraphs, empty",
            Measure::MarkdownRows => "table rows, Markdown",
            Measure::HardMarkdownRows => "  spans, paragraphs, empty",
            Measure::OrderedItems => "ordered items numbered",
            Measure::NestedItems => "nested items at their depth",
            Measure::Scripts => "sub and sup marked",
            Measure::InlineText => "inline text to the letter",
            Measure::PagesWithoutStraySpaces => "pages without stray spaces",
            Measure::Headings => "headings as headings",
            Measure::HeadingsWithoutMark => "headings without anchor mark",
        }
    }

    /// Whether it is about Markdown, which not every method writes.
    pub fn is_of_markdown(self) -> bool {
        matches!(
            self,
            Measure::FencedCode
                | Measure::CodeLanguage
                | Measure::InlineCode
                | Measure::MarkdownRows
                | Measure::HardMarkdownRows
                | Measure::OrderedItems
                | Measure::NestedItems
                | Measure::Headings
        )
    }
}

/// Elements of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// In the main part of the pages.
    pub total: usize,
    /// Those whose text is in the output.
    pub kept: usize,
    /// Those that stand there as on the page.
    pub right: usize,
}

impl Tally {
    /// The share of kept elements that are right.
    pub fn share(&self) -> Option<f64> {
        (self.kept > 0).then(|| self.right as f64 / self.kept as f64)
    }

    fn count(&mut self, kept: bool, right: bool) {
        self.total += 1;
        self.kept += usize::from(kept);
        self.right += usize::from(kept && right);
    }
}

/// The tallies of some pages. A measure that does not apply to a method, or to no element, is missing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Fidelity {
    tallies: BTreeMap<Measure, Tally>,
}

impl Fidelity {
    /// The tally of a measure.
    pub fn tally(&self, measure: Measure) -> Option<&Tally> {
        self.tallies.get(&measure)
    }

    /// Whether nothing was measured.
    pub fn is_empty(&self) -> bool {
        self.tallies.is_empty()
    }

    /// Adds the tallies of other pages.
    pub fn add(&mut self, other: &Fidelity) {
        for (measure, tally) in &other.tallies {
            let sum = self.tallies.entry(*measure).or_default();
            sum.total += tally.total;
            sum.kept += tally.kept;
            sum.right += tally.right;
        }
    }
}

/// An element that was kept and is not as on the page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Miss {
    /// What it is.
    pub measure: Measure,
    /// How it stands on the page, or its beginning.
    pub element: String,
}

/// Counts elements, and remembers those that are wrong.
#[derive(Debug, Default)]
struct Counter {
    fidelity: Fidelity,
    misses: Vec<Miss>,
}

/// So much of a wrong element is remembered, in characters.
const EXCERPT: usize = 240;

impl Counter {
    fn count(&mut self, measure: Measure, kept: bool, right: bool, element: &str) {
        self.fidelity.tallies.entry(measure).or_default().count(kept, right);
        if kept && !right {
            self.misses.push(Miss { measure, element: element.chars().take(EXCERPT).collect() });
        }
    }
}

impl Reference {
    /// Compares an output with the page: the tallies, and the elements that are wrong.
    pub fn compare(&self, output: &Output<'_>) -> (Fidelity, Vec<Miss>) {
        let mut counter = Counter::default();
        code::compare(self, output, &mut counter);
        tables::compare(self, output, &mut counter);
        lists::compare(self, output, &mut counter);
        inline::compare(self, output, &mut counter);
        headings::compare(self, output, &mut counter);
        (counter.fidelity, counter.misses)
    }
}

#[cfg(test)]
mod tests;
