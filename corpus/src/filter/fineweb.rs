//! What FineWeb added to C4 and Gopher (Penedo and others 2024, section 3.6).

use serde::{Deserialize, Serialize};

use super::gopher::duplicates;
use super::text_stats::{TextStats, ends_sentence, width};
use super::{DropReason, at_least, at_most};

/// FineWeb's own rules and their published thresholds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FineWeb {
    /// The part of lines that end as a sentence does, at least.
    pub min_sentence_lines: f64,
    /// The part of characters in lines that stood there before, at most.
    pub max_duplicate_line_characters: f64,
    /// A line is short below this width; a character of a script without spaces is two wide.
    pub short_line: f64,
    /// The part of short lines, at most.
    pub max_short_lines: f64,
    /// Line ends per word, at most: lists.
    pub max_lines_per_word: f64,
}

impl Default for FineWeb {
    fn default() -> Self {
        FineWeb {
            min_sentence_lines: 0.12,
            max_duplicate_line_characters: 0.1,
            short_line: 30.0,
            max_short_lines: 0.67,
            max_lines_per_word: 0.3,
        }
    }
}

impl FineWeb {
    pub(super) fn check(&self, stats: &TextStats) -> Result<(), Box<DropReason>> {
        at_least("fineweb.sentence-lines", stats.share_of_lines(ends_sentence), self.min_sentence_lines)?;
        let short = stats.share_of_lines(|line| (width(line) as f64) < self.short_line);
        at_most("fineweb.short-lines", short, self.max_short_lines)?;
        let duplicated = duplicates(&stats.lines).1 as f64 / stats.n_characters.max(1) as f64;
        at_most("fineweb.duplicate-line-characters", duplicated, self.max_duplicate_line_characters)?;
        let line_ends = stats.lines.len().saturating_sub(1) as f64;
        at_most("fineweb.lines-per-word", line_ends / stats.n_words().max(1.0), self.max_lines_per_word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jsonl::{DocumentFields, TextField};

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        let view = DocumentFields { text: TextField(text.into()), ..DocumentFields::default() };
        let rule = FineWeb::default().check(&TextStats::of(&view)).err().map(|dropped| dropped.rule);
        assert_eq!(rule, expected);
    }

    #[test]
    fn each_rule_can_fail() {
        check("A sentence that is long enough to count as a line of its own.", None);
        check("今天下午台北下了一場很大的雨，路上的行人都躲進商店。", None);
        check(
            "a heading without an end that is long enough\nanother heading without an end",
            Some("fineweb.sentence-lines"),
        );
        check("Short.\nShort too.\nAnd short.", Some("fineweb.short-lines"));
        let line = "The same long sentence stands here more than once.\n";
        check(&line.repeat(3), Some("fineweb.duplicate-line-characters"));
    }
}
