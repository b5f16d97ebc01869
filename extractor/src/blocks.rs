//! One walk over the tree: the page as a row of text blocks, the elements around them, and where links stand.
//!
//! A block is an unbroken run of text between block-level tags or line breaks. Every text node is read once.

pub mod lexicon;
mod reader;

use std::borrow::Cow;

pub use reader::is_unspaced;

use crate::tree::{Kind, NodeId, Step, Tag, Tree};
use lexicon::{HashBits, N_THEMES, NAME_ROLES, SEED, mix};
use reader::Reader;

/// Where on the page a block stands; a bit each, taken from its ancestors.
pub mod place {
    #![expect(missing_docs, reason = "each is the element or state of that name")]
    pub const NAV: u32 = 1;
    pub const HEADER: u32 = 1 << 1;
    pub const FOOTER: u32 = 1 << 2;
    pub const ASIDE: u32 = 1 << 3;
    pub const MAIN: u32 = 1 << 4;
    pub const ARTICLE: u32 = 1 << 5;
    pub const FORM: u32 = 1 << 6;
    pub const LIST: u32 = 1 << 7;
    pub const TABLE: u32 = 1 << 8;
    pub const FIGURE: u32 = 1 << 9;
    pub const QUOTE: u32 = 1 << 10;
    pub const CODE: u32 = 1 << 11;
    pub const BUTTON: u32 = 1 << 12;
    pub const HIDDEN: u32 = 1 << 13;
    pub const NOSCRIPT: u32 = 1 << 14;
    pub const PARAGRAPH: u32 = 1 << 15;
    pub const HEADING: u32 = 1 << 16;
    pub const ADDRESS: u32 = 1 << 17;
    pub const TIME: u32 = 1 << 18;
    pub const DETAILS: u32 = 1 << 19;
    pub const DEFINITION: u32 = 1 << 20;
    pub const SECTION: u32 = 1 << 21;
    pub const TABLE_HEAD: u32 = 1 << 22;
    pub const ITEM: u32 = 1 << 23;
    pub const DIALOG: u32 = 1 << 24;
    pub const COUNT: usize = 25;
}

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
pub struct RawLink {
    /// The `<a>`.
    pub node: NodeId,
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
    pub links: Vec<RawLink>,
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
        Page { tree, text, words, blocks, elements, names, links, pictures, fields, truncated }
    }

    /// The text of a block.
    pub fn block_text(&self, block: &Block) -> &str {
        &self.text[block.start as usize..block.end as usize]
    }

    /// The hashes of a block's words.
    pub fn block_words(&self, block: &Block) -> &[u32] {
        &self.words[block.first_word as usize..block.end_word as usize]
    }

    /// The hashes of an element's class words.
    pub fn names_of(&self, element: &Element) -> &[u32] {
        &self.names[element.first_name as usize..element.end_name as usize]
    }
}

/// What is true inside an open element and must be put back when it closes.
#[derive(Clone, Copy)]
struct State {
    node: NodeId,
    element: u32,
    tag: Option<Tag>,
    places: u32,
    heading: u8,
    link: u32,
    bold: bool,
}

const NO_LINK: u32 = u32::MAX;

struct Walker<'t, 'a> {
    tree: &'t Tree<'a>,
    reader: Reader,
    elements: Vec<Element>,
    names: Vec<u32>,
    links: Vec<RawLink>,
    pictures: Vec<u32>,
    fields: Vec<u32>,
    stack: Vec<State>,
    state: State,
    /// An inline element has just closed, with no text since.
    closed_inline: bool,
    /// Values of `class` and the like seen before: most elements of a page share a few.
    known_names: Vec<KnownNames<'a>>,
}

/// What a value of `class`, `id` or `itemprop` was split into.
#[derive(Clone, Copy, Default)]
struct KnownNames<'a> {
    value: &'a str,
    first_name: u32,
    end_name: u32,
    roles: u32,
}

/// How many values are remembered, a power of two.
const N_KNOWN: usize = 256;

