//! Before, in and after the head; after the body; templates; the end of the page.

use super::{Builder, Flow, Mode, Scope};
use crate::tree::arena::{NONE, Span, flag};
use crate::tree::tag::{Tag, category};
use crate::tree::tokenizer::{MAX_ATTRIBUTES_PER_TAG, TagToken};

impl Builder<'_> {
    pub(super) fn open_html(&mut self) {
        self.insert_implied(Tag::Html);
        self.mode = Mode::BeforeHead;
    }

    pub(super) fn open_head(&mut self) {
        self.head = self.insert_implied(Tag::Head);
        self.mode = Mode::InHead;
    }

    pub(super) fn open_body(&mut self) {
        self.insert_implied(Tag::Body);
        self.mode = Mode::InBody;
    }

    pub(super) fn start_before_head(&mut self, token: &TagToken) -> Flow {
        match (self.mode, token.tag) {
            (Mode::Initial, _) => {
                self.quirks_mode = true;
                self.mode = Mode::BeforeHtml;
            }
            (Mode::BeforeHtml, Tag::Html) => {
                self.insert_open(token);
                self.mode = Mode::BeforeHead;
                return Flow::Done;
            }
            (Mode::BeforeHtml, _) => self.open_html(),
            (_, Tag::Html) => {
                self.add_attributes(0, token);
                return Flow::Done;
            }
            (_, Tag::Head) => {
                self.head = self.insert_open(token);
                self.mode = Mode::InHead;
                return Flow::Done;
            }
            _ => self.open_head(),
        }
        Flow::Reprocess
    }

    pub(super) fn end_before_head(&mut self, token: &TagToken) -> Flow {
        if self.mode == Mode::Initial {
            self.quirks_mode = true;
            self.mode = Mode::BeforeHtml;
            return Flow::Reprocess;
        }
        if !matches!(token.tag, Tag::Head | Tag::Body | Tag::Html | Tag::Br) {
            return Flow::Done;
        }
        if self.mode == Mode::BeforeHtml {
            self.open_html();
        } else {
            self.open_head();
        }
        Flow::Reprocess
    }

    pub(super) fn start_in_head(&mut self, token: &TagToken) -> Flow {
        match token.tag {
            Tag::Html => self.start_in_body(token),
            Tag::Head => {}
            Tag::Noscript => {
                self.insert_open(token);
                self.mode = Mode::InHeadNoscript;
            }
            tag if belongs_in_head(tag) => self.insert_into_head(token),
            _ => {
                self.pop();
                self.mode = Mode::AfterHead;
                return Flow::Reprocess;
            }
        }
        Flow::Done
    }

    /// Inserts an element of the head, in whatever mode.
    pub(super) fn insert_into_head(&mut self, token: &TagToken) {
        match token.tag {
            Tag::Template => {
                self.insert_open(token);
                self.formatting.push_marker();
                self.frameset_ok = false;
                self.mode = Mode::InTemplate;
                self.template_modes.push(Mode::InTemplate);
            }
            tag if tag.is(category::VOID) => self.insert_void(token),
            _ => self.insert_raw(token),
        }
    }

    pub(super) fn end_in_head(&mut self, token: &TagToken) -> Flow {
        match token.tag {
            Tag::Head => {
                self.pop();
                self.mode = Mode::AfterHead;
                Flow::Done
            }
            Tag::Body | Tag::Html | Tag::Br => {
                self.pop();
                self.mode = Mode::AfterHead;
                Flow::Reprocess
            }
            Tag::Template => {
                self.end_template();
                Flow::Done
            }
            _ => Flow::Done,
        }
    }

    pub(super) fn end_template(&mut self) {
        if self.stack.find(Tag::Template).is_none() {
            return;
        }
        self.close_while(|open| open.tag.is(category::IMPLIED | category::IMPLIED_THOROUGHLY));
        self.pop_until(Tag::Template);
        self.formatting.clear_to_marker();
        self.template_modes.pop();
        self.reset_mode();
    }

    pub(super) fn start_in_head_noscript(&mut self, token: &TagToken) -> Flow {
        match token.tag {
            Tag::Html => self.start_in_body(token),
            Tag::Basefont | Tag::Bgsound | Tag::Link | Tag::Meta | Tag::Noframes | Tag::Style => {
                self.insert_into_head(token);
            }
            Tag::Head | Tag::Noscript => {}
            _ => {
                self.pop();
                self.mode = Mode::InHead;
                return Flow::Reprocess;
            }
        }
        Flow::Done
    }

    pub(super) fn end_in_head_noscript(&mut self, token: &TagToken) -> Flow {
        match token.tag {
            Tag::Noscript => {
                self.pop();
                self.mode = Mode::InHead;
                Flow::Done
            }
            Tag::Br => {
                self.pop();
                self.mode = Mode::InHead;
                Flow::Reprocess
            }
            _ => Flow::Done,
        }
    }

    pub(super) fn start_after_head(&mut self, token: &TagToken) -> Flow {
        match token.tag {
            Tag::Html => self.start_in_body(token),
            Tag::Body => {
                self.insert_open(token);
                self.frameset_ok = false;
                self.mode = Mode::InBody;
            }
            Tag::Frameset => {
                self.insert_open(token);
                self.mode = Mode::InFrameset;
            }
            Tag::Head => {}
            tag if belongs_in_head(tag) => self.insert_late_into_head(token),
            _ => {
                self.open_body();
                return Flow::Reprocess;
            }
        }
        Flow::Done
    }

    /// A late element of the head goes where the head was.
    fn insert_late_into_head(&mut self, token: &TagToken) {
        let head = self.head;
        let html = self.stack.get(0).map_or(0, |open| open.node);
        let index = self.stack.len();
        self.stack.push(super::Open::html(if head == NONE { html } else { head }, Tag::Head, Tag::Head as u16));
        self.insert_into_head(token);
        let mut above = self.stack.take_from(index);
        above.remove(0);
        self.stack.put_back(above);
    }

    pub(super) fn end_after_head(&mut self, token: &TagToken) -> Flow {
        match token.tag {
            Tag::Template => {
                self.end_template();
                Flow::Done
            }
            Tag::Body | Tag::Html | Tag::Br => {
                self.open_body();
                Flow::Reprocess
            }
            _ => Flow::Done,
        }
    }

    pub(super) fn start_in_template(&mut self, token: &TagToken) -> Flow {
        let mode = match token.tag {
            tag if belongs_in_head(tag) => {
                self.insert_into_head(token);
                return Flow::Done;
            }
            Tag::Caption | Tag::Colgroup | Tag::Tbody | Tag::Tfoot | Tag::Thead => Mode::InTable,
            Tag::Col => Mode::InColumnGroup,
            Tag::Tr => Mode::InTableBody,
            Tag::Td | Tag::Th => Mode::InRow,
            _ => Mode::InBody,
        };
        self.template_modes.pop();
        self.template_modes.push(mode);
        self.mode = mode;
        Flow::Reprocess
    }

    pub(super) fn end_in_template(&mut self, token: &TagToken) -> Flow {
        if token.tag == Tag::Template {
            self.end_template();
        }
        Flow::Done
    }

    pub(super) fn start_after_body(&mut self, token: &TagToken) -> Flow {
        if token.tag == Tag::Html {
            self.start_in_body(token);
            return Flow::Done;
        }
        self.mode = Mode::InBody;
        Flow::Reprocess
    }

    pub(super) fn end_after_body(&mut self, token: &TagToken) -> Flow {
        if self.mode == Mode::AfterBody && token.tag == Tag::Html {
            self.mode = Mode::AfterAfterBody;
            return Flow::Done;
        }
        self.mode = Mode::InBody;
        Flow::Reprocess
    }

    /// Gives the element at `index` of the stack those attributes of the tag that it does not have.
    pub(super) fn add_attributes(&mut self, index: usize, token: &TagToken) {
        let Some(element) = self.stack.get(index).map(|open| open.node) else { return };
        let node = self.arena.node(element);
        let (first, n_old) = (node.end as usize, node.n_attributes as usize);
        let n_new = token.n_attributes as usize;
        let source = self.tokenizer.source;
        let name = |span: &Span| &source[span.name_start as usize..span.name_end as usize];
        let mut together: Vec<Span> = self.tokenizer.attributes[first..first + n_old].to_vec();
        for span in &self.tokenizer.attributes[token.first_attribute as usize..][..n_new] {
            if !together.iter().any(|old| name(old).eq_ignore_ascii_case(name(span))) {
                together.push(*span);
            }
        }
        if together.len() == n_old || together.len() > MAX_ATTRIBUTES_PER_TAG {
            return;
        }
        let attributes = &mut self.tokenizer.attributes;
        attributes.truncate(token.first_attribute as usize);
        let first = attributes.len() as u32;
        attributes.extend_from_slice(&together);
        self.tokenizer.keep_attributes();
        let node = self.arena.node_mut(element);
        node.end = first;
        node.n_attributes = together.len() as u8;
        node.flags |= if token.may_hide { flag::MAY_HIDE } else { 0 };
    }

    /// Opens what every page has, also an empty one.
    pub(super) fn end_of_page(&mut self) {
        while self.stack.find(Tag::Template).is_some() {
            self.end_template();
        }
        loop {
            match self.mode {
                Mode::Initial => self.mode = Mode::BeforeHtml,
                Mode::BeforeHtml => self.open_html(),
                Mode::BeforeHead => self.open_head(),
                Mode::InHeadNoscript => {
                    self.pop();
                    self.mode = Mode::InHead;
                }
                Mode::InHead => {
                    self.pop();
                    self.mode = Mode::AfterHead;
                }
                Mode::AfterHead => self.open_body(),
                _ => return,
            }
        }
    }

    /// Whether the attribute of this tag has this value, in any case of letters.
    pub(super) fn token_has(&self, token: &TagToken, name: &str, values: &[&str]) -> bool {
        let source = self.tokenizer.source;
        let spans = &self.tokenizer.attributes[token.first_attribute as usize..][..token.n_attributes as usize];
        let found = spans
            .iter()
            .find(|span| source[span.name_start as usize..span.name_end as usize].eq_ignore_ascii_case(name));
        found.is_some_and(|span| {
            let value = &source[span.value_start as usize..span.value_end as usize];
            values.iter().any(|known| value.eq_ignore_ascii_case(known))
        })
    }

    /// Whether a `select` is open here.
    pub(super) fn in_select(&self) -> bool {
        self.stack.in_scope(Tag::Select, Scope::Default)
    }
}

fn belongs_in_head(tag: Tag) -> bool {
    matches!(
        tag,
        Tag::Base
            | Tag::Basefont
            | Tag::Bgsound
            | Tag::Link
            | Tag::Meta
            | Tag::Noframes
            | Tag::Script
            | Tag::Style
            | Tag::Template
            | Tag::Title
    )
}

impl super::Tokenizer<'_> {
    /// Leaves out a line end that directly follows a start tag.
    pub(super) fn skip_newline(&mut self) {
        let rest = &self.source[self.position..];
        let length = match rest.as_bytes() {
            [b'\r', b'\n', ..] => 2,
            [b'\n' | b'\r', ..] => 1,
            [b'&', ..] => newline_reference(rest),
            _ => 0,
        };
        self.position += length;
    }
}

fn newline_reference(rest: &str) -> usize {
    match pith_notation::reference(rest.as_bytes(), pith_notation::Context::Text) {
        Some((found, length)) if found.first() == '\n' => length,
        _ => 0,
    }
}
