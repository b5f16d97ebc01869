//! Rules that run after the threshold: a thread that consists of comments is kept whole; hidden parts of articles,
//! signatures below posts and repeated blocks are dropped; data tables are kept by whole rows.

use std::collections::HashSet;

use super::type_probability;
use crate::PageType;
use crate::blocks::lexicon::Role;
use crate::blocks::{Block, Page, ancestor};
use crate::features::is_prose;
use crate::tables::keep_rows_whole;

/// Hidden blocks are dropped only where at least this share of the kept words is visible: some pages hide everything
/// until a script has run.
const MIN_VISIBLE_SHARE: f32 = 0.2;

/// A thread consists of comments where they are at least this share of its prose, and at least so many words …
const MIN_COMMENT_SHARE: f32 = 0.7;
const MIN_COMMENT_WORDS: u32 = 100;

/// … unless more than this share of them is kept already, or more other prose is kept than a short notice.
const MAX_KEPT_COMMENT_SHARE: f32 = 0.75;
const MAX_NOTICE_WORDS: u32 = 40;

/// A page may be a thread from this probability on.
const MIN_FORUM_PROBABILITY: f32 = 0.3;

/// Repeated blocks are dropped below this probability of an article or a manual.
const MIN_ARTICLE_PROBABILITY: f32 = 0.6;

/// Shorter blocks are never taken for repeats. Two characters of a script without spaces count as one word.
const MIN_REPEAT_WORDS: u32 = 6;

/// Corrects the selection by rules of the page type: adds the comments of a thread and code within text; drops hidden parts of an article,
/// signatures, and repeated blocks elsewhere.
pub(super) fn postprocess(page: &Page<'_>, types: &[f32], kept: &mut [bool]) {
    let (article, forum) = (type_probability(types, PageType::Article), type_probability(types, PageType::Forum));
    if article >= 0.5 {
        drop_hidden(page, kept);
    }
    if forum >= MIN_FORUM_PROBABILITY {
        keep_comments(page, if forum >= 0.5 && forum > article { Thread::Likely } else { Thread::Possible }, kept);
    }
    keep_code(page, kept);
    // Elsewhere "signature" means that of a function, of a petition, or nothing.
    if forum >= MIN_FORUM_PROBABILITY && type_probability(types, PageType::Documentation) < 0.5 {
        drop_signatures(page, kept);
    }
    let mut repeats = RepeatFilter::new(types);
    let tables = page.tables();
    for (index, (block, kept)) in page.blocks.iter().zip(&mut *kept).enumerate().filter(|(_, (_, kept))| **kept) {
        // Cells say the same as others on purpose.
        *kept = tables.around(index).is_some() || repeats.insert(block);
    }
    keep_rows_whole(page, kept);
}

/// Keeps repeated blocks once: replies quote the question, shops repeat product cards for small screens.
#[derive(Debug)]
pub struct RepeatFilter {
    /// Articles and manuals repeat text on purpose (refrains, examples, code), so that nothing is dropped.
    keeps_repeats: bool,
    fingerprints: HashSet<u32>,
}

impl RepeatFilter {
    /// An empty filter for a page with these probabilities of each type.
    pub fn new(types: &[f32]) -> RepeatFilter {
        let keeps_repeats = type_probability(types, PageType::Article)
            + type_probability(types, PageType::Documentation)
            >= MIN_ARTICLE_PROBABILITY;
        RepeatFilter { keeps_repeats, fingerprints: HashSet::new() }
    }

    /// Records a block; whether it is to be kept, because its words are new, few, or may be repeated on this page.
    pub fn insert(&mut self, block: &Block) -> bool {
        let short = block.n_words().saturating_sub(block.unspaced / 2) < MIN_REPEAT_WORDS;
        self.keeps_repeats || short || self.fingerprints.insert(block.fingerprint)
    }
}

/// Is the page a thread?
#[derive(Clone, Copy, PartialEq, Eq)]
enum Thread {
    /// More likely than not.
    Likely,
    /// It may be: then comments must outweigh everything else that is kept.
    Possible,
}

