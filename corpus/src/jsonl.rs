//! Document shards: one JSON object per line, compressed or not, read and written with bounded memory.
//!
//! This crate does not know what a document is beyond the few fields it looks at ([`DocumentFields`]); a line passes
//! through as the bytes it came as.

use std::borrow::Cow;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Deserializer, de};
use zstd::zstd_safe::CParameter;

use crate::Error;
use crate::atomic_file::{AtomicFile, SealedFile};
use crate::manifest::{MANIFEST_NAME, Manifest};
use crate::owner::OwnerWishes;

/// A longer line is damage: no page gives that much, and it would have to fit into memory.
pub const MAX_LINE_BYTES: usize = 64 << 20;

/// The compression of the shards we write: they rest between two steps, and level 3 takes twice the time for a tenth
/// of the size.
const ZSTD_LEVEL: i32 = 1;

/// How far back repeats are looked for, and in how large a table, as powers of two. Level 1 would take 19 and 14, which
/// the nearest caches do not hold: a sixth more time for a twentieth of the size.
const ZSTD_WINDOW_LOG: u32 = 17;
const ZSTD_HASH_LOG: u32 = 13;

/// The fields of a document that corpus building looks at. Absent and `null` are the empty text.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct DocumentFields<'l> {
    /// The document's own name.
    #[serde(borrow)]
    pub id: TextField<'l>,
    /// The address that was asked for.
    #[serde(borrow)]
    pub url: TextField<'l>,
    /// The address that answered.
    #[serde(borrow)]
    pub final_url: TextField<'l>,
    /// When it was fetched.
    #[serde(borrow)]
    pub fetched_at: TextField<'l>,
    /// Its language, such as `pt` or `zh-Hant`.
    #[serde(borrow)]
    pub language: TextField<'l>,
    /// Its title.
    #[serde(borrow)]
    pub title: TextField<'l>,
    /// When it was published.
    #[serde(borrow)]
    pub published: TextField<'l>,
    /// What kind of page it was.
    #[serde(borrow)]
    pub page_type: TextField<'l>,
    /// The F1 that the extractor expects of its text; nothing where it chose none.
    pub confidence: Option<f64>,
    /// The main content.
    #[serde(borrow)]
    pub text: TextField<'l>,
    /// What the extractor counted.
    pub counts: DocumentCounts,
    /// What its owner said about its use; nothing where nobody has looked.
    #[serde(deserialize_with = "crate::owner::read")]
    pub preferences: Option<OwnerWishes>,
}

/// The extractor's own counts, zero where it gave none.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub struct DocumentCounts {
    /// Characters of the text.
    pub characters: u64,
    /// Words of the text, by the rules of its language.
    pub words: u64,
    /// Sentences of the text.
    pub sentences: u64,
}

impl<'l> DocumentFields<'l> {
    /// Reads one line.
    pub fn of(line: &'l [u8]) -> Result<DocumentFields<'l>, serde_json::Error> {
        if line.trim_ascii_start().first() != Some(&b'{') {
            return Err(de::Error::custom("a document is a JSON object"));
        }
        serde_json::from_slice(line)
    }

    /// The address the text came from.
    pub fn address(&self) -> &str {
        if self.final_url.is_empty() { &self.url } else { &self.final_url }
    }
}

/// A text field, borrowed from its line where no escape stands in the way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextField<'l>(pub Cow<'l, str>);

impl std::ops::Deref for TextField<'_> {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

impl<'de: 'l, 'l> Deserialize<'de> for TextField<'l> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> de::Visitor<'de> for Visitor {
            type Value = TextField<'de>;
            fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
                formatter.write_str("a text or null")
            }
            fn visit_borrowed_str<E: de::Error>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(TextField(Cow::Borrowed(text)))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(TextField(Cow::Owned(text.to_owned())))
            }
            fn visit_string<E: de::Error>(self, text: String) -> Result<Self::Value, E> {
                Ok(TextField(Cow::Owned(text)))
            }
            fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
                Ok(TextField::default())
            }
            // Other people's corpora number their documents.
            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Self::Value, E> {
                Ok(TextField(Cow::Owned(number.to_string())))
            }
            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Self::Value, E> {
                Ok(TextField(Cow::Owned(number.to_string())))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

/// The lines of one document shard: `.jsonl`, `.jsonl.gz` or `.jsonl.zst`, told apart by their first bytes.
pub struct Reader {
    path: PathBuf,
    lines: Box<dyn BufRead + Send>,
    consumed: Arc<AtomicU64>,
    reported: u64,
    /// A line that did not lie in the buffer of `lines` whole.
    buffer: Vec<u8>,
    /// The bytes of that buffer that the last line borrows from.
    n_borrowed: usize,
    number: u64,
    ended: bool,
}

/// What stands at the next line.
#[derive(Debug)]
pub enum Line<'r> {
    /// A line, without its end.
    Good {
        /// Counted from 1.
        number: u64,
        /// The bytes; not yet known to be JSON.
        bytes: &'r [u8],
    },
    /// Something that cannot be a document, at this line. Reading goes on where it can.
    Damaged {
        /// Counted from 1.
        number: u64,
        /// What is wrong with it.
        why: String,
    },
}

