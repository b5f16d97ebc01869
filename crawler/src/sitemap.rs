//! Sitemaps: lists of a site's pages as XML, text, RSS or Atom, plain or gzipped.

mod entries;
mod scan;

use bytes::Bytes;
use encoding_rs::{Decoder, Encoding, UTF_8};
use pith_notation::{Body, Fed};
use url::Url;

use entries::Entries;
use scan::Scanner;

/// The largest number of entries that the protocol allows in a file; further ones are dropped.
pub const MAX_SITEMAP_ENTRIES: usize = 50_000;
/// The largest uncompressed size that the protocol allows; the rest is dropped.
pub const MAX_SITEMAP_BYTES: usize = 50 << 20;
/// Longer URLs are dropped.
const MAX_ADDRESS_BYTES: usize = 4096;
/// The first byte of a gzip file.
const GZIP_MARK: u8 = 0x1F;
/// The length of the longest byte order mark.
const MAX_MARK_BYTES: usize = 3;

/// The format of a sitemap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SitemapKind {
    /// `<sitemapindex>`: a list of sitemaps.
    Index,
    /// `<urlset>`: a list of pages.
    Pages,
    /// One URL per line.
    Text,
    /// An RSS feed, of any version.
    Rss,
    /// An Atom feed, of any version.
    Atom,
    /// Not a sitemap.
    Unknown,
}

/// What a sitemap lists.
#[derive(Clone, Debug)]
pub struct Sitemap {
    /// Its format.
    pub kind: SitemapKind,
    /// The URLs in canonical form and in their order: sitemaps for an index, pages for the rest.
    pub urls: Vec<Url>,
    /// Whether something was dropped because of a bound.
    pub truncated: bool,
    /// Lines that are not blank, of a list in plain text.
    pub(crate) n_lines: usize,
}

/// What a sitemap has listed so far.
pub(crate) struct ListedSoFar {
    pub(crate) kind: SitemapKind,
    pub(crate) n_urls: usize,
    pub(crate) n_lines: usize,
    /// The memory that it takes.
    pub(crate) n_bytes: usize,
}

/// Reads a sitemap that was fetched from `url`, also from a gzip file. Truncated and malformed files give the entries
/// that can be read; entities are never expanded, and memory is bounded by [`MAX_SITEMAP_BYTES`] and
/// [`MAX_SITEMAP_ENTRIES`].
pub fn read_sitemap(bytes: &[u8], url: &Url) -> Sitemap {
    let mut reader = SitemapReader::new(url.clone());
    if bytes.first() != Some(&GZIP_MARK) {
        reader.feed(&bytes[..bytes.len().min(MAX_SITEMAP_BYTES)]);
        return reader.finish_after(bytes.len() > MAX_SITEMAP_BYTES);
    }
    let mut body = Body::new("", MAX_SITEMAP_BYTES, 0).expect("no encoding is unknown").or_gzip_file();
    body.feed(Bytes::copy_from_slice(bytes));
    let ended = loop {
        match body.step() {
            Ok(Fed::Busy) => {}
            ended => break ended,
        }
    };
    // A damaged file gives what was decoded before.
    reader.feed(body.bytes());
    reader.finish_after(!matches!(ended, Ok(Fed::More | Fed::Ended)))
}

/// Reads a sitemap that is fed piece by piece and already unpacked. No byte is looked at more than a few times, however
/// the pieces are cut, and besides the URLs only an incomplete tag is kept.
pub struct SitemapReader {
    scanner: Scanner,
    entries: Entries,
    /// The first bytes, until it is known whether they are a byte order mark.
    head: Vec<u8>,
    is_headless: bool,
    /// For files in UTF-16.
    decoder: Option<Decoder>,
}

impl SitemapReader {
    /// A reader for the sitemap at `url`.
    pub fn new(url: Url) -> SitemapReader {
        SitemapReader {
            scanner: Scanner::new(),
            entries: Entries::new(url),
            head: Vec::new(),
            is_headless: false,
            decoder: None,
        }
    }

    /// Reads the next bytes.
    pub fn feed(&mut self, piece: &[u8]) {
        if self.is_headless {
            return self.scan(piece);
        }
        self.head.extend_from_slice(piece);
        if self.head.len() >= MAX_MARK_BYTES {
            self.scan_head();
        }
    }

    fn scan_head(&mut self) {
        self.is_headless = true;
        let head = std::mem::take(&mut self.head);
        let (encoding, mark) = Encoding::for_bom(&head).unwrap_or((UTF_8, 0));
        self.decoder = (encoding != UTF_8).then(|| encoding.new_decoder_without_bom_handling());
        self.scan(&head[mark..]);
    }

    fn scan(&mut self, piece: &[u8]) {
        match &mut self.decoder {
            None => self.scanner.feed(piece, &mut self.entries),
            Some(decoder) => {
                let mut text = String::with_capacity(decoder.max_utf8_buffer_length(piece.len()).unwrap_or(0));
                let _ = decoder.decode_to_string(piece, &mut text, false);
                self.scanner.feed(text.as_bytes(), &mut self.entries);
            }
        }
    }

    /// What was listed so far.
    pub(crate) fn listed(&self) -> ListedSoFar {
        self.entries.listed()
    }

    /// Whether nothing of what follows would be listed.
    pub(crate) fn is_full(&self) -> bool {
        self.entries.is_full()
    }

    /// What the sitemap lists.
    pub fn finish(mut self) -> Sitemap {
        if !self.is_headless {
            self.scan_head();
        }
        self.scanner.finish(&mut self.entries);
        self.entries.into_sitemap()
    }

    fn finish_after(mut self, was_truncated: bool) -> Sitemap {
        if was_truncated {
            self.entries.mark_truncated();
        }
        self.finish()
    }
}

