//! Storage formats of pages and documents, and the steps from documents to a corpus.
//!
//! It reads and writes WARC page shards, JSONL document shards, Parquet and manifests, and has the steps dedup, filter,
//! stats, split and export.
//! It does not know what a crawler or an extractor is.

mod error;
mod observer;
mod owner;
mod parallel;
mod row;
mod script;
mod site;
mod step;

pub mod atomic_file;
pub mod dedup;
pub mod export;
pub mod filter;
pub mod folder;
pub mod jsonl;
pub mod log;
pub mod manifest;
pub mod parquet;
pub mod split;
pub mod stats;
pub mod warc;
pub mod wet;

pub use error::{Error, Result};
pub use observer::Observer;
pub use owner::OwnerWishes;
pub use row::Row;
pub use step::{Finished, Run, check_apart};
