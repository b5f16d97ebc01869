//! The rules of Gopher (Rae and others 2021, «Scaling Language Models», section A.1): quality and repetition.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashMap, HashSet};
use serde::{Deserialize, Serialize};

use super::text_stats::{TextStats, Token};
use super::{DropReason, at_least, at_most};

/// The quality rules and their published thresholds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GopherQuality {
    /// At least this many words.
    pub min_words: f64,
    /// At most this many words.
    pub max_words: f64,
    /// The mean length of a word, at least; not asked of scripts without spaces.
    pub min_mean_word_length: f64,
    /// The mean length of a word, at most; not asked of scripts without spaces.
    pub max_mean_word_length: f64,
    /// `#` per word, and ellipses per word.
    pub max_symbols_per_word: f64,
    /// The part of lines that begin with a bullet.
    pub max_bullet_lines: f64,
    /// The part of lines that end with an ellipsis.
    pub max_ellipsis_lines: f64,
    /// The part of words with a letter in them.
    pub min_alphabetic_words: f64,
    /// Different stop words of the language, where we have a list of them.
    pub min_stop_words: f64,
}

impl Default for GopherQuality {
    fn default() -> Self {
        GopherQuality {
            min_words: 50.0,
            max_words: 100_000.0,
            min_mean_word_length: 3.0,
            max_mean_word_length: 10.0,
            max_symbols_per_word: 0.1,
            max_bullet_lines: 0.9,
            max_ellipsis_lines: 0.3,
            min_alphabetic_words: 0.8,
            min_stop_words: 2.0,
        }
    }
}

const BULLETS: &[char] = &['•', '‣', '●', '◦', '▪', '■', '□', '·', '・', '-', '*', '–'];

impl GopherQuality {
    pub(super) fn check(&self, stats: &TextStats) -> Result<(), Box<DropReason>> {
        let n_words = stats.n_words();
        at_least("gopher-quality.min-words", n_words, self.min_words)?;
        at_most("gopher-quality.max-words", n_words, self.max_words)?;
        if !stats.is_spaceless() {
            let spaced = stats.tokens.iter().filter(|token| !token.is_spaceless);
            let (n, sum) = spaced.fold((0u64, 0u64), |(n, sum), token| (n + 1, sum + u64::from(token.n_characters)));
            let mean = sum as f64 / n.max(1) as f64;
            at_least("gopher-quality.min-mean-word-length", mean, self.min_mean_word_length)?;
            at_most("gopher-quality.max-mean-word-length", mean, self.max_mean_word_length)?;
        }
        let text = stats.text;
        let hashes = text.matches('#').count() as f64;
        let ellipses = (text.matches("...").count() + text.matches('…').count()) as f64;
        at_most("gopher-quality.hash-signs", hashes / n_words.max(1.0), self.max_symbols_per_word)?;
        at_most("gopher-quality.ellipses", ellipses / n_words.max(1.0), self.max_symbols_per_word)?;
        let bullets = stats.share_of_lines(|line| line.starts_with(BULLETS));
        at_most("gopher-quality.bullet-lines", bullets, self.max_bullet_lines)?;
        let ellipses = stats.share_of_lines(|line| line.ends_with("...") || line.ends_with('…'));
        at_most("gopher-quality.ellipsis-lines", ellipses, self.max_ellipsis_lines)?;
        at_least("gopher-quality.alphabetic-words", alphabetic(stats), self.min_alphabetic_words)?;
        match stop_words(stats) {
            Some(n) => at_least("gopher-quality.stop-words", n, self.min_stop_words),
            None => Ok(()),
        }
    }
}

/// The part of words that hold a letter: of what stands between spaces, or of characters where there are none.
fn alphabetic(stats: &TextStats) -> f64 {
    let has_letter = |word: &str| word.chars().any(char::is_alphabetic);
    let (n, n_alphabetic) = match stats.is_spaceless() {
        true => {
            let words = stats.tokens.iter().map(|token| token.text);
            (stats.tokens.len(), words.filter(|word| has_letter(word)).count())
        }
        false => {
            let words = stats.text.split_whitespace();
            words.fold((0, 0), |(n, sum), word| (n + 1, sum + usize::from(has_letter(word))))
        }
    };
    n_alphabetic as f64 / n.max(1) as f64
}

