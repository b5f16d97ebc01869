//! Text, comments and doctypes in every mode.

use pith_notation::{Context, reference};

use super::{Builder, Flow, Mode, Open};
use crate::tree::arena::{Kind, Node, flag};
use crate::tree::doctype::Doctype;
use crate::tree::tag::Tag;
use crate::tree::tokenizer::{Range, is_space};

impl Builder<'_> {
    /// Inserts text; `flags` tells how it is decoded.
    pub(super) fn text(&mut self, range: Range, flags: u8) {
        let mut rest = range;
        if let Some(top) = self.stack.top()
            && top.is_foreign()
            && !top.is_math_text()
            && !top.has_html_inside()
        {
            self.insert_text(rest, flags | flag::NUL_SHOWN);
            self.frameset_ok &= self.is_blank(rest);
            return;
        }
        while !rest.is_empty() {
            let flow = match self.mode {
                Mode::InBody | Mode::InCell | Mode::InCaption | Mode::InTemplate => {
                    self.text_in_body(rest, flags);
                    Flow::Done
                }
                Mode::InTable | Mode::InTableBody | Mode::InRow => {
                    self.text_in_table(rest, flags);
                    Flow::Done
                }
                _ => {
                    let space;
                    (space, rest) = self.split_space(rest);
                    self.text_outside_body(space, rest)
                }
            };
            if flow == Flow::Done {
                return;
            }
        }
    }

    #[inline]
    fn text_in_body(&mut self, range: Range, flags: u8) {
        let source = range.bytes_of(self.tokenizer.source);
        if source.first() == Some(&0) && source.iter().all(|&byte| byte == 0) {
            return;
        }
        self.reconstruct_formatting();
        self.insert_text(range, flags);
        if self.frameset_ok {
            self.frameset_ok = self.is_blank(range);
        }
    }

    fn text_in_table(&mut self, range: Range, flags: u8) {
        let belongs = self.stack.top().is_some_and(|top| super::is_table_part(top) || top.is_html(Tag::Template));
        if belongs && self.is_space(range) {
            self.insert_text(range, flags);
            return;
        }
        self.foster_parenting = true;
        self.text_in_body(range, flags);
        self.foster_parenting = false;
    }

    /// Text whose leading white space was split off, in a mode where the two are treated apart.
    fn text_outside_body(&mut self, space: Range, rest: Range) -> Flow {
        match self.mode {
            Mode::Initial => {
                if !rest.is_empty() {
                    self.quirks_mode = true;
                    self.mode = Mode::BeforeHtml;
                }
            }
            Mode::BeforeHtml => {
                if !rest.is_empty() {
                    self.open_html();
                }
            }
            Mode::BeforeHead => {
                if !rest.is_empty() {
                    self.open_head();
                }
            }
            Mode::InHead | Mode::InHeadNoscript => {
                self.insert_text(space, 0);
                if !rest.is_empty() {
                    self.pop();
                    self.mode = if self.mode == Mode::InHead { Mode::AfterHead } else { Mode::InHead };
                }
            }
            Mode::AfterHead => {
                self.insert_text(space, 0);
                if !rest.is_empty() {
                    self.open_body();
                }
            }
            Mode::InColumnGroup => {
                self.insert_text(space, 0);
                if !rest.is_empty() {
                    if !self.stack.top_is(Tag::Colgroup) {
                        return Flow::Done;
                    }
                    self.pop();
                    self.mode = Mode::InTable;
                }
            }
            Mode::AfterBody | Mode::AfterAfterBody => {
                if !space.is_empty() {
                    self.text_in_body(space, 0);
                }
                if !rest.is_empty() {
                    self.mode = Mode::InBody;
                }
            }
            _ => {
                self.text_in_frameset(space, rest);
                return Flow::Done;
            }
        }
        if rest.is_empty() { Flow::Done } else { Flow::Reprocess }
    }

    /// A page of frames keeps only the white space between them.
    fn text_in_frameset(&mut self, mut space: Range, mut rest: Range) {
        loop {
            self.insert_text(space, 0);
            let source = rest.of(self.tokenizer.source).as_bytes();
            let Some(next) = source.iter().position(|&byte| is_space(byte)) else { return };
            (space, rest) = self.split_space(Range { start: rest.start + next as u32, end: rest.end });
        }
    }

    fn insert_text(&mut self, range: Range, flags: u8) {
        if range.is_empty() {
            return;
        }
        let mut node = Node::new(Kind::Text, Tag::Unknown, range.start, range.end);
        node.flags = flags;
        self.insert(node);
    }

    fn is_space(&self, range: Range) -> bool {
        self.split_space(range).1.is_empty()
    }

    /// Whether there is nothing but white space and NUL.
    fn is_blank(&self, range: Range) -> bool {
        let mut rest = self.split_space(range).1;
        while range.of(self.tokenizer.source).as_bytes()[(rest.start - range.start) as usize..].first() == Some(&0) {
            rest = self.split_space(Range { start: rest.start + 1, end: rest.end }).1;
        }
        rest.is_empty()
    }

    /// The leading white space, also when written as `&#32;`, and the rest.
    fn split_space(&self, range: Range) -> (Range, Range) {
        let bytes = range.bytes_of(self.tokenizer.source);
        let mut length = 0;
        while let Some(&byte) = bytes.get(length) {
            if is_space(byte) {
                length += 1;
                continue;
            }
            if byte != b'&' {
                break;
            }
            match reference(&range.of(self.tokenizer.source).as_bytes()[length..], Context::Text) {
                Some((found, n_bytes)) if u8::try_from(found.first()).is_ok_and(is_space) => length += n_bytes,
                _ => break,
            }
        }
        let middle = range.start + length as u32;
        (Range { start: range.start, end: middle }, Range { start: middle, end: range.end })
    }

    /// Inserts a comment or an instruction.
    pub(super) fn comment(&mut self, kind: Kind, range: Range) {
        let node = Node::new(kind, Tag::Unknown, range.start, range.end);
        match self.mode {
            _ if self.stack.top().is_some_and(Open::is_foreign) => {
                self.insert(node);
            }
            Mode::Initial | Mode::BeforeHtml | Mode::AfterAfterBody | Mode::AfterAfterFrameset => {
                self.arena.push_child(0, node);
            }
            Mode::AfterBody => {
                let html = self.stack.get(0).map_or(0, |open| open.node);
                self.arena.push_child(html, node);
            }
            _ => {
                self.insert(node);
            }
        }
    }

    pub(super) fn doctype(&mut self, range: Range) {
        if self.mode != Mode::Initial {
            return;
        }
        self.quirks_mode = Doctype::read(self.tokenizer.source, range).is_quirks_mode();
        self.arena.push_child(0, Node::new(Kind::Doctype, Tag::Unknown, range.start, range.end));
        self.mode = Mode::BeforeHtml;
    }
}
