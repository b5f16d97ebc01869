//! ROUGE with precision and recall, and ROUGE-Lsum, which compares sentence by sentence.

use std::collections::HashMap;

use serde::Serialize;

use super::{Tokenizer, common_subsequence, n_common, pairs, singles};

/// What a summary and a reference have in common, each figure between 0 and 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Overlap {
    /// The share of the summary that stands in the reference.
    pub precision: f64,
    /// The share of the reference that stands in the summary.
    pub recall: f64,
    /// The harmonic mean of both.
    pub f1: f64,
}

impl Overlap {
    fn of(common: usize, reference: usize, summary: usize) -> Overlap {
        if common == 0 {
            return Overlap::default();
        }
        let (precision, recall) = (common as f64 / summary as f64, common as f64 / reference as f64);
        Overlap { precision, recall, f1: 2.0 * precision * recall / (precision + recall) }
    }
}

/// Every measure of one comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct DetailedRouge {
    /// Single words.
    pub one: Overlap,
    /// Pairs of words.
    pub two: Overlap,
    /// The longest common subsequence of the whole texts.
    pub l: Overlap,
    /// The longest common subsequences of every sentence of the reference with all sentences of the summary, joined.
    pub l_sum: Overlap,
}

impl DetailedRouge {
    /// The mean F1 of ROUGE-1, -2 and -L.
    pub fn mean(&self) -> f64 {
        (self.one.f1 + self.two.f1 + self.l.f1) / 3.0
    }

    /// The four measures in the order of their names.
    pub fn measures(&self) -> [Overlap; 4] {
        [self.one, self.two, self.l, self.l_sum]
    }

    /// The measures from the order that [`DetailedRouge::measures`] has.
    pub fn from_measures([one, two, l, l_sum]: [Overlap; 4]) -> DetailedRouge {
        DetailedRouge { one, two, l, l_sum }
    }

    /// For each measure the better of two comparisons, by its F1.
    pub fn best(self, other: DetailedRouge) -> DetailedRouge {
        let (ours, theirs) = (self.measures(), other.measures());
        let better = |index: usize| if theirs[index].f1 > ours[index].f1 { theirs[index] } else { ours[index] };
        DetailedRouge::from_measures([0, 1, 2, 3].map(better))
    }
}

/// A text as tokens, whole and by sentence.
#[derive(Clone, Debug, Default)]
pub struct TokenizedText {
    /// The tokens of the whole text.
    pub tokens: Vec<u32>,
    sentences: Vec<Vec<u32>>,
}

impl TokenizedText {
    /// Reads the sentences of a text.
    pub fn of(sentences: &[&str], language: &str, tokenizer: &mut Tokenizer) -> TokenizedText {
        let sentences: Vec<Vec<u32>> = sentences.iter().map(|sentence| tokenizer.tokens(sentence, language)).collect();
        TokenizedText { tokens: sentences.concat(), sentences }
    }
}

/// Compares a summary with a reference.
pub fn detailed_rouge(reference: &TokenizedText, summary: &TokenizedText) -> DetailedRouge {
    let (theirs, ours) = (&reference.tokens[..], &summary.tokens[..]);
    let of_pairs = n_common(pairs(theirs), pairs(ours));
    DetailedRouge {
        one: Overlap::of(n_common(singles(theirs), singles(ours)), theirs.len(), ours.len()),
        two: Overlap::of(of_pairs, theirs.len().saturating_sub(1), ours.len().saturating_sub(1)),
        l: Overlap::of(common_subsequence(theirs, ours), theirs.len(), ours.len()),
        l_sum: Overlap::of(n_joined_subsequences(reference, summary), theirs.len(), ours.len()),
    }
}

