//! Where pages come from: archives, folders of them, saved pages.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use pith_corpus::Error;
use pith_corpus::manifest::InputFile;
use pith_corpus::warc::{Page, PageKind, Reader, ReaderOptions};
use pith_extractor::MAX_PAGE_BYTES;
use url::Url;

use super::document::page_format;
use super::preferences::OriginFiles;
use crate::exit::Failure;

/// Endings of the archives that a folder is searched for.
const ARCHIVE_ENDINGS: [&str; 9] =
    [".warc", ".warc.gz", ".warc.zst", ".warc.lz4", ".wet.gz", ".wet", ".arc", ".arc.gz", ".wacz"];

/// Endings of the saved pages that a folder is searched for.
const PAGE_ENDINGS: [&str; 3] = [".html", ".htm", ".xhtml"];

/// So many saved pages become one document shard.
const PAGES_PER_SHARD: usize = 1000;

/// Folders within folders that are searched for saved pages.
const MAX_FOLDER_DEPTH: usize = 64;

/// What becomes one document shard.
#[derive(Clone, Debug)]
pub enum Source {
    /// A file of records.
    Archive(PathBuf),
    /// Pages, each in a file of its own.
    Pages(Vec<SavedPage>),
}

/// A page in a file of its own.
#[derive(Clone, Debug)]
pub struct SavedPage {
    path: PathBuf,
    url: String,
}

impl Source {
    /// The files, in order.
    pub fn paths(&self) -> Vec<PathBuf> {
        match self {
            Source::Archive(path) => vec![path.clone()],
            Source::Pages(pages) => pages.iter().map(|page| page.path.clone()).collect(),
        }
    }

    /// What tells that the input is the same as in an earlier run.
    pub(super) fn fingerprint(&self) -> Result<InputFile, Error> {
        let files = self.paths().iter().map(|path| InputFile::of(path)).collect::<Result<Vec<_>, _>>()?;
        Ok(InputFile::of_several(&files))
    }
}

/// The inputs that the words name: archives and pages as they are; of a crawl its page shards; of any other folder the
/// archives in it and the saved pages in it and below. Saved pages get addresses below `base`, or `file://`.
pub fn find(words: &[PathBuf], base: Option<&Url>) -> Result<Vec<Source>, Failure> {
    let mut sources = Vec::new();
    let mut pages = Vec::new();
    for word in words {
        if !word.is_dir() {
            fs::metadata(word).map_err(|error| {
                Failure::usage(format!("{}: {error}", word.display()))
                    .hint("inputs are archives, folders or .html files")
            })?;
            match file_media_type(word) {
                Some(_) => pages.push(saved_page(word, word.parent().unwrap_or(Path::new("")), base)),
                None => sources.push(Source::Archive(word.clone())),
            }
            continue;
        }
        let shards = archives_in(&word.join("pages")).unwrap_or_default();
        let archives = if shards.is_empty() { archives_in(word)? } else { shards };
        let before = pages.len();
        if archives.is_empty() {
            let mut paths = Vec::new();
            pages_below(word, 0, &mut paths)?;
            paths.sort();
            pages.extend(paths.iter().map(|path| saved_page(path, word, base)));
        }
        if archives.is_empty() && pages.len() == before {
            return Err(Failure::usage(format!("{}: no page shards here", word.display()))
                .hint("a folder must hold .warc, .warc.gz, .warc.zst, .wet.gz, .arc.gz, .wacz or .html files"));
        }
        sources.extend(archives.into_iter().map(Source::Archive));
    }
    sources.extend(pages.chunks(PAGES_PER_SHARD).map(|pages| Source::Pages(pages.to_vec())));
    Ok(sources)
}

fn has_ending(path: &Path, endings: &[&str]) -> bool {
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default().to_ascii_lowercase();
    endings.iter().any(|ending| name.ends_with(ending))
}

fn archives_in(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_file() && has_ending(&path, &ARCHIVE_ENDINGS) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Links are not followed: one that leads upwards would never end.
fn pages_below(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() && depth < MAX_FOLDER_DEPTH {
            pages_below(&entry.path(), depth + 1, found)?;
        } else if kind.is_file() && has_ending(&entry.path(), &PAGE_ENDINGS) {
            found.push(entry.path());
        }
    }
    Ok(())
}

