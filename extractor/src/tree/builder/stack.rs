//! The stack of open elements, on which "is there an open … in scope?" costs the same at any depth.

use crate::tree::arena::Namespace;
use crate::tree::tag::{Tag, category};
use crate::tree::tokenizer::{NameId, TagToken};

/// Deeper elements become siblings, as in browsers.
pub const MAX_DEPTH: usize = 512;

/// What stops a look up the stack.
#[derive(Clone, Copy, Debug)]
#[repr(usize)]
pub enum Scope {
    /// The standard's "in scope".
    Default,
    /// Also lists.
    ListItem,
    /// Also buttons.
    Button,
    /// Only tables and templates.
    Table,
    /// Any special element.
    Special,
    /// Any special element but `address`, `div` and `p`.
    Item,
    /// Any HTML element.
    Html,
}

const N_SCOPES: usize = 7;
const NOT_FOUND: u16 = u16::MAX;

/// Bits of [`Open::foreign_flags`].
mod foreign_flag {
    pub const FOREIGN: u8 = 1;
    pub const SVG: u8 = 1 << 1;
    pub const MATH_TEXT: u8 = 1 << 2;
    pub const HTML_INSIDE: u8 = 1 << 3;
}

/// An open element.
#[derive(Clone, Copy, Debug)]
pub struct Open {
    pub node: u32,
    pub name: NameId,
    pub tag: Tag,
    foreign_flags: u8,
    /// The next lower element of the same name.
    previous_same: u16,
    /// The highest element, from here down, that ends each scope.
    barriers: [u16; N_SCOPES],
}

impl Open {
    pub fn html(node: u32, tag: Tag, name: NameId) -> Open {
        Open { node, name, tag, foreign_flags: 0, previous_same: NOT_FOUND, barriers: [0; N_SCOPES] }
    }

    /// An element of svg or math; `html_inside` for an `annotation-xml` that says it holds HTML.
    pub fn foreign(node: u32, token: &TagToken, namespace: Namespace, html_inside: bool) -> Open {
        let mut foreign_flags = foreign_flag::FOREIGN;
        if namespace == Namespace::Svg {
            foreign_flags |= foreign_flag::SVG;
            if matches!(token.tag, Tag::ForeignObject | Tag::Desc | Tag::Title) {
                foreign_flags |= foreign_flag::HTML_INSIDE;
            }
        } else if matches!(token.tag, Tag::Mi | Tag::Mo | Tag::Mn | Tag::Ms | Tag::Mtext) {
            foreign_flags |= foreign_flag::MATH_TEXT;
        }
        if html_inside {
            foreign_flags |= foreign_flag::HTML_INSIDE;
        }
        Open { foreign_flags, ..Open::html(node, token.tag, token.name) }
    }

    pub fn is_foreign(&self) -> bool {
        self.foreign_flags != 0
    }

    pub fn is_html(&self, tag: Tag) -> bool {
        self.tag == tag && self.foreign_flags == 0
    }

    pub fn namespace(&self) -> Namespace {
        match self.foreign_flags & (foreign_flag::FOREIGN | foreign_flag::SVG) {
            0 => Namespace::Html,
            foreign_flag::FOREIGN => Namespace::MathMl,
            _ => Namespace::Svg,
        }
    }

    /// Whether this is an element of math whose content is text.
    pub fn is_math_text(&self) -> bool {
        self.foreign_flags & foreign_flag::MATH_TEXT != 0
    }

    /// Whether this is a foreign element whose content is HTML.
    pub fn has_html_inside(&self) -> bool {
        self.foreign_flags & foreign_flag::HTML_INSIDE != 0
    }

    pub fn is_special(&self) -> bool {
        match self.namespace() {
            Namespace::Html => self.tag.is(category::SPECIAL),
            _ => self.ends_foreign_scope(),
        }
    }

    fn ends_foreign_scope(&self) -> bool {
        match self.namespace() {
            Namespace::Html => false,
            Namespace::Svg => self.has_html_inside(),
            Namespace::MathMl => self.is_math_text() || self.tag == Tag::AnnotationXml,
        }
    }

    fn key(&self) -> usize {
        2 * self.name as usize + usize::from(self.is_foreign())
    }
}

#[derive(Debug)]
pub struct Stack {
    open: Vec<Open>,
    /// The highest open element of each name, HTML and foreign ones apart.
    highest: Vec<u16>,
}

