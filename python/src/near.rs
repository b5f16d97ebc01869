//! Near-duplicates among texts.

use std::path::PathBuf;

use pith::Progress;
use pith_corpus::dedup::{MinHash, TextIndex};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::arguments::{self, raised};
use crate::interrupt;

/// What is sorted at a time; more texts are looked through more often.
const MEMORY_BYTES: u64 = 256 << 20;

/// `(index, of, similarity)` of every text that an earlier one stands for. The records go to the file `path`.
#[pyfunction]
#[pyo3(signature = (texts, threshold, path))]
pub fn near_duplicates(
    py: Python<'_>,
    texts: &Bound<'_, PyAny>,
    threshold: Option<&Bound<'_, PyAny>>,
    path: PathBuf,
) -> PyResult<Vec<(usize, usize, f64)>> {
    let mut near = MinHash::default();
    if let Some(value) = threshold.filter(|value| !value.is_none()) {
        near.threshold = value.extract().map_err(|_| arguments::wrong_type("threshold", "float or None", value))?;
        if !(near.threshold > 0.0 && near.threshold <= 1.0) {
            return Err(PyValueError::new_err("threshold must be above 0 and at most 1"));
        }
    }
    if texts.cast::<pyo3::types::PyString>().is_ok() {
        return Err(arguments::wrong_type("texts", "an iterable of str", texts));
    }
    let texts = texts.try_iter().map_err(|_| arguments::wrong_type("texts", "an iterable of str", texts))?;
    let mut index = TextIndex::create(path, near).map_err(raised)?;
    for text in texts {
        let text = arguments::text("every text", &text?)?;
        py.detach(|| index.add(&text)).map_err(raised)?;
        py.check_signals()?;
    }
    let progress = Progress::silent();
    let found = interrupt::stoppable(py, None, || progress.stop(), || index.duplicates(MEMORY_BYTES, &progress))?;
    let found = found.map_err(raised)?;
    Ok(found.iter().map(|found| (found.text, found.of, f64::from(found.similarity))).collect())
}
