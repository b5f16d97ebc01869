//! A page that was fetched: duplicate detection, directives, links, and what is recorded of it.

use std::time::Duration;

use bytes::Bytes;
use url::Url;
use xxhash_rust::xxh3::xxh3_64;

use super::response::MAX_HOPS;
use super::{Processed, Processor, done, milliseconds, settle};
use crate::error::Error;
use crate::frontier::{ContentMatch, FetchRecord, Frontier, Kind, Lease, Link, Outlinks, Settled, Settlement};
use crate::links::{AnchorText, LinkScanner, PageLinks, RobotsDirectives};
use crate::outcome::Outcome;
use crate::page::Page;
use crate::plan::Follow;
use crate::traps::{this_year, trap};
use crate::validators::Validators;

impl<F: Frontier> Processor<'_, F> {
    pub(crate) async fn store(
        &self,
        mut lease: Lease,
        mut page: Box<Page>,
        scanner: Option<LinkScanner>,
        elapsed: Duration,
    ) -> Result<Processed, Error> {
        let host = lease.link.host();
        if self.soft404.borrow().is_soft404(&host, lease.link.url.path(), &page.body) {
            return Ok(settle(lease, done(Outcome::SoftNotFound, 0, elapsed)));
        }
        let is_html = scanner.is_some();
        if is_html {
            self.mirrors.borrow_mut().compare(&host, &page.url, &page.body);
        }
        let found = scanner.map(|scanner| scanner.finish(&page.url));
        let digest = xxh3_64(&page.body).max(1);
        let content = match page.body.is_empty() {
            true => ContentMatch::New,
            false => self.frontier.match_content(&lease, digest).await?,
        };
        let is_duplicate = content == ContentMatch::Duplicate;
        let directives = self.directives(&page, found.as_ref());
        let follow = self.plan.follow;
        // Links of a duplicate lead to known pages, or to endless copies of them.
        let counted = found.filter(|_| follow == Follow::Links && !is_duplicate);
        let outlinks = counted.map(|found| self.outlinks(&lease.link, &page, found, directives));
        self.ask_for_samples().await?;
        self.count_unheard(directives);
        if directives.noindex && self.plan.politeness.noindex {
            let settled = done(Outcome::NoIndex, 0, elapsed);
            return Ok(Processed::Settle(Settlement { lease, settled, outlinks }));
        }
        if self.is_page_reserved(&mut page, is_html).await? {
            // Time tells that it was requested.
            let settled = done(Outcome::Reserved, 0, elapsed.max(Duration::from_millis(1)));
            return Ok(Processed::Settle(Settlement { lease, settled, outlinks }));
        }
        if content == ContentMatch::Unchanged {
            let settled = done(Outcome::NotModified, 0, elapsed);
            return Ok(Processed::Settle(Settlement { lease, settled, outlinks }));
        }
        let probe = if is_duplicate || follow == Follow::Redirects {
            None
        } else {
            self.soft404.borrow_mut().probe(&host, &page.url)
        };
        if let Some(url) = probe {
            self.frontier.offer(&[Link { kind: Kind::Probe, ..Link::page(url, lease.link.depth) }]).await?;
        }
        let outcome = if is_duplicate { Outcome::Duplicate } else { Outcome::Stored };
        let digest = if is_duplicate || page.body.is_empty() { 0 } else { digest };
        lease.validators = Validators::of(&page).map(Box::new);
        let record =
            FetchRecord { outcome, bytes: page.body.len() as u32, milliseconds: milliseconds(elapsed), digest };
        Ok(Processed::Store(Settlement { lease, settled: Settled::Done(record), outlinks }, page))
    }

    /// The robots directives of a page, in its headers and in its HTML.
    fn directives(&self, page: &Page, found: Option<&PageLinks>) -> RobotsDirectives {
        let in_html = found.map(|found| found.robots).unwrap_or_default();
        let in_headers = page.headers.all("x-robots-tag").map(|value| {
            RobotsDirectives::from_header(String::from_utf8_lossy(value).trim(), &self.plan.identity.product)
        });
        in_headers.fold(in_html, RobotsDirectives::and)
    }

    /// Counts a page whose wishes this crawl does not hear.
    fn count_unheard(&self, directives: RobotsDirectives) {
        let mut unheard = self.unheard.get();
        unheard.noindex += u64::from(directives.noindex && !self.plan.politeness.noindex);
        unheard.nofollow += u64::from(directives.nofollow && !self.plan.politeness.nofollow);
        self.unheard.set(unheard);
    }

    /// Offers the links of a stored page again: the plan may want others than when it was fetched.
    pub(crate) async fn offer_links_again(&self, from: &Link, page: &Page, scanner: LinkScanner) -> Result<(), Error> {
        let found = scanner.finish(&page.url);
        let directives = self.directives(page, Some(&found));
        // The page is settled and has passed its score on.
        self.frontier.offer(&self.outlinks(from, page, found, directives).links).await.map(drop)
    }

    /// The links of a page that belong to the crawl.
    fn outlinks(&self, from: &Link, page: &Page, found: PageLinks, directives: RobotsDirectives) -> Outlinks {
        let depth = from.depth + 1;
        let obeys = self.plan.politeness.nofollow;
        let is_too_deep = self.plan.limits.depth.is_some_and(|most| depth > most);
        let other_name = other_name(from, &found);
        let mut links = Vec::with_capacity(found.links.len());
        for link in found.links {
            let is_own = other_name.as_ref() == Some(&link.url);
            if (obeys && (link.nofollow || directives.nofollow))
                || (is_too_deep && !is_own)
                || !self.is_wanted(&link.url)
            {
                continue;
            }
            let (depth, hops) = if is_own { (from.depth, from.hops + 1) } else { (depth, 0) };
            let (anchor, context) = (link.anchor, link.context);
            links.push(Link { url: link.url, depth, hops, kind: Kind::Page, anchor, context, found_on: 0 });
        }
        {
            let mut mirrors = self.mirrors.borrow_mut();
            mirrors.record_links(&page.url, &links);
            if let Some(canonical) = found.canonical.filter(|canonical| canonical.host() != page.url.host()) {
                mirrors.record_pointer(&page.url, &canonical);
            }
        }
        Outlinks { links, is_redirect: false, text: self.text(page, found.charset) }
    }

    /// Asks for the samples that tell whether a host is a mirror.
    async fn ask_for_samples(&self) -> Result<(), Error> {
        let mut wanted = self.mirrors.borrow_mut().take_wanted();
        wanted.retain(|link| self.is_wanted(&link.url));
        if wanted.is_empty() { Ok(()) } else { self.frontier.expedite(&wanted).await }
    }

    /// The body in UTF-8, where the ordering policy reads it.
    fn text(&self, page: &Page, charset: Option<&'static str>) -> Bytes {
        if self.anchors == AnchorText::Skip {
            return Bytes::new();
        }
        let encoding = charset.and_then(|name| encoding_rs::Encoding::for_label(name.as_bytes()));
        match encoding.filter(|encoding| *encoding != encoding_rs::UTF_8) {
            Some(encoding) => encoding.decode(&page.body).0.into_owned().into_bytes().into(),
            None => page.body.clone(),
        }
    }

    pub(super) fn is_wanted(&self, url: &Url) -> bool {
        self.scope.borrow().contains(url)
            && trap(url, this_year()).is_none()
            && (self.plan.response_limits.any_type || !looks_binary(url))
    }
}

