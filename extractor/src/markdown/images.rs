//! The images of a page: which of them belong to the kept text, and where they stand.

use super::Writer;
use super::escape::{Context, push_escaped};
use super::inline::Position;
use super::spans::{Content, Gap, Span};
use super::targets::alternative;
use crate::blocks::Page;
use crate::tree::{Kind, NodeId, Tag};

/// So many elements are climbed from an image to the block or the figure that it stands in.
const MAX_CLIMB: usize = 32;

/// The images of a page in document order, without those that were read as the text of a formula.
pub(super) fn find(page: &Page<'_>) -> Vec<NodeId> {
    let is_text = |image: &NodeId| page.pieces.binary_search_by_key(image, |piece| piece.node).is_ok();
    page.tree.elements(Tag::Img).filter(|image| !is_text(image)).collect()
}

impl Writer<'_, '_> {
    /// Takes the images before the first text of a run: those beside it become its first spans, others are written on
    /// lines of their own where the text around them is kept.
    pub(super) fn push_images_before(&mut self, first: NodeId, spans: &mut Vec<Span>) {
        let block = self.block_around(first);
        while let Some(image) = self.next_image(|image| image < first) {
            if self.block_around(image) == block {
                self.push_image_span(image, Gap::Space, spans);
            }
        }
    }

    /// Takes the images before a text node in the middle of a run; answers whether one was written, and with it the
    /// space between the texts around it.
    pub(super) fn push_images_within(&mut self, node: NodeId, gap: &mut Gap, spans: &mut Vec<Span>) -> bool {
        let n_before = spans.len();
        while let Some(image) = self.next_image(|image| image < node) {
            let before = if self.is_space_before(image) { (*gap).max(Gap::Space) } else { *gap };
            let n_spans = spans.len();
            self.push_image_span(image, before, spans);
            if spans.len() > n_spans {
                *gap = if self.is_space_after(image, node) { Gap::Space } else { Gap::Nothing };
            }
        }
        spans.len() > n_before
    }

    /// Whether there is white space between an image and the text or image before it.
    fn is_space_before(&self, image: NodeId) -> bool {
        let before = (0..image.index()).rev().take(MAX_CLIMB);
        self.nearest_text(before).is_some_and(|text| text.ends_with(char::is_whitespace))
    }

    /// Whether there is white space between an image and the text, `last` at the latest, or image behind it.
    fn is_space_after(&self, image: NodeId, last: NodeId) -> bool {
        let after = (image.index() + 1..=last.index()).take(MAX_CLIMB);
        self.nearest_text(after).is_some_and(|text| text.starts_with(char::is_whitespace))
    }

    /// The first text among some nodes; none where an image comes before it.
    fn nearest_text(&self, nodes: impl Iterator<Item = usize>) -> Option<&str> {
        let tree = &self.page.tree;
        let is_next = |node: &NodeId| tree.kind(*node) == Kind::Text || tree.tag(*node) == Tag::Img;
        let next = nodes.map(NodeId::from_index).find(is_next)?;
        (tree.kind(next) == Kind::Text).then(|| tree.raw_text(next))
    }

    /// Takes the images after the last text of a run, before the next block.
    pub(super) fn push_images_after(&mut self, last: NodeId, next_block: usize, spans: &mut Vec<Span>) {
        let block = self.block_around(last);
        let end = self.first_node(next_block);
        let tree = &self.page.tree;
        let is_beside =
            |image: NodeId| end.is_none_or(|end| image < end) && block.is_some_and(|block| tree.contains(block, image));
        while let Some(image) = self.next_image(is_beside) {
            if self.block_around(image) == block {
                self.push_image_span(image, Gap::Space, spans);
            }
        }
    }

    /// The images that stand alone before a text node, where the text around them is kept.
    pub(super) fn lone_images_before(&mut self, first: Option<NodeId>) -> Vec<NodeId> {
        let block = first.and_then(|first| self.block_around(first));
        let mut lone = Vec::new();
        let mut at = self.n_images_taken;
        while let Some(image) = self.images.get(at).copied().filter(|image| first.is_none_or(|first| *image < first)) {
            let is_beside = block.is_some() && self.block_around(image) == block;
            if is_beside {
                break;
            }
            at += 1;
            if self.is_amid_kept(image) {
                lone.push(image);
            }
        }
        self.n_images_taken = at;
        lone
    }

