//! The seed's first method, *naive word frequency*: the score of a sentence is the sum of its words' weights.
//!
//! Source: the slides of the seed crawler (Distributed Search Engine Web Crawler, method 1), and for the median its
//! code. The weight of a word is its frequency f; above the mean m over the different words, m·(m/f) instead.

use super::{Analysis, Picks, Ranking, offer_by_score};

pub(super) enum Naive {
    /// As on the slides: frequencies above the mean are reflected at it.
    Mean,
    /// As in the code: frequencies are cut off at the upper median.
    Median,
}

impl Naive {
    fn weights(&self, text: &Analysis<'_>) -> Vec<f64> {
        let n_words = text.n_words();
        let counts = (0..n_words as u32).map(|word| f64::from(text.count(word)));
        match self {
            Naive::Mean => {
                let mean = text.all_tokens().len() as f64 / n_words as f64;
                counts.map(|count| if count > mean { mean * (mean / count) } else { count }).collect()
            }
            Naive::Median => {
                let mut sorted: Vec<u32> = (0..n_words as u32).map(|word| text.count(word)).collect();
                sorted.sort_unstable();
                let median = sorted.get(n_words / 2).map_or(0.0, |count| f64::from(*count));
                counts.map(|count| count.min(median)).collect()
            }
        }
    }
}

impl Ranking for Naive {
    fn rank(&self, text: &Analysis<'_>, picks: &mut Picks<'_>) -> Vec<f64> {
        let weights = self.weights(text);
        let score = |tokens: &[u32]| tokens.iter().map(|word| weights[*word as usize]).sum();
        let scores: Vec<f64> = text.token_lists().map(score).collect();
        offer_by_score(&scores, picks);
        scores
    }

    fn word_weights(&self, text: &Analysis<'_>) -> Option<Vec<f64>> {
        Some(self.weights(text))
    }
}
