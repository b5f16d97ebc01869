//! Files made by hand, byte by byte, and files that others made, odd and broken ones too.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use pith_corpus::warc;

/// The folder of samples, if it is there.
pub fn folder() -> Option<PathBuf> {
    let shared = std::env::var_os("PITH_SHARED")
        .map(PathBuf::from)
        .unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared"));
    let folder = shared.join("data/warc");
    if !folder.is_dir() {
        println!("skipped: no samples in {}", folder.display());
        return None;
    }
    Some(folder)
}

/// Name, records, damaged places. The counts are those of FastWARC 1.1 and warcio 1.8, and where they differ from ours
/// a damage is reported and the reason stands here.
const SAMPLES: &[(&str, usize, u64)] = &[
    ("aut-example.arc.gz", 300, 0),
    ("aut-example.warc.gz", 822, 0),
    ("aut-issue-493.warc", 32, 0),
    ("cc-whirlwind.warc.gz", 4, 0),
    ("cc-whirlwind.warc.wat.gz", 2, 0),
    ("cc-whirlwind.warc.wet.gz", 2, 0),
    ("dolma-sample-0000.warc.gz", 48, 0),
    ("dolma-sample-0001.warc.gz", 34, 0),
    ("gowarc-test.warc.gz", 3, 0),
    ("iipc-20130729-heritrix-original.warc.gz", 1, 0),
    ("iipc-20130729-heritrix-revisit-with-http-headers.warc.gz", 1, 0),
    ("iipc-20141129-heritrix-revisit-with-http-headers-and-new-warc-headers.warc.gz", 1, 0),
    ("iipc-IAH-urls-wget.warc", 36, 0),
    ("jwarc-cc.warc.gz", 1, 0),
    ("jwarc-gzip_extra_sl.warc.gz", 1, 0),
    ("pywb-dupes.warc.gz", 25, 0),
    ("pywb-example-url-agnostic-revisit.warc.gz", 2, 0),
    ("pywb-example-wget-1-14.warc.gz", 6, 0),
    ("pywb-example-wpull.warc.gz", 4, 0),
    ("pywb-example2.warc.gz", 3, 0),
    ("pywb-iana.warc.gz", 343, 0),
    // Its only record declares more bytes than the file has; both peers give out what is there.
    ("pywb-missing-status-text.warc", 0, 1),
    ("resiliparse-block-sized-records.warc.gz", 3, 0),
    ("resiliparse-block-sized-records.warc.lz4", 3, 0),
    // One record, cut by its maker; both peers give out the beginning of it.
    ("resiliparse-clipped.warc.gz", 0, 1),
    ("resiliparse-clueweb-quirk.warc.gz", 30, 0),
    ("resiliparse-warcfile.warc", 50, 0),
    ("resiliparse-warcfile.warc.gz", 50, 0),
    ("resiliparse-warcfile.warc.lz4", 50, 0),
    // One gzip member without its end; FastWARC gives out the beginning of the second record.
    ("resilipipe-sample.warc.gz", 1, 1),
    ("warcdb-frontpages.warc.gz", 10, 0),
    ("warcio-example-bad-non-chunked.warc.gz", 6, 0),
    ("warcio-example-digest.warc", 4, 0),
    ("warcio-example-iana.org-chunked.warc", 3, 0),
    // The response is a few bytes shorter than it should be and its digest differs; the other three are right.
    ("warcio-example-trunc.warc", 3, 1),
    ("warcio-example-wget-bad-target-uri.warc.gz", 6, 0),
    ("warcio-example-wrong-chunks.warc.gz", 2, 0),
    ("warcio-example.warc.gz", 6, 0),
    ("warcio-post-test.warc.gz", 6, 0),
    ("pywb-valid_example_1.wacz", 4, 0),
    ("warcdb-scoop.wacz", 207, 0),
];

fn count(path: &Path) -> (usize, u64) {
    let mut reader = warc::read(path).expect("it opens");
    let mut records = 0;
    while reader.next().expect("the disk works").is_some() {
        records += 1;
    }
    (records, reader.damage().n_damaged)
}

/// A record as the standard writes it: header, empty line, block, two empty lines.
fn record(kind: &str, url: &str, block: &str) -> Vec<u8> {
    let length = block.len();
    format!(
        "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2021-03-04T05:06:07Z\r\n\
         WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-{length:012}>\r\nContent-Length: {length}\r\n\r\n{block}\r\n\r\n"
    )
    .into_bytes()
}

/// Four records of the kinds that a crawl writes, each with its block.
fn by_hand() -> Vec<(Vec<u8>, String)> {
    let page: String = (0..60).map(|row| format!("<p>Row {row} of the timetable, {}</p>\n", row * row)).collect();
    let blocks = [
        ("warcinfo", "", "software: a person with an editor\r\n".to_owned()),
        ("request", "http://quay.test/", "GET / HTTP/1.1\r\nHost: quay.test\r\n\r\n".to_owned()),
        ("response", "http://quay.test/", format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{page}")),
        ("metadata", "http://quay.test/", "hopsFromSeed: 0\r\n".to_owned()),
    ];
    blocks.map(|(kind, url, block)| (record(kind, url, &block), block)).into()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).expect("memory takes it");
    encoder.finish().expect("memory takes it")
}

