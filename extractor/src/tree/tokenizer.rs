//! The tokenizer of the HTML standard over a whole string: tags, texts, comments and doctypes.
//!
//! Every byte is looked at a bounded number of times. Nothing is copied: a token is a range of the source.

#[cfg(test)]
mod conformance;
mod markup;
mod raw_text;

use std::borrow::Cow;
use std::collections::HashMap;

use super::arena::Span;
use super::tag::{LONGEST, Tag};

/// Further attributes of one tag are dropped.
pub(super) const MAX_ATTRIBUTES_PER_TAG: usize = 255;
/// More attributes of one page are dropped, so that a page of attributes stays within 64 MB.
const MAX_ATTRIBUTES: usize = 4_000_000;

/// One piece of the page.
#[derive(Clone, Copy, Debug)]
pub(super) enum Token {
    Text(Range),
    /// Text in which character references mean nothing.
    Cdata(Range),
    Start(TagToken),
    End(TagToken),
    Comment(Range),
    Instruction(Range),
    Doctype(Range),
    Eof,
}

/// Some bytes of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub start: u32,
    pub end: u32,
}

impl Range {
    pub fn new(start: usize, end: usize) -> Range {
        Range { start: start as u32, end: end as u32 }
    }

    pub fn of<'a>(&self, source: &'a str) -> &'a str {
        &source[self.start as usize..self.end as usize]
    }

    pub fn bytes_of<'a>(&self, source: &'a str) -> &'a [u8] {
        &source.as_bytes()[self.start as usize..self.end as usize]
    }

    pub fn is_empty(&self) -> bool {
        self.start == self.end
    }
}

/// A start or end tag.
#[derive(Clone, Copy, Debug)]
pub(super) struct TagToken {
    pub tag: Tag,
    /// Equal for equal names, also for unknown ones.
    pub name: NameId,
    pub n_attributes: u8,
    pub self_closing: bool,
    /// Whether an attribute looks like one of those that hide an element.
    pub may_hide: bool,
    /// The byte of its `<`.
    pub start: u32,
    pub first_attribute: u32,
}

/// A number for each name of a page: the tag's own for known names.
pub(super) type NameId = u16;

/// The last number, shared by all names that come after sixty thousand others.
pub(super) const LAST_NAME: NameId = 60_000;

#[derive(Debug)]
pub(super) struct Tokenizer<'a> {
    pub source: &'a str,
    bytes: &'a [u8],
    pub position: usize,
    /// The attributes of all elements; those of the last tag are dropped unless [`Tokenizer::keep_attributes`].
    pub attributes: Vec<Span>,
    n_kept_attributes: usize,
    may_hide: bool,
    unknown_names: HashMap<Cow<'a, str>, NameId>,
    raw_text: raw_text::SearchCache,
    /// Whether a bound was hit.
    pub truncated: bool,
    /// Whether an unclosed raw text element was ended before the end of the page.
    pub recovered: bool,
}

