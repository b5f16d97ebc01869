//! The kept blocks as Markdown that reads back: the same text, headings, lists, tables, quotes, code, links and images.
//!
//! Blocks are written in runs: the lines of one paragraph, the parts of one heading or of one piece of code. Every text
//! is that of the page's blocks; the markup around it comes from the text nodes that a block was read from.

mod code;
mod escape;
mod frames;
mod images;
mod inline;
mod lists;
mod spans;
mod tables;
mod targets;

use std::ops::Range;

use url::Url;

use crate::blocks::{Block, Break, Page, Piece, ancestor};
use crate::tree::{NodeId, Tag};
use frames::{Flow, Frames};
use inline::Position;
use spans::{STRONG, Span};
use targets::Targets;

/// What is written besides text and structure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Markup<'u> {
    /// The address that relative ones start from.
    pub base: Option<&'u Url>,
    /// Write the addresses of links.
    pub links: bool,
    /// Write images.
    pub images: bool,
}

/// Main content as Markdown. The page must have been read with its pieces.
pub(crate) fn markdown(page: &Page<'_>, kept: &[bool], markup: Markup<'_>) -> String {
    let mut writer = Writer {
        page,
        kept,
        frames: Frames::new(page),
        targets: Targets::new(&page.tree, markup.base),
        links: markup.links,
        written_link: None,
        images: if markup.images { images::find(page) } else { Vec::new() },
        n_images_taken: 0,
        n_kept_before: Vec::new(),
        checkboxes: page.tree.elements(Tag::Input).filter(|input| is_checkbox(page, *input)).collect(),
    };
    let mut out = String::with_capacity(page.text.len());
    let mut at = 0;
    while at < page.blocks.len() {
        let table = page.tables().around(at).filter(|table| table.blocks.start == at);
        let end = table.map_or_else(|| writer.run_end(at, page.blocks.len()), |table| table.blocks.end);
        if kept[at..end].contains(&true) {
            writer.push_lone_images(writer.first_node(at), &mut out);
            match table {
                Some(table) => writer.push_table(table, &mut out),
                None => writer.push_run(at..end, &mut out),
            }
        }
        at = end;
    }
    writer.push_lone_images(None, &mut out);
    out
}

struct Writer<'p, 'a> {
    page: &'p Page<'a>,
    kept: &'p [bool],
    frames: Frames<'p, 'a>,
    targets: Targets<'p, 'a>,
    links: bool,
    /// The link that the last run was in.
    written_link: Option<NodeId>,
    images: Vec<NodeId>,
    /// So many images have been written or left out.
    n_images_taken: usize,
    /// How many blocks before each one are kept, once an image asks.
    n_kept_before: Vec<u32>,
    checkboxes: Vec<NodeId>,
}

impl<'p, 'a> Writer<'p, 'a> {
    /// Where the run that begins with a block ends.
    fn run_end(&self, start: usize, limit: usize) -> usize {
        let mut end = start + 1;
        while end < limit && self.continues(&self.page.blocks[end - 1], &self.page.blocks[end], end) {
            end += 1;
        }
        end
    }

    /// Whether a block belongs to the run of the block before it.
    fn continues(&self, last: &Block, next: &Block, index: usize) -> bool {
        if self.kept[index] != self.kept[index - 1] {
            return false;
        }
        if next.ancestors & last.ancestors & ancestor::CODE != 0 {
            return self.code_element(last) == self.code_element(next) && self.code_element(last).is_some();
        }
        if (next.ancestors | last.ancestors) & ancestor::CODE != 0 {
            return false;
        }
        if last.heading > 0 || next.heading > 0 {
            let is_heading = |tag: Tag| tag.is_heading();
            return last.heading > 0
                && next.heading > 0
                && self.element_with(last, is_heading) == self.element_with(next, is_heading);
        }
        next.break_before == Break::Line
    }

    /// The innermost element around a block with such a tag.
    fn element_with(&self, block: &Block, is_wanted: impl Fn(Tag) -> bool) -> Option<u32> {
        let parent = |element: &u32| Some(self.page.elements[*element as usize].parent);
        let mut around = std::iter::successors(Some(block.element), parent).take(32);
        around.find(|element| is_wanted(self.page.elements[*element as usize].tag))
    }

    fn code_element(&self, block: &Block) -> Option<u32> {
        self.element_with(block, |tag| {
            matches!(tag, Tag::Pre | Tag::Listing | Tag::Xmp | Tag::Plaintext | Tag::Textarea)
        })
    }

    /// Writes blocks that belong together.
    fn push_run(&mut self, blocks: Range<usize>, out: &mut String) {
        crate::cancel::check();
        let block = &self.page.blocks[blocks.start];
        if block.ancestors & ancestor::CODE != 0 {
            self.push_code_block(blocks, out);
        } else if block.heading > 0 {
            self.push_heading(blocks, block.heading, out);
        } else {
            self.push_paragraph(blocks, out);
        }
    }

    fn push_code_block(&mut self, blocks: Range<usize>, out: &mut String) {
        let block = &self.page.blocks[blocks.start];
        let language = code::language(self.page, block, self.first_node(blocks.start)).unwrap_or_default();
        self.frames.open(self.code_element(block).unwrap_or(block.element));
        let text = self.code_text(blocks);
        let fence = code::fence(&text);
        self.frames.begin(Flow::Code, out);
        out.push_str(&fence);
        out.push_str(&language);
        for line in text.split('\n') {
            self.frames.code_line(line.trim_end_matches('\r'), out);
        }
        self.frames.code_line(&fence, out);
    }

