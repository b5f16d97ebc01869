//! Files that lie.

use std::fs;

use pith_corpus::warc::{self, Page, Reader, ReaderOptions};
use proptest::prelude::*;

/// Reads all of a file that was made up; gives its records and damaged places.
fn read(name: &str, bytes: &[u8], options: ReaderOptions) -> (usize, u64) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(name);
    fs::write(&path, bytes).expect("written");
    let Ok(mut reader) = Reader::open(&path, options) else { return (0, 0) };
    let mut records = 0;
    while let Some(record) = reader.next().expect("the disk works") {
        records += 1;
        Page::from_record(&record, 1_000_000);
    }
    (records, reader.damage().n_damaged)
}

fn record(url: &str, declared: u64, block: &[u8]) -> Vec<u8> {
    let mut bytes =
        format!("WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\nContent-Length: {declared}\r\n\r\n")
            .into_bytes();
    bytes.extend_from_slice(block);
    bytes.extend_from_slice(b"\r\n\r\n");
    bytes
}

#[test]
fn a_length_that_lies_costs_one_record() {
    for declared in [0, 3, 11, 500, 1_000_000_000, u64::MAX] {
        let block = b"HTTP/1.1 200 OK\r\n\r\nhello";
        let file = [
            record("http://a/", block.len() as u64, block),
            record("http://b/", declared, block),
            record("http://c/", block.len() as u64, block),
        ]
        .concat();
        let small = ReaderOptions { max_block_bytes: 10_000, ..ReaderOptions::default() };
        let (records, damaged) = read("x.warc", &file, ReaderOptions::default());
        assert_eq!((records, damaged), (2, 1), "declared {declared}");
        let (records, damaged) = read("x.warc", &file, small);
        assert!(damaged == 1 && records >= 1, "declared {declared}: {records} records, {damaged} damaged");
    }
}

#[test]
fn a_block_beyond_the_limit_is_cut_and_the_next_record_is_read() {
    let large = vec![b'x'; 3_000_000];
    let file = [record("http://a/", large.len() as u64, &large), record("http://b/", 2, b"ok")].concat();
    let options = ReaderOptions { max_block_bytes: 1000, ..ReaderOptions::default() };
    let folder = tempfile::tempdir().expect("a folder");
    for (name, bytes) in [("x.warc", file.clone()), ("x.warc.zst", zstd::encode_all(&file[..], 1).expect("packed"))] {
        let path = folder.path().join(name);
        fs::write(&path, bytes).expect("written");
        let mut reader = Reader::open(&path, options.clone()).expect("it opens");
        let first = reader.next().expect("readable").expect("a record");
        assert_eq!((first.block.len(), first.length, first.is_cut()), (1000, 3_000_000, true), "{name}");
        assert_eq!(reader.next().expect("readable").expect("a record").block, b"ok", "{name}");
        assert!(reader.next().expect("readable").is_none());
        assert!(!reader.damage().any(), "{name}");
    }
}

#[test]
fn a_frame_that_asks_for_a_huge_window_is_refused_and_counted() {
    // A frame header without a content size, with the largest window there is.
    let mut file = vec![0x28, 0xB5, 0x2F, 0xFD, 0x00, 0xFF];
    file.extend([0x01, 0x00, 0x00]);
    let good = zstd::bulk::compress(&record("http://a/", 2, b"ok"), 3).expect("packed");
    file.extend(&good);
    assert_eq!(read("x.warc.zst", &file, ReaderOptions::default()), (1, 1));
    // A content size of 2^60 bytes takes no memory; the empty frame holds no record, and the one behind it is read.
    let mut file = vec![0x28, 0xB5, 0x2F, 0xFD, 0xC0, 0x00];
    file.extend((1u64 << 60).to_le_bytes());
    file.extend([0x01, 0x00, 0x00]);
    file.extend(&good);
    assert_eq!(read("x.warc.zst", &file, ReaderOptions::default()).0, 1);
}

#[test]
fn a_dictionary_that_lies_is_counted_and_the_rest_is_read() {
    let good = zstd::bulk::compress(&record("http://a/", 2, b"ok"), 3).expect("packed");
    for size in [0u32, 4, 1000, u32::MAX] {
        let mut file = vec![0x5D, 0x2A, 0x4D, 0x18];
        file.extend(size.to_le_bytes());
        file.extend([0x37, 0xA4, 0x30, 0xEC]);
        file.extend(&good);
        assert_eq!(read("x.warc.zst", &file, ReaderOptions::default()), (1, 1), "size {size}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_read_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..3000), kind in 0..4usize) {
        let starts: [&[u8]; 4] = [b"WARC/1.0\r\nWARC-Type: response\r\n", &[0x1F, 0x8B, 8, 0], &[0x28, 0xB5, 0x2F, 0xFD], b"filedesc://x 0.0.0.0 20080430204825 text/plain 13\n"];
        let file = [starts[kind], &bytes].concat();
        let (records, damaged) = read("x.warc", &file, ReaderOptions::default());
        prop_assert!(records > 0 || damaged > 0);
    }

    #[test]
    fn any_http_head_is_read_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..500), kind in 0..5usize) {
        let encoding = ["gzip", "deflate", "br", "zstd", "x"][kind];
        let head = format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Encoding: {encoding}\r\n\r\n");
        let block = [head.as_bytes(), &bytes].concat();
        let (head, body) = warc::HttpHead::parse(&block).expect("a head");
        let (decoded, _) = head.decode(body, 1000);
        prop_assert!(decoded.len() <= 1000);
    }
}
