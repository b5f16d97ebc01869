//! The summary whose words diverge least from the text's. Source: A. Haghighi and L. Vanderwende, *Exploring Content
//! Models for Multi-Document Summarization*, 2009 (KLSum).

use super::graph::{Bag, MAX_SENTENCES, bags};
use super::{Analysis, Picks, Ranking};

pub(super) struct Kl;

/// Added to every count of the summary, so that the divergence stays finite for a word that it lacks.
const SMOOTHING: f64 = 0.01;

fn probabilities(text: &Analysis<'_>) -> Vec<f64> {
    let words = 0..text.n_words() as u32;
    let weight = |word: u32| if text.is_stop(word) { 0.0 } else { f64::from(text.count(word)) };
    let all: f64 = words.clone().map(weight).sum();
    words.map(|word| weight(word) / all.max(1.0)).collect()
}

/// KL(text ‖ summary + sentence), without what is the same for every sentence.
fn divergence(bag: &Bag, target: &[f64], counts: &[f64], total: f64) -> f64 {
    let size: f64 = bag.iter().map(|word| word.1).sum();
    let gained: f64 = bag
        .iter()
        .map(|(word, count)| {
            let (word, now) = (*word as usize, counts[*word as usize] + SMOOTHING);
            target[word] * ((now + count) / now).ln()
        })
        .sum();
    // A text without words still has a logarithm.
    (total + size + SMOOTHING * target.len().max(1) as f64).ln() - gained
}

impl Ranking for Kl {
    fn rank(&self, text: &Analysis<'_>, picks: &mut Picks<'_>) -> Vec<f64> {
        let target = probabilities(text);
        let bags = bags(text);
        let mut counts = vec![0.0; text.n_words()];
        let mut total = 0.0;
        let mut scores: Vec<f64> = bags.iter().map(|bag| -divergence(bag, &target, &counts, total)).collect();
        scores.resize(text.n_sentences(), f64::MIN);
        let mut left: Vec<usize> = (0..text.n_sentences().min(MAX_SENTENCES)).collect();
        while !left.is_empty() && picks.wants_more() {
            let costs: Vec<f64> =
                left.iter().map(|sentence| divergence(&bags[*sentence], &target, &counts, total)).collect();
            let best = (0..left.len()).min_by(|a, b| costs[*a].total_cmp(&costs[*b])).expect("some are left");
            let sentence = left.remove(best);
            picks.offer(sentence);
            for (word, count) in &bags[sentence] {
                counts[*word as usize] += count;
                total += count;
            }
        }
        scores
    }

    fn word_weights(&self, text: &Analysis<'_>) -> Option<Vec<f64>> {
        Some(probabilities(text))
    }
}
