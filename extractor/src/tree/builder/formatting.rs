//! The list of active formatting elements: reopening `<b>` after a block, and the adoption agency.

use super::{Builder, COPY_COST, Open, Scope};
use crate::tree::arena::{NONE, Node, flag};
use crate::tree::tag::Tag;
use crate::tree::tokenizer::{NameId, TagToken};

/// More open formatting elements than this are not reopened. The standard has no limit.
const MAX_ACTIVE: usize = 24;
/// Up to this many attributes are compared in any order; more must be in the same order.
const MAX_UNORDERED: usize = 16;
/// So many bytes of the attributes of a copy cost 1: ordinary ones cost little beside the copy itself.
const BYTES_PER_COST: usize = 8;
/// How many times the adoption agency moves on, by the standard.
const N_ADOPTIONS: usize = 8;
/// How many elements between the formatting element and the block it copies, by the standard.
const N_COPIES: usize = 3;

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// [`NONE`] is a marker: what is before it does not reach in.
    node: u32,
    tag: Tag,
}

#[derive(Debug, Default)]
pub(super) struct Formatting {
    entries: Vec<Entry>,
}

impl Formatting {
    pub fn push_marker(&mut self) {
        self.entries.push(Entry { node: NONE, tag: Tag::Unknown });
    }

    pub fn clear_to_marker(&mut self) {
        while let Some(entry) = self.entries.pop() {
            if entry.node == NONE {
                return;
            }
        }
    }

    /// Where the entries after the last marker begin.
    fn first_active(&self) -> usize {
        self.entries.iter().rposition(|entry| entry.node == NONE).map_or(0, |marker| marker + 1)
    }

    fn last_of(&self, tag: Tag) -> Option<usize> {
        let active = self.entries.iter().enumerate().rev().take_while(|(_, entry)| entry.node != NONE);
        active.into_iter().find(|(_, entry)| entry.tag == tag).map(|(index, _)| index)
    }

    fn position(&self, node: u32) -> Option<usize> {
        let active = self.entries.iter().enumerate().rev().take_while(|(_, entry)| entry.node != NONE);
        active.into_iter().find(|(_, entry)| entry.node == node).map(|(index, _)| index)
    }
}

