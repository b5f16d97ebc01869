//! The first sentences: the baseline that news is written for.

use super::{Analysis, Picks, Ranking};

pub(super) struct Lead;

impl Ranking for Lead {
    fn rank(&self, text: &Analysis<'_>, picks: &mut Picks<'_>) -> Vec<f64> {
        let _ = (0..text.n_sentences()).all(|index| picks.offer(index));
        (0..text.n_sentences()).map(|index| 1.0 / (1.0 + index as f64)).collect()
    }

    fn word_weights(&self, _text: &Analysis<'_>) -> Option<Vec<f64>> {
        None
    }
}
