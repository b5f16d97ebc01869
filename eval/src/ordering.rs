//! Which page next: policies of the crawler, the very same code, over stored graphs of the web.

mod graph;
mod lab;
mod measure;
mod plot;
mod simulate;

pub use graph::{Graph, Random};
pub use lab::{Comparison, Focused, Polite, Row, Setting, compare, focus};
pub use measure::{Curve, greedy, mean, oracle, page_rank};
pub use plot::plot;
pub use simulate::{Crawl, Pace, simulate};
