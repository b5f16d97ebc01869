//! What needs no judge: pages without content or of an unknown kind, what stands around the content, and lists of links
//! beside prose.

use super::{chance, is_likeliest};
use crate::PageType;
use crate::blocks::{Block, Page, place};
use crate::features::is_long;

/// Where no block is as likely as this, there is no content: shells that a script fills, walls, errors.
const LIKELY: f32 = 0.3;

/// In menus, headers, footers, asides and dialogs a block must be as likely as this, however low the page's threshold.
const LIKELY_AROUND: f32 = 0.65;

/// So must lists of links be where so many words of sentences are as likely as this: what an article or a post is followed
/// by. Each line of such a list may well be content, but all of them are, or none.
const MIN_PROSE_WORDS: u32 = 100;
const LIKELY_PROSE: f32 = 0.75;

/// From this chance on a page may be an article.
const POSSIBLE_ARTICLE: f32 = 0.3;

const AROUND: u32 = place::NAV | place::HEADER | place::FOOTER | place::ASIDE | place::DIALOG;

/// With fewer words there is too little of a page to say so.
const MIN_PAGE_WORDS: usize = 100;

/// A page of a kind that was never learned: less than this share of its `<main>` is believed to be content …
const BELIEVED: f32 = 0.12;

/// … and no block on it is as likely as this.
const LIKELY_ANYWHERE: f32 = 0.75;

/// Fewer words than this, out of a page of [`MIN_PAGE_WORDS`], are no content.
const MIN_KEPT_WORDS: u32 = 8;

/// Up to so many words a `noscript` alone is a plea to turn scripts on, not the page.
const PLEA_WORDS: u32 = 30;

/// The probabilities without those that are too low for where their block stands.
pub fn plausible(page: &Page<'_>, probabilities: &[f32], types: &[f32]) -> Vec<f32> {
    let beside_prose = !is_made_of_lists(types) && has_prose(page, probabilities);
    let weigh = |(block, probability): (&Block, &f32)| {
        let doubtful = block.places & AROUND != 0 || (beside_prose && is_list_of_links(block));
        if doubtful && *probability < LIKELY_AROUND { 0.0 } else { *probability }
    };
    page.blocks.iter().zip(probabilities).map(weigh).collect()
}

/// Threads, manuals and listings are made of lists, some of them of links.
fn is_made_of_lists(types: &[f32]) -> bool {
    let kinds = [PageType::Forum, PageType::Documentation, PageType::Listing];
    chance(types, PageType::Article) < POSSIBLE_ARTICLE && kinds.into_iter().any(|kind| is_likeliest(types, kind))
}

fn has_prose(page: &Page<'_>, probabilities: &[f32]) -> bool {
    let likely = page.blocks.iter().zip(probabilities).filter(|(_, probability)| **probability >= LIKELY_PROSE);
    likely.filter(|(block, _)| is_long(block)).map(|(block, _)| block.n_words()).sum::<u32>() >= MIN_PROSE_WORDS
}

fn is_list_of_links(block: &Block) -> bool {
    block.places & (place::LIST | place::ITEM) != 0 && block.link_words * 2 >= block.n_words()
}

/// Whether every block is so unlikely that the page has no content.
pub(super) fn is_empty(page: &Page<'_>, probabilities: &[f32]) -> bool {
    let likeliest = probabilities.iter().copied().fold(0.0, f32::max);
    likeliest < LIKELY && page.words.len() >= MIN_PAGE_WORDS
}

/// The whole of `<main>`, where a page has one and it is of a kind that nobody has learned.
pub(super) fn unknown_main(page: &Page<'_>, probabilities: &[f32]) -> Option<Vec<bool>> {
    let is_main = |block: &Block| block.places & place::MAIN != 0 && block.places & AROUND == 0;
    let (mut words, mut expected, mut likeliest) = (0, 0.0, 0.0f32);
    for (block, probability) in page.blocks.iter().zip(probabilities) {
        likeliest = likeliest.max(*probability);
        if is_main(block) {
            words += block.n_words();
            expected += probability * block.n_words() as f32;
        }
    }
    let unknown = likeliest < LIKELY_ANYWHERE && expected < BELIEVED * words as f32;
    (unknown && words as usize >= MIN_PAGE_WORDS).then(|| page.blocks.iter().map(is_main).collect())
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;

    fn page(html: &str) -> Page<'_> {
        Page::read(Tree::parse(html))
    }

    #[test]
    fn a_long_page_without_any_likely_block_is_empty() {
        let long = format!("<p>{}<p>b", "a ".repeat(120));
        assert!(is_empty(&page(&long), &[0.2, 0.1]));
        assert!(!is_empty(&page(&long), &[0.4, 0.1]));
        assert!(!is_empty(&page("<p>one two<p>b"), &[0.2, 0.1]));
    }

    #[test]
    fn the_main_part_of_an_unknown_kind_of_page_is_kept() {
        let words = "a ".repeat(60);
        let html = format!("<nav>Home</nav><main><p>{words}<aside>b</aside><p>{words}</main><p>c");
        let page = page(&html);
        let kept = Some(vec![false, true, false, true, false]);
        assert_eq!(unknown_main(&page, &[0.0, 0.1, 0.0, 0.1, 0.1]), kept);
        assert_eq!(unknown_main(&page, &[0.0, 0.2, 0.0, 0.1, 0.1]), None);
        assert_eq!(unknown_main(&page, &[0.0, 0.1, 0.0, 0.1, 0.8]), None);
    }

    #[test]
    fn what_stands_around_the_content_must_be_likely() {
        let page = page("<nav>Home</nav><p>one<aside>two</aside><footer>three</footer>");
        assert_eq!(plausible(&page, &[0.6, 0.1, 0.7, 0.2], &[]), [0.0, 0.1, 0.7, 0.0]);
    }

    #[test]
    fn a_list_of_links_beside_prose_must_be_likely() {
        let html = format!("<p>{}<ul><li><a href=/1>Another story</a><li>A plain line</ul>", "word ".repeat(120));
        let page = page(&html);
        let with_types = |prose, types: &[f32]| plausible(&page, &[prose, 0.5, 0.5], types);
        assert_eq!(with_types(0.9, &[0.9]), [0.9, 0.0, 0.5]);
        assert_eq!(with_types(0.6, &[0.9]), [0.6, 0.5, 0.5], "the prose is in doubt itself");
        assert_eq!(with_types(0.9, &[0.1, 0.8]), [0.9, 0.5, 0.5], "a thread is made of lists");
        assert_eq!(with_types(0.9, &[0.4, 0.5]), [0.9, 0.0, 0.5], "it may be an article");
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
