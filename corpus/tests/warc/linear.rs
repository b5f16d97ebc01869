//! Files made to be read again and again: the work must grow with the file, and what is true in it must be found.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use pith_corpus::warc::{Reader, ReaderOptions, Verify};

const ZSTD_MAGIC: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];

fn record(url: &str, declared: u64, block: &[u8]) -> Vec<u8> {
    let mut bytes =
        format!("WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\nContent-Length: {declared}\r\n\r\n")
            .into_bytes();
    bytes.extend_from_slice(block);
    bytes.extend_from_slice(b"\r\n\r\n");
    bytes
}

fn good(url: &str) -> Vec<u8> {
    record(url, 5, b"hello")
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).expect("memory can be written");
    encoder.finish().expect("memory can be written")
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::bulk::compress(bytes, 1).expect("packed")
}

fn drain(mut reader: Reader) -> (Vec<String>, u64) {
    let mut urls = Vec::new();
    while let Some(record) = reader.next().expect("the disk works") {
        urls.push(record.url().unwrap_or_default().into_owned());
    }
    (urls, reader.damage().n_damaged)
}

/// Reads a file from the disk and through a pipe; both must end long before a minute is over. Gives the URLs of its
/// records and the damaged places, first of the file, then of the pipe.
fn read_both(name: &str, bytes: Vec<u8>, options: &ReaderOptions) -> [(Vec<String>, u64); 2] {
    let (name, options) = (name.to_owned(), options.clone());
    let (done, result) = mpsc::channel();
    std::thread::spawn(move || {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(&name);
        fs::write(&path, &bytes).expect("written");
        let from_file = drain(Reader::open(&path, options.clone()).expect("an archive"));
        let pipe: Box<dyn std::io::Read + Send> = Box::new(std::io::Cursor::new(bytes));
        let from_pipe =
            drain(Reader::from_stream(pipe, Path::new(&name).to_str().expect("text"), options).expect("an archive"));
        let _ = done.send([from_file, from_pipe]);
    });
    result.recv_timeout(Duration::from_secs(120)).expect("the file is read in time")
}

#[track_caller]
fn check(name: &str, bytes: Vec<u8>, expected: &[&str], damaged: u64) {
    check_with(name, bytes, &ReaderOptions::default(), expected, damaged);
}

#[track_caller]
fn check_with(name: &str, bytes: Vec<u8>, options: &ReaderOptions, expected: &[&str], damaged: u64) {
    for (urls, n_damaged) in read_both(name, bytes, options) {
        assert_eq!(urls, expected, "{name}");
        assert_eq!(n_damaged, damaged, "{name}");
    }
}

#[test]
fn headers_that_never_end_are_looked_at_once() {
    for line in ["WARC/1.0\r\n", "WARC/1.0\r\nContent-Type: text/html\r\n", "WARC/1.0\r\nWARC-Type: response\r\nx\r\n"]
    {
        let mut file = good("http://a/");
        file.extend(line.repeat(4_000_000 / line.len()).bytes());
        file.extend(good("http://b/"));
        let expected = ["http://a/", "http://b/"];
        check("x.warc.gz", gzip(&file), &expected, 1);
        check("x.warc.zst", zstd(&file), &expected, 1);
        check("x.warc", file, &expected, 1);
    }
}

#[test]
fn a_record_in_many_small_units_is_read() {
    let file = [record("http://a/", 20_000, &[b'x'; 20_000]), good("http://b/")].concat();
    let expected = ["http://a/", "http://b/"];
    check("x.warc.gz", file.chunks(1).flat_map(gzip).collect(), &expected, 0);
    check("x.warc.zst", file.chunks(2).flat_map(zstd).collect(), &expected, 0);
    // A header of many lines, each in a unit of its own, and empty lines without end behind a record.
    let header = format!("WARC/1.0\r\n{}", "a: b\n".repeat(20_000));
    let file = [header.as_bytes(), &b"\n".repeat(20_000), &good("http://c/")].concat();
    check("x.warc.zst", file.chunks(3).flat_map(zstd).collect(), &["http://c/"], 1);
    let file = [&good("http://a/")[..], &b"\r\n".repeat(20_000), &good("http://c/")].concat();
    check("x.warc.gz", file.chunks(2).flat_map(gzip).collect(), &["http://a/", "http://c/"], 0);
}

#[test]
fn a_length_beyond_the_file_hides_no_record() {
    let options = ReaderOptions { max_block_bytes: 20_000, ..ReaderOptions::default() };
    let urls: Vec<String> = (0..2000).map(|number| format!("http://a/{number}")).collect();
    let later: Vec<u8> = urls.iter().flat_map(|url| good(url)).collect();
    let file = [record("http://lie/", 10_000_000_000, b"hello"), later.clone()].concat();
    let expected: Vec<&str> = urls.iter().map(String::as_str).collect();
    check_with("x.warc", file.clone(), &options, &expected, 1);
    check_with("x.warc.gz", gzip(&file), &options, &expected, 1);
    check_with("x.warc.zst", zstd(&file), &options, &expected, 1);
    // The lie begins to show only behind the part of the block that is given out.
    let file = [record("http://lie/", 10_000_000_000, &[b'x'; 300_000]), later].concat();
    for (name, bytes) in [("x.warc", file.clone()), ("x.warc.zst", zstd(&file)), ("x.warc.gz", gzip(&file))] {
        for (found, damaged) in read_both(name, bytes, &options) {
            assert_eq!((&found[found.len() - urls.len()..], damaged), (&urls[..], 1), "{name}");
        }
    }
}

