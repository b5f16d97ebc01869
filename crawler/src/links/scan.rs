//! The few states of HTML that decide whether `<a` is a tag, over chunks of any size.

use memchr::{memchr, memmem};

use super::attributes;

/// A tag that is not closed within this many bytes is no tag.
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

/// One attribute as it stands in the page, references not decoded.
#[derive(Clone, Copy, Debug)]
pub struct Attribute<'t> {
    pub name: &'t [u8],
    pub value: &'t [u8],
}

/// Who is told.
pub trait Sink {
    fn start_tag(&mut self, tag: Tag, attributes: &[Attribute<'_>]);
    fn end_tag(&mut self, tag: Tag);
    fn text(&mut self, text: &[u8]);
    /// A tag stands between two texts.
    fn gap(&mut self);
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
    /// What the last chunk left unfinished.
    held: Vec<u8>,
    /// An unfinished tag is looked at again when this much is there: twice as much each time, so that a tag that
    /// comes in single bytes costs no more than one that comes at once.
    retry_at: usize,
}

/// What a look at the beginning of the bytes gave.
enum Step {
    /// So many bytes are done.
    Taken(usize),
    /// It takes more bytes to decide.
    More,
}

impl Scanner {
    pub fn new(wants_text: bool) -> Scanner {
        Scanner { state: State::Text, wants_text, held: Vec::new(), retry_at: 0 }
    }

    pub fn feed(&mut self, chunk: &[u8], sink: &mut dyn Sink) {
        if self.held.is_empty() {
            let taken = self.scan(chunk, false, sink);
            self.hold(&chunk[taken..]);
        } else {
            self.held.extend_from_slice(chunk);
            if self.held.len() < self.retry_at {
                return;
            }
            let held = std::mem::take(&mut self.held);
            let taken = self.scan(&held, false, sink);
            self.hold(&held[taken..]);
        }
    }

    /// The page ends here: what is unfinished is read as far as it goes.
    pub fn finish(&mut self, sink: &mut dyn Sink) {
        let held = std::mem::take(&mut self.held);
        self.scan(&held, true, sink);
    }

    fn hold(&mut self, rest: &[u8]) {
        self.retry_at = rest.len() * 2;
        self.held.extend_from_slice(rest);
    }

    /// Goes through the bytes and says how many are done.
    fn scan(&mut self, bytes: &[u8], is_last: bool, sink: &mut dyn Sink) -> usize {
        let mut at = 0;
        while at < bytes.len() {
            let rest = &bytes[at..];
            let step = match self.state {
                State::Text => self.in_text(rest, is_last, sink),
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
                // Nothing more to come: the sign is a letter like others.
                Step::More if is_last => at += 1,
                Step::More => return at,
            }
        }
        bytes.len()
    }

    fn in_text(&mut self, rest: &[u8], is_last: bool, sink: &mut dyn Sink) -> Step {
        let open = memchr(b'<', rest).unwrap_or(rest.len());
        if open > 0 {
            if self.wants_text {
                sink.text(&rest[..open]);
            }
            return Step::Taken(open);
        }
        match rest.get(1) {
            Some(byte) if byte.is_ascii_alphabetic() => self.start_tag(rest, is_last, sink),
            Some(b'/') => self.end_tag(rest, is_last, sink),
            Some(b'!') => self.declaration(rest),
            Some(b'?') => {
                self.state = State::Declaration;
                Step::Taken(2)
            }
            Some(_) => {
                if self.wants_text {
                    sink.text(b"<");
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

    fn start_tag(&mut self, rest: &[u8], is_last: bool, sink: &mut dyn Sink) -> Step {
        let name_end = name_end(rest, 1);
        let end = match attributes::tag_end(rest, name_end) {
            Some(end) => end,
            None if rest.len() > MAX_TAG_BYTES => return self.skip_tag(rest),
            // A page cut within a tag still gives the attributes that are whole.
            None if is_last => rest.len(),
            None => return Step::More,
        };
        let taken = Step::Taken((end + 1).min(rest.len()));
        let name = &rest[1..name_end];
        if self.wants_text {
            sink.gap();
        }
        if let Some(tag) = tag_named(name) {
            let mut found = Vec::with_capacity(8);
            attributes::read(&rest[name_end..end], &mut found);
            sink.start_tag(tag, &found);
        }
        self.state = content_of(name);
        taken
    }

    fn end_tag(&mut self, rest: &[u8], is_last: bool, sink: &mut dyn Sink) -> Step {
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
                    sink.end_tag(tag);
                }
                if self.wants_text {
                    sink.gap();
                }
                Step::Taken(end + 1)
            }
            Some(_) => {
                self.state = State::Declaration;
                Step::Taken(2)
            }
        }
    }

    /// Too long to be a tag: everything up to its end goes, so that no byte is looked at twice.
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
        // The last dashes may be the beginning of the end.
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
    // Most tags are told apart by their first letter.
    if !matches!(name.first()? | 0x20, b'a' | b'b' | b'f' | b'i' | b'l' | b'm' | b'n') {
        return None;
    }
    TAGS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, tag)| *tag)
}

/// How what follows a start tag is to be read.
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
