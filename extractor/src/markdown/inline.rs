//! The markup within a run of text: links, emphasis, code, images, line breaks.

use std::ops::Range;

use super::Writer;
use super::code;
use super::escape::{Context, push_escaped};
use super::spans::{self, Content, EMPHASIS, Gap, STRIKE, STRONG, Span, Style, settle};
use crate::tree::{NodeId, Tag};

/// So many elements around a text are asked for its style; further ones are not looked at.
const MAX_INLINE_ANCESTORS: usize = 24;

/// Where a run of text is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Position {
    /// In lines of its own.
    Line,
    /// In one line, where line breaks become spaces.
    Heading,
    /// In a cell, where line breaks become `<br>`.
    Cell,
}

impl<'a> Writer<'_, 'a> {
    /// The spans of some blocks that are one run of text.
    pub(super) fn spans(&mut self, blocks: Range<usize>, position: Position) -> Vec<Span> {
        let mut spans = Vec::new();
        self.targets.begin_run();
        let first = self.first_node(blocks.start);
        if let Some(first) = first {
            self.push_images_before(first, &mut spans);
        }
        let line_break = if position == Position::Heading { Gap::Space } else { Gap::LineBreak };
        let mut style = (None, Style::default());
        for block in blocks.clone().filter(|block| self.kept[*block]) {
            let mut gap = match spans.is_empty() || block == blocks.start {
                true if spans.is_empty() => Gap::Nothing,
                true => Gap::Space,
                false => line_break,
            };
            for (node, mut range) in self.pieces(block) {
                if let Some(node) = node {
                    if self.push_images_within(node, &mut gap, &mut spans) {
                        // The space before the image was waiting for this text.
                        let text = &self.page.text[range.clone()];
                        range.start = range.end - text.trim_start().len();
                    }
                    let parent = self.page.tree.parent(node);
                    if style.0 != parent || parent.is_none() {
                        style = (parent, self.style(node));
                    }
                }
                self.push_text(range, style.1, &mut gap, &mut spans);
            }
        }
        if let Some(last) = self.last_node(blocks.end - 1) {
            self.push_images_after(last, blocks.end, &mut spans);
        }
        settle(&self.page.text, spans)
    }

    fn push_text(&self, range: Range<usize>, style: Style, gap: &mut Gap, spans: &mut Vec<Span>) {
        let text = &self.page.text[range.clone()];
        let core = text.trim_start();
        let start = range.end - core.len();
        let core = core.trim_end();
        if start > range.start {
            *gap = (*gap).max(Gap::Space);
        }
        if core.is_empty() {
            return;
        }
        let gap_before = std::mem::replace(gap, Gap::Nothing);
        let gap_before = if spans.is_empty() { Gap::Nothing } else { gap_before };
        let content = Content::text(start..start + core.len());
        spans::push(&self.page.text, spans, Span { gap: gap_before, style, content });
        if start + core.len() < range.end {
            *gap = Gap::Space;
        }
    }

    /// The style that the elements around a node give it.
    pub(super) fn style(&mut self, node: NodeId) -> Style {
        let mut style = Style::default();
        let tree = &self.page.tree;
        for around in tree.ancestors(node).take(MAX_INLINE_ANCESTORS) {
            match tree.tag(around) {
                Tag::A => style.link = style.link.or(Some(around)),
                Tag::B | Tag::Strong => style.marks |= STRONG,
                Tag::Em | Tag::I | Tag::Var | Tag::Cite | Tag::Dfn => style.marks |= EMPHASIS,
                Tag::S | Tag::Strike | Tag::Del => style.marks |= STRIKE,
                Tag::Code | Tag::Kbd | Tag::Samp | Tag::Tt => {
                    // What is emphasised within code, as the names of its arguments, does not end it.
                    style.code = Some(around);
                    style.marks = 0;
                }
                Tag::Body | Tag::Table | Tag::Td | Tag::Th | Tag::Li | Tag::Dd | Tag::Dt | Tag::Blockquote => break,
                _ => {}
            }
        }
        // Code is not emphasised further, and a link is written around the first run of text in it only.
        style.link = style.link.filter(|link| self.may_link(*link));
        style
    }

    /// Writes spans; nothing may have been written on the line but markers.
    pub(super) fn push_spans(&mut self, spans: &[Span], position: Position, out: &mut String) {
        let mut open = Style::default();
        let mut line_start = out.len();
        for (index, span) in spans.iter().enumerate() {
            self.close(&mut open, span.style, out);
            match (span.gap, position) {
                (Gap::Nothing, _) => {}
                (Gap::LineBreak, Position::Line) => {
                    out.push_str("  ");
                    self.frames.next_line(out);
                    line_start = out.len();
                }
                (Gap::LineBreak, Position::Cell) => out.push_str("<br>"),
                _ => out.push(' '),
            }
            let is_plain = open == span.style;
            self.open(&mut open, span.style, out);
            let Some(range) = span.content.range() else {
                self.push_image(span.content, position, out);
                continue;
            };
            let text = &self.page.text[range];
            if span.style.is_code() {
                self.push_code(text, position, out);
                continue;
            }
            let context = Context {
                line_start: position == Position::Line && out.len() == line_start,
                in_link: span.style.link.is_some(),
                in_table: position == Position::Cell,
                before: character_before(index, span, position).filter(|_| is_plain),
                after: character_after(span, spans.get(index + 1), position),
            };
            push_escaped(text, context, out);
        }
        self.close(&mut open, Style::default(), out);
    }

    pub(super) fn push_code(&self, text: &str, position: Position, out: &mut String) {
        if position == Position::Cell && text.contains("\\|") {
            // No code span in a table can hold this.
            let context = Context { line_start: false, in_link: true, in_table: true, before: None, after: None };
            return push_escaped(text, context, out);
        }
        code::push_inline(text, position == Position::Cell, out);
    }

    /// Ends what the next span is not in.
    fn close(&self, open: &mut Style, next: Style, out: &mut String) {
        let closing = if open.link == next.link { open.marks & !next.marks } else { open.marks };
        let from = if closing == 0 { u8::BITS } else { closing.trailing_zeros() };
        for (mark, sign) in SIGNS.iter().rev() {
            if open.marks & mark != 0 && mark.trailing_zeros() >= from {
                out.push_str(sign);
                open.marks &= !mark;
            }
        }
        if let Some(link) = open.link.filter(|_| open.link != next.link) {
            out.push_str("](");
            out.push_str(self.targets.of_link(link));
            out.push(')');
            open.link = None;
        }
    }

    fn open(&self, open: &mut Style, next: Style, out: &mut String) {
        if open.link != next.link {
            out.push('[');
        }
        for (mark, sign) in SIGNS {
            if next.marks & mark != 0 && open.marks & mark == 0 {
                out.push_str(sign);
            }
        }
        *open = Style { code: None, ..next };
    }
}

/// The character before the text of a span, where it is not markup. In a cell it may be the end of `<br>`.
fn character_before(index: usize, span: &Span, position: Position) -> Option<char> {
    let line = if position == Position::Cell { '>' } else { ' ' };
    match span.gap {
        Gap::Space => Some(' '),
        Gap::LineBreak => Some(line),
        Gap::Nothing => (index == 0).then_some(line),
    }
}

/// The character after the text of a span, where it is not markup. In a cell it may be the start of `<br>`.
fn character_after(span: &Span, next: Option<&Span>, position: Position) -> Option<char> {
    let line = if position == Position::Cell { '<' } else { ' ' };
    let next_style = next.map_or(Style::default(), |next| next.style);
    match next.map_or(Gap::LineBreak, |next| next.gap) {
        _ if next_style != span.style => None,
        Gap::Nothing => None,
        Gap::Space => Some(' '),
        Gap::LineBreak => Some(line),
    }
}

const SIGNS: [(u8, &str); 3] = [(STRONG, "**"), (EMPHASIS, "*"), (STRIKE, "~~")];
