//! Sentences, words and summaries of texts.

use pith_extractor::{Budget, Method, SummaryOptions};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use crate::arguments;
use crate::document::Sentence;
use crate::interrupt;

/// So much text is cut between two looks for Ctrl-C.
const BYTES_BETWEEN_SIGNALS: usize = 1 << 20;

/// The best sentences of a text.
#[pyfunction]
#[pyo3(signature = (text, method, sentences, language=None, title=None))]
pub fn summarize(
    py: Python<'_>,
    text: &Bound<'_, PyAny>,
    method: &Bound<'_, PyAny>,
    sentences: &Bound<'_, PyAny>,
    language: Option<&Bound<'_, PyAny>>,
    title: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<Sentence>> {
    let text = arguments::text("text", text)?;
    let title = arguments::optional_text("title", title)?;
    let options = SummaryOptions {
        title: title.as_deref(),
        language: arguments::language(language)?,
        method: arguments::method(method)?,
        budget: Budget::Sentences(arguments::count("sentences", sentences)?),
    };
    let work = || pith_extractor::summarize(&text, &options);
    let summary = interrupt::extractor_work(py, text.len(), pith::TIME_LIMIT, work)?;
    Ok(summary.iter().map(Sentence::from).collect())
}

/// The names of the rankings, the default first.
#[pyfunction]
pub fn methods() -> Vec<&'static str> {
    Method::ALL.iter().map(|method| method.name()).collect()
}

/// The sentences of a text, which joined give the text back.
#[pyfunction]
#[pyo3(signature = (text, language=None))]
pub fn split_sentences<'py>(
    py: Python<'py>,
    text: &Bound<'py, PyAny>,
    language: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyList>> {
    let text = arguments::text("text", text)?;
    let language = arguments::language(language)?;
    let found = PyList::empty(py);
    let mut n_bytes = 0;
    for sentence in pith_extractor::split_sentences(&text, language) {
        found.append(PyString::new(py, sentence))?;
        look_for_signals(py, sentence.len(), &mut n_bytes)?;
    }
    Ok(found)
}

/// The words of a text.
#[pyfunction]
#[pyo3(signature = (text, language=None))]
pub fn words<'py>(
    py: Python<'py>,
    text: &Bound<'py, PyAny>,
    language: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyList>> {
    let text = arguments::text("text", text)?;
    let language = arguments::language(language)?;
    let found = PyList::empty(py);
    let mut n_bytes = 0;
    // No word goes on behind the end of a line.
    for line in text.split_inclusive('\n') {
        for word in pith_extractor::words(line, language) {
            found.append(PyString::new(py, word))?;
        }
        look_for_signals(py, line.len(), &mut n_bytes)?;
    }
    Ok(found)
}

fn look_for_signals(py: Python<'_>, n_more: usize, n_bytes: &mut usize) -> PyResult<()> {
    *n_bytes += n_more;
    if *n_bytes < BYTES_BETWEEN_SIGNALS {
        return Ok(());
    }
    *n_bytes = 0;
    py.check_signals()
}
