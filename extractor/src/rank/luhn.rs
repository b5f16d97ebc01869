//! Clusters of significant words. Source: H. P. Luhn, *The Automatic Creation of Literature Abstracts*, 1958.

use super::{Analysis, Picks, Ranking, offer_by_score};

pub(super) struct Luhn;

/// So many insignificant words may be between two significant ones of a cluster.
const GAP: usize = 4;

/// Significant words are the content words that occur twice; in a text where none does, all content words.
fn significant(text: &Analysis<'_>) -> Vec<bool> {
    let content = |word: u32, count: u32| !text.is_stop(word) && text.count(word) >= count;
    let words = 0..text.n_words() as u32;
    let least = if words.clone().any(|word| content(word, 2)) { 2 } else { 1 };
    words.map(|word| content(word, least)).collect()
}

/// The best cluster's number of significant words, squared, over its length.
fn best_cluster(tokens: &[u32], significant: &[bool]) -> f64 {
    let mut best: f64 = 0.0;
    let (mut start, mut last, mut count) = (0, 0, 0_u64);
    for (at, word) in tokens.iter().enumerate() {
        if !significant[*word as usize] {
            continue;
        }
        if count == 0 || at - last > GAP + 1 {
            (start, count) = (at, 0);
        }
        count += 1;
        last = at;
        best = best.max((count * count) as f64 / (at - start + 1) as f64);
    }
    best
}

impl Ranking for Luhn {
    fn rank(&self, text: &Analysis<'_>, picks: &mut Picks<'_>) -> Vec<f64> {
        let significant = significant(text);
        let scores: Vec<f64> = text.token_lists().map(|tokens| best_cluster(tokens, &significant)).collect();
        offer_by_score(&scores, picks);
        scores
    }

    fn word_weights(&self, text: &Analysis<'_>) -> Option<Vec<f64>> {
        Some(significant(text).into_iter().map(f64::from).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clusters_end_at_wide_gaps() {
        let significant = [true, false];
        assert_eq!(best_cluster(&[0, 1, 0, 0], &significant), 9.0 / 4.0);
        assert_eq!(best_cluster(&[0, 1, 1, 1, 1, 1, 0, 0], &significant), 2.0);
        assert_eq!(best_cluster(&[1, 1], &significant), 0.0);
    }
}
