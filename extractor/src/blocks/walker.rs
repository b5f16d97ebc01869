//! One pass over the tree that reads elements, text, links, images and form fields.

use super::markup::{self, Budget, Plain, Reading, Surroundings, kind};
use super::names::Names;
use super::reader::{self, Reader};
use super::scripts::{self, Mark};
use super::{Break, Element, MAX_BLOCKS, Piece, Pieces, RawLink, ancestor, formula, lexicon::SEED};
use crate::cancel;
use crate::tree::{Kind, NodeId, Step, Tag, Tree, decode_value};

/// The state inside an open element, restored when it closes.
#[derive(Clone, Copy)]
struct State {
    node: NodeId,
    element: u32,
    tag: Option<Tag>,
    ancestors: u32,
    heading: u8,
    link: u32,
    bold: bool,
    code: Code,
    /// What is written behind raised text; 0 is nothing.
    mark_after: u8,
    /// Where the text of the element begins.
    text_start: u32,
}

/// Whether text is code, and how its lines are made.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Code {
    No,
    /// `pre`: every character counts.
    Pre,
    /// Each division, item or row is a line.
    Lines,
    /// `pre` around parts of a page: white space counts, but blocks are blocks.
    Parts,
}

impl Code {
    /// Whether all of it is one block.
    fn is_one_block(self) -> bool {
        matches!(self, Code::Pre | Code::Lines)
    }
}

const NO_LINK: u32 = u32::MAX;
/// Nodes between two looks at whether the work was cancelled.
const STEPS_PER_CHECK: u32 = 1024;

pub(super) struct Walker<'t, 'a> {
    tree: &'t Tree<'a>,
    pub(super) reader: Reader,
    pub(super) elements: Vec<Element>,
    pub(super) names: Names<'a>,
    pub(super) links: Vec<RawLink<'a>>,
    pub(super) images: Vec<u32>,
    pub(super) form_fields: Vec<u32>,
    pub(super) pieces: Vec<Piece>,
    records_pieces: bool,
    stack: Vec<State>,
    state: State,
    /// An inline element has just closed, with no text since.
    closed_inline: bool,
    /// The number of a line of code was left out, and what separates it from the line comes next.
    after_line_number: bool,
    budget: Budget,
}

impl<'t, 'a> Walker<'t, 'a> {
    pub(super) fn new(tree: &'t Tree<'a>, pieces: Pieces) -> Self {
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
        // About a third of the nodes is recorded; growing would copy the elements several times.
        let mut elements = Vec::with_capacity(tree.n_nodes() / 3 + 1);
        elements.push(root);
        let state = State {
            node: NodeId::DOCUMENT,
            element: 0,
            tag: None,
            ancestors: 0,
            heading: 0,
            link: NO_LINK,
            bold: false,
            code: Code::No,
            mark_after: 0,
            text_start: 0,
        };
        Walker {
            tree,
            reader: Reader::for_page(tree.source().len()),
            elements,
            names: Names::for_page(tree.n_nodes()),
            links: Vec::with_capacity(tree.n_nodes() / 16),
            images: Vec::new(),
            form_fields: Vec::new(),
            pieces: Vec::new(),
            records_pieces: pieces == Pieces::Recorded,
            stack: Vec::new(),
            state,
            closed_inline: false,
            after_line_number: false,
            budget: Budget::of(tree),
        }
    }

