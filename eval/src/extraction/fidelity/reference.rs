//! The page as the measures see it: its elements, read with `scraper`.

use ego_tree::iter::Edge;
use scraper::node::Node;
use scraper::{ElementRef, Html};

use super::code::Code;
use super::headings::Heading;
use super::inline::Paragraph;
use super::lists::ListItem;
use super::output::letters;
use super::tables::Table;

/// The elements of a page that an output is compared with.
#[derive(Debug, Default)]
pub struct Reference {
    pub(super) code: Vec<Code>,
    pub(super) tables: Vec<Table>,
    pub(super) items: Vec<ListItem>,
    pub(super) paragraphs: Vec<Paragraph>,
    pub(super) headings: Vec<Heading>,
}

/// Further elements of a kind are not looked at, so that one endless page does not outweigh all others.
const MAX_ELEMENTS: usize = 1000;

impl Reference {
    /// Reads a page. With gold, only elements whose text it has are compared.
    pub fn read(html: &str, gold: Option<&str>) -> Self {
        let page = Html::parse_document(html);
        let scope = Scope { gold: gold.map(letters) };
        let mut reference = Reference::default();
        // An element whose place is known to be outside has all of its descendants there.
        let mut open: Vec<ElementRef<'_>> = vec![page.root_element()];
        while let Some(element) = open.pop() {
            if is_hidden(element) || (scope.gold.is_none() && is_around_content(element)) {
                continue;
            }
            reference.read_element(element, &scope);
            let children: Vec<_> = element.children().filter_map(ElementRef::wrap).collect();
            open.extend(children.into_iter().rev());
        }
        reference
    }

    fn read_element(&mut self, element: ElementRef<'_>, scope: &Scope) {
        push(&mut self.code, || Code::read(element), |code| scope.has(&code.text));
        push(&mut self.tables, || Table::read(element), |table| scope.has_table(table));
        push(&mut self.items, || ListItem::read(element), |item| scope.has_letters(&item.letters));
        push(&mut self.paragraphs, || Paragraph::read(element), |block| scope.has_letters(&block.letters));
        push(&mut self.headings, || Heading::read(element), |heading| scope.has_letters(&heading.letters));
    }
}

fn push<T>(all: &mut Vec<T>, read: impl FnOnce() -> Option<T>, is_wanted: impl FnOnce(&T) -> bool) {
    if all.len() < MAX_ELEMENTS {
        all.extend(read().filter(is_wanted));
    }
}

/// Which elements belong to the main part.
struct Scope {
    /// The letters of the gold.
    gold: Option<String>,
}

impl Scope {
    fn has(&self, text: &str) -> bool {
        self.gold.is_none() || self.has_letters(&letters(text))
    }

    fn has_letters(&self, letters: &str) -> bool {
        self.gold.as_ref().is_none_or(|gold| gold.contains(letters))
    }

    /// The gold may have the cells of a row in another order, but it has most of them.
    fn has_table(&self, table: &Table) -> bool {
        let cells: Vec<String> = table.cells().map(letters).filter(|cell| cell.len() > 2).collect();
        let known = cells.iter().filter(|cell| self.has_letters(cell)).count();
        self.gold.is_none() || (!cells.is_empty() && known * 5 >= cells.len() * 4)
    }
}

/// The parts of a page that are not compared where there is no gold.
fn is_around_content(element: ElementRef<'_>) -> bool {
    let roles = ["navigation", "banner", "contentinfo", "complementary", "search", "menu"];
    matches!(element.value().name(), "nav" | "header" | "footer" | "aside" | "form" | "dialog")
        || element.attr("role").is_some_and(|role| roles.contains(&role))
        || has_class(element, |name| {
            ["nav", "sidebar", "sphinxsidebar", "footer", "breadcrumb", "menu", "related"]
                .iter()
                .any(|around| name.starts_with(around))
        })
}

pub(super) fn is_hidden(element: ElementRef<'_>) -> bool {
    let not_shown = |style: &str| style.replace(' ', "").contains("display:none");
    element.attr("hidden").is_some() || element.attr("style").is_some_and(not_shown)
}

/// Whether one of an element's class names is such a one.
pub(super) fn has_class(element: ElementRef<'_>, is_wanted: impl Fn(&str) -> bool) -> bool {
    element.value().classes().any(is_wanted)
}

