//! Records of archives.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use crossbeam_channel::{Receiver, Sender, bounded};
use pith::OriginFiles;
use pith_corpus::Error;
use pith_corpus::warc::{Damage as FoundDamage, Page, PageKind, Reader, ReaderOptions, RecordType};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::arguments::{self, raised};
use crate::document::Document;
use crate::interrupt;

/// Records that are read ahead of the caller: with blocks of at most 16 MB this bounds memory.
const READ_AHEAD: usize = 4;

/// One record of an archive.
#[pyclass(frozen, module = "pith")]
pub struct Record {
    kind: RecordType,
    header: Vec<u8>,
    block: Vec<u8>,
    length: u64,
    offset: u64,
    shard: Arc<str>,
    page: Option<Page>,
}

impl Record {
    /// A record of its own. What the archive says before it about the use of its page goes with it.
    fn of(record: &pith_corpus::warc::Record<'_>, shard: &Arc<str>, files: &mut OriginFiles) -> Record {
        let mut page = Page::from_record(record, pith::MAX_PAGE_BYTES);
        if let Some(page) = &mut page {
            files.read(page);
        }
        Record {
            kind: record.kind,
            header: record.header.to_vec(),
            block: record.block.to_vec(),
            length: record.length,
            offset: record.offset,
            shard: shard.clone(),
            page,
        }
    }

    fn borrowed(&self) -> pith_corpus::warc::Record<'_> {
        let Record { kind, header, block, length, offset, .. } = self;
        pith_corpus::warc::Record { kind: *kind, offset: *offset, header, block, length: *length }
    }

    /// What a URL gave, where the record holds that.
    fn page(&self) -> Option<&Page> {
        self.page.as_ref()
    }

    /// The page, and the name of the file it came from.
    pub fn page_to_extract(&self) -> PyResult<(Page, Arc<str>)> {
        let page = self.page().filter(|page| page.kind != PageKind::Revisit);
        let page = page.ok_or_else(|| {
            PyValueError::new_err(format!("a record of type {} holds no page: look at skip_reason", self.kind.name()))
        })?;
        Ok((page.clone(), self.shard.clone()))
    }
}

#[pymethods]
impl Record {
    /// `response`, `request`, `warcinfo`, `metadata`, `resource`, `revisit`, `conversion`, `continuation` or `other`.
    #[getter]
    fn r#type(&self) -> &'static str {
        self.kind.name()
    }

    /// The address of the page.
    #[getter]
    fn url(&self) -> Option<String> {
        self.borrowed().url().map(|url| url.into_owned())
    }

    /// When it was captured, as `2026-11-01T00:00:00Z`; `None` if the record does not say.
    #[getter]
    fn date(&self) -> Option<String> {
        self.borrowed().date().map(|date| date.to_string())
    }

    /// Where it begins in the file, or where the compressed member that holds it begins.
    #[getter]
    fn offset(&self) -> u64 {
        self.offset
    }

    /// The fields of its header, in order.
    #[getter]
    fn fields(&self) -> Vec<(String, String)> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        self.borrowed().fields().map(|(name, value)| (text(name), text(value))).collect()
    }

    /// The first field of this name, whatever its case.
    fn field(&self, name: &str) -> Option<String> {
        self.borrowed().text(name).map(|value| value.into_owned())
    }

    /// The block: of a response, the HTTP head and the body as it travelled.
    #[getter]
    fn block<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.block)
    }

    /// Whether the block was longer than the 16 MB that are read.
    #[getter]
    fn is_cut(&self) -> bool {
        self.borrowed().is_cut()
    }

    /// The HTTP status of a response.
    #[getter]
    fn status(&self) -> Option<u16> {
        self.page()?.status
    }

    /// The HTTP headers of a response, in order.
    #[getter]
    fn headers(&self) -> Vec<(String, String)> {
        let text = |(name, value): &(String, Vec<u8>)| (name.clone(), String::from_utf8_lossy(value).into_owned());
        self.page().map_or(Vec::new(), |page| page.headers.iter().map(text).collect())
    }

    /// What the server calls the body, such as `text/html; charset=utf-8`.
    #[getter]
    fn content_type(&self) -> Option<String> {
        let value = self.page()?.header("Content-Type")?;
        Some(String::from_utf8_lossy(value).into_owned())
    }

    /// The body, chunks joined and compression undone; `None` for records that are no pages.
    #[getter]
    fn body<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        let page = self.page()?;
        (page.kind != PageKind::Revisit).then(|| PyBytes::new(py, &page.body))
    }

    /// The digest of the body that the record gives.
    #[getter]
    fn digest(&self) -> Option<&str> {
        self.page()?.digest.as_deref()
    }

    /// Why `pith extract` would not extract it, such as `status-404` or `media-type`; `None` for pages that it takes.
    #[getter]
    fn skip_reason(&self) -> Option<String> {
        match self.page() {
            None => Some("no-page".to_owned()),
            Some(page) => pith::reason_to_skip(page),
        }
    }

    /// The document of the page, whose `to_json()` is the line that `pith extract` writes for it.
    #[pyo3(signature = (**settings))]
    fn extract(&self, py: Python<'_>, settings: Option<&Bound<'_, PyDict>>) -> PyResult<Document> {
        let (settings, time_limit) = arguments::settings(settings)?;
        let (page, shard) = self.page_to_extract()?;
        let work = || pith::PageDocument::of(&page, &shard, &settings);
        interrupt::extractor_work(py, page.body.len(), time_limit, work).map(Document::new)
    }

    fn __repr__(&self) -> String {
        format!("Record({}, {:?}, offset={})", self.kind.name(), self.url().unwrap_or_default(), self.offset)
    }
}

