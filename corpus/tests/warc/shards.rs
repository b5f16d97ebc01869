//! What was put comes back.

use std::fs;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use pith_corpus::Error;
use pith_corpus::warc::{
    self, DictionaryUse, Format, Page, PageKind, Reader, ReaderOptions, RecordType, Response, Revisit, ShardWriter,
    Truncated, WriterOptions,
};

/// A page like those of the web: markup that pages share, text that they do not.
pub fn body(number: usize) -> Vec<u8> {
    let mut seed = (number as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mut word = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed
    };
    let mut html =
        format!("<!doctype html><html><head><title>Page {number}</title></head><body><nav>Home | News | About</nav>\n");
    for paragraph in 0..12 {
        html.push_str("<p class=\"story-body__paragraph\">");
        for _ in 0..40 {
            html.push_str(["rain", "über", "文字", "casa", "light", "não", "stone", "river"][(word() % 8) as usize]);
            html.push(' ');
            html.push_str(&(word() % 10_000).to_string());
            html.push(' ');
        }
        html.push_str(&format!("</p><!-- {paragraph} -->\n"));
    }
    html.push_str("</body></html>");
    html.into_bytes()
}

pub fn url(number: usize) -> String {
    format!("http://host{}.example/page/{number}?q=a b", number % 7)
}

pub fn date(number: usize) -> Timestamp {
    Timestamp::from_millisecond(1_700_000_000_000 + number as i64 * 1_234).expect("in range")
}

pub fn put(writer: &mut ShardWriter, number: usize) {
    let body = body(number);
    put_body(writer, number, &body)
}

pub fn put_body(writer: &mut ShardWriter, number: usize, body: &[u8]) {
    let (url, length) = (url(number), (body.len() / 3).to_string());
    let headers: &[(&str, &[u8])] = &[
        ("Content-Type", b"text/html; charset=utf-8"),
        ("content-encoding", b"gzip"),
        ("Content-Length", length.as_bytes()),
        ("X-Odd", b"caf\xE9\r\nInjected: yes"),
    ];
    let response = Response {
        url: &url,
        fetched_at: date(number),
        ip: Some([192, 0, 2, (number % 250) as u8].into()),
        status_line: "HTTP/1.1 200 OK",
        headers,
        body,
        truncated: None,
        revisit: Revisit::Detect,
        preferences: None,
    };
    writer.put(&response).expect("the page is written");
}

pub fn shards(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the folder is there")
        .map(|entry| entry.expect("it can be listed").path())
        .filter(|path| path.to_string_lossy().contains(".warc."))
        .collect();
    paths.sort();
    paths
}

/// All pages of a folder, and how many places were damaged.
pub fn pages(folder: &Path) -> (Vec<Page>, u64) {
    let (mut pages, mut damaged) = (Vec::new(), 0);
    for path in shards(folder) {
        let mut reader = warc::read(&path).expect("it opens");
        pages.extend(reader.pages().map(|page| page.expect("the disk works")));
        damaged += reader.damage().n_damaged;
    }
    (pages, damaged)
}

pub fn options(format: Format, shard_bytes: u64) -> WriterOptions {
    WriterOptions { shard_bytes, dictionary: DictionaryUse::Train(16 * 1024), ..WriterOptions::new(format) }
}

#[track_caller]
pub fn check_pages(pages: &[Page], numbers: impl IntoIterator<Item = usize>) {
    let numbers: Vec<usize> = numbers.into_iter().collect();
    assert_eq!(pages.len(), numbers.len());
    for (page, number) in pages.iter().zip(numbers) {
        assert_eq!(page.kind, PageKind::Response);
        assert_eq!(page.url, url(number).replace(' ', "%20"));
        assert_eq!(page.body, body(number), "page {number}");
        assert_eq!(page.fetched_at, Some(date(number)));
        assert_eq!(page.status, Some(200));
        assert!(page.is_whole);
    }
}

