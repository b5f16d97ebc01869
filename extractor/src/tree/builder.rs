//! Tree construction by the rules of the HTML standard, under bounds that keep it linear.
//!
//! The rules that are quadratic or explosive as written are kept in check: the stack of open elements is at most
//! [`MAX_DEPTH`] deep and answers scope queries in constant time, few formatting elements are remembered, and moving or
//! copying nodes is charged to a budget that grows with the page. Ordinary pages stay far below all of these.

mod edges;
mod end_in_body;
mod foreign;
mod formatting;
mod frameset;
mod stack;
mod start_in_body;
mod tables;
mod text;

use super::Tree;
use super::arena::{Arena, Kind, NONE, Namespace, Node, flag};
use super::tag::{Tag, category};
use super::tokenizer::{NameId, TagToken, Token, Tokenizer};
use crate::cancel;
use formatting::Formatting;
use stack::{MAX_DEPTH, Open, Scope, Stack};

/// More nodes are left out, so that the nodes of a page stay within 128 MB.
const MAX_NODES: usize = 4_000_000;
/// The cost of a copied element; that of a moved one is 1.
const COPY_COST: usize = 16;
/// Not part of the text at the start of a page.
const BYTE_ORDER_MARK: char = '\u{FEFF}';
/// Bytes of the page between two looks at whether the work was cancelled.
const CHECK_BYTES: usize = 1 << 16;
/// The budget of an empty page.
const FREE_BUDGET: usize = 4096;

/// The insertion modes of the standard. Its modes for raw text and for text in tables need no state here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Initial,
    BeforeHtml,
    BeforeHead,
    InHead,
    InHeadNoscript,
    AfterHead,
    InBody,
    InTable,
    InCaption,
    InColumnGroup,
    InTableBody,
    InRow,
    InCell,
    InTemplate,
    AfterBody,
    InFrameset,
    AfterFrameset,
    AfterAfterBody,
    AfterAfterFrameset,
}

/// How the tree construction goes on after a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flow {
    /// The token was processed.
    Done,
    /// The insertion mode was changed: reprocess the token.
    Reprocess,
}

#[derive(Debug)]
pub(super) struct Builder<'a> {
    tokenizer: Tokenizer<'a>,
    arena: Arena,
    stack: Stack,
    formatting: Formatting,
    mode: Mode,
    template_modes: Vec<Mode>,
    head: u32,
    form: u32,
    frameset_ok: bool,
    quirks_mode: bool,
    /// Whether foster parenting is enabled: nodes that do not belong in a table are inserted before it.
    foster_parenting: bool,
    budget: usize,
    truncated: bool,
    /// How many elements of each name were closed early at [`MAX_DEPTH`]: as many end tags of theirs mean nothing.
    closed_early: Vec<u32>,
}

impl<'a> Builder<'a> {
    pub fn new(source: &'a str) -> Builder<'a> {
        let (source, truncated) = addressable(source);
        let mut tokenizer = Tokenizer::new(source);
        if source.starts_with(BYTE_ORDER_MARK) {
            tokenizer.position = BYTE_ORDER_MARK.len_utf8();
        }
        Builder {
            tokenizer,
            arena: Arena::for_source(source.len()),
            stack: Stack::new(),
            formatting: Formatting::default(),
            mode: Mode::Initial,
            template_modes: Vec::new(),
            head: NONE,
            form: NONE,
            frameset_ok: true,
            quirks_mode: false,
            foster_parenting: false,
            budget: source.len() + FREE_BUDGET,
            truncated,
            closed_early: Vec::new(),
        }
    }

    pub fn build(mut self) -> Tree<'a> {
        let mut next_check = 0;
        loop {
            if self.tokenizer.position >= next_check {
                cancel::check();
                next_check = self.tokenizer.position + CHECK_BYTES;
            }
            let foreign = self.stack.top().is_some_and(Open::is_foreign);
            match self.tokenizer.next(foreign) {
                Token::Text(range) => self.text(range, 0),
                Token::Cdata(range) => self.text(range, flag::RAW),
                Token::Start(token) => self.start_tag(&token),
                Token::End(token) => self.end_tag(&token),
                Token::Comment(range) => self.comment(Kind::Comment, range),
                Token::Instruction(range) => self.comment(Kind::Instruction, range),
                Token::Doctype(range) => self.doctype(range),
                Token::Eof => break,
            }
            if self.arena.nodes.len() >= MAX_NODES {
                self.truncated = true;
                break;
            }
        }
        self.end_of_page();
        Tree {
            source: self.tokenizer.source,
            truncated: self.truncated || self.tokenizer.truncated,
            recovered: self.tokenizer.recovered,
            attributes: self.tokenizer.attributes,
            nodes: self.arena.finish(),
        }
    }

