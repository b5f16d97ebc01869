//! Which blocks the gold text holds: the target of training.

use std::collections::HashMap;

use pith_extractor::blocks::Page;
use pith_extractor::features::words;

use crate::gold::Truth;

/// What one block should get, and whether anything is known about it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Label {
    /// The share of the block that is content.
    pub target: f32,
    /// How much it counts, before sets are balanced.
    pub weight: f32,
}

/// Labels for all blocks of a page.
pub fn labels(page: &Page<'_>, truth: &Truth) -> Vec<Label> {
    match &truth.text {
        Some(text) => by_text(page, &words(text)),
        None => by_snippets(page, truth),
    }
}

/// Words per shingle.
const SHINGLE: usize = 4;

fn by_text(page: &Page<'_>, gold: &[u32]) -> Vec<Label> {
    let places = Places::of(gold);
    let on_page = page_counts(page);
    let mut shares: Vec<f32> = Vec::with_capacity(page.blocks.len());
    let mut anchors: Vec<(usize, usize)> = Vec::new();
    for (index, block) in page.blocks.iter().enumerate() {
        let block_words = page.block_words(block);
        shares.push(places.covered(block_words));
        if block_words.len() >= 6
            && shares[index] > 0.8
            && let Some(place) = places.only_place(block_words)
        {
            anchors.push((index, place));
        }
    }
    let anchors = increasing(&anchors);
    let mut next_anchor = 0;
    let mut result = Vec::with_capacity(page.blocks.len());
    for (index, block) in page.blocks.iter().enumerate() {
        let block_words = page.block_words(block);
        while next_anchor < anchors.len() && anchors[next_anchor].0 < index {
            next_anchor += 1;
        }
        let mut target = shares[index];
        let middle = middle(block_words);
        let n_in_gold = places.count(middle_slice(block_words));
        let doubtful =
            block_words.len() < SHINGLE || (n_in_gold > 0 && on_page.get(&middle).copied().unwrap_or(0) > n_in_gold);
        if target > 0.0 && doubtful {
            // Few words, or words that the page says more often than the gold: they count where the gold has them
            // between the same neighbours.
            let from = next_anchor.checked_sub(1).map_or(0, |before| anchors[before].1);
            let to = anchors.get(next_anchor).map_or(gold.len(), |after| after.1 + block_words.len());
            if !places.between(middle_slice(block_words), from, to) {
                target = 0.0;
            }
        }
        let weight = ((block_words.len() as f32 + 0.5) / gold.len().max(40) as f32).min(1.0);
        result.push(Label { target, weight });
    }
    result
}

/// Where the gold has each run of one to four words.
struct Places<'g> {
    gold: &'g [u32],
    runs: [HashMap<u64, Vec<u32>>; SHINGLE],
}

fn run_hash(words: &[u32]) -> u64 {
    words.iter().fold(0xCBF2_9CE4_8422_2325, |hash: u64, word| {
        (hash ^ u64::from(*word)).wrapping_mul(0x0100_0000_01B3).rotate_left(11)
    })
}

impl<'g> Places<'g> {
    fn of(gold: &'g [u32]) -> Self {
        let mut runs: [HashMap<u64, Vec<u32>>; SHINGLE] = Default::default();
        for (length, places) in runs.iter_mut().enumerate() {
            for (at, run) in gold.windows(length + 1).enumerate() {
                places.entry(run_hash(run)).or_default().push(at as u32);
            }
        }
        Places { gold, runs }
    }

    fn places(&self, run: &[u32]) -> &[u32] {
        if run.is_empty() || run.len() > SHINGLE || self.gold.is_empty() {
            return &[];
        }
        self.runs[run.len() - 1].get(&run_hash(run)).map_or(&[], Vec::as_slice)
    }

    fn count(&self, run: &[u32]) -> usize {
        self.places(run).len()
    }

