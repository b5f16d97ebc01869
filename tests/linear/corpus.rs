//! Archives of any packing, the bodies in them, and their indexes.

use std::hint::black_box;
use std::io::{Cursor, Write as _};

use flate2::Compression;
use flate2::write::GzEncoder;
use pith_corpus::warc::{self, Page, Reader, ReaderOptions};

use crate::growth::{Case, check_all, repeated};

const RECORD: &str = "WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: http://example.com/#\r\nWARC-Date: 2024-01-02T03:04:05Z\r\n\
    Content-Type: application/http\r\nContent-Length: 43\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n<p>hi\r\n\r\n";

fn drain(bytes: &[u8], name: &str) {
    let options = ReaderOptions { max_block_bytes: 1 << 20, ..ReaderOptions::default() };
    let Ok(mut reader) = Reader::from_stream(Box::new(Cursor::new(bytes.to_vec())), name, options) else { return };
    while let Some(record) = reader.next().expect("memory can be read") {
        black_box(Page::from_record(&record, 1 << 20));
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
    packer.write_all(bytes).expect("memory can be written");
    packer.finish().expect("memory can be written")
}

#[test]
fn archives_are_read_in_linear_time() {
    const PIECES: &[&str] = &[
        RECORD,
        "WARC/1.0",
        "WARC/1.0\r\n",
        "WARC/1.0\r\nContent-Length: 0\r\n\r\n",
        "WARC/1.0\r\nContent-Length: 10000000000\r\n\r\n",
        "WARC-Type: response\r\n",
        "Content-Length: 7\r\n",
        "a: b\r\n",
        "a: ",
        " b\r\n",
        "\r\n",
        "\r\n\r\n",
        "http://example.com/# 1.2.3.4 20240102030405 text/html 5\n",
        "x",
    ];
    let plain = |bytes: &[u8]| drain(bytes, "x.warc");
    // The first bytes tell what a file is.
    let whole = |bytes: &[u8]| drain(&[RECORD.as_bytes(), bytes].concat(), "x.warc");
    let packed = |bytes: &[u8]| drain(&gzip(bytes), "x.warc.gz");
    check_all(PIECES, &[("an archive", &plain), ("an archive behind a record", &whole), ("a packed archive", &packed)]);
}

#[test]
fn archives_in_tiny_members_are_read_in_linear_time() {
    let record = RECORD.as_bytes();
    for size in [1, 2, 7] {
        // A member of a few bytes takes about twenty.
        let input = |n_bytes: usize| {
            let pieces = record.iter().copied().cycle().take(n_bytes / 24 * size);
            pieces.collect::<Vec<u8>>().chunks(size).flat_map(gzip).collect()
        };
        let work = |bytes: &[u8]| drain(bytes, "x.warc.gz");
        Case { name: format!("members of {size} bytes"), input: &input, work: &work }.check();
    }
    let empty = gzip(b"");
    let input = |n_bytes: usize| empty.iter().copied().cycle().take(n_bytes / empty.len() * empty.len()).collect();
    Case { name: "empty members".into(), input: &input, work: &|bytes| drain(bytes, "x.warc.gz") }.check();
    for piece in ["\u{28}", "\u{50}\u{2a}\u{4d}\u{18}\0\0\0\0", "\u{1f}\u{8b}\u{8}"] {
        let bytes: Vec<u8> = piece.chars().map(|c| c as u8).collect();
        let input = |n_bytes: usize| bytes.iter().copied().cycle().take(n_bytes).collect();
        for name in ["x.warc.gz", "x.warc.zst"] {
            Case { name: format!("{bytes:02x?} in {name}"), input: &input, work: &|input| drain(input, name) }.check();
        }
    }
}

#[test]
fn bodies_are_decoded_in_linear_time() {
    for (encoding, body) in [
        ("gzip", Box::new(|n_bytes: usize| gzip(&vec![b'x'; 20 * n_bytes])) as Box<dyn Fn(usize) -> Vec<u8>>),
        ("gzip", Box::new(|n_bytes: usize| gzip(b"").repeat(n_bytes / 20))),
        ("gzip, gzip", Box::new(|n_bytes: usize| gzip(&gzip(b"").repeat(n_bytes / 20)))),
        ("deflate", Box::new(|n_bytes: usize| vec![0; n_bytes])),
        ("br", Box::new(|n_bytes: usize| [vec![0x0b], vec![0; n_bytes]].concat())),
        ("zstd", Box::new(|n_bytes: usize| b"\x50\x2a\x4d\x18\0\0\0\0".repeat(n_bytes / 8))),
        ("identity", Box::new(|n_bytes: usize| b"1\r\nx\r\n".repeat(n_bytes / 6))),
    ] {
        let input = |n_bytes: usize| {
            let body = body(n_bytes);
            let chunked = if encoding == "identity" { "Transfer-Encoding: chunked\r\n" } else { "" };
            let head = format!("HTTP/1.1 200 OK\r\n{chunked}Content-Encoding: {encoding}\r\n\r\n");
            let length = head.len() + body.len();
            let record = format!(
                "WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: http://example.com/\r\n\
                 Content-Type: application/http\r\nContent-Length: {length}\r\n\r\n"
            );
            [record.as_bytes(), head.as_bytes(), &body, b"\r\n\r\n"].concat()
        };
        Case { name: format!("a body in {encoding}"), input: &input, work: &|input| drain(input, "x.warc") }.check();
    }
}

#[test]
fn indexes_are_read_in_linear_time() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let shard = folder.path().join("pages-00000.warc.zst");
    std::fs::write(&shard, [0; 4096]).expect("written");
    let line =
        "com,example)/ 20240102030405 {\"url\": \"http://example.com/#\", \"length\": \"1\", \"offset\": \"#\"}\n";
    for piece in [line, "com,example)/ 1 {", "{\"a\":", "\n", " ", "x"] {
        let input = |n_bytes| repeated(piece, n_bytes);
        let work = |bytes: &[u8]| {
            std::fs::write(folder.path().join("pages-00000.cdxj"), bytes).expect("written");
            let _ = black_box(warc::find(&shard, "http://example.com/0"));
            let _ = black_box(warc::parts(&shard, 16));
        };
        Case { name: format!("an index of {piece:?}"), input: &input, work: &work }.check();
    }
}
