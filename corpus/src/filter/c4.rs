//! The rules of C4 (Raffel and others 2020, section 2.2): lines that are no sentences are removed, pages with few sentences dropped.

use serde::{Deserialize, Serialize};

use super::text_stats::{TextStats, count_words, ends_sentence, n_sentences};
use super::{DropReason, at_least, at_most};

/// The rules of C4 and their published thresholds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct C4 {
    /// A text needs so many sentences after its lines were looked at.
    pub min_sentences: f64,
    /// A line needs so many words.
    pub min_words_per_line: f64,
    /// A line must end as a sentence does. FineWeb turns this off.
    pub terminal_punctuation: bool,
    /// Lines that speak of JavaScript go.
    pub javascript: bool,
    /// Lines about cookies, terms of use and privacy go.
    pub policies: bool,
    /// Texts with the printers' dummy text go.
    pub lorem_ipsum: bool,
    /// Texts with a curly bracket go: they are mostly program code.
    pub curly_brackets: bool,
    /// A line with a longer word goes.
    pub max_word_characters: f64,
}

impl Default for C4 {
    fn default() -> Self {
        C4 {
            min_sentences: 3.0,
            min_words_per_line: 5.0,
            terminal_punctuation: true,
            javascript: true,
            policies: true,
            lorem_ipsum: true,
            curly_brackets: true,
            max_word_characters: 1000.0,
        }
    }
}

const POLICIES: [&str; 6] =
    ["terms of use", "privacy policy", "cookie policy", "uses cookies", "use of cookies", "use cookies"];

impl C4 {
    /// Gives the text without the lines that go and their number, or nothing when all stay.
    pub(super) fn check(&self, stats: &TextStats) -> Result<Option<(String, u64)>, Box<DropReason>> {
        let text = stats.text;
        if self.curly_brackets {
            at_most("c4.curly-brackets", text.matches('{').count() as f64, 0.0)?;
        }
        if self.lorem_ipsum {
            let count = text.to_lowercase().matches("lorem ipsum").count();
            at_most("c4.lorem-ipsum", count as f64, 0.0)?;
        }
        let mut left = String::new();
        let mut n_removed = 0;
        for line in text.split_inclusive('\n') {
            let words = line.trim();
            if words.is_empty() || self.keeps_line(words) {
                left.push_str(line);
            } else {
                n_removed += 1;
            }
        }
        at_least("c4.min-sentences", n_sentences(&left) as f64, self.min_sentences)?;
        Ok((n_removed > 0).then(|| (join_paragraphs(&left), n_removed)))
    }

    fn keeps_line(&self, line: &str) -> bool {
        let longest = || line.split_whitespace().map(|word| word.chars().count()).max().unwrap_or(0);
        if self.terminal_punctuation && !ends_sentence(line)
            || count_words(line) < self.min_words_per_line
            || line.len() as f64 > self.max_word_characters && longest() as f64 > self.max_word_characters
        {
            return false;
        }
        if !self.javascript && !self.policies {
            return true;
        }
        let lower = line.to_lowercase();
        !(self.javascript && lower.contains("javascript")
            || self.policies && POLICIES.iter().any(|policy| lower.contains(policy)))
    }
}

/// Paragraphs stay one blank line apart after lines went from between them.
fn join_paragraphs(text: &str) -> String {
    let parts: Vec<&str> = text.split("\n\n").map(str::trim).filter(|part| !part.is_empty()).collect();
    parts.join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jsonl::{DocumentFields, TextField};

    fn check(text: &str) -> Result<Option<(String, u64)>, &'static str> {
        let view = DocumentFields { text: TextField(text.into()), ..DocumentFields::default() };
        C4::default().check(&TextStats::of(&view)).map_err(|dropped| dropped.rule)
    }

    #[test]
    fn lines_that_are_no_sentences_go_and_the_paragraphs_stay_apart() {
        let text = "Home | News\n\nThe first sentence stands here. So does the second one.\n\nRead more\n\n\
            Please enable JavaScript to read this page now.\n\nThis site uses cookies to know you better.\n\n\
            The third sentence ends the text.";
        let expected = "The first sentence stands here. So does the second one.\n\nThe third sentence ends the text.";
        assert_eq!(check(text), Ok(Some((expected.into(), 4))));
    }

    #[test]
    fn chinese_sentences_are_sentences() {
        let text = "今天下午台北下了一場很大的雨。路上的行人都躲進了商店。\n\n我們沿著河邊慢慢地走回家！";
        assert_eq!(check(text), Ok(None));
    }

    #[test]
    fn code_dummy_text_and_stubs_are_dropped() {
        assert_eq!(check("function f() { return 1; }"), Err("c4.curly-brackets"));
        assert_eq!(check("Lorem ipsum dolor sit amet."), Err("c4.lorem-ipsum"));
        assert_eq!(check("Only one sentence stands here."), Err("c4.min-sentences"));
    }
}
