//! A page becomes a [`Document`].

use url::Url;

use crate::blocks::Page;
use crate::blocks::lexicon::Role;
use crate::choose::is_sure;
use crate::features::Evidence;
use crate::links::links;
use crate::markdown::markdown;
use crate::meta::Head;
use crate::model::{MODEL, Model};
use crate::tree::{NodeId, Tree};
use crate::{
    Comments, Counts, Document, Language, Options, PageType, charset, choose, count_words, split_sentences, text,
};

/// A page on its way to a document: parsed, cut into blocks, with what it says about itself.
#[derive(Debug)]
pub struct Reading<'a> {
    /// The blocks and what surrounds them.
    pub page: Page<'a>,
    /// What the page says about itself.
    pub evidence: Evidence,
    pub(crate) head: Head,
}

impl<'a> Reading<'a> {
    /// Parses a page; `address` may be empty.
    pub fn of(html: &'a str, address: &str) -> Reading<'a> {
        Reading::without(Tree::parse(html), address, &[])
    }

    /// Reads a parsed page as if these nodes, in document order, were not there.
    fn without(tree: Tree<'a>, address: &str, dropped: &[NodeId]) -> Reading<'a> {
        let head = Head::read(&tree);
        let evidence = head.evidence(address);
        Reading { page: Page::read_without(tree, dropped), evidence, head }
    }

    /// For each block whether it is content, and the kind of page.
    pub fn judge(&self, model: &Model) -> (Vec<bool>, PageType) {
        let probabilities = self.probabilities(model);
        (choose(&self.page, &probabilities.blocks, &probabilities.types, &model.thresholds), probabilities.page_type())
    }

    /// How likely each block is content, and each kind of page.
    fn probabilities(&self, model: &Model) -> Probabilities {
        let mut matrix = model.matrix(&self.page, &self.evidence);
        let types = model.type_probabilities(&matrix);
        matrix.push_types(&types);
        let blocks = model.block_probabilities(&matrix, |blocks| is_sure(&self.page, blocks));
        Probabilities { blocks, types }
    }

    /// The blocks chosen, as plain text. Where a page shows none and holds its text as data, that.
    pub fn text(&self, kept: &[bool]) -> String {
        if kept.contains(&true) { text::plain(&self.page, kept) } else { self.stated_text() }
    }

    /// The text that the page holds as data.
    fn stated_text(&self) -> String {
        self.head.stated_text(&self.page.tree)
    }
}

/// What the model believes about a page.
struct Probabilities {
    blocks: Vec<f32>,
    types: Vec<f32>,
}

impl Probabilities {
    /// The most likely kind of page.
    fn page_type(&self) -> PageType {
        if self.blocks.is_empty() {
            return PageType::default();
        }
        let best = (0..self.types.len()).max_by(|a, b| self.types[*a].total_cmp(&self.types[*b]).then(b.cmp(a)));
        best.and_then(|index| PageType::ALL.get(index).copied()).unwrap_or_default()
    }
}

/// Reads a page: main content, metadata and links.
///
/// Any bytes are a page. Time and memory are proportional to its length; what goes beyond a bound is left out, and
/// `truncated` tells.
pub fn extract(html: &[u8], url: Option<&Url>, options: &Options) -> Document {
    let decoded = charset::decode(html, options.content_type.as_deref());
    let tree = Tree::parse(&decoded.text);
    let site = options.rules.as_deref().zip(url).and_then(|(rules, url)| rules.site(url));
    let found = site.map(|site| site.find(&tree)).unwrap_or_default();
    let reading = Reading::without(tree, url.map_or("", Url::as_str), &found.dropped);
    let (mut kept, page_type) = reading.judge(&MODEL);
    // Whoever drops all that a page shows gets nothing; only what shows nothing is looked at more closely.
    let stated = if kept.contains(&true) { String::new() } else { reading.stated_text() };
    apply_comments(&reading.page, options.comments, &mut kept);
    found.choose(&reading.page, &mut kept);
    let text = if kept.contains(&true) { text::plain(&reading.page, &kept) } else { stated };
    let text = text::without_controls(text);
    let language = Language::of(&text);
    let counts = Counts {
        characters: text.chars().count(),
        words: count_words(&text),
        sentences: split_sentences(&text, language).count(),
    };
    let mut document = Document {
        language: language.map(|language| language.tag().to_owned()),
        page_type,
        counts,
        links: links(&reading.page, &kept, url, reading.head.base.as_deref()),
        truncated: reading.page.tree.truncated() || reading.page.truncated,
        markdown: match options.markdown {
            // Text that was held as data has no markup.
            true if !kept.contains(&true) => text.clone(),
            true => text::without_controls(markdown(&reading.page, &kept)),
            false => String::new(),
        },
        text,
        ..Document::default()
    };
    reading.head.describe(&reading.page, url, &mut document);
    document.title = found.title.or(document.title);
    document.author = found.author.or(document.author);
    document.published = found.published.or(document.published);
    document
}

/// Keeps or drops what stands in elements that call themselves comments, where the caller insists.
fn apply_comments(page: &Page<'_>, comments: Comments, kept: &mut [bool]) {
    let keep = match comments {
        Comments::ByPageType => return,
        Comments::Keep => true,
        Comments::Drop => false,
    };
    let inside = page.inside(Role::Comment);
    for (block, kept) in page.blocks.iter().zip(kept) {
        if inside[block.element as usize] {
            *kept = keep && (*kept || block.n_words() >= 4);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_held_as_data_is_also_the_markdown() {
        let html = r#"<div id=app></div><script type=application/json>["It rained all day in the town, and nobody went out until it was dark."]</script>"#;
        let options = Options { markdown: true, ..Options::default() };
        let document = extract(html.as_bytes(), None, &options);
        assert_eq!(document.text, "It rained all day in the town, and nobody went out until it was dark.");
        assert_eq!(document.markdown, document.text);
    }

    #[test]
    fn text_held_as_data_does_not_come_back_for_blocks_dropped_on_purpose() {
        let html = r#"<article class=comment><p>It rained all day in the town, and nobody went out until it was dark. \
            The river rose to the bridge, and the market was closed for the first time in years.</article>\
            <script type=application/json>["It snowed all day in the town, and nobody went out until it was dark."]</script>"#;
        let text = |comments| extract(html.as_bytes(), None, &Options { comments, ..Options::default() }).text;
        assert!(text(Comments::Keep).contains("rained"));
        assert_eq!(text(Comments::Drop), "");
    }
}
