//! Rules that run before the threshold is chosen: boilerplate is suppressed, and pages without content or unlike the
//! training pages are recognised.

use super::{is_most_likely, type_probability};
use crate::PageType;
use crate::blocks::{Block, Page, ancestor};
use crate::features::is_prose;

/// A page whose best block is below this has no content: empty application shells, login walls, error pages.
const MIN_BEST_PROBABILITY: f32 = 0.3;

/// In menus, headers, footers, asides and dialogs a block below this is dropped, however low the page's threshold.
const MIN_PROBABILITY_IN_BOILERPLATE: f32 = 0.65;

/// The same holds for link lists on a page with so many words of prose above this probability: lists of related pages
/// below an article or a post. Single lines of such a list look like content, but all of them are, or none.
const MIN_PAGE_PROSE_WORDS: u32 = 100;
const MIN_PROSE_PROBABILITY: f32 = 0.75;

/// A page may be an article from this probability on.
const MIN_ARTICLE_PROBABILITY: f32 = 0.3;

/// Ancestors in which boilerplate is expected.
const BOILERPLATE: u32 = ancestor::NAV | ancestor::HEADER | ancestor::FOOTER | ancestor::ASIDE | ancestor::DIALOG;

/// Shorter pages are never taken for empty or for unlike the training pages.
const MIN_PAGE_WORDS: usize = 100;

/// A page unlike the training pages: the expected share of content in its `<main>` is below this …
const MAX_EXPECTED_SHARE: f32 = 0.12;

/// … and no block of the page reaches this probability.
const MAX_BLOCK_PROBABILITY: f32 = 0.75;

/// Fewer kept words than this, on a page of [`MIN_PAGE_WORDS`], are not content.
const MIN_KEPT_WORDS: u32 = 8;

/// A kept text of `noscript` alone with up to so many words asks to turn scripts on and is not content.
const MAX_NOSCRIPT_WORDS: u32 = 30;

/// The probabilities, with zero for every block that is probably boilerplate: one in a menu, header, footer, aside or
/// dialog, or in a link list next to prose, whose probability is not high.
pub fn suppress_boilerplate(page: &Page<'_>, probabilities: &[f32], types: &[f32]) -> Vec<f32> {
    let drops_link_lists = !may_have_link_lists(types) && has_prose(page, probabilities);
    let suppress = |(block, probability): (&Block, &f32)| {
        let is_suspect = block.ancestors & BOILERPLATE != 0 || (drops_link_lists && is_in_link_list(block));
        if is_suspect && *probability < MIN_PROBABILITY_IN_BOILERPLATE { 0.0 } else { *probability }
    };
    page.blocks.iter().zip(probabilities).map(suppress).collect()
}

/// Whether link lists may be content: in threads, manuals and listings they are.
fn may_have_link_lists(types: &[f32]) -> bool {
    let kinds = [PageType::Forum, PageType::Documentation, PageType::Listing];
    type_probability(types, PageType::Article) < MIN_ARTICLE_PROBABILITY
        && kinds.into_iter().any(|kind| is_most_likely(types, kind))
}

fn has_prose(page: &Page<'_>, probabilities: &[f32]) -> bool {
    let likely =
        page.blocks.iter().zip(probabilities).filter(|(_, probability)| **probability >= MIN_PROSE_PROBABILITY);
    likely.filter(|(block, _)| is_prose(block)).map(|(block, _)| block.n_words()).sum::<u32>() >= MIN_PAGE_PROSE_WORDS
}

fn is_in_link_list(block: &Block) -> bool {
    block.ancestors & (ancestor::LIST | ancestor::ITEM) != 0 && block.link_words * 2 >= block.n_words()
}

/// Whether the page has no content, because no block of it is likely.
pub(super) fn has_no_content(page: &Page<'_>, probabilities: &[f32]) -> bool {
    let highest = probabilities.iter().copied().fold(0.0, f32::max);
    highest < MIN_BEST_PROBABILITY && page.words.len() >= MIN_PAGE_WORDS
}

