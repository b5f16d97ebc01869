//! What goes without saying about the blocks that are kept: a thread that is nothing but what visitors say is kept as a
//! whole, what an article hides is no part of it, nor are the signatures below posts, and what a thread or a shop says
//! again counts once.

use std::collections::HashSet;

use super::chance;
use crate::PageType;
use crate::blocks::lexicon::Role;
use crate::blocks::{Block, Page, place};
use crate::features::is_long;

/// The least share of the kept words that must be in sight before the hidden ones go: some pages hide everything until
/// a script has run.
const IN_SIGHT: f32 = 0.2;

/// Where at least this share of a thread's prose is comments, and at least so many words, comments are the thread …
const COMMENTS: f32 = 0.7;
const MIN_COMMENT_WORDS: u32 = 100;

/// … unless this share of them is kept anyway, or more prose than a notice is kept beside them.
const KEPT_COMMENTS: f32 = 0.75;
const MAX_NOTICE_WORDS: u32 = 40;

/// A page may be a thread from this chance on.
const POSSIBLE: f32 = 0.3;

/// Where prose is less likely than this, nothing is repeated on purpose.
const PROSE: f32 = 0.6;

/// Shorter blocks may well be said twice. Two characters of a script without spaces are as long as a word.
const MIN_REPEATED_WORDS: u32 = 6;