impl<'t, 'a> Walker<'t, 'a> {
    fn new(tree: &'t Tree<'a>) -> Self {
        let root = Element {
            node: NodeId::DOCUMENT,
            tag: Tag::Html,
            parent: 0,
            depth: 0,
            first_block: 0,
            end_block: 0,
            first_name: 0,
            end_name: 0,
            roles: 0,
            signature: 0,
        };
        // Some element in two of the nodes is recorded; growing would copy everything several times.
        let mut elements = Vec::with_capacity(tree.n_nodes() / 3 + 1);
        elements.push(root);
        let state =
            State { node: NodeId::DOCUMENT, element: 0, tag: None, places: 0, heading: 0, link: NO_LINK, bold: false };
        Walker {
            tree,
            reader: Reader::for_page(tree.source().len()),
            elements,
            names: Vec::with_capacity(tree.n_nodes() / 4),
            links: Vec::with_capacity(tree.n_nodes() / 16),
            pictures: Vec::new(),
            fields: Vec::new(),
            stack: Vec::new(),
            state,
            closed_inline: false,
            known_names: vec![KnownNames::default(); N_KNOWN],
        }
    }

    /// Reads all blocks, or as many as are kept; answers whether there are more.
    fn walk(&mut self, dropped: &[NodeId]) -> bool {
        let mut truncated = false;
        let mut walk = self.tree.walk();
        while let Some(step) = walk.next() {
            match step {
                Step::Open(node) => {
                    let tag = self.tree.tag(node);
                    if !dropped.is_empty() && dropped.binary_search(&node).is_ok() {
                        walk.skip_children();
                    } else if is_skipped(tag) {
                        self.note_skipped(tag);
                        walk.skip_children();
                    } else if tag == Tag::Br {
                        self.reader.end_block(Break::Line);
                    } else if !tag.is_void() {
                        self.open(node, tag);
                    } else {
                        self.note_void(node, tag);
                    }
                }
                Step::Close(node) => self.close(node),
                Step::Leaf(node) => {
                    if self.tree.kind(node) == Kind::Text {
                        self.text(node);
                    }
                }
            }
            if self.reader.n_blocks() >= MAX_BLOCKS {
                truncated = true;
                break;
            }
        }
        self.reader.end_block(Break::Block);
        self.close_all();
        let n_blocks = self.reader.n_blocks();
        for element in &mut self.elements {
            // A block that was begun and held no more than white space does not exist.
            element.end_block = element.end_block.min(n_blocks);
            element.first_block = element.first_block.min(element.end_block);
        }
        truncated
    }

    /// Ends what is still open, where reading stopped early.
    fn close_all(&mut self) {
        let end = self.reader.n_blocks();
        let at = self.reader.text_position();
        while let Some(outer) = self.stack.pop() {
            let inner = std::mem::replace(&mut self.state, outer);
            if inner.element != outer.element {
                self.elements[inner.element as usize].end_block = end;
            }
            if inner.link != outer.link {
                self.links[inner.link as usize].end = at;
            }
        }
        self.elements[0].end_block = end;
    }

    fn note_skipped(&mut self, tag: Tag) {
        match tag {
            Tag::Select | Tag::Textarea => self.fields.push(self.reader.next_block()),
            Tag::Video | Tag::Svg | Tag::Iframe | Tag::Object => self.pictures.push(self.reader.next_block()),
            _ => {}
        }
    }

    fn note_void(&mut self, node: NodeId, tag: Tag) {
        match tag {
            Tag::Img | Tag::Image => self.pictures.push(self.reader.next_block()),
            Tag::Input => {
                let hidden = self.tree.attribute(node, "type").is_some_and(|kind| kind.eq_ignore_ascii_case("hidden"));
                if !hidden {
                    self.fields.push(self.reader.next_block());
                }
            }
            Tag::Hr => self.reader.end_block(Break::Block),
            _ => {}
        }
    }