/// The elements inside an element.
pub(super) fn inside(element: ElementRef<'_>) -> impl Iterator<Item = ElementRef<'_>> {
    element.descendants().skip(1).filter_map(ElementRef::wrap)
}

/// The elements around an element, the nearest first.
pub(super) fn around(element: ElementRef<'_>) -> impl Iterator<Item = ElementRef<'_>> {
    element.ancestors().filter_map(ElementRef::wrap)
}

/// Whether an element begins a line of its own.
pub(super) fn is_block(name: &str) -> bool {
    matches!(
        name,
        "address"
            | "article"
            | "aside"
            | "blockquote"
            | "body"
            | "caption"
            | "center"
            | "dd"
            | "details"
            | "dialog"
            | "dir"
            | "div"
            | "dl"
            | "dt"
            | "fieldset"
            | "figcaption"
            | "figure"
            | "footer"
            | "form"
            | "h1"
            | "h2"
            | "h3"
            | "h4"
            | "h5"
            | "h6"
            | "header"
            | "hgroup"
            | "hr"
            | "legend"
            | "li"
            | "main"
            | "menu"
            | "nav"
            | "ol"
            | "p"
            | "pre"
            | "section"
            | "summary"
            | "table"
            | "tbody"
            | "td"
            | "tfoot"
            | "th"
            | "thead"
            | "tr"
            | "ul"
    )
}

/// Whether an element shows no text of its own: scripts, controls, line numbers, marks of permanent links.
pub(super) fn is_no_text(element: ElementRef<'_>) -> bool {
    let name = element.value().name();
    matches!(
        name,
        "script"
            | "style"
            | "template"
            | "noscript"
            | "button"
            | "select"
            | "svg"
            | "iframe"
            | "object"
            | "title"
            | "audio"
            | "video"
    ) || is_hidden(element)
        || is_line_number(element)
        || is_anchor_mark(element)
        || has_class(element, |name| {
            matches!(
                name,
                "mw-editsection"
                    | "viewcode-link"
                    | "copybtn"
                    | "copy-button"
                    | "footnote-backref"
                    | "mw-cite-backlink"
                    | "test-arrow"
            )
        })
}

fn is_line_number(element: ElementRef<'_>) -> bool {
    has_class(element, |name| {
        matches!(
            name,
            "lineno"
                | "linenos"
                | "linenodiv"
                | "gutter"
                | "line-number"
                | "line-numbers"
                | "hljs-ln-numbers"
                | "blob-num"
                | "rouge-gutter"
                | "lnt"
                | "ln"
        )
    }) && element.text().all(|text| text.chars().all(|character| !character.is_alphabetic()))
}

/// Whether an element is the mark of a permanent link.
pub(super) fn is_anchor_mark(element: ElementRef<'_>) -> bool {
    if element.value().name() != "a" {
        return false;
    }
    let named = has_class(element, |name| {
        matches!(
            name,
            "headerlink" | "anchor" | "header-anchor" | "hash-link" | "doc-anchor" | "anchor-link" | "copiable-link"
        )
    });
    let text: String = element.text().collect();
    let is_mark = text.trim().chars().all(|character| ANCHOR_MARKS.contains(character) || !character.is_ascii());
    let in_page = element.attr("href").is_some_and(|target| target.starts_with('#'));
    let is_sure = text.trim().chars().all(|character| "¶🔗⚓".contains(character)) && !text.trim().is_empty();
    (named && text.trim().chars().count() <= 2 && is_mark) || (in_page && is_sure)
}

/// What permanent links are marked with.
pub(super) const ANCHOR_MARKS: &str = "¶#§🔗∞⚓";

/// A part of an element's text.
pub(super) enum Part<'p> {
    /// Text.
    Text(&'p str),
    /// The end of a line.
    Line,
    /// An element begins; what it holds follows.
    Open(ElementRef<'p>),
}

/// The text of an element in parts, without what is no text. A page may be nested deeper than a stack is.
pub(super) fn parts(element: ElementRef<'_>) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut skipped = None;
    for edge in element.traverse() {
        match edge {
            Edge::Open(node) if skipped.is_none() => match (node.value(), ElementRef::wrap(node)) {
                (Node::Text(text), _) => parts.push(Part::Text(text)),
                (_, Some(inner)) if inner == element => {}
                (_, Some(inner)) if inner.value().name() == "br" => parts.push(Part::Line),
                (_, Some(inner)) if is_no_text(inner) => skipped = Some(node.id()),
                (_, Some(inner)) => {
                    if is_block(inner.value().name()) {
                        parts.push(Part::Line);
                    }
                    parts.push(Part::Open(inner));
                }
                _ => {}
            },
            Edge::Close(node) if skipped == Some(node.id()) => skipped = None,
            Edge::Close(node) if skipped.is_none() => {
                let inner = ElementRef::wrap(node).filter(|inner| *inner != element);
                if inner.is_some_and(|inner| is_block(inner.value().name())) {
                    parts.push(Part::Line);
                }
            }
            _ => {}
        }
    }
    parts
}

/// The text of an element, line breaks where the page has them, as an independent reader sees it.
pub(super) fn text_of(element: ElementRef<'_>) -> String {
    let texts = parts(element).into_iter().filter_map(|part| match part {
        Part::Text(text) => Some(text),
        Part::Line => Some("\n"),
        Part::Open(_) => None,
    });
    texts.collect()
}
