//! Character references of HTML: `&amp;`, `&#8217;`.

mod names;

use std::borrow::Cow;

use self::names::NAMES;

/// Where a reference stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Context {
    /// In text.
    Text,
    /// In an attribute value, where `&copy=1` in a link is not a copyright sign.
    Attribute,
}

/// The characters of a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replacement {
    /// Those of a name, one or two.
    Named(&'static str),
    /// That of a number.
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
pub fn reference(raw: &[u8], context: Context) -> Option<(Replacement, usize)> {
    if raw.get(1) == Some(&b'#') {
        return number(raw).map(|(character, length)| (Replacement::Number(character), length));
    }
    let behind = raw.get(1..).unwrap_or_default();
    let letters = behind.iter().take(LONGEST_NAME + 1).take_while(|byte| byte.is_ascii_alphanumeric()).count();
    let next = behind.get(letters).copied();
    if letters == 0 {
        return None;
    }
    if next == Some(b';')
        && let Some(name) = named(&behind[..=letters])
    {
        return Some((Replacement::Named(name), letters + 2));
    }
    // A few old names also work without `;`, and the longest of them wins. In an attribute nothing may follow that looks
    // like a parameter, so that only all letters together can be one.
    let shortest = match context {
        Context::Text => SHORTEST_OPEN_NAME,
        Context::Attribute if next == Some(b'=') => return None,
        Context::Attribute => letters.max(SHORTEST_OPEN_NAME),
    };
    (shortest..=letters.min(LONGEST_OPEN_NAME)).rev().find_map(|length| {
        let name = named(&behind[..length])?;
        Some((Replacement::Named(name), 1 + length))
    })
}

/// The bytes with their character references decoded to UTF-8. Bytes without references are borrowed.
pub fn decode_references(bytes: &[u8], context: Context) -> Cow<'_, [u8]> {
    let Some(mut at) = memchr::memchr(b'&', bytes) else { return Cow::Borrowed(bytes) };
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut done = 0;
    loop {
        decoded.extend_from_slice(&bytes[done..at]);
        done = at + 1;
        match reference(&bytes[at..], context) {
            Some((Replacement::Named(name), length)) => {
                decoded.extend_from_slice(name.as_bytes());
                done = at + length;
            }
            Some((Replacement::Number(character), length)) => {
                decoded.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                done = at + length;
            }
            None => decoded.push(b'&'),
        }
        match memchr::memchr(b'&', &bytes[done..]) {
            Some(next) => at = done + next,
            None => break,
        }
    }
    decoded.extend_from_slice(&bytes[done..]);
    Cow::Owned(decoded)
}

const LONGEST_NAME: usize = 31;
const SHORTEST_OPEN_NAME: usize = 2;
const LONGEST_OPEN_NAME: usize = 6;

fn named(name: &[u8]) -> Option<&'static str> {
    // A page holds these a hundred times more often than all others together.
    match name {
        b"nbsp;" => return Some("\u{A0}"),
        b"amp;" => return Some("&"),
        b"quot;" => return Some("\""),
        b"lt;" => return Some("<"),
        b"gt;" => return Some(">"),
        _ => {}
    }
    NAMES.binary_search_by(|(known, _)| known.as_bytes().cmp(name)).ok().map(|index| NAMES[index].1)
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

    #[track_caller]
    fn check(context: Context, raw: &str, expected: &str) {
        assert_eq!(String::from_utf8_lossy(&decode_references(raw.as_bytes(), context)), expected);
    }

    #[test]
    fn the_table_is_sorted_and_the_limits_hold() {
        assert!(NAMES.is_sorted_by(|a, b| a.0 < b.0));
        let open = NAMES.iter().filter(|(name, _)| !name.ends_with(';')).map(|(name, _)| name.len());
        assert_eq!((open.clone().min(), open.max()), (Some(SHORTEST_OPEN_NAME), Some(LONGEST_OPEN_NAME)));
        assert_eq!(NAMES.iter().map(|(name, _)| name.len()).max(), Some(LONGEST_NAME + 1));
    }

    #[test]
    fn text_reads_references_with_and_without_a_semicolon() {
        for (raw, text) in [
            ("a &amp; b", "a & b"),
            ("&ampx &notit; &notin;", "&x ¬it; ∉"),
            ("&nosuch; & &; &#; &#x;", "&nosuch; & &; &#; &#x;"),
            ("&#8217;&#x4E2D;&#150;&#0;&#xD800;&#99999999999;", "’中–\u{FFFD}\u{FFFD}\u{FFFD}"),
            ("&NotEqualTilde;", "≂̸"),
        ] {
            check(Context::Text, raw, text);
        }
    }

    #[test]
    fn a_query_string_in_a_link_stays_as_it_is() {
        check(Context::Attribute, "?a=1&copy=2&lt=3&ampx&notit;&amp;x&lt", "?a=1&copy=2&lt=3&ampx&notit;&x<");
        check(Context::Attribute, "a&amp;b&#38;c&#x26;d&amp", "a&b&c&d&");
        check(Context::Attribute, "?a=1&region;", "?a=1&region;");
    }

    #[test]
    fn bytes_without_references_are_borrowed() {
        assert!(matches!(decode_references(b"plain \xff", Context::Text), Cow::Borrowed(_)));
        assert_eq!(reference(b"&", Context::Text), None);
        assert_eq!(reference(b"", Context::Attribute), None);
    }
}
