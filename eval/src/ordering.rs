//! Which page next: policies of the crawler, the very same code, over stored graphs of the web.

mod graph;
mod measure;
mod simulate;

pub use graph::Graph;
pub use measure::{Curve, greedy, mean, oracle, page_rank};
pub use simulate::{Crawl, Pace, simulate};
