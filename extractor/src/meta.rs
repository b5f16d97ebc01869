//! Metadata of a page: `<title>`, `<meta>`, `<link>`, `<time>` and JSON-LD.

mod byline;
mod date;
mod embedded;
mod fields;
mod graph;
mod json_ld;
mod names;
mod price;
mod product;
mod published;
mod title;

use std::borrow::Cow;

use crate::features::PageMetadata;
use crate::tree::{Tag, Tree};
#[cfg(feature = "rules")]
pub(crate) use date::parse_date;
pub(crate) use embedded::Continuation;
pub(crate) use json_ld::StructuredData;
pub(crate) use product::{Offers, Product, product_blocks};

/// The head of a page, read once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Head {
    /// `<title>`.
    pub title: String,
    /// `<meta>` by name, property or itemprop, in lower case, in the order of the page.
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
    pub structured: StructuredData,
}

/// Longer values are no metadata.
const MAX_VALUE: usize = 4096;

/// Nodes between two looks at whether the work was cancelled.
const NODES_PER_CHECK: usize = 1024;

/// The date of an article comes before those of comments and other articles.
const MAX_TIMES: usize = 4;

impl Head {
    /// Reads titles, metas, links and structured data, anywhere on the page.
    pub(crate) fn read(tree: &Tree<'_>) -> Head {
        let mut head = Head::default();
        // Only elements have a known tag.
        for node in tree.nodes() {
            if node.index().is_multiple_of(NODES_PER_CHECK) {
                crate::cancel::check();
            }
            match tree.tag(node) {
                Tag::Html => head.language = head.language.take().or_else(|| owned(tree.attribute(node, "lang"))),
                Tag::Title if head.title.is_empty() && tree.parent(node).is_some_and(|up| tree.tag(up) != Tag::Svg) => {
                    head.title = beginning(collapse(&tree.text_content(node)));
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
                    let content = tree.attribute(node, "content").or_else(|| tree.attribute(node, "value"));
                    if let (Some(name), Some(value)) = (name, owned(content)) {
                        head.metas.push((name.to_ascii_lowercase(), value));
                    }
                }
                Tag::Script => {
                    let is_json = |kind: Cow<'_, str>| kind.to_ascii_lowercase().contains("ld+json");
                    if tree.attribute(node, "type").is_some_and(is_json) {
                        head.structured.read(&tree.script_text(node));
                    }
                }
                _ => {}
            }
        }
        head
    }

    /// The value of the first of these metas that is present and not empty.
    pub(crate) fn meta(&self, names: &[&str]) -> Option<&str> {
        names.iter().find_map(|name| {
            self.metas.iter().find(|(key, value)| key == name && !value.is_empty()).map(|(_, value)| value.as_str())
        })
    }

    /// The metadata from which features are computed.
    pub(crate) fn page_metadata(&self, address: &str) -> PageMetadata {
        let declared = || self.canonical.as_deref().or_else(|| self.meta(&["og:url"])).unwrap_or("");
        PageMetadata {
            title: self.meta(&["og:title", "twitter:title"]).unwrap_or(&self.title).to_owned(),
            description: self
                .meta(&["og:description", "description", "twitter:description"])
                .unwrap_or_default()
                .to_owned(),
            body: self.structured.body.clone(),
            og_type: self.meta(&["og:type"]).unwrap_or_default().to_owned(),
            schema_types: self.structured.types.join(" "),
            url: if address.is_empty() { declared() } else { address }.to_owned(),
        }
    }
}

/// As much of a text as metadata may be long: what is compared with a title is compared with all of it.
fn beginning(mut text: String) -> String {
    let mut end = text.len().min(MAX_VALUE);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
    text
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
