//! The default ranking: centrality, novelty, title and position, with a penalty for redundancy, in linear time.
//!
//! A sentence is central when its content words occur in others. As in TextRank a shared word counts once and long
//! sentences pay by the logarithm of their length, but the two logarithms multiply instead of adding up: so the sum
//! over all pairs of sentences becomes a sum over words, which takes time in proportion to the text. As in PacSum
//! (H. Zheng and M. Lapata, *Sentence Centrality Revisited for Unsupervised Summarization*, 2019) similarity to
//! later sentences counts more than similarity to earlier ones: a sentence gains by the share of its words that are new
//! and occur again. Title and position raise a score in proportion to centrality, so that a greeting at the top gains
//! nothing.
//!
//! There is one value of each weight for all languages and kinds of text. `pith eval train-summaries` finds them
//! (starting from [`Weights::STARTING`]), and reports their quality on held-out sets.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::weights::FITTED;
use super::{Analysis, Picks, Ranking};

/// The default ranking with given weights; [`crate::Method::Pith`] has the fitted ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pith {
    /// The weights of its features.
    pub weights: Weights,
}

/// The weights of the default ranking. Pairs are for budgets that count sentences, and for budgets that count
/// words or characters, where long sentences cost more.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights {
    /// The power of the logarithm of its length by which a sentence divides.
    pub length: [f64; 2],
    /// The part of its centrality that the first sentence gains; each further position has a third of that.
    pub first: f64,
    /// The part of its centrality that a sentence with every word of the title gains.
    pub title: f64,
    /// The gain of a sentence whose words are all new and occur again, against 1 for the most central sentence.
    pub new: f64,
    /// The power of a sentence's length by which the shortest text divides: of a short text most will be taken, and
    /// what is dense should be taken first.
    pub density: f64,
    /// The penalty of a sentence whose words are all in sentences taken before, as a part of the range of scores.
    pub repeated: [f64; 2],
}

impl Weights {
    /// Where fitting starts and what it is regularised towards. Lengths count as in TextRank, and once more where they
    /// cost; a text of one sentence is scored per word; `first`, `title` and `repeated` are near the values of the
    /// prototype of this ranking, and `new` replaces its preference for words that occur again later.
    pub const STARTING: Weights =
        Weights { length: [0.5, 1.0], first: 0.3, title: 0.4, new: 0.2, density: 1.0, repeated: [0.2, 0.2] };

    /// The fitted weights, which are compiled in.
    pub const FITTED: Weights = FITTED;
}

/// The number of sentences from which on a text is not short.
const SHORT_TEXT_SENTENCES: f64 = 11.0;
/// The score of a sentence that does not fit is scaled by this power of the part that does.
const FIT_POWER: f64 = 0.3;

impl Ranking for Pith {
    fn rank(&self, text: &Analysis<'_>, picks: &mut Picks<'_>) -> Vec<f64> {
        let bags = ContentWords::of(text);
        let kind = usize::from(picks.counts_length());
        let scores = scores(text, &bags, &self.weights, kind);
        offer_without_redundancy(&scores, self.weights.repeated[kind], &bags, text.n_words(), picks);
        scores
    }

    /// The number of sentences that hold a content word: what its presence adds to a sentence, before lengths.
    fn word_weights(&self, text: &Analysis<'_>) -> Option<Vec<f64>> {
        let mut weights = vec![0.0; text.n_words()];
        let bags = ContentWords::of(text);
        bags.words.iter().for_each(|word| weights[*word as usize] += 1.0);
        Some(weights)
    }
}

/// The different content words of every sentence, one after the other.
struct ContentWords {
    words: Vec<u32>,
    ends: Vec<usize>,
    /// How many content words each sentence has, repeats counted.
    lengths: Vec<f64>,
}

impl ContentWords {
    fn of(text: &Analysis<'_>) -> ContentWords {
        let n = text.n_sentences();
        let mut bags = ContentWords {
            words: Vec::with_capacity(text.all_tokens().len()),
            ends: Vec::with_capacity(n),
            lengths: Vec::with_capacity(n),
        };
        let mut seen_in = vec![u32::MAX; text.n_words()];
        for (sentence, tokens) in text.token_lists().enumerate() {
            let mut length = 0;
            for word in tokens.iter().copied().filter(|word| !text.is_stop(*word)) {
                length += 1;
                if seen_in[word as usize] != sentence as u32 {
                    seen_in[word as usize] = sentence as u32;
                    bags.words.push(word);
                }
            }
            bags.ends.push(bags.words.len());
            bags.lengths.push(f64::from(length));
        }
        bags
    }

    fn get(&self, sentence: usize) -> &[u32] {
        let start = if sentence == 0 { 0 } else { self.ends[sentence - 1] };
        &self.words[start..self.ends[sentence]]
    }
}

/// The statistics of a word.
#[derive(Clone, Copy, Default)]
struct Word {
    /// The sum of the length weights of the sentences that hold it.
    shares: f64,
    n_sentences: u32,
    was_seen: bool,
    in_title: bool,
}