impl Reader {
    /// Opens a shard.
    pub fn open(path: &Path) -> Result<Reader, Error> {
        let file = File::open(path).map_err(Error::at(path))?;
        let consumed = Arc::new(AtomicU64::new(0));
        let mut input = BufReader::with_capacity(1 << 17, CountingReader { file, consumed: consumed.clone() });
        let first = input.fill_buf().map_err(Error::at(path))?;
        let lines: Box<dyn BufRead + Send> = if first.starts_with(&[0x1f, 0x8b]) {
            Box::new(BufReader::with_capacity(1 << 17, flate2::bufread::MultiGzDecoder::new(input)))
        } else if first.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
            let decoder = zstd::Decoder::with_buffer(input).map_err(Error::at(path))?;
            Box::new(BufReader::with_capacity(1 << 17, decoder))
        } else {
            Box::new(input)
        };
        Ok(Reader {
            path: path.into(),
            lines,
            consumed,
            reported: 0,
            buffer: Vec::new(),
            n_borrowed: 0,
            number: 0,
            ended: false,
        })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The compressed bytes that were read since the last call.
    pub fn bytes_since(&mut self) -> u64 {
        let consumed = self.consumed.load(Ordering::Relaxed);
        consumed - std::mem::replace(&mut self.reported, consumed)
    }

    /// The next line that is not blank, or what is wrong there.
    pub fn next_line(&mut self) -> Option<Line<'_>> {
        while !self.ended {
            self.lines.consume(std::mem::take(&mut self.n_borrowed));
            self.number += 1;
            let number = self.number;
            // Most lines lie in the buffer whole, and are borrowed from it without a copy.
            let n_whole = match self.lines.fill_buf() {
                Ok(ahead) => memchr::memchr(b'\n', ahead),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => None,
                Err(error) => return Some(self.end_of_data(error)),
            };
            if let Some(n_bytes) = n_whole {
                self.n_borrowed = n_bytes + 1;
                if self.borrowed_line().iter().any(|byte| !byte.is_ascii_whitespace()) {
                    return Some(Line::Good { number, bytes: without_end(self.borrowed_line()) });
                }
                continue;
            }
            self.buffer.clear();
            match read_line(&mut *self.lines, &mut self.buffer) {
                Ok(0) => self.ended = true,
                Ok(_) if self.buffer.len() > MAX_LINE_BYTES => {
                    let has_end = self.buffer.ends_with(b"\n");
                    self.ended = !has_end && self.lines.skip_until(b'\n').is_err();
                    let why = format!("a line of more than {} MB", MAX_LINE_BYTES >> 20);
                    return Some(Line::Damaged { number, why });
                }
                Ok(_) => {
                    if self.buffer.iter().any(|byte| !byte.is_ascii_whitespace()) {
                        return Some(Line::Good { number, bytes: without_end(&self.buffer) });
                    }
                }
                Err(error) => return Some(self.end_of_data(error)),
            }
        }
        None
    }

    /// Reading cannot go on.
    fn end_of_data(&mut self, error: io::Error) -> Line<'static> {
        self.ended = true;
        Line::Damaged { number: self.number, why: format!("{error}; the rest of the file is lost") }
    }

    /// The line that was found whole in the buffer, with its end.
    fn borrowed_line(&mut self) -> &[u8] {
        // A buffer that holds something gives it without reading, and so without an error.
        self.lines.fill_buf().map_or(&[], |ahead| &ahead[..self.n_borrowed])
    }
}

fn without_end(line: &[u8]) -> &[u8] {
    let n_end = line.iter().rev().take_while(|byte| matches!(byte, b'\n' | b'\r')).count();
    &line[..line.len() - n_end]
}