    /// Takes the images inside an element.
    pub(super) fn images_in(&mut self, element: NodeId) -> Vec<NodeId> {
        let end = self.page.tree.end(element);
        let mut found = Vec::new();
        while let Some(image) = self.next_image(|image| image < end) {
            if image > element {
                found.push(image);
            }
        }
        found
    }

    fn next_image(&mut self, is_next: impl Fn(NodeId) -> bool) -> Option<NodeId> {
        let image = self.images.get(self.n_images_taken).copied().filter(|image| is_next(*image))?;
        self.n_images_taken += 1;
        Some(image)
    }

    pub(super) fn push_image_span(&mut self, image: NodeId, gap: Gap, spans: &mut Vec<Span>) {
        if self.targets.of_image(image).is_none() {
            return;
        }
        let mut style = self.style(image);
        style.code = None;
        let gap = if spans.is_empty() { Gap::Nothing } else { gap };
        spans.push(Span { gap, style, content: Content::Image(image) });
    }

    pub(super) fn push_image(&mut self, content: Content, position: Position, out: &mut String) {
        let Content::Image(image) = content else { return };
        let Some(target) = self.targets.of_image(image) else { return };
        let in_table = position == Position::Cell;
        let context = Context { line_start: false, in_link: true, in_table, before: None, after: None };
        out.push_str("![");
        push_escaped(&alternative(&self.page.tree, image), context, out);
        out.push_str("](");
        out.push_str(&target);
        out.push(')');
    }

    /// Whether the blocks before and after an image are kept, or the caption of its figure is.
    fn is_amid_kept(&mut self, image: NodeId) -> bool {
        let pieces = &self.page.pieces;
        let at = pieces.partition_point(|piece| piece.node < image);
        let is_kept = |block: u32| self.kept.get(block as usize) == Some(&true);
        let before = at.checked_sub(1).is_some_and(|before| is_kept(pieces[before].block));
        let after = pieces.get(at).is_some_and(|piece| is_kept(piece.block));
        (before && after) || self.in_kept_figure(image)
    }

    fn in_kept_figure(&mut self, image: NodeId) -> bool {
        let tree = &self.page.tree;
        let figure = tree.ancestors(image).take(MAX_CLIMB).find(|node| tree.tag(*node) == Tag::Figure);
        let Some(index) = figure.and_then(|figure| self.element_of(figure)) else { return false };
        let figure = &self.page.elements[index as usize];
        self.n_kept_before(figure.end_block) > self.n_kept_before(figure.first_block)
    }

    /// How many blocks before one are kept. A figure may hold many images, and all of the page.
    fn n_kept_before(&mut self, block: u32) -> u32 {
        if self.n_kept_before.is_empty() {
            let mut n_kept = 0;
            let counts = self.kept.iter().map(|kept| {
                n_kept += u32::from(*kept);
                n_kept
            });
            self.n_kept_before = std::iter::once(0).chain(counts).collect();
        }
        self.n_kept_before[block as usize]
    }

    /// The index of the element of a node, where it is recorded.
    fn element_of(&self, node: NodeId) -> Option<u32> {
        self.page.elements.binary_search_by_key(&node, |element| element.node).ok().map(|index| index as u32)
    }

    /// The innermost recorded element around a node.
    pub(super) fn element_around(&self, node: NodeId) -> u32 {
        self.page.tree.ancestors(node).take(MAX_CLIMB).find_map(|node| self.element_of(node)).unwrap_or(0)
    }

    /// The innermost block-level element around a node.
    fn block_around(&self, node: NodeId) -> Option<NodeId> {
        let tree = &self.page.tree;
        tree.ancestors(node).take(MAX_CLIMB).find(|node| tree.tag(*node).is_block())
    }
}
