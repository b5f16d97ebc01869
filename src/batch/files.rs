//! Documents as files, one per page: `HOST/PATH.md` or `HOST/PATH.txt`.

use std::path::PathBuf;

use pith_corpus::Error;
use pith_corpus::atomic_file::{AtomicFile, SealedFile, write_atomically};
use std::io::Write;
use url::Url;
use xxhash_rust::xxh3::xxh3_64;

/// The longest name without its ending; file systems allow 255 bytes.
const MAX_NAME_BYTES: usize = 180;

/// How documents are written as files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileFormat {
    /// Markdown below a few lines of YAML: title, address, date.
    Markdown,
    /// The text alone.
    Text,
}

impl FileFormat {
    /// The ending of its files.
    pub fn ending(self) -> &'static str {
        match self {
            FileFormat::Markdown => "md",
            FileFormat::Text => "txt",
        }
    }
}

/// A document that becomes a file.
#[derive(Debug)]
pub struct DocumentFile {
    /// Its path below the folder.
    pub name: String,
    /// The address of the page.
    pub url: String,
    /// The title, for the list of files.
    pub title: String,
    /// What is written.
    pub content: Vec<u8>,
}

/// The path of a page's file: the host, then the path of the page with `__` for `/`. Where that does not tell pages
/// apart, as with a query, a hash of the address is behind it.
pub fn file_name(url: &str, format: FileFormat) -> String {
    let parsed = Url::parse(url).ok();
    let host = parsed.as_ref().and_then(Url::host_str).unwrap_or("files");
    let port = parsed.as_ref().and_then(Url::port).map_or(String::new(), |port| format!("-{port}"));
    let path = parsed.as_ref().map_or(url, |url| url.path()).trim_start_matches('/');
    let path = if path.is_empty() || path.ends_with('/') { format!("{path}index") } else { path.to_owned() };
    let path = [".html", ".htm", ".xhtml"].iter().find_map(|ending| path.strip_suffix(ending)).unwrap_or(&path);
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "-_.".contains(character);
    let has_query = parsed.as_ref().is_none_or(|url| url.query().is_some());
    let is_exact = path.chars().all(|character| is_plain(character) || character == '/')
        && !path.contains("__")
        && !has_query
        && path.len() < MAX_NAME_BYTES / 2;
    let plain: String =
        path.chars().map(|character| if is_plain(character) || character == '/' { character } else { '-' }).collect();
    let mut name: String = plain.replace('/', "__").trim_start_matches('.').chars().take(MAX_NAME_BYTES).collect();
    if !is_exact || name.is_empty() {
        name.push_str(&format!("-{:08x}", xxh3_64(url.as_bytes()) as u32));
    }
    let host = host.trim_matches(['[', ']', '.']);
    let host: String = host.chars().map(|character| if is_plain(character) { character } else { '_' }).collect();
    let host = if host.is_empty() { "files" } else { &host };
    format!("{host}{port}/{name}.{}", format.ending())
}

/// Writes the files of one input. The list of them, `files-00000.tsv`, is sealed last and says that the input is done.
pub(super) struct FilesWriter {
    folder: PathBuf,
    list: AtomicFile,
}

impl FilesWriter {
    pub(super) fn create(folder: PathBuf, name: &str) -> Result<FilesWriter, Error> {
        let list = AtomicFile::create(folder.join(name))?;
        Ok(FilesWriter { folder, list })
    }

    pub(super) fn put(&mut self, document: &DocumentFile) -> Result<(), Error> {
        write_atomically(&self.folder.join(&document.name), &document.content)?;
        let plain = |text: &str| text.replace(|character: char| character.is_control(), " ");
        let line = format!("{}\t{}\t{}\n", document.name, plain(&document.url), plain(&document.title));
        let path = self.list.path().to_owned();
        self.list.write_all(line.as_bytes()).map_err(|source| Error::Io { path, action: "write", source })
    }

    pub(super) fn seal(self) -> Result<SealedFile, Error> {
        self.list.seal()
    }
}

/// The list of the files of an input.
pub(super) fn list_name(number: usize) -> String {
    format!("files-{number:05}.tsv")
}

/// Whether a name is that of a document file or of a list.
pub(super) fn is_ours(name: &str) -> bool {
    (name.starts_with("files-") && name.ends_with(".tsv"))
        || (name.contains('/') && (name.ends_with(".md") || name.ends_with(".txt")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_show_host_and_path_and_stay_in_the_folder() {
        let check = |url: &str, expected: &str| {
            let name = file_name(url, FileFormat::Markdown);
            assert!(pith_corpus::folder::is_plain_name(&name), "{name}");
            let fits =
                if let Some(start) = expected.strip_suffix('*') { name.starts_with(start) } else { name == expected };
            assert!(fits, "{url} is {name}, not {expected}");
        };
        check("https://docs.example.org/library/asyncio.html", "docs.example.org/library__asyncio.md");
        check("https://docs.example.org/", "docs.example.org/index.md");
        check("http://127.0.0.1:81/a/", "127.0.0.1-81/a__index.md");
        check("http://[::1]/../../etc/passwd", "__1/etc__passwd.md");
        check("https://a.example/x?page=2", "a.example/x-*");
        check("https://a.example/文", "a.example/-*");
        check("file:///home/me/page.html", "files/home__me__page.md");
        check(&format!("https://a.example/{}", "x".repeat(4000)), "a.example/xxxx*");
        let pages = ["x?page=1", "x?page=2", "a__b", "a/b"]
            .map(|path| file_name(&format!("https://a.example/{path}"), FileFormat::Text));
        let distinct: std::collections::BTreeSet<_> = pages.iter().collect();
        assert_eq!(distinct.len(), 4, "{pages:?}");
    }
}
