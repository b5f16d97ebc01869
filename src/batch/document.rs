//! A page of an archive becomes one line of a document shard.

use std::sync::LazyLock;

use pith_corpus::jsonl;
use pith_corpus::warc::{Page, PageKind};
use pith_extractor::{Document, DocumentLine, Extraction, Favor, Options, PageFormat, Source};
use serde_json::Value;
use url::Url;

use super::Outcome;
use super::files::{DocumentFile, FileFormat, file_name};
use super::preferences::preferences_of;

/// Every setting that changes a document.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The settings of the extractor; the content type is each page's own.
    pub options: Options,
    /// The fields to keep; empty keeps all.
    pub fields: Vec<String>,
    /// The languages to keep; empty keeps all.
    pub languages: Vec<String>,
}

impl Settings {
    /// The settings for a manifest.
    pub fn describe(&self) -> Value {
        let options = &self.options;
        let mut settings = serde_json::json!({
            "step": "extract", "method": options.method.name(), "scope": options.scope.name(),
            "sentences": options.sentences, "fields": self.fields, "languages": self.languages,
            "markdown": options.markdown, "comments": format!("{:?}", options.comments),
        });
        // Only where they are set, so that folders written before these settings existed are still complete.
        let flags = [("omit_links", options.omit_links), ("omit_images", options.omit_images)];
        for (name, _) in flags.iter().filter(|flag| flag.1) {
            settings[*name] = true.into();
        }
        if options.favor != Favor::Balance {
            settings["favor"] = options.favor.name().into();
        }
        if let Some(rules) = &options.rules {
            settings["rules"] = rules.source().into();
        }
        settings
    }

    fn wants(&self, language: Option<&str>) -> bool {
        let language = language.unwrap_or_default();
        let matches = |wanted: &String| {
            language == wanted || language.strip_prefix(wanted.as_str()).is_some_and(|rest| rest.starts_with('-'))
        };
        self.languages.is_empty() || self.languages.iter().any(matches)
    }
}

/// The fields of a line, in their order.
pub static FIELD_NAMES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let document = Document::default();
    let source = Source { shard: "", offset: 0, digest: None };
    let line = DocumentLine { id: "", url: "", fetched_at: None, document: &document, preferences: None, source };
    match serde_json::to_value(&line) {
        Ok(Value::Object(fields)) => fields.keys().cloned().collect(),
        _ => Vec::new(),
    }
});

/// What the extractor makes of a page that is wanted, or why it is not.
fn wanted(page: &Page, settings: &Settings) -> Result<(Extraction, Options), Outcome> {
    let (mut extraction, options) = extract_page(page, settings);
    if extraction.document.error_page {
        return Err(Outcome::Skipped("error-page".into()));
    }
    if !settings.wants(extraction.document.language.as_deref()) {
        return Err(Outcome::Skipped("language".into()));
    }
    extraction.document.truncated |= !page.is_whole;
    Ok((extraction, options))
}

/// Extracts one page into a file of its own.
pub fn document_file(page: &Page, settings: &Settings, format: FileFormat) -> Outcome {
    let document = match wanted(page, settings) {
        Ok((extraction, _)) => extraction.document,
        Err(outcome) => return outcome,
    };
    let content = match format {
        FileFormat::Markdown => format!("{}{}\n", front_matter(&document, page), document.markdown),
        FileFormat::Text => format!("{}\n", document.text),
    };
    Outcome::File(Box::new(DocumentFile {
        name: file_name(&page.url, format),
        url: page.url.clone(),
        title: document.title.unwrap_or_default(),
        content: content.into_bytes(),
    }))
}

