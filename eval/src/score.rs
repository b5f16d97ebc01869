//! How near a text comes to the gold: bag of words, 4-gram shingles, the longest common subsequence, snippets.
//!
//! Words are runs of letters, digits and `_`; where the gold is Chinese, Japanese, Thai or Burmese, every character
//! of those scripts is a word of its own, whatever spaces say.

use std::collections::HashMap;

use crate::gold::Truth;

/// Precision, recall and their harmonic mean.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PrecisionRecall {
    /// The share of the answer that is right.
    pub precision: f64,
    /// The share of the gold that is there.
    pub recall: f64,
    /// Their harmonic mean.
    pub f1: f64,
}

impl PrecisionRecall {
    /// From the two shares.
    pub fn new(precision: f64, recall: f64) -> Self {
        let sum = precision + recall;
        PrecisionRecall { precision, recall, f1: if sum > 0.0 { 2.0 * precision * recall / sum } else { 0.0 } }
    }
}

/// What one page scores.
#[derive(Clone, Debug, Default)]
pub struct PageScore {
    /// Scores against the full text, where the gold has one.
    pub text: Option<TextScore>,
    /// Snippets found and missed, where the gold has them.
    pub snippets: Option<SnippetScore>,
}

/// Scores against a full text.
#[derive(Clone, Copy, Debug, Default)]
pub struct TextScore {
    /// Bags of lower-cased words.
    pub bag: PrecisionRecall,
    /// 4-gram shingles shared, only in the answer, only in the gold; as shares of all.
    pub shingles: [f64; 3],
    /// F1 of the longest common subsequence of lower-cased words.
    pub rouge_l: f64,
    /// Words in the gold.
    pub n_gold_words: usize,
    /// Words in the answer.
    pub n_words: usize,
}

/// Snippets found and missed on one page or many.
#[derive(Clone, Copy, Debug, Default)]
pub struct SnippetScore {
    /// Wanted and there.
    pub true_positives: usize,
    /// Wanted and missing.
    pub false_negatives: usize,
    /// Unwanted and there.
    pub false_positives: usize,
    /// Unwanted and missing.
    pub true_negatives: usize,
}

impl SnippetScore {
    /// Adds the counts of another page.
    pub fn add(&mut self, other: SnippetScore) {
        self.true_positives += other.true_positives;
        self.false_negatives += other.false_negatives;
        self.false_positives += other.false_positives;
        self.true_negatives += other.true_negatives;
    }

    /// Precision, recall and F1 over all snippets.
    pub fn precision_recall(&self) -> PrecisionRecall {
        let found = self.true_positives as f64;
        PrecisionRecall::new(
            found / (self.true_positives + self.false_positives).max(1) as f64,
            found / (self.true_positives + self.false_negatives).max(1) as f64,
        )
    }
}

/// Scores the text that a method gave for a page.
pub fn score(truth: &Truth, text: &str) -> PageScore {
    let lang = truth.lang.as_deref().unwrap_or("");
    PageScore {
        text: truth.text.as_deref().map(|gold| score_text(gold, text, lang)),
        snippets: truth.has_snippets().then(|| score_snippets(truth, text)),
    }
}

/// The bag-of-words F1 alone, which is much cheaper than the rest.
pub fn bag_f1(gold: &str, text: &str, lang: &str) -> f64 {
    let (gold_words, text_words) = (lower(&words(gold, lang)), lower(&words(text, lang)));
    bag(&gold_words, &text_words).f1
}

fn score_text(gold: &str, text: &str, lang: &str) -> TextScore {
    let (gold_words, text_words) = (words(gold, lang), words(text, lang));
    let (gold_lower, text_lower) = (lower(&gold_words), lower(&text_words));
    TextScore {
        bag: bag(&gold_lower, &text_lower),
        shingles: shingles(&gold_words, &text_words),
        rouge_l: rouge_l(&gold_lower, &text_lower),
        n_gold_words: gold_words.len(),
        n_words: text_words.len(),
    }
}

fn score_snippets(truth: &Truth, text: &str) -> SnippetScore {
    let found = |snippets: &[String]| snippets.iter().filter(|snippet| text.contains(snippet.as_str())).count();
    let (with, without) = (found(&truth.with), found(&truth.without));
    SnippetScore {
        true_positives: with,
        false_negatives: truth.with.len() - with,
        false_positives: without,
        true_negatives: truth.without.len() - without,
    }
}

