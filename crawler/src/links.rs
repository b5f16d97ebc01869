//! Streaming link extraction from HTML: no tree, one pass, bounded memory.

pub(crate) mod attributes;
mod directives;
pub(crate) mod scan;

pub use directives::RobotsDirectives;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;
use std::time::Duration;

use encoding_rs::{Decoder, Encoding, UTF_8};
use pith_notation::{Context, decode_references};
use url::Url;

use crate::canonical::{canonicalize, join};
use scan::{Attribute, Scanner, Tag, TagHandler};

/// The largest number of links from one page.
const MAX_LINKS: usize = 20_000;
/// Longer references are dropped.
const MAX_REFERENCE_BYTES: usize = 4096;
/// All references of one page together.
const MAX_REFERENCES_BYTES: usize = 4 << 20;
/// Bytes of page text kept for anchors and their context.
const MAX_TEXT_BYTES: usize = 1 << 20;
/// The largest length of an anchor text.
const MAX_ANCHOR_BYTES: usize = 300;
/// Bytes before and after an anchor that are its context.
const CONTEXT_BYTES: usize = 100;

/// Whether anchor texts are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnchorText {
    /// Links only, which is faster.
    Skip,
    /// Links with their text and the words around it.
    Keep,
}

/// Where a link was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// `<a>` or `<area>`: for a reader to follow.
    Anchor,
    /// `<frame>` or `<iframe>`: part of the page itself.
    Frame,
    /// `<link rel="next">`, `prev` or `alternate`.
    Related,
    /// `<link rel="canonical">`.
    Canonical,
    /// `<meta http-equiv="refresh">`.
    Refresh,
}

/// A link as found in a page, each URL once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundLink {
    /// The target URL, in canonical form.
    pub url: Url,
    /// Where it was found first.
    pub source: Source,
    /// Whether every occurrence in the page has `rel="nofollow"`.
    pub nofollow: bool,
    /// The anchor text with blanks collapsed; empty when not asked for.
    pub anchor: String,
    /// The words before and after the anchor; empty when not asked for.
    pub context: String,
}

/// The links and directives of a page.
#[derive(Clone, Debug)]
pub struct PageLinks {
    /// Everything it links to, in the order of the page.
    pub links: Vec<FoundLink>,
    /// The base URL of relative references.
    pub base: Url,
    /// Its canonical URL, if it declares one.
    pub canonical: Option<Url>,
    /// The target of its first refresh, and the delay.
    pub refresh: Option<(Duration, Url)>,
    /// What its `<meta name="robots">` asks for.
    pub robots: RobotsDirectives,
    /// The encoding of the page, where it or its server says which.
    pub charset: Option<&'static str>,
    /// References dropped because of a bound.
    pub n_dropped: usize,
}

/// Extracts the links of a page that is fed chunk by chunk.
///
/// ```
/// use pith_crawler::{AnchorText, LinkScanner};
/// use url::Url;
///
/// let mut scanner = LinkScanner::new(None, "pith", AnchorText::Keep);
/// scanner.feed(b"<p>See <a hr");
/// scanner.feed(b"ef='../b?z=1&amp;y=2'>this  one</a>.");
/// let page = scanner.finish(&Url::parse("http://example.org/a/").unwrap());
/// assert_eq!(page.links[0].url.as_str(), "http://example.org/b?y=2&z=1");
/// assert_eq!(page.links[0].anchor, "this one");
/// ```
pub struct LinkScanner {
    scanner: Scanner,
    found: ReferenceCollector,
    /// For pages in UTF-16, which is not ASCII-compatible.
    decoder: Option<Decoder>,
    is_first: bool,
}

impl LinkScanner {
    /// A scanner for one page. `charset` is the label in its Content-Type, if any; `agent` the product token that a
    /// `<meta name>` may address.
    pub fn new(charset: Option<&str>, agent: &str, text: AnchorText) -> LinkScanner {
        let encoding = charset.and_then(|label| Encoding::for_label(label.as_bytes()));
        LinkScanner {
            scanner: Scanner::new(text == AnchorText::Keep),
            found: ReferenceCollector { encoding, agent: agent.to_ascii_lowercase(), ..ReferenceCollector::default() },
            decoder: None,
            is_first: true,
        }
    }

