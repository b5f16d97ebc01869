//! What was put comes back.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use pith_corpus::warc::{
    self, DictionaryUse, Format, Page, PageKind, Place, Repeat, Response, ShardWriter, WriterOptions,
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

pub fn put(writer: &mut ShardWriter, number: usize) -> Place {
    let body = body(number);
    put_body(writer, number, &body)
}

pub fn put_body(writer: &mut ShardWriter, number: usize, body: &[u8]) -> Place {
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
        repeat: Repeat::Detect,
    };
    writer.put(&response).expect("the page is written")
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
        damaged += reader.damage().places;
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
        let places: Vec<Place> = (0..500).map(|number| put(&mut writer, number)).collect();
        writer.commit().expect("it is durable");
        writer.finish().expect("it closes");
        let (pages, damaged) = pages(folder.path());
        assert_eq!(damaged, 0);
        check_pages(&pages, 0..500);
        assert!(shards(folder.path()).len() > 2, "several shards: {:?}", shards(folder.path()));
        assert_eq!(
            places.iter().map(|place| place.offset).collect::<Vec<_>>(),
            pages.iter().map(|page| page.offset).collect::<Vec<_>>()
        );
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