    /// The share of words that stand in a run of four which the gold has, too.
    fn covered(&self, words: &[u32]) -> f32 {
        let length = words.len().min(SHINGLE);
        if length == 0 {
            return 0.0;
        }
        let (mut covered, mut until) = (0usize, 0usize);
        for (at, run) in words.windows(length).enumerate() {
            if !self.places(run).is_empty() {
                covered += at + length - at.max(until);
                until = at + length;
            }
        }
        covered as f32 / words.len() as f32
    }

    /// Where the gold has the middle of the block, when that is one place only.
    fn only_place(&self, words: &[u32]) -> Option<usize> {
        match self.places(middle_slice(words)) {
            [place] => Some(*place as usize),
            _ => None,
        }
    }

    fn between(&self, run: &[u32], from: usize, to: usize) -> bool {
        self.places(run).iter().any(|place| (from.saturating_sub(2)..=to + 2).contains(&(*place as usize)))
    }
}

fn middle_slice(words: &[u32]) -> &[u32] {
    let length = words.len().min(SHINGLE);
    let start = (words.len() - length) / 2;
    &words[start..start + length]
}

fn middle(words: &[u32]) -> u64 {
    run_hash(middle_slice(words))
}

/// How often the page has the middle of each block.
fn page_counts(page: &Page<'_>) -> HashMap<u64, usize> {
    let mut counts = HashMap::new();
    for block in &page.blocks {
        *counts.entry(middle(page.block_words(block))).or_default() += 1;
    }
    counts
}

/// The longest run of anchors whose places in the gold grow.
fn increasing(anchors: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let mut tails: Vec<usize> = Vec::new();
    let mut before = vec![usize::MAX; anchors.len()];
    for (index, (_, place)) in anchors.iter().enumerate() {
        let at = tails.partition_point(|tail| anchors[*tail].1 < *place);
        if at > 0 {
            before[index] = tails[at - 1];
        }
        if at == tails.len() {
            tails.push(index);
        } else {
            tails[at] = index;
        }
    }
    let mut chain = Vec::new();
    let mut at = tails.last().copied().unwrap_or(usize::MAX);
    while at != usize::MAX {
        chain.push(anchors[at]);
        at = before[at];
    }
    chain.reverse();
    chain
}

fn by_snippets(page: &Page<'_>, truth: &Truth) -> Vec<Label> {
    let n_snippets = (truth.with.len() + truth.without.len()).max(1) as f32;
    page.blocks
        .iter()
        .map(|block| {
            let text = page.block_text(block);
            let holds = |snippets: &[String]| {
                snippets
                    .iter()
                    .any(|snippet| text.contains(snippet.trim()) || (block.n_words() >= 3 && snippet.contains(text)))
            };
            match (holds(&truth.with), holds(&truth.without)) {
                (true, false) => Label { target: 1.0, weight: 1.0 / n_snippets },
                (false, true) => Label { target: 0.0, weight: 1.0 / n_snippets },
                _ => Label::default(),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pith_extractor::tree::Tree;

    fn targets(html: &str, gold: &str) -> Vec<f32> {
        let page = Page::read(Tree::parse(html));
        let truth = Truth { text: Some(gold.into()), ..Truth::default() };
        labels(&page, &truth).iter().map(|label| label.target).collect()
    }

    #[test]
    fn short_blocks_count_where_the_gold_has_them() {
        let html = "<p>Home</p><p>It rained all day in the town</p><p>Home</p><p>Nobody went out until it was dark</p>\
                    <p>More</p>";
        let gold = "It rained all day in the town\nHome\nNobody went out until it was dark";
        assert_eq!(targets(html, gold), [0.0, 1.0, 1.0, 1.0, 0.0]);
    }

    #[test]
    fn a_block_half_in_the_gold_counts_half() {
        assert_eq!(targets("<p>one two three four five six seven eight</p>", "one two three four"), [0.5]);
    }
}
