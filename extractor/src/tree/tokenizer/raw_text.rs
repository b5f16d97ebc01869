//! Raw text elements (script, style, title and others): where they end, also when their end tag is missing.

use super::{Range, Tokenizer, ends_tag_name};
use crate::tree::tag::Tag;

/// Results of searches in the rest of the page, so that no search for a missing end tag is repeated.
#[derive(Debug, Default)]
pub(super) struct SearchCache {
    /// Tags whose end tag does not come again.
    unclosed: Vec<Tag>,
    /// A comment inside a script never ended: later scripts are read without such comments.
    endless_comment: bool,
    /// Whether `</body` or `</html` comes again, once known, and from where on.
    page_end: Option<Option<usize>>,
}

impl Tokenizer<'_> {
    /// Reads the content of the element `tag`, whose start tag was just read, and its end tag.
    ///
    /// Where the standard would take the rest of the page for content because the end tag is missing, and the rest
    /// plainly is a page (it closes `body` or `html`), the content ends at the next tag instead.
    pub fn raw_text(&mut self, tag: Tag) -> Range {
        let start = self.position;
        let end = self.raw_text_end(tag, start);
        match end {
            Some(end) => {
                // An end tag may carry attributes; they are read and forgotten.
                self.position = match self.read_attributes(end + 2 + tag.name().len()) {
                    Some((after, _)) => after,
                    None => self.bytes.len(),
                };
                self.attributes.truncate(self.n_kept_attributes);
                Range::new(start, end)
            }
            None => {
                let continues = self.page_continues(start);
                self.recovered |= continues;
                let end = if continues { self.next_known_tag(start) } else { self.bytes.len() };
                self.position = end;
                Range::new(start, end)
            }
        }
    }

    /// The rest of the page, as the content of `plaintext`.
    pub fn rest(&mut self) -> Range {
        let start = self.position;
        self.position = self.bytes.len();
        Range::new(start, self.bytes.len())
    }

    /// The `<` of the end tag.
    fn raw_text_end(&mut self, tag: Tag, start: usize) -> Option<usize> {
        if self.raw_text.unclosed.contains(&tag) {
            return None;
        }
        if tag == Tag::Script && !self.raw_text.endless_comment {
            if let Some(end) = self.script_end(start) {
                return Some(end);
            }
            if !self.page_continues(start) {
                return None;
            }
            self.raw_text.endless_comment = true;
            self.recovered = true;
        }
        let end = self.end_tag(tag, start);
        if end.is_none() {
            self.raw_text.unclosed.push(tag);
        }
        end
    }

    /// The first `</name` from `at` on that is followed by the end of a tag name.
    fn end_tag(&self, tag: Tag, mut at: usize) -> Option<usize> {
        while let Some(distance) = memchr::memchr(b'<', &self.bytes[at..]) {
            at += distance;
            if self.is_end_tag(at, tag) {
                return Some(at);
            }
            at += 1;
        }
        None
    }

    fn is_end_tag(&self, at: usize, tag: Tag) -> bool {
        self.bytes.get(at + 1) == Some(&b'/') && self.is_name(at + 2, tag)
    }

    fn is_name(&self, at: usize, tag: Tag) -> bool {
        let name = tag.name().as_bytes();
        let Some(found) = self.bytes.get(at..at + name.len()) else { return false };
        found.eq_ignore_ascii_case(name) && self.bytes.get(at + name.len()).is_some_and(|&byte| ends_tag_name(byte))
    }

    /// The end tag of a script. Inside `<!-- … -->` a script may hold `<script> … </script>` as text.
    fn script_end(&self, start: usize) -> Option<usize> {
        #[derive(PartialEq)]
        enum State {
            Plain,
            Comment,
            ScriptInComment,
        }
        let mut state = State::Plain;
        let mut at = start;
        loop {
            let rest = &self.bytes[at..];
            at += match state {
                State::Plain => memchr::memchr(b'<', rest)?,
                _ => memchr::memchr2(b'<', b'-', rest)?,
            };
            let found = &self.bytes[at..];
            if found[0] == b'-' {
                if found.starts_with(b"-->") {
                    state = State::Plain;
                }
            } else if state == State::Plain {
                if found.starts_with(b"<!--") {
                    state = State::Comment;
                    // The dashes may already belong to `-->`.
                    at += 1;
                } else if self.is_end_tag(at, Tag::Script) {
                    return Some(at);
                }
            } else if state == State::Comment {
                if self.is_end_tag(at, Tag::Script) {
                    return Some(at);
                }
                if self.is_name(at + 1, Tag::Script) {
                    state = State::ScriptInComment;
                }
            } else if self.is_end_tag(at, Tag::Script) {
                state = State::Comment;
            }
            at += 1;
        }
    }

    /// Whether `body` or `html` is closed after `start`.
    fn page_continues(&mut self, start: usize) -> bool {
        let bytes = self.bytes;
        let last = *self.raw_text.page_end.get_or_insert_with(|| {
            memchr::memrchr_iter(b'<', &bytes[start..]).map(|distance| start + distance).find(|&at| {
                [&b"</body"[..], b"</html"]
                    .iter()
                    .any(|end| bytes.get(at..at + end.len()).is_some_and(|found| found.eq_ignore_ascii_case(end)))
            })
        });
        last.is_some_and(|last| last >= start)
    }

    /// The next `<` from `at` on that starts a tag with a name we know.
    fn next_known_tag(&self, mut at: usize) -> usize {
        while let Some(distance) = memchr::memchr(b'<', &self.bytes[at..]) {
            at += distance;
            let slash = usize::from(self.bytes.get(at + 1) == Some(&b'/'));
            let name = &self.source.as_bytes()[at + 1 + slash..];
            let length = super::tag_name_length(&name[..name.len().min(MAX_NAME_LENGTH)]);
            let known = std::str::from_utf8(&name[..length])
                .is_ok_and(|name| Tag::of(&name.to_ascii_lowercase()) != Tag::Unknown);
            if known {
                return at;
            }
            at += 1;
        }
        self.bytes.len()
    }
}

/// More letters than any known name has.
const MAX_NAME_LENGTH: usize = 20;
