//! A run of text as spans of one style each, such that every style can be written as Markdown.

use std::ops::Range;

use crate::tree::NodeId;

/// Bits of [`Style::marks`], outermost first.
pub(super) const STRONG: u8 = 1;
pub(super) const EMPHASIS: u8 = 1 << 1;
pub(super) const STRIKE: u8 = 1 << 2;

/// What stands before a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Gap {
    Nothing,
    Space,
    LineBreak,
}

/// How a span is marked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Style {
    /// The `<a>` around it.
    pub link: Option<NodeId>,
    pub marks: u8,
    /// The outermost element around it that says it is code.
    pub code: Option<NodeId>,
}

impl Style {
    pub(super) fn is_code(&self) -> bool {
        self.code.is_some()
    }

    /// Whether a span of this style goes on in one of another. Two pieces of code that touch are one in Markdown, which
    /// would read the signs between them as a part of it; with a space between them they are two.
    fn goes_on_in(&self, next: &Style, gap: Gap) -> bool {
        let is_touching_code = gap == Gap::Nothing && self.is_code() && next.is_code();
        *self == if is_touching_code { Style { code: self.code, ..*next } } else { *next }
    }
}

/// What a span holds.
#[derive(Clone, Copy, Debug)]
pub(super) enum Content {
    /// `page.text[start..end]`, which neither begins nor ends with white space.
    Text {
        start: u32,
        end: u32,
    },
    Image(NodeId),
}

impl Content {
    /// A part of the page's text, which is never longer than the page.
    pub(super) fn text(range: Range<usize>) -> Content {
        Content::Text { start: range.start as u32, end: range.end as u32 }
    }

    /// The part of the page's text that it is; nothing for an image.
    pub(super) fn range(&self) -> Option<Range<usize>> {
        match self {
            Content::Text { start, end } => Some(*start as usize..*end as usize),
            Content::Image(_) => None,
        }
    }
}

/// A part of a run of text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub gap: Gap,
    pub style: Style,
    pub content: Content,
}

/// Adds a span behind others, or makes the last one longer where both are one text of one style: a page may have a text
/// node for every letter.
pub(super) fn push(text: &str, spans: &mut Vec<Span>, span: Span) {
    if !spans.last_mut().is_some_and(|last| join(text, last, &span)) {
        spans.push(span);
    }
}

/// Adds the next span to a span where both are one text of one style; whether it did.
fn join(text: &str, last: &mut Span, next: &Span) -> bool {
    let (Content::Text { end, .. }, Content::Text { start, end: new_end }) = (&mut last.content, next.content) else {
        return false;
    };
    let follows = match next.gap {
        Gap::Nothing => *end == start,
        Gap::Space => text.get(*end as usize..start as usize) == Some(" "),
        Gap::LineBreak => false,
    };
    if follows && last.style.goes_on_in(&next.style, next.gap) {
        *end = new_end;
        return true;
    }
    false
}

/// Takes marks away where Markdown would not read them: it knows no mark that ends after punctuation and before a letter,
/// and none that ends where another one begins. Neighbours of one style must have been joined, and are.
pub(super) fn settle(text: &str, spans: Vec<Span>) -> Vec<Span> {
    if spans.iter().all(|span| span.style.marks == 0) {
        return spans;
    }
    let mut pending = spans;
    pending.reverse();
    let mut done: Vec<Span> = Vec::new();
    while let Some(mut next) = pending.pop() {
        let Some(last) = done.last_mut().filter(|last| next.gap == Gap::Nothing && last.style.link == next.style.link)
        else {
            done.push(next);
            continue;
        };
        next.style.marks = nested(last.style.marks, next.style.marks);
        let both = last.style.marks & next.style.marks;
        let may_touch = |inner: Edge, outer: Edge| inner == Edge::Word || outer == Edge::Punctuation;
        let closes = last.style.marks != both;
        let opens = next.style.marks != both;
        if closes && !may_touch(last_edge(text, last), first_edge(text, &next)) {
            let (kept, moved) = split_end(text, *last, both);
            done.pop();
            // Fewer marks than before are looked at again, so that this ends.
            pending.extend([next, moved]);
            pending.extend(kept);
        } else if opens && !may_touch(first_edge(text, &next), last_edge(text, last)) {
            let (moved, kept) = split_start(text, next, both);
            done.push(moved);
            done.extend(kept);
        } else {
            done.push(next);
        }
    }
    done.dedup_by(|next, last| join(text, last, next));
    done
}

