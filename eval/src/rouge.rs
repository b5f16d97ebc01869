//! ROUGE: how much of a reference a summary holds (C.-Y. Lin, *ROUGE: A Package for Automatic Evaluation of
//! Summaries*, 2004), counted as Python's `rouge-score` counts.

use std::collections::HashMap;

use pith_notation::is_spaceless;

mod detailed;
mod porter;

pub use detailed::{DetailedRouge, Overlap, TokenizedText, detailed_rouge};

/// F1 of ROUGE-1, ROUGE-2 and ROUGE-L, each between 0 and 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rouge {
    /// Single words.
    pub one: f64,
    /// Pairs of words.
    pub two: f64,
    /// The longest common subsequence of the whole texts.
    pub l: f64,
}

impl Rouge {
    /// The mean of the three.
    pub fn mean(self) -> f64 {
        (self.one + self.two + self.l) / 3.0
    }
}

/// Texts as numbers: equal words have equal numbers. One of these serves any number of texts.
#[derive(Debug, Default)]
pub struct Tokenizer {
    numbers: HashMap<String, u32>,
    /// From a word as it stands to the number of its stem.
    stems: HashMap<String, u32>,
}

impl Tokenizer {
    /// The words of a text in a language (a tag such as `en`, `pt`, `zh`).
    ///
    /// English as `rouge-score` with its stemmer does it: runs of ASCII letters and digits in lower case, stemmed when
    /// longer than three. Elsewhere every Chinese, Japanese, Korean or Thai character and every other run of letters,
    /// digits and `_` in lower case.
    pub fn tokens(&mut self, text: &str, language: &str) -> Vec<u32> {
        let text = text.to_lowercase();
        if language == "en" || language.starts_with("en-") {
            return text
                .split(|c: char| !c.is_ascii_alphanumeric())
                .filter(|word| !word.is_empty())
                .map(|word| self.stemmed(word))
                .collect();
        }
        let mut tokens = Vec::new();
        let mut rest = text.as_str();
        while let Some(first) = rest.chars().next() {
            let end = if is_spaceless(first) || !is_word(first) {
                first.len_utf8()
            } else {
                rest.find(|c| is_spaceless(c) || !is_word(c)).unwrap_or(rest.len())
            };
            if is_word(first) {
                tokens.push(number(&mut self.numbers, &rest[..end]));
            }
            rest = &rest[end..];
        }
        tokens
    }

    fn stemmed(&mut self, word: &str) -> u32 {
        if word.len() <= 3 {
            return number(&mut self.numbers, word);
        }
        if let Some(found) = self.stems.get(word) {
            return *found;
        }
        let found = number(&mut self.numbers, &porter::stem(word));
        self.stems.insert(word.to_owned(), found);
        found
    }
}

fn number(numbers: &mut HashMap<String, u32>, word: &str) -> u32 {
    if let Some(found) = numbers.get(word) {
        return *found;
    }
    let next = numbers.len() as u32;
    numbers.insert(word.to_owned(), next);
    next
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// Compares a summary with a reference.
pub fn rouge(reference: &[u32], summary: &[u32]) -> Rouge {
    Rouge {
        one: overlap(singles(reference), singles(summary)),
        two: overlap(pairs(reference), pairs(summary)),
        l: f1(common_subsequence(reference, summary), reference.len(), summary.len()),
    }
}

fn singles(tokens: &[u32]) -> Vec<u64> {
    tokens.iter().map(|token| u64::from(*token)).collect()
}

fn pairs(tokens: &[u32]) -> Vec<u64> {
    tokens.windows(2).map(|pair| u64::from(pair[0]) << 32 | u64::from(pair[1])).collect()
}

/// Compares with several references and takes, for each of the three, the best.
pub fn best_rouge<'r>(references: impl IntoIterator<Item = &'r [u32]>, summary: &[u32]) -> Rouge {
    references.into_iter().map(|reference| rouge(reference, summary)).fold(Rouge::default(), |best, next| Rouge {
        one: best.one.max(next.one),
        two: best.two.max(next.two),
        l: best.l.max(next.l),
    })
}

fn overlap(reference: Vec<u64>, summary: Vec<u64>) -> f64 {
    let (n_reference, n_summary) = (reference.len(), summary.len());
    f1(n_common(reference, summary), n_reference, n_summary)
}

