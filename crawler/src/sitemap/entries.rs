//! What the tags and lines of a sitemap say: its format and its URLs.

use std::borrow::Cow;

use pith_notation::{Context, decode_references};
use url::Url;

use super::{ListedSoFar, MAX_ADDRESS_BYTES, MAX_SITEMAP_ENTRIES, Sitemap, SitemapKind};
use crate::canonical::{parse_seed, resolve};
use crate::links::attributes;

/// All URLs of one sitemap together; further ones are dropped.
const MAX_URLS_BYTES: usize = 16 << 20;
/// Translations of one page.
const MAX_ALTERNATES: usize = 1000;
/// Elements nested deeper are ignored.
const MAX_DEPTH: usize = 32;

/// The entries of a sitemap while it is read.
pub(super) struct Entries {
    base: Url,
    kind: SitemapKind,
    urls: Vec<Url>,
    n_url_bytes: usize,
    truncated: bool,
    n_lines: usize,
    /// The document type has an internal subset, which may declare entities.
    pub(super) has_subset: bool,
    entry: Entry,
    /// The open elements.
    open: Vec<Name>,
}

/// The first letters of an element's name.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Name([u8; 16]);

impl Name {
    fn of(name: &[u8]) -> Name {
        let mut letters = [0; 16];
        let length = name.len().min(letters.len());
        letters[..length].copy_from_slice(&name[..length]);
        Name(letters)
    }
}

impl Entries {
    pub(super) fn new(base: Url) -> Entries {
        Entries {
            base,
            kind: SitemapKind::Unknown,
            urls: Vec::new(),
            n_url_bytes: 0,
            truncated: false,
            n_lines: 0,
            has_subset: false,
            entry: Entry::default(),
            open: Vec::new(),
        }
    }

    pub(super) fn into_sitemap(self) -> Sitemap {
        Sitemap { kind: self.kind, urls: self.urls, truncated: self.truncated, n_lines: self.n_lines }
    }

    pub(super) fn listed(&self) -> ListedSoFar {
        // The text of a URL may have been allocated with some room to grow.
        let n_bytes = self.urls.capacity() * size_of::<Url>() + self.n_url_bytes * 3 / 2;
        ListedSoFar { kind: self.kind, n_urls: self.urls.len(), n_lines: self.n_lines, n_bytes }
    }

    /// Whether no more URLs are taken.
    pub(super) fn is_full(&self) -> bool {
        self.truncated && (self.urls.len() >= MAX_SITEMAP_ENTRIES || self.n_url_bytes >= MAX_URLS_BYTES)
    }

