//! What an element is by its making: code in lines, a column of line numbers, a formula, a permanent link, a control.
//!
//! Every look ahead is bounded, so that nested elements cannot make it quadratic.

use std::sync::LazyLock;

use super::formula;
use super::lexicon::{HashBits, hash};
use crate::tree::{Kind, Namespace, NodeId, Step, Tag, Tree};

/// Kinds of elements that class names tell, one bit each.
pub(crate) mod kind {
    /// Lines of code without `pre`.
    pub const CODE_LINES: u8 = 1;
    /// Perhaps lines of code: its children must agree.
    pub const MAY_BE_CODE: u8 = 1 << 1;
    /// Line numbers.
    pub const GUTTER: u8 = 1 << 2;
    /// A permanent link of a heading.
    pub const ANCHOR: u8 = 1 << 3;
    /// A formula, often twice: for eyes and for machines.
    pub const FORMULA: u8 = 1 << 4;
    /// The mark of a footnote.
    pub const NOTE: u8 = 1 << 5;
    /// A link from a footnote back to its mark.
    pub const BACK_LINK: u8 = 1 << 6;
    /// Something to press.
    pub const CONTROL: u8 = 1 << 7;
}

/// The kinds that the names in a `class` tell.
pub(crate) fn kinds_of_class(class: &str) -> u8 {
    class.split_ascii_whitespace().fold(0, |kinds, name| kinds | kind_of_name(name))
}

/// The names that tell each kind.
const NAMES: [(u8, &str); 8] = [
    (
        kind::CODE_LINES,
        "RktBlk SCodeFlow hljs-ln js-file-line-container crayon-pre crayon-table CodeMirror-code cm-content \
         ace_text-layer view-lines react-code-lines linenums highlighttable codehilitetable rouge-table lntable \
         code-lines",
    ),
    (
        kind::MAY_BE_CODE,
        "fragment code highlight codelines sourcecode sourceCode source-code blob syntaxhighlighter container \
         dp-highlighter",
    ),
    (
        kind::GUTTER,
        "linenos lineno linenodiv gutter gl lnt ln line-number line-numbers lineNumbers linenumbers linenumber \
         line-numbers-rows rouge-gutter hljs-ln-numbers blob-num crayon-nums CodeMirror-linenumber \
         CodeMirror-gutter-wrapper cm-gutters ace_gutter line_numbers lineNum line-num",
    ),
    (
        kind::ANCHOR,
        "headerlink anchor anchorjs-link hash-link header-anchor heading-anchor headeranchor anchor-link \
         anchorlink permalink self-link selflink toclink heading-link octicon-link direct-link deep-link \
         sectionlink doc-anchor copiable-link copiable-anchor id_link elementor-anchor heading_anchor \
         section-link",
    ),
    (
        kind::FORMULA,
        "katex katex-display mwe-math-element MathJax MathJax_Preview MathJax_Display MathJax_SVG \
         MathJax_SVG_Display MathJax_CHTML MJXc-display mjx-chtml mwe-math-fallback-image-inline \
         mwe-math-fallback-image-display latex tex",
    ),
    (kind::NOTE, "reference footnote-ref footnote-reference footnoteref fn-ref noteref footnote_ref footnote"),
    (
        kind::BACK_LINK,
        "mw-cite-backlink footnote-backref reversefootnote data-footnote-backref fn-backref footnote-back backref",
    ),
    (
        kind::CONTROL,
        "mw-editsection viewcode-link viewcode-back copybtn copy-button copy-btn btn-copy copy copybutton \
         clipboard clipboard-copy btn-clipboard copy-code-button copy-to-clipboard-button copy-code code-copy \
         toolbar-item js-clipboard-copy zeroclipboard-container run-button test-arrow hljs-copy-button",
    ),
];

/// The class names by which an element is read in a way of its own.
pub fn names_of_markup() -> impl Iterator<Item = &'static str> {
    NAMES.iter().flat_map(|(_, names)| names.split(' '))
}

