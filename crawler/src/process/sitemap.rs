//! The answer to a request for a sitemap: its entries are offered to the frontier. What turns out to be a page is stored
//! as one, because anyone can name the pages of others as sitemaps.

use std::time::Duration;

use bytes::Bytes;
use pith_notation::{Body, Fed};
use url::Url;

use super::{Processed, Processor, done, is_html, settle};
use crate::domain::site;
use crate::error::Error;
use crate::fetch::{Need, charset};
use crate::frontier::{Frontier, Kind, Lease, Link};
use crate::links::LinkScanner;
use crate::media_type::sniff;
use crate::outcome::Outcome;
use crate::page::{Page, Truncation};
use crate::sitemap::{MAX_SITEMAP_BYTES, Sitemap, SitemapKind, SitemapReader};

/// Sitemap indexes inside sitemap indexes.
const MAX_SITEMAP_DEPTH: u32 = 3;
/// Where a sitemap is looked for if robots.txt names none.
pub(super) const GUESSED_PATH: &str = "/sitemap.xml";
/// The depth of the pages that sitemaps list.
const ENTRY_DEPTH: u32 = 1;
/// So many bytes tell a sitemap from a page; they are held until then.
const DECIDING_BYTES: usize = 64 << 10;
/// The bytes at the start that tell the media type.
const START_BYTES: usize = 1 << 10;
/// Entries that are offered at once.
const SLICE_ENTRIES: usize = 256;

/// The body of a sitemap while it arrives: it is read and dropped piece by piece, unless it turns out to be a page.
pub(super) struct SitemapBody {
    reader: SitemapReader,
    start: Vec<u8>,
    n_bytes: usize,
    verdict: Option<Verdict>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Sitemap,
    Page,
}

impl SitemapBody {
    pub(super) fn new(url: &Url) -> SitemapBody {
        SitemapBody { reader: SitemapReader::new(url.clone()), start: Vec::new(), n_bytes: 0, verdict: None }
    }

    /// Reads a piece; `declared` is the media type of the response.
    pub(super) fn feed(&mut self, declared: &str, piece: &[u8]) -> Need {
        if self.verdict == Some(Verdict::Page) {
            return Need::Body;
        }
        let room = START_BYTES.saturating_sub(self.start.len());
        self.start.extend_from_slice(&piece[..piece.len().min(room)]);
        self.n_bytes += piece.len();
        self.reader.feed(piece);
        if self.verdict.is_none() && self.n_bytes >= DECIDING_BYTES {
            let listed = self.reader.listed();
            let is_page = !is_sitemap(listed.kind, listed.n_urls, listed.n_lines, &self.start)
                && may_be_page(media_type(declared, &self.start));
            self.verdict = Some(if is_page { Verdict::Page } else { Verdict::Sitemap });
        }
        match self.verdict {
            Some(Verdict::Sitemap) if self.reader.is_full() => Need::Nothing,
            Some(Verdict::Sitemap) => Need::Pieces(self.reader.listed().n_bytes),
            None | Some(Verdict::Page) => Need::Body,
        }
    }

    /// What the sitemap lists; `None` when it is none.
    fn finish(self) -> Option<Sitemap> {
        if self.verdict == Some(Verdict::Page) {
            return None;
        }
        let sitemap = self.reader.finish();
        is_sitemap(sitemap.kind, sitemap.urls.len(), sitemap.n_lines, &self.start).then_some(sitemap)
    }
}

/// URLs that a sitemap lists, on their way to the frontier.
pub(crate) struct Listed {
    from: Link,
    kind: SitemapKind,
    urls: std::vec::IntoIter<Url>,
    /// Whether it was asked for as a page: then its entries are links of that page.
    is_of_page: bool,
}

