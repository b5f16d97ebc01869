//! Sentences, words and summaries of texts.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};

use pith_extractor::{Budget, Method, SummaryOptions};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use crate::arguments;
use crate::document::Sentence;
use crate::interrupt;

/// So many sentences or words are cut between two looks for Ctrl-C.
const PIECES_BETWEEN_SIGNALS: usize = 1 << 12;

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
    pieces(py, &text, |take| pith_extractor::split_sentences(&text, language).for_each(take))
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
    pieces(py, &text, |take| pith_extractor::for_each_word(&text, language, take))
}

/// What `cut` takes out of a text, as a list. The text is cut with the interpreter released, and Ctrl-C is heard between
/// pieces, however many there are.
fn pieces<'py, 't>(
    py: Python<'py>,
    text: &'t str,
    cut: impl FnOnce(&mut dyn FnMut(&'t str)) + Send,
) -> PyResult<Bound<'py, PyList>> {
    let is_over = AtomicBool::new(false);
    let work = || {
        let mut found: Vec<&'t str> = Vec::new();
        cut(&mut |piece| {
            if found.len().is_multiple_of(PIECES_BETWEEN_SIGNALS) && is_over.load(Ordering::Relaxed) {
                // Not a panic: no hook is called, and whoever waits knows why.
                resume_unwind(Box::new("interrupted"));
            }
            found.push(piece);
        });
        found
    };
    let found = interrupt::worth_a_thread(py, text.len(), || is_over.store(true, Ordering::Relaxed), work)?;
    let list = PyList::empty(py);
    for some in found.chunks(PIECES_BETWEEN_SIGNALS) {
        for piece in some {
            list.append(PyString::new(py, piece))?;
        }
        py.check_signals()?;
    }
    Ok(list)
}
