//! What a script would have drawn: pages that hold their text as data and show nothing without running it.

use std::collections::HashSet;

use serde_json::Value;

use super::{Head, collapse};
use crate::blocks::Page;
use crate::blocks::lexicon::hash;
use crate::count_words;
use crate::tree::{Tag, Tree};

/// More data than this is not read.
const MAX_BYTES: usize = 4 << 20;

/// Fewer words are a label, not prose.
const MIN_WORDS: usize = 12;

impl Head {
    /// The text that a page holds as data: the piece by its structured data, else the prose in the state that its
    /// scripts start from (`__NEXT_DATA__` and its kin). Nothing where there is none.
    pub(crate) fn stated_text(&self, tree: &Tree<'_>) -> String {
        let mut prose = Prose::default();
        prose.read_text(&self.structured.body);
        if prose.paragraphs.is_empty() {
            for node in tree.nodes().filter(|node| tree.is_element(*node) && tree.tag(*node) == Tag::Script) {
                let kind = tree.attribute(node, "type").unwrap_or_default().to_ascii_lowercase();
                if kind.contains("json") && !kind.contains("ld+json") {
                    prose.read_json(&tree.text_content(node));
                }
            }
        }
        prose.paragraphs.join("\n\n")
    }
}

/// Paragraphs in the order of the data, each once.
#[derive(Default)]
struct Prose {
    paragraphs: Vec<String>,
    seen: HashSet<u32>,
    n_bytes: usize,
}

impl Prose {
    fn read_json(&mut self, json: &str) {
        self.n_bytes += json.len();
        if self.n_bytes <= MAX_BYTES
            && let Ok(value) = serde_json::from_str::<Value>(json)
        {
            self.read_value(&value);
        }
    }

    /// Goes as deep as the parser does, which has a bound.
    fn read_value(&mut self, value: &Value) {
        match value {
            Value::String(text) => self.read_text(text),
            Value::Array(values) => values.iter().for_each(|value| self.read_value(value)),
            Value::Object(fields) => fields.values().for_each(|value| self.read_value(value)),
            _ => {}
        }
    }

    fn read_text(&mut self, text: &str) {
        if text.len() < 2 * MIN_WORDS {
            return;
        }
        if text.contains("</") || text.contains("<br") || text.contains("<p") {
            let page = Page::read(Tree::parse(text));
            page.blocks.iter().for_each(|block| self.add(page.block_text(block)));
        } else {
            text.split("\n\n").for_each(|paragraph| self.add(paragraph));
        }
    }

    /// Keeps what reads like sentences: enough words, and an end; not code, addresses or data once more.
    fn add(&mut self, paragraph: &str) {
        let paragraph = collapse(paragraph);
        let code = |c: char| matches!(c, '{' | '}' | ';' | '=' | '<' | '\\');
        let n_signs = paragraph.chars().filter(|c| code(*c)).count();
        let ends = paragraph.contains(['.', '!', '?', '。', '！', '？', '…']);
        if ends && count_words(&paragraph) >= MIN_WORDS.max(8 * n_signs) && self.seen.insert(hash(&paragraph)) {
            self.paragraphs.push(paragraph);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(html: &str, expected: &str) {
        let tree = Tree::parse(html);
        assert_eq!(Head::read(&tree).stated_text(&tree), expected, "{html}");
    }

    const RAIN: &str = "It rained all day in the town, and nobody went out until it was dark.";

    #[test]
    fn state_gives_its_prose_once_and_in_order() {
        let json = format!(
            r#"{{"props":{{"id":"a-1","url":"https://example.com/a.html?b=c","body":"<p>{RAIN}</p><p>Short.</p>",
            "again":["{RAIN}"],"style":"a {{ b: c; }} d {{ e: f; }} one two three four five six seven eight nine."}}}}"#
        );
        check(&format!("<div id=root></div><script id=__NEXT_DATA__ type=application/json>{json}</script>"), RAIN);
    }

    #[test]
    fn structured_data_comes_first() {
        let html = format!(
            r#"<script type=application/ld+json>{{"@type":"Article","articleBody":"{RAIN}"}}</script>
            <script type=application/json>["Some other words that are many enough to be a sentence of their own here."]</script>"#
        );
        check(&html, RAIN);
    }

    #[test]
    fn code_and_broken_data_are_nothing() {
        check("<script>var a = 'many words in a string that is not data, but more than twelve of them.'</script>", "");
        check("<script type=application/json>{\"a\": \"</script>", "");
        let deep = format!("<script type=application/json>{}</script>", "[".repeat(100_000));
        check(&deep, "");
    }
}
