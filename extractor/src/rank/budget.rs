//! [`Budget`]: the length of a summary, and [`Picks`]: the sentences taken within it.

use super::Analysis;
use crate::words::count_words;

/// How long a summary may be. Sentences are taken whole, so that it may be shorter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Budget {
    /// So many sentences.
    Sentences(usize),
    /// So many words; in scripts without spaces every character counts as one.
    Words(usize),
    /// So many characters.
    Characters(usize),
    /// This part of the text's characters, between 0 and 1.
    Share(f64),
}

impl Default for Budget {
    /// Three sentences.
    fn default() -> Self {
        Budget::Sentences(3)
    }
}

/// A sentence that does not fit is skipped; after so many of them the budget counts as spent.
const MAX_MISSES: usize = 8;

/// The sentences taken so far.
#[derive(Debug)]
pub struct Picks<'a> {
    sentences: &'a [&'a str],
    budget: Budget,
    left: usize,
    misses: usize,
    /// Whether the last sentence may go beyond the budget.
    overruns: bool,
    taken: Vec<usize>,
}

impl<'a> Picks<'a> {
    /// Nothing taken yet.
    pub fn new(text: &'a Analysis<'_>, budget: Budget) -> Self {
        let sentences = text.sentences();
        let left = match budget {
            Budget::Sentences(n) | Budget::Words(n) | Budget::Characters(n) => n,
            Budget::Share(share) => {
                let all: usize = sentences.iter().map(|sentence| sentence.chars().count()).sum();
                (all as f64 * share.clamp(0.0, 1.0)) as usize
            }
        };
        Picks { sentences, budget, left, misses: 0, overruns: false, taken: Vec::new() }
    }

    /// Nothing taken yet; the last sentence may go beyond the budget, for callers that cut it themselves.
    pub fn overrunning(text: &'a Analysis<'_>, budget: Budget) -> Self {
        Picks { overruns: true, ..Picks::new(text, budget) }
    }

    /// Whether long sentences cost more than short ones.
    pub fn counts_length(&self) -> bool {
        !matches!(self.budget, Budget::Sentences(_))
    }

    /// The part of a sentence that what is left of the budget holds: 1 where all of it fits.
    pub fn part_that_fits(&self, index: usize) -> f64 {
        match self.budget {
            Budget::Sentences(_) => 1.0,
            // No sentence has more words or characters than bytes.
            _ if self.sentences[index].len() <= self.left => 1.0,
            _ => (self.left as f64 / self.size(index).max(1) as f64).min(1.0),
        }
    }

    /// What a sentence costs.
    fn size(&self, index: usize) -> usize {
        match self.budget {
            Budget::Sentences(_) => 1,
            Budget::Words(_) => count_words(self.sentences[index]),
            Budget::Characters(_) | Budget::Share(_) => self.sentences[index].chars().count(),
        }
    }

    /// Takes a sentence where it fits, and returns whether more are wanted. A sentence must not be offered twice.
    pub fn offer(&mut self, index: usize) -> bool {
        let size = self.size(index);
        if size <= self.left || self.overruns {
            self.left = self.left.saturating_sub(size);
            self.taken.push(index);
        } else {
            self.misses += 1;
        }
        self.wants_more()
    }

    /// Whether anything is left to fill.
    pub fn wants_more(&self) -> bool {
        self.left > 0 && self.misses < MAX_MISSES && self.taken.len() < self.sentences.len()
    }

    /// How many sentences have been taken.
    pub fn n_taken(&self) -> usize {
        self.taken.len()
    }

    /// The sentences in the order in which they were taken, best first.
    pub fn best_first(self) -> Vec<usize> {
        self.taken
    }

    /// The sentences in the order of the text.
    pub fn in_order(self) -> Vec<usize> {
        let mut taken = self.taken;
        taken.sort_unstable();
        taken
    }
}