#[test]
fn pages_come_back_as_they_were_put_in_both_formats() {
    for format in [Format::Zstd, Format::Gzip] {
        let folder = tempfile::tempdir().expect("a folder");
        let mut writer = ShardWriter::open(folder.path(), options(format, 400_000)).expect("it opens");
        (0..500).for_each(|number| put(&mut writer, number));
        writer.commit().expect("it is durable");
        writer.finish().expect("it closes");
        let (pages, damaged) = pages(folder.path());
        assert_eq!(damaged, 0);
        check_pages(&pages, 0..500);
        assert!(shards(folder.path()).len() > 2, "several shards: {:?}", shards(folder.path()));
        let page = &pages[3];
        assert_eq!(page.header("X-Crawl-Content-Encoding"), Some(&b"gzip"[..]));
        assert_eq!(page.header("Content-Length"), Some(page.body.len().to_string().as_bytes()));
        assert_eq!(page.header("Injected"), None);
        if format == Format::Zstd {
            let second = std::fs::read(&shards(folder.path())[1]).expect("readable");
            assert_eq!(second[..4], [0x5D, 0x2A, 0x4D, 0x18], "the second shard begins with a dictionary");
        }
    }
}

/// The bytes of every shard but their `warcinfo` records, which tell the time.
fn records_written_by(threads: usize) -> Vec<(String, Vec<u8>)> {
    let folder = tempfile::tempdir().expect("a folder");
    let threads = threads.try_into().expect("not zero");
    let options = WriterOptions { threads, ..options(Format::Zstd, 100_000) };
    let mut writer = ShardWriter::open(folder.path(), options).expect("it opens");
    for number in 0..600 {
        // One in five repeats an earlier page of its host.
        put_body(&mut writer, number, &body(if number % 5 == 4 { number % 35 } else { number }));
    }
    writer.finish().expect("it closes");
    let mut records = Vec::new();
    for shard in shards(folder.path()) {
        let mut reader = warc::read(&shard).expect("it opens");
        while let Some(record) = reader.next().expect("readable") {
            let is_page = record.kind != RecordType::Warcinfo;
            let name = shard.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let bytes = [record.header, record.block].concat();
            records.extend(is_page.then_some((name, bytes)));
        }
        assert!(!reader.damage().any());
    }
    records
}

#[test]
fn the_number_of_threads_changes_no_record_and_no_order() {
    let by_one = records_written_by(1);
    assert_eq!(by_one.len(), 600);
    let n_shards = by_one.iter().map(|(name, _)| name).collect::<std::collections::BTreeSet<_>>().len();
    assert!(n_shards > 3, "{n_shards} shards");
    assert!(records_written_by(2) == by_one && records_written_by(7) == by_one);
}

fn finished(format: Format, shard_bytes: u64, count: usize) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let mut writer = ShardWriter::open(folder.path(), options(format, shard_bytes)).expect("it opens");
    (0..count).for_each(|number| put(&mut writer, number));
    writer.finish().expect("it closes");
    folder
}

#[test]
fn the_parts_of_a_shard_hold_each_page_once() {
    for format in [Format::Zstd, Format::Gzip] {
        let folder = finished(format, 300_000, 300);
        for shard in shards(folder.path()) {
            let mut whole = warc::read(&shard).expect("it opens");
            let whole: Vec<Page> = whole.pages().map(|page| page.expect("readable")).collect();
            let parts = warc::parts(&shard, 5).expect("there is an index");
            assert_eq!(parts.len(), 5.min(whole.len()), "{}", shard.display());
            let mut in_parts = Vec::new();
            for part in parts {
                let mut reader = Reader::open_part(&shard, part, ReaderOptions::default()).expect("it opens");
                in_parts.extend(reader.pages().map(|page| page.expect("readable")));
                assert!(!reader.damage().any());
            }
            assert!(in_parts == whole);
        }
    }
}

#[test]
fn the_index_finds_a_page_by_its_url() {
    let folder = finished(Format::Zstd, 300_000, 300);
    let last = shards(folder.path()).pop().expect("a shard");
    let mut reader = warc::read(&last).expect("it opens");
    let pages: Vec<Page> = reader.pages().map(|page| page.expect("readable")).collect();
    let wanted = &pages[pages.len() / 2];
    let index = fs::read_to_string(folder.path().join("pages-00001.cdxj")).expect("there is an index");
    assert!(index.lines().is_sorted(), "{index}");
    let offset = warc::find(&last, &url(299)).expect("readable").expect("it is there");
    let mut reader = Reader::open_part(&last, offset..u64::MAX, ReaderOptions::default()).expect("it opens");
    assert_eq!(reader.next_page().expect("readable").expect("a page").body, body(299));
    assert_eq!(warc::find(&last, "http://absent.example/").expect("readable"), None);
    assert!(warc::find(&last, &wanted.url.replace("%20", " ")).expect("readable").is_some());
}