    fn code_text(&self, blocks: Range<usize>) -> String {
        let texts = blocks.map(|block| self.page.block_text(&self.page.blocks[block]));
        texts.collect::<Vec<_>>().join("\n")
    }

    fn push_heading(&mut self, blocks: Range<usize>, level: u8, out: &mut String) {
        let block = &self.page.blocks[blocks.start];
        self.frames.open(self.element_with(block, |tag| tag.is_heading()).unwrap_or(block.element));
        let mut spans = self.spans(blocks, Position::Heading);
        // A heading is bold by itself.
        spans.iter_mut().for_each(|span| span.style.marks &= !STRONG);
        self.frames.begin(Flow::Heading, out);
        out.extend(std::iter::repeat_n('#', usize::from(level)));
        out.push(' ');
        let start = out.len();
        self.push_spans(&spans, Position::Heading, out);
        escape_closing_signs(out, start);
        self.end_run(&spans);
    }

    fn push_paragraph(&mut self, blocks: Range<usize>, out: &mut String) {
        self.frames.open(self.page.blocks[blocks.start].element);
        let task = self.task_box(blocks.start);
        let mut spans = self.spans(blocks, Position::Line);
        if self.frames.in_summary() {
            spans.iter_mut().for_each(|span| span.style.marks |= STRONG);
        }
        self.frames.begin(Flow::Paragraph, out);
        out.push_str(task);
        self.push_spans(&spans, Position::Line, out);
        self.end_run(&spans);
    }

    fn end_run(&mut self, spans: &[Span]) {
        self.written_link = spans.last().and_then(|span| span.style.link);
    }

    /// The box of a task, where an item begins with one.
    fn task_box(&self, block: usize) -> &'static str {
        let item = self.frames.innermost().filter(|_| self.frames.begins_item());
        let (Some(item), Some(first)) = (item, self.first_node(block)) else { return "" };
        let item = self.page.elements[item as usize].node;
        let at = self.checkboxes.partition_point(|checkbox| *checkbox < item);
        match self.checkboxes.get(at).filter(|checkbox| **checkbox < first) {
            Some(checkbox) if self.page.tree.has_attribute(*checkbox, "checked") => "[x] ",
            Some(_) => "[ ] ",
            None => "",
        }
    }

    /// Writes the images before a text node that stand on their own.
    fn push_lone_images(&mut self, first: Option<NodeId>, out: &mut String) {
        for image in self.lone_images_before(first) {
            let mut spans = Vec::new();
            self.push_image_span(image, spans::Gap::Nothing, &mut spans);
            if !spans.is_empty() {
                self.frames.open(self.element_around(image));
                self.frames.begin(Flow::Paragraph, out);
                self.push_spans(&spans, Position::Line, out);
            }
        }
    }

    /// Whether a link is written: it leads somewhere, and no run before this one was in it.
    fn may_link(&mut self, link: NodeId) -> bool {
        self.links && self.written_link != Some(link) && self.targets.has_link(link)
    }

    /// The text nodes of a block with the ranges of text that were read from them.
    fn pieces(&self, block: usize) -> impl Iterator<Item = (Option<NodeId>, Range<usize>)> + use<'p, 'a> {
        let pieces = self.pieces_of(block);
        let found = &self.page.blocks[block];
        let (mut start, end) = (found.start as usize, found.end as usize);
        let ends = pieces.iter().skip(1).map(move |next| (next.start as usize).min(end)).chain([end]);
        // A block without pieces is a text without a node.
        let nodes = pieces.iter().map(|piece| Some(piece.node)).chain(pieces.is_empty().then_some(None));
        nodes.zip(ends).filter_map(move |(node, end)| {
            let range = start..end;
            start = start.max(end);
            (!range.is_empty()).then_some((node, range))
        })
    }

    fn pieces_of(&self, block: usize) -> &'p [Piece] {
        let pieces = &self.page.pieces;
        let from = pieces.partition_point(|piece| (piece.block as usize) < block);
        let n = pieces[from..].partition_point(|piece| piece.block as usize == block);
        &pieces[from..from + n]
    }

    fn first_node(&self, block: usize) -> Option<NodeId> {
        self.pieces_of(block).first().map(|piece| piece.node)
    }

    fn last_node(&self, block: usize) -> Option<NodeId> {
        self.pieces_of(block).last().map(|piece| piece.node)
    }
}

/// Signs at the end of a heading would be left out as its end.
fn escape_closing_signs(out: &mut String, start: usize) {
    let text = &out[start..];
    let rest = text.trim_end_matches('#');
    if rest.len() < text.len() && (rest.is_empty() || rest.ends_with(' ')) {
        out.insert(start + rest.len(), '\\');
    }
}

fn is_checkbox(page: &Page<'_>, input: NodeId) -> bool {
    page.tree.attribute(input, "type").is_some_and(|kind| kind.eq_ignore_ascii_case("checkbox"))
}

#[cfg(test)]
mod tests;