fn scores(text: &Analysis<'_>, bags: &ContentWords, weights: &Weights, kind: usize) -> Vec<f64> {
    let n = text.n_sentences();
    let share = |length: &f64| (1.0 + length).ln().max(0.5).powf(-weights.length[kind]);
    let shares: Vec<f64> = bags.lengths.iter().map(share).collect();
    let mut words = vec![Word::default(); text.n_words()];
    for (sentence, share) in shares.iter().enumerate() {
        for word in bags.get(sentence) {
            words[*word as usize].shares += share;
            words[*word as usize].n_sentences += 1;
        }
    }
    text.title().iter().for_each(|word| words[*word as usize].in_title = true);
    let density = weights.density * (1.0 - n as f64 / SHORT_TEXT_SENTENCES).max(0.0);
    let title_length = text.title_length().max(1) as f64;
    let mut scores = Vec::with_capacity(n);
    // What each sentence gains in proportion to its centrality, and what it gains novelty.
    let mut gains = Vec::with_capacity(n);
    for (sentence, share) in shares.iter().enumerate() {
        let bag = bags.get(sentence);
        let (mut sum, mut n_title, mut n_new) = (0.0, 0, 0);
        for word in bag {
            let word = &mut words[*word as usize];
            if word.n_sentences > 1 {
                sum += word.shares - share;
                n_new += u32::from(!word.was_seen);
                word.was_seen = true;
            }
            n_title += u32::from(word.in_title);
        }
        let length_divisor = if density > 0.0 { bags.lengths[sentence].max(1.0).powf(density) } else { 1.0 };
        scores.push(share * sum / length_divisor);
        let lift = weights.first * (-(sentence as f64)).exp() + weights.title * f64::from(n_title) / title_length;
        gains.push((lift, weights.new * f64::from(n_new) / bag.len().max(1) as f64));
    }
    let mut highest = scores.iter().copied().fold(0.0, f64::max);
    if highest == 0.0 {
        // No word occurs twice: all sentences with words are equally central.
        scores = (0..n).map(|sentence| f64::from(u8::from(!bags.get(sentence).is_empty()))).collect();
        highest = 1.0;
    }
    for (score, (lift, novelty)) in scores.iter_mut().zip(gains) {
        *score = *score / highest * (1.0 + lift) + novelty;
    }
    scores
}

/// Offers the best sentence repeatedly, after subtracting the redundancy with those taken. The penalty only grows, so
/// that only the sentence on top of the heap needs a new score.
fn offer_without_redundancy(scores: &[f64], repeated: f64, bags: &ContentWords, n_words: usize, picks: &mut Picks<'_>) {
    let lowest = scores.iter().copied().fold(f64::INFINITY, f64::min);
    let highest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let range = if highest > lowest { highest - lowest } else { 1.0 };
    let penalty = repeated * range;
    let fresh = |(sentence, score): (usize, &f64)| Candidate { score: *score, sentence, scored_at: usize::MAX };
    let mut candidates: BinaryHeap<Candidate> = scores.iter().enumerate().map(fresh).collect();
    let mut covered = vec![false; n_words];
    let mut n_taken = 0;
    // Bounds the work on long summaries of long texts; after so many updates the known scores are used.
    let mut updates_left = 8 * scores.len();
    while let Some(best) = candidates.pop() {
        let bag = bags.get(best.sentence);
        if best.scored_at != n_taken && updates_left > 0 {
            updates_left -= 1;
            let n_covered = bag.iter().filter(|word| covered[**word as usize]).count();
            let mut score = scores[best.sentence] - penalty * n_covered as f64 / bag.len().max(1) as f64;
            if n_covered == bag.len() {
                // Without a new word it comes after all sentences that have one.
                score -= range;
            }
            let part = picks.part_that_fits(best.sentence);
            if part < 1.0 && score > lowest {
                score = lowest + (score - lowest) * part.powf(FIT_POWER);
            }
            candidates.push(Candidate { score, sentence: best.sentence, scored_at: n_taken });
            continue;
        }
        if !picks.offer(best.sentence) {
            return;
        }
        if picks.n_taken() > n_taken {
            bag.iter().for_each(|word| covered[*word as usize] = true);
            n_taken += 1;
        }
    }
}

/// A sentence that may be taken next.
struct Candidate {
    score: f64,
    sentence: usize,
    /// How many had been taken when the score was found.
    scored_at: usize,
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score.total_cmp(&other.score).then(other.sentence.cmp(&self.sentence))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Candidate {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rank::Budget;

    fn order(sentences: &[&str], title: Option<&str>) -> Vec<usize> {
        let text = Analysis::of(sentences.to_vec(), title, None);
        let mut picks = Picks::new(&text, Budget::Sentences(sentences.len()));
        Pith { weights: Weights::FITTED }.rank(&text, &mut picks);
        picks.best_first()
    }

    #[test]
    fn repeated_words_are_central() {
        let sentences = ["green tea", "rain filled rivers", "rain rivers floods", "old cat"];
        assert!(order(&sentences, None)[0] == 1);
    }

    #[test]
    fn a_repeated_sentence_comes_after_others_as_good() {
        let (rain, snow) = ("rain filled all rivers", "snow closed most roads");
        assert_eq!(order(&[rain, rain, snow, snow], None), [0, 2, 1, 3]);
    }

    #[test]
    fn a_sentence_without_new_words_comes_last() {
        let (rain, cat) = ("rain filled rivers and rain filled lakes", "an old cat slept");
        assert_eq!(order(&[rain, cat, rain], None), [0, 1, 2]);
    }

    #[test]
    fn the_title_decides_between_equals() {
        let sentences = ["one apple here", "two pears there", "three figs elsewhere", "four plums nowhere"];
        assert_eq!(order(&sentences, Some("Figs"))[0], 2);
    }

    #[test]
    fn sentences_without_words_do_no_harm() {
        assert_eq!(order(&["!", "?", "…"], Some("")).len(), 3);
        assert!(order(&[], None).is_empty());
    }
}
