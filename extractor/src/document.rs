//! [`Document`]: the result of extraction, and [`Options`]: its settings.

use std::sync::Arc;

use serde::{Serialize, Serializer};

use crate::{Method, Rules};

/// The main text, metadata and links of one page.
///
/// An empty `text` is an answer, not a failure: some pages carry no content of their own. Every document has the same
/// fields in the order of their declaration, null where a value is absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Document {
    /// BCP 47 tag of the main text (`en`, `pt`, `zh-Hant`), where it is known.
    pub language: Option<String>,
    /// The title of the piece, without the site's name.
    pub title: Option<String>,
    /// Who wrote it; several names are separated by `, `.
    pub author: Option<String>,
    /// The date of publication, `YYYY-MM-DD`.
    pub published: Option<String>,
    /// The name of the site.
    pub site: Option<String>,
    /// What kind of page it is.
    pub page_type: PageType,
    /// The F1 in words that the classifier expects of its choice of blocks, to three decimals. Nothing where it chose
    /// nothing: text files, whole pages, pages of sites with rules for their content.
    pub confidence: Option<f64>,
    /// Main content, paragraphs separated by a blank line.
    pub text: String,
    /// The sentences of the summary, in document order; empty unless asked for.
    pub summary: Vec<SummarySentence>,
    /// The ranking that made the summary.
    pub method: Option<String>,
    /// Which text the summary was made of: `main` or `page`.
    pub scope: Option<String>,
    /// Every link of the page to another page, in document order.
    pub links: Vec<Link>,
    /// How much text there is.
    pub counts: Counts,
    /// A description that the page gives of itself.
    pub description: Option<String>,
    /// The address that the page calls its own.
    pub canonical_url: Option<String>,
    /// The preview image of the page.
    pub image: Option<String>,
    /// What a product costs: a decimal number with a point.
    pub price: Option<String>,
    /// The ISO 4217 code of the price's currency.
    pub currency: Option<String>,
    /// Who makes a product.
    pub brand: Option<String>,
    /// The number of a product in its shop.
    pub sku: Option<String>,
    /// Main content as Markdown; empty, and null in JSON, unless asked for.
    #[serde(serialize_with = "null_if_empty")]
    pub markdown: String,
    /// The page hit a bound (bytes, nodes, attributes, work), so that its end is missing, or not in the summary.
    pub truncated: bool,
    /// The page says nothing but that there is none: an error of the server, an address without a page, a check of its
    /// visitors. Not serialized: such a page becomes no document of a shard.
    #[serde(skip)]
    pub error_page: bool,
}

fn null_if_empty<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    if text.is_empty() { serializer.serialize_none() } else { serializer.serialize_str(text) }
}

/// One sentence of a summary.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SummarySentence {
    /// The sentence as it is in the text.
    pub text: String,
    /// Its score in the ranking.
    pub score: f64,
    /// Its number among the sentences of the text, from 0.
    pub position: usize,
}

/// One link of a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Link {
    /// The target, absolute where the page's address or its `<base>` allows.
    pub url: String,
    /// What the reader sees of it.
    pub text: String,
    /// Whether it is in the main content.
    pub main: bool,
}

/// Sizes of the main text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Unicode characters.
    pub characters: usize,
    /// Words; in scripts without spaces every character counts as one.
    pub words: usize,
    /// Sentences.
    pub sentences: usize,
}

/// What kind of page it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PageType {
    /// One text by one author: news, essays, encyclopedia entries.
    #[default]
    Article,
    /// Posts of many authors on one topic: threads, questions and answers.
    Forum,
    /// One product.
    Product,
    /// Teasers of other pages: front pages, search results, tables of items.
    Listing,
    /// Many products or items: categories of a shop, galleries.
    Collection,
    /// Documentation: manuals, references.
    Documentation,
    /// An offer of services: companies, landing pages.
    Service,
}

impl PageType {
    /// Every kind, in the order of the enum.
    pub const ALL: [PageType; 7] = [
        PageType::Article,
        PageType::Forum,
        PageType::Product,
        PageType::Listing,
        PageType::Collection,
        PageType::Documentation,
        PageType::Service,
    ];

    /// The name as it is written in documents.
    pub fn name(self) -> &'static str {
        match self {
            PageType::Article => "article",
            PageType::Forum => "forum",
            PageType::Product => "product",
            PageType::Listing => "listing",
            PageType::Collection => "collection",
            PageType::Documentation => "documentation",
            PageType::Service => "service",
        }
    }
}

/// How comments and answers of readers are treated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Comments {
    /// As learned from gold pages, where the posts of forums are content and comments below an article seldom are.
    #[default]
    ByPageType,
    /// Kept everywhere.
    Keep,
    /// Dropped everywhere.
    Drop,
}

/// What is more important where the classifier is in doubt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Favor {
    /// Both: the best expected F1.
    #[default]
    Balance,
    /// That what is kept is content: of the thresholds that are expected to do nearly as well, the highest.
    Precision,
    /// That all content is kept: of those thresholds, the lowest.
    Recall,
}

impl Favor {
    /// The name in settings.
    pub fn name(self) -> &'static str {
        match self {
            Favor::Balance => "balance",
            Favor::Precision => "precision",
            Favor::Recall => "recall",
        }
    }
}

/// Which text of a page is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// The main content.
    #[default]
    Main,
    /// Everything that a walk over the page's tags finds: paragraphs, headings, links, spans and divisions.
    Page,
}

impl Scope {
    /// The name as it is written in documents.
    pub fn name(self) -> &'static str {
        match self {
            Scope::Main => "main",
            Scope::Page => "page",
        }
    }
}

/// The settings of extraction. The defaults are the program's defaults, but for the summary, which costs time and is
/// left out here.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The `Content-Type` header of the answer, where there was one: it may name the character encoding.
    pub content_type: Option<String>,
    /// What is more important where the classifier is in doubt.
    pub favor: Favor,
    /// How comments of readers are treated.
    pub comments: Comments,
    /// Also write the main content as Markdown.
    pub markdown: bool,
    /// Write Markdown without the addresses of links; their text stays.
    pub omit_links: bool,
    /// Write Markdown without images.
    pub omit_images: bool,
    /// Selectors for the sites that need them; all others are left to the classifier.
    pub rules: Option<Arc<Rules>>,
    /// Which text is taken, and summarized.
    pub scope: Scope,
    /// The ranking of the summary.
    pub method: Method,
    /// Sentences in the summary, [`Options::PROGRAM_SENTENCES`] in the program; zero leaves it out.
    pub sentences: usize,
}

impl Options {
    /// The sentences of a summary unless the program is told otherwise.
    pub const PROGRAM_SENTENCES: usize = 3;
}