/// The kind of each name, by its hash.
static KINDS: LazyLock<HashBits> = LazyLock::new(|| {
    let names = NAMES.iter().flat_map(|(kind, names)| names.split(' ').map(|name| (hash(name), u32::from(*kind))));
    HashBits::new(names)
});

/// The lengths of the names that begin with each letter, one bit each: most class names are told from them by this.
static LENGTHS: LazyLock<[u64; 128]> = LazyLock::new(|| {
    let mut lengths = [0; 128];
    for name in names_of_markup() {
        lengths[usize::from(name.as_bytes()[0])] |= 1 << name.len();
    }
    // Every name that begins with `dp-` is one.
    lengths[usize::from(b'd')] = u64::MAX;
    lengths
});

fn kind_of_name(name: &str) -> u8 {
    let lengths = LENGTHS.get(usize::from(name.as_bytes()[0])).copied().unwrap_or(0);
    if name.len() > 63 || lengths & (1 << name.len()) == 0 {
        return if name.starts_with("dp-") { kind::MAY_BE_CODE } else { 0 };
    }
    let kind = KINDS.get(hash(name)) as u8;
    if kind == 0 && name.starts_with("dp-") { kind::MAY_BE_CODE } else { kind }
}

/// How an element is read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// Its text and its elements.
    Whole,
    /// Not at all.
    Skipped,
    /// As this text: a formula.
    Text(String),
}

/// Where an element stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Surroundings {
    pub in_code: bool,
    /// In a heading, or in the term of a definition list, as the signatures of a manual.
    pub in_heading: bool,
}

/// How an element with these kinds (see [`kinds_of_class`]) is read. Plain elements are whole, and most are plain.
pub(crate) fn reading(tree: &Tree<'_>, node: NodeId, kinds: u8, around: Surroundings, budget: &mut Budget) -> Reading {
    let tag = tree.tag(node);
    let is_formula = tag == Tag::Math && tree.namespace(node) == Namespace::MathMl || kinds & kind::FORMULA != 0;
    if is_formula && !around.in_code {
        return if budget.spend(tree, node) { formula::reading(tree, node) } else { Reading::Whole };
    }
    let skipped = (kinds & kind::GUTTER != 0 && budget.spend(tree, node) && is_numbers(tree, node))
        || (kinds & kind::CONTROL != 0 && is_control(tree, node))
        || (kinds & kind::BACK_LINK != 0 && short_text(tree, node).is_some())
        || (tag == Tag::Button && (around.in_code || is_control(tree, node)))
        || ((tag == Tag::A || kinds & kind::ANCHOR != 0) && is_link_mark(tree, node, kinds, around));
    if skipped { Reading::Skipped } else { Reading::Whole }
}

/// How many nodes may be looked at ahead of reading them. Elements that are nested, each looking at all that is in it,
/// would otherwise take the square of the page's length.
#[derive(Debug)]
pub(crate) struct Budget {
    n_nodes: usize,
}

impl Budget {
    /// The budget of one reading of a page.
    pub(crate) fn of(tree: &Tree<'_>) -> Budget {
        Budget { n_nodes: 8 * tree.n_nodes() + 1024 }
    }

    /// Whether all of an element may be looked at.
    fn spend(&mut self, tree: &Tree<'_>, node: NodeId) -> bool {
        let cost = tree.subtree(node).len();
        let may = cost <= self.n_nodes;
        self.n_nodes -= if may { cost } else { 0 };
        may
    }
}

/// Whether these elements of a page must be asked about with [`reading`], whatever their names: of links those within
/// the page, whose `href` as it is written begins with `#` or a reference.
#[inline]
pub(crate) fn is_read_apart(tag: Tag, href: Option<&str>) -> bool {
    match tag {
        Tag::A => href.is_some_and(|href| href.starts_with(['#', '&'])),
        Tag::Math | Tag::Button => true,
        _ => false,
    }
}

/// Whether a `textarea` shows text, as code that is to be copied, and is not a field to be filled in.
pub(crate) fn is_shown_text(tree: &Tree<'_>, node: NodeId) -> bool {
    let n_lines = |text: &str| text.lines().filter(|line| !line.trim().is_empty()).take(2).count();
    let texts =
        || tree.children(node).filter(|inner| tree.kind(*inner) == Kind::Text).map(|inner| tree.raw_text(inner));
    match tree.has_attribute(node, "readonly") || tree.has_attribute(node, "disabled") {
        true => texts().any(|text| n_lines(text) > 0),
        false => texts().any(|text| n_lines(text) > 1),
    }
}