/// A file with its address: its path below the folder, behind the base, or where it lies on this machine.
fn saved_page(path: &Path, folder: &Path, base: Option<&Url>) -> SavedPage {
    let below = path.strip_prefix(folder).unwrap_or(path).to_string_lossy();
    let url = match base {
        Some(base) => {
            let mut url = base.clone();
            if let Ok(mut segments) = url.path_segments_mut() {
                segments.pop_if_empty().extend(below.split('/'));
            }
            Some(url)
        }
        None => path.canonicalize().ok().and_then(|path| Url::from_file_path(path).ok()),
    };
    SavedPage { path: path.to_owned(), url: url.map_or(String::new(), Into::into) }
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
    name: String,
    n_records: u64,
    reported: u64,
    position: u64,
    /// The files of origins that the archive holds.
    files: OriginFiles,
}

enum Input {
    Archive(PathBuf, Box<Reader>),
    Saved(std::vec::IntoIter<SavedPage>),
}

impl Pages {
    pub(super) fn open(source: &Source) -> Result<Pages, Error> {
        let (source, name) = match source {
            Source::Pages(pages) => (Input::Saved(pages.clone().into_iter()), String::new()),
            Source::Archive(path) => {
                let options = ReaderOptions { max_block_bytes: MAX_PAGE_BYTES, ..ReaderOptions::default() };
                (Input::Archive(path.clone(), Box::new(Reader::open(path, options)?)), file_name(path))
            }
        };
        Ok(Pages { source, name, n_records: 0, reported: 0, position: 0, files: OriginFiles::default() })
    }

    /// The next page, wanted or not; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Item>, Error> {
        let reader = match &mut self.source {
            Input::Archive(_, reader) => reader,
            Input::Saved(pages) => {
                let Some(saved) = pages.next() else { return Ok(None) };
                self.n_records += 1;
                self.name = file_name(&saved.path);
                let Ok(page) = read_page(&saved) else { return Ok(Some(Item::Skip("unreadable".into()))) };
                self.position += page.body.len() as u64;
                return Ok(Some(Item::Page(page)));
            }
        };
        while let Some(record) = reader.next()? {
            self.n_records += 1;
            self.position = record.offset;
            if let Some(mut page) = Page::from_record(&record, MAX_PAGE_BYTES) {
                self.files.read(&mut page);
                return Ok(Some(match reason_to_skip(&page) {
                    Some(reason) => Item::Skip(reason),
                    None => Item::Page(page),
                }));
            }
        }
        Ok(None)
    }

    /// The name of the file that the last page came from.
    pub(super) fn name(&self) -> &str {
        &self.name
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
            Input::Archive(_, reader) => reader.damage().n_damaged,
            Input::Saved(_) => 0,
        }
    }

    /// The first damaged places, as `file at byte n: why`.
    pub(super) fn describe_damage(&self) -> Vec<String> {
        let Input::Archive(path, reader) = &self.source else { return Vec::new() };
        let damage_entries = reader.damage().first.iter().take(10);
        damage_entries.map(|entry| format!("{} at byte {}: {}", path.display(), entry.offset, entry.reason)).collect()
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
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
    page_format(page).is_none().then(|| "media-type".into())
}

/// The media type of a file that is a page by itself, by its ending; archives have none.
pub fn file_media_type(path: &Path) -> Option<&'static str> {
    match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
        "html" | "htm" | "xhtml" => Some("text/html"),
        "txt" => Some("text/plain"),
        "md" | "markdown" => Some("text/markdown"),
        _ => None,
    }
}

fn read_page(saved: &SavedPage) -> std::io::Result<Page> {
    let mut body = Vec::new();
    // One byte too many tells the extractor that the page is longer.
    File::open(&saved.path)?.take(MAX_PAGE_BYTES as u64 + 1).read_to_end(&mut body)?;
    let media_type = file_media_type(&saved.path).unwrap_or("text/html");
    let headers = vec![("Content-Type".into(), media_type.as_bytes().to_vec())];
    Ok(page_at_hand(saved.url.clone(), headers, body))
}

/// A page that comes from no archive.
pub fn page_at_hand(url: String, headers: Vec<(String, Vec<u8>)>, body: Vec<u8>) -> Page {
    Page {
        kind: PageKind::Resource,
        url,
        fetched_at: None,
        status: None,
        headers,
        body,
        is_whole: true,
        digest: None,
        preferences: None,
        offset: 0,
    }
}