#[test]
fn a_true_length_beyond_the_limit_is_believed_where_it_can_be_checked() {
    // An archive inside of an archive: its records are not those of the file.
    let inner: Vec<u8> = (0..2000).flat_map(|number| good(&format!("http://inner/{number}"))).collect();
    let file = [record("http://a/", inner.len() as u64, &inner), good("http://b/")].concat();
    let options = ReaderOptions { max_block_bytes: 20_000, ..ReaderOptions::default() };
    let expected = (vec!["http://a/".to_owned(), "http://b/".to_owned()], 0);
    assert_eq!(read_both("x.warc", file.clone(), &options)[0], expected);
    assert_eq!(read_both("x.warc.gz", gzip(&file), &options), [expected.clone(), expected.clone()]);
    assert_eq!(read_both("x.warc.zst", zstd(&file), &options), [expected.clone(), expected]);
}

#[test]
fn a_skippable_frame_that_lies_hides_no_record() {
    for size in [1_000u32, 2_000_000_000, u32::MAX] {
        let mut file = zstd(&good("http://a/"));
        file.extend([0x50, 0x2A, 0x4D, 0x18]);
        file.extend(size.to_le_bytes());
        file.extend(zstd(&good("http://b/")));
        file.extend(zstd(&good("http://c/")));
        check("x.warc.zst", file, &["http://a/", "http://b/", "http://c/"], 1);
    }
}

#[test]
fn units_inside_of_units_are_not_all_decoded() {
    // Every twenty bytes a gzip member begins whose stored blocks lead to the next one, and no member ends well.
    let member = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF, 0, 10, 0, 0xF5, 0xFF];
    let file = [gzip(&good("http://a/")), member.repeat(200_000), gzip(&good("http://b/"))].concat();
    let [(urls, damaged), _] = read_both("x.warc.gz", file, &ReaderOptions::default());
    assert_eq!((urls[0].as_str(), damaged > 0), ("http://a/", true));
    // The same with raw blocks of zstd frames that give no size, and of frames that give one.
    for header in [&[0x00, 0x58][..], &[0xA0, 0x00, 0x00, 0xF0, 0x00]] {
        let frame = [&ZSTD_MAGIC[..], header].concat();
        let block = ((frame.len() as u32) << 3).to_le_bytes();
        let nested = [&frame[..], &block[..3]].concat().repeat(200_000);
        let file = [zstd(&good("http://a/")), nested, zstd(&good("http://b/"))].concat();
        let [(urls, damaged), _] = read_both("x.warc.zst", file, &ReaderOptions::default());
        assert_eq!((urls[0].as_str(), damaged > 0), ("http://a/", true), "{header:?}");
    }
}

#[test]
fn bytes_without_a_record_are_not_decoded_without_end() {
    // Sixteen gigabytes of zeros in half a megabyte, in one frame and in many.
    let block = |is_last: u32| (131_072u32 << 3 | 0b10 | is_last).to_le_bytes()[..3].to_vec();
    let zeros = |n_blocks: usize| -> Vec<u8> {
        let mut blocks: Vec<u8> = [block(0), vec![0]].concat().repeat(n_blocks - 1);
        blocks.extend([block(1), vec![0]].concat());
        [&ZSTD_MAGIC[..], &[0x00, 0x58], &blocks].concat()
    };
    for bomb in [zeros(131_072), zeros(64).repeat(2048)] {
        // Units may be passed over until the file has paid for what was decoded in vain.
        let later = zstd(&good("http://b/")).repeat(5000);
        let file = [zstd(&good("http://a/")), bomb, later].concat();
        for (urls, damaged) in read_both("x.warc.zst", file, &ReaderOptions::default()) {
            assert_eq!((urls[0].as_str(), urls[urls.len() - 1].as_str()), ("http://a/", "http://b/"));
            assert!((1..100).contains(&damaged), "{damaged} damaged places");
        }
    }
}

#[test]
fn overlapping_records_are_not_hashed_each_for_itself() {
    let size = 4_000_000;
    let mut file = Vec::new();
    while file.len() < size {
        let declared = size - file.len();
        file.extend_from_slice(
            format!(
                "WARC/1.1\r\nWARC-Type: response\r\nWARC-Block-Digest: sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\r\nContent-Length: {declared}\r\n\r\n"
            )
            .as_bytes(),
        );
    }
    file.extend(b"x\r\n\r\n".repeat(200));
    file.extend(good("http://b/"));
    let options = ReaderOptions { verify: Verify::Always, ..ReaderOptions::default() };
    check_with("x.warc", file, &options, &["http://b/"], 1);
}

#[test]
fn a_lie_inside_of_a_frame_hides_no_record_of_the_frame() {
    let frame = [record("http://lie/", 10_000_000_000, b"hello"), good("http://a/"), good("http://b/")].concat();
    let next = good("http://c/");
    let expected = ["http://a/", "http://b/", "http://c/"];
    check("x.warc.zst", [zstd(&frame), zstd(&next)].concat(), &expected, 1);
    check("x.warc.gz", [gzip(&frame), gzip(&next)].concat(), &expected, 1);
}