/// The longest text that is looked at as a mark or a label.
const MAX_LABEL_BYTES: usize = 48;
const MAX_LABEL_NODES: usize = 32;

/// The text of an element, if it is short; white space around it is left out.
pub(crate) fn short_text(tree: &Tree<'_>, node: NodeId) -> Option<String> {
    let mut text = String::new();
    let mut n_nodes = 0;
    let mut walk = tree.walk_from(node);
    while let Some(step) = walk.next() {
        n_nodes += 1;
        match step {
            Step::Open(inner) if tree.tag(inner).is_not_rendered() || tree.tag(inner) == Tag::Svg => {
                walk.skip_children();
            }
            Step::Leaf(leaf) if tree.kind(leaf) == Kind::Text => {
                if tree.raw_text(leaf).len() > 4 * MAX_LABEL_BYTES {
                    return None;
                }
                text.push_str(&tree.text(leaf));
            }
            _ => {}
        }
        if n_nodes > 3 * MAX_LABEL_NODES || text.len() > 4 * MAX_LABEL_BYTES {
            return None;
        }
    }
    let text = text.trim_matches(|character: char| character.is_whitespace() || is_zero_width(character));
    (text.len() <= MAX_LABEL_BYTES).then(|| text.to_owned())
}

/// Characters without a width that say nothing: soft hyphens, marks of where a line may break, byte order marks.
pub(crate) fn is_zero_width(character: char) -> bool {
    matches!(character, '\u{ad}' | '\u{200b}' | '\u{2060}' | '\u{feff}')
}

/// Line numbers are looked at up to so many bytes and nodes.
const MAX_NUMBER_BYTES: usize = 1 << 16;
const MAX_NUMBER_NODES: usize = 1 << 14;

/// Whether an element holds nothing but numbers.
fn is_numbers(tree: &Tree<'_>, node: NodeId) -> bool {
    let mut n_bytes = 0;
    tree.subtree(node).take(MAX_NUMBER_NODES).all(|inner| {
        let text = if tree.kind(inner) == Kind::Text { tree.raw_text(inner) } else { "" };
        n_bytes += text.len();
        n_bytes > MAX_NUMBER_BYTES
            || text.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_whitespace() || b".:|+-".contains(&byte))
            || text.trim() == "&nbsp;"
    })
}

/// What is written on controls that belong to no text.
const CONTROL_LABELS: [&str; 29] = [
    "copy",
    "copied",
    "copied!",
    "copy code",
    "copy to clipboard",
    "copy snippet",
    "copy link",
    "copy page",
    "copy markdown",
    "copy text",
    "run",
    "run code",
    "run ›",
    "▶",
    "try it",
    "try it yourself",
    "expand",
    "collapse",
    "expand description",
    "collapse description",
    "show more",
    "show less",
    "[edit]",
    "[source]",
    "[docs]",
    "edit",
    "edit source",
    "toggle word wrap",
    "view raw",
];

fn is_control(tree: &Tree<'_>, node: NodeId) -> bool {
    short_text(tree, node).is_some_and(|text| CONTROL_LABELS.contains(&text.to_lowercase().as_str()))
        || (tree.tag(node) == Tag::Span && tree.attribute(node, "class").is_some_and(|class| class == "mw-editsection"))
}

