//! Evaluation and training: the functions that users run, scored on gold pages, link graphs and reference summaries,
//! and compared with peers: other programs that speak JSON lines.

pub mod bootstrap;
pub mod clock;
pub mod data;
mod error;
pub mod extraction;
pub mod floor;
pub mod freshness;
pub mod gold;
pub mod ordering;
pub mod peer;
pub mod report;
pub mod rouge;
pub mod saved;
pub mod score;
pub mod sheet;
pub mod speed;
pub mod summaries;
pub mod train;

pub use error::Error;
