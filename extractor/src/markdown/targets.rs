//! The addresses of links and images, as they are written in Markdown.

use std::borrow::Cow;
use std::collections::HashMap;

use url::Url;

use super::escape::is_reference;
use crate::links::{Base, trim};
use crate::tree::{NodeId, Tree, decode_value};

/// Longer addresses are left out: most of them hold data.
const MAX_LENGTH: usize = 2048;

/// No address of that length is longer before its character references are resolved, unless it is all references.
const MAX_RAW_LENGTH: usize = 4 * MAX_LENGTH;

/// Resolves addresses, and remembers those of links that have been asked for.
pub(super) struct Targets<'t, 'a> {
    tree: &'t Tree<'a>,
    base: Base<'t>,
    has_base: bool,
    /// The addresses of the links in the run that is being written; nothing where a link leads nowhere.
    links: HashMap<NodeId, Option<String>>,
    /// How many bytes of addresses may still be written: relative ones grow by the length of their base.
    budget: usize,
}

impl<'t, 'a> Targets<'t, 'a> {
    pub(super) fn new(tree: &'t Tree<'a>, base: Option<&'t Url>) -> Self {
        let budget = 4 * tree.source().len() + (1 << 16);
        Targets { tree, base: Base::new(base), has_base: base.is_some(), links: HashMap::new(), budget }
    }

    /// Forgets the links of the last run.
    pub(super) fn begin_run(&mut self) {
        self.links.clear();
    }

    /// Whether a link leads to an address.
    pub(super) fn has_link(&mut self, link: NodeId) -> bool {
        if let Some(known) = self.links.get(&link) {
            return known.is_some();
        }
        let [href] = self.tree.find_raw(link, ["href"]);
        // A link may be around many runs of text, and what is too long is not decoded for each.
        let href = href.filter(|href| href.len() <= MAX_RAW_LENGTH);
        let target = href.and_then(|href| self.resolve(&decode_value(href)));
        let found = target.is_some();
        self.links.insert(link, target);
        found
    }

    /// The address of a link that has one.
    pub(super) fn of_link(&self, link: NodeId) -> &str {
        self.links.get(&link).and_then(Option::as_deref).unwrap_or_default()
    }

    /// The address of an image. Pages that load images late keep it elsewhere.
    pub(super) fn of_image(&mut self, image: NodeId) -> Option<String> {
        let names = ["src", "data-src", "data-original", "data-lazy-src", "width", "height"];
        let [src, sources @ .., width, height] = self.tree.find_raw(image, names);
        let is_dot = |size: Option<&str>| size.is_some_and(|size| matches!(size.trim(), "0" | "1" | "2" | "1px"));
        if is_dot(width) || is_dot(height) || self.tree.hidden(image) {
            return None;
        }
        let sources = [src].into_iter().chain(sources).flatten();
        sources.filter(|source| !source.starts_with("data:")).find_map(|source| self.resolve(&decode_value(source)))
    }

    /// An address as it may be written in parentheses; nothing for places in the page and for what is no address.
    fn resolve(&mut self, target: &str) -> Option<String> {
        let target = trim(target);
        if target.is_empty() || target.len() > MAX_LENGTH || target.starts_with('#') {
            return None;
        }
        let resolved = match scheme(target) {
            Some("http" | "https") => self.base.resolve(target)?,
            Some("mailto" | "tel" | "ftp") => target.to_owned(),
            Some(_) => return None,
            None if self.has_base => self.base.resolve(target)?,
            None => target.to_owned(),
        };
        let encoded = encode(&resolved);
        self.budget = self.budget.checked_sub(encoded.len())?;
        Some(encoded)
    }
}

/// The scheme of an absolute address in lower case, where it is a known one; `Some("")` for all others.
fn scheme(target: &str) -> Option<&'static str> {
    let (scheme, _) = target.split_once(':')?;
    if scheme.is_empty() || scheme.contains(['/', '?', '#']) {
        return None;
    }
    let known = ["http", "https", "mailto", "tel", "ftp"].into_iter().find(|known| scheme.eq_ignore_ascii_case(known));
    // `a b:c` is no scheme, but nothing good either.
    Some(known.unwrap_or(""))
}

/// An address without the characters that would end it or mean something else.
fn encode(target: &str) -> String {
    let balanced = has_balanced_parentheses(target);
    let mut encoded = String::with_capacity(target.len());
    for (at, character) in target.char_indices() {
        let replacement = match character {
            '<' => "%3C",
            '>' => "%3E",
            '\\' => "%5C",
            '|' => "%7C",
            '`' => "%60",
            '"' => "%22",
            '(' if !balanced => "%28",
            ')' if !balanced => "%29",
            '&' if is_reference(&target.as_bytes()[at + 1..]) => "&amp;",
            character if character.is_whitespace() || character.is_control() => "%20",
            _ => {
                encoded.push(character);
                continue;
            }
        };
        encoded.push_str(replacement);
    }
    encoded
}

fn has_balanced_parentheses(target: &str) -> bool {
    let (mut depth, mut deepest) = (0i32, 0);
    for byte in target.bytes() {
        depth += i32::from(byte == b'(') - i32::from(byte == b')');
        deepest = deepest.max(depth);
        if depth < 0 {
            return false;
        }
    }
    depth == 0 && deepest <= 3
}

/// The text for an image, white space collapsed.
pub(super) fn alternative<'a>(tree: &Tree<'a>, image: NodeId) -> Cow<'a, str> {
    let alt = tree.attribute(image, "alt").unwrap_or_default();
    if alt.chars().any(|character| character.is_whitespace() && character != ' ') || alt.contains("  ") {
        return Cow::Owned(crate::meta::collapse(&alt));
    }
    alt
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(href: &str, base: Option<&str>, expected: Option<&str>) {
        let html = format!("<a href=\"{href}\">x</a>");
        let tree = Tree::parse(&html);
        let base = base.map(|base| Url::parse(base).unwrap());
        let mut targets = Targets::new(&tree, base.as_ref());
        let link = tree.elements(crate::tree::Tag::A).next().unwrap();
        assert_eq!(targets.has_link(link).then(|| targets.of_link(link)), expected, "{href}");
    }

    #[test]
    fn addresses_are_resolved_and_made_safe() {
        let base = Some("https://example.com/a/b");
        check("c?d=1&amp;e=2", base, Some("https://example.com/a/c?d=1&e=2"));
        check("c", None, Some("c"));
        check("#top", base, None);
        check("javascript:alert(1)", base, None);
        check("JavaScript:alert(1)", None, None);
        check("data:text/html,x", base, None);
        check("mailto:a@b.c", base, Some("mailto:a@b.c"));
        check("/wiki/Rust_(band)", base, Some("https://example.com/wiki/Rust_(band)"));
        check("/a)b", base, Some("https://example.com/a%29b"));
        check("/a b|c", None, Some("/a%20b%7Cc"));
        check("/?a&amp;copy;b", None, Some("/?a&amp;copy;b"));
    }
}
