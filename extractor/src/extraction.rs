//! A page of any format becomes a whole [`Document`], with its summary.

use url::Url;

use crate::extract::main_content;
use crate::language::head;
use crate::plain::text_document;
use crate::rank::Analysis;
use crate::tree::Tree;
use crate::{
    Budget, Counts, Document, Explanation, Language, Options, PageFormat, Scope, analyze_units, charset, count_words,
    explain, sentences_of, split_sentences, summarize_analysis, walk_page,
};

/// Longer pages are cut here, and say so by [`Document::truncated`]: it is their length that bounds time and memory.
pub const MAX_PAGE_BYTES: usize = 16 << 20;

/// A summary is made of the beginning of a longer text. Few books are as long.
pub const MAX_RANKED_BYTES: usize = 2 << 20;

/// Extracts the text, metadata and links of a page of HTML, and the summary that the options ask for.
///
/// Any bytes are a page. Time and memory are proportional to its length; what exceeds a bound is left out, and
/// [`Document::truncated`] is set.
pub fn extract(html: &[u8], url: Option<&Url>, options: &Options) -> Document {
    extract_page(html, PageFormat::Html, url, options)
}

/// Extracts a page of any format, as [`extract`] does.
pub fn extract_page(body: &[u8], format: PageFormat, url: Option<&Url>, options: &Options) -> Document {
    Extraction::of(body, format, url, options).into_document(options)
}

/// A document without its summary, and what that is made of: the summary is work that a document in an unwanted
/// language need not cost.
#[derive(Clone, Debug)]
pub struct Extraction {
    /// The document so far.
    pub document: Document,
    /// The texts of the whole page, where they are what is summarized.
    units: Option<Vec<String>>,
}

impl Extraction {
    /// Extracts a page.
    pub fn of(body: &[u8], format: PageFormat, url: Option<&Url>, options: &Options) -> Extraction {
        let beginning = beginning(body);
        let mut extraction = Extraction::of_beginning(beginning, format, url, options);
        extraction.document.truncated |= beginning.len() < body.len();
        extraction
    }

    fn of_beginning(body: &[u8], format: PageFormat, url: Option<&Url>, options: &Options) -> Extraction {
        let without_units = |document| Extraction { document, units: None };
        match (format, options.scope) {
            (PageFormat::ExtractedText, _) => without_units(describe(String::from_utf8_lossy(body).trim().to_owned())),
            (PageFormat::File(format), _) => without_units(text_document(body, format, options)),
            (PageFormat::Html, Scope::Main) => without_units(main_content(body, url, options)),
            (PageFormat::Html, Scope::Page) => {
                let decoded = charset::decode(body, options.content_type.as_deref());
                let units = walk_page(&Tree::parse(&decoded.text)).units;
                let texts: Vec<&str> = units.iter().map(|unit| unit.trim()).filter(|unit| !unit.is_empty()).collect();
                Extraction { document: describe(texts.join("\n\n")), units: Some(units) }
            }
        }
    }

    /// The document with the summary that the options ask for.
    pub fn into_document(self, options: &Options) -> Document {
        if options.sentences == 0 {
            return self.document;
        }
        let budget = Budget::Sentences(options.sentences);
        let mut summary = self.analyzed(options, |text| summarize_analysis(text, options.method, budget));
        // The seed's units keep the space around them while they are ranked.
        summary.iter_mut().for_each(|sentence| sentence.text = sentence.text.trim().to_owned());
        Document {
            summary,
            truncated: self.document.truncated || self.document.text.len() > MAX_RANKED_BYTES,
            method: Some(options.method.name().to_owned()),
            scope: Some(options.scope.name().to_owned()),
            ..self.document
        }
    }

    /// Why the summary is what it is: every word with its weight, every sentence with its score.
    pub fn explain(&self, options: &Options) -> Explanation {
        let budget = Budget::Sentences(options.sentences);
        self.analyzed(options, |text| explain(text, options.method, budget))
    }