impl<'a> Tokenizer<'a> {
    pub fn new(source: &'a str) -> Tokenizer<'a> {
        Tokenizer {
            source,
            bytes: source.as_bytes(),
            position: 0,
            attributes: Vec::with_capacity(source.len() / 160 + 16),
            n_kept_attributes: 0,
            may_hide: false,
            unknown_names: HashMap::new(),
            raw_text: raw_text::SearchCache::default(),
            truncated: false,
            recovered: false,
        }
    }

    /// The next token. `foreign` says that the current node is in svg or math, where CDATA sections are text.
    #[inline]
    pub fn next(&mut self, foreign: bool) -> Token {
        loop {
            let start = self.position;
            let mut at = start;
            let markup = loop {
                // One tag right after another is the most common case by far.
                if self.bytes.get(at) == Some(&b'<') && self.opens_markup(at) {
                    break at;
                }
                match memchr::memchr(b'<', &self.bytes[at..]) {
                    None => break self.bytes.len(),
                    Some(distance) if self.opens_markup(at + distance) => break at + distance,
                    Some(distance) => at += distance + 1,
                }
            };
            self.position = markup;
            if markup > start {
                return Token::Text(Range::new(start, markup));
            }
            if markup == self.bytes.len() {
                return Token::Eof;
            }
            let token = match self.bytes[markup + 1] {
                b'!' => self.declaration(markup, foreign),
                b'?' => self.instruction(markup),
                b'/' => match self.bytes[markup + 2] {
                    b'>' => {
                        self.position = markup + 3;
                        continue;
                    }
                    letter if letter.is_ascii_alphabetic() => self.tag(markup, markup + 2).map(Token::End),
                    _ => Some(Token::Comment(self.bogus_comment(markup + 2))),
                },
                _ => self.tag(markup, markup + 1).map(Token::Start),
            };
            // A tag that the page ends in is no tag.
            return token.unwrap_or_else(|| {
                self.position = self.bytes.len();
                Token::Eof
            });
        }
    }

    /// Keeps the attributes of the tag read last.
    #[inline]
    pub fn keep_attributes(&mut self) {
        self.n_kept_attributes = self.attributes.len();
    }

    /// Whether the `<` at `at` starts something other than text.
    #[inline]
    fn opens_markup(&self, at: usize) -> bool {
        match self.bytes.get(at + 1) {
            Some(b'/') => at + 2 < self.bytes.len(),
            Some(b'!' | b'?') => true,
            Some(byte) => byte.is_ascii_alphabetic(),
            None => false,
        }
    }

    /// Reads a tag whose `<` is at `start` and whose name is at `name_start`.
    #[inline]
    fn tag(&mut self, start: usize, name_start: usize) -> Option<TagToken> {
        let (tag, name, name_end) = self.tag_name(name_start)?;
        self.attributes.truncate(self.n_kept_attributes);
        self.may_hide = false;
        let first_attribute = self.attributes.len();
        let (end, self_closing) =
            if self.bytes[name_end] == b'>' { (name_end + 1, false) } else { self.read_attributes(name_end)? };
        self.position = end;
        Some(TagToken {
            tag,
            name,
            n_attributes: (self.attributes.len() - first_attribute) as u8,
            self_closing,
            may_hide: self.may_hide,
            start: start as u32,
            first_attribute: first_attribute as u32,
        })
    }

    /// The name at `start` and the byte after it; nothing when the page ends first.
    #[inline]
    fn tag_name(&mut self, start: usize) -> Option<(Tag, NameId, usize)> {
        let rest = &self.bytes[start..];
        let length = rest.iter().position(|&byte| byte_class(byte) & TAG_NAME_END != 0)?;
        let tag = if length <= LONGEST { Tag::of_name(rest, length) } else { Tag::Unknown };
        let name = if tag == Tag::Unknown { self.unknown_name(start, start + length) } else { tag as NameId };
        Some((tag, name, start + length))
    }

    #[cold]
    fn unknown_name(&mut self, start: usize, end: usize) -> NameId {
        let name = lower_case(&self.source[start..end]);
        if let Some(&id) = self.unknown_names.get(&name) {
            return id;
        }
        let id = Tag::COUNT + self.unknown_names.len();
        if id >= LAST_NAME as usize {
            return LAST_NAME;
        }
        self.unknown_names.insert(name, id as NameId);
        id as NameId
    }

    /// Reads attributes from `at` to the end of the tag; answers the byte after it and whether it ends in `/>`.
    fn read_attributes(&mut self, mut at: usize) -> Option<(usize, bool)> {
        loop {
            match *self.bytes.get(at)? {
                b'>' => return Some((at + 1, false)),
                b'/' if self.bytes.get(at + 1) == Some(&b'>') => return Some((at + 2, true)),
                b'/' => at += 1,
                byte if is_space(byte) => at += 1,
                _ => at = self.read_attribute(at)?,
            }
        }
    }

    #[inline]
    fn read_attribute(&mut self, name_start: usize) -> Option<usize> {
        let bytes = self.bytes;
        // A `=` in front belongs to the name.
        let after_first = name_start + 1;
        let is_name_end = |&byte: &u8| byte_class(byte) & ATTRIBUTE_NAME_END != 0;
        let name_end = after_first + bytes.get(after_first..)?.iter().position(is_name_end)?;
        let mut at = name_end;
        while is_space(*bytes.get(at)?) {
            at += 1;
        }
        if bytes[at] != b'=' {
            self.push_attribute(name_start, name_end, name_end, name_end);
            return Some(at);
        }
        at += 1;
        while is_space(*bytes.get(at)?) {
            at += 1;
        }
        let (value_start, value_end, after) = match bytes[at] {
            quote @ (b'"' | b'\'') => {
                let start = at + 1;
                let end = start + memchr::memchr(quote, &bytes[start..])?;
                (start, end, end + 1)
            }
            b'>' => (at, at, at),
            _ => {
                let end = at + bytes[at..].iter().position(|&byte| byte_class(byte) & VALUE_END != 0)?;
                (at, end, end)
            }
        };
        self.push_attribute(name_start, name_end, value_start, value_end);
        Some(after)
    }

    #[inline]
    fn push_attribute(&mut self, name_start: usize, name_end: usize, value_start: usize, value_end: usize) {
        let n_of_tag = self.attributes.len() - self.n_kept_attributes;
        if n_of_tag >= MAX_ATTRIBUTES_PER_TAG || self.attributes.len() >= MAX_ATTRIBUTES {
            self.truncated = true;
            return;
        }
        // `style`, `hidden` and `aria-hidden`; a few others pass, and are looked at closely later.
        if matches!(name_end - name_start, 5 | 6 | 11) {
            self.may_hide |= matches!(self.bytes[name_start] | 0x20, b's' | b'h' | b'a');
        }
        self.attributes.push(Span {
            name_start: name_start as u32,
            name_end: name_end as u32,
            value_start: value_start as u32,
            value_end: value_end as u32,
        });
    }
}

/// A name in lower case, as the standard reads it.
pub(super) fn lower_case(name: &str) -> Cow<'_, str> {
    if name.bytes().any(|byte| byte.is_ascii_uppercase() || byte == 0) {
        Cow::Owned(name.to_ascii_lowercase().replace('\0', "\u{FFFD}"))
    } else {
        Cow::Borrowed(name)
    }
}

/// The length of the tag name that `source` begins with.
pub(super) fn tag_name_length(source: &[u8]) -> usize {
    source.iter().position(|&byte| ends_tag_name(byte)).unwrap_or(source.len())
}

#[inline]
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\t' | b'\r' | b'\x0C')
}

fn ends_tag_name(byte: u8) -> bool {
    byte_class(byte) & TAG_NAME_END != 0
}

const TAG_NAME_END: u8 = 1;
const ATTRIBUTE_NAME_END: u8 = 1 << 1;
/// The end of a value without quotes.
const VALUE_END: u8 = 1 << 2;

#[inline]
fn byte_class(byte: u8) -> u8 {
    CLASSES[usize::from(byte)]
}

static CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let ends = b" \n\t\r\x0C>/=";
    let mut i = 0;
    while i < ends.len() {
        classes[ends[i] as usize] = match ends[i] {
            b'/' => TAG_NAME_END | ATTRIBUTE_NAME_END,
            b'=' => ATTRIBUTE_NAME_END,
            _ => TAG_NAME_END | ATTRIBUTE_NAME_END | VALUE_END,
        };
        i += 1;
    }
    classes
};