    fn open(&mut self, node: NodeId, tag: Tag) {
        let is_block = tag.is_block() || tag == Tag::Button || tag == Tag::Option;
        if is_block {
            self.reader.end_block(Break::Block);
        } else if std::mem::take(&mut self.closed_inline) {
            // `</span><span>`: drawn apart by a style sheet more often than one word in two pieces.
            self.reader.space();
        }
        let names_from = self.names.len() as u32;
        let [class, id, itemprop, role] = self.tree.find_attributes(node, ["class", "id", "itemprop", "role"]);
        let mut roles = 0;
        for value in [class, id, itemprop].into_iter().flatten() {
            roles |= self.read_names(value);
        }
        let recorded = is_block || self.names.len() as u32 > names_from;
        let (places, heading) = places_of(tag);
        let hidden = if self.tree.hidden(node) { place::HIDDEN } else { 0 };
        let mut state = self.state;
        state.node = node;
        state.places |= places | hidden | role_place(role.as_deref());
        state.heading = state.heading.max(heading);
        state.bold |= matches!(tag, Tag::B | Tag::Strong) || heading > 0;
        if is_block {
            state.tag = Some(tag);
        }
        if tag == Tag::A && self.tree.has_attribute(node, "href") {
            state.link = self.links.len() as u32;
            let at = self.reader.text_position();
            self.links.push(RawLink { node, start: at, end: at, block: self.reader.next_block() });
            self.reader.open_link();
        }
        if recorded {
            let names = &self.names[names_from as usize..];
            let signature =
                names.iter().fold(SEED ^ (tag as u32), |hash, name| (hash ^ name).wrapping_mul(0x0100_0193));
            state.element = self.elements.len() as u32;
            self.elements.push(Element {
                node,
                tag,
                parent: self.state.element,
                depth: self.elements[self.state.element as usize].depth.saturating_add(1),
                first_block: self.reader.next_block(),
                end_block: 0,
                first_name: names_from,
                end_name: self.names.len() as u32,
                roles,
                signature,
            });
        }
        self.stack.push(self.state);
        self.state = state;
    }

    fn close(&mut self, node: NodeId) {
        if self.state.node != node || self.stack.is_empty() {
            return;
        }
        let tag = self.tree.tag(node);
        let inner = self.state;
        if tag.is_block() || tag == Tag::Button || tag == Tag::Option {
            self.reader.end_block(Break::Block);
        } else {
            self.closed_inline = true;
        }
        self.state = self.stack.pop().expect("the stack was looked at above");
        if inner.element != self.state.element {
            // Text that is still being read belongs to this element as well.
            self.elements[inner.element as usize].end_block = self.reader.next_block_after_text();
        }
        if inner.link != self.state.link {
            let at = self.reader.text_position();
            self.links[inner.link as usize].end = at;
        }
    }

    fn text(&mut self, node: NodeId) {
        let raw = self.tree.raw_text(node);
        if raw.bytes().all(|byte| byte.is_ascii_whitespace()) {
            if !raw.is_empty() {
                self.reader.space();
                self.closed_inline = false;
            }
            return;
        }
        self.closed_inline = false;
        self.reader.begin(reader::Context {
            element: self.state.element,
            tag: self.state.tag,
            places: self.state.places,
            heading: self.state.heading,
        });
        let text = self.tree.text(node);
        let preformatted = self.state.places & place::CODE != 0;
        self.reader.push(&text, self.state.link != NO_LINK, self.state.bold, preformatted);
    }

    /// Splits class, id or itemprop into words; keeps their hashes and tells what they announce.
    fn read_names(&mut self, value: Cow<'a, str>) -> u32 {
        let Cow::Borrowed(value) = value else {
            return split_names(&value, &mut self.names);
        };
        let slot = slot_of(value);
        let known = self.known_names[slot];
        if known.value == value {
            self.names.extend_from_within(known.first_name as usize..known.end_name as usize);
            return known.roles;
        }
        let first_name = self.names.len() as u32;
        let roles = split_names(value, &mut self.names);
        self.known_names[slot] = KnownNames { value, first_name, end_name: self.names.len() as u32, roles };
        roles
    }
}

/// Where a value is remembered, by a few of its letters.
fn slot_of(value: &str) -> usize {
    let bytes = value.as_bytes();
    let letter = |index: usize| bytes.get(index).map_or(0, |byte| usize::from(*byte));
    let last = bytes.len().saturating_sub(1);
    (bytes.len() + 31 * letter(last) + 7 * letter(last / 2) + 3 * letter(last / 4) + letter(0)) % N_KNOWN
}

