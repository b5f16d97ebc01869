//! Where pages come from: archives, folders of them, plain HTML files.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use pith_corpus::Error;
use pith_corpus::warc::{Page, PageKind, Reader, ReaderOptions};

use crate::exit::Failure;

/// A larger page is cut: nobody reads more text than this has.
const MAX_PAGE_BYTES: usize = 16 << 20;

/// Endings of the files that a folder is searched for.
const ENDINGS: [&str; 11] =
    [".warc", ".warc.gz", ".warc.zst", ".warc.lz4", ".wet.gz", ".wet", ".arc", ".arc.gz", ".wacz", ".html", ".htm"];

/// The inputs that the words name: files as they are; of a crawl its page shards; of any other folder what it holds.
pub fn find(words: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut inputs = Vec::new();
    for word in words {
        if !word.is_dir() {
            fs::metadata(word).map_err(|error| {
                Failure::usage(format!("{}: {error}", word.display()))
                    .hint("inputs are archives, folders or .html files")
            })?;
            inputs.push(word.clone());
            continue;
        }
        let pages = word.join("pages");
        let folder = if pages.is_dir() { &pages } else { word };
        let mut found = Vec::new();
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default().to_ascii_lowercase();
            if path.is_file() && ENDINGS.iter().any(|ending| name.ends_with(ending)) {
                found.push(path);
            }
        }
        if found.is_empty() {
            return Err(Failure::usage(format!("{}: no page shards here", folder.display()))
                .hint("a folder must hold .warc, .warc.gz, .warc.zst, .wet.gz, .arc.gz, .wacz or .html files"));
        }
        found.sort();
        inputs.extend(found);
    }
    Ok(inputs)
}

/// What stands next in an input.
pub(super) enum Item {
    /// A page to extract.
    Page(Page),
    /// A page that is not wanted, and why.
    Skip(String),
}

/// The pages of one input, in order.
pub(super) struct Pages {
    source: Input,
    path: PathBuf,
    n_records: u64,
    reported: u64,
    position: u64,
}

enum Input {
    Archive(Box<Reader>),
    Html(Option<Page>),
}

impl Pages {
    pub(super) fn open(path: &Path) -> Result<Pages, Error> {
        let is_html = path.extension().is_some_and(|ending| ending == "html" || ending == "htm");
        let source = match is_html {
            true => Input::Html(Some(html(path)?)),
            false => {
                let options = ReaderOptions { max_block_bytes: MAX_PAGE_BYTES, ..ReaderOptions::default() };
                Input::Archive(Box::new(Reader::open(path, options)?))
            }
        };
        Ok(Pages { source, path: path.into(), n_records: 0, reported: 0, position: 0 })
    }

    /// The next page, wanted or not; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Item>, Error> {
        let reader = match &mut self.source {
            Input::Archive(reader) => reader,
            Input::Html(page) => return Ok(page.take().map(Item::Page)),
        };
        while let Some(record) = reader.next()? {
            self.n_records += 1;
            self.position = record.offset;
            if let Some(page) = Page::from_record(&record, MAX_PAGE_BYTES) {
                return Ok(Some(match reason_to_skip(&page) {
                    Some(reason) => Item::Skip(reason),
                    None => Item::Page(page),
                }));
            }
        }
        Ok(None)
    }

    /// The bytes of the input that were read since the last call.
    pub(super) fn bytes_since(&mut self) -> u64 {
        let before = std::mem::replace(&mut self.reported, self.position);
        self.position.saturating_sub(before)
    }

    pub(super) fn n_records(&self) -> u64 {
        self.n_records
    }

    pub(super) fn n_damaged(&self) -> u64 {
        match &self.source {
            Input::Archive(reader) => reader.damage().places,
            Input::Html(_) => 0,
        }
    }

    /// The first damaged places, as `file at byte n: why`.
    pub(super) fn describe_damage(&self) -> Vec<String> {
        let Input::Archive(reader) = &self.source else { return Vec::new() };
        let places = reader.damage().first.iter().take(10);
        places.map(|place| format!("{} at byte {}: {}", self.path.display(), place.offset, place.reason)).collect()
    }
}

/// Why a page is no text to extract, told without looking into it.
fn reason_to_skip(page: &Page) -> Option<String> {
    if page.kind == PageKind::Revisit {
        return Some("revisit".into());
    }
    if !page.url.starts_with("http://") && !page.url.starts_with("https://") {
        return Some("not-http".into());
    }
    if let Some(status) = page.status.filter(|status| !(200..300).contains(status)) {
        return Some(format!("status-{status}"));
    }
    if page.body.is_empty() {
        return Some("empty".into());
    }
    (page.kind != PageKind::Text && !is_html(page)).then(|| "media-type".into())
}

/// Whether a page is HTML by what its server says, or by its first bytes where that says little.
pub fn is_html(page: &Page) -> bool {
    match page.media_type().as_deref() {
        _ if page.kind == PageKind::Text => false,
        Some("text/html" | "application/xhtml+xml") => true,
        Some("text/plain" | "application/octet-stream" | "application/xml" | "text/xml") | None => {
            let start = page.body.trim_ascii_start();
            let start = String::from_utf8_lossy(&start[..start.len().min(1024)]).to_ascii_lowercase();
            start.starts_with('<') && (start.contains("<html") || start.contains("<!doctype html"))
        }
        _ => false,
    }
}

fn html(path: &Path) -> Result<Page, Error> {
    let at = |source| Error::Io { path: path.into(), action: "read", source };
    let mut body = Vec::new();
    File::open(path).map_err(at)?.take(MAX_PAGE_BYTES as u64).read_to_end(&mut body).map_err(at)?;
    Ok(Page {
        kind: PageKind::Resource,
        url: String::new(),
        fetched_at: None,
        status: None,
        headers: vec![("Content-Type".into(), b"text/html".to_vec())],
        body,
        is_whole: true,
        digest: None,
        offset: 0,
    })
}
