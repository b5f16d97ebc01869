//! What a summary is beside its source, without any reference: what it takes over, how much of it, from where.

use std::collections::HashMap;

use serde::Serialize;

use super::fragments::Fragments;

/// The measures of one summary, or their means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Measures {
    /// The share of the summary's tokens that stand in pieces taken from the source; 1 where whole sentences are taken.
    pub coverage: f64,
    /// The mean length of the piece that a token of the summary stands in: how much is copied at once.
    pub density: f64,
    /// Tokens of the source for each token of the summary.
    pub compression: f64,
    /// Where the sentences stand in the source, on average: 0 is its beginning, 1 its end. Nothing for a summary that
    /// is not made of its sentences.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<f64>,
    /// The share of neighbouring token pairs that the summary had before.
    pub redundancy: f64,
    /// The Jensen-Shannon distance of the words of the summary to those of the source, from 0 (the same distribution) to
    /// 1 (no word in common). Of several summaries of one length, the one that is closer says more of the source.
    pub divergence: f64,
}

impl Measures {
    /// The mean of several, measure by measure.
    pub(super) fn mean<'m>(all: impl IntoIterator<Item = &'m Measures>) -> Measures {
        let all: Vec<&Measures> = all.into_iter().collect();
        let mean = |value: fn(&Measures) -> f64| all.iter().map(|m| value(m)).sum::<f64>() / all.len().max(1) as f64;
        let positions: Vec<f64> = all.iter().filter_map(|measures| measures.position).collect();
        Measures {
            coverage: mean(|m| m.coverage),
            density: mean(|m| m.density),
            compression: mean(|m| m.compression),
            position: (!positions.is_empty()).then(|| positions.iter().sum::<f64>() / positions.len() as f64),
            redundancy: mean(|m| m.redundancy),
            divergence: mean(|m| m.divergence),
        }
    }
}

/// A source, prepared for many summaries.
pub(super) struct Source {
    fragments: Fragments,
    shares: HashMap<u32, f64>,
    n_tokens: usize,
    n_sentences: usize,
}

impl Source {
    pub(super) fn of(tokens: &[u32], n_sentences: usize) -> Source {
        Source { fragments: Fragments::of(tokens), shares: shares(tokens), n_tokens: tokens.len(), n_sentences }
    }

    /// Measures a summary; `picks` are the sentences it is made of, where it is made of sentences.
    pub(super) fn measure(&self, tokens: &[u32], picks: Option<&[usize]>) -> Measures {
        let lengths = self.fragments.lengths_in(tokens);
        let n = tokens.len().max(1) as f64;
        Measures {
            coverage: lengths.iter().sum::<usize>() as f64 / n,
            density: lengths.iter().map(|length| (length * length) as f64).sum::<f64>() / n,
            compression: self.n_tokens as f64 / n,
            position: picks.filter(|picks| !picks.is_empty()).map(|picks| self.position(picks)),
            redundancy: redundancy(tokens),
            divergence: divergence(&self.shares, &shares(tokens)),
        }
    }

    fn position(&self, picks: &[usize]) -> f64 {
        let last = self.n_sentences.saturating_sub(1).max(1) as f64;
        picks.iter().map(|pick| *pick as f64 / last).sum::<f64>() / picks.len() as f64
    }
}

/// The share of neighbouring token pairs that occurred before.
fn redundancy(tokens: &[u32]) -> f64 {
    let mut seen = std::collections::HashSet::new();
    let repeated = tokens.windows(2).filter(|pair| !seen.insert((pair[0], pair[1]))).count();
    repeated as f64 / tokens.len().saturating_sub(1).max(1) as f64
}

fn shares(tokens: &[u32]) -> HashMap<u32, f64> {
    let mut shares: HashMap<u32, f64> = HashMap::new();
    tokens.iter().for_each(|token| *shares.entry(*token).or_default() += 1.0 / tokens.len() as f64);
    shares
}

/// The square root of the Jensen-Shannon divergence in bits, added up in the order of the tokens, so that it does not
/// depend on how they are kept.
fn divergence(source: &HashMap<u32, f64>, summary: &HashMap<u32, f64>) -> f64 {
    let mut tokens: Vec<u32> = source.keys().chain(summary.keys()).copied().collect();
    tokens.sort_unstable();
    tokens.dedup();
    let of = |shares: &HashMap<u32, f64>, token: &u32| shares.get(token).copied().unwrap_or(0.0);
    let half = |share: f64, middle: f64| if share > 0.0 { share * (share / middle).log2() / 2.0 } else { 0.0 };
    let terms = tokens.iter().map(|token| {
        let (p, q) = (of(source, token), of(summary, token));
        half(p, (p + q) / 2.0) + half(q, (p + q) / 2.0)
    });
    terms.sum::<f64>().clamp(0.0, 1.0).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copied_sentence_is_covered_and_dense_and_other_words_are_not() {
        let source = Source::of(&[1, 2, 3, 4, 5, 6, 7, 8], 4);
        let copied = source.measure(&[3, 4, 5, 6], Some(&[1, 2]));
        assert_eq!((copied.coverage, copied.density, copied.compression), (1.0, 4.0, 2.0));
        assert_eq!(copied.position, Some(0.5));
        let rephrased = source.measure(&[3, 9, 6, 9], None);
        assert_eq!((rephrased.coverage, rephrased.density, rephrased.position), (0.5, 0.5, None));
    }

    #[test]
    fn distance_is_zero_for_the_same_words_and_one_for_none_in_common() {
        let source = Source::of(&[1, 2, 1, 2], 2);
        assert_eq!(source.measure(&[2, 1], None).divergence, 0.0);
        assert_eq!(source.measure(&[3, 4], None).divergence, 1.0);
        let half = source.measure(&[1, 3], None).divergence;
        // p = (1/2, 1/2, 0), q = (1/2, 0, 1/2): half a bit.
        assert!((half - 0.5f64.sqrt()).abs() < 1e-12, "{half}");
    }

    #[test]
    fn what_is_said_twice_is_redundant_and_an_empty_summary_is_nothing() {
        let source = Source::of(&[1, 2, 3], 1);
        assert_eq!(source.measure(&[1, 2, 1, 2, 1], None).redundancy, 0.5);
        let empty = source.measure(&[], Some(&[]));
        assert_eq!((empty.coverage, empty.position, empty.redundancy), (0.0, None, 0.0));
        assert!(empty.divergence.is_finite() && empty.compression.is_finite());
    }
}
