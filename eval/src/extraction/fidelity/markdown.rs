//! Markdown as `pulldown-cmark` reads it.

use std::collections::HashMap;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use super::output::{Bag, Texts, beginning, letters, visible};

/// So many letters of an item tell it from others.
pub(super) const ITEM_LETTERS: usize = 48;

/// A block of code.
#[derive(Debug)]
pub(super) struct CodeBlock {
    /// Its visible characters.
    pub visible: String,
    /// The language after the fence; empty without one.
    pub language: String,
}

/// An item of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Item {
    /// How many lists it stands in.
    pub depth: usize,
    /// Its number, in an ordered list.
    pub number: Option<u64>,
}

/// The parts of a Markdown text.
#[derive(Debug, Default)]
pub(super) struct Markdown {
    /// All letters of its text, code included.
    letters: String,
    /// The blocks of code.
    pub code: Vec<CodeBlock>,
    /// The visible characters of inline code.
    pub inline_code: Bag,
    /// The letters of headings.
    pub headings: Texts,
    /// Items by the first letters of their own text.
    pub items: HashMap<String, Vec<Item>>,
    /// The cells of each line that begins with a bar.
    pub rows: Vec<Vec<String>>,
}

impl Markdown {
    /// Reads a text.
    pub fn read(markdown: &str) -> Self {
        let mut reader = Reader::default();
        for event in Parser::new_ext(markdown, options()) {
            reader.read(event);
        }
        let mut read = reader.read;
        read.rows = markdown.lines().filter(|line| is_row(line)).map(cells_of).collect();
        read
    }

    /// Whether its text has these letters in a row.
    pub fn has_letters(&self, letters: &str) -> bool {
        self.letters.contains(letters)
    }
}

fn options() -> Options {
    Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS
}

/// A line of a table may stand in an item or a quote.
fn is_row(line: &str) -> bool {
    line.trim_start_matches([' ', '>']).starts_with('|')
}

/// The cells of a row of a Markdown table, as plain text.
pub(super) fn cells_of(line: &str) -> Vec<String> {
    let line = line.trim_start_matches([' ', '>']).trim();
    let line = line.strip_prefix('|').unwrap_or(line);
    let mut cells = vec![String::new()];
    let mut escaped = false;
    for character in line.chars() {
        match character {
            '|' if !escaped => cells.push(String::new()),
            '|' => {
                // The bar needs no sign before it in a cell of its own.
                let cell = cells.last_mut().expect("there is a cell");
                cell.pop();
                cell.push('|');
            }
            _ => cells.last_mut().expect("there is a cell").push(character),
        }
        escaped = character == '\\' && !escaped;
    }
    if cells.len() > 1 && cells.last().is_some_and(|last| last.trim().is_empty()) {
        cells.pop();
    }
    cells.iter().map(|cell| plain(cell)).collect()
}

/// The text of a cell without its marks.
fn plain(cell: &str) -> String {
    let mut text = String::new();
    let mut in_image = 0;
    // A cell is never a heading, a list or code, whatever it begins with.
    for event in Parser::new_ext(&format!("\u{2060}{}", cell.trim()), options()) {
        match event {
            Event::Start(Tag::Image { .. }) => in_image += 1,
            Event::End(TagEnd::Image) => in_image -= 1,
            Event::Text(part) | Event::Code(part) if in_image == 0 => text.push_str(&part),
            Event::SoftBreak | Event::HardBreak => text.push(' '),
            _ => {}
        }
    }
    text
}

/// Collects the parts of a Markdown text.
#[derive(Default)]
struct Reader {
    read: Markdown,
    heading: Option<String>,
    code: Option<CodeBlock>,
    /// The lists that are open: the number of the next item.
    lists: Vec<Option<u64>>,
    /// The items that are open, and their own text as long as nothing else has begun in them.
    items: Vec<(Item, String, bool)>,
    n_images: usize,
    /// The code that was just read: code with a link in it is written as several pieces.
    last_code: String,
}

impl Reader {
    fn read(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => {
                if !text.trim().is_empty() {
                    self.last_code.clear();
                }
                self.text(&text);
            }
            Event::Code(code) => {
                let is_first = self.last_code.is_empty();
                self.text(&code);
                *self.read.inline_code.entry(visible(&code)).or_default() += 1;
                self.last_code.push_str(&visible(&code));
                if !is_first {
                    *self.read.inline_code.entry(self.last_code.clone()).or_default() += 1;
                }
            }
            _ => {}
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        if !matches!(tag, Tag::Link { .. } | Tag::Emphasis | Tag::Strong) {
            self.last_code.clear();
        }
        match tag {
            Tag::Heading { .. } => self.heading = Some(String::new()),
            Tag::CodeBlock(kind) => {
                self.end_own_text();
                let language = match kind {
                    CodeBlockKind::Fenced(info) => info.split_whitespace().next().unwrap_or("").to_lowercase(),
                    CodeBlockKind::Indented => String::new(),
                };
                self.code = Some(CodeBlock { visible: String::new(), language });
            }
            Tag::List(first) => {
                self.end_own_text();
                self.lists.push(first);
            }
            Tag::Item => {
                let number = self.lists.last().copied().flatten();
                if let Some(Some(next)) = self.lists.last_mut() {
                    *next += 1;
                }
                self.items.push((Item { depth: self.lists.len(), number }, String::new(), true));
            }
            Tag::Table(_) => self.end_own_text(),
            Tag::Image { .. } => self.n_images += 1,
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(_) => {
                self.read.headings.extend(self.heading.take().map(|heading| letters(&heading)));
            }
            TagEnd::CodeBlock => self.read.code.extend(self.code.take()),
            TagEnd::List(_) => {
                self.lists.pop();
            }
            TagEnd::Item => {
                if let Some((item, text, _)) = self.items.pop() {
                    let key = beginning(&letters(&text), ITEM_LETTERS).to_owned();
                    self.read.items.entry(key).or_default().push(item);
                }
            }
            TagEnd::Image => self.n_images -= 1,
            _ => {}
        }
    }

    fn end_own_text(&mut self) {
        if let Some((_, _, is_own)) = self.items.last_mut() {
            *is_own = false;
        }
    }

    fn text(&mut self, text: &str) {
        if self.n_images > 0 {
            return;
        }
        self.read.letters.extend(text.chars().filter(|character| character.is_alphanumeric()));
        if let Some(code) = &mut self.code {
            code.visible.push_str(&visible(text));
            return;
        }
        if let Some(heading) = &mut self.heading {
            heading.push_str(text);
        }
        if let Some((_, own, true)) = self.items.last_mut() {
            own.push_str(text);
        }
    }
}