    /// Scans the next bytes.
    pub fn feed(&mut self, chunk: &[u8]) {
        if self.is_first && !chunk.is_empty() {
            self.is_first = false;
            if let Some((encoding, _)) = Encoding::for_bom(chunk) {
                self.found.encoding = Some(encoding);
            }
            self.decoder = self.found.encoding.filter(|encoding| !encoding.is_ascii_compatible()).map(|encoding| {
                self.found.encoding = Some(UTF_8);
                encoding.new_decoder()
            });
        }
        match &mut self.decoder {
            None => self.scanner.feed(chunk, &mut self.found),
            Some(decoder) => {
                let mut text = String::with_capacity(decoder.max_utf8_buffer_length(chunk.len()).unwrap_or(0));
                let _ = decoder.decode_to_string(chunk, &mut text, false);
                self.scanner.feed(text.as_bytes(), &mut self.found);
            }
        }
    }

    /// The links of the page that was fetched from `url`, after redirects.
    pub fn finish(mut self, url: &Url) -> PageLinks {
        self.scanner.finish(&mut self.found);
        self.found.resolve(url)
    }
}

/// Collects the unresolved references of a page: base and charset are known only at its end.
#[derive(Default)]
struct ReferenceCollector {
    encoding: Option<&'static Encoding>,
    agent: String,
    references: Vec<Reference>,
    /// The bytes of all references, one after the other.
    bytes: Vec<u8>,
    base: Option<Vec<u8>>,
    refresh: Option<(Duration, usize)>,
    robots: RobotsDirectives,
    n_dropped: usize,
    /// All text seen, when anchors are wanted.
    text: Vec<u8>,
    open_anchor: Option<usize>,
    in_noscript: bool,
}

struct Reference {
    bytes: Range<usize>,
    source: Source,
    nofollow: bool,
    text: Range<usize>,
}

impl TagHandler for ReferenceCollector {
    fn start_tag(&mut self, tag: Tag, attributes: &[Attribute<'_>]) {
        let value = |name: &[u8]| {
            attributes.iter().find(|attribute| attribute.name.eq_ignore_ascii_case(name)).map(|found| found.value)
        };
        match tag {
            Tag::A | Tag::Area => {
                self.open_anchor = None;
                if let Some(href) = value(b"href") {
                    let nofollow = value(b"rel").is_some_and(|rel| has_word(rel, b"nofollow"));
                    if self.add(href, Source::Anchor, nofollow) && tag == Tag::A {
                        self.open_anchor = Some(self.references.len() - 1);
                    }
                }
            }
            Tag::Frame => {
                if let Some(src) = value(b"src") {
                    self.add(src, Source::Frame, false);
                }
            }
            Tag::Base => {
                if self.base.is_none() && !self.in_noscript {
                    self.base = value(b"href")
                        .filter(|href| href.len() <= MAX_REFERENCE_BYTES)
                        .map(|href| decode_references(href, Context::Attribute).into_owned());
                }
            }
            Tag::Link => {
                let (Some(href), Some(rel)) = (value(b"href"), value(b"rel")) else { return };
                let is_html = value(b"type").is_none_or(|kind| kind.eq_ignore_ascii_case(b"text/html"));
                if has_word(rel, b"canonical") {
                    self.add(href, Source::Canonical, false);
                } else if has_word(rel, b"next")
                    || has_word(rel, b"prev")
                    || (has_word(rel, b"alternate") && is_html && !has_word(rel, b"stylesheet"))
                {
                    self.add(href, Source::Related, false);
                }
            }
            Tag::Meta => self.meta(value(b"name"), value(b"http-equiv"), value(b"content"), value(b"charset")),
            Tag::Noscript => self.in_noscript = true,
        }
    }

    fn end_tag(&mut self, tag: Tag) {
        match tag {
            Tag::A => self.open_anchor = None,
            Tag::Noscript => self.in_noscript = false,
            _ => {}
        }
    }

    fn text(&mut self, text: &[u8]) {
        if self.text.len() + text.len() > MAX_TEXT_BYTES {
            return;
        }
        self.text.extend_from_slice(text);
        if let Some(open) = self.open_anchor {
            self.references[open].text.end = self.text.len();
        }
    }

    // A tag counts as a word boundary, although inline tags need not be one.
    fn tag_boundary(&mut self) {
        if self.text.last().is_some_and(|last| *last != b' ') && self.text.len() < MAX_TEXT_BYTES {
            self.text.push(b' ');
        }
    }
}

impl ReferenceCollector {
    /// Collects a reference; `false` when it cannot lead to a page or exceeds a bound.
    fn add(&mut self, reference: &[u8], source: Source, nofollow: bool) -> bool {
        let reference = reference.trim_ascii();
        if reference.is_empty() || reference[0] == b'#' || has_other_scheme(reference) {
            return false;
        }
        let full = self.references.len() >= MAX_LINKS || self.bytes.len() + reference.len() > MAX_REFERENCES_BYTES;
        if full || reference.len() > MAX_REFERENCE_BYTES {
            self.n_dropped += 1;
            return false;
        }
        let start = self.bytes.len();
        self.bytes.extend_from_slice(&decode_references(reference, Context::Attribute));
        let here = self.text.len();
        self.references.push(Reference { bytes: start..self.bytes.len(), source, nofollow, text: here..here });
        true
    }

