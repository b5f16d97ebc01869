//! Which blocks the gold text holds: the target of training.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::ops::RangeInclusive;

use pith_extractor::blocks::{Block, Page, ancestor};
use pith_extractor::features::word_hashes;

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
        Some(text) => by_text(page, &word_hashes(text)),
        None => by_snippets(page, truth),
    }
}

/// Words per shingle.
const SHINGLE: usize = 4;

/// A block with this share of its words in the gold is there as a whole.
const WHOLE: f32 = 0.9;

/// Longer blocks than this are not there in part because the gold has a few of their words.
const MAX_PARTLY: usize = 16;

/// What the gold says more often than this is not told apart.
const MAX_POSITIONS: usize = 256;

fn by_text(page: &Page<'_>, gold: &[u32]) -> Vec<Label> {
    let mut alignment = Alignment::of(page, gold);
    alignment.align_long_blocks();
    alignment.align_short_blocks();
    alignment.align_partial_blocks();
    let label = |(block, target): (&Block, &f32)| {
        let weight = ((block.n_words() as f32 + 0.5) / gold.len().max(40) as f32).min(1.0);
        Label { target: *target, weight }
    };
    page.blocks.iter().zip(&alignment.targets).map(label).collect()
}

/// Which block stands for which words of the gold.
///
/// What page and gold say once anchors the two to each other. A page may say more often than the gold what it says:
/// answers quote the question, a menu repeats the title. Then as many blocks stand for it as the gold has it, those
/// between the right anchors first. No word of the gold is claimed twice: what it has whole goes before what it has in
/// part, and few words count only where no longer block stands for them already.
struct Alignment<'p, 'a> {
    page: &'p Page<'a>,
    gold_index: NgramIndex<'p>,
    /// Blocks and positions in the gold that belong together; both grow.
    anchors: Vec<(usize, usize)>,
    /// Words of the gold that a block stands for.
    taken: Vec<bool>,
    targets: Vec<f32>,
}

impl<'p, 'a> Alignment<'p, 'a> {
    fn of(page: &'p Page<'a>, gold: &'p [u32]) -> Self {
        let gold_index = NgramIndex::of(gold);
        let targets = page.blocks.iter().map(|block| gold_index.covered(page.block_words(block))).collect();
        Alignment { page, gold_index, anchors: Vec::new(), taken: vec![false; gold.len()], targets }
    }