/// Landmarks that are told by `role` alone.
fn role_place(role: Option<&str>) -> u32 {
    match role {
        Some("navigation" | "menu" | "menubar") => place::NAV,
        Some("banner") => place::HEADER,
        Some("contentinfo") => place::FOOTER,
        Some("complementary") => place::ASIDE,
        Some("main") => place::MAIN,
        Some("article") => place::ARTICLE,
        Some("search" | "form") => place::FORM,
        Some("dialog" | "alertdialog") => place::DIALOG,
        Some("button" | "tab") => place::BUTTON,
        _ => 0,
    }
}

/// At most this many words per attribute are kept: more say nothing new.
const MAX_NAMES: usize = 24;

/// Words of letters, split where the case changes; their hashes go to `names`.
fn split_names(value: &str, names: &mut Vec<u32>) -> u32 {
    let name_roles: &HashBits = &NAME_ROLES;
    let mut roles = 0;
    let mut kept = 0;
    let bytes = value.as_bytes();
    let mut at = 0;
    while at < bytes.len() && kept < MAX_NAMES {
        if !bytes[at].is_ascii_alphabetic() {
            at += 1;
            continue;
        }
        let start = at;
        let mut hash = SEED;
        let mut prefix_roles = 0;
        while at < bytes.len() && bytes[at].is_ascii_alphabetic() {
            let camel = at > start && bytes[at].is_ascii_uppercase() && bytes[at - 1].is_ascii_lowercase();
            if camel {
                break;
            }
            hash = mix(hash, bytes[at].to_ascii_lowercase());
            at += 1;
            if at - start >= 4 {
                // `sidebarleft` announces what `sidebar` does: every beginning of a word is looked up on the way.
                prefix_roles |= name_roles.get(hash);
            }
        }
        let length = at - start;
        if (2..20).contains(&length) {
            roles |= prefix_roles | name_roles.get(hash);
            if length >= 3 {
                names.push(hash.max(1));
                kept += 1;
            }
        }
    }
    roles
}

/// Elements whose text is not the page's.
fn is_skipped(tag: Tag) -> bool {
    tag.is_unread()
        || matches!(
            tag,
            Tag::Title
                | Tag::Svg
                | Tag::Object
                | Tag::Canvas
                | Tag::Audio
                | Tag::Video
                | Tag::Map
                | Tag::Select
                | Tag::Textarea
                | Tag::Datalist
        )
}

fn places_of(tag: Tag) -> (u32, u8) {
    let places = match tag {
        Tag::Nav | Tag::Menu => place::NAV,
        Tag::Header => place::HEADER,
        Tag::Footer => place::FOOTER,
        Tag::Aside => place::ASIDE,
        Tag::Main => place::MAIN,
        Tag::Article => place::ARTICLE,
        Tag::Form | Tag::Fieldset | Tag::Label => place::FORM,
        Tag::Ul | Tag::Ol => place::LIST,
        Tag::Li => place::ITEM,
        Tag::Table => place::TABLE,
        Tag::Th | Tag::Caption => place::TABLE_HEAD,
        Tag::Figure | Tag::Figcaption => place::FIGURE,
        Tag::Blockquote | Tag::Q => place::QUOTE,
        Tag::Pre | Tag::Listing | Tag::Xmp | Tag::Plaintext => place::CODE,
        Tag::Button | Tag::Option => place::BUTTON,
        Tag::Noscript => place::NOSCRIPT,
        Tag::P => place::PARAGRAPH,
        Tag::Address => place::ADDRESS,
        Tag::Time => place::TIME,
        Tag::Details | Tag::Summary => place::DETAILS,
        Tag::Dl | Tag::Dt | Tag::Dd => place::DEFINITION,
        Tag::Section => place::SECTION,
        Tag::Dialog => place::DIALOG,
        _ => 0,
    };
    let heading = match tag {
        Tag::H1 => 1,
        Tag::H2 => 2,
        Tag::H3 => 3,
        Tag::H4 => 4,
        Tag::H5 => 5,
        Tag::H6 => 6,
        _ => return (places, 0),
    };
    (place::HEADING, heading)
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