impl Builder<'_> {
    /// Remembers an element just opened.
    pub(super) fn push_formatting(&mut self, node: u32, tag: Tag) {
        let first = self.formatting.first_active();
        let active = &self.formatting.entries[first..];
        let same_name = active.iter().filter(|entry| entry.tag == tag).count();
        if same_name >= 3 {
            let same = |entry: &Entry| entry.tag == tag && self.same_attributes(entry.node, node);
            let n_same = active.iter().filter(|entry| same(entry)).count();
            if n_same >= 3
                && let Some(earliest) = active.iter().position(same)
            {
                self.formatting.entries.remove(first + earliest);
            }
        }
        if self.formatting.entries.len() - first >= MAX_ACTIVE {
            self.formatting.entries.remove(first);
        }
        self.formatting.entries.push(Entry { node, tag });
    }

    fn same_attributes(&self, one: u32, other: u32) -> bool {
        let source = self.tokenizer.source;
        let spans = |node: &Node| &self.tokenizer.attributes[node.end as usize..][..node.n_attributes as usize];
        let (one, other) = (spans(self.arena.node(one)), spans(self.arena.node(other)));
        let text = |start: u32, end: u32| &source[start as usize..end as usize];
        let same = |a: &super::super::Span, b: &super::super::Span| {
            text(a.name_start, a.name_end).eq_ignore_ascii_case(text(b.name_start, b.name_end))
                && text(a.value_start, a.value_end) == text(b.value_start, b.value_end)
        };
        if one.len() != other.len() {
            return false;
        }
        if one.len() > MAX_UNORDERED {
            return one.iter().zip(other).all(|(a, b)| same(a, b));
        }
        one.iter().all(|a| other.iter().any(|b| same(a, b)))
    }

    fn is_open(&self, node: u32) -> bool {
        self.arena.node(node).flags & flag::OPEN != 0
    }

    /// Opens again what was closed by the end of a block.
    #[inline]
    pub(super) fn reconstruct_formatting(&mut self) {
        match self.formatting.entries.last() {
            Some(last) if last.node != NONE && !self.is_open(last.node) => self.reopen(),
            _ => {}
        }
    }

    #[cold]
    fn reopen(&mut self) {
        let entries = &self.formatting.entries;
        let closed = |entry: &Entry| entry.node != NONE && !self.is_open(entry.node);
        let n_closed = entries.iter().rev().take_while(|entry| closed(entry)).count();
        let first = entries.len() - n_closed;
        if !self.charge_budget(COPY_COST * n_closed) {
            self.formatting.entries.truncate(first);
            return;
        }
        for index in first..self.formatting.entries.len() {
            let Entry { node, tag } = self.formatting.entries[index];
            self.ensure_depth_limit();
            let copy = self.copy_of(node);
            let copy = self.insert(copy);
            self.stack.push(Open::html(copy, tag, tag as NameId));
            self.formatting.entries[index].node = copy;
        }
    }

    /// A copy of an element without children, not in the tree, marked as open.
    ///
    /// The attributes of a copy are those of the original, and are read once more with it: what was long once must not
    /// be read for every paragraph.
    fn copy_of(&mut self, node: u32) -> Node {
        let original = *self.arena.node(node);
        let first = original.end as usize;
        let spans = &self.tokenizer.attributes[first..first + usize::from(original.n_attributes)];
        let end = spans.last().map_or(0, |last| last.value_end.max(last.name_end));
        let n_bytes = end.saturating_sub(spans.first().map_or(0, |first| first.name_start));
        self.charge_budget(n_bytes as usize / BYTES_PER_COST);
        let mut copy = Node::new(original.kind, original.tag, original.start, original.end);
        copy.n_attributes = original.n_attributes;
        copy.flags = original.flags | flag::OPEN;
        copy
    }

    /// `<a>` inside `<a>`, `<nobr>` inside `<nobr>`: the earlier one ends here.
    pub(super) fn close_open_duplicate(&mut self, token: &TagToken) {
        let Some(index) = self.formatting.last_of(token.tag) else { return };
        let node = self.formatting.entries[index].node;
        self.run_adoption_agency(token);
        if let Some(index) = self.formatting.position(node) {
            self.formatting.entries.remove(index);
        }
        if self.is_open(node)
            && let Some(index) = self.stack.find_node(token.name, node)
        {
            self.remove_open(index);
        }
    }

    /// Takes one element off the stack and leaves those above it.
    pub(super) fn remove_open(&mut self, index: usize) {
        let mut taken = self.stack.take_from(index);
        let removed = taken.remove(0);
        self.arena.node_mut(removed.node).flags &= !flag::OPEN;
        self.stack.put_back(taken);
    }

    /// The end tag of a formatting element: the "adoption agency algorithm" of the standard.
    pub(super) fn run_adoption_agency(&mut self, token: &TagToken) {
        if let Some(top) = self.stack.top()
            && top.is_html(token.tag)
            && self.formatting.position(top.node).is_none()
        {
            self.pop();
            return;
        }
        for _ in 0..N_ADOPTIONS {
            let Some(listed) = self.formatting.last_of(token.tag) else {
                self.end_any_other(token);
                return;
            };
            let subject = self.formatting.entries[listed].node;
            let Some(index) = self.stack.find_node(token.name, subject).filter(|_| self.is_open(subject)) else {
                self.formatting.entries.remove(listed);
                return;
            };
            if index < self.stack.barrier(Scope::Default) {
                return;
            }
            let block = (index + 1..self.stack.len()).find(|&at| self.stack.get(at).is_some_and(Open::is_special));
            let Some(block) = block else {
                self.pop_to(index);
                self.formatting.entries.remove(listed);
                return;
            };
            let depth = self.stack.len() - index;
            if !self.charge_budget(depth + 2 * COPY_COST) {
                self.formatting.entries.remove(listed);
                return;
            }
            self.adopt_block(index, block, listed);
        }
    }

    /// Moves the block out of the formatting element at `index` and gives the block's content a copy of it.
    fn adopt_block(&mut self, index: usize, block: usize, listed: usize) {
        let ancestor = *self.stack.get(index - 1).expect("the root is never a formatting element");
        // From here on the first of `taken` is the formatting element.
        let mut taken = self.stack.take_from(index);
        let mut block = block - index;
        let block_node = taken[block].node;
        let subject = taken[0].node;
        let mut bookmark = listed + 1;
        let mut last = block_node;
        let mut n_seen = 0;
        for at in (1..block).rev() {
            n_seen += 1;
            let node = taken[at].node;
            let mut position = self.formatting.position(node);
            if let Some(entry_index) = position
                && n_seen > N_COPIES
            {
                self.formatting.entries.remove(entry_index);
                bookmark -= usize::from(entry_index < bookmark);
                position = None;
            }
            let Some(entry_index) = position else {
                taken.remove(at);
                block -= 1;
                self.arena.node_mut(node).flags &= !flag::OPEN;
                continue;
            };
            let copy = self.copy_of(node);
            let copy = self.arena.push(copy);
            self.arena.node_mut(node).flags &= !flag::OPEN;
            self.formatting.entries[entry_index].node = copy;
            taken[at].node = copy;
            if last == block_node {
                bookmark = entry_index + 1;
            }
            self.arena.detach(last);
            self.arena.append(copy, last);
            last = copy;
        }
        self.arena.detach(last);
        if self.foster_parenting && super::is_table_part(&ancestor) {
            self.foster_parent(last);
        } else {
            self.arena.append(ancestor.node, last);
        }
        let copy = self.copy_of(subject);
        let copy = self.arena.push(copy);
        let n_moved = self.arena.move_children(block_node, copy);
        self.charge_budget(n_moved);
        self.arena.append(block_node, copy);
        let tag = self.arena.node(copy).tag;
        self.formatting.entries.insert(bookmark, Entry { node: copy, tag });
        if let Some(entry_index) = self.formatting.position(subject) {
            self.formatting.entries.remove(entry_index);
        }
        self.arena.node_mut(subject).flags &= !flag::OPEN;
        taken.insert(block + 1, Open::html(copy, tag, tag as NameId));
        taken.remove(0);
        self.stack.put_back(taken);
    }
}
