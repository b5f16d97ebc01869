//! A page of HTML becomes a [`Document`]: blocks, classifiers, rules, text and metadata.

use url::Url;

use crate::blocks::lexicon::Role;
use crate::blocks::{Page, Pieces};
use crate::error_page::is_error_page;
use crate::features::PageMetadata;
use crate::links::{base_url, is_web, links};
use crate::markdown::{Markup, markdown};
use crate::meta::{Continuation, Head, Offers, Product, product_blocks};
use crate::model::{MODEL, Model};
use crate::select::{confidence_features, is_confident, select_blocks};
use crate::tree::{NodeId, Tree};
use crate::{
    Comments, Counts, Document, Favor, Language, Options, PageType, cancel, charset, count_words, split_sentences, text,
};

/// A parsed page: its blocks and its metadata, from which features and documents are made.
#[derive(Debug)]
pub struct ParsedPage<'a> {
    /// The blocks and what surrounds them.
    pub page: Page<'a>,
    /// The metadata that features are computed from.
    pub metadata: PageMetadata,
    pub(crate) head: Head,
}

impl<'a> ParsedPage<'a> {
    /// Parses a page; `url` may be empty.
    pub fn parse(html: &'a str, url: &str) -> ParsedPage<'a> {
        ParsedPage::read_without(Tree::parse(html), url, &[], Pieces::Omitted)
    }

    /// Reads a tree as if these nodes, in document order, were not there.
    fn read_without(tree: Tree<'a>, url: &str, dropped: &[NodeId], pieces: Pieces) -> ParsedPage<'a> {
        let head = Head::read(&tree);
        let metadata = head.page_metadata(url);
        ParsedPage { page: Page::read_without(tree, dropped, pieces), metadata, head }
    }

    /// Which blocks are main content, and what kind of page it is.
    pub fn classify(&self, model: &Model, favor: Favor) -> Classified {
        let probabilities = self.probabilities(model);
        let Probabilities { blocks, types } = &probabilities;
        let kept = select_blocks(&self.page, blocks, types, &model.thresholds, favor);
        let confidence = model.confidence.expected_f1(&confidence_features(&self.page, blocks, &kept, types));
        Classified { kept, page_type: probabilities.page_type(), confidence }
    }

    /// The probability of each block to be content, and of each page type.
    fn probabilities(&self, model: &Model) -> Probabilities {
        let mut matrix = model.matrix(&self.page, &self.metadata);
        let types = model.type_probabilities(&matrix);
        matrix.push_types(&types);
        let blocks = model.block_probabilities(&matrix, |blocks| is_confident(&self.page, blocks));
        Probabilities { blocks, types }
    }

    /// The kept blocks as plain text, with the rest from the page's data where it shows only the beginning. Where none is
    /// kept, the text that the page embeds as data.
    pub fn text(&self, kept: &[bool]) -> String {
        if !kept.contains(&true) {
            return self.embedded_text();
        }
        let mut text = text::plain(&self.page, kept);
        if let Some(continuation) = self.continuation(kept) {
            continuation.append_to(&mut text);
        }
        text
    }

    /// How the kept text goes on in the page's data.
    fn continuation(&self, kept: &[bool]) -> Option<Continuation> {
        self.head.continuation(&self.page, kept)
    }

    /// The text that the page embeds as data.
    fn embedded_text(&self) -> String {
        self.head.embedded_text(&self.page.tree)
    }
}

/// What the classifiers decide about a page.
#[derive(Clone, Debug)]
pub struct Classified {
    /// For each block whether it is main content.
    pub kept: Vec<bool>,
    /// The most likely page type.
    pub page_type: PageType,
    /// The expected F1 in words of what is kept.
    pub confidence: f32,
}

/// The output of the classifiers for a page.
struct Probabilities {
    blocks: Vec<f32>,
    types: Vec<f32>,
}

impl Probabilities {
    /// The most likely page type.
    fn page_type(&self) -> PageType {
        if self.blocks.is_empty() {
            return PageType::default();
        }
        let best = (0..self.types.len()).max_by(|a, b| self.types[*a].total_cmp(&self.types[*b]).then(b.cmp(a)));
        best.and_then(|index| PageType::ALL.get(index).copied()).unwrap_or_default()
    }
}

/// The main content, metadata and links of a page.
pub(crate) fn main_content(html: &[u8], url: Option<&Url>, options: &Options) -> Document {
    cancel::check();
    let decoded = charset::decode(html, options.content_type.as_deref());
    let tree = Tree::parse(&decoded.text);
    let site = options.rules.as_deref().zip(url).and_then(|(rules, url)| rules.site(url));
    let matches = site.map(|site| site.find(&tree)).unwrap_or_default();
    let pieces = if options.markdown { Pieces::Recorded } else { Pieces::Omitted };
    let parsed = ParsedPage::read_without(tree, url.map_or("", Url::as_str), &matches.dropped, pieces);
    let Classified { mut kept, page_type, confidence } = parsed.classify(&MODEL, options.favor);
    cancel::check();
    // Embedded data is used only where the classifier keeps nothing, not where options or rules drop everything.
    let embedded = if kept.contains(&true) { String::new() } else { parsed.embedded_text() };
    apply_comments(&parsed.page, options.comments, &mut kept);
    let is_chosen_by_rules = matches.keep_content(&parsed.page, &mut kept);
    let product = product(&parsed, page_type, &mut kept);
    // Rules say what the content is, and what it is not.
    let continuation = if is_chosen_by_rules { None } else { parsed.continuation(&kept) };
    let mut text = if kept.contains(&true) { text::plain(&parsed.page, &kept) } else { embedded };
    if let Some(continuation) = &continuation {
        continuation.append_to(&mut text);
    }
    let text = text::without_controls(text);
    cancel::check();
    let language = Language::of_page(&text, parsed.head.declared_language());
    let counts = Counts {
        characters: text.chars().count(),
        words: count_words(&text),
        sentences: split_sentences(&text, language).count(),
    };
    let mut document = Document {
        language: language.map(|language| language.tag().to_owned()),
        page_type,
        confidence: (!is_chosen_by_rules).then(|| f64::from((confidence * 1000.0).round()) / 1000.0),
        counts,
        links: links(&parsed.page, &kept, url, parsed.head.base.as_deref()),
        truncated: parsed.page.tree.truncated() || parsed.page.truncated,
        markdown: match options.markdown {
            // Embedded text has no markup.
            true if !kept.contains(&true) => text.clone(),
            true => {
                // From the place of a file nothing leads to the web: its addresses stay as they are written.
                let base = base_url(url, parsed.head.base.as_deref()).filter(is_web);
                let markup = Markup { base: base.as_ref(), links: !options.omit_links, images: !options.omit_images };
                let mut written = markdown(&parsed.page, &kept, markup);
                if let Some(continuation) = &continuation {
                    written.truncate(written.trim_end().len());
                    continuation.append_to(&mut written);
                }
                text::without_controls(written)
            }
            false => String::new(),
        },
        text,
        ..Document::default()
    };
    if let Some(product) = product {
        let price = product.prices.into_iter().next();
        if let Some(price) = price {
            (document.price, document.currency) = (Some(price.amount), price.currency);
        }
        (document.brand, document.sku) = (product.brand, product.sku);
    }
    cancel::check();
    parsed.head.fill_metadata(&parsed.page, url, &mut document);
    document.title = matches.title.or(document.title);
    document.author = matches.author.or(document.author);
    document.published = matches.published.or(document.published);
    document.error_page = is_error_page(document.title.as_deref(), &document.text, document.counts.words);
    document
}

/// The product of a page. Of a page that is one, the block with the price is kept where no kept block shows it.
fn product(parsed: &ParsedPage<'_>, page_type: PageType, kept: &mut [bool]) -> Option<Product> {
    let is_product = page_type == PageType::Product || names_product(&parsed.metadata.url);
    let product = parsed.head.product(&parsed.page, if is_product { Offers::Classified } else { Offers::Declared })?;
    if is_product && kept.contains(&true) {
        let blocks = product_blocks(&parsed.page, &parsed.head, &product);
        let shows = |index: usize| blocks.iter().any(|block| same_text(&parsed.page, *block, index));
        if !(0..kept.len()).any(|index| kept[index] && shows(index)) {
            blocks.iter().for_each(|block| kept[*block] = true);
        }
    }
    Some(product)
}

/// Whether an address leads to one product, as `/product/lamp` does.
fn names_product(address: &str) -> bool {
    const NAMES: [&str; 7] = ["product", "products", "product-detail", "produkt", "dp", "item", "deal"];
    let path = address.split_once("://").map_or(address, |(_, rest)| rest);
    let segments: Vec<&str> = path.split(['?', '#']).next().unwrap_or_default().split('/').take(10).collect();
    segments.windows(2).any(|pair| NAMES.contains(&pair[0]) && !pair[1].is_empty())
}

/// Whether the text of one block is in the other.
fn same_text(page: &Page<'_>, block: usize, other: usize) -> bool {
    page.block_text(&page.blocks[other]).contains(page.block_text(&page.blocks[block]))
}

/// Keeps or drops the blocks inside comment elements, where the caller asks for it.
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
    use crate::extract;

    #[test]
    fn embedded_text_is_also_the_markdown() {
        let html = r#"<div id=app></div><script type=application/json>["It rained all day in the town, and nobody went out until it was dark."]</script>"#;
        let options = Options { markdown: true, ..Options::default() };
        let document = extract(html.as_bytes(), None, &options);
        assert_eq!(document.text, "It rained all day in the town, and nobody went out until it was dark.");
        assert_eq!(document.markdown, document.text);
    }

    #[test]
    fn the_addresses_on_a_saved_page_stay_as_they_are_written() {
        let html = "<h1>Rain</h1><p>It rained all day in the town, and <a href=sun.html>nobody</a> went out until it was dark.";
        let options = Options { markdown: true, ..Options::default() };
        let of = |url: &str| extract(html.as_bytes(), Url::parse(url).ok().as_ref(), &options).markdown;
        assert!(of("file:///home/rain.html").contains("[nobody](sun.html)"), "{}", of("file:///home/rain.html"));
        assert!(of("https://example.com/rain.html").contains("[nobody](https://example.com/sun.html)"));
    }

    #[test]
    fn embedded_text_does_not_come_back_for_blocks_dropped_on_purpose() {
        let html = r#"<div class=comment><p>It rained all day in the town, and nobody went out until it was dark. \
            The river rose to the bridge, and the market was closed for the first time in years.</div>\
            <script type=application/json>["It snowed all day in the town, and nobody went out until it was dark."]</script>"#;
        let text = |comments| extract(html.as_bytes(), None, &Options { comments, ..Options::default() }).text;
        assert!(text(Comments::Keep).contains("rained"));
        assert_eq!(text(Comments::Drop), "");
    }
}