impl<F: Frontier> Processor<'_, F> {
    pub(super) async fn handle_sitemap(
        &self,
        lease: Lease,
        page: Box<Page>,
        body: SitemapBody,
        elapsed: Duration,
    ) -> Result<Processed, Error> {
        if let Some(sitemap) = body.finish() {
            let from = lease.link.clone();
            self.offer_all(Listed { from, kind: sitemap.kind, urls: sitemap.urls.into_iter(), is_of_page: false })
                .await?;
            return Ok(settle(lease, done(Outcome::SitemapRead, 0, elapsed)));
        }
        let is_too_deep = self.plan.limits.depth.is_some_and(|most| ENTRY_DEPTH > most);
        // Nobody has named the usual place: many sites answer any URL with a page.
        let is_guess = page.url.path() == GUESSED_PATH;
        let is_page = !page.body.is_empty() && may_be_page(media_type(&page.media_type, &page.body));
        if is_too_deep || is_guess || !is_page {
            return Ok(settle(lease, done(Outcome::NoSitemap, 0, elapsed)));
        }
        self.store_as_page(lease, page, elapsed).await
    }

    /// Stores a page that was asked for as a sitemap, as if a sitemap had listed it.
    async fn store_as_page(
        &self,
        mut lease: Lease,
        mut page: Box<Page>,
        elapsed: Duration,
    ) -> Result<Processed, Error> {
        let max_bytes = self.plan.response_limits.max_bytes;
        if page.body.len() > max_bytes {
            page.body.truncate(max_bytes);
            page.truncation = Some(Truncation::Length);
        }
        page.media_type = media_type(&page.media_type, &page.body).to_owned();
        (lease.link.kind, lease.link.depth) = (Kind::Page, ENTRY_DEPTH);
        let scanner = is_html(&page.media_type).then(|| {
            let product = &self.plan.identity.product;
            let mut scanner = LinkScanner::new(charset(&page.headers).as_deref(), product, self.anchors);
            scanner.feed(&page.body);
            scanner
        });
        self.store(lease, page, scanner, elapsed).await
    }

    /// Stores a page; a sitemap that was asked for as a page is read as well.
    pub(super) async fn store_and_read(
        &self,
        lease: Lease,
        page: Box<Page>,
        scanner: Option<LinkScanner>,
        elapsed: Duration,
    ) -> Result<Processed, Error> {
        let mut entries = self.entries_of_page(&lease.link, &page);
        let processed = self.store(lease, page, scanner, elapsed).await?;
        if let Some(entries) = entries.as_mut().filter(|_| processed.is_news()) {
            while !entries.read_some() {
                tokio::task::yield_now().await;
            }
            if let Some(listed) = entries.take_listed() {
                self.offer_all(listed).await?;
            }
        }
        Ok(processed)
    }

    /// The entries of a page that may be a sitemap: anyone can link to the sitemaps of others.
    pub(crate) fn entries_of_page(&self, from: &Link, page: &Page) -> Option<EntriesOfPage> {
        let is_too_deep = self.plan.limits.depth.is_some_and(|most| from.depth + 1 > most);
        let is_xml = matches!(page.media_type.as_str(), "application/xml" | "text/xml");
        (self.plan.politeness.sitemaps && is_xml && !is_too_deep).then(|| EntriesOfPage::new(from, page.body.clone()))
    }

    async fn offer_all(&self, mut listed: Listed) -> Result<(), Error> {
        while self.offer_some(&mut listed).await? {
            tokio::task::yield_now().await;
        }
        Ok(())
    }

    /// Offers some of the URLs that a sitemap lists; gives whether there may be more. Each call is short, because
    /// everything but the sink shares one thread.
    pub(crate) async fn offer_some(&self, listed: &mut Listed) -> Result<bool, Error> {
        let urls: Vec<Url> = listed.urls.by_ref().take(SLICE_ENTRIES).collect();
        let is_more = urls.len() == SLICE_ENTRIES;
        let links: Vec<Link> = urls.into_iter().filter_map(|url| self.entry_link(listed, url)).collect();
        if !links.is_empty() {
            self.frontier.offer(&links).await?;
        }
        Ok(is_more)
    }

    fn entry_link(&self, listed: &Listed, url: Url) -> Option<Link> {
        let from = &listed.from;
        if listed.is_of_page {
            return self.is_wanted(&url).then(|| Link::page(url, from.depth + 1));
        }
        // The protocol lets an index list sitemaps of its own site. Others are nothing more than links.
        if listed.kind == SitemapKind::Index && site(&url) == site(&from.url) {
            let is_last_level = from.depth >= MAX_SITEMAP_DEPTH;
            let link = Link { kind: Kind::Sitemap, ..Link::page(url, from.depth + 1) };
            return (!is_last_level && self.scope.borrow().contains(&link.url)).then_some(link);
        }
        let is_too_deep = self.plan.limits.depth.is_some_and(|most| ENTRY_DEPTH > most);
        (!is_too_deep && self.is_wanted(&url)).then(|| Link::page(url, ENTRY_DEPTH))
    }
}

