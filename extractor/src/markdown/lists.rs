//! The markers of lists: bullets and numbers as on the page, lists next to each other kept apart.

use crate::tree::{NodeId, Tag, Tree};

/// The largest number that a marker can have.
const MAX_NUMBER: i64 = 999_999_999;

/// A list whose items are being written.
#[derive(Clone, Debug)]
pub(super) struct List {
    node: NodeId,
    is_ordered: bool,
    /// `-` or `*`; `.` or `)`. Another one begins another list.
    sign: char,
    /// The number of the next item.
    next: i64,
    /// The number that Markdown would give the next item.
    implied: Option<i64>,
    /// The item that was counted last.
    counted: Option<NodeId>,
    last_width: Option<usize>,
}

impl List {
    /// A list that follows another one, or does not.
    pub(super) fn open(tree: &Tree<'_>, node: NodeId, before: Option<&List>) -> List {
        let is_ordered = tree.tag(node) == Tag::Ol;
        let first = if is_ordered { '.' } else { '-' };
        let sign = match before {
            Some(before) if before.is_ordered == is_ordered && before.sign == first => other(first),
            _ => first,
        };
        let start = number(tree, node, "start").filter(|_| is_ordered);
        List { node, is_ordered, sign, next: start.unwrap_or(1), implied: None, counted: None, last_width: None }
    }

    /// The marker of an item, and whether it begins another list for Markdown, which counts on by itself.
    pub(super) fn next_marker(&mut self, tree: &Tree<'_>, item: NodeId) -> (String, bool) {
        let (marker, begins_list) = if self.is_ordered {
            let number = self.count(tree, item).clamp(0, MAX_NUMBER);
            let begins_list = self.implied.is_some_and(|implied| implied != number);
            if begins_list {
                self.sign = other(self.sign);
            }
            self.implied = Some(number + 1);
            (format!("{number}{} ", self.sign), begins_list)
        } else {
            (format!("{} ", self.sign), false)
        };
        self.last_width = Some(marker.len());
        (marker, begins_list)
    }

    /// The number of an item. Items that are left out count as well.
    fn count(&mut self, tree: &Tree<'_>, item: NodeId) -> i64 {
        if tree.parent(item) == Some(self.node) {
            let from = match self.counted {
                Some(counted) => tree.next_sibling(counted),
                None => tree.first_child(self.node),
            };
            let between = std::iter::successors(from, |node| tree.next_sibling(*node)).take_while(|node| *node < item);
            for skipped in between.filter(|node| tree.tag(*node) == Tag::Li) {
                self.next = number(tree, skipped, "value").unwrap_or(self.next).saturating_add(1);
            }
            self.counted = Some(item);
        }
        let number = number(tree, item, "value").unwrap_or(self.next);
        self.next = number.saturating_add(1);
        number
    }

    /// Whether its first item may stand on the line after a paragraph: only the number 1 may.
    pub(super) fn may_interrupt(&self) -> bool {
        !self.is_ordered || self.implied == Some(2)
    }

    /// How far the children of its last item are indented.
    pub(super) fn last_width(&self) -> Option<usize> {
        self.last_width
    }
}

fn other(sign: char) -> char {
    match sign {
        '-' => '*',
        '*' => '-',
        '.' => ')',
        _ => '.',
    }
}

fn number(tree: &Tree<'_>, node: NodeId, attribute: &str) -> Option<i64> {
    tree.attribute(node, attribute)?.trim().parse::<i64>().ok().filter(|number| (0..=MAX_NUMBER).contains(number))
}