    fn meta(&mut self, name: Option<&[u8]>, http_equiv: Option<&[u8]>, content: Option<&[u8]>, charset: Option<&[u8]>) {
        if let Some(label) = charset {
            self.take_charset(label);
        }
        let Some(content) = content else { return };
        let content = decode_references(content, Context::Attribute);
        if let Some(name) = name
            && (name.eq_ignore_ascii_case(b"robots") || name.eq_ignore_ascii_case(self.agent.as_bytes()))
        {
            self.robots = self.robots.and(RobotsDirectives::parse(&String::from_utf8_lossy(&content)));
        }
        let Some(http_equiv) = http_equiv else { return };
        if http_equiv.eq_ignore_ascii_case(b"content-type")
            && let Some(label) = directives::charset_in(&content)
        {
            self.take_charset(label);
        }
        if http_equiv.eq_ignore_ascii_case(b"refresh")
            && !self.in_noscript
            && self.refresh.is_none()
            && let Some((after, target)) = directives::refresh(&content)
            && self.add(target, Source::Refresh, false)
        {
            self.refresh = Some((after, self.references.len() - 1));
        }
    }

    /// A charset declared in the page counts only if the header or a byte order mark gave none.
    fn take_charset(&mut self, label: &[u8]) {
        if self.encoding.is_none() {
            // A page that declares UTF-16 in ASCII bytes is not in UTF-16.
            self.encoding = Encoding::for_label(label).map(Encoding::output_encoding);
        }
    }

    fn resolve(self, url: &Url) -> PageLinks {
        let encoding = self.encoding.unwrap_or(UTF_8);
        let decode = |bytes: &[u8]| encoding.decode_without_bom_handling(bytes).0.into_owned();
        let base = self.base.as_deref().and_then(|href| join(url, decode(href).trim(), encoding));
        let base = base.filter(|base| matches!(base.scheme(), "http" | "https")).unwrap_or_else(|| url.clone());

        let mut links: Vec<FoundLink> = Vec::with_capacity(self.references.len().min(1024));
        let mut index_by_url: HashMap<u64, usize> = HashMap::with_capacity(self.references.len());
        let mut canonical = None;
        let mut refresh = None;
        for (index, reference) in self.references.iter().enumerate() {
            let bytes = &self.bytes[reference.bytes.clone()];
            let target = match std::str::from_utf8(bytes) {
                Ok(text) if encoding == UTF_8 || text.is_ascii() => join(&base, text, encoding),
                _ => join(&base, &decode(bytes), encoding),
            };
            let Some(target) = target.and_then(canonicalize) else { continue };
            if reference.source == Source::Canonical && canonical.is_none() {
                canonical = Some(target.clone());
            }
            if let Some((after, refresh_index)) = self.refresh
                && refresh_index == index
            {
                refresh = Some((after, target.clone()));
            }
            let (anchor, context) = self.texts(&reference.text, &decode);
            match index_by_url.entry(xxhash_rust::xxh3::xxh3_64(target.as_str().as_bytes())) {
                Entry::Occupied(entry) => {
                    let known = &mut links[*entry.get()];
                    known.nofollow &= reference.nofollow;
                    if known.anchor.is_empty() {
                        (known.anchor, known.context) = (anchor, context);
                    }
                }
                Entry::Vacant(entry) => {
                    entry.insert(links.len());
                    let Reference { source, nofollow, .. } = *reference;
                    links.push(FoundLink { url: target, source, nofollow, anchor, context });
                }
            }
        }
        let charset = self.encoding.map(Encoding::name);
        PageLinks { links, base, canonical, refresh, robots: self.robots, charset, n_dropped: self.n_dropped }
    }