/// All blocks of `<main>`, where the page has one and is unlike the training pages.
pub(super) fn fallback_to_main(page: &Page<'_>, probabilities: &[f32]) -> Option<Vec<bool>> {
    let is_main = |block: &Block| block.ancestors & ancestor::MAIN != 0 && block.ancestors & BOILERPLATE == 0;
    let (mut words, mut expected, mut highest) = (0, 0.0, 0.0f32);
    for (block, probability) in page.blocks.iter().zip(probabilities) {
        highest = highest.max(*probability);
        if is_main(block) {
            words += block.n_words();
            expected += probability * block.n_words() as f32;
        }
    }
    let is_unfamiliar = highest < MAX_BLOCK_PROBABILITY && expected < MAX_EXPECTED_SHARE * words as f32;
    (is_unfamiliar && words as usize >= MIN_PAGE_WORDS).then(|| page.blocks.iter().map(is_main).collect())
}

/// Whether the kept blocks are too little to be content: a few words of low probability, or a `noscript` notice.
pub(super) fn is_negligible(page: &Page<'_>, probabilities: &[f32], kept: &[bool]) -> bool {
    let (mut words, mut words_in_noscript, mut expected) = (0, 0, 0.0);
    for ((block, probability), _) in page.blocks.iter().zip(probabilities).zip(kept).filter(|(_, kept)| **kept) {
        words += block.n_words();
        words_in_noscript += if block.ancestors & ancestor::NOSCRIPT != 0 { block.n_words() } else { 0 };
        expected += probability * block.n_words() as f32;
    }
    let few = words < MIN_KEPT_WORDS && page.words.len() >= MIN_PAGE_WORDS;
    (few && expected * 2.0 < words as f32) || (words_in_noscript == words && words <= MAX_NOSCRIPT_WORDS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;

    fn page(html: &str) -> Page<'_> {
        Page::read(Tree::parse(html))
    }

    #[test]
    fn a_long_page_without_any_likely_block_has_no_content() {
        let long = format!("<p>{}<p>b", "a ".repeat(120));
        assert!(has_no_content(&page(&long), &[0.2, 0.1]));
        assert!(!has_no_content(&page(&long), &[0.4, 0.1]));
        assert!(!has_no_content(&page("<p>one two<p>b"), &[0.2, 0.1]));
    }

    #[test]
    fn the_main_part_of_a_page_unlike_the_training_pages_is_kept() {
        let words = "a ".repeat(60);
        let html = format!("<nav>Home</nav><main><p>{words}<aside>b</aside><p>{words}</main><p>c");
        let page = page(&html);
        let kept = Some(vec![false, true, false, true, false]);
        assert_eq!(fallback_to_main(&page, &[0.0, 0.1, 0.0, 0.1, 0.1]), kept);
        assert_eq!(fallback_to_main(&page, &[0.0, 0.2, 0.0, 0.1, 0.1]), None);
        assert_eq!(fallback_to_main(&page, &[0.0, 0.1, 0.0, 0.1, 0.8]), None);
    }

    #[test]
    fn boilerplate_must_be_likely_to_be_kept() {
        let page = page("<nav>Home</nav><p>one<aside>two</aside><footer>three</footer>");
        assert_eq!(suppress_boilerplate(&page, &[0.6, 0.1, 0.7, 0.2], &[]), [0.0, 0.1, 0.7, 0.0]);
    }

    #[test]
    fn a_link_list_next_to_prose_must_be_likely() {
        let html = format!("<p>{}<ul><li><a href=/1>Another story</a><li>A plain line</ul>", "word ".repeat(120));
        let page = page(&html);
        let with_types = |prose, types: &[f32]| suppress_boilerplate(&page, &[prose, 0.5, 0.5], types);
        assert_eq!(with_types(0.9, &[0.9]), [0.9, 0.0, 0.5]);
        assert_eq!(with_types(0.6, &[0.9]), [0.6, 0.5, 0.5], "the prose is in doubt itself");
        assert_eq!(with_types(0.9, &[0.1, 0.8]), [0.9, 0.5, 0.5], "a thread is made of lists");
        assert_eq!(with_types(0.9, &[0.4, 0.5]), [0.9, 0.0, 0.5], "it may be an article");
    }

    #[test]
    fn a_few_words_are_no_content() {
        let long = format!("<p>I am shopping for<p>{}", "a ".repeat(120));
        assert!(is_negligible(&page(&long), &[0.3, 0.1], &[true, false]));
        assert!(!is_negligible(&page(&long), &[0.8, 0.1], &[true, false]));
        let shell = page("<body><noscript>You need to enable JavaScript to run this app.</noscript>");
        assert!(is_negligible(&shell, &[0.9], &[true]));
        assert!(!is_negligible(&page("<p>one two<p>b"), &[0.2, 0.1], &[true, false]));
    }
}