/// A page that may be a sitemap, while it is read.
pub(crate) struct EntriesOfPage {
    from: Link,
    body: Body,
    reader: Option<SitemapReader>,
}

impl EntriesOfPage {
    fn new(from: &Link, bytes: Bytes) -> EntriesOfPage {
        let mut body = Body::new("", MAX_SITEMAP_BYTES, 0).expect("no encoding is unknown").or_gzip_file();
        body.feed(bytes);
        EntriesOfPage { from: from.clone(), body, reader: Some(SitemapReader::new(from.url.clone())) }
    }

    /// Reads some of it; gives whether that was the end.
    pub(crate) fn read_some(&mut self) -> bool {
        let fed = self.body.step();
        if let Some(reader) = &mut self.reader {
            reader.feed(self.body.bytes());
        }
        self.body.drop_bytes();
        !matches!(fed, Ok(Fed::Busy))
    }

    /// What it lists, if it is a sitemap.
    pub(crate) fn take_listed(&mut self) -> Option<Listed> {
        let sitemap = self.reader.take()?.finish();
        let is_sitemap = matches!(sitemap.kind, SitemapKind::Index | SitemapKind::Pages);
        is_sitemap.then(|| Listed {
            from: self.from.clone(),
            kind: sitemap.kind,
            urls: sitemap.urls.into_iter(),
            is_of_page: true,
        })
    }
}

/// Whether something is a sitemap. A page may have an element with the name of one, and a text a few URLs; of a sitemap
/// in plain text most lines are URLs.
fn is_sitemap(kind: SitemapKind, n_urls: usize, n_lines: usize, start: &[u8]) -> bool {
    match kind {
        SitemapKind::Unknown => false,
        _ if sniff(start) == "text/html" => false,
        SitemapKind::Text => 2 * n_urls >= n_lines,
        _ => true,
    }
}

/// Whether something that is no sitemap may be a page.
fn may_be_page(media_type: &str) -> bool {
    is_html(media_type) || media_type == "text/plain"
}

/// The declared media type or, without one, that of the first bytes.
fn media_type<'m>(declared: &'m str, start: &[u8]) -> &'m str {
    match declared {
        "" | "application/octet-stream" => sniff(start),
        declared => declared,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(declared: &str, body: &str) -> (Need, Option<Sitemap>) {
        let mut reading = SitemapBody::new(&"http://a.test/map".parse().unwrap());
        let mut need = Need::Body;
        for piece in body.as_bytes().chunks(10_000) {
            need = reading.feed(declared, piece);
            if need == Need::Nothing {
                break;
            }
        }
        (need, reading.finish())
    }

    #[test]
    fn a_large_sitemap_is_not_held_and_its_entries_are_counted() {
        let entries: String = (0..20_000).map(|number| format!("<url><loc>/{number}</loc></url>")).collect();
        let (need, sitemap) = read("application/xml", &format!("<urlset>{entries}</urlset>"));
        let Need::Pieces(held) = need else { panic!("{need:?}") };
        let urls = sitemap.unwrap().urls;
        let n_bytes: usize = urls.iter().map(|url| url.as_str().len() + size_of::<Url>()).sum();
        assert!(urls.len() == 20_000 && held >= n_bytes && held < 3 * n_bytes, "{held} of {n_bytes} bytes");
    }

    #[test]
    fn what_lists_all_it_may_is_not_read_to_its_end() {
        let lines: String = (0..60_000).map(|number| format!("http://a.test/{number}\n")).collect();
        let (need, sitemap) = read("text/plain", &lines);
        assert_eq!((need, sitemap.unwrap().urls.len()), (Need::Nothing, 50_000));
    }

    #[test]
    fn a_page_is_held_whatever_it_mentions() {
        let words = "some words of a text\n".repeat(5_000);
        for (declared, start) in [("text/plain", "http://a.test/1\n"), ("text/html", "<html><urlset><loc>/1</loc>")] {
            let (need, sitemap) = read(declared, &format!("{start}{words}"));
            assert_eq!(need, Need::Body);
            assert!(sitemap.is_none());
        }
        assert!(read("text/html", "<html><urlset><loc>/1</loc>").1.is_none(), "also a short one");
    }
}
