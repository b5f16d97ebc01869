//! HTML in, text worth keeping out: main content, metadata, links, sentences and ranked summaries.
//!
//! It does no I/O, has no clock, no randomness and no error type: bad HTML is its input, and the same
//! bytes always give the same document.

pub mod blocks;
pub mod charset;
mod choose;
mod document;
mod extract;
pub mod features;
mod language;
mod links;
mod markdown;
mod meta;
pub mod model;
mod rank;
mod rules;
mod sentence;
mod stopwords;
mod summary;
mod text;
pub mod tree;
mod walk;
mod words;

pub use choose::{Said, THRESHOLDS, candidates, choose, plausible};
pub use document::{Comments, Counts, Document, Link, Options, PageType, SummarySentence};
pub use extract::{Reading, extract};
pub use language::Language;
pub use rank::{Analysis, Budget, Method, Picks, Pith, Ranking, Weights};
pub use rules::{BadRule, Rules};
pub use sentence::{Sentences, split_sentences};
pub use stopwords::StopWords;
pub use summary::{
    ExplainedSentence, ExplainedWord, Explanation, SummaryOptions, analyze_units, explain, sentences_of, summarize,
    summarize_analysis,
};
pub use walk::{PageWalk, walk_page};
pub use words::{count_words, for_each_word, seed_words, words};