/// Adds and drops what goes without saying on this kind of page: all of a thread that is comments, hidden parts of an
/// article, signatures, repetitions elsewhere.
pub(super) fn tidy(page: &Page<'_>, types: &[f32], kept: &mut [bool]) {
    let (article, forum) = (chance(types, PageType::Article), chance(types, PageType::Forum));
    if article >= 0.5 {
        drop_hidden(page, kept);
    }
    if forum >= POSSIBLE {
        keep_comments(page, if forum >= 0.5 && forum > article { Thread::Likely } else { Thread::Possible }, kept);
    }
    // The signatures of a manual are those of functions.
    if chance(types, PageType::Documentation) < 0.5 {
        drop_signatures(page, kept);
    }
    let mut said = Said::on(types);
    for (block, kept) in page.blocks.iter().zip(kept).filter(|(_, kept)| **kept) {
        *kept = said.is_new(block);
    }
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

/// Is the page a thread?
#[derive(Clone, Copy, PartialEq, Eq)]
enum Thread {
    /// More likely than not.
    Likely,
    /// It may be: then comments must be most of what is kept, or nothing is kept at all.
    Possible,
}

/// Keeps all that visitors say where a thread has no other prose, as threads about a link have none: blocks of comments
/// that stand where their sentences do.
fn keep_comments(page: &Page<'_>, thread: Thread, kept: &mut [bool]) {
    let inside = page.inside(Role::Comment);
    let is_comment = |block: &Block| inside[block.element as usize];
    let (mut said, mut beside) = (Words::default(), Words::default());
    for (block, kept) in page.blocks.iter().zip(&*kept) {
        (if is_comment(block) { &mut said } else { &mut beside }).add(block, *kept);
    }
    let has_thread =
        said.prose >= MIN_COMMENT_WORDS && said.prose as f32 >= COMMENTS * (said.prose + beside.prose) as f32;
    let has_more = beside.kept_prose > MAX_NOTICE_WORDS || (thread == Thread::Possible && beside.kept > said.kept);
    if !has_thread || has_more || said.kept_prose as f32 > KEPT_COMMENTS * said.prose as f32 {
        return;
    }
    let stand = |block: &Block| {
        let element = &page.elements[block.element as usize];
        (element.signature, page.elements[element.parent as usize].signature)
    };
    let of_sentences: HashSet<(u32, u32)> =
        page.blocks.iter().filter(|block| is_long(block) && is_comment(block)).map(stand).collect();
    for (block, kept) in page.blocks.iter().zip(kept) {
        let is_link = block.link_words * 2 >= block.n_words().max(1);
        *kept |= is_comment(block) && !is_link && of_sentences.contains(&stand(block));
    }
}

/// Words of comments, or of what stands beside them.
#[derive(Default)]
struct Words {
    prose: u32,
    kept: u32,
    kept_prose: u32,
}

impl Words {
    fn add(&mut self, block: &Block, kept: bool) {
        let prose = if is_long(block) { block.n_words() } else { 0 };
        self.prose += prose;
        if kept {
            self.kept += block.n_words();
            self.kept_prose += prose;
        }
    }
}

/// Drops what people put below everything they say.
fn drop_signatures(page: &Page<'_>, kept: &mut [bool]) {
    let inside = page.inside(Role::Signature);
    for (block, kept) in page.blocks.iter().zip(kept) {
        *kept &= !inside[block.element as usize];
    }
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
    fn what_an_article_hides_is_dropped_unless_it_hides_nearly_all() {
        let some = "<p>one two three<p hidden>four";
        assert_eq!(tidied(some, 0.9), [true, false]);
        assert_eq!(tidied(some, 0.1), [true, true]);
        assert_eq!(tidied("<p>one<p hidden>two three four five six seven", 0.9), [true, true]);
    }

    #[test]
    fn the_signature_below_a_post_is_not_a_part_of_it() {
        let post = "<p>It works since the update.<div class=message-signature>Sent from my <b>phone</b></div>\
                    <div data-role=memberSignature>Sent from a train</div><p>Thanks!";
        assert_eq!(tidied(post, 0.1), [true, false, false, true]);
        let page = page("<dl class='function signature'><dt>open(path)</dl>");
        let mut kept = vec![true];
        tidy(&page, &[0.1, 0.0, 0.0, 0.0, 0.0, 0.9, 0.0], &mut kept);
        assert_eq!(kept, [true], "a manual shows the signatures of functions");
    }

    #[test]
    fn a_thread_of_nothing_but_comments_keeps_them_all() {
        let says = |text: &str| format!("<div class=comment><b><a href=/u>Somebody</a></b><p>{text}</p></div>");
        let long = says(&"The new trait solver is what I wait for. ".repeat(8));
        let thread = format!("<h1>A link</h1>{long}{}{long}", says("Me too."));
        let kept_of = |html: &str, types: &[f32]| {
            let page = page(html);
            let mut kept = vec![false; page.blocks.len()];
            tidy(&page, types, &mut kept);
            let texts = page.blocks.iter().zip(kept).filter(|(_, kept)| *kept);
            texts.map(|(block, _)| page.block_text(block).len()).collect::<Vec<_>>()
        };
        // What is said twice is kept once.
        assert_eq!(kept_of(&thread, &[0.3, 0.8]), [327, 7]);
        // Nothing else is kept, and a thread is possible.
        assert_eq!(kept_of(&thread, &[0.4, 0.35]), [327, 7]);
        assert_eq!(kept_of(&thread, &[0.8, 0.2]), [0; 0]);
        let answered = format!("<p>{}</p>{thread}", "A long answer of the author himself. ".repeat(40));
        assert_eq!(kept_of(&answered, &[0.3, 0.8]), [0; 0]);
    }

    #[test]
    fn where_a_thread_is_merely_possible_what_stands_beside_comments_outweighs_them() {
        let said = "<div class=comment><p>The new trait solver is what I have waited for, since last year or so.</div>";
        let html = format!("<h1>A picture of a dog</h1>{}", said.repeat(10));
        let page = page(&html);
        let kept_beside_the_heading = |thread| {
            let mut kept: Vec<bool> = page.blocks.iter().map(|block| block.heading > 0).collect();
            keep_comments(&page, thread, &mut kept);
            kept.iter().filter(|kept| **kept).count() - 1
        };
        assert_eq!(kept_beside_the_heading(Thread::Possible), 0);
        assert_eq!(kept_beside_the_heading(Thread::Likely), 10);
    }

    #[test]
    fn what_a_thread_says_again_is_dropped_and_a_refrain_is_not() {
        let thread = "<p>Does anybody know a good cheap telescope?<p>Yes.\
                      <blockquote>Does anybody know a good cheap telescope?</blockquote><p>Yes.";
        assert_eq!(tidied(thread, 0.1), [true, true, false, true]);
        assert_eq!(tidied(thread, 0.9), [true, true, true, true]);
    }
}
