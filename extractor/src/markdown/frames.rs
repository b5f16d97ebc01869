//! The quotes, list items and definitions around the text that is being written, and what each line begins with.

use super::lists::List;
use crate::blocks::Page;
use crate::tree::Tag;

/// Deeper quotes and items are not indented further, so that no page grows by its nesting.
const MAX_NESTING: usize = 16;

/// What is written at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    Paragraph,
    Heading,
    Code,
    Table,
}

#[derive(Debug)]
enum Kind {
    Quote,
    List(List),
    /// An item with its marker; a further list may stand beside the items and then belongs to the item before it.
    Item {
        marker: String,
        begins_list: bool,
    },
    Term,
    Definition,
    Summary,
    /// Too deep for a quote or an item.
    Flat,
}

#[derive(Debug)]
struct Frame {
    kind: Kind,
    /// The index of its element in the path.
    depth: usize,
    /// How long the prefix of the frames around it is.
    outer_prefix: usize,
}

/// The open elements, and the frames among them.
pub(super) struct Frames<'p, 'a> {
    page: &'p Page<'a>,
    /// The open elements, outermost first; the index of each is its depth.
    path: Vec<u32>,
    frames: Vec<Frame>,
    /// So many frames have been written: their markers stand in the text.
    n_written: usize,
    /// What a line inside the written frames begins with.
    prefix: String,
    /// What was written last, and whether a frame has ended since.
    last: Option<Flow>,
    last_was_term: bool,
    closed: bool,
    /// How many bytes of prefixes may still be written.
    budget: usize,
}

impl<'p, 'a> Frames<'p, 'a> {
    pub(super) fn new(page: &'p Page<'a>) -> Self {
        Frames {
            page,
            path: vec![0],
            frames: Vec::new(),
            n_written: 0,
            prefix: String::new(),
            last: None,
            last_was_term: false,
            closed: false,
            budget: 4 * page.text.len() + (1 << 16),
        }
    }

    /// Goes to an element: ends the frames that it is not in and opens those that it is in.
    pub(super) fn open(&mut self, element: u32) {
        let mut entered = Vec::new();
        let mut at = element;
        let depth = |element: u32| usize::from(self.page.elements[element as usize].depth);
        while self.path.get(depth(at)) != Some(&at) && at != 0 {
            entered.push(at);
            at = self.page.elements[at as usize].parent;
        }
        self.path.truncate(depth(at) + 1);
        let closed_list = self.close_below(self.path.len());
        for element in entered.into_iter().rev() {
            self.path.push(element);
            self.enter(element, closed_list.as_ref());
        }
    }

    /// Ends the frames from a depth on; the outermost list among them, with its index.
    fn close_below(&mut self, depth: usize) -> Option<(usize, List)> {
        let mut list = None;
        while let Some(frame) = self.frames.pop_if(|frame| frame.depth >= depth) {
            if self.frames.len() < self.n_written {
                self.n_written = self.frames.len();
                self.prefix.truncate(frame.outer_prefix);
                self.closed = true;
            }
            if let Kind::List(closed) = frame.kind {
                list = Some((self.frames.len(), closed));
            }
        }
        list
    }

    fn enter(&mut self, element: u32, closed_list: Option<&(usize, List)>) {
        let found = &self.page.elements[element as usize];
        let kind = match found.tag {
            // Nobody quotes tables: manuals indent them so.
            Tag::Blockquote if self.page.tables().is_inside(self.page, found) => return,
            Tag::Blockquote => Kind::Quote,
            Tag::Ul | Tag::Ol | Tag::Menu | Tag::Dir => {
                self.enter_item_before();
                let before = closed_list.filter(|(index, _)| *index == self.frames.len()).map(|(_, list)| list);
                Kind::List(List::open(&self.page.tree, found.node, before))
            }
            Tag::Li => match self.frames.last_mut() {
                Some(Frame { kind: Kind::List(list), .. }) => {
                    let (marker, begins_list) = list.next_marker(&self.page.tree, found.node);
                    Kind::Item { marker, begins_list }
                }
                _ => Kind::Item { marker: "- ".to_owned(), begins_list: false },
            },
            Tag::Dt => Kind::Term,
            Tag::Dd => Kind::Definition,
            Tag::Summary => Kind::Summary,
            _ => return,
        };
        self.push(kind);
    }

