//! Character references, line ends and NUL: decoding of the source of a page to text.

use std::borrow::Cow;

use pith_notation::{Context, Replacement, reference};

/// How a piece of the source is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DecodeOptions {
    /// What `&` means.
    pub references: References,
    /// What becomes of U+0000.
    pub nul: Nul,
}

/// Where character references are resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum References {
    /// Nowhere: scripts, styles, comments.
    Kept,
    /// In text.
    Text,
    /// In an attribute value, where `&copy=1` in a link is not a copyright sign.
    Attribute,
}

impl References {
    fn context(self) -> Option<Context> {
        match self {
            References::Kept => None,
            References::Text => Some(Context::Text),
            References::Attribute => Some(Context::Attribute),
        }
    }
}

/// What becomes of U+0000.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Nul {
    Dropped,
    Replaced,
}

/// Decodes raw text; borrowed when decoding changes nothing.
#[inline]
pub(super) fn decode(raw: &str, reading: DecodeOptions) -> Cow<'_, str> {
    let bytes = raw.as_bytes();
    let first = match reading.references {
        References::Kept => memchr::memchr2(b'\r', 0, bytes),
        _ => memchr::memchr3(b'&', b'\r', 0, bytes),
    };
    match first {
        None => Cow::Borrowed(raw),
        Some(first) => Cow::Owned(decode_slow(raw, first, reading)),
    }
}

fn decode_slow(raw: &str, first: usize, reading: DecodeOptions) -> String {
    let bytes = raw.as_bytes();
    let mut text = String::with_capacity(raw.len());
    let mut done = 0;
    let mut at = first;
    loop {
        text.push_str(&raw[done..at]);
        done = at + 1;
        match bytes[at] {
            b'\r' => {
                text.push('\n');
                if bytes.get(done) == Some(&b'\n') {
                    done += 1;
                }
            }
            0 => {
                if reading.nul == Nul::Replaced {
                    text.push('\u{FFFD}');
                }
            }
            _ => match reading.references.context().and_then(|context| reference(&bytes[at..], context)) {
                Some((Replacement::Named(name), length)) => {
                    text.push_str(name);
                    done = at + length;
                }
                Some((Replacement::Number(character), length)) => {
                    text.push(character);
                    done = at + length;
                }
                None => text.push('&'),
            },
        }
        match memchr::memchr3(b'&', b'\r', 0, &bytes[done..]) {
            Some(next) => at = done + next,
            None => break,
        }
    }
    text.push_str(&raw[done..]);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: DecodeOptions = DecodeOptions { references: References::Text, nul: Nul::Dropped };
    const VALUE: DecodeOptions = DecodeOptions { references: References::Attribute, nul: Nul::Replaced };

    #[test]
    fn text_reads_references_with_and_without_a_semicolon() {
        for (raw, text) in [
            ("a &amp; b", "a & b"),
            ("&ampx &notit; &notin;", "&x ¬it; ∉"),
            ("&nosuch; & &; &#; &#x;", "&nosuch; & &; &#; &#x;"),
            ("&#8217;&#x4E2D;&#150;&#0;&#xD800;&#99999999999;", "’中–\u{FFFD}\u{FFFD}\u{FFFD}"),
            ("a\r\nb\rc\0d", "a\nb\ncd"),
            ("&NotEqualTilde;", "≂̸"),
        ] {
            assert_eq!(decode(raw, TEXT), text, "{raw}");
        }
    }

    #[test]
    fn a_query_string_in_a_link_stays_as_it_is() {
        assert_eq!(decode("?a=1&copy=2&lt=3&amp;x&lt", VALUE), "?a=1&copy=2&lt=3&x<");
        assert_eq!(decode("\0", VALUE), "\u{FFFD}");
    }

    #[test]
    fn plain_text_is_borrowed() {
        assert!(matches!(decode("plain 中文", TEXT), Cow::Borrowed(_)));
        let raw = DecodeOptions { references: References::Kept, nul: Nul::Replaced };
        assert!(matches!(decode("a && b", raw), Cow::Borrowed(_)));
        assert_eq!(decode("a && b\r\n", raw), "a && b\n");
    }
}
