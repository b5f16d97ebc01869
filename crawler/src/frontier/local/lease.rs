//! Handing out leases: the best page of the best ready host.

use std::cmp::Reverse;
use std::time::Duration;

use super::super::hosts::HostState;
use super::super::scores::Score;
use super::super::{Kind, Lease, Link, Next, Trace};
use super::lanes::Lanes;
use super::{ActiveLease, Inner, LeaseKey, is_set};
use crate::error::Error;
use crate::order::{Priority, SplitMix64};

/// How soon to try again when hosts are ready that must wait for processor time.
const SHORT_OF_TIME: Duration = Duration::from_millis(5);

/// Links of a host that are reviewed, for a policy that learns, before one is fetched in any case.
const MAX_REVIEWS: usize = 64;

impl Inner {
    pub(super) fn lease(&mut self) -> Result<Next, Error> {
        let now = self.now();
        self.lanes.grant(now);
        self.take_up_postponed()?;
        while let Some(&Reverse((until, number))) = self.resting.peek()
            && until <= now
        {
            self.resting.pop();
            // A host whose rest had ended may have been claimed since, and may rest again.
            let host = self.hosts.get(number);
            if host.state == HostState::Resting && host.rest_ends == until {
                self.make_ready(number);
            }
        }
        if self.is_time_to_refresh()
            && let Some(lease) = self.lease_refresh()?
        {
            return Ok(Next::Fetch(lease));
        }
        let next = self.lease_new()?;
        if next.is_some()
            && let Some(refresh) = &mut self.refresh
        {
            refresh.add_credit();
        }
        if let Some(lease) = next.map_or_else(|| self.lease_refresh(), |lease| Ok(Some(lease)))? {
            return Ok(Next::Fetch(lease));
        }
        if self.lanes.is_short_of_time() {
            return Ok(Next::Wait(SHORT_OF_TIME));
        }
        if let Some(Reverse((until, _))) = self.resting.peek()
            && (self.pending > 0 || self.has_due())
        {
            return Ok(Next::Wait(Duration::from_micros(until.saturating_sub(now).max(1))));
        }
        if self.pending > 0 || !self.leased.is_empty() {
            return Ok(Next::Wait(Duration::from_secs(1)));
        }
        if let Some(time) = self.next_room() {
            return Ok(Next::Wait(time));
        }
        if let Some(time) = self.next_ranking() {
            return Ok(Next::Wait(time.max(Duration::from_millis(1))));
        }
        Ok(Next::Empty)
    }

    /// A page that was not fetched before, chosen at random or by the policy.
    fn lease_new(&mut self) -> Result<Option<Lease>, Error> {
        if let Some(mut random) = self.explore.sample(self.n_handed_out)
            && let Some(number) = self.random_ready_host(&mut random)
            && let Some(lease) = self.lease_random(number, &mut random)?
        {
            return Ok(Some(lease));
        }
        while let Some(number) = self.lanes.next() {
            if let Some(lease) = self.lease_from_host(number)? {
                return Ok(Some(lease));
            }
        }
        Ok(None)
    }

    /// A random ready host that has only pages waiting. Sixteen hosts are tried, so none may be found where few are ready.
    fn random_ready_host(&self, random: &mut SplitMix64) -> Option<u32> {
        (0..16).map(|_| random.below(self.hosts.len().max(1)) as u32).find(|&number| {
            self.hosts.contains(number)
                && matches!(self.hosts.get(number).state, HostState::Ready(_))
                && self.lanes.has_room_for(self.hosts.get(number))
                && self.hosts.get(number).n_auxiliary == 0
        })
    }

    /// The first page of a random priority of a host.
    fn lease_random(&mut self, number: u32, random: &mut SplitMix64) -> Result<Option<Lease>, Error> {
        let index = random.below(self.hosts.get(number).queues.n_priorities().max(1));
        let priority = self.hosts.get(number).queues.priority_at(index);
        while self.hosts.get(number).queues.priority_at(index) == priority
            && let Some((priority, offset)) = self.hosts.get_mut(number).queues.pop_at(index, &self.blocks)?
        {
            if !self.is_stale(offset)? {
                return self.hand_out(number, priority, offset).map(Some);
            }
        }
        Ok(None)
    }

    fn lease_from_host(&mut self, number: u32) -> Result<Option<Lease>, Error> {
        let mut n_reviews = 0;
        while let Some((priority, offset)) = self.pop_in_turn(number)? {
            if self.is_stale(offset)? {
                continue;
            }
            if n_reviews < MAX_REVIEWS && self.policy.reviews() {
                n_reviews += 1;
                let (url, _, link) = self.journal.link_at(offset)?;
                let host = self.hosts.get_mut(number);
                let now = if link.kind == Kind::Page { self.policy.review(&link, &host.counts()) } else { priority };
                if now > priority {
                    host.queues.push(now, offset, &mut self.blocks)?;
                    if let Some(scores) = &mut self.scores
                        && let Some(kept) = scores.get(url)?
                    {
                        scores.set(url, Score { priority: now, ..kept })?;
                    }
                    continue;
                }
            }
            return self.hand_out(number, priority, offset).map(Some);
        }
        // The queues held only URLs that are leased or done.
        let host = self.hosts.get_mut(number);
        self.pending -= u64::from(host.pending);
        host.pending = 0;
        host.n_auxiliary = 0;
        self.set_state(number, HostState::Idle);
        Ok(None)
    }

