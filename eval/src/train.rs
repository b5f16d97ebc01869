//! Training: gold pages become the tables that the extractor compiles in.

mod fit;
mod labels;
mod rows;
mod samples;
mod thresholds;
pub mod trees;
mod validate;

pub use fit::{Recipe, fit};
pub use labels::{Label, labels};
pub use samples::{Sample, Samples};
pub use validate::{Answer, cross_validate, leave_one_set_out};
