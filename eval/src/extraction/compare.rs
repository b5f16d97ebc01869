//! Which lines of one text are missing from another: what the side-by-side page colours.

use std::collections::HashSet;

use crate::score::words;

/// A line of a text and whether the other text holds most of it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line<'t> {
    /// The line.
    pub text: &'t str,
    /// Whether at least half of it stands in the other text.
    pub shared: bool,
}

/// The lines of `text` that say something, each looked for in `other` by runs of three words.
pub(super) fn lines<'t>(text: &'t str, other: &str, lang: &str) -> Vec<Line<'t>> {
    let known = runs(other, lang);
    let says_something = |line: &&str| !line.trim().is_empty();
    text.lines()
        .filter(says_something)
        .map(|line| {
            let runs = runs(line, lang);
            let found = runs.iter().filter(|run| known.contains(*run)).count();
            Line { text: line, shared: 2 * found >= runs.len() }
        })
        .collect()
}

/// Runs of one, two and three lower-case words, so that a line of one word can be found, too.
fn runs(text: &str, lang: &str) -> HashSet<String> {
    let lower = text.to_lowercase();
    let words = words(&lower, lang);
    let longest = words.len().clamp(1, 3);
    let lengths = if words.len() > 3 { 1..=3 } else { longest..=longest };
    lengths.flat_map(|length| words.windows(length).map(|run| run.join(" ")).collect::<Vec<_>>()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_shared_when_most_of_it_stands_in_the_other_text() {
        let text = "It rained all day in the hills.\n\nShare\nRead more about our cookies here";
        let other = "Weather. It rained all day in the hills. And more of it.";
        let shared: Vec<bool> = lines(text, other, "en").iter().map(|line| line.shared).collect();
        assert_eq!(shared, [true, false, false]);
        assert!(lines("下雨了", "今天下雨了。", "zh")[0].shared);
    }
}
