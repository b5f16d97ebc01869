//! `pith._pith`: the part of the Python module that is written in Rust. What users see is `python/pith`.
//!
//! No call holds the interpreter while it works. A panic becomes a `RuntimeError`; Ctrl-C ends long calls.

mod arguments;
mod document;
mod extract;
mod interrupt;
mod job;
mod near;
mod program;
mod text;
mod warc;

use pyo3::prelude::*;

#[pymodule]
mod _pith {
    #[pymodule_export]
    use crate::document::{Counts, Document, Link, Sentence};
    #[pymodule_export]
    use crate::extract::{Documents, extract, extract_many};
    #[pymodule_export]
    use crate::job::{ShardJob, extract_shard, find_archives};
    #[pymodule_export]
    use crate::near::near_duplicates;
    #[pymodule_export]
    use crate::program::{run, version};
    #[pymodule_export]
    use crate::text::{methods, split_sentences, summarize, words};
    #[pymodule_export]
    use crate::warc::{Damage, Record, WarcReader, read_warc};
}