    /// What is ranked: the sentences of the main text, or the units of the whole page.
    fn analyzed<R>(&self, options: &Options, rank: impl Fn(&Analysis<'_>) -> R) -> R {
        if let Some(units) = &self.units {
            let mut n_bytes = 0;
            let n_ranked = units.iter().take_while(|unit| {
                n_bytes += unit.len();
                n_bytes <= MAX_RANKED_BYTES
            });
            let n_ranked = n_ranked.count();
            return rank(&analyze_units(&units[..n_ranked], options.method));
        }
        let document = &self.document;
        let language = document.language.as_deref().and_then(Language::from_tag);
        let text = head(&document.text, MAX_RANKED_BYTES);
        rank(&Analysis::of(sentences_of(text, language), document.title.as_deref(), language))
    }
}

/// As much of a page as is read, not cut within a character of UTF-8.
fn beginning(body: &[u8]) -> &[u8] {
    if body.len() <= MAX_PAGE_BYTES {
        return body;
    }
    let is_inner = |byte: &u8| *byte & 0xC0 == 0x80;
    let n_inner = body[MAX_PAGE_BYTES - 3..=MAX_PAGE_BYTES].iter().rev().take_while(|byte| is_inner(byte)).count();
    // More than three are no character of UTF-8.
    &body[..MAX_PAGE_BYTES - if n_inner <= 3 { n_inner } else { 0 }]
}

/// A document of which nothing is known but its text.
fn describe(text: String) -> Document {
    let language = Language::of(&text);
    let counts = Counts {
        characters: text.chars().count(),
        words: count_words(&text),
        sentences: split_sentences(&text, language).count(),
    };
    Document { language: language.map(|language| language.tag().to_owned()), text, counts, ..Document::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Method;

    const PAGE: &[u8] =
        b"<title>Rain</title><nav><a href=/>Home</a></nav><article><h1>Rain</h1><p>It rained all day in \
        the old town, and nobody went out until it was dark. The river rose to the bridge. Ducks were pleased by \
        it, as the keeper of the park told everybody who asked.</article>";

    #[test]
    fn a_document_has_the_summary_that_is_asked_for() {
        let options = Options { sentences: 1, ..Options::default() };
        let document = extract(PAGE, None, &options);
        assert_eq!(document.summary.len(), 1);
        assert!(document.text.contains(&document.summary[0].text));
        assert_eq!((document.method.as_deref(), document.scope.as_deref()), (Some("pith"), Some("main")));
        let without = extract(PAGE, None, &Options::default());
        assert_eq!(Document { summary: Vec::new(), method: None, scope: None, ..document }, without);
    }

    #[test]
    fn the_whole_page_is_the_text_and_the_summary_where_that_is_the_scope() {
        let options = Options { scope: Scope::Page, method: Method::Naive, sentences: 20, ..Options::default() };
        let document = extract(PAGE, None, &options);
        assert!(document.text.starts_with("Home\n\nRain\n\nIt rained"), "{}", document.text);
        assert_eq!(
            document.summary.iter().map(|unit| unit.text.as_str()).collect::<Vec<_>>().join("\n\n"),
            document.text
        );
        assert_eq!(document.scope.as_deref(), Some("page"));
    }

    #[test]
    fn a_long_page_is_cut_and_says_so() {
        let page = |n_bytes: usize| ["x".repeat(n_bytes % 3), "中".repeat(n_bytes / 3)].concat();
        let length = |n_bytes: usize| {
            let document = extract_page(page(n_bytes).as_bytes(), PageFormat::ExtractedText, None, &Options::default());
            (document.text.len(), document.truncated)
        };
        assert_eq!(length(MAX_PAGE_BYTES), (MAX_PAGE_BYTES, false));
        assert_eq!(length(MAX_PAGE_BYTES + 2), (MAX_PAGE_BYTES - 1, true));
        assert_eq!(beginning(&[0x80; MAX_PAGE_BYTES + 9]).len(), MAX_PAGE_BYTES);
    }

    #[test]
    fn the_end_of_a_long_text_is_not_in_its_summary() {
        let text =
            "It rained all day.\n".repeat(MAX_RANKED_BYTES / 19) + "Ducks were pleased by the rain, and dogs were not.";
        let options = Options { sentences: 3, ..Options::default() };
        let document = extract_page(text.as_bytes(), PageFormat::ExtractedText, None, &options);
        assert!(document.truncated && document.summary.iter().all(|sentence| !sentence.text.contains("Ducks")));
        let all = Options { sentences: 1000, ..Options::default() };
        let short = extract_page(&text.as_bytes()[text.len() - 1000..], PageFormat::ExtractedText, None, &all);
        assert!(!short.truncated && short.summary.iter().any(|sentence| sentence.text.contains("Ducks")));
    }

    #[test]
    fn text_that_somebody_else_extracted_is_the_document() {
        let options = Options { sentences: 1, ..Options::default() };
        let text = b" It rained all day. The river rose to the bridge. Ducks were pleased.\n";
        let document = extract_page(text, PageFormat::ExtractedText, None, &options);
        assert_eq!(document.text, "It rained all day. The river rose to the bridge. Ducks were pleased.");
        assert_eq!((document.counts.sentences, document.summary.len(), document.title), (3, 1, None));
    }
}