/// What a reader met and stepped over.
#[pyclass(frozen, get_all, module = "pith")]
pub struct Damage {
    /// Damaged places; each cost at most the record it is in, or the records of its frame where many share one.
    n_damaged: u64,
    /// The first of them: where in the file, and what is wrong there.
    first: Vec<(u64, String)>,
}

impl From<&FoundDamage> for Damage {
    fn from(damage: &FoundDamage) -> Damage {
        let first = damage.first.iter().map(|entry| (entry.offset, entry.reason.to_string())).collect();
        Damage { n_damaged: damage.n_damaged, first }
    }
}

#[pymethods]
impl Damage {
    fn __bool__(&self) -> bool {
        self.n_damaged > 0
    }

    fn __repr__(&self) -> String {
        format!("Damage(n_damaged={})", self.n_damaged)
    }
}

/// What the thread that reads says: a record or the end, and the damage before it where there is more than before.
struct Message {
    record: Result<Option<Record>, Error>,
    damage: Option<FoundDamage>,
}

/// The records of an archive, in order. Damage is stepped over and counted, never an error.
#[pyclass(module = "pith")]
pub struct WarcReader {
    source: Records,
    damage: FoundDamage,
    n_records: u64,
}

enum Records {
    /// A file is read by a thread, so that Ctrl-C is heard while it looks for the next record in a damaged one.
    File {
        messages: Receiver<Message>,
        is_over: Arc<AtomicBool>,
    },
    /// A file object is read by the thread that asks, which has the interpreter.
    Object(Box<Mutex<(Reader, OriginFiles)>>, Arc<str>),
    End,
}

/// Opens an archive: a path or a binary file object.
#[pyfunction]
pub fn read_warc(source: &Bound<'_, PyAny>) -> PyResult<WarcReader> {
    let source = match source.extract::<PathBuf>() {
        Ok(path) => file_records(&path)?,
        Err(_) => object_records(source)?,
    };
    Ok(WarcReader { source, damage: FoundDamage::default(), n_records: 0 })
}

fn options() -> ReaderOptions {
    ReaderOptions { max_block_bytes: pith::MAX_PAGE_BYTES, ..ReaderOptions::default() }
}

fn file_records(path: &Path) -> PyResult<Records> {
    let reader = Reader::open(path, options()).map_err(raised)?;
    let shard: Arc<str> = path.file_name().unwrap_or_default().to_string_lossy().into();
    let is_over = Arc::new(AtomicBool::new(false));
    let (sender, messages) = bounded(READ_AHEAD);
    let over = is_over.clone();
    thread::spawn(move || read_ahead(reader, &shard, &sender, &over));
    Ok(Records::File { messages, is_over })
}

