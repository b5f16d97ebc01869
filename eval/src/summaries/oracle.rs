//! The best that whole sentences can do: picked by looking at the references.

use super::Length;
use crate::rouge::{Tokenizer, best_rouge};
use pith_extractor::count_words;

/// Sentences best first, each the one that lifts ROUGE-1 and -2 the most, until none does.
pub(super) fn order(
    sentences: &[String],
    tag: &str,
    references: &[Vec<u32>],
    tokenizer: &mut Tokenizer,
    length: Length,
) -> Vec<usize> {
    let tokens: Vec<Vec<u32>> = sentences.iter().map(|sentence| tokenizer.tokens(sentence, tag)).collect();
    let mut taken: Vec<usize> = Vec::new();
    let mut best = 0.0;
    let mut n_words = 0;
    loop {
        let full = match length {
            Length::Sentences(n) => taken.len() >= n,
            Length::Words(n) => n_words >= n,
        };
        if full {
            return taken;
        }
        let mut next = None;
        for candidate in (0..sentences.len()).filter(|index| !taken.contains(index)) {
            let mut picks = taken.clone();
            picks.push(candidate);
            picks.sort_unstable();
            let summary: Vec<u32> = picks.iter().flat_map(|index| tokens[*index].iter().copied()).collect();
            let rouge = best_rouge(references.iter().map(Vec::as_slice), &summary);
            if rouge.one + rouge.two > best {
                best = rouge.one + rouge.two;
                next = Some(candidate);
            }
        }
        let Some(next) = next else { return taken };
        n_words += count_words(&sentences[next]);
        taken.push(next);
    }
}
