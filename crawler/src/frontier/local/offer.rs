//! Offering links: new URLs are enqueued, known ones may be promoted.

use url::Url;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::super::journal::Event;
use super::super::scores::Score;
use super::super::{Kind, Link, Offered, Outlinks, write_host};
use super::{Inner, LeaseKey, is_set};
use crate::error::Error;
use crate::order::{FetchedPage, Priority};

/// Stands for the page where a link was found, where there is none.
const SEED: u64 = 0;

/// Bytes of journal after which a checkpoint is written, to bound the time of the next opening.
const CHECKPOINT_BYTES: u64 = 128 << 20;

/// What became of a link.
enum Added {
    New,
    Known,
    Postponed,
}

impl Inner {
    /// Adds links that no page is settled with.
    pub(super) fn offer(&mut self, links: &[Link]) -> Result<Offered, Error> {
        let fingerprints = self.fingerprints(links);
        self.policy.no_source_page();
        self.seen.prefetch(&fingerprints);
        let mut offered = Offered::default();
        for (link, fingerprint) in links.iter().zip(fingerprints) {
            match self.add(fingerprint, link, SEED)? {
                Added::New => offered.new += 1,
                Added::Known => offered.known += 1,
                Added::Postponed => offered.postponed += 1,
            }
            if self.journal.is_full() {
                self.write()?;
            }
        }
        if self.is_checkpoint_due() || self.journal.is_full() {
            self.write_or_checkpoint()?;
        }
        Ok(offered)
    }

    /// Adds the links of a page that is being settled, and tells the policy of the page. Nothing is written.
    pub(super) fn offer_outlinks(&mut self, id: LeaseKey, from: &Link, found: &Outlinks) -> Result<(), Error> {
        let fingerprints = self.fingerprints(&found.links);
        // Several links to the same URL count once; links of a page to itself do not count.
        let mut distinct = std::mem::take(&mut self.distinct_links);
        distinct.clear();
        distinct.extend(&fingerprints);
        distinct.remove(&self.fingerprint(&from.url));
        let page = FetchedPage { link: from, n_links: distinct.len(), body: &found.text };
        self.visit(id, &page, found.is_redirect)?;
        self.seen.prefetch(&fingerprints);
        for (link, fingerprint) in found.links.iter().zip(fingerprints) {
            if distinct.remove(&fingerprint) {
                self.add(fingerprint, link, id.offset)?;
            }
        }
        self.distinct_links = distinct;
        if self.policy.reranks() { self.rerank() } else { Ok(()) }
    }

    fn fingerprint(&self, url: &Url) -> u64 {
        xxh3_64_with_seed(url.as_str().as_bytes(), self.journal.key())
    }

    fn fingerprints(&self, links: &[Link]) -> Vec<u64> {
        links.iter().map(|link| self.fingerprint(&link.url)).collect()
    }

    /// Adds a link of the page whose record is at `found_on`, or takes what it says about a known URL.
    fn add(&mut self, fingerprint: u64, link: &Link, found_on: u64) -> Result<Added, Error> {
        let Some(url) = self.seen.get(fingerprint)? else {
            let link = &Link { found_on, ..link.clone() };
            if self.postpone(fingerprint, link)? {
                return Ok(Added::Postponed);
            }
            self.enqueue(fingerprint, link)?;
            return Ok(Added::New);
        };
        if self.claims.contains(url) {
            self.improve(url, &Link { found_on, ..link.clone() })?;
        }
        self.offer_known(url, link)?;
        Ok(Added::Known)
    }

    fn is_checkpoint_due(&self) -> bool {
        self.seen.is_checkpoint_due()
            || self.content_digests.is_checkpoint_due()
            || self.journal.end() - self.checkpointed > CHECKPOINT_BYTES
    }

    /// Writes what has changed, with a checkpoint when one is due.
    pub(super) fn write_or_checkpoint(&mut self) -> Result<(), Error> {
        if self.is_checkpoint_due() { self.checkpoint() } else { self.write() }
    }

