//! Sentence rankings for extractive summaries. Each is in a file of its own that names its source.

use std::fmt;
use std::str::FromStr;

mod analysis;
mod budget;
mod graph;
mod kl;
mod lead;
mod lexrank;
mod lsa;
mod luhn;
mod naive;
mod pith;
mod sumbasic;
mod textrank;
mod tfidf;
mod weights;

pub use analysis::Analysis;
pub use budget::{Budget, Picks};
pub use pith::{Pith, Weights};

/// A ranking of sentences.
pub trait Ranking: Sync {
    /// Offers sentences to `picks`, best first, until the budget is spent, and returns the score of every sentence.
    fn rank(&self, text: &Analysis<'_>, picks: &mut Picks<'_>) -> Vec<f64>;

    /// The weight of every word of the text, by its number, where the ranking weighs words.
    fn word_weights(&self, text: &Analysis<'_>) -> Option<Vec<f64>>;
}

/// Every ranking by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Method {
    /// Centrality, novelty, position and title, with a penalty for redundancy.
    #[default]
    Pith,
    /// The seed's word frequency, reflected at the mean.
    Naive,
    /// The seed's word frequency, capped at the median.
    NaiveMedian,
    /// The seed's TF-IDF.
    TfIdf,
    /// The first sentences.
    Lead,
    /// Clusters of significant words.
    Luhn,
    /// Probable words, each used once.
    SumBasic,
    /// Eigenvector centrality over TF-IDF cosines.
    LexRank,
    /// PageRank over shared words.
    TextRank,
    /// The smallest divergence from the text.
    Kl,
    /// Latent topics.
    Lsa,
}

impl Method {
    /// All rankings, the default first.
    pub const ALL: [Method; 11] = [
        Method::Pith,
        Method::Naive,
        Method::NaiveMedian,
        Method::TfIdf,
        Method::Lead,
        Method::Luhn,
        Method::SumBasic,
        Method::LexRank,
        Method::TextRank,
        Method::Kl,
        Method::Lsa,
    ];

    /// The name on the command line and in documents.
    pub fn name(self) -> &'static str {
        match self {
            Method::Pith => "pith",
            Method::Naive => "naive",
            Method::NaiveMedian => "naive-median",
            Method::TfIdf => "tfidf",
            Method::Lead => "lead",
            Method::Luhn => "luhn",
            Method::SumBasic => "sumbasic",
            Method::LexRank => "lexrank",
            Method::TextRank => "textrank",
            Method::Kl => "kl",
            Method::Lsa => "lsa",
        }
    }

    /// The ranking itself.
    pub fn ranking(self) -> &'static dyn Ranking {
        match self {
            Method::Pith => &Pith { weights: Weights::FITTED },
            Method::Naive => &naive::Naive::Mean,
            Method::NaiveMedian => &naive::Naive::Median,
            Method::TfIdf => &tfidf::TfIdf,
            Method::Lead => &lead::Lead,
            Method::Luhn => &luhn::Luhn,
            Method::SumBasic => &sumbasic::SumBasic,
            Method::LexRank => &lexrank::LexRank,
            Method::TextRank => &textrank::TextRank,
            Method::Kl => &kl::Kl,
            Method::Lsa => &lsa::Lsa,
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Method {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Method::ALL.into_iter().find(|method| method.name() == name).ok_or_else(|| {
            let names: Vec<&str> = Method::ALL.iter().map(|method| method.name()).collect();
            format!("no ranking is called {name:?}; there are {}", names.join(", "))
        })
    }
}

/// Offers sentences by score, the highest first, of equal ones the earlier first, until no more are wanted.
fn offer_by_score(scores: &[f64], picks: &mut Picks<'_>) {
    let mut order: Vec<u32> = (0..scores.len() as u32).collect();
    let before = |a: &u32, b: &u32| scores[*b as usize].total_cmp(&scores[*a as usize]).then(a.cmp(b));
    // Most summaries are short: sorting the best sentences is enough for them.
    let n_best = 64.min(order.len());
    if n_best < order.len() {
        order.select_nth_unstable_by(n_best, before);
    }
    order[..n_best].sort_unstable_by(before);
    if !order[..n_best].iter().all(|index| picks.offer(*index as usize)) {
        return;
    }
    order[n_best..].sort_unstable_by(before);
    let _ = order[n_best..].iter().all(|index| picks.offer(*index as usize));
}
