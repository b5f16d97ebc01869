//! What the head of an HTML page says: `<meta>` and `<link>` elements.

use memchr::{memchr, memmem};

use crate::directives::statement;
use crate::headers::{is_license_relation, is_rsl_type};
use crate::statement::{Signal, Source, Statement};

/// The head of a page is not looked for beyond this many bytes of markup, contents of scripts and styles not counted.
const MAX_HEAD_BYTES: usize = 128 << 10;
/// Statements that are kept of one page.
const MAX_STATEMENTS: usize = 16;
/// Attributes that are looked at in one element.
const MAX_ATTRIBUTES: usize = 32;

/// What an HTML page says to the crawler whose product token is `agent`.
///
/// The elements before `</head>` or `<body>` are read; comments and the contents of scripts, styles and titles are not.
pub fn html_statements(body: &[u8], agent: &str) -> Vec<Statement> {
    let narrow;
    let mut rest = match body {
        [0xFE, 0xFF, ..] | [0xFF, 0xFE, ..] => {
            narrow = narrowed(body);
            &narrow[..]
        }
        _ => body,
    };
    let mut found = Vec::new();
    let mut left = MAX_HEAD_BYTES;
    while let Some(at) = memchr(b'<', &rest[..rest.len().min(left)]) {
        let tag = &rest[at + 1..];
        left -= at + 1;
        let name_end = tag.iter().take(16).take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'/').count();
        let name = &tag[..name_end];
        let is = |wanted: &str| name.eq_ignore_ascii_case(wanted.as_bytes());
        if is("meta") || is("link") {
            let (attributes, length) = Attributes::read(&tag[name_end..], left);
            found.extend(if is("meta") { attributes.meta(agent) } else { attributes.license() });
            if found.len() >= MAX_STATEMENTS {
                break;
            }
            rest = &tag[name_end + length..];
            left = left.saturating_sub(name_end + length);
        } else if tag.starts_with(b"!--") {
            rest = after(&tag[3..], b"-->");
        } else if let Some(end) = raw_text_end(name) {
            rest = after_end_tag(tag, end);
        } else if is("body") || is("/head") {
            break;
        } else {
            rest = tag;
        }
    }
    found
}

/// The end tag of an element whose content is no markup.
fn raw_text_end(name: &[u8]) -> Option<&'static [u8]> {
    const ELEMENTS: [(&str, &[u8]); 4] =
        [("script", b"script"), ("style", b"style"), ("title", b"title"), ("noscript", b"noscript")];
    ELEMENTS.iter().find(|(element, _)| name.eq_ignore_ascii_case(element.as_bytes())).map(|(_, end)| *end)
}

fn after<'b>(bytes: &'b [u8], end: &[u8]) -> &'b [u8] {
    memmem::find(bytes, end).map_or(&[], |at| &bytes[at + end.len()..])
}

/// What follows `</name`.
fn after_end_tag<'b>(bytes: &'b [u8], name: &[u8]) -> &'b [u8] {
    for at in memmem::find_iter(bytes, b"</") {
        let rest = &bytes[at + 2..];
        if rest.len() >= name.len() && rest[..name.len()].eq_ignore_ascii_case(name) {
            return &rest[name.len()..];
        }
    }
    &[]
}

/// The ASCII of the beginning of a page in UTF-16.
fn narrowed(body: &[u8]) -> Vec<u8> {
    let is_big = body[0] == 0xFE;
    let pairs = body[2..].chunks_exact(2).take(MAX_HEAD_BYTES);
    let units = pairs.map(|pair| if is_big { [pair[0], pair[1]] } else { [pair[1], pair[0]] });
    units.map(|[high, low]| if high == 0 { low } else { b'?' }).collect()
}

/// The attributes that matter, each as first given.
#[derive(Default)]
struct Attributes<'b> {
    name: Option<&'b [u8]>,
    content: Option<&'b [u8]>,
    rel: Option<&'b [u8]>,
    href: Option<&'b [u8]>,
    kind: Option<&'b [u8]>,
}

