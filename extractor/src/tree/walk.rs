//! Walking a tree in document order without recursion.

use super::arena::Kind;
use super::{NodeId, Tree};

/// One step of a [`Walk`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// An element, or the document, begins.
    Open(NodeId),
    /// An element, or the document, ends.
    Close(NodeId),
    /// A text, comment, instruction or doctype: a node that has nothing inside.
    Leaf(NodeId),
}

/// Iterator of [`Tree::walk`].
#[derive(Clone, Debug)]
pub struct Walk<'t, 'a> {
    tree: &'t Tree<'a>,
    /// The element that was opened last and not closed.
    open: Option<NodeId>,
    next: u32,
    root: NodeId,
}

impl<'t, 'a> Walk<'t, 'a> {
    pub(super) fn new(tree: &'t Tree<'a>, root: NodeId) -> Walk<'t, 'a> {
        Walk { tree, open: None, next: root.0, root }
    }

    /// Leaves out what is inside the element opened last; its [`Step::Close`] comes next.
    pub fn skip_children(&mut self) {
        if let Some(open) = self.open {
            self.next = self.tree.end(open).0;
        }
    }
}

impl Iterator for Walk<'_, '_> {
    type Item = Step;

    #[inline]
    fn next(&mut self) -> Option<Step> {
        if let Some(open) = self.open {
            if self.next == self.tree.end(open).0 {
                self.open = if open == self.root { None } else { self.tree.parent(open) };
                return Some(Step::Close(open));
            }
        } else if self.next >= self.tree.end(self.root).0 {
            return None;
        }
        let node = NodeId(self.next);
        self.next += 1;
        Some(match self.tree.kind(node) {
            Kind::Element | Kind::Document => {
                self.open = Some(node);
                Step::Open(node)
            }
            _ => Step::Leaf(node),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tag;

    #[test]
    fn every_open_element_is_closed_in_order() {
        let tree = Tree::parse("<p>a<b>c</b><br>d<div>e<script>f</script></div>");
        let body = tree.elements(Tag::Body).next().unwrap();
        let mut written = String::new();
        let mut walk = tree.walk_from(body);
        while let Some(step) = walk.next() {
            match step {
                Step::Open(node) => written += &format!("<{}>", tree.name(node)),
                Step::Close(node) => written += &format!("</{}>", tree.name(node)),
                Step::Leaf(node) => written += &tree.text(node),
            }
            if matches!(step, Step::Open(node) if tree.tag(node) == Tag::Script) {
                walk.skip_children();
            }
        }
        assert_eq!(written, "<body><p>a<b>c</b><br></br>d</p><div>e<script></script></div></body>");
    }
}