/// Whether a path ends as those of sitemaps do: `/sitemap.xml`, `/news-sitemap-2.xml.gz`, `/sitemap_index.xml`.
pub(crate) fn is_sitemap_name(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    let stem = name.strip_suffix(".gz").unwrap_or(&name);
    name.contains("sitemap") && (stem.ends_with(".xml") || stem.ends_with(".txt"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, kind: SitemapKind, expected: &[&str]) {
        let sitemap = read_sitemap(text.as_bytes(), &Url::parse("http://x.org/sitemap.xml").unwrap());
        let urls: Vec<&str> = sitemap.urls.iter().map(Url::as_str).collect();
        assert_eq!((sitemap.kind, &urls[..]), (kind, expected), "{text}");
        // Single bytes must give the same.
        let mut reader = SitemapReader::new(Url::parse("http://x.org/sitemap.xml").unwrap());
        text.as_bytes().iter().for_each(|byte| reader.feed(std::slice::from_ref(byte)));
        let torn = reader.finish();
        assert_eq!((torn.kind, torn.urls), (sitemap.kind, sitemap.urls), "in single bytes: {text}");
    }

    #[test]
    fn pages_come_from_loc_and_translations_but_not_from_images() {
        check(
            "<?xml version='1.0'?><urlset><url><loc> http://x.org/a?b=1&amp;a=2 </loc><image:image><image:loc>http://x.org/i.png\
             </image:loc></image:image><xhtml:link rel='alternate' hreflang='pt' href='http://x.org/pt'/></url><url><loc><![CDATA[/c]]></loc>",
            SitemapKind::Pages,
            &["http://x.org/a?a=2&b=1", "http://x.org/pt", "http://x.org/c"],
        );
    }

    #[test]
    fn a_document_type_is_skipped_and_its_entities_are_never_expanded() {
        for kind in [
            "<!DOCTYPE u [<!ENTITY a 'b'>]>",
            "<!DOCTYPE u [ <!-- don't ]> --> <!ENTITY a \"]>\"> <?pi ' ?> %b; ] >",
            "<!DOCTYPE u PUBLIC \"-//[//\" 'http://x/[u].dtd'>",
            "<!DOCTYPE u>",
        ] {
            let text =
                format!("<?xml version='1.0'?>\n{kind}<urlset><url><loc>http://x.org/p?a=1&amp;b</loc></url></urlset>");
            check(&text, SitemapKind::Pages, &["http://x.org/p?a=1&b"]);
        }
        check(
            "<!DOCTYPE u [<!ENTITY a 'b'>]><urlset><url><loc>http://x.org/&a;</loc></url><url><loc>/c</loc></url></urlset>",
            SitemapKind::Pages,
            &["http://x.org/c"],
        );
    }

    #[test]
    fn a_sitemap_may_be_in_utf_16() {
        let text = "\u{FEFF}<urlset><url><loc>http://x.org/\u{e9}</loc></url></urlset>";
        let bytes: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let sitemap = read_sitemap(&bytes, &Url::parse("http://x.org/").unwrap());
        assert_eq!(sitemap.urls[0].as_str(), "http://x.org/%C3%A9");
    }

    #[test]
    fn gzip_is_opened_and_a_bomb_is_cut() {
        use std::io::Write as _;
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packer.write_all(b"<urlset><url><loc>http://x.org/a</loc></url>").unwrap();
        packer.write_all(&vec![b' '; MAX_SITEMAP_BYTES + 10]).unwrap();
        let sitemap = read_sitemap(&packer.finish().unwrap(), &Url::parse("http://x.org/s.gz").unwrap());
        assert_eq!((sitemap.urls.len(), sitemap.truncated), (1, true));
    }

    #[test]
    fn feeds_and_text_are_lists_too() {
        check(
            "http://x.org/a\r\nnot this\nwww.x.org/b\n",
            SitemapKind::Text,
            &["http://x.org/a", "http://www.x.org/b"],
        );
        check(
            "<feed><link href='http://x.org/self'/><entry><link rel='edit' href='/e'/><link href='/a'/></entry></feed>",
            SitemapKind::Atom,
            &["http://x.org/a"],
        );
        check(
            "<rss><channel><link>http://x.org/</link><item><link>http://x.org/a</link></item><item><guid>http://x.org/g</guid></item>",
            SitemapKind::Rss,
            &["http://x.org/a", "http://x.org/g"],
        );
    }

    #[test]
    fn hostile_bytes_end_soon() {
        let url = Url::parse("http://x.org/").unwrap();
        let pieces =
            ["<", "<loc>", "<url><loc>http://x/", "<!--", "<![CDATA[", "&amp;", "<a b='", "]]>", "<!D [", "<!D '[\""];
        for piece in pieces {
            let text = format!("<urlset>{}", piece.repeat(50_000));
            read_sitemap(text.as_bytes(), &url);
            let mut reader = SitemapReader::new(url.clone());
            text.as_bytes().chunks(3).for_each(|piece| reader.feed(piece));
            reader.finish();
        }
    }

    #[test]
    fn urls_are_bounded_in_number_and_bytes() {
        let url = Url::parse("http://x.org/").unwrap();
        let many: String = (0..MAX_SITEMAP_ENTRIES + 10).map(|index| format!("http://x.org/{index}\n")).collect();
        let sitemap = read_sitemap(many.as_bytes(), &url);
        assert_eq!((sitemap.urls.len(), sitemap.truncated), (MAX_SITEMAP_ENTRIES, true));
        let long: String = (0..6000).map(|index| format!("http://x.org/{}{index}\n", "a".repeat(4000))).collect();
        let sitemap = read_sitemap(long.as_bytes(), &url);
        assert!(sitemap.urls.len() < 5000 && sitemap.truncated);
    }
}
