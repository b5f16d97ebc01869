//! Sitemaps: lists of a site's pages as XML, text, RSS or Atom, plain or gzipped.

use std::borrow::Cow;
use std::io::Read;

use memchr::{memchr, memmem};
use url::Url;

use crate::canonical::{parse_seed, resolve};
use crate::links::attributes;
use crate::links::entities;

/// The protocol allows so many entries in a file; more are left out.
pub const MAX_SITEMAP_ENTRIES: usize = 50_000;
/// The protocol allows 50 MB unpacked; what comes after is left out.
pub const MAX_SITEMAP_BYTES: usize = 50 << 20;
/// A longer address is not kept.
const MAX_ADDRESS_BYTES: usize = 4096;
/// Elements nested deeper are not looked into.
const MAX_DEPTH: usize = 32;

/// What kind of list a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SitemapKind {
    /// `<sitemapindex>`: a list of sitemaps.
    Index,
    /// `<urlset>`: a list of pages.
    Pages,
    /// One address per line.
    Text,
    /// An RSS feed, of any version.
    Rss,
    /// An Atom feed, of any version.
    Atom,
    /// Nothing that can be read, or a document type with entities of its own, which no honest sitemap has.
    Unknown,
}

/// What a sitemap lists.
#[derive(Clone, Debug)]
pub struct Sitemap {
    /// What it turned out to be.
    pub kind: SitemapKind,
    /// The addresses, in canonical spelling and in their order: sitemaps for an index, pages for the rest.
    pub urls: Vec<Url>,
    /// Whether something was left out because of a bound.
    pub truncated: bool,
}

/// Reads a sitemap that was fetched from `url`. Torn and sloppy files give what can be read of them; entities are
/// never expanded, and memory is bounded by [`MAX_SITEMAP_BYTES`] and [`MAX_SITEMAP_ENTRIES`].
pub fn read_sitemap(bytes: &[u8], url: &Url) -> Sitemap {
    let (bytes, cut) = unpack(bytes);
    let bytes = match encoding_rs::Encoding::for_bom(&bytes) {
        Some((encoding, _)) => Cow::Owned(encoding.decode(&bytes).0.into_owned().into_bytes()),
        None => bytes,
    };
    let start = bytes.trim_ascii_start();
    let mut reader = Reader { base: url, kind: SitemapKind::Unknown, urls: Vec::new(), truncated: cut };
    if start.first() == Some(&b'<') {
        reader.read_xml(start);
    } else {
        reader.read_text(start);
    }
    Sitemap { kind: reader.kind, urls: reader.urls, truncated: reader.truncated }
}

/// The bytes without gzip around them, and whether they had to be cut.
fn unpack(bytes: &[u8]) -> (Cow<'_, [u8]>, bool) {
    if bytes.starts_with(&[0x1F, 0x8B]) {
        let mut plain = Vec::new();
        // A torn stream gives what came before the tear.
        let torn = flate2::read::MultiGzDecoder::new(bytes).take(MAX_SITEMAP_BYTES as u64).read_to_end(&mut plain);
        let cut = torn.is_err() || plain.len() == MAX_SITEMAP_BYTES;
        return (Cow::Owned(plain), cut);
    }
    (Cow::Borrowed(&bytes[..bytes.len().min(MAX_SITEMAP_BYTES)]), bytes.len() > MAX_SITEMAP_BYTES)
}

struct Reader<'u> {
    base: &'u Url,
    kind: SitemapKind,
    urls: Vec<Url>,
    truncated: bool,
}