/// Whether a link is a mark only: the permanent link of a heading, or the way back from a footnote.
fn is_link_mark(tree: &Tree<'_>, node: NodeId, kinds: u8, around: Surroundings) -> bool {
    let in_page = tree.attribute(node, "href").is_some_and(|target| target.starts_with('#'));
    if around.in_code || !(in_page || kinds & kind::ANCHOR != 0) {
        return false;
    }
    let Some(text) = short_text(tree, node) else { return false };
    let is_all = |marks: &str| !text.is_empty() && text.chars().all(|character| marks.contains(character));
    let is_icon = text.chars().all(|character| matches!(character, '\u{e000}'..='\u{f8ff}'));
    if kinds & kind::ANCHOR != 0 {
        let label = text.to_ascii_lowercase();
        return is_icon
            || is_all("¶#§🔗⚓∞\u{fe0e}\u{fe0f}*")
            || matches!(label.as_str(), "link" | "permalink" | "anchor" | "permanent link" | "copy link");
    }
    (in_page && is_all("¶🔗⚓↩↵⏎⤴\u{fe0e}\u{fe0f}"))
        || (in_page && around.in_heading && (is_all("#§∞") || is_icon && !text.is_empty()))
        || (in_page && is_all("^↑") && tree.attribute(node, "href").is_some_and(|target| target.contains("ref")))
}

/// Whether an element is a run of code, one line in each of its rows, items or divisions.
pub(crate) fn is_code_lines(tree: &Tree<'_>, node: NodeId, kinds: u8, budget: &mut Budget) -> bool {
    let is_named = kinds & kind::CODE_LINES != 0;
    let fits = match tree.tag(node) {
        Tag::Table | Tag::Div | Tag::Blockquote => is_named || has_line(tree, node),
        Tag::Ol | Tag::Ul => is_named || is_called_code(tree, node),
        _ => false,
    };
    fits && budget.spend(tree, node) && is_plain(tree, node, Plain::Lines)
}

fn is_called_code(tree: &Tree<'_>, node: NodeId) -> bool {
    tree.attribute(node, "class").is_some_and(|class| {
        let mut names = class.split_ascii_whitespace();
        names.any(|name| name.starts_with("dp-") || matches!(name, "code" | "codelines" | "sourcecode" | "source-code"))
    })
}

/// Whether one of the first elements below is called a line of code.
fn has_line(tree: &Tree<'_>, node: NodeId) -> bool {
    tree.subtree(node).skip(1).take(12).any(|inner| {
        matches!(tree.tag(inner), Tag::Div | Tag::Td)
            && tree.attribute(inner, "class").is_some_and(|class| {
                class.split_ascii_whitespace().any(|name| {
                    matches!(name, "line" | "code-line" | "codeline" | "blob-code" | "hljs-ln-code" | "crayon-line")
                })
            })
    })
}

/// What a run of code may hold.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Plain {
    /// In `pre`: anything but parts of a page.
    Pre,
    /// In an element of another kind: no `pre` either, which would be the code.
    Lines,
}

/// Whether an element holds no parts of a page: a `pre` that was never closed holds the rest of it.
pub(crate) fn is_plain(tree: &Tree<'_>, node: NodeId, plain: Plain) -> bool {
    tree.subtree(node).skip(1).all(|inner| {
        let tag = tree.tag(inner);
        let is_part = tag.is_heading()
            || matches!(
                tag,
                Tag::Section | Tag::Article | Tag::Nav | Tag::Header | Tag::Footer | Tag::Main | Tag::Form | Tag::Aside
            );
        !(is_part || (plain == Plain::Lines && tag == Tag::Pre))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn class_names_tell_kinds() {
        for (class, kinds) in [
            ("x CodeMirror-gutter-wrapper", kind::GUTTER),
            ("highlighttable", kind::CODE_LINES),
            ("dp-highlighter", kind::MAY_BE_CODE),
            ("dp-xml", kind::MAY_BE_CODE),
            ("headerlink copybtn", kind::ANCHOR | kind::CONTROL),
            ("mwe-math-fallback-image-display", kind::FORMULA),
            ("headline", 0),
        ] {
            assert_eq!(kinds_of_class(class), kinds, "{class}");
        }
    }

    #[test]
    fn only_numbers_are_line_numbers() {
        for (html, numbers) in [("<p>1\n2 3", true), ("<p><b>1</b><i>2.</i>", true), ("<p>1 x", false)] {
            let tree = Tree::parse(html);
            let node = tree.elements(Tag::P).next().unwrap();
            assert_eq!(is_numbers(&tree, node), numbers, "{html}");
        }
    }
}
