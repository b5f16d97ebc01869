//! What begins with `<!` or `<?`: comments, doctypes, CDATA sections and processing instructions.

use memchr::memmem;

use super::{Range, Token, Tokenizer, is_space};

impl Tokenizer<'_> {
    /// Reads what starts with `<!` at `start`.
    #[cold]
    pub(super) fn declaration(&mut self, start: usize, foreign: bool) -> Option<Token> {
        let rest = &self.bytes[start + 2..];
        if rest.starts_with(b"--") {
            return Some(Token::Comment(self.comment(start + 4)));
        }
        if rest.len() >= 7 && rest[..7].eq_ignore_ascii_case(b"doctype") {
            return Some(Token::Doctype(self.until_greater(start + 9)));
        }
        if foreign && rest.starts_with(b"[CDATA[") {
            let text_start = start + 9;
            let length = memmem::find(&self.bytes[text_start..], b"]]>");
            let text_end = length.map_or(self.bytes.len(), |length| text_start + length);
            self.position = (text_end + 3).min(self.bytes.len());
            return Some(Token::Cdata(Range::new(text_start, text_end)));
        }
        Some(Token::Comment(self.bogus_comment(start + 2)))
    }

    /// Reads what starts with `<?` at `start`. A good name makes an instruction, anything else a comment.
    #[cold]
    pub(super) fn instruction(&mut self, start: usize) -> Option<Token> {
        let rest = &self.bytes[start + 2..];
        if rest.is_empty() {
            return None;
        }
        let name = rest.iter().take_while(|&&b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-')).count();
        let begins = rest.first().is_some_and(|&b| b.is_ascii_alphabetic() || b == b'_');
        let reserved =
            rest[..name].eq_ignore_ascii_case(b"xml") || rest[..name].eq_ignore_ascii_case(b"xml-stylesheet");
        let ends = rest.get(name).is_none_or(|&b| b == b'>' || b == b'?' || is_space(b));
        if !begins || reserved || !ends {
            return Some(Token::Comment(self.bogus_comment(start + 1)));
        }
        memchr::memchr(b'>', rest)?;
        let Range { start, end } = self.until_greater(start + 2);
        let questioned = end > start && self.bytes[end as usize - 1] == b'?';
        Some(Token::Instruction(Range { start, end: end - u32::from(questioned) }))
    }

    /// Reads a comment whose text starts at `start`.
    fn comment(&mut self, start: usize) -> Range {
        let bytes = self.bytes;
        let rest = &bytes[start..];
        for (short, length) in [(&b">"[..], 1), (b"->", 2)] {
            if rest.starts_with(short) {
                self.position = start + length;
                return Range::new(start, start);
            }
        }
        let mut at = start;
        while let Some(distance) = memmem::find(&bytes[at..], b"--") {
            let dashes = at + distance;
            match bytes[dashes + 2..] {
                [b'>', ..] => {
                    self.position = dashes + 3;
                    return Range::new(start, dashes);
                }
                [b'!', b'>', ..] => {
                    self.position = dashes + 4;
                    return Range::new(start, dashes);
                }
                _ => at = dashes + 1,
            }
        }
        self.position = bytes.len();
        let unfinished =
            [&b"--!"[..], b"--", b"-"].iter().find(|tail| rest.ends_with(tail)).map_or(0, |tail| tail.len());
        Range::new(start, bytes.len() - unfinished)
    }

    /// Reads up to the next `>` as a comment.
    pub(super) fn bogus_comment(&mut self, start: usize) -> Range {
        self.until_greater(start)
    }

    fn until_greater(&mut self, start: usize) -> Range {
        let start = start.min(self.bytes.len());
        match memchr::memchr(b'>', &self.bytes[start..]) {
            Some(length) => {
                self.position = start + length + 1;
                Range::new(start, start + length)
            }
            None => {
                self.position = self.bytes.len();
                Range::new(start, self.bytes.len())
            }
        }
    }
}
