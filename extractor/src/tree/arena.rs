//! The nodes of a tree in one vector, linked by index, and how they are put into document order.

use super::tag::Tag;

/// "No node" as a link.
pub(super) const NONE: u32 = u32::MAX;

/// What a node is; the numbers are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// The root.
    Document,
    /// `<!DOCTYPE …>`.
    Doctype,
    /// `<!-- … -->`, and what the standard treats as such.
    Comment,
    /// `<?name …>`.
    Instruction,
    /// A run of text.
    Text,
    /// An element.
    Element,
}

/// The vocabulary of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Namespace {
    /// HTML.
    Html,
    /// Drawings inside `<svg>`.
    Svg,
    /// Formulas inside `<math>`.
    MathMl,
}

/// Bits of [`Node::flags`].
pub(super) mod flag {
    /// The element is on the stack of open elements.
    pub const OPEN: u8 = 1;
    /// Character references in this text are left alone.
    pub const RAW: u8 = 1 << 1;
    /// NUL in this text is shown as U+FFFD instead of being dropped.
    pub const NUL_SHOWN: u8 = 1 << 2;
    /// The element is in svg.
    pub const SVG: u8 = 1 << 3;
    /// The element is in math.
    pub const MATHML: u8 = 1 << 4;
    /// Some attribute may hide the element.
    pub const MAY_HIDE: u8 = 1 << 5;
}

/// One node in 32 bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub parent: u32,
    pub previous: u32,
    pub next: u32,
    pub last_child: u32,
    /// While building the first child; in a finished tree the index after the last descendant.
    pub first_child_or_end: u32,
    /// Element: the byte of its `<`. Others: where the text starts.
    pub start: u32,
    /// Element: the first attribute. Others: where the text ends.
    pub end: u32,
    pub kind: Kind,
    pub tag: Tag,
    pub flags: u8,
    pub n_attributes: u8,
}

impl Node {
    pub fn new(kind: Kind, tag: Tag, start: u32, end: u32) -> Node {
        Node {
            parent: NONE,
            previous: NONE,
            next: NONE,
            last_child: NONE,
            first_child_or_end: NONE,
            start,
            end,
            kind,
            tag,
            flags: 0,
            n_attributes: 0,
        }
    }

    pub fn namespace(&self) -> Namespace {
        match self.flags & (flag::SVG | flag::MATHML) {
            0 => Namespace::Html,
            flag::SVG => Namespace::Svg,
            _ => Namespace::MathMl,
        }
    }
}

/// An attribute as four offsets into the source.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub name_start: u32,
    pub name_end: u32,
    pub value_start: u32,
    pub value_end: u32,
}

/// Nodes while the tree is being built.
#[derive(Debug)]
pub(super) struct Arena {
    pub nodes: Vec<Node>,
}

impl Arena {
    /// An arena with the document node, sized for a page of `length` bytes.
    pub fn for_source(length: usize) -> Arena {
        let mut nodes = Vec::with_capacity(length / 72 + 16);
        nodes.push(Node::new(Kind::Document, Tag::Unknown, 0, 0));
        Arena { nodes }
    }

    pub fn node(&self, index: u32) -> &Node {
        &self.nodes[index as usize]
    }

    pub fn node_mut(&mut self, index: u32) -> &mut Node {
        &mut self.nodes[index as usize]
    }

    /// Adds a node that is not in the tree yet.
    pub fn push(&mut self, node: Node) -> u32 {
        let index = self.nodes.len() as u32;
        self.grow_if_full();
        self.nodes.push(node);
        index
    }

    /// Adds a node as the last child of `parent`.
    #[inline]
    pub fn push_child(&mut self, parent: u32, mut node: Node) -> u32 {
        let index = self.nodes.len() as u32;
        let above = &mut self.nodes[parent as usize];
        let before = above.last_child;
        above.last_child = index;
        if before == NONE {
            above.first_child_or_end = index;
        } else {
            self.nodes[before as usize].next = index;
        }
        node.parent = parent;
        node.previous = before;
        self.grow_if_full();
        self.nodes.push(node);
        index
    }

    /// Grows by half, where a vector left to itself doubles: the nodes are most of the memory of a page.
    #[inline]
    fn grow_if_full(&mut self) {
        if self.nodes.len() == self.nodes.capacity() {
            self.nodes.reserve_exact(self.nodes.len() / 2);
        }
    }

