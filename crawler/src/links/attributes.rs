//! The attributes of one tag, by the rules of the HTML standard.

use super::scan::Attribute;

/// The largest number of attributes that are read of one tag.
const MAX_ATTRIBUTES: usize = 64;

/// The index of the `>` that closes the tag whose name ends at `from`; a `>` within quotes does not count.
pub fn tag_end(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        at += memchr::memchr3(b'>', b'"', b'\'', bytes.get(at..)?)?;
        if bytes[at] == b'>' {
            return Some(at);
        }
        // A quote opens a value only after an equals sign.
        let before = bytes[from..at].trim_ascii_end();
        at += 1;
        if before.last() == Some(&b'=') {
            at += memchr::memchr(bytes[at - 1], bytes.get(at..)?)? + 1;
        }
    }
}

/// Reads the attributes between the tag's name and its `>`. A value with an unclosed quote is dropped.
pub fn read<'t>(mut rest: &'t [u8], attributes: &mut Vec<Attribute<'t>>) {
    let skip = |bytes: &'t [u8], unwanted: fn(u8) -> bool| {
        let n = bytes.iter().take_while(|byte| unwanted(**byte)).count();
        &bytes[n..]
    };
    let is_white = |byte: u8| byte.is_ascii_whitespace();
    while attributes.len() < MAX_ATTRIBUTES {
        rest = skip(rest, |byte| byte.is_ascii_whitespace() || byte == b'/');
        if rest.is_empty() {
            return;
        }
        // A leading equals sign belongs to the name.
        let name_end =
            1 + rest[1..].iter().take_while(|byte| !byte.is_ascii_whitespace() && !matches!(byte, b'/' | b'=')).count();
        let name = &rest[..name_end];
        rest = skip(&rest[name_end..], is_white);
        let Some(after) = rest.strip_prefix(b"=") else {
            attributes.push(Attribute { name, value: b"" });
            continue;
        };
        rest = skip(after, is_white);
        let value = match rest.first() {
            Some(&quote @ (b'"' | b'\'')) => {
                let Some(end) = memchr::memchr(quote, &rest[1..]) else { return };
                let value = &rest[1..=end];
                rest = &rest[end + 2..];
                value
            }
            _ => {
                let end = rest.iter().take_while(|byte| !byte.is_ascii_whitespace()).count();
                let value = &rest[..end];
                rest = &rest[end..];
                value
            }
        };
        attributes.push(Attribute { name, value });
    }
}
