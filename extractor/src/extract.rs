//! A page becomes a [`Document`].

use url::Url;

use crate::blocks::Page;
use crate::features::{Evidence, Matrix};
use crate::meta::Head;
use crate::model::{MODEL, Model};
use crate::tree::Tree;
use crate::{Counts, Document, Language, Options, PageType, charset, choose, count_words, split_sentences, text};

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
        let tree = Tree::parse(html);
        let head = Head::read(&tree);
        let evidence = head.evidence(address);
        Reading { page: Page::read(tree), evidence, head }
    }

    /// For each block whether it is content, and the kind of page.
    pub fn judge(&self, model: &Model) -> (Vec<bool>, PageType) {
        let matrix = Matrix::of(&self.page, &self.evidence, &model.names);
        let Some((blocks, types)) = model.ensembles.split_first() else {
            return (vec![true; self.page.blocks.len()], PageType::default());
        };
        let kept = choose(&self.page, &blocks.probabilities(&matrix));
        (kept, page_type(types, &matrix))
    }

    /// The blocks chosen, as plain text.
    pub fn text(&self, kept: &[bool]) -> String {
        text::plain(&self.page, kept)
    }
}

fn page_type(ensembles: &[crate::model::Ensemble], matrix: &Matrix) -> PageType {
    if matrix.n_blocks() == 0 {
        return PageType::default();
    }
    let probability = |index: usize| ensembles[index].page_probability(matrix);
    let best = (0..ensembles.len()).max_by(|a, b| probability(*a).total_cmp(&probability(*b)).then(b.cmp(a)));
    best.and_then(|index| PageType::ALL.get(index).copied()).unwrap_or_default()
}

/// Reads a page: main content, metadata and links.
///
/// Any bytes are a page. Time and memory are proportional to its length; what goes beyond a bound is left out, and
/// `truncated` tells.
pub fn extract(html: &[u8], url: Option<&Url>, options: &Options) -> Document {
    let decoded = charset::decode(html, options.content_type.as_deref());
    let reading = Reading::of(&decoded.text, url.map_or("", Url::as_str));
    let (kept, page_type) = reading.judge(&MODEL);
    let text = reading.text(&kept);
    let language = Language::of(&text);
    let counts = Counts {
        characters: text.chars().count(),
        words: count_words(&text),
        sentences: split_sentences(&text, language).count(),
    };
    Document {
        language: language.map(|language| language.tag().to_owned()),
        title: Some(reading.head.title.clone()).filter(|title| !title.is_empty()),
        page_type,
        counts,
        truncated: reading.page.tree.truncated(),
        text,
        ..Document::default()
    }
}