    /// Makes a node that is not in the tree the last child of `parent`.
    pub fn append(&mut self, parent: u32, child: u32) {
        let before = self.node(parent).last_child;
        self.node_mut(parent).last_child = child;
        if before == NONE {
            self.node_mut(parent).first_child_or_end = child;
        } else {
            self.node_mut(before).next = child;
        }
        let node = self.node_mut(child);
        node.parent = parent;
        node.previous = before;
        node.next = NONE;
    }

    /// Puts a node that is not in the tree before `sibling`.
    pub fn insert_before(&mut self, sibling: u32, child: u32) {
        let Node { parent, previous, .. } = *self.node(sibling);
        let node = self.node_mut(child);
        node.parent = parent;
        node.previous = previous;
        node.next = sibling;
        self.node_mut(sibling).previous = child;
        if previous == NONE {
            self.node_mut(parent).first_child_or_end = child;
        } else {
            self.node_mut(previous).next = child;
        }
    }

    /// Takes a node with all below it out of the tree.
    pub fn detach(&mut self, child: u32) {
        let Node { parent, previous, next, .. } = *self.node(child);
        if parent == NONE {
            return;
        }
        if previous == NONE {
            self.node_mut(parent).first_child_or_end = next;
        } else {
            self.node_mut(previous).next = next;
        }
        if next == NONE {
            self.node_mut(parent).last_child = previous;
        } else {
            self.node_mut(next).previous = previous;
        }
        let node = self.node_mut(child);
        node.parent = NONE;
        node.previous = NONE;
        node.next = NONE;
    }

    /// Gives the children of `from` to `to`, which has none; answers how many there were.
    pub fn move_children(&mut self, from: u32, to: u32) -> usize {
        let Node { first_child_or_end: first, last_child: last, .. } = *self.node(from);
        self.node_mut(from).first_child_or_end = NONE;
        self.node_mut(from).last_child = NONE;
        self.node_mut(to).first_child_or_end = first;
        self.node_mut(to).last_child = last;
        let mut child = first;
        let mut n_moved = 0;
        while child != NONE {
            self.node_mut(child).parent = to;
            child = self.node(child).next;
            n_moved += 1;
        }
        n_moved
    }

    /// The nodes in document order, each with the index after its last descendant.
    ///
    /// Most pages are built in that order; only those where something was moved are sorted.
    pub fn finish(mut self) -> Vec<Node> {
        self.set_ends();
        if !self.is_in_document_order() {
            self.nodes = self.in_document_order();
            self.set_ends();
        }
        self.nodes
    }

    /// Replaces first children by ends, which are right if the nodes are in document order.
    fn set_ends(&mut self) {
        for index in (0..self.nodes.len()).rev() {
            let last = self.nodes[index].last_child;
            let end = if last == NONE { index as u32 + 1 } else { self.node(last).first_child_or_end };
            self.nodes[index].first_child_or_end = end;
        }
    }

    /// Whether each node follows its parent or the last descendant of its previous sibling.
    fn is_in_document_order(&self) -> bool {
        self.nodes.iter().enumerate().skip(1).all(|(index, node)| {
            let expected = match node.previous {
                NONE => node.parent.wrapping_add(1),
                previous => self.node(previous).first_child_or_end,
            };
            expected == index as u32
        })
    }

    /// A copy in document order, without what is no longer in the tree.
    fn in_document_order(&self) -> Vec<Node> {
        let mut first_child = vec![NONE; self.nodes.len()];
        for (index, node) in self.nodes.iter().enumerate() {
            if node.previous == NONE && node.parent != NONE {
                first_child[node.parent as usize] = index as u32;
            }
        }
        let mut moved_to = vec![NONE; self.nodes.len()];
        let mut order = Vec::with_capacity(self.nodes.len());
        let mut current = 0;
        loop {
            moved_to[current as usize] = order.len() as u32;
            order.push(current);
            if first_child[current as usize] != NONE {
                current = first_child[current as usize];
                continue;
            }
            while current != NONE && self.node(current).next == NONE {
                current = self.node(current).parent;
            }
            if current == NONE {
                break;
            }
            current = self.node(current).next;
        }
        let moved = |index: u32| if index == NONE { NONE } else { moved_to[index as usize] };
        let renumbered = |&index: &u32| {
            let mut node = *self.node(index);
            node.parent = moved(node.parent);
            node.previous = moved(node.previous);
            node.next = moved(node.next);
            node.last_child = moved(node.last_child);
            node
        };
        order.iter().map(renumbered).collect()
    }
}
