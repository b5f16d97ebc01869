//! DecodeOptions the attributes of an element.

use std::borrow::Cow;

use super::arena::{Kind, Span, flag};
use super::entities::{self, DecodeOptions, Nul, References};
use super::tokenizer::lower_case;
use super::{NodeId, Tree};

const VALUE: DecodeOptions = DecodeOptions { references: References::Attribute, nul: Nul::Replaced };

/// One attribute of an element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribute<'a> {
    /// The name in lower case.
    pub name: Cow<'a, str>,
    /// The value with character references resolved; empty when there is none.
    pub value: Cow<'a, str>,
}

impl<'a> Tree<'a> {
    /// The value of the attribute with this name (in lower case); the first counts when it is repeated.
    #[inline]
    pub fn attribute(&self, node: NodeId, name: &str) -> Option<Cow<'a, str>> {
        let span = self.spans(node).iter().find(|span| self.is_named(span, name))?;
        Some(self.value(span))
    }

    /// The values of several attributes as they are written, found in one pass, in the order asked for.
    #[inline]
    pub(crate) fn find_raw<const N: usize>(&self, node: NodeId, names: [&str; N]) -> [Option<&'a str>; N] {
        let mut found = [None; N];
        for span in self.spans(node) {
            for (value, name) in found.iter_mut().zip(names) {
                if self.is_named(span, name) {
                    value.get_or_insert_with(|| self.raw(span.value_start, span.value_end));
                    break;
                }
            }
        }
        found
    }

    /// Whether the element has the attribute with this name (in lower case).
    pub fn has_attribute(&self, node: NodeId, name: &str) -> bool {
        self.spans(node).iter().any(|span| self.is_named(span, name))
    }

    /// The attributes of an element in the order of the page, each name once.
    pub fn attributes(&self, node: NodeId) -> Attributes<'_, 'a> {
        Attributes { tree: self, spans: self.spans(node), next: 0 }
    }

    /// Whether this element itself is hidden from readers: `hidden`, `aria-hidden="true"`, or a style with
    /// `display: none` or `visibility: hidden`. The content of a hidden element is hidden with it.
    #[inline]
    pub fn hidden(&self, node: NodeId) -> bool {
        self.node(node).flags & flag::MAY_HIDE != 0 && self.is_hidden(node)
    }

    /// Whether this element itself is not shown: [`Tree::hidden`] by more than `aria-hidden`, which only hides from
    /// screen readers.
    pub fn not_shown(&self, node: NodeId) -> bool {
        self.node(node).flags & flag::MAY_HIDE != 0 && self.hiding_attributes(node).any(|name| name.len() != 11)
    }

    fn is_hidden(&self, node: NodeId) -> bool {
        self.hiding_attributes(node).next().is_some()
    }

    /// The names of the attributes that hide an element.
    fn hiding_attributes(&self, node: NodeId) -> impl Iterator<Item = &'a str> {
        self.spans(node).iter().filter_map(|span| {
            let name = self.raw(span.name_start, span.name_end);
            let hides = match name.len() {
                5 if name.eq_ignore_ascii_case("style") => hides(self.raw(span.value_start, span.value_end)),
                // `until-found` is text that a search opens.
                6 if name.eq_ignore_ascii_case("hidden") => {
                    !self.raw(span.value_start, span.value_end).eq_ignore_ascii_case("until-found")
                }
                11 if name.eq_ignore_ascii_case("aria-hidden") => {
                    self.raw(span.value_start, span.value_end).trim().eq_ignore_ascii_case("true")
                }
                _ => false,
            };
            hides.then_some(name)
        })
    }

    #[inline]
    fn spans(&self, node: NodeId) -> &[Span] {
        let node = self.node(node);
        if node.kind != Kind::Element {
            return &[];
        }
        &self.attributes[node.end as usize..node.end as usize + node.n_attributes as usize]
    }

    #[inline]
    fn is_named(&self, span: &Span, name: &str) -> bool {
        // Most attributes have a name of another length, and those are not looked at.
        let (start, end) = (span.name_start as usize, span.name_end as usize);
        end - start == name.len() && self.source.as_bytes()[start..end].eq_ignore_ascii_case(name.as_bytes())
    }

    fn value(&self, span: &Span) -> Cow<'a, str> {
        decode_value(self.raw(span.value_start, span.value_end))
    }

    #[inline]
    fn raw(&self, start: u32, end: u32) -> &'a str {
        &self.source[start as usize..end as usize]
    }
}

/// Decodes a raw attribute value: resolves its character references.
pub(crate) fn decode_value(raw: &str) -> Cow<'_, str> {
    entities::decode(raw, VALUE)
}

/// Iterator of [`Tree::attributes`].
#[derive(Clone, Debug)]
pub struct Attributes<'t, 'a> {
    tree: &'t Tree<'a>,
    spans: &'t [Span],
    next: usize,
}

impl<'a> Iterator for Attributes<'_, 'a> {
    type Item = Attribute<'a>;

    fn next(&mut self) -> Option<Attribute<'a>> {
        loop {
            let span = self.spans.get(self.next)?;
            let name = self.tree.raw(span.name_start, span.name_end);
            let repeated = self.spans[..self.next].iter().any(|earlier| self.tree.is_named(earlier, name));
            self.next += 1;
            if !repeated {
                return Some(Attribute { name: lower_case(name), value: self.tree.value(span) });
            }
        }
    }
}

/// Whether an inline style hides its element. Spaces and case do not matter.
fn hides(style: &str) -> bool {
    style.split(';').any(|declaration| {
        let Some((property, value)) = declaration.split_once(':') else { return false };
        let property = property.trim();
        let value = value.trim();
        let value = value.split(['!', ' ']).next().unwrap_or_default();
        (property.eq_ignore_ascii_case("display") && value.eq_ignore_ascii_case("none"))
            || (property.eq_ignore_ascii_case("visibility") && value.eq_ignore_ascii_case("hidden"))
    })
}

#[cfg(test)]
mod tests {
    use crate::tree::{Tag, Tree};

    #[test]
    fn the_first_of_repeated_attributes_counts() {
        let tree = Tree::parse("<p CLASS='a &amp; b' class=c data-x id=>x");
        let paragraph = tree.elements(Tag::P).next().unwrap();
        assert_eq!(tree.attribute(paragraph, "class").unwrap(), "a & b");
        assert_eq!(tree.attribute(paragraph, "data-x").unwrap(), "");
        assert_eq!(tree.attribute(paragraph, "none"), None);
        let names: Vec<_> = tree.attributes(paragraph).map(|attribute| attribute.name.into_owned()).collect();
        assert_eq!(names, ["class", "data-x", "id"]);
    }

    #[test]
    fn hidden_elements_are_recognised() {
        for (attributes, hidden) in [
            ("hidden", true),
            ("hidden=until-found", false),
            ("aria-hidden=TRUE", true),
            ("aria-hidden=false", false),
            ("style='color: red; DISPLAY : none !important'", true),
            ("style='visibility:hidden'", true),
            ("style='display:block'", false),
            ("style='/*display:none*/'", false),
            ("class=hidden", false),
            ("STYLE=display:none", true),
        ] {
            let page = format!("<div {attributes}>x</div>");
            let tree = Tree::parse(&page);
            let element = tree.elements(Tag::Div).next().unwrap();
            assert_eq!(tree.hidden(element), hidden, "{attributes}");
        }
    }
}