    fn words(&self, block: usize) -> &'p [u32] {
        self.page.block_words(&self.page.blocks[block])
    }

    fn align_long_blocks(&mut self) {
        let copies_by_middle = self.copies_by_middle();
        self.anchors = self.anchors(&copies_by_middle);
        for copies in copies_by_middle.values() {
            self.choose_copies(copies);
        }
        let mut order: Vec<usize> = (0..self.targets.len()).filter(|block| self.is_long_and_in_gold(*block)).collect();
        order.sort_by_key(|block| self.priority(*block));
        for block in order {
            self.targets[block] = self.claim(block);
        }
    }

    /// The order in which blocks claim words of the gold: blocks that it has whole first, then those between the right
    /// anchors, then those outside of quotes.
    fn priority(&self, block: usize) -> (bool, bool, bool, Reverse<usize>, usize) {
        let partly = self.targets[block] < WHOLE;
        let elsewhere = self.position_between_anchors(block, |_| true).is_none();
        let quote = self.page.blocks[block].ancestors & ancestor::QUOTE != 0;
        (partly, elsewhere, quote, Reverse(self.words(block).len()), block)
    }

    /// Takes the words of the gold that the block stands for and that no other has taken; the share of its words that
    /// they are.
    fn claim(&mut self, block: usize) -> f32 {
        let words = self.words(block);
        let mut partner: Vec<Option<usize>> = vec![None; words.len()];
        let window = self.window(block);
        let mut next = None;
        for (at, run) in words.windows(SHINGLE).enumerate() {
            let fits = |position: usize| {
                (0..SHINGLE).all(|step| match partner[at + step] {
                    Some(taken) => taken == position + step,
                    None => !self.taken[position + step],
                })
            };
            let positions =
                || self.gold_index.of_run(run).iter().map(|position| *position as usize).take(MAX_POSITIONS);
            let position = next
                .filter(|next| positions().any(|position| position == *next) && fits(*next))
                .or_else(|| positions().filter(|position| window.contains(position)).find(|position| fits(*position)))
                .or_else(|| positions().find(|position| fits(*position)));
            if let Some(position) = position {
                for step in 0..SHINGLE {
                    partner[at + step] = Some(position + step);
                    self.taken[position + step] = true;
                }
            }
            next = position.map(|position| position + 1);
        }
        partner.iter().flatten().count() as f32 / words.len() as f32
    }

    fn is_long_and_in_gold(&self, block: usize) -> bool {
        self.words(block).len() >= SHINGLE && self.targets[block] > 0.0
    }

    /// Blocks with the same middle.
    fn copies_by_middle(&self) -> HashMap<u64, Vec<usize>> {
        let mut copies_by_middle: HashMap<u64, Vec<usize>> = HashMap::new();
        for block in (0..self.targets.len()).filter(|block| self.is_long_and_in_gold(*block)) {
            copies_by_middle.entry(middle(self.words(block))).or_default().push(block);
        }
        copies_by_middle
    }

    /// Blocks that page and gold have once, with their positions in the gold.
    fn anchors(&self, copies_by_middle: &HashMap<u64, Vec<usize>>) -> Vec<(usize, usize)> {
        let mut anchors: Vec<(usize, usize)> = Vec::new();
        for block in 0..self.targets.len() {
            let words = self.words(block);
            if words.len() >= 6
                && self.targets[block] > 0.8
                && copies_by_middle[&middle(words)].len() == 1
                && let [position] = self.gold_index.of_run(middle_slice(words))
            {
                anchors.push((block, *position as usize));
            }
        }
        increasing(&anchors)
    }

    /// Leaves as many of the copies of a block as the gold has.
    fn choose_copies(&mut self, copies: &[usize]) {
        let n_in_gold = self.gold_index.of_run(middle_slice(self.words(copies[0]))).len();
        if n_in_gold == 0 || copies.len() <= n_in_gold {
            return;
        }
        let mut order = copies.to_vec();
        order.sort_by_key(|copy| {
            let block = &self.page.blocks[*copy];
            let quote = block.ancestors & ancestor::QUOTE != 0;
            (self.position_between_anchors(*copy, |_| true).is_none(), quote, block.heading == 0, *copy)
        });
        for copy in &order[n_in_gold..] {
            self.targets[*copy] = 0.0;
        }
    }

    fn align_short_blocks(&mut self) {
        for block in 0..self.targets.len() {
            let words = self.words(block);
            if words.len() < SHINGLE && self.targets[block] > 0.0 {
                let is_free = |position: usize| self.taken[position..position + words.len()].iter().all(|taken| !taken);
                match self.position_between_anchors(block, is_free) {
                    Some(position) => self.taken[position..position + words.len()].fill(true),
                    None => self.targets[block] = 0.0,
                }
            }
        }
    }

    /// Prices and captions that the gold has in part: the longest run of words that is free between the anchors.
    fn align_partial_blocks(&mut self) {
        for block in 0..self.targets.len() {
            let words = self.words(block);
            if !(SHINGLE..=MAX_PARTLY).contains(&words.len()) || self.targets[block] > 0.0 {
                continue;
            }
            let window = self.window(block);
            let found = (2..=SHINGLE).rev().find_map(|length| {
                words.windows(length).find_map(|run| {
                    let positions = self.gold_index.of_run(run).iter().map(|position| *position as usize);
                    let is_free =
                        |position: &usize| self.taken[*position..*position + length].iter().all(|taken| !taken);
                    positions
                        .filter(|position| window.contains(position))
                        .find(is_free)
                        .map(|position| (position, length))
                })
            });
            if let Some((position, length)) = found {
                self.taken[position..position + length].fill(true);
                self.targets[block] = length as f32 / words.len() as f32;
            }
        }
    }

    /// The part of the gold between the anchors before and after a block.
    fn window(&self, block: usize) -> RangeInclusive<usize> {
        let next = self.anchors.partition_point(|(anchor, _)| *anchor < block);
        let from = next.checked_sub(1).map_or(0, |before| self.anchors[before].1);
        let to = self.anchors.get(next).map_or(self.taken.len(), |after| after.1 + self.words(block).len());
        from.saturating_sub(2)..=to + 2
    }

    /// Where the gold has the middle of a block, between the anchors before and after it.
    fn position_between_anchors(&self, block: usize, passes: impl Fn(usize) -> bool) -> Option<usize> {
        let window = self.window(block);
        let positions = self.gold_index.of_run(middle_slice(self.words(block)));
        positions
            .iter()
            .map(|position| *position as usize)
            .find(|position| window.contains(position) && passes(*position))
    }
}