impl<'b> Attributes<'b> {
    /// Reads attributes up to `>`; gives the bytes they take.
    fn read(bytes: &'b [u8], most: usize) -> (Attributes<'b>, usize) {
        let bytes = &bytes[..bytes.len().min(most)];
        let mut found = Attributes::default();
        let mut at = 0;
        for _ in 0..MAX_ATTRIBUTES {
            at += count(&bytes[at..], |byte| byte.is_ascii_whitespace() || byte == b'/');
            if bytes.get(at).is_none_or(|byte| *byte == b'>') {
                break;
            }
            // An attribute may begin with `=`, as browsers read it.
            let name =
                at..at + 1 + count(&bytes[at + 1..], |byte| !byte.is_ascii_whitespace() && !b"=/>".contains(&byte));
            at = name.end + count(&bytes[name.end..], |byte| byte.is_ascii_whitespace());
            let mut value: &[u8] = b"";
            if bytes.get(at) == Some(&b'=') {
                at += 1;
                at += count(&bytes[at..], |byte| byte.is_ascii_whitespace());
                let rest = &bytes[at..];
                value = match rest.first() {
                    Some(quote @ (b'"' | b'\'')) => {
                        let end = memchr(*quote, &rest[1..]).map_or(rest.len(), |end| end + 1);
                        at += (end + 1).min(rest.len());
                        &rest[1..end]
                    }
                    _ => {
                        let end = count(rest, |byte| !byte.is_ascii_whitespace() && byte != b'>');
                        at += end;
                        &rest[..end]
                    }
                };
            }
            found.set(&bytes[name], value);
        }
        (found, at)
    }

