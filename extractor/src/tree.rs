//! The HTML tree of a page: parsed as browsers do, in linear time and bounded memory, without copying its text.
//!
//! ```
//! use pith_extractor::tree::{Step, Tag, Tree};
//!
//! let tree = Tree::parse("<title>Rain</title><p class=lead>It rained &amp; rained.<p>Then it stopped.");
//! let mut paragraphs = 0;
//! let mut walk = tree.walk();
//! while let Some(step) = walk.next() {
//!     match step {
//!         Step::Open(node) if tree.tag(node).is_not_rendered() => walk.skip_children(),
//!         Step::Open(node) if tree.tag(node) == Tag::P => paragraphs += 1,
//!         Step::Leaf(text) => assert!(!tree.text(text).contains("&amp;")),
//!         _ => {}
//!     }
//! }
//! assert_eq!(paragraphs, 2);
//! let lead = tree.elements(Tag::P).next().unwrap();
//! assert_eq!(tree.attribute(lead, "class").unwrap(), "lead");
//! ```
//!
//! Neighbouring text nodes occur (where an ignored tag stood between them); they read on as one text.
//! The tree may be some thousand levels deep, so nothing should recurse over it; [`Tree::walk`] does not.

mod arena;
mod attributes;
mod builder;
mod doctype;
mod entities;
mod tag;
#[cfg(test)]
mod tests;
mod tokenizer;
mod walk;

use std::borrow::Cow;

pub use arena::{Kind, Namespace};
use arena::{NONE, Node, Span, flag};
pub(crate) use attributes::decode_value;
pub use attributes::{Attribute, Attributes};
use builder::Builder;
pub use doctype::Doctype;
use entities::{DecodeOptions, Nul, References};
pub use tag::Tag;
use tokenizer::Range;
pub use walk::{Step, Walk};

/// A node of one [`Tree`]. Numbers are document order, and the descendants of a node follow it without a gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(u32);

impl NodeId {
    /// The document, which every tree has.
    pub const DOCUMENT: NodeId = NodeId(0);

    /// The index in document order, for vectors with an entry for each node.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The node with an index, which a tree must have.
    pub(crate) fn from_index(index: usize) -> NodeId {
        NodeId(index as u32)
    }
}

/// A parsed page, which borrows its text from the source.
#[derive(Debug)]
pub struct Tree<'a> {
    source: &'a str,
    nodes: Vec<Node>,
    attributes: Vec<Span>,
    truncated: bool,
    recovered: bool,
}

impl<'a> Tree<'a> {
    /// Parses a page with scripting off. Any text is valid input.
    ///
    /// Takes time and memory proportional to the length of `html`, whatever it holds. Elements more than 512 deep
    /// become siblings, and what exceeds the other bounds is left out; [`Tree::truncated`] is then true.
    pub fn parse(html: &'a str) -> Tree<'a> {
        Builder::new(html).build()
    }

    /// Whether a bound was hit, so that this is less than the standard's tree of the page.
    pub fn truncated(&self) -> bool {
        self.truncated
    }

    /// Whether the parser recovered from an unclosed `<script>`, `<title>` or the like, which by the standard would take
    /// the rest of the page as its content.
    pub fn recovered(&self) -> bool {
        self.recovered
    }

    /// The page as it was given.
    pub fn source(&self) -> &'a str {
        self.source
    }

    /// How many nodes there are; [`NodeId::index`] is always below.
    pub fn n_nodes(&self) -> usize {
        self.nodes.len()
    }

    /// All nodes in document order.
    pub fn nodes(&self) -> impl DoubleEndedIterator<Item = NodeId> + ExactSizeIterator + use<> {
        (0..self.nodes.len() as u32).map(NodeId)
    }

    /// The node and all below it, in document order.
    pub fn subtree(&self, node: NodeId) -> impl DoubleEndedIterator<Item = NodeId> + ExactSizeIterator + use<> {
        (node.0..self.node(node).first_child_or_end).map(NodeId)
    }

    /// The first node after `node` and all below it; [`Tree::n_nodes`] as an index when there is none.
    pub fn end(&self, node: NodeId) -> NodeId {
        NodeId(self.node(node).first_child_or_end)
    }

    /// Whether `node` is `ancestor` or below it.
    pub fn contains(&self, ancestor: NodeId, node: NodeId) -> bool {
        ancestor <= node && node < self.end(ancestor)
    }

