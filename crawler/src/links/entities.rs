//! Character references in attribute values and text.

use std::borrow::Cow;

/// The names of U+00A0 to U+00FF, in their order.
const LATIN: &[&str] = &[
    "nbsp", "iexcl", "cent", "pound", "curren", "yen", "brvbar", "sect", "uml", "copy", "ordf", "laquo", "not", "shy",
    "reg", "macr", "deg", "plusmn", "sup2", "sup3", "acute", "micro", "para", "middot", "cedil", "sup1", "ordm",
    "raquo", "frac14", "frac12", "frac34", "iquest", "Agrave", "Aacute", "Acirc", "Atilde", "Auml", "Aring", "AElig",
    "Ccedil", "Egrave", "Eacute", "Ecirc", "Euml", "Igrave", "Iacute", "Icirc", "Iuml", "ETH", "Ntilde", "Ograve",
    "Oacute", "Ocirc", "Otilde", "Ouml", "times", "Oslash", "Ugrave", "Uacute", "Ucirc", "Uuml", "Yacute", "THORN",
    "szlig", "agrave", "aacute", "acirc", "atilde", "auml", "aring", "aelig", "ccedil", "egrave", "eacute", "ecirc",
    "euml", "igrave", "iacute", "icirc", "iuml", "eth", "ntilde", "ograve", "oacute", "ocirc", "otilde", "ouml",
    "divide", "oslash", "ugrave", "uacute", "ucirc", "uuml", "yacute", "thorn", "yuml",
];

/// Other names that are common in links and anchor texts.
const OTHERS: &[(&str, char)] = &[
    ("amp", '&'),
    ("AMP", '&'),
    ("lt", '<'),
    ("gt", '>'),
    ("quot", '"'),
    ("apos", '\''),
    ("sol", '/'),
    ("num", '#'),
    ("quest", '?'),
    ("equals", '='),
    ("colon", ':'),
    ("period", '.'),
    ("lowbar", '_'),
    ("percnt", '%'),
    ("comma", ','),
    ("semi", ';'),
    ("commat", '@'),
    ("plus", '+'),
    ("excl", '!'),
    ("Tab", '\t'),
    ("NewLine", '\n'),
    ("ndash", '\u{2013}'),
    ("mdash", '\u{2014}'),
    ("hellip", '\u{2026}'),
    ("lsquo", '\u{2018}'),
    ("rsquo", '\u{2019}'),
    ("ldquo", '\u{201C}'),
    ("rdquo", '\u{201D}'),
    ("bull", '\u{2022}'),
    ("euro", '\u{20AC}'),
];

/// The bytes with their character references decoded to UTF-8. Bytes without references are borrowed.
pub fn decode(bytes: &[u8]) -> Cow<'_, [u8]> {
    let Some(first) = memchr::memchr(b'&', bytes) else { return Cow::Borrowed(bytes) };
    let mut decoded = Vec::with_capacity(bytes.len());
    decoded.extend_from_slice(&bytes[..first]);
    let mut rest = &bytes[first..];
    while let Some(at) = memchr::memchr(b'&', rest) {
        decoded.extend_from_slice(&rest[..at]);
        rest = &rest[at..];
        match reference(rest) {
            Some((letter, length)) => {
                decoded.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
                rest = &rest[length..];
            }
            None => {
                decoded.push(b'&');
                rest = &rest[1..];
            }
        }
    }
    decoded.extend_from_slice(rest);
    Cow::Owned(decoded)
}

/// The character of the reference at the start, and the length of the reference.
fn reference(bytes: &[u8]) -> Option<(char, usize)> {
    let body = &bytes[1..bytes.len().min(34)];
    if let Some(number) = body.strip_prefix(b"#") {
        let (digits, radix, mark) = match number.first() {
            Some(b'x' | b'X') => (&number[1..], 16, 3),
            _ => (number, 10, 2),
        };
        let length = digits.iter().take_while(|byte| char::from(**byte).is_digit(radix)).count();
        let text = std::str::from_utf8(&digits[..length]).ok().filter(|text| !text.is_empty())?;
        let letter = letter(u32::from_str_radix(text, radix).unwrap_or(0x11_0000));
        let closed = usize::from(digits.get(length) == Some(&b';'));
        return Some((letter, mark + length + closed));
    }
    let length = body.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    let name = std::str::from_utf8(&body[..length]).ok()?;
    let closed = body.get(length) == Some(&b';');
    // Without a semicolon, and before `=`, it is a parameter that only looks like a name: `?a=1&copy=2`.
    if !closed && (!matches!(name, "amp" | "AMP" | "lt" | "gt" | "quot" | "nbsp") || body.get(length) == Some(&b'=')) {
        return None;
    }
    let latin = LATIN.iter().position(|known| *known == name);
    let letter = match latin {
        Some(index) => char::from_u32(0xA0 + index as u32)?,
        None => OTHERS.iter().find(|(known, _)| *known == name)?.1,
    };
    Some((letter, 1 + length + usize::from(closed)))
}

/// The character of a numeric reference: windows-1252 for 0x80 to 0x9F, U+FFFD for invalid numbers.
fn letter(number: u32) -> char {
    match number {
        0x80..=0x9F => {
            let byte = [number as u8];
            encoding_rs::WINDOWS_1252.decode_without_bom_handling(&byte).0.chars().next().unwrap_or('\u{FFFD}')
        }
        0 => '\u{FFFD}',
        _ => char::from_u32(number).unwrap_or('\u{FFFD}'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_decoded_and_parameters_are_not() {
        let check = |text: &str, expected: &str| {
            assert_eq!(String::from_utf8_lossy(&decode(text.as_bytes())), expected);
        };
        check("a&amp;b&#38;c&#x26;d&amp", "a&b&c&d&");
        check("?a=1&copy=2&lt=3&region;", "?a=1&copy=2&lt=3&region;");
        check("caf&eacute; &#150; &#0; &#x110000; &", "caf\u{e9} \u{2013} \u{fffd} \u{fffd} &");
    }
}
