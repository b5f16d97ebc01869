//! One page, or any number of them on several threads.

use std::collections::BTreeMap;
use std::sync::Arc;

use crossbeam_channel::{Receiver, Sender, unbounded};
use pith::{GivenUp, PageDocument, Reply, Settings, Task, WINDOW_PER_JOB, Workers};
use pith_corpus::warc::Page;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::arguments;
use crate::document::Document;
use crate::interrupt;
use crate::warc::Record;

/// The name that stands for the file of a page which comes from none, as in the program.
pub const NO_SHARD: &str = "-";

/// Extracts one page.
#[pyfunction]
#[pyo3(signature = (html, url=None, content_type=None, **settings))]
pub fn extract(
    py: Python<'_>,
    html: &Bound<'_, PyAny>,
    url: Option<&Bound<'_, PyAny>>,
    content_type: Option<&Bound<'_, PyAny>>,
    settings: Option<&Bound<'_, PyDict>>,
) -> PyResult<Document> {
    let (settings, time_limit) = arguments::settings(settings)?;
    let page = arguments::page(html, url, content_type)?;
    let work = || PageDocument::of(&page, NO_SHARD, &settings);
    interrupt::extractor_work(py, page.body.len(), time_limit, work).map(Document::new)
}

/// What became of a page: a document, or why there is none.
struct PageOutcome(Result<PageDocument, GivenUp>);

impl From<GivenUp> for PageOutcome {
    fn from(reason: GivenUp) -> PageOutcome {
        PageOutcome(Err(reason))
    }
}

/// The documents of an iterable of pages, in its order.
#[pyclass(module = "pith")]
pub struct Documents {
    pages: Option<Py<PyAny>>,
    workers: Workers<PageOutcome>,
    n_window: usize,
    reply: Sender<Reply<PageOutcome>>,
    replies: Receiver<Reply<PageOutcome>>,
    /// What is done before its turn.
    waiting: BTreeMap<u64, PageOutcome>,
    /// The addresses of the pages in flight, for those that have no document.
    addresses: BTreeMap<u64, String>,
    n_submitted: u64,
    n_given: u64,
    /// What went wrong with the next page; it is told when its turn comes.
    problem: Option<PyErr>,
}

/// Starts to extract the pages of an iterable.
#[pyfunction]
#[pyo3(signature = (pages, jobs=None, **settings))]
pub fn extract_many(
    pages: &Bound<'_, PyAny>,
    jobs: Option<&Bound<'_, PyAny>>,
    settings: Option<&Bound<'_, PyDict>>,
) -> PyResult<Documents> {
    let jobs = arguments::jobs(jobs)?;
    let (settings, time_limit) = arguments::settings(settings)?;
    let pages = pages.try_iter().map_err(|_| arguments::wrong_type("pages", "an iterable", pages))?;
    let extract = move |page: &Page, shard: &str| PageOutcome(Ok(PageDocument::of(page, shard, &settings)));
    let (reply, replies) = unbounded();
    Ok(Documents {
        pages: Some(pages.into_any().unbind()),
        workers: Workers::start(jobs, time_limit, Arc::new(extract)),
        n_window: jobs.get() * WINDOW_PER_JOB,
        reply,
        replies,
        waiting: BTreeMap::new(),
        addresses: BTreeMap::new(),
        n_submitted: 0,
        n_given: 0,
        problem: None,
    })
}

#[pymethods]
impl Documents {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&mut self, py: Python<'_>) -> PyResult<Option<Document>> {
        self.submit_pages(py);
        if self.n_given == self.n_submitted {
            return self.problem.take().map_or(Ok(None), Err);
        }
        loop {
            if let Some(PageOutcome(outcome)) = self.waiting.remove(&self.n_given) {
                let url = self.addresses.remove(&self.n_given).unwrap_or_default();
                self.n_given += 1;
                return Ok(Some(match outcome {
                    Ok(document) => Document::new(document),
                    Err(reason) => Document::failed(nothing_of(url), reason.name()),
                }));
            }
            let reply = interrupt::receive(py, &self.replies)?;
            let reply = reply.expect("a sender is kept here");
            self.waiting.insert(reply.number, reply.outcome);
        }
    }
}

impl Documents {
    /// Hands pages to the workers until the window is full or there are no more.
    fn submit_pages(&mut self, py: Python<'_>) {
        while self.n_submitted - self.n_given < self.n_window as u64 {
            let Some(pages) = &self.pages else { return };
            let next = pages.bind(py).clone().cast_into::<pyo3::types::PyIterator>();
            let next = next.map_err(PyErr::from).and_then(|mut pages| pages.next().transpose());
            match next.and_then(|item| item.map(|item| page_of(&item)).transpose()) {
                Ok(Some((page, shard))) => {
                    let number = self.n_submitted;
                    self.addresses.insert(number, page.url.clone());
                    let reply = self.reply.clone();
                    self.workers.submit(Task { number, page, shard, reply, bytes: 0 });
                    self.n_submitted += 1;
                }
                Ok(None) => self.pages = None,
                Err(problem) => {
                    self.problem = Some(problem);
                    self.pages = None;
                }
            }
        }
    }
}

/// A page out of what an iterable gives: the page alone, `(html, url)`, `(html, url, content_type)`, a dictionary with these
/// names, or a record of an archive.
fn page_of(item: &Bound<'_, PyAny>) -> PyResult<(Page, Arc<str>)> {
    if let Ok(record) = item.cast::<Record>() {
        return record.get().page_to_extract();
    }
    let page = if let Ok(names) = item.cast::<PyDict>() {
        let html = names.get_item("html")?.ok_or_else(|| arguments::wrong_type("a page", "a dict with html", item))?;
        arguments::page(&html, names.get_item("url")?.as_ref(), names.get_item("content_type")?.as_ref())?
    } else if let Ok(parts) = item.cast::<PyTuple>() {
        match parts.len() {
            1..=3 => {
                arguments::page(&parts.get_item(0)?, parts.get_item(1).ok().as_ref(), parts.get_item(2).ok().as_ref())?
            }
            _ => return Err(arguments::wrong_type("a page", "(html, url, content_type)", item)),
        }
    } else {
        arguments::page(item, None, None)?
    };
    Ok((page, NO_SHARD.into()))
}

/// A document without anything, for a page that was given up.
fn nothing_of(url: String) -> PageDocument {
    let options = pith_extractor::Options::default();
    let settings = Settings { options, fields: Vec::new(), languages: Vec::new() };
    PageDocument::of(&pith::page_at_hand(url, Vec::new(), Vec::new()), NO_SHARD, &settings)
}
