//! Media types: parsed from headers as browsers do, and sniffed from bodies without one.

/// A media type with its parameters, such as `text/html; charset=utf-8`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MediaType {
    essence: String,
    parameters: Vec<(String, String)>,
}

impl MediaType {
    /// Parses the value of a header, decoded as Latin-1; `None` when it is no media type.
    pub fn parse(value: &str) -> Option<MediaType> {
        let value = value.trim_matches(is_space);
        let (kind, rest) = value.split_once('/')?;
        let (subtype, mut rest) = rest.split_once(';').unwrap_or((rest, ""));
        let subtype = subtype.trim_end_matches(is_space);
        if !is_token(kind) || !is_token(subtype) {
            return None;
        }
        let essence = format!("{kind}/{subtype}").to_ascii_lowercase();
        let mut parameters: Vec<(String, String)> = Vec::new();
        while !rest.is_empty() {
            rest = rest.trim_start_matches(is_space);
            let end = rest.find([';', '=']).unwrap_or(rest.len());
            let name = rest[..end].to_ascii_lowercase();
            let has_value = rest[end..].starts_with('=');
            rest = rest.get(end + 1..).unwrap_or("");
            if !has_value {
                continue;
            }
            let (parameter, behind) = read_value(rest);
            rest = behind;
            let is_new = !parameters.iter().any(|(known, _)| *known == name);
            if let Some(parameter) = parameter
                && is_new
                && is_token(&name)
                && parameter.chars().all(|c| matches!(c, '\t' | ' '..='~' | '\u{80}'..='\u{ff}'))
            {
                parameters.push((name, parameter));
            }
        }
        Some(MediaType { essence, parameters })
    }

    /// Type and subtype, in lower case.
    pub fn essence(&self) -> &str {
        &self.essence
    }

    /// The value of a parameter, its name in lower case.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

impl std::fmt::Display for MediaType {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.essence)?;
        for (name, value) in &self.parameters {
            if is_token(value) {
                write!(formatter, ";{name}={value}")?;
            } else {
                write!(formatter, ";{name}=\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""))?;
            }
        }
        Ok(())
    }
}

/// The value of a parameter, if it has one, and the rest after the `;` that ends it.
fn read_value(text: &str) -> (Option<String>, &str) {
    let behind = |text: &'_ str| text.find(';').map_or(text.len(), |end| end + 1);
    let Some(quoted) = text.strip_prefix('"') else {
        let (value, rest) = text.split_once(';').unwrap_or((text, ""));
        let value = value.trim_end_matches(is_space);
        return ((!value.is_empty()).then(|| value.to_owned()), rest);
    };
    let mut value = String::new();
    let mut letters = quoted.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => {
                let rest = &quoted[at + 1..];
                return (Some(value), &rest[behind(rest)..]);
            }
            '\\' => value.push(letters.next().map_or('\\', |(_, letter)| letter)),
            letter => value.push(letter),
        }
    }
    (Some(value), "")
}

fn is_space(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' ')
}

fn is_token(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c))
}

/// Whether a media type is one of text pages.
pub(crate) fn is_text(essence: &str) -> bool {
    match essence {
        "text/css" | "text/javascript" | "text/csv" | "text/calendar" => false,
        "" | "application/xhtml+xml" | "application/xml" | "application/octet-stream" => true,
        other => other.starts_with("text/"),
    }
}

/// The media type of a body by its first bytes, as in the MIME Sniffing Standard.
pub(crate) fn sniff(bytes: &[u8]) -> &'static str {
    const TAGS: &[&str] = &[
        "<!doctype html",
        "<html",
        "<head",
        "<script",
        "<iframe",
        "<h1",
        "<div",
        "<font",
        "<table",
        "<a",
        "<style",
        "<title",
        "<b",
        "<body",
        "<br",
        "<p",
        "<!--",
    ];
    let marks: [&[u8]; 3] = [b"\xef\xbb\xbf", b"\xfe\xff", b"\xff\xfe"];
    let start = bytes.strip_prefix(marks[0]).unwrap_or(bytes).trim_ascii_start();
    let starts_with = |tag: &str| start.get(..tag.len()).is_some_and(|own| own.eq_ignore_ascii_case(tag.as_bytes()));
    let is_tag =
        |tag: &&str| starts_with(tag) && (tag.ends_with('-') || matches!(start.get(tag.len()), Some(b' ' | b'>')));
    let is_binary = |byte: &u8| matches!(byte, 0..=8 | 0x0b | 0x0e..=0x1a | 0x1c..=0x1f);
    if TAGS.iter().any(is_tag) {
        "text/html"
    } else if start.starts_with(b"<?xml") {
        "application/xml"
    } else if bytes.starts_with(b"%PDF-") {
        "application/pdf"
    } else if marks.iter().any(|mark| bytes.starts_with(mark)) || !bytes.iter().take(1445).any(is_binary) {
        "text/plain"
    } else {
        "application/x-binary"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_without_a_type_is_told_by_its_first_bytes() {
        assert_eq!(sniff(b"\n <!DOCTYPE HTML><p>"), "text/html");
        assert_eq!(sniff(b"\xef\xbb\xbf<html lang=pt>"), "text/html");
        assert_eq!(sniff(b"<p>words"), "text/html");
        assert_eq!(sniff(b"<price> is what you pay"), "text/plain");
        assert_eq!(sniff(b"<?xml version='1.0'?>"), "application/xml");
        assert_eq!(sniff(b"plain words"), "text/plain");
        assert_eq!(sniff(b"\xff\xfe<\0p\0>\0"), "text/plain");
        assert_eq!(sniff(b"%PDF-1.7\n"), "application/pdf");
        assert_eq!(sniff(b"\x89PNG\r\n\x1a\n\0\0"), "application/x-binary");
    }

    #[test]
    fn the_charset_is_a_parameter() {
        let charset = |value: &str| MediaType::parse(value)?.parameter("charset").map(str::to_owned);
        assert_eq!(charset("text/html; charset=\"big5\"").as_deref(), Some("big5"));
        assert_eq!(charset("Text/HTML;x=y; CharSet=utf-8").as_deref(), Some("utf-8"));
        assert_eq!(charset("text/html"), None);
        assert_eq!(charset("charset=utf-8"), None);
    }
}
