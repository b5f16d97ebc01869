//! How pages and documents rest on disk, and how documents become a corpus.
//!
//! It owns bytes: WARC page shards, JSONL document shards, Parquet, manifests, duplicates, filters, splits.
//! It does not know what a crawler or an extractor is.

mod error;
mod parallel;
mod script;
mod site;
mod step;
mod watch;

pub mod draft;
pub mod duplicate;
pub mod export;
pub mod filter;
pub mod jsonl;
pub mod manifest;
pub mod parquet;
pub mod split;
pub mod stats;
pub mod warc;
pub mod wet;

pub use error::{Error, Result};
pub use step::{Finished, Run};
pub use watch::Watch;