    /// Removes the next entry of a host. Sitemaps and probes are first in its queues, but take turns with pages.
    fn pop_in_turn(&mut self, number: u32) -> Result<Option<(Priority, u64)>, Error> {
        let host = self.hosts.get_mut(number);
        let is_turn_of_pages = self.lanes.shares_out() && host.n_auxiliary > 0 && !host.is_turn_of_auxiliary();
        let Some((priority, offset)) = host.queues.pop(&self.blocks)? else { return Ok(None) };
        if !is_turn_of_pages || priority != Priority::FIRST || self.journal.link_at(offset)?.2.kind == Kind::Page {
            return Ok(Some((priority, offset)));
        }
        let queues = &mut self.hosts.get_mut(number).queues;
        queues.push_front(priority, offset, &mut self.blocks)?;
        let later = queues.pop_at(1, &self.blocks)?;
        Ok(match later {
            Some(page) => Some(page),
            None => queues.pop(&self.blocks)?,
        })
    }

    pub(super) fn hand_out(&mut self, number: u32, priority: Priority, offset: u64) -> Result<Lease, Error> {
        self.write_host_record(number)?;
        let (url, offset, link) = self.best_claim(offset)?;
        self.set_state(number, HostState::Busy);
        let now = self.now();
        let host = self.hosts.get_mut(number);
        host.account.leased_at = now;
        host.pending -= 1;
        self.pending -= 1;
        host.was_auxiliary = link.kind != Kind::Page;
        match link.kind {
            Kind::Page => self.n_handed_out += 1,
            Kind::Sitemap | Kind::Probe => host.n_auxiliary = host.n_auxiliary.saturating_sub(1),
        }
        let patience = Lanes::patience(host);
        let attempts = self.attempts.get(&url).copied().unwrap_or(0);
        let id = LeaseKey { host: number, url, offset };
        let fence = self.next_fence();
        let (kind, is_refresh) = (link.kind, false);
        self.leased.insert(
            id,
            ActiveLease { fence, has_rested: false, priority, attempts, kind, is_refresh, fetched_at: None },
        );
        self.leased_urls.insert(url);
        self.drop_stale(number)?;
        let trace = Box::new(Trace { found_on: self.journal.source_of(&link)?, ..Trace::default() });
        Ok(Lease { link, attempts, validators: None, patience, trace, id: id.leased(fence) })
    }

    /// The URL of a queue entry, and the newest of its records.
    fn best_claim(&self, offset: u64) -> Result<(u32, u64, Link), Error> {
        let (url, _, link) = self.journal.link_at(offset)?;
        let claimed = self.claims.get(url)?.map_or(0, |claim| claim.offset);
        match if claimed == offset { None } else { self.claimed_link(url, claimed)? } {
            Some(better) => Ok((url, claimed, better)),
            None => Ok((url, offset, link)),
        }
    }

    /// The link of a URL's best claim, whose record should be at this offset. After a power cut the claims may be ahead of
    /// the journal: then there is no record, or that of another URL.
    pub(super) fn claimed_link(&self, url: u32, offset: u64) -> Result<Option<Link>, Error> {
        if offset == 0 {
            return Ok(None);
        }
        match self.journal.link_at(offset) {
            Ok((number, _, link)) => Ok((number == url).then_some(link)),
            Err(Error::Damaged { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether a queue entry is stale: a promoted URL is in two queues, and when the second entry is reached the URL is
    /// leased or done.
    fn is_stale(&mut self, offset: u64) -> Result<bool, Error> {
        if !self.may_have_stale_entries {
            return Ok(false);
        }
        let url = self.journal.number_at(offset)?;
        Ok(is_set(&self.done, url) || self.leased_urls.contains(&url))
    }

    /// Removes stale entries from the front, so that the best priority of a host is that of a URL which can be leased.
    pub(super) fn drop_stale(&mut self, number: u32) -> Result<(), Error> {
        if !self.may_have_stale_entries {
            return Ok(());
        }
        while let Some((priority, offset)) = self.hosts.get_mut(number).queues.pop(&self.blocks)? {
            if !self.is_stale(offset)? {
                self.hosts.get_mut(number).queues.push_front(priority, offset, &mut self.blocks)?;
                break;
            }
        }
        Ok(())
    }
}
