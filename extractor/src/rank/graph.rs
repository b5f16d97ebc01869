//! Sentences as a weighted graph, and PageRank over it.

use super::{Analysis, Picks, offer_by_score};
use crate::cancel;

/// Rankings that compare every sentence with every other look at the first so many sentences and leave the rest at
/// zero: beyond, their time would grow with the square of the text.
pub(super) const MAX_SENTENCES: usize = 1_000;

const DAMPING: f64 = 0.85;
const MAX_ITERATIONS: usize = 100;
const TOLERANCE: f64 = 1e-6;

/// The PageRank of a graph of `n` nodes given the symmetric matrix of edge weights, row by row.
pub(super) fn pagerank(weights: &[f64], n: usize) -> Vec<f64> {
    let degrees: Vec<f64> = (0..n).map(|node| weights[node * n..(node + 1) * n].iter().sum()).collect();
    let mut ranks = vec![1.0 / n.max(1) as f64; n];
    let mut next = vec![0.0; n];
    for _ in 0..MAX_ITERATIONS {
        let dangling: f64 = (0..n).filter(|node| degrees[*node] == 0.0).map(|node| ranks[node]).sum();
        next.fill((1.0 - DAMPING + DAMPING * dangling) / n as f64);
        cancel::check();
        for from in (0..n).filter(|node| degrees[*node] > 0.0) {
            let share = DAMPING * ranks[from] / degrees[from];
            for (to, weight) in weights[from * n..(from + 1) * n].iter().enumerate() {
                next[to] += share * weight;
            }
        }
        let change: f64 = ranks.iter().zip(&next).map(|(a, b)| (a - b).abs()).sum();
        std::mem::swap(&mut ranks, &mut next);
        if change < TOLERANCE {
            break;
        }
    }
    ranks
}

/// Weighs every pair among the first sentences, walks, and offers them by rank.
pub(super) fn rank_by(
    text: &Analysis<'_>,
    picks: &mut Picks<'_>,
    mut weight: impl FnMut(usize, usize) -> f64,
) -> Vec<f64> {
    let n = text.n_sentences().min(MAX_SENTENCES);
    let mut weights = vec![0.0; n * n];
    for a in 0..n {
        cancel::check();
        for b in 0..a {
            let both = weight(a, b);
            weights[a * n + b] = both;
            weights[b * n + a] = both;
        }
    }
    let mut scores = pagerank(&weights, n);
    scores.resize(text.n_sentences(), 0.0);
    offer_by_score(&scores, picks);
    scores
}

/// A sentence's different content words with a weight each, in the order of their numbers.
pub(super) type Bag = Vec<(u32, f64)>;

/// The content words of the first sentences and how often each occurs there.
pub(super) fn bags(text: &Analysis<'_>) -> Vec<Bag> {
    let bag = |tokens: &[u32]| {
        let mut sorted: Vec<u32> = tokens.iter().copied().filter(|word| !text.is_stop(*word)).collect();
        sorted.sort_unstable();
        sorted.chunk_by(|a, b| a == b).map(|same| (same[0], same.len() as f64)).collect()
    };
    text.token_lists().take(MAX_SENTENCES).map(bag).collect()
}

/// The sum over the words that two bags share of what `join` makes of their weights.
pub(super) fn sum_over_shared(a: &[(u32, f64)], b: &[(u32, f64)], join: impl Fn(f64, f64) -> f64) -> f64 {
    let (mut i, mut j, mut sum) = (0, 0, 0.0);
    while let (Some((word_a, weight_a)), Some((word_b, weight_b))) = (a.get(i), b.get(j)) {
        if word_a == word_b {
            sum += join(*weight_a, *weight_b);
        }
        i += usize::from(word_a <= word_b);
        j += usize::from(word_b <= word_a);
    }
    sum
}