    /// Reports a page to the policy, which takes its score to pass it on to the links.
    fn visit(&mut self, id: LeaseKey, page: &FetchedPage<'_>, is_redirect: bool) -> Result<(), Error> {
        let counts = self.hosts.get(id.host).counts();
        let kept = self.scores.as_mut().map(|scores| scores.get(id.url)).transpose()?.flatten();
        let mut score = kept.map_or(0.0, |kept| kept.score);
        match is_redirect {
            true => self.policy.redirected(page.link, &counts, &mut score),
            false => self.policy.page_fetched(page, &counts, &mut score),
        }
        match (&mut self.scores, kept) {
            (Some(scores), Some(kept)) => scores.set(id.url, Score { score, ..kept }),
            _ => Ok(()),
        }
    }

    pub(super) fn enqueue(&mut self, fingerprint: u64, link: &Link) -> Result<(), Error> {
        let number = self.host_number(link)?;
        let url = self.n_urls;
        self.n_urls += 1;
        let mut score = 0.0;
        let priority = match link.kind {
            Kind::Page => self.policy.prioritize(link, &self.hosts.get(number).counts(), &mut score),
            Kind::Sitemap | Kind::Probe => Priority::FIRST,
        };
        let offset = self.journal.push_new(number, url, priority, link)?;
        if let Some(scores) = &mut self.scores {
            scores.set(url, Score { score, priority, offset })?;
        }
        if let Some(offsets) = &mut self.url_offsets {
            offsets.set(url, offset)?;
        }
        self.seen.insert(fingerprint, url)?;
        self.claims.add(url, link, offset);
        let host = self.hosts.get_mut(number);
        host.n_auxiliary += u32::from(link.kind != Kind::Page);
        host.queues.push(priority, offset, &mut self.blocks)?;
        self.add_pending(number);
        Ok(())
    }

    /// A known URL was found again: the policy may promote it while it waits.
    fn offer_known(&mut self, url: u32, link: &Link) -> Result<(), Error> {
        let Some(scores) = &mut self.scores else { return Ok(()) };
        let Some(mut kept) = scores.get(url)? else { return Ok(()) };
        let number = self.host_number(link)?;
        let priority = self.policy.reprioritize(link, &self.hosts.get(number).counts(), &mut kept.score);
        if priority < kept.priority && !is_set(&self.done, url) && !self.leased_urls.contains(&url) {
            return self.promote(number, url, Score { priority, ..kept });
        }
        match &mut self.scores {
            Some(scores) => scores.set(url, kept),
            None => Ok(()),
        }
    }

    /// Moves a waiting URL to a smaller priority. The old queue entry stays and is skipped later.
    fn promote(&mut self, number: u32, url: u32, kept: Score) -> Result<(), Error> {
        self.hosts.get_mut(number).queues.push(kept.priority, kept.offset, &mut self.blocks)?;
        self.journal.push(&Event::Promoted { host: number, offset: kept.offset, priority: kept.priority })?;
        if let Some(scores) = &mut self.scores {
            scores.set(url, kept)?;
        }
        self.update_host_priority(number);
        Ok(())
    }

    /// Promotes every waiting URL to which the policy would give a smaller priority now.
    fn rerank(&mut self) -> Result<(), Error> {
        for url in 0..self.n_urls {
            let Some(scores) = &mut self.scores else { return Ok(()) };
            if is_set(&self.done, url) || self.leased_urls.contains(&url) {
                continue;
            }
            let Some(kept) = scores.get(url)? else { continue };
            let (_, _, link) = self.journal.link_at(kept.offset)?;
            if link.kind != Kind::Page {
                continue;
            }
            let number = self.host_number(&link)?;
            let priority = self.policy.review(&link, &self.hosts.get(number).counts());
            if priority < kept.priority {
                self.promote(number, url, Score { priority, ..kept })?;
            }
        }
        Ok(())
    }

    pub(super) fn host_number(&mut self, link: &Link) -> Result<u32, Error> {
        self.host_name.clear();
        write_host(&link.url, &mut self.host_name);
        if let Some(number) = self.hosts.find(&self.host_name) {
            return Ok(number);
        }
        let name = self.host_name.clone();
        self.add_host(&name)
    }
}