fn read_ahead(mut reader: Reader, shard: &Arc<str>, messages: &Sender<Message>, is_over: &AtomicBool) {
    let mut n_told = 0;
    let mut files = OriginFiles::default();
    while !is_over.load(Ordering::Relaxed) {
        let record = reader.next().map(|record| record.map(|record| Record::of(&record, shard, &mut files)));
        let is_last = !matches!(record, Ok(Some(_)));
        let damage = reader.damage();
        let damage = (damage.n_damaged > n_told).then(|| damage.clone());
        n_told = reader.damage().n_damaged;
        if messages.send(Message { record, damage }).is_err() || is_last {
            return;
        }
    }
}

fn object_records(object: &Bound<'_, PyAny>) -> PyResult<Records> {
    if !object.hasattr("read")? {
        return Err(arguments::wrong_type("source", "a path or a binary file object", object));
    }
    let name = object.getattr("name").ok().and_then(|name| name.extract::<String>().ok()).unwrap_or_default();
    let shard = Path::new(&name).file_name().map_or("-".into(), |name| name.to_string_lossy().into_owned());
    let input = Box::new(FileObject { object: object.clone().unbind() });
    let reader = Reader::from_stream(input, &shard, options()).map_err(|error| raised_by_object(object.py(), error))?;
    Ok(Records::Object(Box::new(Mutex::new((reader, OriginFiles::default()))), shard.into()))
}

/// What a file object raised, as it was raised.
fn raised_by_object(py: Python<'_>, error: Error) -> PyErr {
    match error {
        Error::Io { source, .. } if source.get_ref().is_some_and(|inner| inner.is::<PyErr>()) => {
            let inner = source.into_inner().and_then(|inner| inner.downcast::<PyErr>().ok());
            inner.map_or_else(|| PyValueError::new_err("reading failed"), |error| error.clone_ref(py))
        }
        error => raised(error),
    }
}

/// A binary file object as a stream of bytes.
struct FileObject {
    object: Py<PyAny>,
}

impl Read for FileObject {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        Python::attach(|py| {
            py.check_signals()?;
            let given = self.object.bind(py).call_method1("read", (buffer.len(),))?;
            let Ok(bytes) = given.cast::<PyBytes>() else {
                return Err(PyTypeError::new_err("source must be opened in binary mode: read() gave no bytes"));
            };
            let bytes = bytes.as_bytes();
            if bytes.len() > buffer.len() {
                return Err(PyValueError::new_err("source gave more bytes than were asked for"));
            }
            buffer[..bytes.len()].copy_from_slice(bytes);
            Ok(bytes.len())
        })
        .map_err(io::Error::other)
    }
}

#[pymethods]
impl WarcReader {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&mut self, py: Python<'_>) -> PyResult<Option<Record>> {
        let record = match &mut self.source {
            Records::End => return Ok(None),
            Records::File { messages, .. } => match interrupt::receive(py, messages)? {
                Some(message) => {
                    if let Some(damage) = message.damage {
                        self.damage = damage;
                    }
                    message.record.map_err(raised)
                }
                None => Err(PyValueError::new_err("a bug in pith, please report it: reading ended without a word")),
            },
            Records::Object(reader, shard) => {
                let shard = shard.clone();
                let (reader, files) = reader.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner());
                let record =
                    py.detach(|| reader.next().map(|record| record.map(|record| Record::of(&record, &shard, files))));
                self.damage = reader.damage().clone();
                record.map_err(|error| raised_by_object(py, error))
            }
        };
        match record {
            Ok(Some(_)) => self.n_records += 1,
            _ => self.close(),
        }
        record
    }

    /// What was damaged before the last record that was given.
    #[getter]
    fn damage(&self) -> Damage {
        (&self.damage).into()
    }

    /// How many records were given so far.
    #[getter]
    fn n_records(&self) -> u64 {
        self.n_records
    }

    /// Ends reading; the count of damage stays.
    fn close(&mut self) {
        if let Records::File { is_over, .. } = &self.source {
            is_over.store(true, Ordering::Relaxed);
        }
        self.source = Records::End;
    }

    fn __enter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    #[pyo3(signature = (*_arguments))]
    fn __exit__(&mut self, _arguments: &Bound<'_, pyo3::types::PyTuple>) {
        self.close();
    }
}

impl Drop for WarcReader {
    fn drop(&mut self) {
        self.close();
    }
}
