//! A page of an archive becomes one line of a document shard.

use std::sync::Arc;

use pith_corpus::jsonl;
use pith_corpus::warc::{Page, PageKind};
use pith_extractor::tree::Tree;
use pith_extractor::{
    Analysis, Budget, Comments, Counts, Document, Explanation, Language, Method, Options, Rules, analyze_units,
    charset, count_words, explain, extract, sentences_of, split_sentences, summarize_analysis, walk_page,
};
use serde::Serialize;
use serde_json::Value;
use url::Url;

use super::Outcome;

/// Every setting that changes a document.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What becomes of readers' comments.
    pub comments: Comments,
    /// Also write the main content as Markdown.
    pub markdown: bool,
    /// The ranking of the summary.
    pub method: Method,
    /// The text that is summarized.
    pub scope: Scope,
    /// Sentences in a summary; zero leaves it out.
    pub sentences: usize,
    /// The fields to keep; empty keeps all.
    pub fields: Vec<String>,
    /// The languages to keep; empty keeps all.
    pub languages: Vec<String>,
    /// Selectors for the sites that need them.
    pub rules: Option<Arc<Rules>>,
}

/// Which text is summarized.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Scope {
    /// The main content
    Main,
    /// Everything that a walk over the page's tags finds: paragraphs, headings, links, spans and divisions
    Page,
}

impl Scope {
    fn name(self) -> &'static str {
        match self {
            Scope::Main => "main",
            Scope::Page => "page",
        }
    }
}

impl Settings {
    /// The settings for a manifest.
    pub fn describe(&self) -> Value {
        let mut settings = serde_json::json!({
            "step": "extract", "method": self.method.name(), "scope": self.scope.name(), "sentences": self.sentences,
            "fields": self.fields, "languages": self.languages, "markdown": self.markdown,
            "comments": format!("{:?}", self.comments),
        });
        if let Some(rules) = &self.rules {
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

/// One line: where the document comes from, around what the extractor found.
#[derive(Serialize)]
struct Line<'l> {
    id: String,
    url: &'l str,
    final_url: &'l str,
    fetched_at: Option<String>,
    #[serde(flatten)]
    document: &'l Document,
    source: Source<'l>,
}

#[derive(Serialize)]
struct Source<'l> {
    shard: &'l str,
    offset: u64,
    digest: Option<&'l str>,
}

/// Extracts, summarizes and writes one page.
pub fn line(page: &Page, shard: &str, settings: &Settings) -> Outcome {
    let mut document = extract_page(page, settings);
    if !settings.wants(document.language.as_deref()) {
        return Outcome::Skipped("language".into());
    }
    if settings.sentences > 0 {
        add_summary(&mut document, page, settings);
    }
    document.truncated |= !page.is_whole;
    let fetched_at = page.fetched_at.map(|time| time.to_string());
    let digest = page.digest.as_deref();
    let line = Line {
        id: jsonl::document_id(&page.url, fetched_at.as_deref().unwrap_or_default(), shard, page.offset),
        url: &page.url,
        final_url: &page.url,
        fetched_at,
        document: &document,
        source: Source { shard, offset: page.offset, digest },
    };
    let written = match settings.fields.is_empty() {
        true => serde_json::to_vec(&line),
        false => serde_json::to_value(&line).and_then(|mut value| {
            if let Value::Object(fields) = &mut value {
                fields.retain(|name, _| settings.fields.iter().any(|field| field == name));
            }
            serde_json::to_vec(&value)
        }),
    };
    match written {
        Ok(line) => Outcome::Extracted(line),
        Err(_) => Outcome::Failed("not-json"),
    }
}

/// What the extractor makes of a page, without the summary. A text record is its own main content.
pub fn extract_page(page: &Page, settings: &Settings) -> Document {
    if page.kind == PageKind::Text {
        return describe(String::from_utf8_lossy(&page.body).trim().to_owned());
    }
    let content_type = page.header("Content-Type").map(|value| String::from_utf8_lossy(value).into_owned());
    match settings.scope {
        Scope::Main => {
            let rules = settings.rules.clone();
            let options = Options { content_type, comments: settings.comments, markdown: settings.markdown, rules };
            extract(&page.body, Url::parse(&page.url).ok().as_ref(), &options)
        }
        Scope::Page => describe(units(page, content_type.as_deref()).join("\n\n")),
    }
}

/// The texts of a page that the walk over its tags finds, space around them left out.
fn units(page: &Page, content_type: Option<&str>) -> Vec<String> {
    let decoded = charset::decode(&page.body, content_type);
    let units = walk_page(&Tree::parse(&decoded.text)).units;
    units.into_iter().map(|unit| unit.trim().to_owned()).filter(|unit| !unit.is_empty()).collect()
}

fn describe(text: String) -> Document {
    let language = Language::of(&text);
    let counts = Counts {
        characters: text.chars().count(),
        words: count_words(&text),
        sentences: split_sentences(&text, language).count(),
    };
    Document { language: language.map(|language| language.tag().to_owned()), text, counts, ..Document::default() }
}

/// Adds the summary that the settings ask for.
fn add_summary(document: &mut Document, page: &Page, settings: &Settings) {
    let budget = Budget::Sentences(settings.sentences);
    document.summary = analyzed(document, page, settings, |text| summarize_analysis(text, settings.method, budget));
    // The seed's units keep the space around them while they are ranked.
    document.summary.iter_mut().for_each(|sentence| sentence.text = sentence.text.trim().to_owned());
    document.method = Some(settings.method.name().to_owned());
    document.scope = Some(settings.scope.name().to_owned());
}

/// Why the summary of a page is what it is: every word with its weight, every sentence with its score.
pub fn explain_page(page: &Page, settings: &Settings) -> Explanation {
    let document = extract_page(page, settings);
    let budget = Budget::Sentences(settings.sentences);
    analyzed(&document, page, settings, |text| explain(text, settings.method, budget))
}

/// What is ranked: the sentences of the main text, or the units of the whole page.
fn analyzed<R>(document: &Document, page: &Page, settings: &Settings, rank: impl Fn(&Analysis<'_>) -> R) -> R {
    if settings.scope == Scope::Page && page.kind != PageKind::Text {
        let content_type = page.header("Content-Type").map(|value| String::from_utf8_lossy(value).into_owned());
        let decoded = charset::decode(&page.body, content_type.as_deref());
        let units = walk_page(&Tree::parse(&decoded.text)).units;
        return rank(&analyze_units(&units, settings.method));
    }
    let language = document.language.as_deref().and_then(Language::from_tag);
    rank(&Analysis::of(sentences_of(&document.text, language), document.title.as_deref(), language))
}
