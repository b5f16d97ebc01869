//! Pages made of frames.

use super::{Builder, Flow, Mode};
use crate::tree::tag::Tag;
use crate::tree::tokenizer::TagToken;

impl Builder<'_> {
    pub(super) fn start_in_frameset(&mut self, token: &TagToken) -> Flow {
        match (token.tag, self.mode) {
            (Tag::Html, _) => self.start_in_body(token),
            (Tag::Noframes, _) => self.insert_raw(token),
            (Tag::Frameset, Mode::InFrameset) => {
                self.insert_open(token);
            }
            (Tag::Frame, Mode::InFrameset) => self.insert_void(token),
            _ => {}
        }
        Flow::Done
    }

    pub(super) fn end_in_frameset(&mut self, token: &TagToken) -> Flow {
        match (token.tag, self.mode) {
            (Tag::Frameset, Mode::InFrameset) if self.stack.len() > 1 => {
                self.pop();
                if !self.stack.top_is(Tag::Frameset) {
                    self.mode = Mode::AfterFrameset;
                }
            }
            (Tag::Html, Mode::AfterFrameset) => self.mode = Mode::AfterAfterFrameset,
            _ => {}
        }
        Flow::Done
    }

    /// A frameset that begins where a body was assumed takes its place.
    pub(super) fn replace_body_by_frameset(&mut self, token: &TagToken) {
        let Some(body) = self.stack.get(1).filter(|open| open.is_html(Tag::Body)).map(|open| open.node) else {
            return;
        };
        if !self.frameset_ok {
            return;
        }
        self.arena.detach(body);
        self.pop_to(1);
        self.insert_open(token);
        self.mode = Mode::InFrameset;
    }
}
