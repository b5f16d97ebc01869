//! Documents as WET: WARC `conversion` records of plain text, one gzip member each, as Common Crawl ships them.

use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};
use xxhash_rust::xxh3::xxh3_128;

use crate::Error;
use crate::atomic_file::{AtomicFile, SealedFile};
use crate::jsonl::DocumentFields;

/// Writes one `.warc.wet.gz` file, which appears whole when it is sealed.
pub struct Writer {
    file: AtomicFile,
    path: PathBuf,
}

impl Writer {
    /// Starts a file with its `warcinfo` record.
    pub fn create(path: &Path) -> Result<Writer, Error> {
        let mut writer = Writer { file: AtomicFile::create(path)?, path: path.into() };
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let block = format!("software: pith {}\r\nextracted: plain text\r\n", env!("CARGO_PKG_VERSION"));
        let header = format!(
            "WARC-Type: warcinfo\r\nWARC-Date: 1970-01-01T00:00:00Z\r\nWARC-Filename: {name}\r\n\
             WARC-Record-ID: {}\r\nContent-Type: application/warc-fields\r\n",
            record_id(name.as_bytes(), block.as_bytes())
        );
        writer.record(&header, block.as_bytes())?;
        Ok(writer)
    }

    /// Appends the text of one document.
    pub fn put(&mut self, document: &DocumentFields) -> Result<(), Error> {
        let address = field(document.address());
        let text = document.text.as_bytes();
        let date = match document.fetched_at.is_empty() {
            true => "1970-01-01T00:00:00Z".into(),
            false => field(&document.fetched_at),
        };
        let mut header = format!(
            "WARC-Type: conversion\r\nWARC-Target-URI: {address}\r\nWARC-Date: {date}\r\nWARC-Record-ID: {}\r\n\
             WARC-Block-Digest: sha256:{:x}\r\nContent-Type: text/plain\r\n",
            record_id(document.id.as_bytes(), text),
            Sha256::digest(text),
        );
        if !document.language.is_empty() {
            header.push_str(&format!("WARC-Identified-Content-Language: {}\r\n", field(&document.language)));
        }
        self.record(&header, text)
    }

    /// Makes the file durable and gives it its name.
    pub fn seal(self) -> Result<SealedFile, Error> {
        self.file.seal()
    }

    fn record(&mut self, header: &str, block: &[u8]) -> Result<(), Error> {
        let mut member = GzEncoder::new(&mut self.file, Compression::default());
        let head = format!("WARC/1.0\r\n{header}Content-Length: {}\r\n\r\n", block.len());
        let written = member.write_all(head.as_bytes()).and_then(|()| member.write_all(block));
        let written = written.and_then(|()| member.write_all(b"\r\n\r\n")).and_then(|()| member.finish());
        written.map(drop).map_err(Error::at(&self.path))
    }
}

/// A name that the same document has in every run.
fn record_id(id: &[u8], block: &[u8]) -> String {
    let hash = xxh3_128(&[id, b"\0", block].concat());
    let hex = format!("{hash:032x}");
    // Version 8: a UUID whose bits are the maker's own.
    format!("<urn:uuid:{}-{}-8{}-8{}-{}>", &hex[..8], &hex[8..12], &hex[13..16], &hex[17..20], &hex[20..])
}

/// A header value: nothing in it can end the line.
fn field(value: &str) -> String {
    let safe = |character: char| match character {
        control if control.is_control() || control.is_whitespace() => format!("%{:02X}", control as u32),
        other => other.to_string(),
    };
    value.trim().chars().map(safe).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jsonl::TextField;

    #[test]
    fn records_are_read_again_and_an_address_cannot_forge_a_header() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.warc.wet.gz");
        let mut writer = Writer::create(&path).unwrap();
        let hostile = "https://example.com/\r\nWARC-Type: response";
        let document = DocumentFields {
            url: TextField(hostile.into()),
            text: TextField("文字".into()),
            ..DocumentFields::default()
        };
        writer.put(&document).unwrap();
        writer.seal().unwrap();
        let mut reader = crate::warc::read(&path).unwrap();
        let page = reader.next_page().unwrap().unwrap();
        assert_eq!(page.body, "文字".as_bytes());
        assert_eq!(page.url, "https://example.com/%0D%0AWARC-Type:%20response");
        assert!(reader.next_page().unwrap().is_none());
        assert_eq!(reader.damage().n_damaged, 0);
    }
}