    fn set(&mut self, name: &[u8], value: &'b [u8]) {
        let slots: [(&str, &mut Option<&'b [u8]>); 5] = [
            ("name", &mut self.name),
            ("content", &mut self.content),
            ("rel", &mut self.rel),
            ("href", &mut self.href),
            ("type", &mut self.kind),
        ];
        for (wanted, slot) in slots {
            if name.eq_ignore_ascii_case(wanted.as_bytes()) && slot.is_none() {
                *slot = Some(value);
            }
        }
    }

    /// What a `<meta>` says.
    fn meta(&self, agent: &str) -> Option<Statement> {
        let (name, content) = (self.name?.trim_ascii(), self.content?);
        let is = |wanted: &str| name.eq_ignore_ascii_case(wanted.as_bytes());
        if is("robots") {
            statement(&String::from_utf8_lossy(content), Source::Html, "*")
        } else if is(agent) {
            statement(&String::from_utf8_lossy(content), Source::Html, agent)
        } else if is("tdm-reservation") {
            let value = String::from_utf8_lossy(content.trim_ascii());
            matches!(&*value, "0" | "1").then(|| of_page(Signal::TdmReservation, &value))
        } else if is("tdm-policy") {
            let value = String::from_utf8_lossy(content.trim_ascii());
            (!value.is_empty()).then(|| of_page(Signal::TdmPolicy, &value))
        } else {
            None
        }
    }

    /// The RSL licence that a `<link>` names.
    fn license(&self) -> Option<Statement> {
        let text = |value: Option<&'b [u8]>| value.map(String::from_utf8_lossy);
        if !is_license_relation(&text(self.rel)?) || !is_rsl_type(&text(self.kind)?) {
            return None;
        }
        text(self.href).filter(|target| !target.trim().is_empty()).map(|target| of_page(Signal::License, &target))
    }
}

fn of_page(signal: Signal, value: &str) -> Statement {
    Statement::of_page(signal, Source::Html, value)
}

fn count(bytes: &[u8], mut wanted: impl FnMut(u8) -> bool) -> usize {
    bytes.iter().take_while(|byte| wanted(**byte)).count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn said(html: &[u8]) -> Vec<(&'static str, String)> {
        html_statements(html, "pith").into_iter().map(|said| (said.signal.name(), said.value)).collect()
    }

    #[track_caller]
    fn check(html: &str, expected: &[(&str, &str)]) {
        let found = said(html.as_bytes());
        let found: Vec<(&str, &str)> = found.iter().map(|(signal, value)| (*signal, value.as_str())).collect();
        assert_eq!(found, expected, "{html}");
    }

    #[test]
    fn the_examples_of_the_specifications_are_understood() {
        check(
            r#"<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta name="tdm-reservation" content="1">
               <meta name="tdm-policy" content="https://provider.com/policies/policy.json"><title>Document title</title>"#,
            &[("tdm-reservation", "1"), ("tdm-policy", "https://provider.com/policies/policy.json")],
        );
        check(r#"<meta name="robots" content="noai, noimageai">"#, &[("robots", "noai, noimageai")]);
        check(
            r#"<link rel="license" type="application/rsl+xml" href="https://a.test/license.xml">"#,
            &[("license", "https://a.test/license.xml")],
        );
        check(r#"<link rel="license" href="https://creativecommons.org/licenses/by/4.0/">"#, &[]);
    }

    #[test]
    fn elements_are_read_as_browsers_do() {
        check("<META CONTENT=noai NAME=ROBOTS>", &[("robots", "noai")]);
        check("<meta name = 'Robots' content = 'NoAI'/>", &[("robots", "noai")]);
        check("<meta name=Pith content=noai><meta name=otherbot content=noai>", &[("robots", "noai")]);
        check("<meta name=robots name=x content=noai content=all>", &[("robots", "noai")]);
        check("<meta content='a>b' name=robots><meta name=robots content=noai>", &[("robots", "noai")]);
        check("<metadata name=robots content=noai>", &[]);
        check("<!-- <meta name=robots content=noai> --><title><meta name=robots content=noai></title>", &[]);
        check(
            "<script>'<meta name=robots content=noai>'</script x><meta name=robots content=none>",
            &[("robots", "none")],
        );
        check("<head></head><meta name=robots content=noai>", &[]);
        check("<p>text<body><meta name=robots content=noai>", &[]);
        check("<meta name=tdm-reservation content=2><meta name=tdm-policy content=''>", &[]);
        check("<meta name=robots content=noai", &[("robots", "noai")]);
    }

    #[test]
    fn a_page_in_utf_16_is_read() {
        let text = "<meta name=robots content=noai>";
        let little: Vec<u8> = [0xFF, 0xFE].into_iter().chain(text.bytes().flat_map(|byte| [byte, 0])).collect();
        let big: Vec<u8> = [0xFE, 0xFF].into_iter().chain(text.bytes().flat_map(|byte| [0, byte])).collect();
        assert_eq!(said(&little), [("robots", "noai".to_owned())]);
        assert_eq!(said(&big), [("robots", "noai".to_owned())]);
    }

    #[test]
    fn a_megabyte_of_nonsense_takes_no_time() {
        let pieces = [
            "<",
            "<meta ",
            "<meta name=robots content='",
            "<!--",
            "<script",
            "</",
            "<title></",
            "a ",
            "=",
            "<link rel=license ",
        ];
        for piece in pieces {
            let text = piece.repeat((1 << 20) / piece.len());
            let started = std::time::Instant::now();
            let found = html_statements(text.as_bytes(), "pith");
            assert!(started.elapsed().as_millis() < 1_000, "{:?} for {piece}", started.elapsed());
            assert!(found.len() <= MAX_STATEMENTS);
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_taken(bytes in prop::collection::vec(any::<u8>(), 0..400), html in "[<>/=!'\"a-z \u{0}-]{0,80}") {
            html_statements(&bytes, "pith");
            html_statements(html.as_bytes(), "pith");
            html_statements(format!("<meta {html}").as_bytes(), "pith");
        }
    }
}
