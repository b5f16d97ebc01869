//! Probable words, each used once. Source: A. Nenkova and L. Vanderwende, *The Impact of Frequency on
//! Summarization*, 2005.

use super::graph::MAX_SENTENCES;
use super::{Analysis, Picks, Ranking};

pub(super) struct SumBasic;

fn probabilities(text: &Analysis<'_>) -> Vec<f64> {
    let words = 0..text.n_words() as u32;
    let weight = |word: u32| if text.is_stop(word) { 0.0 } else { f64::from(text.count(word)) };
    let all: f64 = words.clone().map(weight).sum();
    words.map(|word| weight(word) / all.max(1.0)).collect()
}

/// The mean probability of a sentence's content words.
fn mean(text: &Analysis<'_>, tokens: &[u32], probabilities: &[f64]) -> f64 {
    let (mut sum, mut count) = (0.0, 0);
    for word in tokens.iter().filter(|word| !text.is_stop(**word)) {
        sum += probabilities[*word as usize];
        count += 1;
    }
    if count == 0 { 0.0 } else { sum / f64::from(count) }
}

impl Ranking for SumBasic {
    fn rank(&self, text: &Analysis<'_>, picks: &mut Picks<'_>) -> Vec<f64> {
        let mut probabilities = probabilities(text);
        let scores: Vec<f64> = text.token_lists().map(|tokens| mean(text, tokens, &probabilities)).collect();
        let mut left: Vec<usize> = (0..text.n_sentences().min(MAX_SENTENCES)).collect();
        while !left.is_empty() && picks.wants_more() {
            let weights: Vec<f64> =
                left.iter().map(|sentence| mean(text, text.tokens(*sentence), &probabilities)).collect();
            // The sentence must hold the word that is now the most probable, among those that are left.
            let top = left.iter().flat_map(|sentence| text.tokens(*sentence)).copied();
            let top =
                top.max_by(|a, b| probabilities[*a as usize].total_cmp(&probabilities[*b as usize]).then(b.cmp(a)));
            let holds = |place: &usize| top.is_none_or(|word| text.tokens(left[*place]).contains(&word));
            let best = (0..left.len()).filter(holds).max_by(|a, b| weights[*a].total_cmp(&weights[*b]).then(b.cmp(a)));
            let sentence = left.remove(best.unwrap_or(0));
            picks.offer(sentence);
            let mut used = text.tokens(sentence).to_vec();
            used.sort_unstable();
            used.dedup();
            for word in used {
                probabilities[word as usize] *= probabilities[word as usize];
            }
        }
        scores
    }

    fn word_weights(&self, text: &Analysis<'_>) -> Option<Vec<f64>> {
        Some(probabilities(text))
    }
}