/// What a Markdown file says of its page, as YAML: JSON strings are YAML strings.
fn front_matter(document: &Document, page: &Page) -> String {
    let fetched_at = page.fetched_at.map(|time| time.to_string());
    let fields = [
        ("title", document.title.as_deref()),
        ("url", Some(page.url.as_str())),
        ("author", document.author.as_deref()),
        ("published", document.published.as_deref()),
        ("language", document.language.as_deref()),
        ("fetched_at", fetched_at.as_deref()),
    ];
    let lines = fields.iter().filter_map(|(name, value)| Some(format!("{name}: {}\n", Value::from((*value)?))));
    format!("---\n{}---\n\n", lines.collect::<String>())
}

/// Extracts, summarizes and writes one page.
pub fn line(page: &Page, shard: &str, settings: &Settings) -> Outcome {
    let (extraction, options) = match wanted(page, settings) {
        Ok(wanted) => wanted,
        Err(outcome) => return outcome,
    };
    match PageDocument::new(page, shard, extraction.into_document(&options)).to_json(&settings.fields) {
        Some(line) => Outcome::Extracted(line),
        None => Outcome::Failed("not-json"),
    }
}

/// A document, and which page of which shard it came from.
#[derive(Clone, Debug, PartialEq)]
pub struct PageDocument {
    /// The name of the document.
    pub id: String,
    /// The address of the page.
    pub url: String,
    /// When the page was fetched.
    pub fetched_at: Option<String>,
    /// What was extracted.
    pub document: Document,
    /// What the owner of the page says about its use.
    pub preferences: Option<Value>,
    /// The name of the file that holds the page.
    pub shard: String,
    /// The byte at which its record begins.
    pub offset: u64,
    /// The digest of its body that the record gives.
    pub digest: Option<String>,
}

impl PageDocument {
    /// Extracts and summarizes a page, wanted or not.
    pub fn of(page: &Page, shard: &str, settings: &Settings) -> PageDocument {
        let (mut extraction, options) = extract_page(page, settings);
        extraction.document.truncated |= !page.is_whole;
        PageDocument::new(page, shard, extraction.into_document(&options))
    }

    fn new(page: &Page, shard: &str, document: Document) -> PageDocument {
        let fetched_at = page.fetched_at.map(|time| time.to_string());
        PageDocument {
            id: jsonl::document_id(&page.url, fetched_at.as_deref().unwrap_or_default(), shard, page.offset),
            url: page.url.clone(),
            fetched_at,
            document,
            preferences: serde_json::to_value(preferences_of(page)).ok(),
            shard: shard.to_owned(),
            offset: page.offset,
            digest: page.digest.clone(),
        }
    }

    /// The line of a document shard; of its fields those named, or all where none is. Nothing where a number of it is no
    /// JSON.
    pub fn to_json(&self, fields: &[String]) -> Option<Vec<u8>> {
        let line = DocumentLine {
            id: &self.id,
            url: &self.url,
            fetched_at: self.fetched_at.as_deref(),
            document: &self.document,
            preferences: self.preferences.as_ref(),
            source: Source { shard: &self.shard, offset: self.offset, digest: self.digest.as_deref() },
        };
        line.to_json(fields)
    }
}

/// What the extractor makes of a page, without the summary, and the options for this page.
pub fn extract_page(page: &Page, settings: &Settings) -> (Extraction, Options) {
    let content_type = page.header("Content-Type").map(|value| String::from_utf8_lossy(value).into_owned());
    let options = Options { content_type, ..settings.options.clone() };
    let url = Url::parse(&page.url).ok();
    // What nobody labelled is read as a page: a file from stdin may be a part of one.
    let format = page_format(page).unwrap_or(PageFormat::Html);
    (Extraction::of(&page.body, format, url.as_ref(), &options), options)
}

/// How the body of a page is read; nothing for what is no text.
pub fn page_format(page: &Page) -> Option<PageFormat> {
    match page.kind {
        PageKind::Text => Some(PageFormat::ExtractedText),
        _ => PageFormat::of(page.media_type().as_deref(), &page.url, &page.body),
    }
}

/// Whether a page is HTML, by what its server says or by its first bytes.
pub fn is_html(page: &Page) -> bool {
    page_format(page) == Some(PageFormat::Html)
}