/// Where the gold has each run of one to four words.
struct NgramIndex<'g> {
    gold: &'g [u32],
    runs: [HashMap<u64, Vec<u32>>; SHINGLE],
}

fn run_hash(words: &[u32]) -> u64 {
    words.iter().fold(0xCBF2_9CE4_8422_2325, |hash: u64, word| {
        (hash ^ u64::from(*word)).wrapping_mul(0x0100_0000_01B3).rotate_left(11)
    })
}

impl<'g> NgramIndex<'g> {
    fn of(gold: &'g [u32]) -> Self {
        let mut runs: [HashMap<u64, Vec<u32>>; SHINGLE] = Default::default();
        for (length, positions) in runs.iter_mut().enumerate() {
            for (at, run) in gold.windows(length + 1).enumerate() {
                positions.entry(run_hash(run)).or_default().push(at as u32);
            }
        }
        NgramIndex { gold, runs }
    }

    fn of_run(&self, run: &[u32]) -> &[u32] {
        if run.is_empty() || run.len() > SHINGLE || self.gold.is_empty() {
            return &[];
        }
        self.runs[run.len() - 1].get(&run_hash(run)).map_or(&[], Vec::as_slice)
    }

    /// The share of words that stand in a run of four which the gold has, too.
    fn covered(&self, words: &[u32]) -> f32 {
        let length = words.len().min(SHINGLE);
        if length == 0 {
            return 0.0;
        }
        let (mut covered, mut until) = (0usize, 0usize);
        for (at, run) in words.windows(length).enumerate() {
            if !self.of_run(run).is_empty() {
                covered += at + length - at.max(until);
                until = at + length;
            }
        }
        covered as f32 / words.len() as f32
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

/// The longest run of anchors whose positions in the gold grow.
fn increasing(anchors: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let mut tails: Vec<usize> = Vec::new();
    let mut before = vec![usize::MAX; anchors.len()];
    for (index, (_, position)) in anchors.iter().enumerate() {
        let at = tails.partition_point(|tail| anchors[*tail].1 < *position);
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
    fn what_the_gold_says_once_counts_where_it_is_said_first() {
        let html = "<p>Which telescope would you buy for a child?<p>I would buy a pair of binoculars first.\
                    <blockquote>Which telescope would you buy for a child?</blockquote><p>None, the moon needs no telescope at all.";
        let gold = "Which telescope would you buy for a child?\nI would buy a pair of binoculars first.\n\
                    None, the moon needs no telescope at all.";
        assert_eq!(targets(html, gold), [1.0, 1.0, 0.0, 1.0]);
        let twice = gold.replace("first.", "first. Which telescope would you buy for a child?");
        assert_eq!(targets(html, &twice), [1.0, 1.0, 1.0, 1.0]);
    }

    #[test]
    fn a_heading_stands_for_the_title_and_the_menu_does_not() {
        let html =
            "<p>How the moon was made<h1>How the moon was made</h1><p>It was made by a large collision long ago.";
        let gold = "How the moon was made\nIt was made by a large collision long ago.";
        assert_eq!(targets(html, gold), [0.0, 1.0, 1.0]);
    }

    #[test]
    fn few_words_do_not_count_where_a_sentence_has_them() {
        let html = "<p>Reply<p>Nobody sent a reply to the letter<p>Reply";
        assert_eq!(targets(html, "Nobody sent a reply to the letter"), [0.0, 1.0, 0.0]);
    }

    #[test]
    fn no_word_of_the_gold_is_claimed_twice() {
        let html = "<p>Save this event: How to get clients by talking<h3>How to get clients by talking</h3>\
                    <p>Share this event: How to get clients by talking";
        assert_eq!(targets(html, "How to get clients by talking"), [0.0, 1.0, 0.0]);
        let log = format!("<pre>{}", "one two three four five ".repeat(10));
        assert_eq!(targets(&log, "one two three four five"), [0.1]);
    }

    #[test]
    fn a_price_said_in_two_ways_counts_as_the_part_that_the_gold_has() {
        let html = "<h3>A white shelf for many books</h3><p>$ 79 .00 Price $ 79.00";
        assert_eq!(targets(html, "A white shelf for many books\n$79.00"), [1.0, 0.4]);
    }

    #[test]
    fn a_block_half_in_the_gold_counts_half() {
        assert_eq!(targets("<p>one two three four five six seven eight</p>", "one two three four"), [0.5]);
    }
}