#[test]
fn a_repeat_on_one_host_becomes_a_revisit_that_names_its_original() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut writer = ShardWriter::open(folder.path(), options(Format::Zstd, u64::MAX)).expect("it opens");
    let repeated = body(1);
    // The second is the same body under another URL of the host; a third host keeps its own copy, and a revisit of the
    // short ones would not be smaller.
    let first: [(usize, &[u8]); 5] = [(1, &repeated), (8, &repeated), (2, &repeated), (3, b"short"), (10, b"short")];
    first.iter().for_each(|(number, body)| put_body(&mut writer, *number, body));
    writer.commit().expect("durable");
    drop(writer);
    let mut writer = ShardWriter::open(folder.path(), options(Format::Zstd, u64::MAX)).expect("it goes on");
    // A stored payload is recognised.
    put_body(&mut writer, 15, &repeated);
    writer.finish().expect("it closes");
    let mut reader = warc::read(&shards(folder.path())[0]).expect("it opens");
    let mut revisits = Vec::new();
    while let Some(record) = reader.next().expect("readable") {
        if record.kind == RecordType::Revisit {
            revisits.push(record.url().expect("a URL").into_owned());
            assert_eq!(record.text("WARC-Refers-To-Target-URI").as_deref(), Some(url(1).replace(' ', "%20").as_str()));
            assert_eq!(record.text("WARC-Refers-To-Date"), Some(date(1).to_string().into()));
            let page = Page::from_record(&record, usize::MAX).expect("a page");
            assert_eq!((page.kind, page.status, page.body.len()), (PageKind::Revisit, Some(200), 0));
        }
    }
    assert_eq!(revisits, [url(8), url(15)].map(|url| url.replace(' ', "%20")));
}

#[test]
fn only_one_process_writes_to_a_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let writer = ShardWriter::open(folder.path(), options(Format::Zstd, u64::MAX)).expect("it opens");
    let second = ShardWriter::open(folder.path(), options(Format::Zstd, u64::MAX));
    assert!(matches!(second, Err(Error::Locked { .. })), "two writers at once");
    drop(writer);
    ShardWriter::open(folder.path(), options(Format::Zstd, u64::MAX)).expect("free again");
}

#[test]
fn another_format_on_resume_begins_another_shard() {
    let folder = tempfile::tempdir().expect("a folder");
    for (format, number) in [(Format::Zstd, 0), (Format::Gzip, 1), (Format::Zstd, 2)] {
        let mut writer = ShardWriter::open(folder.path(), options(format, u64::MAX)).expect("it opens");
        put(&mut writer, number);
        writer.commit().expect("durable");
    }
    let (pages, damaged) = pages(folder.path());
    assert_eq!(damaged, 0);
    check_pages(&pages, 0..3);
    let names: Vec<String> = shards(folder.path())
        .iter()
        .map(|path| path.file_name().unwrap_or_default().to_string_lossy().into())
        .collect();
    assert_eq!(names, ["pages-00000.warc.zst", "pages-00001.warc.gz", "pages-00002.warc.zst.open"]);
}

#[test]
fn a_cut_page_says_so_and_a_level_out_of_range_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let refused = ShardWriter::open(folder.path(), WriterOptions { level: 99, ..options(Format::Gzip, 1) });
    assert!(matches!(refused, Err(Error::Setting { .. })));
    let mut writer = ShardWriter::open(folder.path(), options(Format::Gzip, u64::MAX)).expect("it opens");
    let response = Response {
        url: "http://a.example/",
        fetched_at: date(0),
        ip: None,
        status_line: "HTTP/1.1 200 OK",
        headers: &[],
        body: b"the beginning of a long page",
        truncated: Some(Truncated::Length),
        revisit: Revisit::Detect,
        preferences: None,
    };
    writer.put(&response).expect("written");
    writer.finish().expect("closed");
    let (pages, _) = pages(folder.path());
    assert!(!pages[0].is_whole);
    assert_eq!(pages[0].body, response.body);
}
