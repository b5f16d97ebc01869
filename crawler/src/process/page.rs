//! A page that was fetched: duplicate detection, directives, links, and what is recorded of it.

use std::time::Duration;

use url::Url;
use xxhash_rust::xxh3::xxh3_64;

use super::response::MAX_HOPS;
use super::{Processed, Processor, done, milliseconds};
use crate::error::Error;
use crate::frontier::{ContentMatch, FetchRecord, Frontier, Kind, Lease, Link, Settled};
use crate::links::{AnchorText, LinkScanner, PageLinks, RobotsDirectives};
use crate::order::FetchedPage;
use crate::outcome::Outcome;
use crate::page::Page;
use crate::plan::Follow;
use crate::traps::{this_year, trap};
use crate::validators::Validators;

impl<F: Frontier> Processor<'_, F> {
    pub(crate) fn store(
        &self,
        mut lease: Lease,
        page: Box<Page>,
        scanner: Option<LinkScanner>,
        elapsed: Duration,
    ) -> Result<Processed, Error> {
        let host = lease.link.host();
        if self.soft404.borrow().is_soft404(&host, lease.link.url.path(), &page.body) {
            return Ok(Processed::Settle(lease, done(Outcome::SoftNotFound, page.status, elapsed)));
        }
        if scanner.is_some() {
            self.mirrors.borrow_mut().compare(&host, &page.url, &page.body);
        }
        let found = scanner.map(|scanner| scanner.finish(&page.url));
        if let Some(found) = &found
            && self.quality.borrow_mut().judge(&page.url, &page.body, found).is_some()
        {
            return self.store_low_quality(lease, page, found, elapsed);
        }
        let digest = xxh3_64(&page.body).max(1);
        let content = match page.body.is_empty() {
            true => ContentMatch::New,
            false => self.frontier.match_content(&lease, digest)?,
        };
        let is_duplicate = content == ContentMatch::Duplicate;
        let directives = self.directives(&page, found.as_ref());
        let follow = self.plan.follow;
        // Links of a duplicate lead to known pages, or to endless copies of them.
        if follow == Follow::Links
            && !is_duplicate
            && let Some(found) = found
        {
            self.offer_links(&lease.link, lease.id.offset, &page, found, directives)?;
        }
        self.ask_for_samples()?;
        self.count_unheard(directives);
        if directives.noindex && self.plan.politeness.noindex {
            return Ok(Processed::Settle(lease, done(Outcome::NoIndex, page.status, elapsed)));
        }
        if content == ContentMatch::Unchanged {
            return Ok(Processed::Settle(lease, done(Outcome::NotModified, page.status, elapsed)));
        }
        let probe = if is_duplicate || follow == Follow::Redirects {
            None
        } else {
            self.soft404.borrow_mut().probe(&host, &page.url)
        };
        if let Some(url) = probe {
            self.frontier.offer(None, &[Link { kind: Kind::Probe, ..Link::page(url, lease.link.depth) }])?;
        }
        let outcome = match content {
            ContentMatch::Duplicate => Outcome::Duplicate,
            ContentMatch::Same | ContentMatch::Unchanged => Outcome::NotModified,
            ContentMatch::New => Outcome::Stored,
        };
        lease.validators = Validators::of(&page).map(Box::new);
        let record = FetchRecord {
            outcome,
            status: page.status,
            bytes: page.body.len() as u32,
            milliseconds: milliseconds(elapsed),
            digest: if outcome == Outcome::Stored && !page.body.is_empty() { digest } else { 0 },
        };
        Ok(Processed::Store(lease, page, record))
    }

    /// Ends a page of low quality: its links wait behind all others, and it is stored unless the plan drops it.
    fn store_low_quality(
        &self,
        lease: Lease,
        page: Box<Page>,
        found: &PageLinks,
        elapsed: Duration,
    ) -> Result<Processed, Error> {
        let directives = self.directives(&page, Some(found));
        if self.plan.follow == Follow::Links {
            let links = self.wanted_links(&lease.link, lease.id.offset, found.clone(), directives);
            self.frontier.offer_last(&links)?;
        }
        let is_dropped = self.plan.drop_low_quality || (directives.noindex && self.plan.politeness.noindex);
        let bytes = if is_dropped { 0 } else { page.body.len() as u32 };
        let milliseconds = milliseconds(elapsed);
        let record = FetchRecord { outcome: Outcome::LowQuality, status: page.status, bytes, milliseconds, digest: 0 };
        Ok(match is_dropped {
            true => Processed::Settle(lease, Settled::Done(record)),
            false => Processed::Store(lease, page, record),
        })
    }

    /// The robots directives of a page, in its headers and in its HTML.
    fn directives(&self, page: &Page, found: Option<&PageLinks>) -> RobotsDirectives {
        const NAME: &[u8] = b"x-robots-tag:";
        let mut directives = found.map(|found| found.robots).unwrap_or_default();
        for line in page.head.split(|&byte| byte == b'\n') {
            if let Some((name, value)) = line.split_at_checked(NAME.len())
                && name.eq_ignore_ascii_case(NAME)
            {
                let value = String::from_utf8_lossy(value);
                directives = directives.and(RobotsDirectives::from_header(value.trim(), &self.plan.identity.product));
            }
        }
        directives
    }

    /// Counts a page whose wishes this crawl does not hear.
    fn count_unheard(&self, directives: RobotsDirectives) {
        let mut unheard = self.unheard.get();
        unheard.noindex += u64::from(directives.noindex && !self.plan.politeness.noindex);
        unheard.nofollow += u64::from(directives.nofollow && !self.plan.politeness.nofollow);
        self.unheard.set(unheard);
    }

    /// Offers the links of a stored page again: the plan may want others than when it was fetched.
    pub(crate) fn offer_links_again(
        &self,
        from: &Link,
        offset: u64,
        page: &Page,
        scanner: LinkScanner,
    ) -> Result<(), Error> {
        let found = scanner.finish(&page.url);
        let directives = self.directives(page, Some(&found));
        self.offer_links(from, offset, page, found, directives)
    }

    fn offer_links(
        &self,
        from: &Link,
        found_on: u64,
        page: &Page,
        found: PageLinks,
        directives: RobotsDirectives,
    ) -> Result<(), Error> {
        let (canonical, charset) = (found.canonical.clone(), found.charset);
        let links = self.wanted_links(from, found_on, found, directives);
        {
            let mut mirrors = self.mirrors.borrow_mut();
            mirrors.record_links(&page.url, &links);
            if let Some(canonical) = canonical.filter(|canonical| canonical.host() != page.url.host()) {
                mirrors.record_pointer(&page.url, &canonical);
            }
        }
        let text = self.text(page, charset);
        let visit = FetchedPage { link: from, n_links: links.len(), body: &text };
        self.frontier.offer(Some(visit), &links)?;
        Ok(())
    }

    /// The links of a page that belong to the crawl.
    fn wanted_links(&self, from: &Link, found_on: u64, found: PageLinks, directives: RobotsDirectives) -> Vec<Link> {
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
            links.push(Link { url: link.url, depth, hops, kind: Kind::Page, anchor, context, found_on });
        }
        links
    }

    /// Asks for the samples that tell whether a host is a mirror.
    fn ask_for_samples(&self) -> Result<(), Error> {
        let mut wanted = self.mirrors.borrow_mut().take_wanted();
        wanted.retain(|link| self.is_wanted(&link.url));
        if wanted.is_empty() { Ok(()) } else { self.frontier.expedite(&wanted) }
    }

    /// The body, converted to UTF-8 where the ordering policy reads it.
    fn text<'p>(&self, page: &'p Page, charset: Option<&'static str>) -> std::borrow::Cow<'p, [u8]> {
        let encoding = charset.and_then(|name| encoding_rs::Encoding::for_label(name.as_bytes()));
        match encoding.filter(|encoding| self.anchors == AnchorText::Keep && *encoding != encoding_rs::UTF_8) {
            Some(encoding) => encoding.decode(&page.body).0.into_owned().into_bytes().into(),
            None => (&page.body[..]).into(),
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
