//! Bad bytes and torn ends: what is lost is at most the record they are in, and it is counted.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;

use pith_corpus::warc::{self, Format, Page, ShardWriter};

use super::shards::{body, check_pages, options, pages, put, shards};

/// A shard of 200 pages; for zstd the second of its folder, which has a dictionary.
fn shard(folder: &Path, format: Format) -> Vec<u8> {
    let mut writer = ShardWriter::open(folder, options(format, 300_000)).expect("it opens");
    let mut number = 10_000;
    while writer.position().shard == 0 {
        put(&mut writer, number);
        number += 1;
    }
    writer.finish().expect("it closes");
    fs::remove_file(folder.join(format!("pages-00001.{}", format.extension()))).expect("removed");
    let mut writer = ShardWriter::open(folder, options(format, u64::MAX)).expect("it opens");
    (0..199).for_each(|number| put(&mut writer, number));
    writer.finish().expect("it closes");
    fs::read(shards(folder).last().expect("a shard")).expect("readable")
}

fn read(path: &Path, bytes: &[u8]) -> (Vec<Page>, usize, u64) {
    fs::write(path, bytes).expect("written");
    let mut reader = warc::read(path).expect("it opens");
    let (mut pages, mut records) = (Vec::new(), 0);
    while let Some(record) = reader.next().expect("the disk works") {
        records += 1;
        pages.extend(Page::from_record(&record, usize::MAX));
    }
    (pages, records, reader.damage().n_damaged)
}

/// Flips a byte, reads, and says what is wrong with the answer.
#[track_caller]
fn check_flip(path: &Path, good: &[u8], expected: &HashMap<String, Page>, at: usize, flip: u8) {
    let mut bytes = good.to_vec();
    bytes[at] ^= flip;
    let (pages, records, damaged) = read(path, &bytes);
    let lost = 200 - records;
    assert!(records <= 200 && lost <= 1, "byte {at} ^ {flip:#x}: {lost} records lost");
    assert!(lost == 0 || damaged > 0, "byte {at} ^ {flip:#x}: a record lost in silence");
    assert!(damaged <= 1, "byte {at} ^ {flip:#x}: one bad byte counted as {damaged} places");
    let found: HashSet<&str> = pages.iter().map(|page| page.url.as_str()).collect();
    assert_eq!(found.len(), pages.len(), "byte {at} ^ {flip:#x}: a page twice");
    for page in &pages {
        let put = expected.get(&page.url);
        let put = put.unwrap_or_else(|| panic!("byte {at} ^ {flip:#x}: a page that was never put: {}", page.url));
        assert!(page == put, "byte {at} ^ {flip:#x}: a page is wrong in silence");
    }
}

fn check_flips(format: Format, seed: u64) {
    let folder = tempfile::tempdir().expect("a folder");
    let good = shard(folder.path(), format);
    let path = folder.path().join(format!("flipped.{}", format.extension()));
    let (pages, records, damaged) = read(&path, &good);
    assert_eq!((records, damaged), (200, 0));
    check_pages(&pages, 0..199);
    let expected: HashMap<String, Page> = pages.into_iter().map(|page| (page.url.clone(), page)).collect();
    let mut random = seed;
    let mut next = || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random
    };
    for _ in 0..1000 {
        let at = (next() % good.len() as u64) as usize;
        check_flip(&path, &good, &expected, at, (next() % 255 + 1) as u8);
    }
    // The front is the most delicate place: magic, dictionary, its copy, the first record.
    let second_record = second_frame(&good, format);
    for at in (0..64).chain(second_record..second_record + 40) {
        check_flip(&path, &good, &expected, at, 1 << (at % 8));
    }
}

/// Where the last third of the file has a frame: any will do.
fn second_frame(bytes: &[u8], format: Format) -> usize {
    let magic: &[u8] = if format == Format::Zstd { &[0x28, 0xB5, 0x2F, 0xFD] } else { &[0x1F, 0x8B, 0x08] };
    let from = bytes.len() / 3 * 2;
    from + bytes[from..].windows(magic.len()).position(|window| window == magic).expect("there are frames")
}

#[test]
fn a_flipped_byte_costs_at_most_its_record_in_zstd() {
    check_flips(Format::Zstd, 0xC0FF_EE01);
}

#[test]
fn a_flipped_byte_costs_at_most_its_record_in_gzip() {
    check_flips(Format::Gzip, 0xC0FF_EE02);
}

/// Every cut through the last two records, read and then gone on with.
fn check_cuts(format: Format) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut writer = ShardWriter::open(folder.path(), options(format, u64::MAX)).expect("it opens");
    for number in 0..12 {
        let body = format!("<p>{number}</p>").repeat(number + 40);
        super::shards::put_body(&mut writer, number, body.as_bytes());
    }
    writer.commit().expect("durable");
    drop(writer);
    let offsets: Vec<u64> = pages(folder.path()).0.iter().map(|page| page.offset).collect();
    let open = folder.path().join(format!("pages-00000.{}.open", format.extension()));
    let whole = fs::read(&open).expect("readable");
    for length in offsets[10] as usize..=whole.len() {
        fs::write(&open, &whole[..length]).expect("written");
        let (read, damaged) = pages(folder.path());
        let left = offsets.iter().skip(1).chain([&(whole.len() as u64)]).filter(|end| **end <= length as u64).count();
        // When only the checksum is cut off, the digest in the header still proves the record.
        assert!(read.len() == left || read.len() == left + 1, "cut at {length}: {} pages", read.len());
        assert!(
            read.iter().enumerate().all(|(number, page)| page.body.starts_with(format!("<p>{number}</p>").as_bytes()))
        );
        let at_a_seam = length as u64 == offsets[10] || length as u64 == offsets[11] || length == whole.len();
        assert_eq!(damaged, u64::from(!at_a_seam), "cut at {length}");

        let mut writer = ShardWriter::open(folder.path(), options(format, u64::MAX)).expect("it goes on");
        put(&mut writer, 77);
        writer.commit().expect("durable");
        drop(writer);
        let (read, damaged) = pages(folder.path());
        assert_eq!((read.len(), damaged), (left + 1, 0), "after going on from {length}");
        assert_eq!(read[left].body, body(77));
        fs::remove_file(&open).expect("removed");
    }
}

#[test]
fn a_torn_shard_gives_every_earlier_record_and_goes_on_in_zstd() {
    check_cuts(Format::Zstd);
}

#[test]
fn a_torn_shard_gives_every_earlier_record_and_goes_on_in_gzip() {
    check_cuts(Format::Gzip);
}