/// Keeps all comments of a thread that has no other prose, as threads about a link: the blocks inside comments whose
/// element and parent have the same signature as those of a prose comment.
fn keep_comments(page: &Page<'_>, thread: Thread, kept: &mut [bool]) {
    let inside = page.inside(Role::Comment);
    let is_comment = |block: &Block| inside[block.element as usize];
    let (mut comments, mut others) = (WordCounts::default(), WordCounts::default());
    for (block, kept) in page.blocks.iter().zip(&*kept) {
        (if is_comment(block) { &mut comments } else { &mut others }).add(block, *kept);
    }
    let has_thread = comments.prose >= MIN_COMMENT_WORDS
        && comments.prose as f32 >= MIN_COMMENT_SHARE * (comments.prose + others.prose) as f32;
    let has_more = others.kept_prose > MAX_NOTICE_WORDS || (thread == Thread::Possible && others.kept > comments.kept);
    if !has_thread || has_more || comments.kept_prose as f32 > MAX_KEPT_COMMENT_SHARE * comments.prose as f32 {
        return;
    }
    let signatures = |block: &Block| {
        let element = &page.elements[block.element as usize];
        (element.signature, page.elements[element.parent as usize].signature)
    };
    let prose_signatures: HashSet<(u32, u32)> =
        page.blocks.iter().filter(|block| is_prose(block) && is_comment(block)).map(signatures).collect();
    for (block, kept) in page.blocks.iter().zip(kept) {
        let is_link = block.link_words * 2 >= block.n_words().max(1);
        *kept |= is_comment(block) && !is_link && prose_signatures.contains(&signatures(block));
    }
}

/// Words of the comments, or of all other blocks.
#[derive(Default)]
struct WordCounts {
    prose: u32,
    kept: u32,
    kept_prose: u32,
}

impl WordCounts {
    fn add(&mut self, block: &Block, kept: bool) {
        let prose = if is_prose(block) { block.n_words() } else { 0 };
        self.prose += prose;
        if kept {
            self.kept += block.n_words();
            self.kept_prose += prose;
        }
    }
}

/// At most so many runs of code in a row stand between two blocks of text.
const MAX_CODE_BLOCKS: usize = 4;

/// Keeps the code between two kept blocks: text that goes on behind an example speaks of it.
fn keep_code(page: &Page<'_>, kept: &mut [bool]) {
    let is_dropped_code = |index: usize, kept: &[bool]| {
        !kept[index] && page.blocks[index].ancestors & (ancestor::CODE | ancestor::NOT_SHOWN) == ancestor::CODE
    };
    let mut index = 1;
    while index < kept.len() {
        let start = index;
        while index < kept.len() && is_dropped_code(index, kept) {
            index += 1;
        }
        let is_between = kept[start - 1] && kept.get(index).copied().unwrap_or(false);
        if is_between && (1..=MAX_CODE_BLOCKS).contains(&(index - start)) {
            kept[start..index].fill(true);
        }
        index += 1;
    }
}

/// A signature has no more words than this, and no more than this share of the page's words.
const MAX_SIGNATURE_WORDS: u32 = 80;
const MAX_SIGNATURE_SHARE: f32 = 0.25;

/// Drops the signatures that users put below all of their posts. The name counts on a small element only.
fn drop_signatures(page: &Page<'_>, kept: &mut [bool]) {
    let role = 1 << Role::Signature as u32;
    for element in page.elements.iter().filter(|element| element.roles & role != 0) {
        let n_words = page.n_words_in(element);
        if n_words <= MAX_SIGNATURE_WORDS && n_words as f32 <= MAX_SIGNATURE_SHARE * page.words.len() as f32 {
            kept[element.first_block as usize..element.end_block as usize].fill(false);
        }
    }
}

/// Drops hidden blocks, where enough visible ones are kept.
fn drop_hidden(page: &Page<'_>, kept: &mut [bool]) {
    let (mut hidden, mut visible) = (0, 0);
    for (block, _) in page.blocks.iter().zip(&*kept).filter(|(_, kept)| **kept) {
        *(if is_hidden(block) { &mut hidden } else { &mut visible }) += block.n_words();
    }
    if visible as f32 >= MIN_VISIBLE_SHARE * (hidden + visible) as f32 {
        for (block, kept) in page.blocks.iter().zip(kept) {
            *kept &= !is_hidden(block);
        }
    }
}

