//! `Document` and what it is made of.

use pith::PageDocument;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// One sentence of a summary.
#[pyclass(frozen, get_all, module = "pith", eq)]
#[derive(PartialEq)]
pub struct Sentence {
    /// The sentence as it is in the text.
    text: String,
    /// Its score in the ranking.
    score: f64,
    /// Its number among the sentences of the text, from 0.
    position: usize,
}

impl From<&pith_extractor::SummarySentence> for Sentence {
    fn from(sentence: &pith_extractor::SummarySentence) -> Sentence {
        Sentence { text: sentence.text.clone(), score: sentence.score, position: sentence.position }
    }
}

#[pymethods]
impl Sentence {
    fn __repr__(&self) -> String {
        format!("Sentence({:?}, score={:.3}, position={})", self.text, self.score, self.position)
    }

    fn __str__(&self) -> &str {
        &self.text
    }
}

/// One link of a page.
#[pyclass(frozen, get_all, module = "pith", eq)]
#[derive(PartialEq)]
pub struct Link {
    /// The target, absolute where the address of the page or its `<base>` allows.
    url: String,
    /// What the reader sees of it.
    text: String,
    /// Whether it is in the main content.
    main: bool,
}

#[pymethods]
impl Link {
    fn __repr__(&self) -> String {
        format!("Link({:?}, {:?}, main={})", self.url, self.text, if self.main { "True" } else { "False" })
    }
}

/// Sizes of a text.
#[pyclass(frozen, get_all, module = "pith", eq)]
#[derive(PartialEq)]
pub struct Counts {
    /// Unicode characters.
    characters: usize,
    /// Words; in scripts without spaces every character counts as one.
    words: usize,
    /// Sentences.
    sentences: usize,
}

#[pymethods]
impl Counts {
    fn __repr__(&self) -> String {
        format!("Counts(characters={}, words={}, sentences={})", self.characters, self.words, self.sentences)
    }
}

/// The main text, metadata and links of one page.
#[pyclass(frozen, module = "pith", eq)]
#[derive(PartialEq)]
pub struct Document {
    page: PageDocument,
    error: Option<&'static str>,
}

impl Document {
    pub fn new(page: PageDocument) -> Document {
        Document { page, error: None }
    }

    /// What stands for a page that was given up.
    pub fn failed(page: PageDocument, error: &'static str) -> Document {
        Document { page, error: Some(error) }
    }
}

#[pymethods]
impl Document {
    /// The name of the document: the same for the same page of the same file, in every run.
    #[getter]
    fn id(&self) -> &str {
        &self.page.id
    }

    /// The address of the page; empty where none was given.
    #[getter]
    fn url(&self) -> &str {
        &self.page.url
    }

    /// When the page was fetched, where an archive tells.
    #[getter]
    fn fetched_at(&self) -> Option<&str> {
        self.page.fetched_at.as_deref()
    }

    /// BCP 47 tag of the main text (`en`, `pt`, `zh-Hant`), where it is known.
    #[getter]
    fn language(&self) -> Option<&str> {
        self.page.document.language.as_deref()
    }

    /// The title of the piece, without the name of the site.
    #[getter]
    fn title(&self) -> Option<&str> {
        self.page.document.title.as_deref()
    }

    /// Who wrote it; several names are separated by `, `.
    #[getter]
    fn author(&self) -> Option<&str> {
        self.page.document.author.as_deref()
    }

    /// The date of publication, `YYYY-MM-DD`.
    #[getter]
    fn published(&self) -> Option<&str> {
        self.page.document.published.as_deref()
    }

    /// The name of the site.
    #[getter]
    fn site(&self) -> Option<&str> {
        self.page.document.site.as_deref()
    }

