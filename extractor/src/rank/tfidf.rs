//! The seed's second method, TF-IDF: the score of a sentence is the sum over its different words of tf·ln(N/df).
//!
//! Source: the slides of the seed crawler, method 2, and its code for the minimum length. The sum is the mean IDF of
//! the sentence's words, so that it prefers the most unusual sentence to the most informative one.

use super::{Analysis, Picks, Ranking, offer_by_score};

pub(super) struct TfIdf;

/// The seed takes only sentences of so many characters …
const MIN_CHARACTERS: usize = 20;
/// … once there are more than it would take anyway.
const ALL_TAKEN: usize = 20;

fn idf(text: &Analysis<'_>) -> Vec<f64> {
    let n = text.n_sentences() as f64;
    document_frequencies(text).into_iter().map(|df| if df == 0 { 0.0 } else { (n / f64::from(df)).ln() }).collect()
}

/// The number of sentences that hold each word.
pub(super) fn document_frequencies(text: &Analysis<'_>) -> Vec<u32> {
    let mut seen_in = vec![u32::MAX; text.n_words()];
    let mut frequencies = vec![0; text.n_words()];
    for (sentence, tokens) in text.token_lists().enumerate() {
        for word in tokens {
            if seen_in[*word as usize] != sentence as u32 {
                seen_in[*word as usize] = sentence as u32;
                frequencies[*word as usize] += 1;
            }
        }
    }
    frequencies
}

impl Ranking for TfIdf {
    fn rank(&self, text: &Analysis<'_>, picks: &mut Picks<'_>) -> Vec<f64> {
        let idf = idf(text);
        let score = |tokens: &[u32]| {
            let sum: f64 = tokens.iter().map(|word| idf[*word as usize]).sum();
            if tokens.is_empty() { 0.0 } else { sum / tokens.len() as f64 }
        };
        let scores: Vec<f64> = text.token_lists().map(score).collect();
        if text.n_sentences() <= ALL_TAKEN {
            offer_by_score(&scores, picks);
            return scores;
        }
        let long = |sentence: &str| sentence.chars().nth(MIN_CHARACTERS - 1).is_some();
        let mut eligible = Vec::new();
        for (index, sentence) in text.sentences().iter().enumerate() {
            if long(sentence) {
                eligible.push(index);
            }
        }
        eligible.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]));
        let _ = eligible.into_iter().all(|index| picks.offer(index));
        scores
    }

    fn word_weights(&self, text: &Analysis<'_>) -> Option<Vec<f64>> {
        Some(idf(text))
    }
}