impl Reader<'_> {
    fn read_text(&mut self, bytes: &[u8]) {
        for line in bytes.split(|byte| matches!(byte, b'\n' | b'\r')) {
            let Ok(line) = std::str::from_utf8(line) else { continue };
            let line = line.trim();
            let starts =
                |prefix: &str| line.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix));
            if starts("http://") || starts("https://") || starts("www.") {
                self.kind = SitemapKind::Text;
                self.add(line);
            }
        }
    }

    fn add(&mut self, address: &str) {
        let address = address.trim();
        if address.is_empty() {
            return;
        }
        if self.urls.len() >= MAX_SITEMAP_ENTRIES || address.len() > MAX_ADDRESS_BYTES {
            self.truncated = true;
            return;
        }
        let url = if address.starts_with("www.") { parse_seed(address) } else { resolve(self.base, address) };
        self.urls.extend(url);
    }

    fn read_xml(&mut self, bytes: &[u8]) {
        let mut entry = Entry::default();
        let mut open: Vec<&[u8]> = Vec::new();
        let mut rest = bytes;
        while let Some(sign) = memchr(b'<', rest) {
            entry.text(&rest[..sign]);
            rest = &rest[sign..];
            if let Some(after) = rest.strip_prefix(b"<![CDATA[") {
                let end = memmem::find(after, b"]]>").unwrap_or(after.len());
                entry.raw_text(&after[..end]);
                rest = &after[(end + 3).min(after.len())..];
                continue;
            }
            if rest.starts_with(b"<!--") {
                let Some(end) = memmem::find(rest, b"-->") else { break };
                rest = &rest[end + 3..];
                continue;
            }
            let Some(end) = attributes::tag_end(rest, 1) else {
                // Torn within a tag: the address before it is whole.
                self.close(b"loc", &[], &mut entry);
                break;
            };
            let tag = &rest[1..end];
            rest = &rest[end + 1..];
            match tag.first() {
                Some(b'!') => {
                    // An internal subset defines entities: this is an attack, not a sitemap.
                    if memchr(b'[', tag).is_some() {
                        self.kind = SitemapKind::Unknown;
                        self.urls.clear();
                        return;
                    }
                }
                Some(b'?') | None => {}
                Some(b'/') => {
                    let name = local_name(&tag[1..]);
                    self.close(name, &open, &mut entry);
                    // A missing end tag closes with the next one outside it.
                    if let Some(depth) = open.iter().rposition(|known| *known == name) {
                        open.truncate(depth);
                    }
                }
                Some(_) => {
                    let name = local_name(tag);
                    self.open(name, tag, &open, &mut entry);
                    if tag.last() != Some(&b'/') && open.len() < MAX_DEPTH {
                        open.push(name);
                    } else if tag.last() == Some(&b'/') {
                        self.close(name, &open, &mut entry);
                    }
                }
            }
        }
        // A file torn within an entry still gives what that entry had.
        self.end_entry(&mut entry);
    }

    fn open(&mut self, name: &[u8], tag: &[u8], open: &[&[u8]], entry: &mut Entry) {
        if self.kind == SitemapKind::Unknown {
            self.kind = match name {
                b"sitemapindex" => SitemapKind::Index,
                b"urlset" => SitemapKind::Pages,
                b"rss" | b"RDF" => SitemapKind::Rss,
                b"feed" => SitemapKind::Atom,
                _ => SitemapKind::Unknown,
            };
            return;
        }
        let parent = open.last().copied().unwrap_or(b"");
        match (self.kind, name) {
            (SitemapKind::Index | SitemapKind::Pages, b"loc") => {
                if matches!(parent, b"url" | b"sitemap" | b"urlset" | b"sitemapindex") {
                    entry.capture = Some(Field::Address);
                }
            }
            // Translations of a page, as `<xhtml:link rel="alternate" href>`.
            (SitemapKind::Pages, b"link") => {
                let is_translation = attribute(tag, b"hreflang").is_some();
                if is_translation && attribute(tag, b"rel").is_some_and(|rel| *rel == *b"alternate") {
                    let href = attribute(tag, b"href");
                    entry.others.extend(href.map(|href| String::from_utf8_lossy(&href).into_owned()));
                }
            }
            (SitemapKind::Rss, b"link") if parent == b"item" => entry.capture = Some(Field::Address),
            (SitemapKind::Rss, b"guid") if parent == b"item" => entry.capture = Some(Field::Identity),
            (SitemapKind::Atom, b"link") if parent == b"entry" && entry.address.is_empty() => {
                let is_page = attribute(tag, b"rel").is_none_or(|rel| *rel == *b"alternate");
                if let Some(href) = attribute(tag, b"href").filter(|_| is_page) {
                    entry.address = href.into_owned();
                }
            }
            _ => {}
        }
    }

    fn close(&mut self, name: &[u8], open: &[&[u8]], entry: &mut Entry) {
        match (self.kind, name) {
            // Sloppy files put several addresses into one entry.
            (SitemapKind::Index | SitemapKind::Pages, b"loc") if entry.capture.take().is_some() => {
                let address = std::mem::take(&mut entry.address);
                self.add_once(&String::from_utf8_lossy(&address));
            }
            (SitemapKind::Pages, b"url") if !open.contains(&&b"loc"[..]) => self.end_entry(entry),
            (SitemapKind::Rss, b"link" | b"guid") => entry.capture = None,
            (SitemapKind::Rss, b"item") | (SitemapKind::Atom, b"entry") => self.end_entry(entry),
            _ => {}
        }
    }

    fn end_entry(&mut self, entry: &mut Entry) {
        let ended = std::mem::take(entry);
        let feed = matches!(self.kind, SitemapKind::Rss | SitemapKind::Atom);
        if feed && ended.capture.is_none() {
            let address = if ended.address.trim_ascii().is_empty() { &ended.identity } else { &ended.address };
            let address = String::from_utf8_lossy(address);
            // An identity that is no address is a number or a name.
            if !ended.address.trim_ascii().is_empty() || address.trim().starts_with("http") {
                self.add_once(&address);
            }
        }
        for other in ended.others {
            self.add_once(&other);
        }
    }

    /// Adds an address unless it is the last one again, as the translations of a page repeat it.
    fn add_once(&mut self, address: &str) {
        let before = self.urls.len();
        self.add(address);
        if self.urls.len() > before {
            let window = before.saturating_sub(64);
            let added = self.urls.len() - 1;
            if self.urls[window..added].contains(&self.urls[added]) {
                self.urls.pop();
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Field {
    Address,
    Identity,
}

/// One entry while it is read.
#[derive(Default)]
struct Entry {
    address: Vec<u8>,
    identity: Vec<u8>,
    others: Vec<String>,
    capture: Option<Field>,
}

impl Entry {
    fn text(&mut self, text: &[u8]) {
        if self.capture.is_some() && !text.is_empty() {
            self.raw_text(&entities::decode(text));
        }
    }

    fn raw_text(&mut self, text: &[u8]) {
        let into = match self.capture {
            Some(Field::Address) => &mut self.address,
            Some(Field::Identity) => &mut self.identity,
            None => return,
        };
        let room = (MAX_ADDRESS_BYTES * 2).saturating_sub(into.len());
        into.extend_from_slice(&text[..text.len().min(room)]);
    }
}

/// A tag's name without its prefix.
fn local_name(tag: &[u8]) -> &[u8] {
    let end = tag.iter().take_while(|byte| !byte.is_ascii_whitespace() && **byte != b'/').count();
    let name = &tag[..end];
    memchr::memrchr(b':', name).map_or(name, |colon| &name[colon + 1..])
}

fn attribute<'t>(tag: &'t [u8], name: &[u8]) -> Option<Cow<'t, [u8]>> {
    let start = tag.iter().take_while(|byte| !byte.is_ascii_whitespace()).count();
    let mut found = Vec::new();
    attributes::read(&tag[start..], &mut found);
    found.into_iter().find(|attribute| attribute.name == name).map(|attribute| entities::decode(attribute.value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, kind: SitemapKind, expected: &[&str]) {
        let sitemap = read_sitemap(text.as_bytes(), &Url::parse("http://x.org/sitemap.xml").unwrap());
        let urls: Vec<&str> = sitemap.urls.iter().map(Url::as_str).collect();
        assert_eq!((sitemap.kind, &urls[..]), (kind, expected), "{text}");
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
    fn entities_are_refused_and_never_expanded() {
        check(
            "<!DOCTYPE u [<!ENTITY a 'b'>]><urlset><url><loc>http://x.org/&a;</loc></url></urlset>",
            SitemapKind::Unknown,
            &[],
        );
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
        for piece in ["<", "<loc>", "<url><loc>http://x/", "<!--", "<![CDATA[", "&amp;", "<a b='", "]]>"] {
            let text = format!("<urlset>{}", piece.repeat(50_000));
            read_sitemap(text.as_bytes(), &Url::parse("http://x.org/").unwrap());
        }
    }
}
