//! Code: blocks in their lines, fences, languages, and code made of tables, divisions and lists.

use scraper::ElementRef;

use super::output::{Output, code_lines, letters, visible};
use super::reference::{Reference, around, has_class, inside, is_no_text, text_of};
use super::{Counter, Measure};

/// A block of code on the page.
#[derive(Debug)]
pub(super) struct Code {
    /// Its text without line numbers and controls.
    pub text: String,
    visible: String,
    lines: Vec<String>,
    making: Making,
    language: Option<String>,
}

/// How a block of code is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Making {
    Plain,
    Highlighted,
    /// A row, division or item for each line, or a table around a `pre`.
    Lines,
}

/// Shorter blocks are not asked for their lines, longer ones are no examples.
const MIN_LINES: usize = 3;
const MAX_BYTES: usize = 8000;

/// A block with so many spans is highlighted.
const MIN_SPANS: usize = 3;

impl Code {
    /// Reads an element, if it is code.
    pub fn read(element: ElementRef<'_>) -> Option<Code> {
        let (text, making) = match element.value().name() {
            "pre" => (text_of_pre(element)?, making_of_pre(element)),
            _ => (text_of_lines(element)?, Making::Lines),
        };
        let lines = code_lines(&text);
        let is_example = !lines.is_empty() && text.len() < MAX_BYTES && letters(&text).len() >= 4;
        is_example.then(|| Code { visible: visible(&text), text, lines, making, language: language(element) })
    }
}

fn text_of_pre(element: ElementRef<'_>) -> Option<String> {
    let holds_parts =
        inside(element).any(|inner| matches!(inner.value().name(), "table" | "pre" | "h1" | "h2" | "h3" | "p"));
    (!holds_parts && !is_no_text(element) && !around(element).any(is_no_text))
        .then(|| text_of(element).trim_matches(['\n', '\r']).to_owned())
}

fn making_of_pre(element: ElementRef<'_>) -> Making {
    let in_table = around(element).take(8).any(|outer| {
        has_class(outer, |name| matches!(name, "highlighttable" | "codehilitetable" | "rouge-table" | "lntable"))
    });
    let n_spans = inside(element).filter(|inner| inner.value().name() == "span").count();
    match (in_table, n_spans >= MIN_SPANS) {
        (true, _) => Making::Lines,
        (_, true) => Making::Highlighted,
        _ => Making::Plain,
    }
}

/// The text of code that is no `pre`, a line for each row, division or item.
fn text_of_lines(element: ElementRef<'_>) -> Option<String> {
    let is_called = |names: &[&str]| has_class(element, |name| names.contains(&name));
    let line = match element.value().name() {
        "div" if is_called(&["fragment"]) => "div",
        "table" if is_called(&["RktBlk", "hljs-ln", "js-file-line-container"]) => "tr",
        "ol" if is_called(&["linenums", "code"]) => "li",
        _ => return None,
    };
    let is_line = |inner: &ElementRef<'_>| {
        inner.value().name() == line && (line != "div" || has_class(*inner, |name| name == "line"))
    };
    let holds_parts = inside(element).any(|inner| matches!(inner.value().name(), "pre" | "p"))
        || around(element)
            .any(|outer| matches!(outer.value().name(), "pre") || has_class(outer, |name| name == "RktBlk"));
    let lines: Vec<String> = inside(element).filter(is_line).map(line_text).collect();
    (!holds_parts && !lines.is_empty()).then(|| lines.join("\n"))
}

/// A line of code. The space that separates it from its number is none of it.
fn line_text(line: ElementRef<'_>) -> String {
    let numbered = inside(line).any(|inner| has_class(inner, |name| name == "lineno"));
    let text = text_of(line).replace(['\n', '\r'], "").replace('\u{a0}', " ");
    if numbered { text.strip_prefix(' ').unwrap_or(&text).to_owned() } else { text }
}

/// The language that the code or one of the two elements around it names.
fn language(element: ElementRef<'_>) -> Option<String> {
    let of = |element: ElementRef<'_>| {
        let prefixed = |name: &str| {
            let prefixes = ["language-", "lang-", "highlight-source-", "highlight-"];
            prefixes.iter().find_map(|prefix| name.strip_prefix(prefix)).map(str::to_lowercase)
        };
        element.value().classes().find_map(prefixed)
    };
    let code = inside(element).find(|inner| inner.value().name() == "code");
    let found = code.into_iter().chain([element]).chain(around(element).take(2)).find_map(of)?;
    let means_none = ["default", "none", "text", "plain", "plaintext", "nohighlight", "output"];
    (!means_none.contains(&found.as_str()) && !found.is_empty()).then_some(found)
}

pub(super) fn compare(page: &Reference, output: &Output<'_>, counter: &mut Counter) {
    for code in &page.code {
        let kept = output.text.has_visible(&code.visible);
        if code.lines.len() >= MIN_LINES {
            let right = output.text.has_lines(&code.lines);
            let measure = match code.making {
                Making::Plain => Measure::PlainCode,
                Making::Highlighted => Measure::HighlightedCode,
                Making::Lines => Measure::CodeInLines,
            };
            counter.count(measure, kept, right, &code.text);
        }
        if code.lines.len() >= MIN_LINES && code.making != Making::Lines {
            let n_found = code.lines.iter().filter(|line| output.text.has_line(line)).count();
            counter.count(Measure::CodeMostLines, kept, n_found * 5 >= code.lines.len() * 4, &code.text);
        }
        compare_markdown(code, output, counter);
    }
}

fn compare_markdown(code: &Code, output: &Output<'_>, counter: &mut Counter) {
    let Some(markdown) = output.markdown.as_ref().filter(|_| code.making != Making::Lines && code.lines.len() > 1)
    else {
        return;
    };
    let kept = markdown.has_letters(&letters(&code.text));
    let fences = || markdown.code.iter().filter(|found| found.visible.contains(&code.visible));
    counter.count(Measure::FencedCode, kept, fences().next().is_some(), &code.text);
    if let Some(language) = &code.language {
        let right = fences().any(|found| found.language == *language);
        counter.count(Measure::CodeLanguage, kept, right, &format!("{language}: {}", code.text));
    }
}
