//! Which blocks to keep: all that are as likely as a threshold, and the threshold is the page's own.
//!
//! With probabilities that mean what they say, keeping the blocks above `t` gives the expected F1
//! `2 Σ n·p / (Σ n·p over all + Σ n over the kept)`, in words. That promise is one of the things by which a learned
//! judge compares the thresholds; how much is kept, how scattered it is, where it stands and the kind of page are others.
//! On products the promise alone decides.
//!
//! Some things are settled without the judge: what stands in menus, headers, footers and asides must be likely, and so
//! must lists of links beside prose; a page with a main part that is unlike anything learned is that part; one whose
//! every block is unlikely has no content, nor has one of which a few words or a plea for scripts would remain; what an
//! article hides is not a part of it, nor are signatures below posts; a thread without other prose is all that visitors
//! say; and what a thread or a shop says again counts once.

mod candidates;
mod settled;
mod tidy;

use crate::PageType;
use crate::blocks::Page;
use crate::model::Ensemble;
pub use candidates::candidates;
pub use settled::plausible;
pub use tidy::Said;

/// Thresholds that are compared.
pub const THRESHOLDS: [f32; 18] =
    [0.05, 0.08, 0.12, 0.16, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.87];

/// Pages that promise this F1 are as good as settled.
const SURE: f32 = 0.9;

/// Whether these probabilities leave so little open that more work on them would not pay.
pub(crate) fn is_sure(page: &Page<'_>, probabilities: &[f32]) -> bool {
    promises(page, probabilities).iter().any(|promise| *promise >= SURE)
}

/// The F1 that keeping the blocks above each threshold promises.
fn promises(page: &Page<'_>, probabilities: &[f32]) -> [f32; THRESHOLDS.len()] {
    // Words by how many of the thresholds keep them, all and those expected to be right.
    let mut levels = [(0.0f32, 0.0f32); THRESHOLDS.len() + 1];
    for (block, probability) in page.blocks.iter().zip(probabilities) {
        let words = block.n_words() as f32;
        let (all, right) = &mut levels[THRESHOLDS.partition_point(|threshold| threshold <= probability)];
        *all += words;
        *right += words * probability;
    }
    let expected: f32 = levels.iter().map(|(_, right)| right).sum();
    let (mut all, mut right) = (0.0, 0.0);
    let mut promises = [0.0; THRESHOLDS.len()];
    for (promise, (more, more_right)) in promises.iter_mut().zip(&levels[1..]).rev() {
        all += more;
        right += more_right;
        *promise = if all > 0.0 { 2.0 * right / (expected + all) } else { 0.0 };
    }
    promises
}

/// For each block whether it is kept.
pub fn choose(page: &Page<'_>, probabilities: &[f32], types: &[f32], judge: &Ensemble) -> Vec<bool> {
    let nothing = || vec![false; probabilities.len()];
    let probabilities = &plausible(page, probabilities, types)[..];
    let mut kept = match settled::unknown_main(page, probabilities) {
        Some(kept) => kept,
        None if settled::is_empty(page, probabilities) => nothing(),
        None => {
            // What to keep of a product differs more from shop to shop than a judge can learn from the few that there
            // are: it is worse than the promise there.
            let scores = if is_likeliest(types, PageType::Product) {
                promises(page, probabilities).to_vec()
            } else {
                judge.probabilities(&candidates(page, probabilities, types))
            };
            let threshold = THRESHOLDS[best(&scores)];
            probabilities.iter().map(|probability| *probability >= threshold).collect()
        }
    };
    tidy::tidy(page, types, &mut kept);
    if settled::is_next_to_nothing(page, probabilities, &kept) { nothing() } else { kept }
}

/// How likely a page is of a kind.
fn chance(types: &[f32], kind: PageType) -> f32 {
    types.get(kind as usize).copied().unwrap_or_default()
}

/// Whether no other kind of page is likelier.
fn is_likeliest(types: &[f32], kind: PageType) -> bool {
    let chance = chance(types, kind);
    chance > 0.0 && types.iter().all(|other| *other <= chance)
}

/// The best score, where neighbours lend each other half of theirs: a lonely peak is chance.
fn best(scores: &[f32]) -> usize {
    let smooth = |index: usize| {
        let before = scores[index.saturating_sub(1)];
        let after = scores[(index + 1).min(scores.len() - 1)];
        before + 2.0 * scores[index] + after
    };
    (0..scores.len()).max_by(|a, b| smooth(*a).total_cmp(&smooth(*b)).then(b.cmp(a))).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Tree;

    fn page(html: &str) -> Page<'_> {
        Page::read(crate::tree::Tree::parse(html))
    }

    #[test]
    fn the_threshold_with_the_best_score_is_taken() {
        let page = page("<p>one two three<p>four");
        let likes_high =
            Ensemble { base: 0.0, scale: 1.0, trees: vec![Tree { splits: vec![(19, 10)], leaves: vec![0, 1] }] };
        assert_eq!(choose(&page, &[0.9, 0.3], &[], &likes_high), [true, false]);
    }

    #[test]
    fn on_products_the_promise_decides() {
        let page = page("<p>one two three<p>four five");
        let likes_high =
            Ensemble { base: 0.0, scale: 1.0, trees: vec![Tree { splits: vec![(19, 16)], leaves: vec![0, 1] }] };
        let kept = |product| choose(&page, &[0.95, 0.7], &[0.5, 0.0, product], &likes_high);
        assert_eq!(kept(0.1), [true, false]);
        assert_eq!(kept(0.9), [true, true]);
    }

    #[test]
    fn a_thread_of_unlikely_comments_is_not_empty() {
        let says = "<div class=comment><p>Nobody has said why the new solver is slower than the old one.</div>";
        let html =
            format!("<h1>A link</h1>{}", (0..12).map(|n| says.replace("one", &n.to_string())).collect::<String>());
        let page = page(&html);
        let kept = choose(&page, &vec![0.1; page.blocks.len()], &[0.3, 0.8], &Ensemble::default());
        assert_eq!(kept.iter().filter(|kept| **kept).count(), 12);
        let article = choose(&page, &vec![0.1; page.blocks.len()], &[0.8, 0.1], &Ensemble::default());
        assert!(!article.contains(&true));
    }

    #[test]
    fn sure_is_who_expects_to_be_right() {
        let page = page("<p>one two three<p>four<p>five six");
        assert!(is_sure(&page, &[0.99, 0.01, 0.98]));
        assert!(!is_sure(&page, &[0.99, 0.5, 0.5]));
        assert!(!is_sure(&page, &[0.0, 0.0, 0.0]));
    }

    #[test]
    fn a_page_without_blocks_keeps_nothing() {
        assert!(choose(&page(""), &[], &[], &Ensemble::default()).is_empty());
    }
}