/// How many different stop words of its language a text has; `None` without a list for it.
fn stop_words(stats: &TextStats) -> Option<f64> {
    const ENGLISH: &[&str] = &["the", "be", "to", "of", "and", "that", "have", "with"];
    let language = stats.language.split('-').next().unwrap_or_default();
    let list: &[&str] = match language {
        "en" => ENGLISH,
        "pt" => &["de", "que", "do", "da", "em", "para", "com", "não", "uma", "os", "no", "se"],
        "es" => &["de", "que", "el", "en", "los", "del", "se", "las", "por", "con", "para", "una"],
        "fr" => &["de", "la", "le", "et", "les", "des", "en", "un", "du", "une", "que", "est"],
        "de" => &["der", "die", "und", "in", "den", "von", "zu", "das", "mit", "sich", "ist", "nicht"],
        "it" => &["di", "che", "la", "il", "un", "per", "in", "una", "sono", "con", "non", "del"],
        "nl" => &["de", "van", "het", "een", "en", "in", "dat", "te", "op", "voor", "met", "niet"],
        "zh" => &["的", "是", "不", "我", "有", "在", "了", "和", "人", "這", "这", "個", "个"],
        "ja" => &["の", "に", "は", "を", "た", "が", "で", "て", "と", "し"],
        // The language is unknown: ASCII text is treated as English, as in the paper.
        "" if stats.text.is_ascii() => ENGLISH,
        _ => return None,
    };
    let mut found: HashSet<&str> = HashSet::new();
    for token in &stats.tokens {
        if let Some(word) = list.iter().find(|word| word.eq_ignore_ascii_case(token.text)) {
            found.insert(word);
        }
    }
    Some(found.len() as f64)
}

/// The repetition rules and their published thresholds, as parts of the lines, paragraphs or characters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GopherRepetition {
    /// Lines that an earlier line of the text equals.
    pub max_duplicate_lines: f64,
    /// Paragraphs that an earlier paragraph equals.
    pub max_duplicate_paragraphs: f64,
    /// Characters in such lines.
    pub max_duplicate_line_characters: f64,
    /// Characters in such paragraphs.
    pub max_duplicate_paragraph_characters: f64,
    /// Characters in the most frequent n-gram, for 2, 3 and 4 words.
    pub max_top_n_gram: [f64; 3],
    /// Characters in n-grams that occurred before, for 5 to 10 words.
    pub max_duplicate_n_grams: [f64; 6],
}

impl Default for GopherRepetition {
    fn default() -> Self {
        GopherRepetition {
            max_duplicate_lines: 0.3,
            max_duplicate_paragraphs: 0.3,
            max_duplicate_line_characters: 0.2,
            max_duplicate_paragraph_characters: 0.2,
            max_top_n_gram: [0.2, 0.18, 0.16],
            max_duplicate_n_grams: [0.15, 0.14, 0.13, 0.12, 0.11, 0.1],
        }
    }
}

const TOP_RULES: [&str; 3] =
    ["gopher-repetition.top-2-gram", "gopher-repetition.top-3-gram", "gopher-repetition.top-4-gram"];
const DUPLICATE_RULES: [&str; 6] = [
    "gopher-repetition.duplicate-5-grams",
    "gopher-repetition.duplicate-6-grams",
    "gopher-repetition.duplicate-7-grams",
    "gopher-repetition.duplicate-8-grams",
    "gopher-repetition.duplicate-9-grams",
    "gopher-repetition.duplicate-10-grams",
];

impl GopherRepetition {
    pub(super) fn check(&self, stats: &TextStats) -> Result<(), Box<DropReason>> {
        let n_characters = stats.n_characters.max(1) as f64;
        let paragraphs: Vec<&str> = stats.text.split("\n\n").map(str::trim).filter(|part| !part.is_empty()).collect();
        let (duplicated, duplicated_characters) = duplicates(&paragraphs);
        let n_paragraphs = paragraphs.len().max(1) as f64;
        at_most("gopher-repetition.paragraphs", duplicated as f64 / n_paragraphs, self.max_duplicate_paragraphs)?;
        let part = duplicated_characters as f64 / n_characters;
        at_most("gopher-repetition.paragraph-characters", part, self.max_duplicate_paragraph_characters)?;
        let (duplicated, duplicated_characters) = duplicates(&stats.lines);
        let n_lines = stats.lines.len().max(1) as f64;
        at_most("gopher-repetition.lines", duplicated as f64 / n_lines, self.max_duplicate_lines)?;
        let part = duplicated_characters as f64 / n_characters;
        at_most("gopher-repetition.line-characters", part, self.max_duplicate_line_characters)?;

        let hasher = DefaultHashBuilder::default();
        let hashes: Vec<u64> = stats.tokens.iter().map(|token| hasher.hash_one(token.text)).collect();
        let mut seen = HashMap::with_capacity(hashes.len());
        for (n, (rule, most)) in (2..).zip(TOP_RULES.iter().zip(self.max_top_n_gram)) {
            let part = top_n_gram(&stats.tokens, &hashes, n, &mut seen) as f64 / n_characters;
            at_most(rule, part, most)?;
        }
        for (n, (rule, most)) in (5..).zip(DUPLICATE_RULES.iter().zip(self.max_duplicate_n_grams)) {
            let part = duplicate_n_grams(&stats.tokens, &hashes, n, &mut seen) as f64 / n_characters;
            at_most(rule, part, most)?;
        }
        Ok(())
    }
}

/// How many of the parts are repeats of an earlier one, and their characters.
pub(super) fn duplicates(parts: &[&str]) -> (usize, usize) {
    let mut seen = HashSet::with_capacity(parts.len());
    let duplicated = parts.iter().filter(|part| !seen.insert(**part));
    duplicated.fold((0, 0), |(n, characters), part| (n + 1, characters + part.chars().count()))
}

fn n_gram_hash(hashes: &[u64]) -> u64 {
    hashes.iter().fold(0, |hash: u64, &word| (hash.rotate_left(23) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15))
}

