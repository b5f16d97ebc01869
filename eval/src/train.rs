//! Training: gold pages become the tables that the extractor compiles in.

mod confidence;
mod fit;
mod labels;
mod reliability;
mod rows;
mod samples;
mod thresholds;
pub mod trees;
mod validate;

pub use confidence::FittedConfidence;
pub use fit::{ConfidenceFolds, TrainingConfig, feature_gains, fit, refit_confidence};
pub use labels::{Label, labels};
pub use reliability::{ConfidenceBin, calibration_error, reliability};
pub use samples::{Sample, Samples};
pub use validate::{Answer, cross_validate, leave_one_set_out};
