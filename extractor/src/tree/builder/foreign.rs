//! Drawings and formulas: svg and math inside HTML.

use super::{Builder, Flow, Namespace, Open, Scope};
use crate::tree::arena::flag;
use crate::tree::tag::{Tag, category};
use crate::tree::tokenizer::TagToken;

impl Builder<'_> {
    /// Whether a start tag under a foreign element follows the foreign rules.
    pub(super) fn is_foreign_start(&self, token: &TagToken) -> bool {
        let Some(top) = self.stack.top() else { return false };
        if top.has_html_inside() {
            return false;
        }
        if top.is_math_text() {
            return matches!(token.tag, Tag::Mglyph | Tag::Malignmark);
        }
        let annotated = top.namespace() == Namespace::MathMl && top.tag == Tag::AnnotationXml;
        !(annotated && token.tag == Tag::Svg)
    }

    pub(super) fn start_in_foreign(&mut self, token: &TagToken) -> Flow {
        let styled =
            token.tag == Tag::Font && ["color", "face", "size"].iter().any(|name| self.token_names(token, name));
        if token.tag.is(category::BREAKOUT) || styled {
            self.leave_foreign();
            return Flow::Reprocess;
        }
        let namespace = self.stack.top().map_or(Namespace::Html, Open::namespace);
        self.insert_foreign(token, namespace);
        Flow::Done
    }

    /// Closes foreign elements up to one that may hold HTML.
    fn leave_foreign(&mut self) {
        while let Some(top) = self.stack.top() {
            if !top.is_foreign() || top.is_math_text() || top.has_html_inside() {
                return;
            }
            self.pop();
        }
    }

    pub(super) fn end_in_foreign(&mut self, token: &TagToken) -> Flow {
        if matches!(token.tag, Tag::Br | Tag::P) {
            self.leave_foreign();
            return Flow::Reprocess;
        }
        match self.stack.find_foreign(token.name) {
            Some(index) if index > self.stack.barrier(Scope::Html) => {
                self.pop_to(index);
                Flow::Done
            }
            _ => Flow::Reprocess,
        }
    }

    /// Inserts an element of svg or math.
    pub(super) fn insert_foreign(&mut self, token: &TagToken, namespace: Namespace) {
        if !token.self_closing {
            self.ensure_depth_limit();
        }
        let mut node = self.element(token);
        node.flags |= if namespace == Namespace::Svg { flag::SVG } else { flag::MATHML };
        if !token.self_closing {
            node.flags |= flag::OPEN;
        }
        let index = self.insert(node);
        if token.self_closing {
            return;
        }
        let html_inside = namespace == Namespace::MathMl
            && token.tag == Tag::AnnotationXml
            && self.token_has(token, "encoding", &["text/html", "application/xhtml+xml"]);
        self.stack.push(Open::foreign(index, token, namespace, html_inside));
    }

    fn token_names(&self, token: &TagToken, name: &str) -> bool {
        let source = self.tokenizer.source;
        let spans = &self.tokenizer.attributes[token.first_attribute as usize..][..token.n_attributes as usize];
        spans.iter().any(|span| source[span.name_start as usize..span.name_end as usize].eq_ignore_ascii_case(name))
    }
}