    /// The anchor's text and the text around it.
    fn texts(&self, anchor: &Range<usize>, decode: &dyn Fn(&[u8]) -> String) -> (String, String) {
        if self.text.is_empty() {
            return (String::new(), String::new());
        }
        let words = |bytes: &[u8]| {
            let decoded = decode(&decode_references(bytes, Context::Text));
            decoded.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        // A slice of UTF-8 may begin or end within a character, which is dropped.
        let is_utf8 = self.encoding.is_none_or(|encoding| encoding == UTF_8);
        let slice = |from: usize, to: usize| {
            let bytes = &self.text[from..to];
            words(if is_utf8 { trim_letters(bytes) } else { bytes })
        };
        let end = anchor.end.min(anchor.start + MAX_ANCHOR_BYTES);
        let before = slice(anchor.start.saturating_sub(CONTEXT_BYTES), anchor.start);
        let after = slice(anchor.end, (anchor.end + CONTEXT_BYTES).min(self.text.len()));
        let separator = if before.is_empty() || after.is_empty() { "" } else { " " };
        (slice(anchor.start, end), format!("{before}{separator}{after}"))
    }
}

/// Drops an incomplete first and last character of UTF-8 text.
fn trim_letters(bytes: &[u8]) -> &[u8] {
    let start = bytes.iter().take(3).take_while(|byte| **byte & 0xC0 == 0x80).count();
    let bytes = &bytes[start..];
    match bytes.iter().rposition(|byte| *byte & 0xC0 != 0x80) {
        Some(last) if bytes[last] >= 0xC0 && bytes.len() - last < utf8_length(bytes[last]) => &bytes[..last],
        _ => bytes,
    }
}

fn utf8_length(lead: u8) -> usize {
    match lead {
        0xF0.. => 4,
        0xE0.. => 3,
        _ => 2,
    }
}

/// Whether a list of words has this one, without case.
fn has_word(list: &[u8], word: &[u8]) -> bool {
    list.split(|byte| byte.is_ascii_whitespace() || *byte == b',').any(|part| part.eq_ignore_ascii_case(word))
}

/// `mailto:`, `javascript:` and the like, which are rejected before parsing.
fn has_other_scheme(reference: &[u8]) -> bool {
    let Some(colon) = reference.iter().take(16).position(|byte| *byte == b':') else { return false };
    let scheme = &reference[..colon];
    scheme.first().is_some_and(u8::is_ascii_alphabetic)
        && scheme.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
        && !scheme.eq_ignore_ascii_case(b"http")
        && !scheme.eq_ignore_ascii_case(b"https")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(html: &[u8]) -> PageLinks {
        let mut scanner = LinkScanner::new(None, "pith", AnchorText::Keep);
        scanner.feed(html);
        scanner.finish(&Url::parse("http://x.org/dir/page.html").unwrap())
    }

    #[track_caller]
    fn check(html: &str, expected: &[&str]) {
        let found = page(html.as_bytes());
        let urls: Vec<&str> = found.links.iter().map(|link| link.url.as_str()).collect();
        assert_eq!(urls, expected, "{html}");
        // Feeding single bytes must give the same links.
        let mut scanner = LinkScanner::new(None, "pith", AnchorText::Keep);
        html.as_bytes().iter().for_each(|byte| scanner.feed(std::slice::from_ref(byte)));
        let torn = scanner.finish(&Url::parse("http://x.org/dir/page.html").unwrap());
        assert_eq!(torn.links, found.links, "in single bytes: {html}");
    }

    #[test]
    fn anchors_areas_and_frames_are_links() {
        check(
            "<a href=a>1</a><A HREF='b'>2</A><area href=\"c\"><frame src=d><iframe src=e>x</iframe>",
            &[
                "http://x.org/dir/a",
                "http://x.org/dir/b",
                "http://x.org/dir/c",
                "http://x.org/dir/d",
                "http://x.org/dir/e",
            ],
        );
    }

    #[test]
    fn scripts_comments_and_styles_hide_links() {
        check(
            "<script>var a='<a href=no>';</script ><!-- <a href=no> --><style><a href=no></style><!--><a href=yes>",
            &["http://x.org/dir/yes"],
        );
        check("<textarea><a href=no></textarea><title><a href=no></title><a href=yes>", &["http://x.org/dir/yes"]);
        check("<!-- <a href=no>", &[]);
        check("<!-- a --!><a href=yes>", &["http://x.org/dir/yes"]);
    }

    #[test]
    fn the_first_base_counts_for_the_whole_page() {
        check(
            "<a href=a><base href=/other/><base href=/third/><a href=b>",
            &["http://x.org/other/a", "http://x.org/other/b"],
        );
    }

    #[test]
    fn each_url_comes_once_in_its_canonical_spelling() {
        check(
            "<a href='?b=2&amp;a=1#x'>1</a><a href='page.html?a=1&b=2'>2</a>",
            &["http://x.org/dir/page.html?a=1&b=2"],
        );
    }

    #[test]
    fn what_is_not_a_page_is_left_out() {
        check("<a href='mailto:a@b'><a href='JavaScript:void(0)'><a href=#top><a href=''><a><a name=x>", &[]);
    }

    #[test]
    fn quotes_in_attributes_hide_the_end_of_a_tag() {
        check("<img alt='a > b' title=\"<a href=no>\"><a title='>' href=yes>", &["http://x.org/dir/yes"]);
        check("<p title=it's><a href=yes>", &["http://x.org/dir/yes"]);
    }

    #[test]
    fn anchors_have_their_text_and_its_surroundings() {
        let found = page(b"before <b>it</b> <a href=a>the &amp; <i>text</i></a> after<a href=b>more</a>");
        assert_eq!(
            (found.links[0].anchor.as_str(), found.links[0].context.as_str()),
            ("the & text", "before it after more")
        );
        assert_eq!(found.links[1].anchor, "more");
    }

    #[test]
    fn other_charsets_encode_the_query_their_own_way() {
        let found = page(b"<meta charset=gbk><a href='/\xd6\xd0?q=\xd6\xd0'>\xd6\xd0</a>");
        assert_eq!(found.links[0].url.as_str(), "http://x.org/%E4%B8%AD?q=%D6%D0");
        assert_eq!(found.links[0].anchor, "\u{4e2d}");
        let utf16: Vec<u8> = "\u{feff}<a href=a>".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(page(&utf16).links.len(), 1);
    }

    #[test]
    fn the_page_speaks_about_itself() {
        let found = page(
            b"<meta name=Robots content='NOINDEX, follow'><link rel=canonical href=/me>\
              <meta http-equiv=refresh content='5; URL=next'><a rel='x nofollow' href=n>",
        );
        assert!(found.robots.noindex && !found.robots.nofollow);
        assert_eq!(found.canonical.unwrap().as_str(), "http://x.org/me");
        let (after, next) = found.refresh.unwrap();
        assert_eq!((after.as_secs(), next.as_str()), (5, "http://x.org/dir/next"));
        assert!(found.links.last().unwrap().nofollow);
    }

    #[test]
    fn bounds_hold_against_hostile_pages() {
        let many = "<a href=x".repeat(300_000);
        assert!(page(many.as_bytes()).links.len() <= 1);
        let long = format!("<a href='{}'>", "a".repeat(1 << 20));
        assert_eq!(page(long.as_bytes()).links.len(), 0);
        let numbered: String = (0..MAX_LINKS + 5).map(|number| format!("<a href={number}>")).collect();
        let found = page(numbered.as_bytes());
        assert_eq!((found.links.len(), found.n_dropped), (MAX_LINKS, 5));
        for hostile in
            ["<", "<!", "<!-", "</", "<a", "<a ", "<a href", "<a href=", "<a href='", "<script", "<script>", "&", "<?"]
        {
            page(hostile.as_bytes());
            page(hostile.repeat(1000).as_bytes());
        }
    }
}