/// Counts the tokens of the reference's sentences that stand in a longest common subsequence with any sentence of the
/// summary; no token more often than it stands in either text.
fn n_joined_subsequences(reference: &TokenizedText, summary: &TokenizedText) -> usize {
    let mut left_in_reference = counts(&reference.tokens);
    let mut left_in_summary = counts(&summary.tokens);
    let mut n_hits = 0;
    for sentence in &reference.sentences {
        let mut is_hit = vec![false; sentence.len()];
        for other in &summary.sentences {
            mark_subsequence(sentence, other, &mut is_hit);
        }
        for (token, _) in sentence.iter().zip(&is_hit).filter(|(_, is_hit)| **is_hit) {
            let (theirs, ours) = (left_in_reference.get_mut(token), left_in_summary.get_mut(token));
            if let (Some(theirs @ 1..), Some(ours @ 1..)) = (theirs, ours) {
                (*theirs, *ours) = (*theirs - 1, *ours - 1);
                n_hits += 1;
            }
        }
    }
    n_hits
}

fn counts(tokens: &[u32]) -> HashMap<u32, usize> {
    let mut counts = HashMap::new();
    tokens.iter().for_each(|token| *counts.entry(*token).or_default() += 1);
    counts
}

/// Marks the tokens of `a` that belong to a longest common subsequence with `b`; where there are several, the one that
/// `rouge-score` finds: going back from the ends, a token of `b` is left out before one of `a` only when that is longer.
fn mark_subsequence(a: &[u32], b: &[u32], is_marked: &mut [bool]) {
    let width = b.len() + 1;
    let mut lengths = vec![0u32; (a.len() + 1) * width];
    for (i, x) in a.iter().enumerate() {
        for (j, y) in b.iter().enumerate() {
            lengths[(i + 1) * width + j + 1] = match x == y {
                true => lengths[i * width + j] + 1,
                false => lengths[i * width + j + 1].max(lengths[(i + 1) * width + j]),
            };
        }
    }
    let (mut i, mut j) = (a.len(), b.len());
    while i > 0 && j > 0 {
        if a[i - 1] == b[j - 1] {
            is_marked[i - 1] = true;
            (i, j) = (i - 1, j - 1);
        } else if lengths[i * width + j - 1] > lengths[(i - 1) * width + j] {
            j -= 1;
        } else {
            i -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rouge::rouge;

    fn text(sentences: &[&[u32]]) -> TokenizedText {
        TokenizedText { tokens: sentences.concat(), sentences: sentences.iter().map(|s| s.to_vec()).collect() }
    }

    /// The example of Lin's paper, section 3.2: a sentence of five words, of which two sentences hold four together.
    #[test]
    fn subsequences_of_several_sentences_are_joined() {
        let reference = text(&[&[1, 2, 3, 4, 5]]);
        let summary = text(&[&[1, 3, 8, 9, 5], &[1, 2, 6, 7, 8]]);
        let found = detailed_rouge(&reference, &summary);
        assert_eq!((found.l_sum.recall, found.l_sum.precision), (4.0 / 5.0, 4.0 / 10.0));
        assert_eq!(found.l.recall, 3.0 / 5.0, "of the whole texts the longest is 1 3 5");
    }

    #[test]
    fn no_token_counts_more_often_than_it_stands_in_both_texts() {
        let found = detailed_rouge(&text(&[&[1, 1], &[1, 1]]), &text(&[&[1]]));
        assert_eq!(found.l_sum, Overlap { precision: 1.0, recall: 0.25, f1: 0.4 });
    }

    #[test]
    fn f1_is_that_of_the_short_form_and_the_better_reference_counts_for_each_measure() {
        let (a, b) = (text(&[&[1, 2, 3, 4]]), text(&[&[3, 1, 2, 9, 9]]));
        let (found, short) = (detailed_rouge(&a, &b), rouge(&a.tokens, &b.tokens));
        assert_eq!([found.one.f1, found.two.f1, found.l.f1], [short.one, short.two, short.l]);
        let best = detailed_rouge(&text(&[&[3, 7]]), &b).best(found);
        assert_eq!(best, found);
        assert_eq!(detailed_rouge(&text(&[]), &text(&[])), DetailedRouge::default());
    }
}
