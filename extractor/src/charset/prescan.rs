//! Looking for the encoding that a page names, before the page is decoded.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};

use super::for_label;
use crate::tree::decode_value;

/// Browsers look this far for a declaration anywhere, and further only in the head.
const PRESCAN_BYTES: usize = 1024;
/// The most bytes of a head that are searched.
const MAX_SCANNED: usize = 1 << 18;

/// The encoding named by the first `<meta>` that names one, or by an XML declaration.
pub(super) fn declared(bytes: &[u8]) -> Option<&'static Encoding> {
    let bytes = &bytes[..bytes.len().min(MAX_SCANNED)];
    if let Some(encoding) = xml_declaration(bytes) {
        return Some(encoding);
    }
    let mut n_templates = 0usize;
    let mut in_head = true;
    let mut at = 0;
    loop {
        at += memchr::memchr(b'<', bytes.get(at..)?)?;
        if at >= PRESCAN_BYTES && !in_head {
            return None;
        }
        let rest = &bytes[at..];
        if rest.starts_with(b"<!--") {
            // The dashes may already belong to `-->`.
            at += 2 + memchr::memmem::find(&rest[2..], b"-->")? + 3;
            continue;
        }
        if matches!(rest.get(1), Some(b'!' | b'?')) {
            at += memchr::memchr(b'>', rest)?;
            continue;
        }
        let closing = rest.get(1) == Some(&b'/');
        let name_start = at + 1 + usize::from(closing);
        if !bytes.get(name_start).is_some_and(u8::is_ascii_alphabetic) {
            at += 1;
            continue;
        }
        let Tag { name, attributes, end } = tag(bytes, name_start)?;
        match (name.as_slice(), closing) {
            (b"meta", false) if at < PRESCAN_BYTES || n_templates == 0 => {
                if let Some(encoding) = meta(&attributes) {
                    return Some(encoding);
                }
            }
            (b"template", false) => n_templates += 1,
            (b"template", true) => n_templates = n_templates.saturating_sub(1),
            (b"head", true) | (b"body", false) => in_head = false,
            _ => {}
        }
        at = end;
        if !closing && matches!(name.as_slice(), b"script" | b"style" | b"title" | b"noframes" | b"textarea") {
            at += end_of_raw(&bytes[at..], &name)?;
        }
    }
}

/// A tag as far as it matters here.
struct Tag<'a> {
    name: Vec<u8>,
    attributes: Vec<(Vec<u8>, &'a [u8])>,
    end: usize,
}

/// Reads the tag whose name starts at `start`; nothing when the bytes end in it.
fn tag(bytes: &[u8], start: usize) -> Option<Tag<'_>> {
    let length = bytes[start..].iter().position(|&byte| is_space(byte) || matches!(byte, b'/' | b'>'))?;
    let name = bytes[start..start + length].to_ascii_lowercase();
    let mut attributes = Vec::new();
    let mut at = start + length;
    loop {
        match *bytes.get(at)? {
            b'>' => return Some(Tag { name, attributes, end: at + 1 }),
            byte if is_space(byte) || byte == b'/' => at += 1,
            _ => {
                let (attribute, after) = attribute(bytes, at)?;
                // Only a `<meta>` has attributes that matter here.
                if name == b"meta" {
                    attributes.push(attribute);
                }
                at = after;
            }
        }
    }
}

/// An attribute that starts at `start`, and where it ends.
#[expect(clippy::type_complexity, reason = "name, value, end: used once")]
fn attribute(bytes: &[u8], start: usize) -> Option<((Vec<u8>, &[u8]), usize)> {
    let is_end = |byte: u8| is_space(byte) || matches!(byte, b'/' | b'>' | b'=');
    let length = 1 + bytes[start + 1..].iter().position(|&byte| is_end(byte))?;
    let name = bytes[start..start + length].to_ascii_lowercase();
    let after_space = |at: usize| Some(at + bytes[at..].iter().position(|&byte| !is_space(byte))?);
    let at = after_space(start + length)?;
    if bytes[at] != b'=' {
        return Some(((name, &[]), at));
    }
    let at = after_space(at + 1)?;
    match bytes[at] {
        quote @ (b'"' | b'\'') => {
            let length = memchr::memchr(quote, &bytes[at + 1..])?;
            Some(((name, &bytes[at + 1..at + 1 + length]), at + length + 2))
        }
        _ => {
            let length = bytes[at..].iter().position(|&byte| is_space(byte) || byte == b'>')?;
            Some(((name, &bytes[at..at + length]), at + length))
        }
    }
}

