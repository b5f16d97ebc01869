//! Character references (`&amp;`, `&#8217;`), line ends and NUL: decoding of the bytes of a page to text.

use std::borrow::Cow;

use super::entity_table::ENTITIES;

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
            _ if reading.references == References::Kept => text.push('&'),
            _ => match reference(&raw[at..], reading.references) {
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

/// The characters of a character reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Replacement {
    Named(&'static str),
    Number(char),
}

impl Replacement {
    /// The first of its characters.
    pub fn first(self) -> char {
        match self {
            Replacement::Named(name) => name.chars().next().unwrap_or('&'),
            Replacement::Number(character) => character,
        }
    }
}

/// The reference that `raw`, which begins with `&`, begins with, and its length in bytes.
pub(super) fn reference(raw: &str, context: References) -> Option<(Replacement, usize)> {
    let bytes = raw.as_bytes();
    if bytes.get(1) == Some(&b'#') {
        return number(bytes).map(|(character, length)| (Replacement::Number(character), length));
    }
    let letters = bytes[1..].iter().take(LONGEST_NAME + 1).take_while(|b| b.is_ascii_alphanumeric()).count();
    if letters == 0 {
        return None;
    }
    if bytes.get(1 + letters) == Some(&b';')
        && let Some(name) = named(&raw[1..letters + 2])
    {
        return Some((Replacement::Named(name), letters + 2));
    }
    // A few old names also work without `;`, and the longest of them wins.
    for length in (SHORTEST_OPEN_NAME..=letters.min(LONGEST_OPEN_NAME)).rev() {
        if let Some(name) = named(&raw[1..=length]) {
            let next = bytes.get(1 + length);
            let goes_on = next.is_some_and(|&b| b == b'=' || b.is_ascii_alphanumeric());
            if context == References::Attribute && goes_on {
                return None;
            }
            return Some((Replacement::Named(name), 1 + length));
        }
    }
    None
}

const LONGEST_NAME: usize = 31;
const SHORTEST_OPEN_NAME: usize = 2;
const LONGEST_OPEN_NAME: usize = 6;

fn named(name: &str) -> Option<&'static str> {
    // A page holds these a hundred times more often than all others together.
    match name {
        "nbsp;" => return Some("\u{A0}"),
        "amp;" => return Some("&"),
        "quot;" => return Some("\""),
        "lt;" => return Some("<"),
        "gt;" => return Some(">"),
        _ => {}
    }
    ENTITIES.binary_search_by(|(known, _)| (*known).cmp(name)).ok().map(|index| ENTITIES[index].1)
}

fn number(bytes: &[u8]) -> Option<(char, usize)> {
    let hexadecimal = matches!(bytes.get(2), Some(b'x' | b'X'));
    let digits_at = if hexadecimal { 3 } else { 2 };
    let radix = if hexadecimal { 16 } else { 10 };
    let mut value: u32 = 0;
    let mut at = digits_at;
    while let Some(digit) = bytes.get(at).and_then(|&b| char::from(b).to_digit(radix)) {
        value = value.saturating_mul(radix).saturating_add(digit);
        at += 1;
    }
    if at == digits_at {
        return None;
    }
    if bytes.get(at) == Some(&b';') {
        at += 1;
    }
    let character = match value {
        0 => '\u{FFFD}',
        0x80..=0x9F => WINDOWS_1252[(value - 0x80) as usize],
        _ => char::from_u32(value).unwrap_or('\u{FFFD}'),
    };
    Some((character, at))
}

/// What authors mean by `&#128;` to `&#159;`.
const WINDOWS_1252: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8D}', 'Ž', '\u{8F}', '\u{90}', '‘', '’',
    '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9D}', 'ž', 'Ÿ',
];

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: DecodeOptions = DecodeOptions { references: References::Text, nul: Nul::Dropped };
    const VALUE: DecodeOptions = DecodeOptions { references: References::Attribute, nul: Nul::Replaced };

    #[test]
    fn the_table_is_sorted_and_the_limits_hold() {
        assert!(ENTITIES.is_sorted_by(|a, b| a.0 < b.0));
        let open = ENTITIES.iter().filter(|(name, _)| !name.ends_with(';')).map(|(name, _)| name.len());
        assert_eq!((open.clone().min(), open.max()), (Some(SHORTEST_OPEN_NAME), Some(LONGEST_OPEN_NAME)));
        assert_eq!(ENTITIES.iter().map(|(name, _)| name.len()).max(), Some(LONGEST_NAME + 1));
    }

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