    /// A line of a list of URLs.
    pub(super) fn line(&mut self, line: &[u8]) {
        self.n_lines += usize::from(!line.trim_ascii().is_empty());
        let Ok(line) = std::str::from_utf8(line) else { return };
        let line = line.trim();
        let starts = |prefix: &str| line.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix));
        if starts("http://") || starts("https://") || starts("www.") {
            self.kind = SitemapKind::Text;
            self.add(line);
        }
    }

    /// A tag without its angle brackets.
    pub(super) fn tag(&mut self, tag: &[u8]) {
        match tag.first() {
            None => {}
            Some(b'/') => {
                let name = local_name(&tag[1..]);
                self.close_element(name);
                // An unclosed element ends with its parent.
                if let Some(depth) = self.open.iter().rposition(|known| *known == Name::of(name)) {
                    self.open.truncate(depth);
                }
            }
            Some(_) => {
                let name = local_name(tag);
                self.open_element(name, tag);
                if tag.last() == Some(&b'/') {
                    self.close_element(name);
                } else if self.open.len() < MAX_DEPTH {
                    self.open.push(Name::of(name));
                }
            }
        }
    }

    /// Whether the next text is a URL.
    pub(super) fn wants_text(&self) -> bool {
        self.entry.capture.is_some()
    }

    /// Text between tags.
    pub(super) fn text(&mut self, text: &[u8]) {
        self.entry.text(text);
    }

    /// The text of a CDATA section.
    pub(super) fn raw_text(&mut self, text: &[u8]) {
        self.entry.raw_text(text);
    }

    /// The file has ended, perhaps within a tag: the URL before it is complete.
    pub(super) fn finish(&mut self, is_within_tag: bool) {
        if is_within_tag {
            self.close_element(b"loc");
        }
        // A truncated entry still gives its URL.
        self.end_entry();
    }

    pub(super) fn mark_truncated(&mut self) {
        self.truncated = true;
    }

    fn add(&mut self, address: &str) {
        let address = address.trim();
        if address.is_empty() {
            return;
        }
        let is_full = self.urls.len() >= MAX_SITEMAP_ENTRIES || self.n_url_bytes >= MAX_URLS_BYTES;
        if is_full || address.len() > MAX_ADDRESS_BYTES || (self.has_subset && has_reference(address.as_bytes())) {
            self.truncated = true;
            return;
        }
        let url = if address.starts_with("www.") { parse_seed(address) } else { resolve(&self.base, address) };
        self.n_url_bytes += url.as_ref().map_or(0, |url| url.as_str().len());
        self.urls.extend(url);
    }

    fn open_element(&mut self, name: &[u8], tag: &[u8]) {
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
        let parent = self.open.last().copied().unwrap_or_default();
        let is_in = |names: &[&str]| names.iter().any(|name| parent == Name::of(name.as_bytes()));
        let entry = &mut self.entry;
        match (self.kind, name) {
            (SitemapKind::Index | SitemapKind::Pages, b"loc")
                if is_in(&["url", "sitemap", "urlset", "sitemapindex"]) =>
            {
                entry.capture = Some(Field::Address);
            }
            // Translations of a page, as `<xhtml:link rel="alternate" href>`.
            (SitemapKind::Pages, b"link") => {
                let is_translation = attribute(tag, b"hreflang").is_some();
                if is_translation && attribute(tag, b"rel").is_some_and(|rel| *rel == *b"alternate") {
                    let href = attribute(tag, b"href");
                    let fits = |href: &Cow<'_, [u8]>| href.len() <= MAX_ADDRESS_BYTES;
                    let room = href.filter(|href| entry.alternates.len() < MAX_ALTERNATES && fits(href));
                    entry.alternates.extend(room.map(|href| String::from_utf8_lossy(&href).into_owned()));
                }
            }
            (SitemapKind::Rss, b"link") if is_in(&["item"]) => entry.capture = Some(Field::Address),
            (SitemapKind::Rss, b"guid") if is_in(&["item"]) => entry.capture = Some(Field::Guid),
            (SitemapKind::Atom, b"link") if is_in(&["entry"]) && entry.address.is_empty() => {
                let is_page = attribute(tag, b"rel").is_none_or(|rel| *rel == *b"alternate");
                if let Some(href) = attribute(tag, b"href").filter(|_| is_page) {
                    entry.address = href.into_owned();
                }
            }
            _ => {}
        }
    }

    fn close_element(&mut self, name: &[u8]) {
        match (self.kind, name) {
            // Malformed files put several URLs into one entry.
            (SitemapKind::Index | SitemapKind::Pages, b"loc") if self.entry.capture.take().is_some() => {
                let address = std::mem::take(&mut self.entry.address);
                self.add_once(&String::from_utf8_lossy(&address));
            }
            (SitemapKind::Pages, b"url") if !self.open.contains(&Name::of(b"loc")) => self.end_entry(),
            (SitemapKind::Rss, b"link" | b"guid") => self.entry.capture = None,
            (SitemapKind::Rss, b"item") | (SitemapKind::Atom, b"entry") => self.end_entry(),
            _ => {}
        }
    }

    fn end_entry(&mut self) {
        let ended = std::mem::take(&mut self.entry);
        let feed = matches!(self.kind, SitemapKind::Rss | SitemapKind::Atom);
        if feed && ended.capture.is_none() {
            let address = if ended.address.trim_ascii().is_empty() { &ended.guid } else { &ended.address };
            let address = String::from_utf8_lossy(address);
            // A `guid` need not be a URL.
            if !ended.address.trim_ascii().is_empty() || address.trim().starts_with("http") {
                self.add_once(&address);
            }
        }
        for other in ended.alternates {
            self.add_once(&other);
        }
    }

    /// Adds a URL unless it is among the last 64: the translations of a page repeat it.
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
    Guid,
}

/// One entry while it is read.
#[derive(Default)]
struct Entry {
    address: Vec<u8>,
    guid: Vec<u8>,
    alternates: Vec<String>,
    capture: Option<Field>,
}

impl Entry {
    fn text(&mut self, text: &[u8]) {
        if self.capture.is_some() && !text.is_empty() {
            // Addresses are written as in attributes: `&copy=1` is a parameter.
            self.raw_text(&decode_references(text, Context::Attribute));
        }
    }

    fn raw_text(&mut self, text: &[u8]) {
        let into = match self.capture {
            Some(Field::Address) => &mut self.address,
            Some(Field::Guid) => &mut self.guid,
            None => return,
        };
        let room = (MAX_ADDRESS_BYTES * 2).saturating_sub(into.len());
        into.extend_from_slice(&text[..text.len().min(room)]);
    }
}

/// Whether there is a reference such as `&name;`, which the document type may have declared.
fn has_reference(text: &[u8]) -> bool {
    memchr::memchr_iter(b'&', text).any(|at| {
        let name = text[at + 1..].iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        name > 0 && text.get(at + 1 + name) == Some(&b';')
    })
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
    let attribute = found.into_iter().find(|attribute| attribute.name == name)?;
    Some(decode_references(attribute.value, Context::Attribute))
}