/// Whether readers do not see a block. `aria-hidden` hides icons and copies, but prose only from screen readers, as the
/// fading paragraphs above a wall.
fn is_hidden(block: &Block) -> bool {
    block.ancestors & ancestor::NOT_SHOWN != 0 || (block.ancestors & ancestor::HIDDEN != 0 && !is_prose(block))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;

    fn page(html: &str) -> Page<'_> {
        Page::read(Tree::parse(html))
    }

    /// Which blocks stay of a page whose blocks were all kept, by the type_probability of an article.
    fn postprocessed(html: &str, article: f32) -> Vec<bool> {
        let page = page(html);
        let mut kept = vec![true; page.blocks.len()];
        postprocess(&page, &[article], &mut kept);
        kept
    }

    #[test]
    fn what_an_article_hides_is_dropped_unless_it_hides_nearly_all() {
        let some = "<p>one two three<p hidden>four";
        assert_eq!(postprocessed(some, 0.9), [true, false]);
        assert_eq!(postprocessed(some, 0.1), [true, true]);
        let fades = "<p>one two three<p aria-hidden=true>The paragraph above the wall fades out, and it goes on for a while, \
                     so that it is prose.<p aria-hidden=true>icon";
        assert_eq!(postprocessed(fades, 0.9), [true, true, false]);
        assert_eq!(postprocessed("<p>one<p hidden>two three four five six seven", 0.9), [true, true]);
    }

    #[test]
    fn the_signature_below_a_post_is_not_a_part_of_it() {
        let post = "<p>It works since the update that came with the last version of the program, for all of us here.\
                    <div class=message-signature>Sent from my <b>phone</b></div>\
                    <div data-role=memberSignature>Sent from a train</div><p>Thanks!";
        let kept_of = |html: &str, types: &[f32]| {
            let page = page(html);
            let mut kept = vec![true; page.blocks.len()];
            postprocess(&page, types, &mut kept);
            kept
        };
        assert_eq!(kept_of(post, &[0.1, 0.8]), [true, false, false, true]);
        assert_eq!(kept_of(post, &[0.8, 0.1]), [true; 4], "elsewhere the name means something else");
        let manual = "<p>Opens a file, for reading or for writing.<dl class='function signature'><dt>open(path)</dl>";
        assert_eq!(kept_of(manual, &[0.1, 0.4, 0.0, 0.0, 0.0, 0.9, 0.0]), [true; 2]);
        let tagged = post.replace("<p>It", "<div class='post tag-50-best-signature-sessions'><p>It") + "</div>";
        assert_eq!(kept_of(&tagged, &[0.1, 0.8]), [true, false, false, true]);
        let around = format!("<div class=signature>{post}</div>");
        assert_eq!(kept_of(&around, &[0.1, 0.8]), [true, false, false, true], "it holds most of the text");
    }

    #[test]
    fn code_between_kept_text_is_kept() {
        let page = page("<p>First, run this:<pre>$ mc</pre><p>Then go on.<pre>$ exit</pre><p>Related");
        let mut kept = vec![true, false, true, false, false];
        postprocess(&page, &[0.9], &mut kept);
        assert_eq!(kept, [true, true, true, false, false]);
    }

    #[test]
    fn a_thread_of_nothing_but_comments_keeps_them_all() {
        let says = |text: &str| format!("<div class=comment><b><a href=/u>Somebody</a></b><p>{text}</p></div>");
        let long = says(&"The new trait solver is what I wait for. ".repeat(8));
        let thread = format!("<h1>A link</h1>{long}{}{long}", says("Me too."));
        let kept_of = |html: &str, types: &[f32]| {
            let page = page(html);
            let mut kept = vec![false; page.blocks.len()];
            postprocess(&page, types, &mut kept);
            let texts = page.blocks.iter().zip(kept).filter(|(_, kept)| *kept);
            texts.map(|(block, _)| page.block_text(block).len()).collect::<Vec<_>>()
        };
        // The repeated comment is kept once.
        assert_eq!(kept_of(&thread, &[0.3, 0.8]), [327, 7]);
        // Nothing else is kept, and a thread is possible.
        assert_eq!(kept_of(&thread, &[0.4, 0.35]), [327, 7]);
        assert_eq!(kept_of(&thread, &[0.8, 0.2]), [0; 0]);
        let answered = format!("<p>{}</p>{thread}", "A long answer of the author himself. ".repeat(40));
        assert_eq!(kept_of(&answered, &[0.3, 0.8]), [0; 0]);
    }

    #[test]
    fn where_a_thread_is_merely_possible_other_kept_words_outweigh_comments() {
        let said = "<div class=comment><p>The new trait solver is what I have waited for, since last year or so.</div>";
        let html = format!("<h1>A picture of a dog</h1>{}", said.repeat(10));
        let page = page(&html);
        let kept_without_the_heading = |thread| {
            let mut kept: Vec<bool> = page.blocks.iter().map(|block| block.heading > 0).collect();
            keep_comments(&page, thread, &mut kept);
            kept.iter().filter(|kept| **kept).count() - 1
        };
        assert_eq!(kept_without_the_heading(Thread::Possible), 0);
        assert_eq!(kept_without_the_heading(Thread::Likely), 10);
    }

    #[test]
    fn a_repeat_in_a_table_is_kept() {
        let row = "<tr><td>smallint<td>a whole number of two or of four bytes";
        let table = format!("<table><tr><th>Name<th>Size{}</table>", row.repeat(3));
        assert_eq!(postprocessed(&table, 0.1), [true; 8]);
    }

    #[test]
    fn a_repeat_in_a_thread_is_dropped_and_a_refrain_is_not() {
        let thread = "<p>Does anybody know a good cheap telescope?<p>Yes.\
                      <blockquote>Does anybody know a good cheap telescope?</blockquote><p>Yes.";
        assert_eq!(postprocessed(thread, 0.1), [true, true, false, true]);
        assert_eq!(postprocessed(thread, 0.9), [true, true, true, true]);
    }
}
