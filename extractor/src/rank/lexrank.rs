//! Eigenvector centrality over TF-IDF cosines. Source: G. Erkan and D. R. Radev, *LexRank: Graph-based Lexical
//! Centrality as Salience in Text Summarization*, 2004.

use super::graph::{bags, rank_by, sum_over_shared};
use super::tfidf::document_frequencies;
use super::{Analysis, Picks, Ranking};

pub(super) struct LexRank;

/// Sentences with a cosine up to this have no edge.
const THRESHOLD: f64 = 0.1;

fn idf(text: &Analysis<'_>) -> Vec<f64> {
    let n = text.n_sentences() as f64;
    document_frequencies(text).into_iter().map(|df| (n / (1.0 + f64::from(df))).ln().max(0.0) + 1e-3).collect()
}

impl Ranking for LexRank {
    fn rank(&self, text: &Analysis<'_>, picks: &mut Picks<'_>) -> Vec<f64> {
        let idf = idf(text);
        let mut bags = bags(text);
        for bag in &mut bags {
            let most = bag.iter().map(|word| word.1).fold(1.0, f64::max);
            for (word, weight) in bag {
                *weight *= idf[*word as usize] / most;
            }
        }
        let norms: Vec<f64> =
            bags.iter().map(|bag| bag.iter().map(|word| word.1 * word.1).sum::<f64>().sqrt()).collect();
        rank_by(text, picks, |a, b| {
            let norm = norms[a] * norms[b];
            let cosine = if norm > 0.0 { sum_over_shared(&bags[a], &bags[b], |x, y| x * y) / norm } else { 0.0 };
            f64::from(cosine > THRESHOLD)
        })
    }

    fn word_weights(&self, text: &Analysis<'_>) -> Option<Vec<f64>> {
        Some(idf(text))
    }
}
