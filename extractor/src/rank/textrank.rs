//! PageRank over shared words. Source: R. Mihalcea and P. Tarau, *TextRank: Bringing Order into Texts*, 2004.

use super::graph::{bags, rank_by, sum_over_shared};
use super::{Analysis, Picks, Ranking};

pub(super) struct TextRank;

impl Ranking for TextRank {
    fn rank(&self, text: &Analysis<'_>, picks: &mut Picks<'_>) -> Vec<f64> {
        let bags = bags(text);
        let logs: Vec<f64> = bags.iter().map(|bag| bag.iter().map(|word| word.1).sum::<f64>().max(1.0).ln()).collect();
        rank_by(text, picks, |a, b| {
            let length = logs[a] + logs[b];
            let common = sum_over_shared(&bags[a], &bags[b], |_, _| 1.0);
            if length > 0.0 { common / length } else { 0.0 }
        })
    }

    fn word_weights(&self, _text: &Analysis<'_>) -> Option<Vec<f64>> {
        None
    }
}
