//! Leases are handed out: the best page of the best host that may be asked.

use std::cmp::Reverse;
use std::time::Duration;

use super::super::hosts::State;
use super::super::scores::Score;
use super::super::{Kind, Lease, Next, Ticket};
use super::{Held, Inner, is_set};
use crate::error::Error;
use crate::order::{Class, Draw};

/// So many links of a host are looked at again, for a policy that learns, before one is fetched in any case.
const MAX_REVIEWS: usize = 64;

impl Inner {
    pub(super) fn lease(&mut self) -> Result<Next, Error> {
        let now = self.now();
        while let Some(&Reverse((until, number))) = self.resting.peek()
            && until <= now
        {
            self.resting.pop();
            self.make_ready(number);
        }
        if self.is_time_to_refresh()
            && let Some(lease) = self.lease_again()?
        {
            return Ok(Next::Fetch(lease));
        }
        let next = self.lease_new()?;
        if next.is_some()
            && let Some(refresh) = &mut self.refresh
        {
            refresh.earn();
        }
        if let Some(lease) = next.map_or_else(|| self.lease_again(), |lease| Ok(Some(lease)))? {
            return Ok(Next::Fetch(lease));
        }
        if let Some(Reverse((until, _))) = self.resting.peek()
            && (self.pending > 0 || self.has_due())
        {
            return Ok(Next::Wait(Duration::from_micros(until.saturating_sub(now).max(1))));
        }
        if self.pending > 0 || !self.leased.is_empty() {
            return Ok(Next::Wait(Duration::from_secs(1)));
        }
        if let Some(time) = self.next_ranking() {
            return Ok(Next::Wait(time.max(Duration::from_millis(1))));
        }
        Ok(Next::Empty)
    }

    /// A page that was never asked for, by lot or by the policy.
    fn lease_new(&mut self) -> Result<Option<Lease>, Error> {
        if let Some(mut draw) = self.explore.draw(self.n_handed_out)
            && let Some(number) = self.any_ready(&mut draw)
            && let Some(lease) = self.lease_any(number, &mut draw)?
        {
            return Ok(Some(lease));
        }
        while let Some((_, number)) = self.ready.pop_first() {
            if let Some(lease) = self.lease_from(number)? {
                return Ok(Some(lease));
            }
        }
        Ok(None)
    }

    /// A ready host by lot, unless it has something to do before that. Where few are ready none may be found.
    fn any_ready(&self, draw: &mut Draw) -> Option<u32> {
        (0..16).map(|_| draw.below(self.hosts.iter().len().max(1)) as u32).find(|&number| {
            self.hosts.contains(number)
                && matches!(self.hosts.get(number).state, State::Ready(_))
                && !self.has_something_first(number)
        })
    }

    /// The first page of a class by lot.
    fn lease_any(&mut self, number: u32, draw: &mut Draw) -> Result<Option<Lease>, Error> {
        let index = draw.below(self.hosts.get(number).queues.n_classes().max(1));
        let class = self.hosts.get(number).queues.0.get(index).map(|queue| queue.class);
        while self.hosts.get(number).queues.0.get(index).map(|queue| queue.class) == class
            && let Some((class, offset)) = self.hosts.get_mut(number).queues.pop_at(index, &self.blocks)?
        {
            if !self.is_stale(offset)? {
                if let State::Ready(precedence) = self.hosts.get(number).state {
                    self.ready.remove(&(precedence, number));
                }
                return self.hand_out(number, class, offset).map(Some);
            }
        }
        Ok(None)
    }

    fn lease_from(&mut self, number: u32) -> Result<Option<Lease>, Error> {
        if let Some(offset) = self.next_unfinished(number)
            && !self.is_stale(offset)?
        {
            let url = self.journal.number_at(offset)?;
            let kept = self.scores.as_mut().map(|scores| scores.get(url)).transpose()?.flatten();
            return self.hand_out(number, kept.map_or(Class::FIRST, |kept| kept.class), offset).map(Some);
        }
        let mut n_reviews = 0;
        while let Some((class, offset)) = self.hosts.get_mut(number).queues.pop(&self.blocks)? {
            if self.is_stale(offset)? {
                continue;
            }
            if n_reviews < MAX_REVIEWS && self.order.reviews() {
                n_reviews += 1;
                let (url, _, link) = self.journal.link_at(offset)?;
                let host = self.hosts.get_mut(number);
                let now = if link.kind == Kind::Page { self.order.review(&link, &host.counts()) } else { class };
                if now > class {
                    host.queues.push(now, offset, &mut self.blocks)?;
                    if let Some(scores) = &mut self.scores
                        && let Some(kept) = scores.get(url)?
                    {
                        scores.set(url, Score { class: now, ..kept })?;
                    }
                    continue;
                }
            }
            return self.hand_out(number, class, offset).map(Some);
        }
        // Nothing but URLs that are leased or done.
        let host = self.hosts.get_mut(number);
        self.pending -= u64::from(host.pending);
        host.pending = 0;
        host.extras = 0;
        host.state = State::Idle;
        Ok(None)
    }

    fn next_unfinished(&mut self, number: u32) -> Option<u64> {
        let offset = self.unfinished.get_mut(&number)?.pop();
        if self.unfinished.get(&number).is_some_and(Vec::is_empty) {
            self.unfinished.remove(&number);
        }
        offset
    }

    pub(super) fn hand_out(&mut self, number: u32, class: Class, offset: u64) -> Result<Lease, Error> {
        let (url, _, link) = self.journal.link_at(offset)?;
        let host = self.hosts.get_mut(number);
        host.state = State::Busy;
        host.pending -= 1;
        self.pending -= 1;
        match link.kind {
            Kind::Page => self.n_handed_out += 1,
            Kind::Sitemap | Kind::Probe => host.extras = host.extras.saturating_sub(1),
        }
        let attempts = self.attempts.get(&url).copied().unwrap_or(0);
        let ticket = Ticket { host: number, url, offset };
        self.leased.insert(ticket, Held { class, attempts, kind: link.kind, is_refresh: false });
        self.leased_urls.insert(url);
        self.drop_stale(number)?;
        Ok(Lease { link, attempts, validators: None, ticket })
    }

    /// Whether a queue's entry leads nowhere any more: a URL that was moved ahead stands in two queues, and the second
    /// time it is met it is leased or done.
    fn is_stale(&mut self, offset: u64) -> Result<bool, Error> {
        if !self.has_doubles {
            return Ok(false);
        }
        let url = self.journal.number_at(offset)?;
        Ok(is_set(&self.done, url) || self.leased_urls.contains(&url))
    }

    /// Takes stale entries from the front, so that the best class of a host is that of a URL to be had.
    pub(super) fn drop_stale(&mut self, number: u32) -> Result<(), Error> {
        if !self.has_doubles {
            return Ok(());
        }
        while let Some((class, offset)) = self.hosts.get_mut(number).queues.pop(&self.blocks)? {
            if !self.is_stale(offset)? {
                self.hosts.get_mut(number).queues.push_front(class, offset, &mut self.blocks)?;
                break;
            }
        }
        Ok(())
    }
}
