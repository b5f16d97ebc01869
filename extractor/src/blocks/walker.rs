//! One walk over the tree: elements open and close, text is read, links and pictures are noted.

use super::names::Names;
use super::reader::{self, Reader};
use super::{Break, Element, MAX_BLOCKS, RawLink, lexicon::SEED, place};
use crate::tree::{Kind, NodeId, Step, Tag, Tree, read_value};

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

pub(super) struct Walker<'t, 'a> {
    tree: &'t Tree<'a>,
    pub(super) reader: Reader,
    pub(super) elements: Vec<Element>,
    pub(super) names: Names<'a>,
    pub(super) links: Vec<RawLink<'a>>,
    pub(super) pictures: Vec<u32>,
    pub(super) fields: Vec<u32>,
    stack: Vec<State>,
    state: State,
    /// An inline element has just closed, with no text since.
    closed_inline: bool,
}

impl<'t, 'a> Walker<'t, 'a> {
    pub(super) fn new(tree: &'t Tree<'a>) -> Self {
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
            names: Names::for_page(tree.n_nodes()),
            links: Vec::with_capacity(tree.n_nodes() / 16),
            pictures: Vec::new(),
            fields: Vec::new(),
            stack: Vec::new(),
            state,
            closed_inline: false,
        }
    }

    /// Reads all blocks, or as many as are kept; answers whether there are more.
    pub(super) fn walk(&mut self, dropped: &[NodeId]) -> bool {
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
        let names_from = self.names.all.len() as u32;
        let [class, id, href, itemprop, role, data_role] =
            self.tree.find_raw(node, ["class", "id", "href", "itemprop", "role", "data-role"]);
        let mut roles = 0;
        for value in [class, id, itemprop, data_role].into_iter().flatten() {
            roles |= self.names.read(value);
        }
        let recorded = is_block || self.names.all.len() as u32 > names_from;
        let (places, heading) = place::of_tag(tag);
        let hidden = if self.tree.hidden(node) { place::HIDDEN } else { 0 };
        let mut state = self.state;
        state.node = node;
        state.places |= places | hidden | place::of_role(role.map(read_value).as_deref());
        state.heading = state.heading.max(heading);
        state.bold |= matches!(tag, Tag::B | Tag::Strong) || heading > 0;
        if is_block {
            state.tag = Some(tag);
        }
        if let Some(target) = href.filter(|_| tag == Tag::A) {
            state.link = self.links.len() as u32;
            let at = self.reader.text_position();
            self.links.push(RawLink { node, target, start: at, end: at, block: self.reader.next_block() });
            self.reader.open_link();
        }
        if recorded {
            let names = &self.names.all[names_from as usize..];
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
                end_name: self.names.all.len() as u32,
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
