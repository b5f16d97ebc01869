//! A page as a sequence of text blocks, with the elements around them and the links in them.
//!
//! A block is a run of text between block-level tags or line breaks. Every text node is read once.

pub mod ancestor;
mod formula;
pub mod lexicon;
pub(crate) mod markup;
mod names;
mod reader;
pub(crate) mod scripts;
mod walker;

pub use markup::names_of_markup;
pub(crate) use names::MAX_NAMES;
pub(crate) use reader::lowercase_ascii;

use std::sync::OnceLock;

use crate::tables::Tables;
use crate::tree::{NodeId, Tag, Tree};
use lexicon::{N_THEMES, Role};
use walker::Walker;

/// How a block begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Break {
    /// A new block-level element.
    #[default]
    Block,
    /// A line break within one.
    Line,
}

/// A text block: a run of text between block-level tags or line breaks.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// Its text is `page.text[start..end]`.
    pub start: u32,
    /// Where its text ends.
    pub end: u32,
    /// Its words are `page.words[first_word..end_word]`.
    pub first_word: u32,
    /// Where its words end.
    pub end_word: u32,
    /// The element around it, an index into `page.elements`.
    pub element: u32,
    /// The innermost block-level tag.
    pub tag: Option<Tag>,
    /// Which kinds of ancestors it has: bits of [`ancestor`].
    pub ancestors: u32,
    /// 1 to 6 in a heading, else 0.
    pub heading: u8,
    /// How it begins.
    pub break_before: Break,
    /// Unicode characters.
    pub characters: u32,
    /// Words inside links.
    pub link_words: u32,
    /// Links that begin in it.
    pub links: u32,
    /// Words in bold.
    pub bold_words: u32,
    /// Words that begin with a capital letter.
    pub capitals: u32,
    /// Digits.
    pub digits: u32,
    /// Commas and semicolons, in any script.
    pub commas: u32,
    /// Full stops, question and exclamation marks, in any script.
    pub sentence_marks: u32,
    /// Characters of scripts without spaces.
    pub unspaced: u32,
    /// Currency signs.
    pub currency_signs: u32,
    /// Separators as in menus: `|`, `»`, `›`, `·`, `•`, `/`.
    pub separators: u32,
    /// How the text ends: with the end of a sentence (2), with a mark after which it continues, as `:` and `,` (1), or
    /// neither (0).
    pub ending: u8,
    /// Words by [`lexicon::Theme`].
    pub themes: [u16; N_THEMES],
    /// A hash of its words.
    pub fingerprint: u32,
}

impl Block {
    /// How many words it has.
    pub fn n_words(&self) -> u32 {
        self.end_word - self.first_word
    }
}

/// A recorded element: block-level, or with a class, id or itemprop.
#[derive(Clone, Debug)]
pub struct Element {
    /// Its node.
    pub node: NodeId,
    /// Its tag.
    pub tag: Tag,
    /// The recorded element around it; the first element is its own parent.
    pub parent: u32,
    /// How many recorded elements are around it.
    pub depth: u16,
    /// The first block in it.
    pub first_block: u32,
    /// The block after the last in it.
    pub end_block: u32,
    /// The tokens of its class names are `page.names[first_name..end_name]`.
    pub first_name: u32,
    /// Where they end.
    pub end_name: u32,
    /// The roles of its class names: bits of [`lexicon::Role`].
    pub roles: u32,
    /// A hash of its tag and class names.
    pub signature: u32,
}

/// A link as it is written on the page.
#[derive(Clone, Copy, Debug)]
pub struct RawLink<'a> {
    /// The `<a>`.
    pub node: NodeId,
    /// Its `href` as it is written.
    pub target: &'a str,
    /// Its text is `page.text[start..end]`.
    pub start: u32,
    /// Where its text ends.
    pub end: u32,
    /// The block it begins in, or the next block after it.
    pub block: u32,
}

/// The part of a block that was read from one text node. It ends where the next piece begins, or with the block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    /// The text node.
    pub node: NodeId,
    /// Its text begins at `page.text[start]`, or with a space before it.
    pub start: u32,
    /// The index of its block.
    pub block: u32,
}

/// Whether the pieces of each block are recorded; only Markdown needs them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pieces {
    Recorded,
    Omitted,
}