impl Stack {
    pub fn new() -> Stack {
        Stack { open: Vec::with_capacity(64), highest: vec![NOT_FOUND; 2 * Tag::COUNT] }
    }

    pub fn len(&self) -> usize {
        self.open.len()
    }

    pub fn get(&self, index: usize) -> Option<&Open> {
        self.open.get(index)
    }

    #[inline]
    pub fn top(&self) -> Option<&Open> {
        self.open.last()
    }

    /// Whether the current node is an HTML element of this name.
    #[inline]
    pub fn top_is(&self, tag: Tag) -> bool {
        self.top().is_some_and(|top| top.is_html(tag))
    }

    #[inline]
    pub fn push(&mut self, mut open: Open) {
        let here = self.open.len() as u16;
        let key = open.key();
        if key >= self.highest.len() {
            self.highest.resize(key + 64, NOT_FOUND);
        }
        open.previous_same = self.highest[key];
        self.highest[key] = here;
        if let Some(top) = self.open.last() {
            open.barriers = top.barriers;
        }
        open.mark_barriers(here);
        self.open.push(open);
    }

    #[inline]
    pub fn pop(&mut self) -> Option<Open> {
        let open = self.open.pop()?;
        self.highest[open.key()] = open.previous_same;
        Some(open)
    }

    /// Where the highest open HTML element of this name is.
    #[inline]
    pub fn find(&self, tag: Tag) -> Option<usize> {
        self.find_name(tag as NameId)
    }

    pub fn find_name(&self, name: NameId) -> Option<usize> {
        self.position(2 * name as usize)
    }

    /// Where the highest open foreign element of this name is.
    pub fn find_foreign(&self, name: NameId) -> Option<usize> {
        self.position(2 * name as usize + 1)
    }

    fn position(&self, key: usize) -> Option<usize> {
        self.highest.get(key).filter(|&&index| index != NOT_FOUND).map(|&index| index as usize)
    }

    /// The highest element that ends the scope.
    #[inline]
    pub fn barrier(&self, scope: Scope) -> usize {
        self.open.last().map_or(0, |top| top.barriers[scope as usize] as usize)
    }

    #[inline]
    pub fn in_scope(&self, tag: Tag, scope: Scope) -> bool {
        self.find(tag).is_some_and(|index| index >= self.barrier(scope))
    }

    /// Where an open HTML element with this name and node is.
    pub fn find_node(&self, name: NameId, node: u32) -> Option<usize> {
        let mut index = self.find_name(name)?;
        loop {
            let open = &self.open[index];
            if open.node == node {
                return Some(index);
            }
            if open.previous_same == NOT_FOUND {
                return None;
            }
            index = open.previous_same as usize;
        }
    }

    /// Takes off everything from `index` on, for [`Stack::put_back`] after a change in the middle.
    pub fn take_from(&mut self, index: usize) -> Vec<Open> {
        let mut taken = Vec::with_capacity(self.open.len().saturating_sub(index) + 1);
        while self.open.len() > index {
            taken.extend(self.pop());
        }
        taken.reverse();
        taken
    }

    pub fn put_back(&mut self, taken: Vec<Open>) {
        for open in taken {
            self.push(open);
        }
    }
}

impl Open {
    #[inline]
    fn mark_barriers(&mut self, here: u16) {
        let is_html = !self.is_foreign();
        if is_html {
            self.barriers[Scope::Html as usize] = here;
            if !self.tag.is(category::SPECIAL) {
                return;
            }
        } else if !self.ends_foreign_scope() {
            return;
        }
        self.barriers[Scope::Special as usize] = here;
        if !(is_html && matches!(self.tag, Tag::Div | Tag::P | Tag::Address)) {
            self.barriers[Scope::Item as usize] = here;
        }
        if !is_html || self.tag.is(category::SCOPE) {
            for scope in [Scope::Default, Scope::ListItem, Scope::Button] {
                self.barriers[scope as usize] = here;
            }
        }
        if is_html {
            match self.tag {
                Tag::Ol | Tag::Ul => self.barriers[Scope::ListItem as usize] = here,
                Tag::Button => self.barriers[Scope::Button as usize] = here,
                Tag::Html | Tag::Table | Tag::Template => self.barriers[Scope::Table as usize] = here,
                _ => {}
            }
        }
    }
}
