//! `pith extract --explain`: word weights, sentence scores and picks as tables.

use std::fmt::Write;

use pith_extractor::{ExplainedSentence, Explanation};

/// Words with their weights, sentences with their scores, and each pick word by word. Columns are separated by tabs.
pub fn tables(explained: &Explanation) -> String {
    let mut text = format!("method\t{}\n\nword\tcount\tweight\n", explained.method);
    for word in &explained.words {
        let _ = writeln!(text, "{}\t{}\t{}", visible(&word.word), word.count, number(word.weight));
    }
    text.push_str("\npick\tscore\tposition\tsentence\n");
    for (position, sentence) in explained.sentences.iter().enumerate() {
        let pick = sentence.rank.map_or(String::new(), |rank| rank.to_string());
        let _ = writeln!(text, "{pick}\t{}\t{position}\t{}", sentence.score, visible(&sentence.text));
    }
    let mut picks: Vec<&ExplainedSentence> = explained.sentences.iter().filter(|s| s.rank.is_some()).collect();
    picks.sort_by_key(|sentence| sentence.rank);
    for sentence in picks {
        let _ = write!(text, "\npick {}\nword\ttf\tweight", sentence.rank.unwrap_or_default());
        text.push_str(if explained.method == "tfidf" { "\ttf×weight\n" } else { "\n" });
        one_sentence(explained, sentence, &mut text);
    }
    text
}

/// Every different word of a sentence: how much of the sentence it is, its weight, and for TF-IDF their product.
fn one_sentence(explained: &Explanation, sentence: &ExplainedSentence, text: &mut String) {
    let mut seen = Vec::new();
    for word in &sentence.words {
        if seen.contains(word) {
            continue;
        }
        seen.push(*word);
        let count = sentence.words.iter().filter(|other| *other == word).count();
        let tf = count as f64 / sentence.words.len() as f64;
        let explained_word = &explained.words[*word as usize];
        let _ = write!(text, "{}\t{tf}\t{}", visible(&explained_word.word), number(explained_word.weight));
        if explained.method == "tfidf" {
            let _ = write!(text, "\t{}", number(explained_word.weight.map(|weight| tf * weight)));
        }
        text.push('\n');
    }
}

fn number(value: Option<f64>) -> String {
    value.map_or(String::new(), |value| value.to_string())
}

/// Text that stays on its line and in its column, whatever a page holds.
fn visible(text: &str) -> String {
    if text.trim().is_empty() {
        return format!("{text:?}");
    }
    text.chars().map(|character| if character.is_control() { ' ' } else { character }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pith_extractor::{Analysis, Budget, Method, explain};

    #[test]
    fn tf_times_weight_adds_up_to_the_score() {
        let text = Analysis::of_units(vec!["rain in May", "rain again", "snow \u{1b}[31m at last"]);
        let explained = explain(&text, Method::TfIdf, Budget::Sentences(1));
        let tables = tables(&explained);
        assert!(!tables.contains('\u{1b}'));
        let best = explained.sentences.iter().find(|sentence| sentence.rank == Some(1)).unwrap();
        let last = tables.split("\npick 1\n").nth(1).unwrap();
        let sum: f64 = last.lines().skip(1).map(|line| line.rsplit('\t').next().unwrap().parse::<f64>().unwrap()).sum();
        assert!((sum - best.score).abs() < 1e-9, "{sum} {}", best.score);
    }

    #[test]
    fn rankings_without_word_weights_leave_them_out() {
        let text = Analysis::of(vec!["rain in May", "rain again"], None, None);
        let tables = tables(&explain(&text, Method::Lead, Budget::Sentences(1)));
        assert!(tables.contains("\nrain\t2\t\n"), "{tables}");
    }
}