    /// What kind of page it is: `article`, `forum`, `product`, `listing`, `collection`, `documentation`, `service`.
    #[getter]
    fn page_type(&self) -> &'static str {
        self.page.document.page_type.name()
    }

    /// The F1 in words that the classifier expects of its choice; `None` where it chose nothing.
    #[getter]
    fn confidence(&self) -> Option<f64> {
        self.page.document.confidence
    }

    /// Main content, paragraphs separated by a blank line.
    #[getter]
    fn text(&self) -> &str {
        &self.page.document.text
    }

    /// The sentences of the summary, in the order of the text.
    #[getter]
    fn summary(&self) -> Vec<Sentence> {
        self.page.document.summary.iter().map(Sentence::from).collect()
    }

    /// The ranking that made the summary.
    #[getter]
    fn method(&self) -> Option<&str> {
        self.page.document.method.as_deref()
    }

    /// Which text the summary was made of: `main` or `page`.
    #[getter]
    fn scope(&self) -> Option<&str> {
        self.page.document.scope.as_deref()
    }

    /// Every link of the page to another page, in document order.
    #[getter]
    fn links(&self) -> Vec<Link> {
        let link =
            |link: &pith_extractor::Link| Link { url: link.url.clone(), text: link.text.clone(), main: link.main };
        self.page.document.links.iter().map(link).collect()
    }

    /// How much text there is.
    #[getter]
    fn counts(&self) -> Counts {
        let pith_extractor::Counts { characters, words, sentences } = self.page.document.counts;
        Counts { characters, words, sentences }
    }

    /// A description that the page gives of itself.
    #[getter]
    fn description(&self) -> Option<&str> {
        self.page.document.description.as_deref()
    }

    /// The address that the page calls its own.
    #[getter]
    fn canonical_url(&self) -> Option<&str> {
        self.page.document.canonical_url.as_deref()
    }

    /// The preview image of the page.
    #[getter]
    fn image(&self) -> Option<&str> {
        self.page.document.image.as_deref()
    }

    /// What a product costs: a decimal number with a point.
    #[getter]
    fn price(&self) -> Option<&str> {
        self.page.document.price.as_deref()
    }

    /// The ISO 4217 code of the currency of the price.
    #[getter]
    fn currency(&self) -> Option<&str> {
        self.page.document.currency.as_deref()
    }

    /// Who makes a product.
    #[getter]
    fn brand(&self) -> Option<&str> {
        self.page.document.brand.as_deref()
    }

    /// The number of a product in its shop.
    #[getter]
    fn sku(&self) -> Option<&str> {
        self.page.document.sku.as_deref()
    }

    /// Main content as Markdown; `None` unless asked for.
    #[getter]
    fn markdown(&self) -> Option<&str> {
        Some(self.page.document.markdown.as_str()).filter(|markdown| !markdown.is_empty())
    }

    /// What the owner of the page says about its use, as `to_dict()` has it.
    #[getter]
    fn preferences<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(preferences) = &self.page.preferences else { return Ok(None) };
        py.import("json")?.call_method1("loads", (preferences.to_string(),)).map(Some)
    }

    /// The page hit a bound, so that its end is missing.
    #[getter]
    fn truncated(&self) -> bool {
        self.page.document.truncated
    }

    /// The page says nothing but that there is none: an error of the server, an address without a page, a check of its
    /// visitors. `pith extract` leaves such pages out.
    #[getter]
    fn error_page(&self) -> bool {
        self.page.document.error_page
    }

    /// Why the page was given up: `time-limit` or `panic`. `None` for documents.
    #[getter]
    fn error(&self) -> Option<&'static str> {
        self.error
    }

    /// The line of a document shard, byte for byte what `pith extract` writes.
    fn to_json(&self) -> PyResult<String> {
        let line = self.page.to_json(&[]).and_then(|line| String::from_utf8(line).ok());
        line.ok_or_else(|| PyValueError::new_err("a number of the document is no JSON"))
    }

    /// The same as a dictionary.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("json")?.call_method1("loads", (self.to_json()?,))
    }

    fn __repr__(&self) -> String {
        let document = &self.page.document;
        let title = document.title.as_deref().map_or("None".to_owned(), |title| format!("{title:?}"));
        format!("Document(title={title}, url={:?}, words={})", self.page.url, document.counts.words)
    }

    fn __str__(&self) -> &str {
        self.text()
    }
}