    fn start_tag(&mut self, token: &TagToken) {
        let foreign = self.stack.top().is_some_and(Open::is_foreign);
        if foreign && self.is_foreign_start(token) && self.start_in_foreign(token) == Flow::Done {
            return;
        }
        loop {
            let flow = match self.mode {
                Mode::InBody => {
                    self.start_in_body(token);
                    Flow::Done
                }
                Mode::Initial | Mode::BeforeHtml | Mode::BeforeHead => self.start_before_head(token),
                Mode::InHead => self.start_in_head(token),
                Mode::InHeadNoscript => self.start_in_head_noscript(token),
                Mode::AfterHead => self.start_after_head(token),
                Mode::InTable => self.start_in_table(token),
                Mode::InCaption => self.start_in_caption(token),
                Mode::InColumnGroup => self.start_in_column_group(token),
                Mode::InTableBody => self.start_in_table_body(token),
                Mode::InRow => self.start_in_row(token),
                Mode::InCell => self.start_in_cell(token),
                Mode::InTemplate => self.start_in_template(token),
                Mode::AfterBody | Mode::AfterAfterBody => self.start_after_body(token),
                Mode::InFrameset | Mode::AfterFrameset | Mode::AfterAfterFrameset => self.start_in_frameset(token),
            };
            if flow == Flow::Done {
                return;
            }
        }
    }

    fn end_tag(&mut self, token: &TagToken) {
        if !self.closed_early.is_empty() && self.was_closed_early(token.name) {
            return;
        }
        if self.stack.top().is_some_and(Open::is_foreign) && self.end_in_foreign(token) == Flow::Done {
            return;
        }
        loop {
            let flow = match self.mode {
                Mode::InBody => {
                    self.end_in_body(token);
                    Flow::Done
                }
                Mode::Initial | Mode::BeforeHtml | Mode::BeforeHead => self.end_before_head(token),
                Mode::InHead => self.end_in_head(token),
                Mode::InHeadNoscript => self.end_in_head_noscript(token),
                Mode::AfterHead => self.end_after_head(token),
                Mode::InTable => self.end_in_table(token),
                Mode::InCaption => self.end_in_caption(token),
                Mode::InColumnGroup => self.end_in_column_group(token),
                Mode::InTableBody => self.end_in_table_body(token),
                Mode::InRow => self.end_in_row(token),
                Mode::InCell => self.end_in_cell(token),
                Mode::InTemplate => self.end_in_template(token),
                Mode::AfterBody | Mode::AfterAfterBody => self.end_after_body(token),
                Mode::InFrameset | Mode::AfterFrameset | Mode::AfterAfterFrameset => self.end_in_frameset(token),
            };
            if flow == Flow::Done {
                return;
            }
        }
    }

    // Inserting.

    /// The current node.
    fn top(&self) -> u32 {
        self.stack.top().map_or(0, |open| open.node)
    }

    /// Inserts a node at the appropriate place of the standard.
    #[inline]
    fn insert(&mut self, node: Node) -> u32 {
        if self.foster_parenting && self.stack.top().is_some_and(is_table_part) {
            return self.insert_foster_parented(node);
        }
        let parent = self.top();
        self.arena.push_child(parent, node)
    }

    #[cold]
    fn insert_foster_parented(&mut self, node: Node) -> u32 {
        let index = self.arena.push(node);
        self.foster_parent(index);
        index
    }

    /// Inserts a detached node at its foster parent, before the innermost open table.
    fn foster_parent(&mut self, index: u32) {
        let table = self.stack.find(Tag::Table);
        let template = self.stack.find(Tag::Template);
        match (table, template) {
            (table, Some(template)) if table.is_none_or(|table| template > table) => {
                let parent = self.stack.get(template).map_or(0, |open| open.node);
                self.arena.append(parent, index);
            }
            (Some(table), _) => {
                let node = self.stack.get(table).map_or(0, |open| open.node);
                if self.arena.node(node).parent != NONE {
                    self.arena.insert_before(node, index);
                } else {
                    let above = self.stack.get(table.saturating_sub(1)).map_or(0, |open| open.node);
                    self.arena.append(above, index);
                }
            }
            (None, _) => {
                let root = self.stack.get(0).map_or(0, |open| open.node);
                self.arena.append(root, index);
            }
        }
    }

    /// The node of a start tag, not yet in the tree.
    fn element(&mut self, token: &TagToken) -> Node {
        self.tokenizer.keep_attributes();
        let mut node = Node::new(Kind::Element, token.tag, token.start, token.first_attribute);
        node.n_attributes = token.n_attributes;
        node.flags = if token.may_hide { flag::MAY_HIDE } else { 0 };
        node
    }

    /// Inserts an HTML element that stays open.
    #[inline]
    fn insert_open(&mut self, token: &TagToken) -> u32 {
        self.ensure_depth_limit();
        let mut node = self.element(token);
        node.flags |= flag::OPEN;
        let index = self.insert(node);
        self.stack.push(Open::html(index, token.tag, token.name));
        index
    }

    /// Inserts an HTML element without content.
    fn insert_void(&mut self, token: &TagToken) {
        let node = self.element(token);
        self.insert(node);
    }

    /// Inserts an element that the page leaves out, and opens it.
    fn insert_implied(&mut self, tag: Tag) -> u32 {
        self.ensure_depth_limit();
        let mut node = Node::new(Kind::Element, tag, self.tokenizer.position as u32, 0);
        node.flags = flag::OPEN;
        let index = self.insert(node);
        self.stack.push(Open::html(index, tag, tag as NameId));
        index
    }