    /// All HTML elements of that name, in document order.
    pub fn elements(&self, tag: Tag) -> impl DoubleEndedIterator<Item = NodeId> + '_ {
        self.elements_in(NodeId::DOCUMENT, tag)
    }

    /// The HTML elements of that name among the node and all below it, in document order.
    pub fn elements_in(&self, node: NodeId, tag: Tag) -> impl DoubleEndedIterator<Item = NodeId> + '_ {
        self.subtree(node).filter(move |&node| {
            let node = self.node(node);
            node.tag == tag && node.kind == Kind::Element && node.namespace() == Namespace::Html
        })
    }

    /// Opens and closes every node in turn.
    pub fn walk(&self) -> Walk<'_, 'a> {
        self.walk_from(NodeId::DOCUMENT)
    }

    /// Opens and closes the node and every node below it in turn.
    pub fn walk_from(&self, node: NodeId) -> Walk<'_, 'a> {
        Walk::new(self, node)
    }

    /// What the node is.
    pub fn kind(&self, node: NodeId) -> Kind {
        self.node(node).kind
    }

    /// Whether the node is an element.
    pub fn is_element(&self, node: NodeId) -> bool {
        self.kind(node) == Kind::Element
    }

    /// The name of an element; [`Tag::Unknown`] for other names and other nodes.
    pub fn tag(&self, node: NodeId) -> Tag {
        self.node(node).tag
    }

    /// The letters of an element's name, small ones; empty for other nodes.
    pub fn name(&self, node: NodeId) -> Cow<'a, str> {
        let found = self.node(node);
        if found.kind != Kind::Element {
            return Cow::Borrowed("");
        }
        if found.tag != Tag::Unknown {
            return Cow::Borrowed(found.tag.name());
        }
        let rest = &self.source[found.start as usize + 1..];
        tokenizer::lower_case(&rest[..tokenizer::tag_name_length(rest.as_bytes())])
    }

    /// The vocabulary of an element.
    pub fn namespace(&self, node: NodeId) -> Namespace {
        self.node(node).namespace()
    }

    /// Where in the source the node begins; an element that the page leaves out begins where it was needed.
    pub fn position(&self, node: NodeId) -> usize {
        self.node(node).start as usize
    }

    /// The node above.
    pub fn parent(&self, node: NodeId) -> Option<NodeId> {
        link(self.node(node).parent)
    }

    /// The nodes above, nearest first.
    pub fn ancestors(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        std::iter::successors(self.parent(node), |&node| self.parent(node))
    }

    /// The first node below.
    pub fn first_child(&self, node: NodeId) -> Option<NodeId> {
        (self.node(node).first_child_or_end > node.0 + 1).then_some(NodeId(node.0 + 1))
    }

    /// The last node directly below.
    pub fn last_child(&self, node: NodeId) -> Option<NodeId> {
        link(self.node(node).last_child)
    }

    /// The node after, with the same parent.
    pub fn next_sibling(&self, node: NodeId) -> Option<NodeId> {
        link(self.node(node).next)
    }

    /// The node before, with the same parent.
    pub fn previous_sibling(&self, node: NodeId) -> Option<NodeId> {
        link(self.node(node).previous)
    }

    /// The nodes directly below.
    pub fn children(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        std::iter::successors(self.first_child(node), |&node| self.next_sibling(node))
    }

    /// The text of a text node, a comment or an instruction, read as it is meant (`&amp;` is `&`); empty for others.
    #[inline]
    pub fn text(&self, node: NodeId) -> Cow<'a, str> {
        let found = self.node(node);
        let references = match found.kind {
            Kind::Text if found.flags & flag::RAW == 0 => References::Text,
            Kind::Text | Kind::Comment | Kind::Instruction | Kind::Doctype => References::Kept,
            Kind::Document | Kind::Element => return Cow::Borrowed(""),
        };
        let dropped = found.kind == Kind::Text && found.flags & flag::NUL_SHOWN == 0;
        let nul = if dropped { Nul::Dropped } else { Nul::Replaced };
        entities::decode(&self.source[found.start as usize..found.end as usize], DecodeOptions { references, nul })
    }

    /// The bytes of the source that a text node, a comment or an instruction was read from, undecoded; empty for others.
    pub fn raw_text(&self, node: NodeId) -> &'a str {
        let found = self.node(node);
        match found.kind {
            Kind::Document | Kind::Element => "",
            _ => &self.source[found.start as usize..found.end as usize],
        }
    }

    /// The text of all text nodes in the node, joined; scripts, styles and templates inside are left out, unless
    /// `node` itself is one (so the content of a JSON-LD script is `tree.text_content(script)`).
    pub fn text_content(&self, node: NodeId) -> String {
        let mut text = String::new();
        let mut walk = self.walk_from(node);
        while let Some(step) = walk.next() {
            match step {
                Step::Open(inner) if inner != node && self.tag(inner).is_not_rendered() => walk.skip_children(),
                Step::Leaf(leaf) if self.kind(leaf) == Kind::Text => text.push_str(&self.text(leaf)),
                _ => {}
            }
        }
        text
    }

    /// The text of a script, which is one text node, as a rule; then it is not copied.
    pub(crate) fn script_text(&self, script: NodeId) -> Cow<'a, str> {
        let mut children = self.children(script);
        match (children.next(), children.next()) {
            (Some(text), None) if self.kind(text) == Kind::Text => self.text(text),
            _ => Cow::Owned(self.text_content(script)),
        }
    }

    /// The document type, when the page declares one.
    pub fn doctype(&self) -> Option<Doctype> {
        let node = self.children(NodeId::DOCUMENT).find(|&node| self.kind(node) == Kind::Doctype)?;
        let Node { start, end, .. } = *self.node(node);
        Some(Doctype::read(self.source, Range { start, end }))
    }

    #[inline]
    fn node(&self, node: NodeId) -> &Node {
        &self.nodes[node.0 as usize]
    }
}

fn link(index: u32) -> Option<NodeId> {
    (index != NONE).then_some(NodeId(index))
}
