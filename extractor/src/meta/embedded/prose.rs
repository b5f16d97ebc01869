//! The prose among the strings of embedded data.

use std::collections::HashSet;

use serde_json::Value;

use super::collapse;
use crate::blocks::Page;
use crate::blocks::lexicon::hash;
use crate::count_words;
use crate::tree::Tree;

/// Fewer words are a label, not prose.
const MIN_WORDS: usize = 12;

/// Paragraphs in the order of the data, each once.
#[derive(Default)]
pub(super) struct Prose {
    paragraphs: Vec<String>,
    seen: HashSet<u32>,
}

impl Prose {
    pub(super) fn is_empty(&self) -> bool {
        self.paragraphs.is_empty()
    }

    /// The paragraphs, separated by blank lines.
    pub(super) fn into_text(self) -> String {
        self.paragraphs.join("\n\n")
    }

    /// Recursion is bounded by the depth limit of the JSON parser.
    pub(super) fn read_value(&mut self, value: &Value) {
        match value {
            Value::String(text) => self.read_text(text),
            Value::Array(values) => values.iter().for_each(|value| self.read_value(value)),
            Value::Object(fields) => fields.values().for_each(|value| self.read_value(value)),
            _ => {}
        }
    }

    /// Adds the paragraphs of a text, which may be HTML.
    pub(super) fn read_text(&mut self, text: &str) {
        if text.len() >= 2 * MIN_WORDS {
            paragraphs(text).iter().for_each(|paragraph| self.add(paragraph));
        }
    }

    /// Keeps a paragraph that reads like prose: enough words and a sentence end; no code, URLs or nested data.
    fn add(&mut self, paragraph: &str) {
        let code = |c: char| matches!(c, '{' | '}' | ';' | '=' | '<' | '\\');
        let n_signs = paragraph.chars().filter(|c| code(*c)).count();
        let ends = paragraph.contains(['.', '!', '?', '。', '！', '？', '…']);
        if ends && count_words(paragraph) >= MIN_WORDS.max(8 * n_signs) && self.seen.insert(hash(paragraph)) {
            self.paragraphs.push(paragraph.to_owned());
        }
    }
}

/// The paragraphs of a text or of a piece of HTML.
pub(super) fn paragraphs(text: &str) -> Vec<String> {
    let paragraphs: Vec<String> = if text.contains("</") || text.contains("<br") || text.contains("<p") {
        let page = Page::read(Tree::parse(text));
        page.blocks.iter().map(|block| collapse(page.block_text(block))).collect()
    } else {
        text.split("\n\n").map(collapse).collect()
    };
    paragraphs.into_iter().filter(|paragraph| !paragraph.is_empty()).collect()
}