    /// Inserts an element whose content is not markup, with that content.
    fn insert_raw(&mut self, token: &TagToken) {
        let node = self.element(token);
        let element = self.insert(node);
        if matches!(token.tag, Tag::Textarea) {
            self.tokenizer.skip_newline();
        }
        let range = self.tokenizer.raw_text(token.tag);
        if !range.is_empty() {
            let mut text = Node::new(Kind::Text, Tag::Unknown, range.start, range.end);
            let references = matches!(token.tag, Tag::Title | Tag::Textarea);
            text.flags = if references { flag::NUL_SHOWN } else { flag::NUL_SHOWN | flag::RAW };
            self.arena.push_child(element, text);
        }
    }

    /// Closes the innermost element where one more would exceed [`MAX_DEPTH`].
    #[inline]
    fn ensure_depth_limit(&mut self) {
        if self.stack.len() >= MAX_DEPTH {
            self.close_early();
        }
    }

    #[cold]
    fn close_early(&mut self) {
        self.truncated = true;
        if let Some(open) = self.pop() {
            let name = open.name as usize;
            if self.closed_early.len() <= name {
                self.closed_early.resize(name + 1, 0);
            }
            self.closed_early[name] = self.closed_early[name].saturating_add(1);
        }
    }

    /// Whether this end tag belongs to an element that was closed early.
    #[cold]
    fn was_closed_early(&mut self, name: NameId) -> bool {
        match self.closed_early.get_mut(name as usize) {
            Some(count) if *count > 0 => {
                *count -= 1;
                true
            }
            _ => false,
        }
    }

    /// Charges the budget for work that the standard does not bound; `false` when it is used up.
    fn charge_budget(&mut self, cost: usize) -> bool {
        if cost > self.budget {
            self.budget = 0;
            self.truncated = true;
            return false;
        }
        self.budget -= cost;
        true
    }

    // Closing.

    #[inline]
    fn pop(&mut self) -> Option<Open> {
        let open = self.stack.pop()?;
        self.arena.node_mut(open.node).flags &= !flag::OPEN;
        Some(open)
    }

    /// Closes elements until only `length` are open.
    fn pop_to(&mut self, length: usize) {
        while self.stack.len() > length.max(1) {
            self.pop();
        }
    }

    /// Closes the innermost element of this name and all in it.
    fn pop_until(&mut self, tag: Tag) {
        if let Some(index) = self.stack.find(tag) {
            self.pop_to(index);
        }
    }

    /// Closes the elements at the top that need no end tag, but not those named `except`.
    fn close_implied(&mut self, except: Tag) {
        self.close_while(|open| open.tag.is(category::IMPLIED) && open.tag != except);
    }

    fn close_while(&mut self, closes: impl Fn(&Open) -> bool) {
        while self.stack.len() > 1 && self.stack.top().is_some_and(|top| !top.is_foreign() && closes(top)) {
            self.pop();
        }
    }

    #[inline]
    fn close_paragraph(&mut self) {
        if self.stack.in_scope(Tag::P, Scope::Button) {
            self.pop_until(Tag::P);
        }
    }

    /// Sets the mode by what is open.
    fn reset_mode(&mut self) {
        const DECIDING: [(Tag, Mode); 13] = [
            (Tag::Td, Mode::InCell),
            (Tag::Th, Mode::InCell),
            (Tag::Tr, Mode::InRow),
            (Tag::Tbody, Mode::InTableBody),
            (Tag::Thead, Mode::InTableBody),
            (Tag::Tfoot, Mode::InTableBody),
            (Tag::Caption, Mode::InCaption),
            (Tag::Colgroup, Mode::InColumnGroup),
            (Tag::Table, Mode::InTable),
            (Tag::Head, Mode::InHead),
            (Tag::Body, Mode::InBody),
            (Tag::Frameset, Mode::InFrameset),
            (Tag::Template, Mode::InTemplate),
        ];
        let highest =
            DECIDING.iter().filter_map(|&(tag, mode)| Some((self.stack.find(tag)?, mode))).max_by_key(|found| found.0);
        self.mode = match highest {
            Some((_, Mode::InTemplate)) => self.template_modes.last().copied().unwrap_or(Mode::InBody),
            Some((_, mode)) => mode,
            None if self.head == NONE => Mode::BeforeHead,
            None => Mode::AfterHead,
        };
    }
}

/// Whether what is inserted here may have to go in front of the table.
fn is_table_part(open: &Open) -> bool {
    open.namespace() == Namespace::Html
        && matches!(open.tag, Tag::Table | Tag::Tbody | Tag::Tfoot | Tag::Thead | Tag::Tr)
}

/// As much of the page as 32-bit numbers can address.
fn addressable(source: &str) -> (&str, bool) {
    let longest = u32::MAX as usize - 1;
    if source.len() <= longest {
        return (source, false);
    }
    let end = (0..=longest).rev().find(|&end| source.is_char_boundary(end)).unwrap_or(0);
    (&source[..end], true)
}
