//! What a page says about itself in its head: the raw material of metadata and evidence.

mod date;
mod fields;
mod json_ld;
mod state;

use std::borrow::Cow;

use crate::features::Evidence;
use crate::tree::{Tag, Tree};
pub(crate) use date::day;
pub(crate) use json_ld::Structured;

/// The head of a page, read once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Head {
    /// `<title>`.
    pub title: String,
    /// `<meta>` by name, property or itemprop, in small letters, in the order of the page.
    pub metas: Vec<(String, String)>,
    /// `<link rel=canonical>`.
    pub canonical: Option<String>,
    /// `<base href>`.
    pub base: Option<String>,
    /// `<html lang>`.
    pub language: Option<String>,
    /// `<time datetime>`, the first few.
    pub times: Vec<String>,
    /// JSON-LD.
    pub structured: Structured,
}

/// Longer values are no metadata.
const MAX_VALUE: usize = 4096;

/// The date of a piece stands before those of comments and other pieces.
const MAX_TIMES: usize = 4;

impl Head {
    /// Reads titles, metas, links and structured data, wherever on the page they stand.
    pub(crate) fn read(tree: &Tree<'_>) -> Head {
        let mut head = Head::default();
        // What is no element has no tag of a name.
        for node in tree.nodes() {
            match tree.tag(node) {
                Tag::Html => head.language = head.language.take().or_else(|| owned(tree.attribute(node, "lang"))),
                Tag::Title if head.title.is_empty() && tree.parent(node).is_some_and(|up| tree.tag(up) != Tag::Svg) => {
                    head.title = collapse(&tree.text_content(node));
                }
                Tag::Time if head.times.len() < MAX_TIMES => {
                    head.times.extend(owned(tree.attribute(node, "datetime")));
                }
                Tag::Base => head.base = head.base.take().or_else(|| owned(tree.attribute(node, "href"))),
                Tag::Link => {
                    let canonical = |rel: Cow<'_, str>| rel.eq_ignore_ascii_case("canonical");
                    if head.canonical.is_none() && tree.attribute(node, "rel").is_some_and(canonical) {
                        head.canonical = owned(tree.attribute(node, "href"));
                    }
                }
                Tag::Meta => {
                    let name = ["property", "name", "itemprop"].iter().find_map(|name| tree.attribute(node, name));
                    if let (Some(name), Some(value)) = (name, owned(tree.attribute(node, "content"))) {
                        head.metas.push((name.to_ascii_lowercase(), value));
                    }
                }
                Tag::Script => {
                    let is_json = |kind: Cow<'_, str>| kind.to_ascii_lowercase().contains("ld+json");
                    if tree.attribute(node, "type").is_some_and(is_json) {
                        head.structured.read(&tree.text_content(node));
                    }
                }
                _ => {}
            }
        }
        head
    }

    /// The value of the first of these metas that is there and says something.
    pub(crate) fn meta(&self, names: &[&str]) -> Option<&str> {
        names.iter().find_map(|name| {
            self.metas.iter().find(|(key, value)| key == name && !value.is_empty()).map(|(_, value)| value.as_str())
        })
    }

    /// What the classifier may compare blocks with.
    pub(crate) fn evidence(&self, address: &str) -> Evidence {
        let stated = || self.canonical.as_deref().or_else(|| self.meta(&["og:url"])).unwrap_or("");
        Evidence {
            title: self.meta(&["og:title", "twitter:title"]).unwrap_or(&self.title).to_owned(),
            description: self
                .meta(&["og:description", "description", "twitter:description"])
                .unwrap_or_default()
                .to_owned(),
            body: self.structured.body.clone(),
            kind: self.meta(&["og:type"]).unwrap_or_default().to_owned(),
            schema_types: self.structured.types.join(" "),
            address: if address.is_empty() { stated() } else { address }.to_owned(),
        }
    }
}

fn owned(value: Option<Cow<'_, str>>) -> Option<String> {
    let value = value?;
    let value = value.trim();
    (!value.is_empty() && value.len() <= MAX_VALUE).then(|| collapse(value))
}

/// White space collapsed, control characters gone.
pub(crate) fn collapse(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()) {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}
