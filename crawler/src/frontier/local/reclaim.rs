//! Better claims about known URLs: a waiting URL is fetched by its best claim, and one that is done in a worse way is put
//! back.

use url::Url;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::super::journal::Event;
use super::super::scores::Score;
use super::super::{Kind, Link};
use super::{Inner, is_set, set, unset};
use crate::error::Error;
use crate::order::Priority;
use crate::outcome::Outcome;

impl Inner {
    /// A known URL was offered again: its record is replaced if this claim is better.
    pub(super) fn improve(&mut self, url: u32, link: &Link) -> Result<(), Error> {
        let Some(claim) = self.claims.get(url)? else { return Ok(()) };
        let Some(better) = claim.improved_by(link, self.claims.tracks_depth()) else { return Ok(()) };
        if is_set(&self.done, url) && !claim.may_revive() {
            return Ok(());
        }
        let number = self.host_number(&better)?;
        let priority = self.priority_of(number, url, &better, claim.kind)?;
        if self.leased_urls.contains(&url) {
            // It is being fetched by the worse claim. After a kill it is fetched by this one; otherwise the claim is
            // looked at again when the lease ends.
            self.journal.push(&Event::Improved { host: number, url, priority, link: better.clone() })?;
            self.late_claims.insert(url, better);
            return Ok(());
        }
        self.reclaim(number, url, priority, better)
    }

    /// Looks at a better claim that came while a URL was leased.
    pub(super) fn apply_late_claim(&mut self, url: u32) -> Result<(), Error> {
        match self.late_claims.remove(&url) {
            Some(link) => self.improve(url, &link),
            None => Ok(()),
        }
    }

    /// Lets these URLs be fetched before all others of their hosts, unless they were fetched before.
    pub(super) fn expedite(&mut self, links: &[Link]) -> Result<(), Error> {
        let key = self.journal.key();
        let fingerprint = |url: &Url| xxh3_64_with_seed(url.as_str().as_bytes(), key);
        for link in links {
            let fingerprint = fingerprint(&link.url);
            let Some(url) = self.seen.get(fingerprint)? else {
                self.policy.no_source_page();
                self.enqueue(fingerprint, link)?;
                continue;
            };
            let claim = self.claims.get(url)?;
            let is_waiting = !is_set(&self.done, url) && !self.leased_urls.contains(&url);
            if !is_waiting || claim.is_some_and(|claim| claim.kind != Kind::Page) {
                continue;
            }
            let (depth, hops) = claim.map_or((link.depth, link.hops), |claim| (claim.depth, claim.hops));
            let link = Link { depth: depth.min(link.depth), hops: hops.min(link.hops), ..link.clone() };
            let number = self.host_number(&link)?;
            self.reclaim(number, url, Priority::FIRST, link)?;
        }
        Ok(())
    }

    /// Puts every URL back that ended with this outcome; gives how many there are.
    pub(super) fn put_back(&mut self, outcome: Outcome) -> Result<u64, Error> {
        self.write()?;
        let mut ended = Vec::new();
        self.journal.replay(0, |_, event| {
            match event {
                Event::Done { url, record, .. } if record.outcome == outcome => set(&mut ended, url),
                Event::Done { url, .. } | Event::Improved { url, .. } => unset(&mut ended, url),
                _ => {}
            }
            Ok(())
        })?;
        let mut n_urls = 0;
        for url in (0..self.n_urls).filter(|&url| is_set(&ended, url)) {
            if !is_set(&self.done, url) {
                continue;
            }
            let offset = self.url_offset(url)?;
            let (_, priority, link) = self.journal.link_at(offset)?;
            let number = self.host_number(&link)?;
            self.reclaim(number, url, priority, link)?;
            n_urls += 1;
            if self.journal.is_full() {
                self.write()?;
            }
        }
        self.write()?;
        Ok(n_urls)
    }

    /// The priority of a URL by a better claim.
    fn priority_of(&mut self, number: u32, url: u32, link: &Link, before: Kind) -> Result<Priority, Error> {
        if link.kind != Kind::Page {
            return Ok(Priority::FIRST);
        }
        if before == Kind::Page
            && let Some(scores) = &mut self.scores
            && let Some(kept) = scores.get(url)?
        {
            return Ok(kept.priority);
        }
        let mut score = 0.0;
        self.policy.no_source_page();
        Ok(self.policy.prioritize(link, &self.hosts.get(number).counts(), &mut score))
    }

    fn reclaim(&mut self, number: u32, url: u32, priority: Priority, link: Link) -> Result<(), Error> {
        let event = Event::Improved { host: number, url, priority, link };
        let offset = self.journal.push(&event)?;
        let Event::Improved { link, .. } = event else { return Ok(()) };
        if let Some(scores) = &mut self.scores {
            let score = scores.get(url)?.map_or(0.0, |kept| kept.score);
            scores.set(url, Score { score, priority, offset })?;
        }
        match self.apply_claim(number, url, priority, offset, &link)? {
            true => self.add_pending(number),
            false => self.update_host_priority(number),
        }
        Ok(())
    }

    /// Replaces the claim about a URL that is not leased and queues it by the new one; the old queue entry stays and is
    /// skipped later. Gives whether the URL was done and waits again, which the caller counts.
    pub(super) fn apply_claim(
        &mut self,
        number: u32,
        url: u32,
        priority: Priority,
        offset: u64,
        link: &Link,
    ) -> Result<bool, Error> {
        let is_revival = is_set(&self.done, url);
        let was_auxiliary = self.claims.get(url)?.is_some_and(|claim| claim.kind != Kind::Page);
        self.claims.improve(url, link, offset, is_revival)?;
        self.may_have_stale_entries = true;
        unset(&mut self.done, url);
        let host = self.hosts.get_mut(number);
        // Under some policies most links have the first priority.
        match priority == Priority::FIRST {
            true => host.queues.push_front(priority, offset, &mut self.blocks)?,
            false => host.queues.push(priority, offset, &mut self.blocks)?,
        }
        if was_auxiliary && !is_revival {
            host.n_auxiliary = host.n_auxiliary.saturating_sub(1);
        }
        host.n_auxiliary += u32::from(link.kind != Kind::Page);
        Ok(is_revival)
    }
}
