//! Which page next: policies of the crawler, the very same code, over stored graphs of the web.

mod comparison;
mod graph;
mod measure;
mod plot;
mod simulate;

pub use comparison::{Comparison, Focused, Polite, Row, SimulationConfig, compare, focus};
pub use graph::{Graph, Random};
pub use measure::{Curve, greedy, mean, oracle, page_rank};
pub use plot::plot;
pub use simulate::{Crawl, Pace, simulate};
