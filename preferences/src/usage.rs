//! The lists of labels and answers in `Content-Usage` and `Content-Signal`.

use sfv::{BareItem, Dictionary, ListEntry, Parser};

use crate::statement::clean;

/// More labels than this are not kept.
const MAX_LABELS: usize = 32;
/// Longer fields are not read: every label that is defined fits many times.
const MAX_FIELD_BYTES: usize = 4096;

/// A `Content-Usage` as `label=answer` pairs: a dictionary of structured fields whose values are tokens. `None` when it
/// is no dictionary or has no such value: then nothing is said.
pub(crate) fn content_usage(field: &[u8]) -> Option<String> {
    if field.len() > MAX_FIELD_BYTES {
        return None;
    }
    let dictionary: Dictionary = Parser::new(field).parse().ok()?;
    let pairs = dictionary.iter().filter_map(|(label, entry)| match entry {
        ListEntry::Item(item) => match &item.bare_item {
            BareItem::Token(token) => Some(format!("{label}={token}")),
            _ => None,
        },
        ListEntry::InnerList(_) => None,
    });
    joined(pairs)
}

/// A `Content-Signal` as `label=answer` pairs in lower case. It has no grammar of its own: pairs are divided by commas
/// or semicolons, and what is no pair is passed over.
pub(crate) fn content_signal(field: &[u8]) -> Option<String> {
    let field = String::from_utf8_lossy(&field[..field.len().min(MAX_FIELD_BYTES)]);
    let is_word = |text: &str| {
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    };
    let pairs = field.split([',', ';']).filter_map(|pair| {
        let (label, answer) = pair.split_once('=')?;
        let (label, answer) = (label.trim().to_ascii_lowercase(), answer.trim().to_ascii_lowercase());
        (is_word(&label) && is_word(&answer)).then(|| format!("{label}={answer}"))
    });
    joined(pairs)
}

fn joined(pairs: impl Iterator<Item = String>) -> Option<String> {
    let pairs: Vec<String> = pairs.take(MAX_LABELS).collect();
    (!pairs.is_empty()).then(|| clean(&pairs.join(", ")))
}

/// The answers for a label in a list that one of the functions above has made.
pub(crate) fn answers<'v>(value: &'v str, label: &'v str) -> impl Iterator<Item = &'v str> {
    let pairs = value.split(", ").filter_map(|pair| pair.split_once('='));
    pairs.filter(move |(found, _)| *found == label).map(|(_, answer)| answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_usage_is_read_as_a_dictionary_of_tokens() {
        let check = |field: &str, expected: Option<&str>| {
            assert_eq!(content_usage(field.as_bytes()).as_deref(), expected, "{field:?}");
        };
        check("train-ai=n", Some("train-ai=n"));
        check("train-ai=y, search=n", Some("train-ai=y, search=n"));
        check("train-ai=n;reason=law ,search=y", Some("train-ai=n, search=y"));
        check("other=maybe, train-ai=n", Some("other=maybe, train-ai=n"));
        // The draft's own example: the last value counts, and none of these is a token.
        check("ai=y, ai=\"n\", genai=n, genai, tdm=n, tdm=()", None);
        check("train-ai=y, train-ai=n", Some("train-ai=n"));
        // What is no dictionary says nothing.
        for broken in ["", "Train-AI=n", "train-ai=n,", "train-ai n", "=n", "train-ai=n; search=y x", "é=n", "\u{0}"] {
            check(broken, None);
        }
    }

    #[test]
    fn content_signal_is_read_as_it_is_written_in_the_wild() {
        let check = |field: &str, expected: Option<&str>| {
            assert_eq!(content_signal(field.as_bytes()).as_deref(), expected, "{field:?}");
        };
        check("search=yes, ai-train=no", Some("search=yes, ai-train=no"));
        check("search=yes,ai-train=no,ai-input=no", Some("search=yes, ai-train=no, ai-input=no"));
        check(" Search = YES ; AI-Train=No", Some("search=yes, ai-train=no"));
        check("search, ai-train=no, =, x=", Some("ai-train=no"));
        check("ai-train", None);
    }
}
