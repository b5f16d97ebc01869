//! HTML in, text worth keeping out: main content, metadata, links, sentences and ranked summaries.
//!
//! It does no I/O, has no clock, no randomness and no error type: bad HTML is its input, and the same
//! bytes always give the same document.

mod document;
pub mod tree;

pub use document::{Comments, Counts, Document, Link, Options, PageType, SummarySentence};
