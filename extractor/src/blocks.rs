//! The page as a row of text blocks, the elements around them, and where links stand.
//!
//! A block is an unbroken run of text between block-level tags or line breaks. Every text node is read once.

pub mod lexicon;
mod names;
pub mod place;
mod reader;
mod walker;

pub use reader::is_unspaced;
pub(crate) use reader::small_letter;

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

/// An unbroken run of text.
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
    /// Bits of [`place`].
    pub places: u32,
    /// 1 to 6 in a heading, else 0.
    pub heading: u8,
    /// How it begins.
    pub begins: Break,
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
    /// Commas and their kin.
    pub commas: u32,
    /// Full stops, question and exclamation marks, in any script.
    pub stops: u32,
    /// Characters of scripts without spaces.
    pub unspaced: u32,
    /// Signs of money.
    pub money: u32,
    /// Separators as in menus: `|`, `»`, `›`, `·`, `•`, `/`.
    pub separators: u32,
    /// The last sign of the text ends a sentence (2), leads on, as `:` and `,` do (1), or neither (0).
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

/// An element that says something about the text in it: block-level, or with a class or id.
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
    /// Its class words are `page.names[first_name..end_name]`.
    pub first_name: u32,
    /// Where its class words end.
    pub end_name: u32,
    /// Roles that its names announce, bits of [`lexicon::Role`].
    pub roles: u32,
    /// Same tag and names as its siblings? Then the same signature.
    pub signature: u32,
}

/// A link as it stands on the page.
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
    /// The block it begins in, or before which it stands.
    pub block: u32,
}

/// A page, read once: its blocks in document order and what surrounds them.
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
    /// Hashes of the class words of all elements.
    pub names: Vec<u32>,
    /// The links.
    pub links: Vec<RawLink<'a>>,
    /// For each picture, the block before which it stands.
    pub pictures: Vec<u32>,
    /// For each field of a form, the block before which it stands.
    pub fields: Vec<u32>,
    /// Whether there were more blocks than are kept.
    pub truncated: bool,
}

/// More blocks than any page that people wrote has. What is known of a block takes half a kilobyte, and a page of
/// `<p>x` would otherwise take a hundred times its size.
const MAX_BLOCKS: u32 = 100_000;

impl<'a> Page<'a> {
    /// Reads a parsed page.
    pub fn read(tree: Tree<'a>) -> Page<'a> {
        Page::read_without(tree, &[])
    }

    /// Reads a parsed page as if these nodes, in document order, and all in them were not there.
    pub(crate) fn read_without(tree: Tree<'a>, dropped: &[NodeId]) -> Page<'a> {
        let mut walker = Walker::new(&tree);
        let truncated = walker.walk(dropped);
        let Walker { reader, elements, names, links, pictures, fields, .. } = walker;
        let (text, words, blocks) = reader.finish();
        Page { tree, text, words, blocks, elements, names: names.all, links, pictures, fields, truncated }
    }

    /// The text of a block.
    pub fn block_text(&self, block: &Block) -> &str {
        &self.text[block.start as usize..block.end as usize]
    }

    /// The hashes of a block's words.
    pub fn block_words(&self, block: &Block) -> &[u32] {
        &self.words[block.first_word as usize..block.end_word as usize]
    }

    /// For each element whether it, or one around it, announces a role.
    pub(crate) fn inside(&self, role: Role) -> Vec<bool> {
        let mut inside = vec![false; self.elements.len()];
        for (index, element) in self.elements.iter().enumerate().skip(1) {
            inside[index] = inside[element.parent as usize] || element.roles & (1 << role as u32) != 0;
        }
        inside
    }

    /// The hashes of an element's class words.
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

    #[test]
    fn neighbouring_inline_elements_are_words_of_their_own() {
        assert_eq!(texts("<p><span>Price</span><span>10</span> <b>H</b>ello"), ["Price 10 Hello"]);
    }

    #[test]
    fn code_keeps_its_lines() {
        assert_eq!(texts("<pre>a  b\n  c</pre>"), ["a  b\n  c"]);
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