/// How many of the one are among the other, each counted once for every time it stands in both.
fn n_common(mut reference: Vec<u64>, mut summary: Vec<u64>) -> usize {
    reference.sort_unstable();
    summary.sort_unstable();
    let (mut i, mut j, mut common) = (0, 0, 0);
    while let (Some(a), Some(b)) = (reference.get(i), summary.get(j)) {
        common += usize::from(a == b);
        i += usize::from(a <= b);
        j += usize::from(b <= a);
    }
    common
}

fn f1(common: usize, reference: usize, summary: usize) -> f64 {
    if common == 0 {
        return 0.0;
    }
    let (precision, recall) = (common as f64 / summary as f64, common as f64 / reference as f64);
    2.0 * precision * recall / (precision + recall)
}

/// The length of the longest common subsequence, 64 tokens of the first text at a time (H. Hyyrö, 2004).
fn common_subsequence(a: &[u32], b: &[u32]) -> usize {
    let blocks = a.len().div_ceil(64);
    let mut index_by_id: HashMap<u32, Vec<u64>> = HashMap::new();
    for (at, token) in a.iter().enumerate() {
        index_by_id.entry(*token).or_insert_with(|| vec![0; blocks])[at / 64] |= 1 << (at % 64);
    }
    let mut row = vec![u64::MAX; blocks];
    for token in b {
        let Some(matches) = index_by_id.get(token) else { continue };
        let mut carry = false;
        for (bits, matching) in row.iter_mut().zip(matches) {
            let hit = *bits & matching;
            let (sum, over) = bits.overflowing_add(hit);
            let (sum, over_again) = sum.overflowing_add(u64::from(carry));
            carry = over || over_again;
            *bits = sum | (*bits - hit);
        }
    }
    let last = a.len() % 64;
    let zeros = |(block, bits): (usize, &u64)| {
        let used = if block + 1 == blocks && last > 0 { (1u64 << last) - 1 } else { u64::MAX };
        (!bits & used).count_ones() as usize
    };
    row.iter().enumerate().map(zeros).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Deserialize)]
    struct Recorded {
        language: String,
        reference: String,
        summary: String,
        expected: [f64; 3],
    }

    /// Recorded from rouge-score 0.1.2: English with its stemmer, the rest with the tokens that are described above.
    #[test]
    fn scores_are_those_of_rouge_score() {
        let mut tokenizer = Tokenizer::default();
        let mut n_pairs = 0;
        for line in include_str!("rouge/recorded.jsonl").lines() {
            let pair: Recorded = serde_json::from_str(line).unwrap();
            let reference = tokenizer.tokens(&pair.reference, &pair.language);
            let summary = tokenizer.tokens(&pair.summary, &pair.language);
            let found = rouge(&reference, &summary);
            for (found, expected) in [found.one, found.two, found.l].into_iter().zip(pair.expected) {
                assert!((found - expected).abs() < 1e-9, "{found} instead of {expected}: {}", pair.summary);
            }
            n_pairs += 1;
        }
        assert!(n_pairs >= 20);
    }

    #[test]
    fn the_longest_subsequence_is_found_across_blocks() {
        let slow = |a: &[u32], b: &[u32]| {
            let mut row = vec![0; b.len() + 1];
            for x in a {
                let mut corner = 0;
                for (j, y) in b.iter().enumerate() {
                    let above = row[j + 1];
                    row[j + 1] = if x == y { corner + 1 } else { above.max(row[j]) };
                    corner = above;
                }
            }
            row[b.len()]
        };
        let mut state = 7u32;
        let mut next = |below: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16) % below
        };
        for length in [0, 1, 63, 64, 65, 128, 200] {
            let a: Vec<u32> = (0..length).map(|_| next(9)).collect();
            let b: Vec<u32> = (0..150).map(|_| next(9)).collect();
            assert_eq!(common_subsequence(&a, &b), slow(&a, &b));
        }
    }

    #[test]
    fn of_several_references_the_best_counts() {
        let best = best_rouge([&[1, 2, 3][..], &[4, 5][..]], &[4, 5]);
        assert_eq!(best, Rouge { one: 1.0, two: 1.0, l: 1.0 });
        assert_eq!(best_rouge([&[][..]], &[]), Rouge::default());
    }
}
