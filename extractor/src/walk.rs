//! The seed's way through a page: every element from the first `a`, `p`, `h1`–`h5`, `span` or `div` down gives a
//! unit of text, and every link its target.

use crate::tree::{Kind, NodeId, Tag, Tree};

/// What the walk finds on a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageWalk {
    /// The units in document order: the text of an element up to its first child together with the text behind the
    /// element, space collapsed but not trimmed. They are what the seed's methods rank.
    pub units: Vec<String>,
    /// The `href` of every link, as it is written.
    pub links: Vec<String>,
}

/// Walks a page as the seed's crawler did, comments and style sheets inside blocks included, scripts left out.
pub fn walk_page(tree: &Tree<'_>) -> PageWalk {
    let mut found = PageWalk::default();
    let mut unit = String::new();
    let mut node = NodeId::DOCUMENT;
    // The first node behind the outermost block that is open.
    let mut block_end = node;
    while node.index() < tree.n_nodes() {
        let kind = tree.kind(node);
        if kind == Kind::Element && tree.tag(node) == Tag::Script {
            node = tree.end(node);
            continue;
        }
        if node >= block_end && kind == Kind::Element && is_block(tree.tag(node)) {
            block_end = tree.end(node);
        }
        if node < block_end && matches!(kind, Kind::Element | Kind::Comment | Kind::Instruction) {
            unit.clear();
            let inner = if kind == Kind::Element { tree.first_child(node) } else { None };
            if kind != Kind::Element {
                collapse(&tree.text(node), &mut unit);
            }
            push_texts(tree, inner, &mut unit);
            if let Some(text) = moved_after(tree, node) {
                push_texts(tree, Some(text), &mut unit);
            }
            let tail = tree.next_sibling(node);
            if tail.is_none() || tail != tree.parent(node).and_then(|parent| moved_after(tree, parent)) {
                push_texts(tree, tail, &mut unit);
            }
            if !unit.is_empty() {
                found.units.push(unit.clone());
            }
            if tree.tag(node) == Tag::A
                && let Some(target) = tree.attribute(node, "href")
            {
                found.links.push(target.into_owned());
            }
        }
        node = following(tree, node);
    }
    found
}

fn is_block(tag: Tag) -> bool {
    matches!(tag, Tag::A | Tag::P | Tag::H1 | Tag::H2 | Tag::H3 | Tag::H4 | Tag::H5 | Tag::Span | Tag::Div)
}

/// The next node in document order.
fn following(tree: &Tree<'_>, node: NodeId) -> NodeId {
    tree.first_child(node).unwrap_or_else(|| tree.end(node))
}

/// The last text of a form, where a sibling precedes it: it belongs after the form.
///
/// The seed's parser (html5-parser, a fork of gumbo) adds text to the tree when the next tag has been handled, and
/// `</form>` closes its element without waiting for that: the text before it ends up behind the form. The standard
/// leaves it inside.
fn moved_after(tree: &Tree<'_>, form: NodeId) -> Option<NodeId> {
    if tree.kind(form) != Kind::Element || tree.tag(form) != Tag::Form {
        return None;
    }
    let last = tree.last_child(form).filter(|last| tree.kind(*last) == Kind::Text)?;
    tree.previous_sibling(last).map(|_| last)
}

/// Adds the texts from a node on, up to the first that is not text.
fn push_texts(tree: &Tree<'_>, from: Option<NodeId>, unit: &mut String) {
    let mut next = from;
    while let Some(node) = next
        && tree.kind(node) == Kind::Text
    {
        collapse(&tree.text(node), unit);
        next = tree.next_sibling(node);
    }
}

/// Appends a text, each run of space as one blank, also across the seam.
fn collapse(text: &str, unit: &mut String) {
    for character in text.chars() {
        // Python's `\s` also holds the four separators of ASCII.
        if !character.is_whitespace() && !matches!(character, '\u{1C}'..='\u{1F}') {
            unit.push(character);
        } else if !unit.ends_with(' ') {
            unit.push(' ');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(html: &str, units: &[&str]) {
        assert_eq!(walk_page(&Tree::parse(html)).units, units, "{html}");
    }

    #[test]
    fn text_before_the_first_child_and_behind_the_element_is_one_unit() {
        check("<p>a<b>x</b>c</p>", &["a", "xc"]);
        check("<div>one <p>two</p> three</div>", &["one ", "two three"]);
    }

    #[test]
    fn nothing_counts_before_the_first_block() {
        check("<title>t</title><ul><li>item <b>bold</b></ul><div><li>item</div>", &["item"]);
    }

    #[test]
    fn scripts_go_with_what_stands_behind_them_and_comments_stay() {
        check("<div>a<script>x()</script>lost<!--note-->kept<style>s</style></div>", &["a", "notekept", "s"]);
    }

    #[test]
    fn blank_units_stay_and_empty_ones_go() {
        check("<div> \n <p></p><p>x\u{a0} y</p></div>", &[" ", "x y"]);
    }

    #[test]
    fn the_last_text_of_a_form_belongs_behind_it() {
        check("<div><form>a<p>b</p>c</form>d</div>", &["acd", "b"]);
        check("<div><form>a</form>d</div>", &["ad"]);
        check("<div><form><p>b</p> </form> d</div>", &[" d", "b"]);
    }

    #[test]
    fn links_are_kept_as_written() {
        let walk = walk_page(&Tree::parse("<p><a href='/x?a=1&amp;b=2'>one</a><a>none</a><a href=http://b/>two</a>"));
        assert_eq!(walk.links, ["/x?a=1&b=2", "http://b/"]);
    }
}
