//! Nothing takes more time than in proportion to its input: every reader of bytes from the web, on pieces that are hostile
//! when repeated, and on one piece after another. `PITH_FULL=1` takes every pair of them.

#[path = "linear/corpus.rs"]
mod corpus;
#[path = "linear/crawler.rs"]
mod crawler;
#[path = "linear/extractor.rs"]
mod extractor;
#[path = "linear/growth.rs"]
mod growth;