/// The other URL under which a page says it is found: the target of its refresh or, without one, its canonical URL.
///
/// It keeps the depth of the page and is one hop further, as the target of a redirect is. There is one for each page,
/// so that pages which go on naming others end after [`MAX_HOPS`], and do not branch before.
fn other_name(from: &Link, found: &PageLinks) -> Option<Url> {
    if from.hops >= MAX_HOPS {
        return None;
    }
    let is_other = |url: &&Url| **url != from.url;
    let refresh = found.refresh.as_ref().map(|(_, url)| url).filter(is_other);
    refresh.or(found.canonical.as_ref().filter(is_other)).cloned()
}

/// Whether the file extension of a URL is that of a file which is no page.
fn looks_binary(url: &Url) -> bool {
    const ENDINGS: &[&str] = &[
        "7z", "apk", "avi", "bin", "bmp", "bz2", "css", "dmg", "doc", "docx", "eot", "epub", "exe", "flac", "flv",
        "gif", "gz", "ico", "iso", "jar", "jpeg", "jpg", "js", "m4a", "m4v", "mkv", "mov", "mp3", "mp4", "mpeg", "mpg",
        "msi", "ogg", "otf", "pdf", "png", "ppt", "pptx", "rar", "rpm", "svg", "tar", "tgz", "tif", "tiff", "ttf",
        "wav", "webm", "webp", "wmv", "woff", "woff2", "xls", "xlsx", "xz", "zip", "zst",
    ];
    let path = url.path();
    let Some(dot) = path.rfind('.').filter(|&dot| path.len() - dot <= 6 && dot > path.rfind('/').unwrap_or(0)) else {
        return false;
    };
    let ending = path[dot + 1..].to_ascii_lowercase();
    ENDINGS.binary_search(&ending.as_str()).is_ok()
}

#[cfg(test)]
mod tests {
    use super::looks_binary;

    #[test]
    fn only_the_end_of_a_path_tells_a_file() {
        let check = |url: &str| looks_binary(&url.parse().unwrap());
        assert!(check("http://a.test/x/photo.JPG?size=2"));
        assert!(check("http://a.test/x.tar.gz"));
        assert!(!check("http://a.test/x.pdf/"));
        assert!(!check("http://a.test/page.html"));
        assert!(!check("http://a.test/?file=x.pdf"));
        assert!(!check("http://zip/"));
    }
}
