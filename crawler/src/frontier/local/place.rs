//! Links are offered: new ones are taken in, known ones may move ahead.

use url::Url;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::super::journal::Event;
use super::super::scores::Score;
use super::super::{Kind, Link, Offered, write_host};
use super::{Inner, is_set};
use crate::error::Error;
use crate::order::{Class, Visit};

/// Bytes of journal after which opening would take longer than a checkpoint is worth.
const CHECKPOINT_BYTES: u64 = 128 << 20;

impl Inner {
    pub(super) fn offer(&mut self, page: Option<Visit<'_>>, links: &[Link]) -> Result<Offered, Error> {
        let key = self.journal.key();
        let fingerprint = |url: &Url| xxh3_64_with_seed(url.as_str().as_bytes(), key);
        let fingerprints: Vec<u64> = links.iter().map(|link| fingerprint(&link.url)).collect();
        let is_page = page.is_some();
        let mut pays = true;
        match page {
            None => self.order.unlinked(),
            Some(page) => {
                // However often a page links to another, and to itself, it counts once, or not at all.
                let own = fingerprint(&page.link.url);
                self.once.clear();
                self.once.extend(&fingerprints);
                self.once.remove(&own);
                let page = Visit { n_links: self.once.len(), ..page };
                let is_redirect = links.first().is_some_and(|link| link.hops > page.link.hops);
                pays = self.visit(own, &page, is_redirect)?;
            }
        }
        self.seen.prepare(&fingerprints);
        let mut offered = Offered::default();
        for (link, fingerprint) in links.iter().zip(fingerprints) {
            if is_page && !self.once.remove(&fingerprint) {
                offered.known += 1;
                continue;
            }
            match self.seen.get(fingerprint)? {
                Some(url) => {
                    offered.known += 1;
                    if pays {
                        self.offer_again(url, link)?;
                    }
                }
                None => {
                    offered.new += 1;
                    self.take_in(fingerprint, link)?;
                }
            }
            if !is_page && self.journal.is_full() {
                self.write()?;
            }
        }
        if is_page && self.order.reranks() {
            self.rerank()?;
        }
        let is_due = self.seen.wants_checkpoint() || self.contents.wants_checkpoint();
        if is_due || self.journal.end() - self.checkpointed > CHECKPOINT_BYTES {
            self.checkpoint()?;
        } else if self.journal.is_full() {
            self.write()?;
        }
        Ok(offered)
    }

    /// Tells the policy of a page, unless it was told before the last kill; whether the page pays its links.
    fn visit(&mut self, fingerprint: u64, page: &Visit<'_>, is_redirect: bool) -> Result<bool, Error> {
        let number = self.host_number(page.link)?;
        let counts = self.hosts.get(number).counts();
        let mut kept = None;
        if let Some(scores) = &mut self.scores
            && let Some(url) = self.seen.get(fingerprint)?
        {
            if !scores.is_first_visit(url) {
                self.order.unlinked();
                return Ok(false);
            }
            kept = scores.get(url)?.map(|kept| (url, kept));
        }
        let mut score = kept.map_or(0.0, |(_, kept)| kept.score);
        match is_redirect {
            true => self.order.redirect(page.link, &counts, &mut score),
            false => self.order.visit(page, &counts, &mut score),
        }
        if let (Some(scores), Some((url, kept))) = (&mut self.scores, kept) {
            scores.set(url, Score { score, ..kept })?;
        }
        Ok(true)
    }

    fn take_in(&mut self, fingerprint: u64, link: &Link) -> Result<(), Error> {
        let number = self.host_number(link)?;
        let url = self.n_urls;
        self.n_urls += 1;
        let mut score = 0.0;
        let class = match link.kind {
            Kind::Page => self.order.place(link, &self.hosts.get(number).counts(), &mut score),
            Kind::Sitemap | Kind::Probe => Class::FIRST,
        };
        let offset = self.journal.push_new(number, url, class, link)?;
        if let Some(scores) = &mut self.scores {
            scores.set(url, Score { score, class, offset })?;
        }
        self.seen.insert(fingerprint, url)?;
        let host = self.hosts.get_mut(number);
        host.extras += u32::from(link.kind != Kind::Page);
        host.queues.push(class, offset, &mut self.blocks)?;
        self.one_more(number);
        Ok(())
    }

    /// A known URL was found again: the policy may move it ahead while it waits.
    fn offer_again(&mut self, url: u32, link: &Link) -> Result<(), Error> {
        let Some(scores) = &mut self.scores else { return Ok(()) };
        let Some(mut kept) = scores.get(url)? else { return Ok(()) };
        let number = self.host_number(link)?;
        let class = self.order.place_again(link, &self.hosts.get(number).counts(), &mut kept.score);
        if class < kept.class && !is_set(&self.done, url) && !self.leased_urls.contains(&url) {
            return self.raise(number, url, Score { class, ..kept });
        }
        match &mut self.scores {
            Some(scores) => scores.set(url, kept),
            None => Ok(()),
        }
    }

    /// Moves a waiting URL ahead.
    fn raise(&mut self, number: u32, url: u32, kept: Score) -> Result<(), Error> {
        self.hosts.get_mut(number).queues.push(kept.class, kept.offset, &mut self.blocks)?;
        self.journal.push(&Event::Raised { host: number, offset: kept.offset, class: kept.class })?;
        if let Some(scores) = &mut self.scores {
            scores.set(url, kept)?;
        }
        self.renew_precedence(number);
        Ok(())
    }

    /// Places every waiting URL where the policy would place it now.
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
            let class = self.order.review(&link, &self.hosts.get(number).counts());
            if class < kept.class {
                self.raise(number, url, Score { class, ..kept })?;
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
