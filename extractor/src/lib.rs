//! Extracts main content, metadata, links, sentences and ranked summaries from HTML.
//!
//! The crate does no I/O, has no clock and no randomness: the same bytes always give the same document. It has no error
//! type either, because malformed HTML is valid input. Time and memory are proportional to the page; a caller with a
//! clock can still end the work from another thread ([`Cancellation`]).
//!
//! ```
//! use pith_extractor::{Options, extract};
//!
//! let page = "<title>Rain - The Paper</title><nav><a href=/>Home</a></nav>\
//!     <article><h1>Rain</h1><p>It rained all day in the old town, and nobody went out until it was dark.</article>";
//! let document = extract(page.as_bytes(), None, &Options::default());
//! assert_eq!(document.title.as_deref(), Some("Rain"));
//! assert!(document.text.ends_with("until it was dark."));
//! ```

pub mod blocks;
mod cancel;
pub mod charset;
mod document;
mod error_page;
mod extract;
mod extraction;
pub mod features;
mod format;
mod language;
mod line;
mod links;
mod markdown;
mod meta;
pub mod model;
mod plain;
mod rank;
mod rules;
mod select;
mod sentence;
mod stopwords;
mod summary;
mod tables;
mod text;
pub mod tree;
mod walk;
mod words;

pub use cancel::Cancellation;
pub use document::{Comments, Counts, Document, Favor, Link, Options, PageType, Scope, SummarySentence};
pub use extract::{Classified, ParsedPage};
pub use extraction::{Extraction, MAX_PAGE_BYTES, MAX_RANKED_BYTES, extract, extract_page};
pub use format::PageFormat;
pub use language::Language;
pub use line::{DocumentLine, Source};
pub use plain::TextFormat;
pub use rank::{Analysis, Budget, Method, Picks, Pith, Ranking, Weights};
#[cfg(feature = "rules")]
pub use rules::RuleError;
pub use rules::Rules;
pub use select::{
    RepeatFilter, THRESHOLDS, confidence_features, keep_table_rows_whole, select_blocks, suppress_boilerplate,
    threshold_features,
};
pub use sentence::{Sentences, split_sentences};
pub use stopwords::StopWords;
pub use summary::{
    ExplainedSentence, ExplainedWord, Explanation, SummaryOptions, analyze_units, explain, sentences_of, summarize,
    summarize_analysis,
};
pub use walk::{PageWalk, walk_page};
pub use words::{count_words, for_each_word, seed_words, words};
