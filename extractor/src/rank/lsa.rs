//! Latent topics. Source: J. Steinberger and K. Ježek, *Using Latent Semantic Analysis in Text Summarization and
//! Summary Evaluation*, 2004: the score of a sentence is the length of its vector in the space of the strongest topics.

use super::graph::{MAX_SENTENCES, bags};
use super::{Analysis, Picks, Ranking, offer_by_score};

pub(super) struct Lsa;

/// How many topics are looked at, at most one for each sentence.
const MAX_TOPICS: usize = 8;
/// Iterations of the subspace iteration; more change no pick on the gold sets.
const ITERATIONS: usize = 24;
/// A topic less than half as strong as the first does not count.
const MIN_TOPIC_STRENGTH: f64 = 0.5;

impl Ranking for Lsa {
    fn rank(&self, text: &Analysis<'_>, picks: &mut Picks<'_>) -> Vec<f64> {
        let bags = bags(text);
        let n = bags.len().min(MAX_SENTENCES);
        let topics = MAX_TOPICS.min(n);
        // Orthonormal vectors over the sentences, which turn towards the right singular vectors.
        let mut vectors: Vec<Vec<f64>> = (0..topics)
            .map(|topic| (0..n).map(|i| f64::from(u8::from(i % topics == topic)) + 0.01).collect())
            .collect();
        let mut strengths = vec![0.0; topics];
        let mut by_word = vec![0.0; text.n_words()];
        for _ in 0..ITERATIONS {
            for topic in 0..topics {
                by_word.fill(0.0);
                for (bag, weight) in bags.iter().zip(&vectors[topic]) {
                    bag.iter().for_each(|(word, count)| by_word[*word as usize] += count * weight);
                }
                let mut turned: Vec<f64> = bags
                    .iter()
                    .map(|bag| bag.iter().map(|(word, count)| count * by_word[*word as usize]).sum())
                    .collect();
                for earlier in &vectors[..topic] {
                    let along: f64 = earlier.iter().zip(&turned).map(|(a, b)| a * b).sum();
                    turned.iter_mut().zip(earlier).for_each(|(a, b)| *a -= along * b);
                }
                let length = turned.iter().map(|a| a * a).sum::<f64>().sqrt();
                if length > 1e-12 {
                    turned.iter_mut().for_each(|a| *a /= length);
                }
                // One round multiplies by the square of the singular value.
                strengths[topic] = length.sqrt();
                vectors[topic] = turned;
            }
        }
        let strongest = strengths.iter().copied().fold(0.0, f64::max);
        let counting: Vec<usize> =
            (0..topics).filter(|topic| strengths[*topic] >= MIN_TOPIC_STRENGTH * strongest).collect();
        let part = |topic: usize, i: usize| (strengths[topic] * vectors[topic][i]).powi(2);
        let mut scores: Vec<f64> =
            (0..n).map(|i| counting.iter().map(|topic| part(*topic, i)).sum::<f64>().sqrt()).collect();
        scores.resize(text.n_sentences(), 0.0);
        offer_by_score(&scores, picks);
        scores
    }

    fn word_weights(&self, _text: &Analysis<'_>) -> Option<Vec<f64>> {
        None
    }
}
