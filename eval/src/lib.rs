//! The lab: the same functions that users run, measured over gold pages, graphs and references,
//! beside any other program that speaks JSON lines.

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
pub mod score;
pub mod speed;
pub mod summaries;
pub mod train;

pub use error::Error;
