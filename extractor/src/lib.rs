//! HTML in, text worth keeping out: main content, metadata, links, sentences and ranked summaries.
//!
//! It does no I/O, has no clock, no randomness and no error type: bad HTML is its input, and the same
//! bytes always give the same document.

pub mod charset;
mod document;
mod language;
mod sentence;
pub mod tree;
mod words;

pub use document::{Comments, Counts, Document, Link, Options, PageType, SummarySentence};
pub use language::Language;
pub use sentence::{Sentences, split_sentences};
pub use words::{count_words, for_each_word, seed_words, words};