/// The encoding that the attributes of a `<meta>` declare.
fn meta(attributes: &[(Vec<u8>, &[u8])]) -> Option<&'static Encoding> {
    let value = |wanted: &str| {
        let raw = attributes.iter().find(|(name, _)| name == wanted.as_bytes()).map(|(_, value)| *value)?;
        Some(decoded(raw))
    };
    if let Some(encoding) = value("charset").and_then(|label| page_encoding(&label)) {
        return Some(encoding);
    }
    let is_pragma = value("http-equiv")?.eq_ignore_ascii_case(b"content-type");
    if is_pragma { from_content(&value("content")?) } else { None }
}

/// A value with its character references resolved, as in any other attribute.
fn decoded(raw: &[u8]) -> Cow<'_, [u8]> {
    match std::str::from_utf8(raw) {
        Ok(text) if text.contains('&') => Cow::Owned(decode_value(text).into_owned().into_bytes()),
        _ => Cow::Borrowed(raw),
    }
}

/// The label in `text/html; charset=label`.
fn from_content(content: &[u8]) -> Option<&'static Encoding> {
    let lower = content.to_ascii_lowercase();
    let mut rest = lower.as_slice();
    loop {
        let at = memchr::memmem::find(rest, b"charset")?;
        rest = rest[at + b"charset".len()..].trim_ascii_start();
        if let Some(label) = rest.strip_prefix(b"=") {
            let label = label.trim_ascii_start();
            return match label.first()? {
                quote @ (b'"' | b'\'') => {
                    let length = memchr::memchr(*quote, &label[1..])?;
                    page_encoding(&label[1..1 + length])
                }
                _ => {
                    let end = label.iter().position(|&byte| is_space(byte) || byte == b';');
                    page_encoding(&label[..end.unwrap_or(label.len())])
                }
            };
        }
    }
}

/// `<?xml encoding="…"?>` at the very start.
fn xml_declaration(bytes: &[u8]) -> Option<&'static Encoding> {
    if !bytes.starts_with(b"<?xml") {
        return None;
    }
    let end = memchr::memchr(b'>', bytes)?;
    let declaration = &bytes[..end];
    let at = memchr::memmem::find(declaration, b"encoding")? + b"encoding".len();
    let rest = declaration[at..].trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let quote = *rest.first().filter(|byte| matches!(byte, b'"' | b'\''))?;
    let length = memchr::memchr(quote, &rest[1..])?;
    page_encoding(&rest[1..1 + length])
}

/// The encoding of a label found by reading the page as ASCII, which no UTF-16 page would have allowed.
fn page_encoding(label: &[u8]) -> Option<&'static Encoding> {
    let encoding = for_label(std::str::from_utf8(label).ok()?.trim())?;
    Some(match encoding {
        wide if wide == UTF_16BE || wide == UTF_16LE => UTF_8,
        own if own == X_USER_DEFINED => WINDOWS_1252,
        _ => encoding,
    })
}

/// The length of the content of a raw-text element.
fn end_of_raw(bytes: &[u8], name: &[u8]) -> Option<usize> {
    memchr::memchr_iter(b'<', bytes).find(|&at| {
        bytes.get(at + 1) == Some(&b'/')
            && bytes.get(at + 2..at + 2 + name.len()).is_some_and(|found| found.eq_ignore_ascii_case(name))
    })
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b'\x0C')
}
