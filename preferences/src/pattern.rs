//! Patterns of paths as in robots.txt: a beginning, with `*` for anything and `$` for the end.

use memchr::memmem;

/// A pattern of paths. Percent-encoding that changes nothing is undone on both sides, so that `/%7Ejoe` is `/~joe`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pattern {
    bytes: Box<[u8]>,
    is_anchored: bool,
    /// The bytes as written: of patterns that match, the longest counts.
    pub(crate) length: usize,
}

impl Pattern {
    pub(crate) fn new(text: &[u8]) -> Pattern {
        let (body, is_anchored) = match text.split_last() {
            Some((b'$', body)) => (body, true),
            _ => (text, false),
        };
        let mut bytes = normalize(body, b"$");
        // Many stars in a row are one.
        bytes.dedup_by(|next, last| *next == b'*' && *last == b'*');
        Pattern { bytes: bytes.into(), is_anchored, length: text.len() }
    }

    /// Whether it matches a path that [`normalize_path`] has given.
    ///
    /// The pieces between stars are searched one after the other, each at its leftmost position, which finds every match
    /// without going back.
    pub(crate) fn matches(&self, path: &[u8]) -> bool {
        let mut pieces = self.bytes.split(|byte| *byte == b'*');
        let Some(mut rest) = path.strip_prefix(pieces.next().unwrap_or(b"")) else { return false };
        let Some(last) = pieces.next_back() else { return !self.is_anchored || rest.is_empty() };
        for piece in pieces {
            let Some(at) = memmem::find(rest, piece) else { return false };
            rest = &rest[at + piece.len()..];
        }
        if self.is_anchored { rest.ends_with(last) } else { memmem::find(rest, last).is_some() }
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        self.bytes.len()
    }
}

/// A path and its query, ready to be matched: `*` and `$` are encoded, since in patterns they have a meaning.
pub(crate) fn normalize_path(path: &str) -> Vec<u8> {
    let path = path.split('#').next().unwrap_or_default();
    let mut bytes = normalize(path.as_bytes(), b"*$");
    if bytes.first() != Some(&b'/') {
        bytes.insert(0, b'/');
    }
    bytes
}

/// Encodes what is not ASCII and the bytes in `encoded`; decodes what need not be encoded; writes hex digits large.
fn normalize(text: &[u8], encoded: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        let escape = (byte == b'%').then(|| escaped(after)).flatten();
        match escape {
            Some(value) => {
                rest = &after[2..];
                let is_unreserved = value.is_ascii_alphanumeric() || matches!(value, b'-' | b'.' | b'_' | b'~');
                if is_unreserved { out.push(value) } else { push_encoded(value, &mut out) }
            }
            None if !byte.is_ascii() || encoded.contains(&byte) => push_encoded(byte, &mut out),
            None => out.push(byte),
        }
    }
    out
}

fn escaped(digits: &[u8]) -> Option<u8> {
    let digit = |index: usize| char::from(*digits.get(index)?).to_digit(16);
    Some((digit(0)? * 16 + digit(1)?) as u8)
}

fn push_encoded(byte: u8, out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    out.extend([b'%', DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_in_robots_txt() {
        let check = |pattern: &str, path: &str, expected: bool| {
            assert_eq!(
                Pattern::new(pattern.as_bytes()).matches(&normalize_path(path)),
                expected,
                "{pattern} and {path}"
            );
        };
        check("/", "/anything?at=all", true);
        check("/fish", "/fish.html", true);
        check("/fish", "/Fish", false);
        check("/fish/", "/fish", false);
        check("/*.php", "/folder/any.php.file.html", true);
        check("/*.php$", "/filename.php", true);
        check("/*.php$", "/filename.php?parameters", false);
        check("/this/path/exactly$", "/this/path/exactly", true);
        check("/this/path/exactly$", "/this/path/exactly/not", false);
        check("/this/*/then", "/this/or/that/then/go", true);
        check("/this/*/then", "/this/then", false);
        // TDMRep: special characters are meant as they are when they are encoded.
        check("/path/foo-%24", "/path/foo-$", true);
        check("/path/foo-%2a", "/path/foo-*", true);
        check("/path/foo-%24", "/path/foo-x", false);
        check("/%7Ejoe", "/~joe/x", true);
        check("/ツ", "/%E3%83%84", true);
        check("/%e3%83%84", "/ツ", true);
        check("/a%", "/a%", true);
        check("", "/x", true);
        check("*", "/x", true);
    }

    #[test]
    fn a_pattern_of_many_stars_takes_no_time() {
        let pattern = Pattern::new("/*a".repeat(100_000).as_bytes());
        let path = normalize_path(&"/b".repeat(200_000));
        let started = std::time::Instant::now();
        assert!(!pattern.matches(&path));
        assert!(started.elapsed().as_millis() < 500, "{:?}", started.elapsed());
    }
}
