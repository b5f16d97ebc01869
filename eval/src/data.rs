//! Gold data on disk: JSON lines, plain or compressed with zstd, read into typed rows.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::marker::PhantomData;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

use crate::error::Error;

/// The first four bytes of every zstd frame.
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];

/// Opens a file for reading, decompressed where its first bytes say zstd.
///
/// # Errors
/// When the file cannot be opened or read.
pub fn open(path: &Path) -> Result<Box<dyn BufRead + Send>, Error> {
    let failed = |source| Error::Read { path: path.to_owned(), source };
    let mut file = BufReader::with_capacity(1 << 17, File::open(path).map_err(failed)?);
    if file.fill_buf().map_err(failed)?.starts_with(&ZSTD_MAGIC) {
        let decoder = zstd::Decoder::with_buffer(file).map_err(failed)?;
        return Ok(Box::new(BufReader::with_capacity(1 << 17, decoder)));
    }
    Ok(Box::new(file))
}

/// The whole of a text file, decompressed where it is zstd.
///
/// # Errors
/// When the file cannot be read or is not UTF-8.
pub fn read_text(path: &Path) -> Result<String, Error> {
    let mut text = String::new();
    open(path)?.read_to_string(&mut text).map_err(|source| Error::Read { path: path.to_owned(), source })?;
    Ok(text)
}

/// The rows of a `.jsonl` or `.jsonl.zst` file, one at a time; blank lines are passed over.
///
/// # Errors
/// When the file cannot be opened. A bad line is an error of the iterator, with file and line.
pub fn rows<T: DeserializeOwned>(path: &Path) -> Result<Rows<T>, Error> {
    let (text, every) = (String::new(), NonZeroUsize::MIN);
    Ok(Rows { path: path.to_owned(), source: open(path)?, text, line: 0, seen: 0, every, row: PhantomData })
}

/// All rows of a file at once.
///
/// # Errors
/// When the file cannot be read or a line is not a row of this kind.
pub fn read_rows<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, Error> {
    rows(path)?.collect()
}

/// An iterator over the rows of one file.
pub struct Rows<T> {
    path: PathBuf,
    source: Box<dyn BufRead + Send>,
    text: String,
    line: usize,
    seen: usize,
    every: NonZeroUsize,
    row: PhantomData<fn() -> T>,
}

impl<T> Rows<T> {
    /// Only the first row and every `every`th after it; the others are not even parsed.
    pub fn every(self, every: NonZeroUsize) -> Self {
        Rows { every, ..self }
    }
}

impl<T: DeserializeOwned> Iterator for Rows<T> {
    type Item = Result<T, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            self.text.clear();
            self.line += 1;
            match self.source.read_line(&mut self.text) {
                Ok(0) => return None,
                Ok(_) if self.text.trim().is_empty() => continue,
                Ok(_) => {
                    self.seen += 1;
                    if !(self.seen - 1).is_multiple_of(self.every.get()) {
                        continue;
                    }
                    let row = serde_json::from_str(&self.text);
                    return Some(row.map_err(|source| Error::Row { path: self.path.clone(), line: self.line, source }));
                }
                Err(source) => return Some(Err(Error::Read { path: self.path.clone(), source })),
            }
        }
    }
}

/// A named data file: `bbc_en` for `bbc_en.jsonl.zst`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Set {
    /// The file's name without its endings.
    pub name: String,
    /// Where it lies.
    pub path: PathBuf,
}

/// The `.jsonl` and `.jsonl.zst` files directly in a folder, by name.
///
/// # Errors
/// When the folder cannot be read or holds no such file.
pub fn sets(folder: &Path) -> Result<Vec<Set>, Error> {
    let failed = |source| Error::Read { path: folder.to_owned(), source };
    let mut sets = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("");
        if let Some(stem) = name.strip_suffix(".jsonl.zst").or_else(|| name.strip_suffix(".jsonl")) {
            sets.push(Set { name: stem.to_owned(), path: path.clone() });
        }
    }
    if sets.is_empty() {
        let problem = "no .jsonl or .jsonl.zst file here".to_owned();
        return Err(Error::Data { path: folder.to_owned(), problem });
    }
    sets.sort_by(|a, b| a.name.cmp(&b.name).then_with(|| a.path.cmp(&b.path)));
    Ok(sets)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Deserialize, Debug, PartialEq)]
    struct Row {
        id: u32,
    }

    fn file(name: &str, bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        (folder, path)
    }

    #[test]
    fn plain_and_compressed_files_give_the_same_rows() {
        let text = b"{\"id\":1}\n\n{\"id\":2}";
        let (_a, plain) = file("x.jsonl", text);
        let (_b, packed) = file("x.jsonl.zst", &zstd::encode_all(&text[..], 3).unwrap());
        let expected = vec![Row { id: 1 }, Row { id: 2 }];
        assert_eq!(read_rows::<Row>(&plain).unwrap(), expected);
        assert_eq!(read_rows::<Row>(&packed).unwrap(), expected);
    }

    #[test]
    fn rows_may_be_passed_over() {
        let (_folder, path) = file("x.jsonl", b"{\"id\":1}\nnot parsed\n\n{\"id\":3}\n{\"id\":4}\n");
        let rows = rows::<Row>(&path).unwrap().every(NonZeroUsize::new(2).unwrap());
        assert_eq!(rows.map(|row| row.unwrap().id).collect::<Vec<_>>(), [1, 3]);
    }

    #[test]
    fn a_bad_row_is_named_by_file_and_line() {
        let (_folder, path) = file("x.jsonl", b"{\"id\":1}\n\n{\"id\":\"two\"}\n");
        let error = read_rows::<Row>(&path).unwrap_err().to_string();
        assert!(error.ends_with("x.jsonl:3: not a row of this kind"), "{error}");
    }

    #[test]
    fn a_folder_gives_its_sets_by_name() {
        let (folder, _) = file("b.jsonl", b"");
        std::fs::write(folder.path().join("a.jsonl.zst"), b"").unwrap();
        std::fs::write(folder.path().join("notes.txt"), b"").unwrap();
        let names: Vec<String> = sets(folder.path()).unwrap().into_iter().map(|set| set.name).collect();
        assert_eq!(names, ["a", "b"]);
        let empty = tempfile::tempdir().unwrap();
        assert!(sets(empty.path()).is_err());
    }
}