/// The marks that may follow other marks directly: only the innermost end, or further ones begin inside.
fn nested(before: u8, after: u8) -> u8 {
    let closing = before & !after;
    if closing != 0 {
        let outside = (1 << closing.trailing_zeros()) - 1;
        return before & after & outside;
    }
    let opening = after & !before;
    let innermost = (u8::BITS - before.leading_zeros()) as u8;
    before | (opening & !((1u8 << innermost).wrapping_sub(1)))
}

/// What a mark would touch.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Edge {
    Word,
    Punctuation,
    /// Something else: Markdown's readers do not agree.
    Other,
}

fn edge(character: Option<char>) -> Edge {
    match character {
        Some(character) if character.is_alphanumeric() => Edge::Word,
        Some(character) if character.is_ascii_punctuation() => Edge::Punctuation,
        Some('\u{2010}'..='\u{2027}' | '\u{3001}'..='\u{3003}' | '\u{3008}'..='\u{3011}') => Edge::Punctuation,
        Some('！' | '，' | '：' | '；' | '？') => Edge::Punctuation,
        _ => Edge::Other,
    }
}

fn first_edge(text: &str, span: &Span) -> Edge {
    match span.content {
        Content::Text { start, end } if !span.style.is_code() => {
            edge(text[start as usize..end as usize].chars().next())
        }
        _ => Edge::Punctuation,
    }
}

fn last_edge(text: &str, span: &Span) -> Edge {
    match span.content {
        Content::Text { start, end } if !span.style.is_code() => {
            edge(text[start as usize..end as usize].chars().next_back())
        }
        _ => Edge::Punctuation,
    }
}

/// A span up to its last word, and the rest with fewer marks.
fn split_end(text: &str, span: Span, marks: u8) -> (Option<Span>, Span) {
    let Some(Range { start, end }) = span.content.range() else { return (None, with_marks(span, marks)) };
    let kept = text[start..end].trim_end_matches(|character: char| !character.is_alphanumeric()).len();
    if span.style.is_code() || kept == 0 {
        return (None, with_marks(span, marks));
    }
    let (head, tail) = (&text[start..start + kept], &text[start + kept..end]);
    let gap = if tail.starts_with(char::is_whitespace) { Gap::Space } else { Gap::Nothing };
    let tail_start = end - tail.trim_start().len();
    let tail = Span { gap, content: Content::text(tail_start..end), ..with_marks(span, marks) };
    (Some(Span { content: Content::text(start..start + head.len()), ..span }), tail)
}

/// The beginning of a span before its first word, with fewer marks, and the rest.
fn split_start(text: &str, span: Span, marks: u8) -> (Span, Option<Span>) {
    let Some(Range { start, end }) = span.content.range() else { return (with_marks(span, marks), None) };
    let kept = text[start..end].trim_start_matches(|character: char| !character.is_alphanumeric()).len();
    if span.style.is_code() || kept == 0 {
        return (with_marks(span, marks), None);
    }
    let (head, tail) = (&text[start..end - kept], end - kept);
    let gap = if head.ends_with(char::is_whitespace) { Gap::Space } else { Gap::Nothing };
    let head_end = start + head.trim_end().len();
    let head = Span { content: Content::text(start..head_end), ..with_marks(span, marks) };
    (head, Some(Span { gap, content: Content::text(tail..end), ..span }))
}

fn with_marks(mut span: Span, marks: u8) -> Span {
    span.style.marks = marks;
    span
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_that_follow_directly_are_nested() {
        assert_eq!(nested(STRONG | EMPHASIS, STRONG), STRONG);
        assert_eq!(nested(STRONG | EMPHASIS, EMPHASIS), 0);
        assert_eq!(nested(EMPHASIS, STRONG), 0);
        assert_eq!(nested(EMPHASIS, STRONG | EMPHASIS), EMPHASIS);
        assert_eq!(nested(STRONG, STRONG | EMPHASIS), STRONG | EMPHASIS);
        assert_eq!(nested(0, STRIKE), STRIKE);
    }
}