    /// A list directly inside a list, as old pages have it, belongs to the item before it.
    fn enter_item_before(&mut self) {
        let Some(Frame { kind: Kind::List(list), .. }) = self.frames.last() else { return };
        let Some(width) = list.last_width() else { return };
        if self.n_written == self.frames.len() {
            self.push(Kind::Item { marker: " ".repeat(width), begins_list: false });
            if let Some(Frame { kind: Kind::Item { .. }, .. }) = self.frames.last() {
                self.prefix.extend(std::iter::repeat_n(' ', width));
            }
            self.n_written = self.frames.len();
            self.closed = true;
        }
    }

    fn push(&mut self, kind: Kind) {
        let is_indented = |kind: &Kind| matches!(kind, Kind::Quote | Kind::Item { .. });
        let nesting = self.frames.iter().filter(|frame| is_indented(&frame.kind)).count();
        let kind = if is_indented(&kind) && nesting >= MAX_NESTING { Kind::Flat } else { kind };
        self.frames.push(Frame { kind, depth: self.path.len() - 1, outer_prefix: self.prefix.len() });
    }

    /// Whether the next text is the first of an item.
    pub(super) fn begins_item(&self) -> bool {
        self.frames.len() > self.n_written && matches!(self.frames.last(), Some(Frame { kind: Kind::Item { .. }, .. }))
    }

    /// The element of the innermost frame.
    pub(super) fn innermost(&self) -> Option<u32> {
        self.frames.last().map(|frame| self.path[frame.depth])
    }

    /// Whether the text is the summary of details.
    pub(super) fn in_summary(&self) -> bool {
        matches!(self.frames.last(), Some(Frame { kind: Kind::Summary, .. }))
    }

    /// Writes what separates the next text from the last one, and the markers in front of it.
    pub(super) fn begin(&mut self, flow: Flow, out: &mut String) {
        if self.last.is_some() {
            out.push('\n');
            if !self.follows_directly() {
                let blank = self.prefix.trim_end().len();
                self.push_prefix(blank, out);
                out.push('\n');
            }
        }
        self.push_prefix(self.prefix.len(), out);
        for index in self.n_written..self.frames.len() {
            let is_innermost = index + 1 == self.frames.len();
            let frame = &mut self.frames[index];
            frame.outer_prefix = self.prefix.len();
            match &frame.kind {
                Kind::Quote => {
                    out.push_str("> ");
                    self.prefix.push_str("> ");
                }
                Kind::Item { marker, .. } => {
                    out.push_str(marker);
                    self.prefix.extend(std::iter::repeat_n(' ', marker.len()));
                }
                Kind::Definition if is_innermost && flow == Flow::Paragraph => out.push_str(": "),
                _ => {}
            }
        }
        self.n_written = self.frames.len();
        self.last = Some(flow);
        self.last_was_term = matches!(self.frames.last(), Some(Frame { kind: Kind::Term, .. }));
        self.closed = false;
    }

    /// Whether the next text stands on the line after the last one, without a blank line between.
    fn follows_directly(&self) -> bool {
        if self.last != Some(Flow::Paragraph) {
            return false;
        }
        match &self.frames[self.n_written..] {
            [Frame { kind: Kind::Item { begins_list: false, .. }, .. }, ..] => true,
            [Frame { kind: Kind::List(list), .. }, Frame { kind: Kind::Item { .. }, .. }, ..] => {
                let in_item =
                    matches!(self.frames[..self.n_written].last(), Some(Frame { kind: Kind::Item { .. }, .. }));
                in_item && !self.closed && list.may_interrupt()
            }
            [Frame { kind: Kind::Definition, .. }] => self.last_was_term,
            _ => false,
        }
    }

    /// Begins another line of the same text.
    pub(super) fn next_line(&mut self, out: &mut String) {
        out.push('\n');
        self.push_prefix(self.prefix.len(), out);
    }

    /// Begins another line of code, which may be empty.
    pub(super) fn code_line(&mut self, line: &str, out: &mut String) {
        out.push('\n');
        let length = if line.is_empty() { self.prefix.trim_end().len() } else { self.prefix.len() };
        self.push_prefix(length, out);
        out.push_str(line);
    }

    fn push_prefix(&mut self, length: usize, out: &mut String) {
        if let Some(rest) = self.budget.checked_sub(length) {
            self.budget = rest;
            out.push_str(&self.prefix[..length]);
        }
    }
}