/// The words of a text, with single characters where the language has no spaces.
pub fn words<'t>(text: &'t str, lang: &str) -> Vec<&'t str> {
    let single = matches!(lang, "zh" | "ja" | "th" | "my");
    let mut words = Vec::with_capacity(text.len() / 6);
    let mut start = None;
    for (at, character) in text.char_indices() {
        let alone = single && is_unspaced(character);
        if is_word_character(character) && !alone {
            start.get_or_insert(at);
            continue;
        }
        if let Some(from) = start.take() {
            words.push(&text[from..at]);
        }
        if alone {
            words.push(&text[at..at + character.len_utf8()]);
        }
    }
    words.extend(start.map(|from| &text[from..]));
    words
}

/// Python's `\w`: letters and numbers but no combining marks or circled letters, and `_`.
fn is_word_character(character: char) -> bool {
    if character.is_ascii() {
        return character.is_ascii_alphanumeric() || character == '_';
    }
    character.is_alphanumeric()
        && !unicode_normalization::char::is_combining_mark(character)
        && !matches!(character, '\u{24b6}'..='\u{24e9}' | '\u{1f130}'..='\u{1f189}')
}

/// Scripts whose characters count one by one, as the reference scorer has them: kana, Han, Thai, Burmese.
fn is_unspaced(character: char) -> bool {
    matches!(character, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{0e00}'..='\u{0e7f}' | '\u{1000}'..='\u{109f}')
}

fn lower(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| word.to_lowercase()).collect()
}

fn bag(gold: &[String], text: &[String]) -> PrecisionRecall {
    if gold.is_empty() || text.is_empty() {
        let both = if gold.is_empty() && text.is_empty() { 1.0 } else { 0.0 };
        return PrecisionRecall { precision: both, recall: both, f1: both };
    }
    let mut counts: HashMap<&str, usize> = HashMap::with_capacity(gold.len());
    for word in gold {
        *counts.entry(word).or_default() += 1;
    }
    let mut overlap = 0usize;
    for word in text {
        if let Some(left) = counts.get_mut(word.as_str()).filter(|left| **left > 0) {
            *left -= 1;
            overlap += 1;
        }
    }
    PrecisionRecall::new(overlap as f64 / text.len() as f64, overlap as f64 / gold.len() as f64)
}

fn shingles(gold: &[&str], text: &[&str]) -> [f64; 3] {
    let mut numbers: HashMap<&str, u32> = HashMap::new();
    let mut counts: HashMap<[u32; 4], [usize; 2]> = HashMap::new();
    for (side, words) in [gold, text].into_iter().enumerate() {
        let mut number = |word| {
            let next = numbers.len() as u32;
            *numbers.entry(word).or_insert(next)
        };
        let words: Vec<u32> = words.iter().map(|word| number(*word)).collect();
        if (1..4).contains(&words.len()) {
            // A text too short for a shingle is one.
            let mut whole = [u32::MAX; 4];
            whole[..words.len()].copy_from_slice(&words);
            counts.entry(whole).or_default()[side] += 1;
        }
        for window in words.windows(4) {
            counts.entry([window[0], window[1], window[2], window[3]]).or_default()[side] += 1;
        }
    }
    let mut sums = [0.0f64; 3];
    for [in_gold, in_text] in counts.into_values() {
        sums[0] += in_gold.min(in_text) as f64;
        sums[1] += in_text.saturating_sub(in_gold) as f64;
        sums[2] += in_gold.saturating_sub(in_text) as f64;
    }
    let total: f64 = sums.iter().sum();
    if total > 0.0 { sums.map(|sum| sum / total) } else { sums }
}

/// Shingle precision and recall averaged over pages, and the F1 of the two averages.
pub fn shingle_f1<'s>(pages: impl Iterator<Item = &'s TextScore> + Clone) -> PrecisionRecall {
    let mean = |values: Vec<f64>| values.iter().sum::<f64>() / values.len().max(1) as f64;
    let precision = pages.clone().map(|page| page.shingles).filter(|[both, extra, _]| both + extra > 0.0);
    let recall = pages.map(|page| page.shingles).filter(|[both, _, missing]| both + missing > 0.0);
    PrecisionRecall::new(
        mean(precision.map(|[both, extra, _]| both / (both + extra)).collect()),
        mean(recall.map(|[both, _, missing]| both / (both + missing)).collect()),
    )
}