fn length_of(tokens: &[Token]) -> u64 {
    let spaces = if tokens[0].is_spaceless { 0 } else { tokens.len() as u64 - 1 };
    tokens.iter().map(|token| u64::from(token.n_characters)).sum::<u64>() + spaces
}

/// The characters in all occurrences of the most frequent n-gram; zero when none occurs twice.
fn top_n_gram(tokens: &[Token], hashes: &[u64], n: usize, seen: &mut HashMap<u64, u32>) -> u64 {
    seen.clear();
    let mut top = (1, 0);
    for (start, window) in hashes.windows(n).enumerate() {
        let count = seen.entry(n_gram_hash(window)).or_default();
        *count += 1;
        if *count > top.0 {
            top = (*count, start);
        }
    }
    if top.0 < 2 { 0 } else { u64::from(top.0) * length_of(&tokens[top.1..top.1 + n]) }
}

/// The characters in n-grams that occurred before; one that was counted is stepped over.
fn duplicate_n_grams(tokens: &[Token], hashes: &[u64], n: usize, seen: &mut HashMap<u64, u32>) -> u64 {
    seen.clear();
    let (mut start, mut characters) = (0, 0);
    while start + n <= hashes.len() {
        if seen.insert(n_gram_hash(&hashes[start..start + n]), 1).is_some() {
            characters += length_of(&tokens[start..start + n]);
            start += n;
        } else {
            start += 1;
        }
    }
    characters
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jsonl::{DocumentFields, TextField};

    fn view(text: &str, language: &str) -> DocumentFields<'static> {
        DocumentFields {
            text: TextField(text.to_owned().into()),
            language: TextField(language.to_owned().into()),
            ..DocumentFields::default()
        }
    }

    #[track_caller]
    fn check_quality(text: &str, language: &str, expected: Option<&str>) {
        let view = view(text, language);
        let rule = GopherQuality::default().check(&TextStats::of(&view)).err().map(|dropped| dropped.rule);
        assert_eq!(rule, expected);
    }

    #[track_caller]
    fn check_repetition(text: &str, expected: Option<&str>) {
        let view = view(text, "");
        let rule = GopherRepetition::default().check(&TextStats::of(&view)).err().map(|dropped| dropped.rule);
        assert_eq!(rule, expected);
    }

    const GOOD: &str = "The old harbour of the town lies at the end of a long street, and people who have time walk \
        down to it in the evening. They sit with their backs to the wall of the fish market, observer the boats and talk \
        about the day that has passed. Nobody seems to be in a hurry to go home before the lamps are lit.";

    #[test]
    fn prose_passes_in_english_portuguese_and_chinese() {
        check_quality(GOOD, "en", None);
        let portuguese = "A praia fica longe da cidade e quase ninguém vai até lá durante a semana. Quando chove, os \
            pescadores ficam em casa e consertam as redes com calma, enquanto as crianças brincam no quintal. No fim \
            da tarde o sol aparece por alguns minutos e todos saem para olhar o mar, que não muda nunca.";
        check_quality(portuguese, "pt", None);
        let chinese = "今天下午台北下了一場很大的雨，路上的行人都躲進了旁邊的商店裡面。我和朋友在咖啡館裡坐了兩個小時，\
            聊了很多以前的事情，也說到了這個城市的變化。雨停了以後，我們沿著河邊慢慢地走回家，空氣很清新。";
        check_quality(chinese, "zh-Hant", None);
    }

    #[test]
    fn each_quality_rule_can_fail() {
        check_quality("Too short.", "en", Some("gopher-quality.min-words"));
        check_quality(&"a b c d e ".repeat(20), "en", Some("gopher-quality.min-mean-word-length"));
        check_quality(&"incomprehensibility ".repeat(60), "en", Some("gopher-quality.max-mean-word-length"));
        check_quality(&GOOD.replace(' ', " # "), "en", Some("gopher-quality.hash-signs"));
        check_quality(&GOOD.replace(' ', "... "), "en", Some("gopher-quality.ellipses"));
        check_quality(&format!("- {}", GOOD.replace(". ", ".\n- ")), "en", Some("gopher-quality.bullet-lines"));
        check_quality(&"12345 6789 ".repeat(40), "en", Some("gopher-quality.alphabetic-words"));
        check_quality(&"harbour street people evening ".repeat(20), "en", Some("gopher-quality.stop-words"));
    }

    #[test]
    fn each_repetition_rule_can_fail() {
        check_repetition(GOOD, None);
        check_repetition(&"One paragraph here.\n\n".repeat(9), Some("gopher-repetition.paragraphs"));
        let lines: String = (0..20).map(|n| format!("Line {} of a poem\n", n % 10)).collect();
        check_repetition(&lines, Some("gopher-repetition.lines"));
        let phrase: String = (0..40).map(|n| format!("x{n} buy now ")).collect();
        check_repetition(&phrase, Some("gopher-repetition.top-2-gram"));
        check_repetition(&format!("{GOOD} {GOOD}"), Some("gopher-repetition.duplicate-5-grams"));
    }
}
