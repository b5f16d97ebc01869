//! What needs no judge: pages without content, what an article hides, what a thread or a shop says again.

use std::collections::HashSet;

use crate::PageType;
use crate::blocks::{Block, Page, place};

/// Where no block is as likely as this, there is no content: shells that a script fills, walls, errors.
const LIKELY: f32 = 0.3;

/// With fewer words there is too little of a page to say so.
const MIN_PAGE_WORDS: usize = 100;

/// The least share of the kept words that must be in sight before the hidden ones go: some pages hide everything until
/// a script has run.
const IN_SIGHT: f32 = 0.2;

/// Fewer words than this, out of a page of [`MIN_PAGE_WORDS`], are no content.
const MIN_KEPT_WORDS: u32 = 8;

/// Up to so many words a `noscript` alone is a plea to turn scripts on, not the page.
const PLEA_WORDS: u32 = 30;

/// Where prose is less likely than this, nothing is repeated on purpose.
const PROSE: f32 = 0.6;

/// Shorter blocks may well be said twice. Two characters of a script without spaces are as long as a word.
const MIN_REPEATED_WORDS: u32 = 6;

/// Whether every block is so unlikely that the page has no content.
pub(super) fn is_empty(page: &Page<'_>, probabilities: &[f32]) -> bool {
    let likeliest = probabilities.iter().copied().fold(0.0, f32::max);
    likeliest < LIKELY && page.words.len() >= MIN_PAGE_WORDS
}

/// Drops what the kind of page does not mean to say: hidden parts of an article, repetitions elsewhere.
pub(super) fn tidy(page: &Page<'_>, types: &[f32], kept: &mut [bool]) {
    if chance(types, PageType::Article) >= 0.5 {
        drop_hidden(page, kept);
    }
    let mut said = Said::on(types);
    for (block, kept) in page.blocks.iter().zip(kept).filter(|(_, kept)| **kept) {
        *kept = said.is_new(block);
    }
}

fn chance(types: &[f32], kind: PageType) -> f32 {
    types.get(kind as usize).copied().unwrap_or_default()
}

/// What the blocks that are kept have said so far: answers quote the question, shops repeat cards for small screens.
#[derive(Debug)]
pub struct Said {
    /// Prose repeats itself on purpose: refrains, examples, listings of code.
    prose: bool,
    fingerprints: HashSet<u32>,
}

impl Said {
    /// Nothing yet, on a page with these chances of each type.
    pub fn on(types: &[f32]) -> Said {
        let prose = chance(types, PageType::Article) + chance(types, PageType::Documentation) >= PROSE;
        Said { prose, fingerprints: HashSet::new() }
    }

    /// Whether a block says anything new.
    pub fn is_new(&mut self, block: &Block) -> bool {
        let short = block.n_words().saturating_sub(block.unspaced / 2) < MIN_REPEATED_WORDS;
        self.prose || short || self.fingerprints.insert(block.fingerprint)
    }
}

/// Whether only scraps would be kept: a few words that are believed by halves, or a plea for scripts.
pub(super) fn is_next_to_nothing(page: &Page<'_>, probabilities: &[f32], kept: &[bool]) -> bool {
    let (mut words, mut words_in_noscript, mut expected) = (0, 0, 0.0);
    for ((block, probability), _) in page.blocks.iter().zip(probabilities).zip(kept).filter(|(_, kept)| **kept) {
        words += block.n_words();
        words_in_noscript += if block.places & place::NOSCRIPT != 0 { block.n_words() } else { 0 };
        expected += probability * block.n_words() as f32;
    }
    let few = words < MIN_KEPT_WORDS && page.words.len() >= MIN_PAGE_WORDS;
    (few && expected * 2.0 < words as f32) || (words_in_noscript == words && words <= PLEA_WORDS)
}

/// Drops what is hidden, where enough in sight is kept.
fn drop_hidden(page: &Page<'_>, kept: &mut [bool]) {
    let (mut hidden, mut in_sight) = (0, 0);
    for (block, _) in page.blocks.iter().zip(&*kept).filter(|(_, kept)| **kept) {
        *(if block.places & place::HIDDEN != 0 { &mut hidden } else { &mut in_sight }) += block.n_words();
    }
    if in_sight as f32 >= IN_SIGHT * (hidden + in_sight) as f32 {
        for (block, kept) in page.blocks.iter().zip(kept) {
            *kept &= block.places & place::HIDDEN == 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;

    fn page(html: &str) -> Page<'_> {
        Page::read(Tree::parse(html))
    }

    /// What stays of a page whose blocks were all kept, by the chance of an article.
    fn tidied(html: &str, article: f32) -> Vec<bool> {
        let page = page(html);
        let mut kept = vec![true; page.blocks.len()];
        tidy(&page, &[article], &mut kept);
        kept
    }

    #[test]
    fn a_long_page_without_any_likely_block_is_empty() {
        let long = format!("<p>{}<p>b", "a ".repeat(120));
        assert!(is_empty(&page(&long), &[0.2, 0.1]));
        assert!(!is_empty(&page(&long), &[0.4, 0.1]));
        assert!(!is_empty(&page("<p>one two<p>b"), &[0.2, 0.1]));
    }

    #[test]
    fn what_an_article_hides_is_dropped_unless_it_hides_nearly_all() {
        let some = "<p>one two three<p hidden>four";
        assert_eq!(tidied(some, 0.9), [true, false]);
        assert_eq!(tidied(some, 0.1), [true, true]);
        assert_eq!(tidied("<p>one<p hidden>two three four five six seven", 0.9), [true, true]);
    }

    #[test]
    fn what_a_thread_says_again_is_dropped_and_a_refrain_is_not() {
        let thread = "<p>Does anybody know a good cheap telescope?<p>Yes.\
                      <blockquote>Does anybody know a good cheap telescope?</blockquote><p>Yes.";
        assert_eq!(tidied(thread, 0.1), [true, true, false, true]);
        assert_eq!(tidied(thread, 0.9), [true, true, true, true]);
    }

    #[test]
    fn scraps_are_nothing() {
        let long = format!("<p>I am shopping for<p>{}", "a ".repeat(120));
        assert!(is_next_to_nothing(&page(&long), &[0.3, 0.1], &[true, false]));
        assert!(!is_next_to_nothing(&page(&long), &[0.8, 0.1], &[true, false]));
        let shell = page("<body><noscript>You need to enable JavaScript to run this app.</noscript>");
        assert!(is_next_to_nothing(&shell, &[0.9], &[true]));
        assert!(!is_next_to_nothing(&page("<p>one two<p>b"), &[0.2, 0.1], &[true, false]));
    }
}
