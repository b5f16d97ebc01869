//! The texts of embedded data that may be the whole of what a page shows the beginning of.

use std::borrow::Cow;

use serde_json::Value;

use super::prose::paragraphs;

/// Shorter texts are no whole.
const MIN_BYTES: usize = 400;

/// Only so many of the longest are compared.
const MAX_TEXTS: usize = 12;

/// Lists of lists are read once for every level, up to so much text.
const MAX_TOTAL_BYTES: usize = 8 << 20;

/// Shorter strings of an item are names and numbers. An item with two longer ones is a teaser of something else, with a
/// title and a summary, and its list no list of paragraphs.
const MIN_STRING_BYTES: usize = 40;

/// Texts, the longest first.
#[derive(Default)]
pub(super) struct Candidates {
    texts: Vec<String>,
    n_bytes: usize,
}

impl Candidates {
    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        let mut order: Vec<&str> = self.texts.iter().map(String::as_str).collect();
        order.sort_by_key(|text| std::cmp::Reverse(text.len()));
        order.into_iter().take(MAX_TEXTS)
    }

    /// Adds every long string and every list of paragraphs of a value.
    pub(super) fn add(&mut self, value: &Value) {
        match value {
            // Data within data: every level halves what its quotes leave.
            Value::String(text) if text.starts_with(['{', '[']) && text.len() >= MIN_BYTES => {
                if let Ok(value) = serde_json::from_str(text) {
                    self.add(&value);
                }
            }
            Value::String(text) => self.add_text(text),
            Value::Array(items) => {
                self.add_list(items);
                items.iter().for_each(|item| self.add(item));
            }
            Value::Object(fields) => fields.values().for_each(|value| self.add(value)),
            _ => {}
        }
    }

    /// Adds a text, which may be HTML.
    pub(super) fn add_text(&mut self, text: &str) {
        if text.len() >= MIN_BYTES && self.n_bytes + text.len() <= MAX_TOTAL_BYTES {
            self.n_bytes += text.len();
            // Where there is no blank line, a line is a paragraph.
            let lines =
                if text.contains("\n\n") { Cow::Borrowed(text) } else { Cow::Owned(text.replace('\n', "\n\n")) };
            self.texts.push(paragraphs(&lines).join("\n\n"));
        }
    }

    fn add_list(&mut self, items: &[Value]) {
        let mut text = String::new();
        let mut n_paragraphs = 0;
        for item in items {
            let mut strings = Vec::new();
            collect(item, &mut strings);
            if strings.len() > 1 || self.n_bytes + text.len() > MAX_TOTAL_BYTES {
                return;
            }
            for paragraph in strings.iter().flat_map(|string| paragraphs(string)) {
                text.push_str(&paragraph);
                text.push_str("\n\n");
                n_paragraphs += 1;
            }
        }
        self.n_bytes += text.len();
        if n_paragraphs >= 2 && text.len() >= MIN_BYTES {
            self.texts.push(text.trim_end().to_owned());
        }
    }
}

/// The strings of an item that may be paragraphs; one too many says that it is none.
fn collect<'v>(value: &'v Value, strings: &mut Vec<&'v str>) {
    match value {
        _ if strings.len() > 1 => {}
        Value::String(text) if text.len() >= MIN_STRING_BYTES && text.contains(' ') => strings.push(text),
        Value::Array(items) => items.iter().for_each(|item| collect(item, strings)),
        Value::Object(fields) => fields.values().for_each(|value| collect(value, strings)),
        _ => {}
    }
}
