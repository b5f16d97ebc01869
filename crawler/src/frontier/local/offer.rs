//! Offering links: new URLs are enqueued, known ones may be promoted.

use url::Url;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::super::journal::Event;
use super::super::scores::Score;
use super::super::{Kind, Link, Offered, write_host};
use super::{Inner, is_set};
use crate::error::Error;
use crate::order::{FetchedPage, Priority};

/// Bytes of journal after which a checkpoint is written, to bound the time of the next opening.
const CHECKPOINT_BYTES: u64 = 128 << 20;

impl Inner {
    pub(super) fn offer(&mut self, page: Option<FetchedPage<'_>>, links: &[Link]) -> Result<Offered, Error> {
        let key = self.journal.key();
        let fingerprint = |url: &Url| xxh3_64_with_seed(url.as_str().as_bytes(), key);
        let fingerprints: Vec<u64> = links.iter().map(|link| fingerprint(&link.url)).collect();
        let is_page = page.is_some();
        let mut distributes = true;
        match page {
            None => self.policy.no_source_page(),
            Some(page) => {
                // Several links to the same URL count once; links of a page to itself do not count.
                let own = fingerprint(&page.link.url);
                self.distinct_links.clear();
                self.distinct_links.extend(&fingerprints);
                self.distinct_links.remove(&own);
                let page = FetchedPage { n_links: self.distinct_links.len(), ..page };
                // A page with a body may name its canonical URL, which is one hop further as well.
                let is_redirect = page.body.is_empty() && links.first().is_some_and(|link| link.hops > page.link.hops);
                distributes = self.visit(own, &page, is_redirect)?;
            }
        }
        self.seen.prefetch(&fingerprints);
        let mut offered = Offered::default();
        for (link, fingerprint) in links.iter().zip(fingerprints) {
            if is_page && !self.distinct_links.remove(&fingerprint) {
                offered.known += 1;
                continue;
            }
            match self.seen.get(fingerprint)? {
                Some(url) => {
                    offered.known += 1;
                    if self.claims.contains(url) {
                        self.improve(url, link)?;
                    }
                    if distributes {
                        self.offer_known(url, link)?;
                    }
                }
                None => {
                    offered.new += 1;
                    self.enqueue(fingerprint, link)?;
                }
            }
            if !is_page && self.journal.is_full() {
                self.write()?;
            }
        }
        if is_page && self.policy.reranks() {
            self.rerank()?;
        }
        let is_due = self.seen.is_checkpoint_due() || self.content_digests.is_checkpoint_due();
        if is_due || self.journal.end() - self.checkpointed > CHECKPOINT_BYTES {
            self.checkpoint()?;
        } else if self.journal.is_full() {
            self.write()?;
        }
        Ok(offered)
    }

    /// Adds links at the last priority; known ones stay as they are.
    pub(super) fn offer_last(&mut self, links: &[Link]) -> Result<Offered, Error> {
        let key = self.journal.key();
        let mut offered = Offered::default();
        for link in links {
            let fingerprint = xxh3_64_with_seed(link.url.as_str().as_bytes(), key);
            match self.seen.get(fingerprint)? {
                Some(_) => offered.known += 1,
                None => {
                    offered.new += 1;
                    self.enqueue_at(fingerprint, link, Priority::LAST, 0.0)?;
                }
            }
        }
        if self.journal.is_full() {
            self.write()?;
        }
        Ok(offered)
    }

    /// Reports a fetched page to the policy, unless that happened before the last kill. Gives whether the page
    /// distributes its score to its links.
    fn visit(&mut self, fingerprint: u64, page: &FetchedPage<'_>, is_redirect: bool) -> Result<bool, Error> {
        let number = self.host_number(page.link)?;
        let counts = self.hosts.get(number).counts();
        let mut kept = None;
        if let Some(scores) = &mut self.scores
            && let Some(url) = self.seen.get(fingerprint)?
        {
            if !scores.begin_distribution(url) {
                self.policy.no_source_page();
                return Ok(false);
            }
            kept = scores.get(url)?.map(|kept| (url, kept));
        }
        let mut score = kept.map_or(0.0, |(_, kept)| kept.score);
        match is_redirect {
            true => self.policy.redirected(page.link, &counts, &mut score),
            false => self.policy.page_fetched(page, &counts, &mut score),
        }
        if let (Some(scores), Some((url, kept))) = (&mut self.scores, kept) {
            scores.set(url, Score { score, ..kept })?;
        }
        Ok(true)
    }

    pub(super) fn enqueue(&mut self, fingerprint: u64, link: &Link) -> Result<(), Error> {
        let number = self.host_number(link)?;
        let mut score = 0.0;
        let priority = match link.kind {
            Kind::Page => self.policy.prioritize(link, &self.hosts.get(number).counts(), &mut score),
            Kind::Sitemap | Kind::Probe => Priority::FIRST,
        };
        self.enqueue_at(fingerprint, link, priority, score)
    }

    fn enqueue_at(&mut self, fingerprint: u64, link: &Link, priority: Priority, score: f32) -> Result<(), Error> {
        let number = self.host_number(link)?;
        let url = self.n_urls;
        self.n_urls += 1;
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
        self.journal.push(&Event::Host { name: self.host_name.clone() })?;
        Ok(self.hosts.add(&self.host_name))
    }
}