/// Appends a line with its end, or the first part of one that is too long, and says how many bytes that was.
fn read_line(lines: &mut dyn BufRead, line: &mut Vec<u8>) -> io::Result<usize> {
    loop {
        let available = match lines.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            other => other?,
        };
        let end = memchr::memchr(b'\n', available);
        let taken = end.map_or(available.len(), |end| end + 1);
        line.extend_from_slice(&available[..taken]);
        lines.consume(taken);
        if end.is_some() || taken == 0 || line.len() > MAX_LINE_BYTES {
            return Ok(line.len());
        }
    }
}

struct CountingReader {
    file: File,
    consumed: Arc<AtomicU64>,
}

impl Read for CountingReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.file.read(buffer)?;
        self.consumed.fetch_add(bytes as u64, Ordering::Relaxed);
        Ok(bytes)
    }
}

/// Writes one `.jsonl.zst` shard, which appears whole when it is sealed.
pub struct Writer {
    encoder: zstd::Encoder<'static, AtomicFile>,
    path: PathBuf,
}

impl Writer {
    /// Starts a shard.
    pub fn create(path: impl Into<PathBuf>) -> Result<Writer, Error> {
        let path = path.into();
        let mut encoder = zstd::Encoder::new(AtomicFile::create(&path)?, ZSTD_LEVEL).map_err(Error::at(&path))?;
        encoder.include_checksum(true).map_err(Error::at(&path))?;
        for parameter in [CParameter::WindowLog(ZSTD_WINDOW_LOG), CParameter::HashLog(ZSTD_HASH_LOG)] {
            encoder.set_parameter(parameter).map_err(Error::at(&path))?;
        }
        Ok(Writer { encoder, path })
    }

    /// Appends one line; the bytes are one JSON object without a line end.
    pub fn put(&mut self, line: &[u8]) -> Result<(), Error> {
        debug_assert!(!line.contains(&b'\n'), "one document is one line");
        self.encoder.write_all(line).and_then(|()| self.encoder.write_all(b"\n")).map_err(Error::at(&self.path))
    }

    /// Makes the shard durable and gives it its name.
    pub fn seal(self) -> Result<SealedFile, Error> {
        self.encoder.finish().map_err(Error::at(self.path))?.seal()
    }
}

/// A line with one more field at its end.
pub fn with_field(line: &[u8], name: &str, value: &impl serde::Serialize) -> Vec<u8> {
    let line = line.trim_ascii_end();
    let body = line.strip_suffix(b"}").unwrap_or(line).trim_ascii_end();
    let mut longer = body.to_vec();
    if !body.ends_with(b"{") {
        longer.push(b',');
    }
    serde_json::to_writer(&mut longer, name).expect("a name is a text");
    longer.push(b':');
    serde_json::to_writer(&mut longer, value).expect("the value is plain data");
    longer.push(b'}');
    longer
}

/// A line with another text, and a field that says what was taken away. Its `counts`, which no longer hold, go.
pub fn with_text(line: &[u8], text: String, removed: (&str, u64)) -> Vec<u8> {
    let mut document: serde_json::Map<String, serde_json::Value> =
        serde_json::from_slice(line).expect("only documents come here");
    document.insert("text".into(), text.into());
    document.shift_remove("counts");
    document.insert(removed.0.into(), removed.1.into());
    serde_json::to_vec(&document).expect("a map of JSON values")
}

/// The document shards of a list of inputs: files as they are, folders by their content.
///
/// A folder that pith wrote gives the shards of its manifest; any other gives its `.jsonl[.gz|.zst]` files by name.
///
/// # Errors
///
/// [`Error::Unfinished`] for a folder whose run has not finished, [`Error::NoDocuments`] for one without shards.
pub fn shards(inputs: &[PathBuf]) -> Result<Vec<PathBuf>, Error> {
    let mut shards = Vec::new();
    for input in inputs {
        if !input.is_dir() {
            fs::metadata(input).map_err(Error::at(input))?;
            shards.push(input.clone());
            continue;
        }
        let before = shards.len();
        match Manifest::read(input)? {
            Some(manifest) if !manifest.complete => return Err(Error::Unfinished { path: input.clone() }),
            Some(manifest) => {
                let names = manifest.shards.iter().filter(|shard| is_document_shard(&shard.name));
                shards.extend(names.map(|shard| input.join(&shard.name)));
            }
            None => {
                for entry in fs::read_dir(input).map_err(Error::at(input))? {
                    let entry = entry.map_err(Error::at(input))?;
                    if is_document_shard(&entry.file_name().to_string_lossy()) {
                        shards.push(entry.path());
                    }
                }
                shards[before..].sort();
            }
        }
        if shards.len() == before {
            return Err(Error::NoDocuments { path: input.clone() });
        }
    }
    Ok(shards)
}