    /// Reads all blocks, or as many as are kept; answers whether there are more.
    pub(super) fn walk(&mut self, dropped: &[NodeId]) -> bool {
        let mut truncated = false;
        let mut walk = self.tree.walk();
        let mut n_steps = 0_u32;
        while let Some(step) = walk.next() {
            n_steps += 1;
            if n_steps.is_multiple_of(STEPS_PER_CHECK) {
                cancel::check();
            }
            match step {
                Step::Open(node) => {
                    let tag = self.tree.tag(node);
                    if !dropped.is_empty() && dropped.binary_search(&node).is_ok() {
                        walk.skip_children();
                    } else if is_skipped(tag) || (tag == Tag::Textarea && !markup::is_shown_text(self.tree, node)) {
                        self.count_skipped(node, tag);
                        walk.skip_children();
                    } else if tag == Tag::Br {
                        self.line_break();
                    } else if !tag.is_void() {
                        if !self.open(node, tag) {
                            walk.skip_children();
                        }
                    } else {
                        self.count_void(node, tag);
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
            // A block that held only white space was not added.
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

    fn count_skipped(&mut self, node: NodeId, tag: Tag) {
        match tag {
            Tag::Script => {
                if let Some(tex) = formula::of_script(self.tree, node) {
                    self.formula(node, &tex);
                }
            }
            Tag::Select | Tag::Textarea => self.form_fields.push(self.reader.next_block()),
            Tag::Video | Tag::Svg | Tag::Iframe | Tag::Object => self.images.push(self.reader.next_block()),
            _ => {}
        }
    }

    fn count_void(&mut self, node: NodeId, tag: Tag) {
        match tag {
            Tag::Img | Tag::Image => {
                self.images.push(self.reader.next_block());
                if let Some(tex) = formula::of_image(self.tree, node) {
                    self.formula(node, &tex);
                }
            }
            Tag::Input => {
                let hidden = self.tree.attribute(node, "type").is_some_and(|kind| kind.eq_ignore_ascii_case("hidden"));
                if !hidden {
                    self.form_fields.push(self.reader.next_block());
                }
            }
            Tag::Hr => self.reader.end_block(Break::Block),
            _ => {}
        }
    }

    /// A line break: a new block, except in code.
    fn line_break(&mut self) {
        if self.state.code.is_one_block() {
            self.begin();
            self.reader.push_code("\n", false, false);
        } else {
            self.reader.end_block(Break::Line);
        }
    }

    /// Opens an element; answers whether what is in it is to be read.
    fn open(&mut self, node: NodeId, tag: Tag) -> bool {
        let names_from = self.names.all.len() as u32;
        let [class, id, href, itemprop, role, data_role] =
            self.tree.find_raw(node, ["class", "id", "href", "itemprop", "role", "data-role"]);
        let (mut roles, kinds) = class.map_or((0, 0), |class| self.names.read_class(class));
        if (kinds != 0 || markup::is_read_apart(tag, href)) && !self.read_apart(node, kinds) {
            return false;
        }
        for value in [id, itemprop, data_role].into_iter().flatten() {
            roles |= self.names.read(value);
        }
        let is_block = is_block(tag);
        let code = self.code_inside(node, tag, kinds);
        if is_block {
            self.open_block(tag);
        } else if std::mem::take(&mut self.closed_inline) {
            // `</span><span>`: the text has no space there. The counts, as they were learned, have two words: a style
            // sheet separates them more often than they are parts of one word.
            self.reader.end_word_here();
        }
        // All of a run of code is a block of the element around it.
        let recorded = (is_block || self.names.all.len() as u32 > names_from) && !self.state.code.is_one_block();
        let (ancestors, heading) = ancestor::of_tag(tag);
        let mut state = self.state;
        state.node = node;
        state.ancestors |=
            ancestors | self.hidden_bits(node) | ancestor::of_role(role.map(decode_value).as_deref()) | code_bit(code);
        state.heading = state.heading.max(heading);
        state.bold |= matches!(tag, Tag::B | Tag::Strong) || heading > 0;
        state.code = code;
        state.text_start = self.reader.text_position();
        state.mark_after = 0;
        if is_block && !self.state.code.is_one_block() {
            state.tag = Some(tag);
        }
        if let Some(target) = href.filter(|_| tag == Tag::A) {
            state.link = self.links.len() as u32;
            let at = self.reader.text_position();
            self.links.push(RawLink { node, target, start: at, end: at, block: self.reader.next_block() });
            self.reader.open_link();
        }
        if matches!(tag, Tag::Sup | Tag::Sub) && !code.is_one_block() {
            state.mark_after = self.open_script(node, tag, kinds);
        }
        if recorded {
            state.element = self.record(node, tag, names_from, roles);
        }
        self.stack.push(self.state);
        self.state = state;
        true
    }

    /// Reads an element that is something else than its text; answers whether what is in it is to be read.
    fn read_apart(&mut self, node: NodeId, kinds: u8) -> bool {
        let around = Surroundings {
            in_code: self.state.code != Code::No,
            in_heading: self.state.heading > 0 || self.state.tag == Some(Tag::Dt),
        };
        match markup::reading(self.tree, node, kinds, around, &mut self.budget) {
            Reading::Whole => true,
            Reading::Skipped => {
                let tag = self.tree.tag(node);
                self.after_line_number = kinds & kind::GUTTER != 0 && tag == Tag::Span;
                if is_block(tag) && !self.state.code.is_one_block() {
                    self.reader.end_block(Break::Block);
                }
                false
            }
            Reading::Text(text) => {
                self.formula(node, &text);
                false
            }
        }
    }

    fn formula(&mut self, node: NodeId, text: &str) {
        self.begin();
        self.record_piece(node);
        self.reader.push(text, self.state.link != NO_LINK, self.state.bold, false);
        self.closed_inline = false;
    }

    /// Whether the text in an element is code.
    fn code_inside(&mut self, node: NodeId, tag: Tag, kinds: u8) -> Code {
        let around = self.state.code;
        if around != Code::No {
            return around;
        }
        if tag == Tag::Textarea {
            return Code::Pre;
        }
        if ancestor::of_tag(tag).0 & ancestor::CODE != 0 {
            return if markup::is_plain(self.tree, node, Plain::Pre) { Code::Pre } else { Code::Parts };
        }
        let may_be = kinds & (kind::CODE_LINES | kind::MAY_BE_CODE) != 0;
        if may_be && markup::is_code_lines(self.tree, node, kinds, &mut self.budget) { Code::Lines } else { Code::No }
    }

    fn open_block(&mut self, tag: Tag) {
        match (self.state.code, tag) {
            (Code::Pre | Code::Lines, Tag::Td | Tag::Th) => self.reader.next_cell(),
            (Code::Pre, Tag::P | Tag::Blockquote | Tag::Pre) | (Code::No | Code::Parts, _) => {
                self.reader.end_block(Break::Block);
            }
            _ => self.reader.end_line(),
        }
    }

    fn close_block(&mut self, tag: Tag, inner: State) {
        match (self.stack.last().map_or(Code::No, |outer| outer.code), tag) {
            (Code::Pre | Code::Lines, Tag::Td | Tag::Th) => {}
            (Code::Pre, Tag::P | Tag::Blockquote | Tag::Pre) | (Code::No | Code::Parts, _) => {
                self.reader.end_block(Break::Block);
            }
            (_, Tag::Div | Tag::Li | Tag::Tr) if inner.text_start == self.reader.text_position() => {
                self.reader.empty_line();
            }
            _ => self.reader.end_line(),
        }
    }

    fn hidden_bits(&self, node: NodeId) -> u32 {
        match (self.tree.hidden(node), self.tree.not_shown(node)) {
            (true, true) => ancestor::HIDDEN | ancestor::NOT_SHOWN,
            (true, false) => ancestor::HIDDEN,
            _ => 0,
        }
    }

    /// Begins raised or lowered text; answers what is to be written behind it.
    fn open_script(&mut self, node: NodeId, tag: Tag, kinds: u8) -> u8 {
        let Some(text) = markup::short_text(self.tree, node) else { return 0 };
        let before = self.reader.block_so_far();
        let mark = if tag == Tag::Sub {
            scripts::lowered(&text, before)
        } else {
            scripts::raised(&text, before, kinds & kind::NOTE != 0 || self.is_reference(node))
        };
        if mark == Mark::None {
            return 0;
        }
        self.begin();
        self.record_piece(node);
        match mark {
            Mark::None => 0,
            Mark::Sign(sign) => {
                self.reader.write_mark(sign);
                0
            }
            Mark::Group(sign) => {
                self.reader.write_mark(sign);
                self.reader.write_mark('(');
                b')'
            }
            Mark::Note => {
                self.reader.write_mark('[');
                b']'
            }
        }
    }

    /// Whether raised text is in a link to a place, or begins with one.
    fn is_reference(&self, node: NodeId) -> bool {
        let outer = self.links.get(self.state.link as usize).map(|link| link.target);
        let inner = self.tree.subtree(node).take(4).find(|inner| self.tree.tag(*inner) == Tag::A);
        let inner = inner.and_then(|link| self.tree.find_raw(link, ["href"])[0]);
        outer.or(inner).is_some_and(|target| target.contains('#'))
    }

    fn record(&mut self, node: NodeId, tag: Tag, names_from: u32, roles: u32) -> u32 {
        let names = &self.names.all[names_from as usize..];
        let signature = names.iter().fold(SEED ^ (tag as u32), |hash, name| (hash ^ name).wrapping_mul(0x0100_0193));
        self.elements.push(Element {
            node,
            tag,
            parent: self.state.element,
            depth: self.elements[self.state.element as usize].depth.saturating_add(1),
            first_block: self.reader.next_block(),
            end_block: 0,
            first_name: names_from,
            end_name: self.names.all.len() as u32,
            roles,
            signature,
        });
        self.elements.len() as u32 - 1
    }

    fn close(&mut self, node: NodeId) {
        if self.state.node != node || self.stack.is_empty() {
            return;
        }
        let tag = self.tree.tag(node);
        let inner = self.state;
        if inner.mark_after != 0 {
            self.reader.write_mark(char::from(inner.mark_after));
        }
        if is_block(tag) {
            self.close_block(tag, inner);
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

    /// Begins a block here, unless one is being read.
    fn begin(&mut self) {
        self.reader.begin(reader::Context {
            element: self.state.element,
            tag: self.state.tag,
            ancestors: self.state.ancestors,
            heading: self.state.heading,
        });
    }

    /// Records that what is read next stands at a node.
    fn record_piece(&mut self, node: NodeId) {
        if self.records_pieces {
            let (start, block) = (self.reader.text_position(), self.reader.next_block());
            self.pieces.push(Piece { node, start, block });
        }
    }

    fn text(&mut self, node: NodeId) {
        let raw = self.tree.raw_text(node);
        let code = self.state.code;
        if raw.bytes().all(|byte| byte.is_ascii_whitespace()) {
            if !raw.is_empty() && !code.is_one_block() {
                self.reader.space();
                self.closed_inline = false;
            }
            // Between the rows of a table of lines there is nothing.
            if raw.is_empty() || !(code == Code::Pre || (code == Code::Lines && self.is_in_line(node))) {
                return;
            }
        }
        self.closed_inline = false;
        self.begin();
        if self.state.ancestors & ancestor::NOT_SHOWN == 0 {
            self.reader.show();
        }
        self.record_piece(node);
        let text = self.tree.text(node);
        let (in_link, bold) = (self.state.link != NO_LINK, self.state.bold);
        match code {
            Code::No => self.reader.push(&text, in_link, bold, false),
            Code::Pre | Code::Parts => self.reader.push_code(&text, in_link, bold),
            Code::Lines => {
                let is_numbered = std::mem::take(&mut self.after_line_number);
                let text = if is_numbered { text.strip_prefix(['\u{a0}', ' ']).unwrap_or(&text) } else { &text };
                if !text.is_empty() {
                    // The spaces of code that is not preformatted do not break, so that they are shown.
                    self.reader.push_code(&text.replace('\u{a0}', " "), in_link, bold);
                }
            }
        }
    }

    /// Whether a text in lines of code is within one of them, and not between two.
    fn is_in_line(&self, node: NodeId) -> bool {
        let parent = self.tree.parent(node).map(|parent| self.tree.tag(parent));
        let follows_line = self.tree.previous_sibling(node).is_some_and(|sibling| is_block(self.tree.tag(sibling)));
        let precedes_line = self.tree.next_sibling(node).is_some_and(|sibling| is_block(self.tree.tag(sibling)));
        let holds_lines = matches!(
            parent,
            Some(Tag::Table | Tag::Tbody | Tag::Thead | Tag::Tfoot | Tag::Tr | Tag::Ol | Tag::Ul | Tag::Blockquote)
        );
        !(holds_lines || follows_line || precedes_line)
    }
}

fn is_block(tag: Tag) -> bool {
    tag.is_block() || matches!(tag, Tag::Button | Tag::Option | Tag::Textarea)
}

fn code_bit(code: Code) -> u32 {
    if code == Code::No { 0 } else { ancestor::CODE }
}

/// Elements whose text is not shown as text of the page.
fn is_skipped(tag: Tag) -> bool {
    tag.is_not_rendered()
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
                | Tag::Datalist
        )
}
