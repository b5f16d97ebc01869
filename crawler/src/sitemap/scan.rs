//! The tokens of a sitemap over pieces of any size, each byte looked at once or twice.

use memchr::{memchr, memchr2, memmem};

use super::MAX_ADDRESS_BYTES;
use super::entries::Entries;
use crate::links::attributes;

/// A tag that is not closed within this many bytes is skipped.
const MAX_TAG_BYTES: usize = 64 << 10;
/// Text of a URL, and a line, that is longer is not waited for.
const MAX_TEXT_BYTES: usize = MAX_ADDRESS_BYTES * 2;

const CDATA: &[u8] = b"<![CDATA[";
const COMMENT: &[u8] = b"<!--";

#[derive(Clone, Copy)]
enum State {
    /// Before the first byte that is no blank, which tells markup from lines.
    Start,
    /// One URL per line.
    Lines,
    /// Text and tags.
    Markup,
    /// Within a CDATA section.
    Cdata,
    /// Within `<!DOCTYPE …>`, outside of its internal subset.
    Declaration,
    /// Within the internal subset of a document type. What it declares is not read, so there is nothing to expand.
    Subset,
    /// Until these bytes; then the other state goes on.
    Skip(&'static [u8], Outer),
}

/// Where something that is skipped stands.
#[derive(Clone, Copy)]
enum Outer {
    Lines,
    Markup,
    Declaration,
    Subset,
}

impl From<Outer> for State {
    fn from(outer: Outer) -> State {
        match outer {
            Outer::Lines => State::Lines,
            Outer::Markup => State::Markup,
            Outer::Declaration => State::Declaration,
            Outer::Subset => State::Subset,
        }
    }
}

/// The result of one scanning step.
enum Step {
    /// This many bytes were consumed.
    Taken(usize),
    /// More bytes are needed to decide.
    More,
}

pub(super) struct Scanner {
    state: State,
    /// The incomplete end of the last piece.
    buffered: Vec<u8>,
    /// What is incomplete is scanned again at this length, which doubles each time, so that single bytes take linear
    /// time.
    retry_at: usize,
}

impl Scanner {
    pub(super) fn new() -> Scanner {
        Scanner { state: State::Start, buffered: Vec::new(), retry_at: 0 }
    }

    pub(super) fn feed(&mut self, piece: &[u8], entries: &mut Entries) {
        if self.buffered.is_empty() {
            let taken = self.scan(piece, false, entries);
            self.buffer(&piece[taken..]);
        } else {
            self.buffered.extend_from_slice(piece);
            if self.buffered.len() < self.retry_at {
                return;
            }
            let buffered = std::mem::take(&mut self.buffered);
            let taken = self.scan(&buffered, false, entries);
            self.buffer(&buffered[taken..]);
        }
    }

    fn buffer(&mut self, rest: &[u8]) {
        self.retry_at = rest.len() * 2;
        self.buffered.extend_from_slice(rest);
    }

    pub(super) fn finish(&mut self, entries: &mut Entries) {
        let buffered = std::mem::take(&mut self.buffered);
        let taken = self.scan(&buffered, true, entries);
        let is_within_tag = matches!(self.state, State::Markup) && buffered[taken..].first() == Some(&b'<');
        entries.finish(is_within_tag);
    }

    /// Scans the bytes; gives the number consumed.
    fn scan(&mut self, bytes: &[u8], is_last: bool, entries: &mut Entries) -> usize {
        let mut at = 0;
        while at < bytes.len() && !entries.is_full() {
            let rest = &bytes[at..];
            let step = match self.state {
                State::Start => self.at_start(rest),
                State::Lines => self.in_lines(rest, is_last, entries),
                State::Markup => self.in_markup(rest, entries),
                State::Cdata => self.in_cdata(rest, entries),
                State::Declaration => self.in_declaration(rest),
                State::Subset => self.in_subset(rest, entries),
                State::Skip(end, outer) => self.in_skipped(rest, end, outer),
            };
            match step {
                Step::Taken(length) => at += length,
                Step::More => return at,
            }
        }
        bytes.len()
    }

    fn at_start(&mut self, rest: &[u8]) -> Step {
        let blanks = rest.len() - rest.trim_ascii_start().len();
        match rest.get(blanks) {
            Some(b'<') => self.state = State::Markup,
            Some(_) => self.state = State::Lines,
            None => {}
        }
        Step::Taken(blanks)
    }

