//! Our own cases, in `tests/data`, and beside them cases written by others, from the folder named by `PITH_SHARED`
//! (`../shared` by default). Each suite prints how many
//! cases pass; where one is known to differ the reason stands in a table, and any other difference fails.

mod conformance {
    pub mod answers;
    pub mod html;
    pub mod media_types;
    pub mod robots;
    pub mod sitemaps;
    pub mod suite;
    pub mod urls;
}
