//! What the headers of a response say.

use crate::directives::robots_tag;
use crate::statement::{Signal, Source, Statement};
use crate::usage::{content_signal, content_usage};

/// Statements that are kept of one response.
const MAX_STATEMENTS: usize = 32;
/// A `Content-Usage` over many lines is joined up to this length.
const MAX_JOINED_BYTES: usize = 8192;

/// What the headers of a response say to the crawler whose product token is `agent`.
pub fn header_statements<'h>(headers: impl IntoIterator<Item = (&'h [u8], &'h [u8])>, agent: &str) -> Vec<Statement> {
    let mut found = Vec::new();
    // Lines of one structured field are one list.
    let mut usage: Option<Vec<u8>> = None;
    for (name, value) in headers {
        // Most headers are told apart by their length and first letter.
        let is = |wanted: &str| name.eq_ignore_ascii_case(wanted.as_bytes());
        match (name.len(), name.first().map(u8::to_ascii_lowercase)) {
            (13, Some(b'c')) if is("content-usage") => {
                let joined = usage.get_or_insert_default();
                if joined.len() + value.len() <= MAX_JOINED_BYTES {
                    joined.extend_from_slice(if joined.is_empty() { b"" } else { b", " });
                    joined.extend_from_slice(value.trim_ascii());
                }
            }
            (14, Some(b'c')) if is("content-signal") => {
                found.extend(content_signal(value).map(|said| of_page(Signal::ContentSignal, &said)));
            }
            (15, Some(b't')) if is("tdm-reservation") => {
                let text = String::from_utf8_lossy(value.trim_ascii());
                found.extend(matches!(&*text, "0" | "1").then(|| of_page(Signal::TdmReservation, &text)));
            }
            (10, Some(b't')) if is("tdm-policy") => found.extend(address(Signal::TdmPolicy, value)),
            (12, Some(b'x')) if is("x-robots-tag") => found.extend(robots_tag(&String::from_utf8_lossy(value), agent)),
            (4, Some(b'l')) if is("link") => found.extend(license_link(&String::from_utf8_lossy(value))),
            _ => {}
        }
        if found.len() >= MAX_STATEMENTS {
            break;
        }
    }
    found.extend(usage.and_then(|list| content_usage(&list)).map(|said| of_page(Signal::ContentUsage, &said)));
    found
}

fn of_page(signal: Signal, value: &str) -> Statement {
    Statement::of_page(signal, Source::Header, value)
}

fn address(signal: Signal, value: &[u8]) -> Option<Statement> {
    let value = String::from_utf8_lossy(value);
    (!value.trim().is_empty()).then(|| of_page(signal, &value))
}

/// The target of a `Link` with the relation `license` and the type of RSL: other licences are no terms for machines.
fn license_link(value: &str) -> Option<Statement> {
    let found = value.split("<").skip(1).find_map(|link| {
        let (target, parameters) = link.split_once('>')?;
        let (mut is_license, mut is_rsl) = (false, false);
        for parameter in parameters.split(';') {
            let Some((name, value)) = parameter.split_once('=') else { continue };
            let value = value.trim().trim_end_matches(',').trim().trim_matches('"');
            match name.trim().to_ascii_lowercase().as_str() {
                "rel" => is_license = is_license_relation(value),
                "type" => is_rsl = is_rsl_type(value),
                _ => {}
            }
        }
        (is_license && is_rsl).then_some(target)
    })?;
    (!found.trim().is_empty()).then(|| of_page(Signal::License, found))
}

pub(crate) fn is_license_relation(relations: &str) -> bool {
    relations.split_ascii_whitespace().any(|word| word.eq_ignore_ascii_case("license"))
}

pub(crate) fn is_rsl_type(media_type: &str) -> bool {
    media_type.trim().eq_ignore_ascii_case("application/rsl+xml")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(lines: &[(&str, &str)], expected: &[(&str, &str)]) {
        let headers = lines.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes()));
        let found = header_statements(headers, "pith");
        let said: Vec<_> = found.iter().map(|said| (said.signal.name(), said.value.as_str())).collect();
        assert_eq!(said, expected, "{lines:?}");
        assert!(found.iter().all(|said| said.source == Source::Header && said.scope == "page"));
    }

    #[test]
    fn the_examples_of_the_specifications_are_understood() {
        check(
            &[("Date", "Wed, 23 Apr 2025 04:48:02 GMT"), ("Content-Usage", "train-ai=n")],
            &[("content-usage", "train-ai=n")],
        );
        check(&[("tdm-reservation", "1")], &[("tdm-reservation", "1")]);
        check(
            &[("TDM-Reservation", " 1 "), ("tdm-policy", "https://provider.com/policies/policy.json")],
            &[("tdm-reservation", "1"), ("tdm-policy", "https://provider.com/policies/policy.json")],
        );
        check(&[("Content-Signal", "search=yes, ai-train=no")], &[("content-signal", "search=yes, ai-train=no")]);
        check(&[("X-Robots-Tag", "noai"), ("X-Robots-Tag", "otherbot: noindex")], &[("robots", "noai")]);
        check(
            &[(
                "Link",
                "</style.css>; rel=preload, <https://a.test/license.xml>; rel=\"license\"; type=\"application/rsl+xml\"",
            )],
            &[("license", "https://a.test/license.xml")],
        );
    }

    #[test]
    fn lines_of_one_field_are_one_list() {
        check(&[("content-usage", "train-ai=y"), ("content-usage", "train-ai=n")], &[("content-usage", "train-ai=n")]);
        check(&[("content-usage", "train-ai=n"), ("content-usage", "?broken")], &[]);
    }

    #[test]
    fn what_cannot_be_read_says_nothing() {
        for (name, value) in [
            ("tdm-reservation", "yes"),
            ("tdm-reservation", "11"),
            ("tdm-policy", " "),
            ("content-signal", "ai-train"),
            ("link", "<https://creativecommons.org/licenses/by/4.0/>; rel=license"),
            ("link", "license"),
        ] {
            check(&[(name, value)], &[]);
        }
        let long = "a".repeat(1 << 20);
        check(&[("content-usage", &long), ("x-robots-tag", &long), ("link", &"<".repeat(1 << 20)), ("", "")], &[]);
    }
}