/// The blocks that are read from these bytes, and the damaged places.
fn blocks(name: &str, bytes: &[u8]) -> (Vec<String>, u64) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).expect("written");
    let mut reader = warc::read(&path).expect("it opens");
    let mut blocks = Vec::new();
    while let Some(record) = reader.next().expect("the disk works") {
        blocks.push(String::from_utf8(record.block.to_vec()).expect("the blocks are text"));
    }
    (blocks, reader.damage().n_damaged)
}

#[test]
fn an_archive_made_by_hand_gives_its_records_in_every_compression() {
    let records = by_hand();
    let expected: Vec<String> = records.iter().map(|(_, block)| block.clone()).collect();
    let plain: Vec<u8> = records.iter().flat_map(|(bytes, _)| bytes.clone()).collect();
    let gzip_by_record: Vec<u8> = records.iter().flat_map(|(bytes, _)| gzip(bytes)).collect();
    let zstd = |bytes: &[u8]| zstd::encode_all(bytes, 3).expect("memory takes it");
    let zstd_by_record: Vec<u8> = records.iter().flat_map(|(bytes, _)| zstd(bytes)).collect();
    for (name, bytes) in [
        ("plain.warc", &plain),
        ("by-record.warc.gz", &gzip_by_record),
        ("one-member.warc.gz", &gzip(&plain)),
        ("by-record.warc.zst", &zstd_by_record),
        ("one-frame.warc.zst", &zstd(&plain)),
    ] {
        assert_eq!(blocks(name, bytes), (expected.clone(), 0), "{name}");
    }
}

#[test]
fn a_damaged_member_of_an_archive_made_by_hand_costs_its_record_and_is_counted() {
    let records = by_hand();
    let members: Vec<Vec<u8>> = records.iter().map(|(bytes, _)| gzip(bytes)).collect();
    for damaged in 1..records.len() {
        let mut bytes = members.concat();
        let start: usize = members[..damaged].iter().map(Vec::len).sum();
        // The last eight bytes of a member are its checksum and its length.
        let end = start + members[damaged].len();
        bytes[end - 8] ^= 0x55;
        let expected: Vec<String> = records
            .iter()
            .enumerate()
            .filter(|(index, _)| *index != damaged)
            .map(|(_, (_, block))| block.clone())
            .collect();
        assert_eq!(blocks("damaged.warc.gz", &bytes), (expected, 1), "record {damaged}");
    }
}

#[test]
fn an_archive_made_by_hand_that_is_cut_gives_the_records_before_the_cut() {
    let records = by_hand();
    let members: Vec<Vec<u8>> = records.iter().map(|(bytes, _)| gzip(bytes)).collect();
    let cut = members[0].len() + members[1].len() + members[2].len() / 2;
    let expected = vec![records[0].1.clone(), records[1].1.clone()];
    assert_eq!(blocks("cut.warc.gz", &members.concat()[..cut]), (expected.clone(), 1));
    let plain: Vec<u8> = records.iter().flat_map(|(bytes, _)| bytes.clone()).collect();
    let cut = records[0].0.len() + records[1].0.len() + records[2].0.len() / 2;
    assert_eq!(blocks("cut.warc", &plain[..cut]), (expected, 1));
}

/// The format before WARC: one line before each block.
#[test]
fn an_arc_file_made_by_hand_gives_its_page() {
    let about = "1 0 InternetArchive\nURL IP-address Archive-date Content-type Archive-length\n";
    let page = "HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n<p>Low water at noon.</p>";
    let bytes = format!(
        "filedesc://quay.arc 0.0.0.0 20010203040506 text/plain {}\n{about}\nhttp://quay.test/ 192.0.2.7 20010203040506 text/html {}\n{page}\n",
        about.len(),
        page.len()
    );
    let (found, damaged) = blocks("quay.arc", bytes.as_bytes());
    assert_eq!((found.last().map(String::as_str), damaged), (Some(page), 0));
}

#[test]
fn every_sample_gives_its_records_or_an_honest_count_of_damage() {
    let Some(folder) = folder() else { return };
    let mut wrong = Vec::new();
    for (name, records, damaged) in SAMPLES {
        let found = count(&folder.join(name));
        if found != (*records, *damaged) {
            wrong.push(format!("{name}: {found:?}, not {:?}", (records, damaged)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let known: Vec<&str> = SAMPLES.iter().map(|(name, ..)| *name).collect();
    for entry in std::fs::read_dir(&folder).expect("it can be listed") {
        let name = entry.expect("it can be listed").file_name().into_string().expect("UTF-8");
        let is_archive = name.contains(".warc") || name.contains(".arc") || name.ends_with(".wacz");
        assert!(!is_archive || known.contains(&name.as_str()), "{name} has no expected count");
    }
}

#[test]
fn every_encoding_of_one_file_gives_the_same_records() {
    let Some(folder) = folder() else { return };
    let records = |name: &str| {
        let mut reader = warc::read(folder.join("derived").join(name)).expect("it opens");
        let mut records = Vec::new();
        while let Some(record) = reader.next().expect("the disk works") {
            records.push((record.header.to_vec(), record.block.to_vec()));
        }
        assert!(!reader.damage().any(), "{name}");
        records
    };
    let plain = records("s.warc");
    assert_eq!(plain.len(), 48);
    for name in ["s-dict-l3.warc.zst", "s-dictraw.warc.zst", "s-l3.warc.zst", "s-single.warc.gz", "s-single.warc.zst"] {
        assert!(records(name) == plain, "{name} differs");
    }
}
