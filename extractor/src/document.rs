//! [`Document`]: what a page is worth keeping for, and [`Options`]: what a caller may choose.

use std::sync::Arc;

use serde::Serialize;

use crate::Rules;

/// One page, read: its main text, what it says about itself, and where it points.
///
/// An empty `text` is an answer, not a failure: some pages carry no content of their own. Fields are serialized in
/// the order in which they stand here.
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
    /// Main content, paragraphs separated by a blank line.
    pub text: String,
    /// The sentences that say the most, in document order; empty unless asked for.
    pub summary: Vec<SummarySentence>,
    /// The ranking that made the summary.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// Which text the summary was made of: `main` or `page`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// Every link of the page with a target worth following, in document order.
    pub links: Vec<Link>,
    /// How much text there is.
    pub counts: Counts,
    /// A description that the page gives of itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The address that the page calls its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub canonical_url: Option<String>,
    /// The picture that stands for the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// Main content as Markdown; empty unless asked for.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub markdown: String,
    /// The page hit a bound (nodes, attributes, work), so that its end is missing.
    #[serde(skip_serializing_if = "is_false")]
    pub truncated: bool,
}

fn is_false(value: &bool) -> bool {
    !value
}

/// One sentence of a summary.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SummarySentence {
    /// The sentence as it stands in the text.
    pub text: String,
    /// What the ranking gave it.
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
    /// Whether it stands in the main content.
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
    /// One text by one voice: news, essays, encyclopedia entries.
    #[default]
    Article,
    /// Many voices on one topic: threads, questions and answers.
    Forum,
    /// One thing to buy.
    Product,
    /// Teasers of other pages: front pages, search results, tables of items.
    Listing,
    /// Many things to choose from: categories of a shop, galleries.
    Collection,
    /// How something works: manuals, references.
    Documentation,
    /// What somebody offers: companies, landing pages.
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

    /// The name as it stands in documents.
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

/// What becomes of readers' comments and answers.
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

/// What a caller may choose. The defaults are the program's defaults.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The `Content-Type` header of the answer, where there was one: it may name the character encoding.
    pub content_type: Option<String>,
    /// What becomes of readers' comments.
    pub comments: Comments,
    /// Also write the main content as Markdown.
    pub markdown: bool,
    /// Selectors for the sites that need them; all others are read the general way.
    pub rules: Option<Arc<Rules>>,
}