    fn in_lines(&mut self, rest: &[u8], is_last: bool, entries: &mut Entries) -> Step {
        match memchr2(b'\n', b'\r', rest) {
            Some(end) => {
                entries.line(&rest[..end]);
                Step::Taken(end + 1)
            }
            None if is_last => {
                entries.line(rest);
                Step::Taken(rest.len())
            }
            None if rest.len() > MAX_TEXT_BYTES => {
                entries.line(b"too long");
                self.state = State::Skip(b"\n", Outer::Lines);
                Step::Taken(rest.len())
            }
            None => Step::More,
        }
    }

    fn in_markup(&mut self, rest: &[u8], entries: &mut Entries) -> Step {
        match memchr(b'<', rest) {
            Some(0) => self.at_tag(rest, entries),
            Some(end) => {
                entries.text(&rest[..end]);
                Step::Taken(end)
            }
            // A reference such as `&amp;` may be torn.
            None if entries.wants_text() && rest.len() <= MAX_TEXT_BYTES => Step::More,
            None => {
                entries.text(rest);
                Step::Taken(rest.len())
            }
        }
    }

    fn at_tag(&mut self, rest: &[u8], entries: &mut Entries) -> Step {
        let (state, taken) = match rest {
            _ if rest.starts_with(CDATA) => (State::Cdata, CDATA.len()),
            // The dashes of `<!-->` are those of its end as well.
            _ if rest.starts_with(COMMENT) => (State::Skip(b"-->", Outer::Markup), 2),
            _ if CDATA.starts_with(rest) || COMMENT.starts_with(rest) => return Step::More,
            [_, b'!', ..] => (State::Declaration, 2),
            [_, b'?', ..] => (State::Skip(b">", Outer::Markup), 2),
            _ => match attributes::tag_end(rest, 1) {
                Some(end) => {
                    entries.tag(&rest[1..end]);
                    (State::Markup, end + 1)
                }
                None if rest.len() > MAX_TAG_BYTES => (State::Skip(b">", Outer::Markup), rest.len()),
                None => return Step::More,
            },
        };
        self.state = state;
        Step::Taken(taken)
    }

    fn in_cdata(&mut self, rest: &[u8], entries: &mut Entries) -> Step {
        let Some(end) = memmem::find(rest, b"]]>") else {
            if entries.wants_text() && rest.len() <= MAX_TEXT_BYTES {
                return Step::More;
            }
            entries.raw_text(rest);
            self.state = State::Skip(b"]]>", Outer::Markup);
            return Step::Taken(rest.len().saturating_sub(2));
        };
        entries.raw_text(&rest[..end]);
        self.state = State::Markup;
        Step::Taken(end + 3)
    }

    fn in_declaration(&mut self, rest: &[u8]) -> Step {
        let Some(at) = rest.iter().position(|byte| matches!(byte, b'>' | b'[' | b'"' | b'\'')) else {
            return Step::Taken(rest.len());
        };
        self.state = match rest[at] {
            b'>' => State::Markup,
            b'[' => State::Subset,
            quote => State::Skip(quoted(quote), Outer::Declaration),
        };
        Step::Taken(at + 1)
    }

    fn in_subset(&mut self, rest: &[u8], entries: &mut Entries) -> Step {
        entries.has_subset = true;
        let Some(at) = rest.iter().position(|byte| matches!(byte, b']' | b'<' | b'"' | b'\'')) else {
            return Step::Taken(rest.len());
        };
        let here = &rest[at..];
        let (state, taken) = match here {
            [b']', ..] => (State::Declaration, 1),
            _ if here.starts_with(COMMENT) => (State::Skip(b"-->", Outer::Subset), 2),
            [b'<', b'?', ..] => (State::Skip(b"?>", Outer::Subset), 2),
            _ if COMMENT.starts_with(here) => return if at == 0 { Step::More } else { Step::Taken(at) },
            [b'<', ..] => (State::Subset, 1),
            _ => (State::Skip(quoted(here[0]), Outer::Subset), 1),
        };
        self.state = state;
        Step::Taken(at + taken)
    }

    fn in_skipped(&mut self, rest: &[u8], end: &'static [u8], outer: Outer) -> Step {
        if let Some(at) = memmem::find(rest, end) {
            self.state = outer.into();
            return Step::Taken(at + end.len());
        }
        // The last bytes may be the beginning of the end.
        match rest.len().saturating_sub(end.len() - 1) {
            0 => Step::More,
            taken => Step::Taken(taken),
        }
    }
}

fn quoted(quote: u8) -> &'static [u8] {
    if quote == b'"' { b"\"" } else { b"'" }
}
