//! Training: gold pages become the tables that the extractor compiles in.

pub mod trees;