fn is_document_shard(name: &str) -> bool {
    name != MANIFEST_NAME
        && !name.starts_with("dropped/")
        && [".jsonl", ".jsonl.gz", ".jsonl.zst"].iter().any(|ending| name.ends_with(ending))
}

/// The name of a document: the same for the same page of the same shard, in every run.
pub fn document_id(url: &str, fetched_at: &str, shard: &str, offset: u64) -> String {
    let key = format!("{url}\n{fetched_at}\n{shard}\n{offset}");
    format!("{:032x}", xxhash_rust::xxh3::xxh3_128(key.as_bytes()))
}

/// The name of the document shard with this number.
pub fn shard_name(number: usize) -> String {
    format!("documents-{number:05}.jsonl.zst")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &Path) -> Vec<String> {
        let mut reader = Reader::open(path).unwrap();
        let mut lines = Vec::new();
        while let Some(line) = reader.next_line() {
            lines.push(match line {
                Line::Good { number, bytes } => format!("{number} {}", String::from_utf8_lossy(bytes)),
                Line::Damaged { number, .. } => format!("{number} damaged"),
            });
        }
        lines
    }

    #[test]
    fn what_is_written_is_read_again_in_every_compression() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl.zst");
        let mut writer = Writer::create(&path).unwrap();
        writer.put(b"{\"id\":\"a\"}").unwrap();
        writer.put("{\"id\":\"\u{6587}\u{2028}\"}".as_bytes()).unwrap();
        assert!(!path.exists());
        writer.seal().unwrap();
        let expected = ["1 {\"id\":\"a\"}".to_owned(), "2 {\"id\":\"\u{6587}\u{2028}\"}".to_owned()];
        assert_eq!(lines(&path), expected);

        let plain = zstd::decode_all(File::open(&path).unwrap()).unwrap();
        let plain_path = folder.path().join("a.jsonl");
        fs::write(&plain_path, &plain).unwrap();
        assert_eq!(lines(&plain_path), expected);

        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(&plain).unwrap();
        let gzip_path = folder.path().join("a.jsonl.gz");
        fs::write(&gzip_path, gzip.finish().unwrap()).unwrap();
        assert_eq!(lines(&gzip_path), expected);
    }

    #[test]
    fn a_torn_shard_gives_what_stands_before_the_tear_and_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
        for n in 0..40_000 {
            writeln!(gzip, "{{\"id\":{n}}}").unwrap();
        }
        let bytes = gzip.finish().unwrap();
        fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
        let lines = lines(&path);
        assert!(lines.len() > 10_000, "{}", lines.len());
        assert!(lines.last().unwrap().ends_with("damaged"));
        assert_eq!(lines.iter().filter(|line| line.ends_with("damaged")).count(), 1);
    }

    #[test]
    fn lines_are_whole_wherever_the_buffer_ends() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        let ends = ["\n", "\r\n", "\n\n", "\n \t\n"];
        let (mut text, mut expected, mut number) = (String::new(), Vec::new(), 1);
        for n in 0..600 {
            // From a byte to three buffers long.
            let line = "x".repeat(1 + n * n % 1_009 * (n % 400));
            expected.push(format!("{number} {line}"));
            let end = if n == 599 { "" } else { ends[n % 4] };
            number += end.matches('\n').count();
            text = text + &line + end;
        }
        fs::write(&path, &text).unwrap();
        let found = lines(&path);
        assert_eq!(found.len(), expected.len());
        assert!(found == expected, "a line is not what was written");
    }

    #[test]
    fn null_numbers_and_unknown_fields_are_read() {
        let view =
            DocumentFields::of(br#"{"id":7,"title":null,"text":"a\nb","links":[{"url":"x"}],"counts":{"words":3}}"#)
                .unwrap();
        assert_eq!((&*view.id, &*view.title, &*view.text, view.counts.words), ("7", "", "a\nb", 3));
        assert!(DocumentFields::of(b"[1]").is_err() && DocumentFields::of(b"{\"text\":\"cut").is_err());
    }

    #[test]
    fn plain_texts_are_borrowed() {
        let view = DocumentFields::of(br#"{"text":"no escapes here"}"#).unwrap();
        assert!(matches!(view.text.0, Cow::Borrowed(_)));
    }
}