fn rouge_l(gold: &[String], text: &[String]) -> f64 {
    if gold.is_empty() || text.is_empty() {
        return if gold.is_empty() && text.is_empty() { 1.0 } else { 0.0 };
    }
    2.0 * common_subsequence(gold, text) as f64 / (gold.len() + text.len()) as f64
}

/// Length of the longest common subsequence: Hyyrö's bit-parallel rows, 64 words of the gold at a time.
fn common_subsequence(gold: &[String], text: &[String]) -> usize {
    let n_blocks = gold.len().div_ceil(64);
    let mut index_by_id: HashMap<&str, Vec<(usize, u64)>> = HashMap::with_capacity(gold.len());
    for (index, word) in gold.iter().enumerate() {
        let masks = index_by_id.entry(word).or_default();
        match masks.last_mut() {
            Some((block, mask)) if *block == index / 64 => *mask |= 1 << (index % 64),
            _ => masks.push((index / 64, 1 << (index % 64))),
        }
    }
    let mut row = vec![u64::MAX; n_blocks];
    for word in text {
        let Some(masks) = index_by_id.get(word.as_str()) else { continue };
        let mut masks = masks.iter().copied().peekable();
        let mut carry = false;
        let mut block = masks.peek().map_or(n_blocks, |(block, _)| *block);
        while block < n_blocks {
            let mask = masks.next_if(|(at, _)| *at == block).map_or(0, |(_, mask)| mask);
            let matched = row[block] & mask;
            let (sum, over) = row[block].overflowing_add(matched);
            let (sum, over_carry) = sum.overflowing_add(carry as u64);
            row[block] = sum | (row[block] & !mask);
            carry = over || over_carry;
            // Without a carry nothing changes until the next block that holds the word.
            block = if carry { block + 1 } else { masks.peek().map_or(n_blocks, |(at, _)| *at) };
        }
    }
    let zeros: usize = row.iter().map(|bits| bits.count_zeros() as usize).sum();
    zeros
}

#[cfg(test)]
mod tests {
    use super::*;

    fn truth(text: &str, lang: &str) -> Truth {
        Truth { text: Some(text.into()), lang: Some(lang.into()), ..Truth::default() }
    }

    #[track_caller]
    fn check(gold: &str, text: &str, lang: &str, bag_f1: f64, rouge_l: f64) {
        let scores = score(&truth(gold, lang), text).text.expect("the gold has a text");
        assert!((scores.bag.f1 - bag_f1).abs() < 1e-9, "bag {}", scores.bag.f1);
        assert!((scores.rouge_l - rouge_l).abs() < 1e-9, "rouge-l {}", scores.rouge_l);
    }

    #[test]
    fn words_count_once_and_order_matters_for_the_subsequence() {
        check("a b c d", "A B C D", "en", 1.0, 1.0);
        check("a b c d", "d c b a", "en", 1.0, 0.25);
        check("a a b", "a b b", "en", 2.0 / 3.0, 2.0 / 3.0);
        check("", "", "en", 1.0, 1.0);
        check("", "a", "en", 0.0, 0.0);
    }

    #[test]
    fn chinese_counts_by_character() {
        check("下雨了", "下雨", "zh", 0.8, 0.8);
        check("下雨了", "下雨", "en", 0.0, 0.0);
    }

    #[test]
    fn a_long_subsequence_crosses_the_blocks_of_bits() {
        let numbers: Vec<String> = (0..1000).map(|number| number.to_string()).collect();
        let every_third: Vec<String> = numbers.iter().step_by(3).cloned().collect();
        assert_eq!(common_subsequence(&numbers, &every_third), every_third.len());
        assert_eq!(common_subsequence(&every_third, &numbers), every_third.len());
        let repeated = vec!["x".to_owned(); 300];
        assert_eq!(common_subsequence(&repeated, &repeated[..200]), 200);
    }

    #[test]
    fn shingles_of_short_texts_are_the_whole_text() {
        let scores = score(&truth("one two", "en"), "one two").text.expect("text");
        assert_eq!(scores.shingles, [1.0, 0.0, 0.0]);
        let empty = score(&truth("", "en"), "").text.expect("text");
        assert_eq!(empty.shingles, [0.0, 0.0, 0.0]);
    }
}