/// The blocks of a page in document order, and what surrounds them.
#[derive(Debug)]
pub struct Page<'a> {
    /// The tree.
    pub tree: Tree<'a>,
    /// The text of all blocks, white space collapsed, a line each.
    pub text: String,
    /// Hashes of the words of all blocks, in order.
    pub words: Vec<u32>,
    /// The blocks.
    pub blocks: Vec<Block>,
    /// The elements, in document order.
    pub elements: Vec<Element>,
    /// The hashes of the class-name tokens of all elements.
    pub names: Vec<u32>,
    /// The links.
    pub links: Vec<RawLink<'a>>,
    /// For each image, the index of the next block.
    pub images: Vec<u32>,
    /// For each field of a form, the index of the next block.
    pub form_fields: Vec<u32>,
    /// The text nodes that the blocks were read from, in document order; empty unless they were asked for.
    pub(crate) pieces: Vec<Piece>,
    tables: OnceLock<Tables>,
    /// Whether there were more blocks than are kept.
    pub truncated: bool,
}

/// Further blocks are left out. The features of a block take half a kilobyte, so that a page of `<p>x` would otherwise
/// take a hundred times its size.
const MAX_BLOCKS: u32 = 100_000;

impl<'a> Page<'a> {
    /// Reads a parsed page.
    pub fn read(tree: Tree<'a>) -> Page<'a> {
        Page::read_without(tree, &[], Pieces::Omitted)
    }

    /// Reads a parsed page as if these nodes, in document order, and all in them were not there.
    pub(crate) fn read_without(tree: Tree<'a>, dropped: &[NodeId], pieces: Pieces) -> Page<'a> {
        let mut walker = Walker::new(&tree, pieces);
        let truncated = walker.walk(dropped);
        let Walker { reader, elements, names, links, images, form_fields, pieces, .. } = walker;
        let (text, words, blocks) = reader.finish();
        let (names, tables) = (names.all, OnceLock::new());
        let mut page =
            Page { tree, text, words, blocks, elements, names, links, images, form_fields, pieces, tables, truncated };
        page.forget_names_of_the_whole();
        page
    }

    /// The data tables of the page.
    pub(crate) fn tables(&self) -> &Tables {
        self.tables.get_or_init(|| Tables::find(self))
    }

    /// Takes the roles that speak against content from the elements that stand for the page. Themes put all kinds of
    /// words there, as `modal-open` and the tags of a post.
    fn forget_names_of_the_whole(&mut self) {
        for index in 0..self.elements.len() {
            if self.is_whole(&self.elements[index]) {
                self.elements[index].roles &= lexicon::ROLES_OF_CONTENT;
            }
        }
    }

    /// The text of a block.
    pub fn block_text(&self, block: &Block) -> &str {
        &self.text[block.start as usize..block.end as usize]
    }

    /// The hashes of a block's words.
    pub fn block_words(&self, block: &Block) -> &[u32] {
        &self.words[block.first_word as usize..block.end_word as usize]
    }

    /// For each element whether it or one of its ancestors has a role.
    pub(crate) fn inside(&self, role: Role) -> Vec<bool> {
        let mut inside = vec![false; self.elements.len()];
        for (index, element) in self.elements.iter().enumerate().skip(1) {
            inside[index] = inside[element.parent as usize] || element.roles & (1 << role as u32) != 0;
        }
        inside
    }

    /// Whether an element stands for the page: `body`, `main`, or an article with most of its words.
    pub(crate) fn is_whole(&self, element: &Element) -> bool {
        match element.tag {
            Tag::Html | Tag::Body | Tag::Main => true,
            Tag::Article => self.n_words_in(element) as usize * 2 > self.words.len(),
            _ => false,
        }
    }

    /// How many words an element holds.
    pub(crate) fn n_words_in(&self, element: &Element) -> u32 {
        let blocks = &self.blocks[element.first_block as usize..element.end_block as usize];
        match (blocks.first(), blocks.last()) {
            (Some(first), Some(last)) => last.end_word - first.first_word,
            _ => 0,
        }
    }

    /// The hashes of an element's class-name tokens.
    pub fn names_of(&self, element: &Element) -> &[u32] {
        &self.names[element.first_name as usize..element.end_name as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(html: &str) -> Vec<String> {
        let page = Page::read(Tree::parse(html));
        page.blocks.iter().map(|block| page.block_text(block).to_owned()).collect()
    }

    #[test]
    fn blocks_break_at_block_tags_and_line_breaks() {
        assert_eq!(texts("<p>one <b>two</b>\n three<br>four</p>five<div> </div>"), ["one two three", "four", "five"]);
        assert_eq!(texts("<script>x</script><style>y</style><title>t</title><p>z"), ["z"]);
    }

    #[track_caller]
    fn check(html: &str, expected: &[&str]) {
        assert_eq!(texts(html), expected, "{html}");
    }

    #[test]
    fn an_inline_boundary_is_no_space() {
        check(
            "<p><b>Taylor Swift</b><a href=/>, but</a> <b>F</b>our <i>years</i><i>.</i>",
            &["Taylor Swift, but Four years."],
        );
        check("<p>one<br>two<p>three<div>four</div>five", &["one", "two", "three", "four", "five"]);
        check("<table><tr><td>1<td>2</table>", &["1", "2"]);
        let page = Page::read(Tree::parse("<p><span>Price</span><span>10</span>"));
        assert_eq!((page.text.as_str(), page.words.len()), ("Price10\n", 2), "the counts have two words");
    }

    #[test]
    fn characters_of_no_width_are_left_out_unless_they_shape_text() {
        check("<p>soft&shy;hyphen zero\u{200b}width\u{feff} \u{2060}word\u{200c}s", &["softhyphen zerowidth words"]);
        check("<p>می\u{200c}خواهم 👩\u{200d}🚀 क्\u{200d}ष", &["می\u{200c}خواهم 👩\u{200d}🚀 क्\u{200d}ष"]);
    }

    #[test]
    fn code_keeps_every_character() {
        check("<pre>a  b\n  c</pre>", &["a  b\n  c"]);
        check(
            "<p>x<pre><code><span>def</span> <span>f</span><span>(</span>x):\n    <b>return</b> <i>x</i>\n\n<b>f</b>()</code></pre>y",
            &["x", "def f(x):\n    return x\n\nf()", "y"],
        );
        check("<pre>├──&nbsp;a<br>│&nbsp;&nbsp; └── b\u{200b}</pre>", &["├──\u{a0}a\n│\u{a0}\u{a0} └── b\u{200b}"]);
        check(
            "<pre>\n\n  first\n<div>second</div><div></div><div>fourth</div>\n</pre>",
            &["  first\nsecond\n\nfourth"],
        );
    }

    #[test]
    fn a_textarea_that_shows_text_keeps_every_character() {
        check("<p>Copy<textarea readonly>\n<b>a</b>  &amp;b</textarea>it", &["Copy", "<b>a</b>  &b", "it"]);
        check("<p>Copy<textarea>if x:\n    y\n\nz</textarea>", &["Copy", "if x:\n    y\n\nz"]);
        check("<form><textarea>Your comment</textarea><textarea readonly> </textarea></form>", &[]);
        let page = Page::read(Tree::parse("<form><textarea>Your comment</textarea>"));
        assert_eq!(page.form_fields.len(), 1);
    }

    #[test]
    fn line_numbers_and_buttons_are_no_part_of_code() {
        let code = ["a = 1\n    b"];
        check(
            "<table class=highlighttable><tr><td class=linenos><pre>1\n2</pre><td><pre>a = 1\n    b</pre></table>",
            &code,
        );
        check(
            "<pre><table class=hljs-ln><tr><td class=hljs-ln-numbers>1<td>a = 1<tr><td class=hljs-ln-numbers>2<td>    b</table></pre>",
            &code,
        );
        check(
            "<table class='highlight js-file-line-container'>\n<tr><td class=blob-num>1</td><td class=blob-code>a = 1</td>\n</tr>\n<tr><td class=blob-num>2</td><td class=blob-code>    b</td>\n</table>",
            &code,
        );
        check(
            "<pre><button>Copy</button><span class=lineno>1</span>a = 1\n<span class=lineno>2</span>    b</pre>",
            &code,
        );
        check("<div><button class=copybtn>Copy</button><pre>a = 1\n    b</pre></div>", &code);
    }

    #[test]
    fn lines_of_code_need_no_pre() {
        check(
            "<div class=fragment><div class=line><span class=lineno> 1</span>&#160;int f() {</div>\n\
             <div class=line><span class=lineno> 2</span>&#160;  return 0;</div>\n\
             <div class=line><span class=lineno> 3</span>&#160;</div>\n<div class=line>}</div></div>",
            &["int f() {\n  return 0;\n\n}"],
        );
        check(
            "<table class=RktBlk><tr><td>(define<span class=hspace>&nbsp;</span>x</td></tr>\n<tr><td>&nbsp;&nbsp;1)</table>",
            &["(define x\n  1)"],
        );
        check("<ol class=code><li>one</li>\n<li>  two</li></ol>", &["one\n  two"]);
        check("<p>x</p><div class=fragment><p>shown step by step</p></div>", &["x", "shown step by step"]);
        check("<ul class=highlight><li>one<li>two</ul>", &["one", "two"]);
    }

    #[test]
    fn a_pre_around_the_page_is_not_one_block() {
        check("<pre>one\ntwo<h2>three</h2><div>four</div>", &["one\ntwo", "three", "four"]);
    }

    #[test]
    fn signatures_are_written_as_they_are() {
        check(
            "<dl><dt class=sig><span class=pre>m.</span><span>f</span><span class=sig-paren>(</span><em>x</em>, \
             <em><span>y</span><span>=</span><span>1</span></em><span>)</span><a class=headerlink href='#m.f'>¶</a></dl>",
            &["m.f(x, y=1)"],
        );
    }

    #[test]
    fn raised_and_lowered_text_is_marked() {
        check("<p>2<sup>8</sup> H<sub>2</sub>O 1<sup>st</sup> x<sup>n+1</sup>", &["2^8 H_2O 1st x^(n+1)"]);
        check(
            "<p>note<sup>1</sup>, so<a href='#fn2'><sup>2</sup></a>.<sup><a href='#c'>[3]</a></sup>",
            &["note[1], so[2].[3]"],
        );
        check("<p>The note. <a href='#fnref1' class=footnote-backref>↩</a>", &["The note."]);
    }

    #[test]
    fn marks_of_headings_are_left_out() {
        for anchor in [
            "<a class=headerlink href='#a'>¶</a>",
            "<a href='#a'>#</a>",
            "<a class=anchor href='/x#a'>🔗</a>",
            "<a class=hash-link href='#a'>\u{200b}</a>",
        ] {
            check(&format!("<h2>Rain{anchor}</h2><p>It rains in C<a href='#c'>#</a>."), &["Rain", "It rains in C#."]);
        }
    }

    #[test]
    fn a_formula_is_read_once() {
        check(
            "<p>So <span class=katex><span class=katex-mathml><math><mi>x</mi><annotation encoding=application/x-tex>x^2\
             </annotation></math></span><span class=katex-html aria-hidden=true>x2</span></span> holds.",
            &["So x^2 holds."],
        );
        check(
            "<p>So <span class=MathJax_Preview>x2</span><span class=MathJax>x2</span><script type=math/tex>x^2</script>.",
            &["So x^2."],
        );
        check("<p>Half is <math><mfrac><mn>1</mn><mn>2</mn></mfrac></math>.", &["Half is 1/2."]);
    }

    #[test]
    fn a_line_without_text_does_not_join_what_stands_around_it() {
        let page = Page::read(Tree::parse("<p>one</p><p>&nbsp;<br>two<br>&nbsp;<br>three</p>"));
        let breaks: Vec<Break> = page.blocks.iter().map(|block| block.break_before).collect();
        assert_eq!(breaks, [Break::Block, Break::Block, Break::Line]);
    }

    #[test]
    fn a_block_with_a_hidden_beginning_is_not_hidden() {
        let page = Page::read(Tree::parse(
            "<p><span style='display:none'>key</span>text<p hidden>none<p aria-hidden=true>faded",
        ));
        let hidden: Vec<bool> = page.blocks.iter().map(|block| block.ancestors & ancestor::NOT_SHOWN != 0).collect();
        assert_eq!(hidden, [false, true, false]);
    }

    #[test]
    fn elements_know_their_blocks() {
        let page = Page::read(Tree::parse("<div class='a'><p>x</p><p>y</p></div><p>z</p>"));
        let div = page.elements.iter().find(|element| element.tag == Tag::Div).unwrap();
        assert_eq!((div.first_block, div.end_block), (0, 2));
        assert_eq!(page.elements[0].end_block, 3);
    }

    #[test]
    fn a_page_of_nothing_but_blocks_is_cut_short() {
        let html = "<p>x".repeat(MAX_BLOCKS as usize + 10);
        let page = Page::read(Tree::parse(&html));
        assert_eq!((page.blocks.len(), page.truncated), (MAX_BLOCKS as usize, true));
        assert!(page.elements.iter().all(|element| element.end_block <= MAX_BLOCKS));
    }

    #[test]
    fn words_in_links_are_counted() {
        let page = Page::read(Tree::parse("<p>go <a href=/x>to the shop</a> now"));
        let block = &page.blocks[0];
        assert_eq!((block.n_words(), block.link_words, block.links), (5, 3, 1));
        let link = page.links[0];
        assert_eq!(page.text[link.start as usize..link.end as usize].trim(), "to the shop");
    }
}
