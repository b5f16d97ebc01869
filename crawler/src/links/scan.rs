//! A minimal HTML tokenizer over chunks of any size: only the states that decide whether `<a` is a tag.

use memchr::{memchr, memmem};

use super::attributes;

/// A tag that is not closed within this many bytes is skipped.
const MAX_TAG_BYTES: usize = 64 << 10;

/// The tags that matter here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tag {
    A,
    Area,
    Base,
    Frame,
    Link,
    Meta,
    Noscript,
}

/// One attribute, with undecoded character references.
#[derive(Clone, Copy, Debug)]
pub struct Attribute<'t> {
    pub name: &'t [u8],
    pub value: &'t [u8],
}

/// Receives the tags and the text.
pub trait TagHandler {
    fn start_tag(&mut self, tag: Tag, attributes: &[Attribute<'_>]);
    fn end_tag(&mut self, tag: Tag);
    fn text(&mut self, text: &[u8]);
    /// A tag separates two texts.
    fn tag_boundary(&mut self);
}

#[derive(Clone, Copy)]
enum State {
    Text,
    Comment,
    /// Until the next `>`: a doctype and other declarations.
    Declaration,
    /// Within an element whose content is not HTML, until its end tag.
    Raw(&'static [u8]),
    /// After `<plaintext>` there is no more HTML.
    End,
}

pub struct Scanner {
    state: State,
    wants_text: bool,
    /// The incomplete end of the last chunk.
    buffered: Vec<u8>,
    /// An incomplete tag is scanned again at this length, which doubles each time, so that single-byte chunks take
    /// linear time.
    retry_at: usize,
}

/// The result of one scanning step.
enum Step {
    /// This many bytes were consumed.
    Taken(usize),
    /// More bytes are needed to decide.
    More,
}

impl Scanner {
    pub fn new(wants_text: bool) -> Scanner {
        Scanner { state: State::Text, wants_text, buffered: Vec::new(), retry_at: 0 }
    }

    pub fn feed(&mut self, chunk: &[u8], handler: &mut dyn TagHandler) {
        if self.buffered.is_empty() {
            let taken = self.scan(chunk, false, handler);
            self.buffer(&chunk[taken..]);
        } else {
            self.buffered.extend_from_slice(chunk);
            if self.buffered.len() < self.retry_at {
                return;
            }
            let buffered = std::mem::take(&mut self.buffered);
            let taken = self.scan(&buffered, false, handler);
            self.buffer(&buffered[taken..]);
        }
    }

    /// Ends the page: an incomplete tag is read as far as it goes.
    pub fn finish(&mut self, handler: &mut dyn TagHandler) {
        let buffered = std::mem::take(&mut self.buffered);
        self.scan(&buffered, true, handler);
    }

    fn buffer(&mut self, rest: &[u8]) {
        self.retry_at = rest.len() * 2;
        self.buffered.extend_from_slice(rest);
    }

    /// Scans the bytes; gives the number consumed.
    fn scan(&mut self, bytes: &[u8], is_last: bool, handler: &mut dyn TagHandler) -> usize {
        let mut at = 0;
        while at < bytes.len() {
            let rest = &bytes[at..];
            let step = match self.state {
                State::Text => self.in_text(rest, is_last, handler),
                State::Comment => self.in_comment(rest),
                State::Declaration => match memchr(b'>', rest) {
                    Some(end) => {
                        self.state = State::Text;
                        Step::Taken(end + 1)
                    }
                    None => Step::Taken(rest.len()),
                },
                State::Raw(name) => self.in_raw(rest, name),
                State::End => Step::Taken(rest.len()),
            };
            match step {
                Step::Taken(length) => at += length,
                // At the end of the page the `<` is text.
                Step::More if is_last => at += 1,
                Step::More => return at,
            }
        }
        bytes.len()
    }

    fn in_text(&mut self, rest: &[u8], is_last: bool, handler: &mut dyn TagHandler) -> Step {
        let open = memchr(b'<', rest).unwrap_or(rest.len());
        if open > 0 {
            if self.wants_text {
                handler.text(&rest[..open]);
            }
            return Step::Taken(open);
        }
        match rest.get(1) {
            Some(byte) if byte.is_ascii_alphabetic() => self.start_tag(rest, is_last, handler),
            Some(b'/') => self.end_tag(rest, is_last, handler),
            Some(b'!') => self.declaration(rest),
            Some(b'?') => {
                self.state = State::Declaration;
                Step::Taken(2)
            }
            Some(_) => {
                if self.wants_text {
                    handler.text(b"<");
                }
                Step::Taken(1)
            }
            None => Step::More,
        }
    }

    fn declaration(&mut self, rest: &[u8]) -> Step {
        // `<!-->` and `<!--->` are whole comments.
        if let Some(whole) = [&b"<!-->"[..], b"<!--->"].into_iter().find(|whole| rest.starts_with(whole)) {
            return Step::Taken(whole.len());
        }
        if b"<!-->".starts_with(rest) || b"<!--->".starts_with(rest) {
            return Step::More;
        }
        let is_comment = rest.starts_with(b"<!--");
        self.state = if is_comment { State::Comment } else { State::Declaration };
        Step::Taken(if is_comment { 4 } else { 2 })
    }

    fn start_tag(&mut self, rest: &[u8], is_last: bool, handler: &mut dyn TagHandler) -> Step {
        let name_end = name_end(rest, 1);
        let end = match attributes::tag_end(rest, name_end) {
            Some(end) => end,
            None if rest.len() > MAX_TAG_BYTES => return self.skip_tag(rest),
            // A page truncated within a tag still gives the complete attributes.
            None if is_last => rest.len(),
            None => return Step::More,
        };
        let taken = Step::Taken((end + 1).min(rest.len()));
        let name = &rest[1..name_end];
        if self.wants_text {
            handler.tag_boundary();
        }
        if let Some(tag) = tag_named(name) {
            let mut found = Vec::with_capacity(8);
            attributes::read(&rest[name_end..end], &mut found);
            handler.start_tag(tag, &found);
        }
        self.state = content_of(name);
        taken
    }

    fn end_tag(&mut self, rest: &[u8], is_last: bool, handler: &mut dyn TagHandler) -> Step {
        match rest.get(2) {
            None => Step::More,
            Some(byte) if byte.is_ascii_alphabetic() => {
                let name_end = name_end(rest, 2);
                let end = match attributes::tag_end(rest, name_end) {
                    Some(end) => end,
                    None if is_last || rest.len() > MAX_TAG_BYTES => return self.skip_tag(rest),
                    None => return Step::More,
                };
                if let Some(tag) = tag_named(&rest[2..name_end]) {
                    handler.end_tag(tag);
                }
                if self.wants_text {
                    handler.tag_boundary();
                }
                Step::Taken(end + 1)
            }
            Some(_) => {
                self.state = State::Declaration;
                Step::Taken(2)
            }
        }
    }

    /// Skips a tag that is too long, up to its end, so that no byte is scanned twice.
    fn skip_tag(&mut self, rest: &[u8]) -> Step {
        self.state = State::Declaration;
        Step::Taken(rest.len())
    }

    fn in_comment(&mut self, rest: &[u8]) -> Step {
        let mut from = 0;
        while let Some(end) = memchr(b'>', &rest[from..]) {
            let end = from + end;
            if rest[..end].ends_with(b"--") || rest[..end].ends_with(b"--!") {
                self.state = State::Text;
                return Step::Taken(end + 1);
            }
            from = end + 1;
        }
        // The last dashes may belong to the end of the comment.
        let keep = rest.len().min(3);
        if rest.len() == keep { Step::More } else { Step::Taken(rest.len() - keep) }
    }

    fn in_raw(&mut self, rest: &[u8], name: &'static [u8]) -> Step {
        let mut from = 0;
        while let Some(open) = memmem::find(&rest[from..], b"</") {
            let open = from + open;
            let Some(behind) = rest.get(open + 2 + name.len()) else {
                return if open == 0 { Step::More } else { Step::Taken(open) };
            };
            if rest[open + 2..open + 2 + name.len()].eq_ignore_ascii_case(name)
                && (behind.is_ascii_whitespace() || matches!(behind, b'/' | b'>'))
            {
                self.state = State::Text;
                return Step::Taken(open);
            }
            from = open + 2;
        }
        let keep = usize::from(rest.last() == Some(&b'<'));
        if rest.len() == keep { Step::More } else { Step::Taken(rest.len() - keep) }
    }
}

fn name_end(rest: &[u8], start: usize) -> usize {
    let length =
        rest[start..].iter().take_while(|byte| !byte.is_ascii_whitespace() && !matches!(byte, b'/' | b'>')).count();
    start + length
}

fn tag_named(name: &[u8]) -> Option<Tag> {
    const TAGS: &[(&[u8], Tag)] = &[
        (b"a", Tag::A),
        (b"area", Tag::Area),
        (b"base", Tag::Base),
        (b"frame", Tag::Frame),
        (b"iframe", Tag::Frame),
        (b"link", Tag::Link),
        (b"meta", Tag::Meta),
        (b"noscript", Tag::Noscript),
    ];
    // The first letter excludes most tags.
    if !matches!(name.first()? | 0x20, b'a' | b'b' | b'f' | b'i' | b'l' | b'm' | b'n') {
        return None;
    }
    TAGS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, tag)| *tag)
}

/// The state after a start tag.
fn content_of(name: &[u8]) -> State {
    const RAW: &[&[u8]] = &[b"script", b"style", b"textarea", b"title", b"xmp", b"iframe", b"noembed", b"noframes"];
    if !matches!(name.first().map(|byte| byte | 0x20), Some(b's' | b't' | b'x' | b'i' | b'n' | b'p')) {
        return State::Text;
    }
    if name.eq_ignore_ascii_case(b"plaintext") {
        return State::End;
    }
    RAW.iter().find(|known| known.eq_ignore_ascii_case(name)).map_or(State::Text, |known| State::Raw(known))
}
