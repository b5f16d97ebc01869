//! Asking again for pages that are kept: which, and when.
//!
//! As WIRE's manager does, all pages are looked at together and the best are taken as a batch: what a visit is worth
//! changes with time, for every page differently, so no queue could stay in order.

use std::time::{Duration, Instant};

use super::super::hosts::State;
use super::super::journal::Event;
use super::super::visits::{self, Visited};
use super::super::{Lease, Receipt, Ticket};
use super::{Held, Inner};
use crate::error::Error;
use crate::order::Class;
use crate::outcome::Outcome;
use crate::recrawl::{ChangeHistory, PRIOR_RATE, Refresh};

/// Pages of a batch.
const BATCH: usize = 10_000;
/// So many pages of a batch are looked at for one whose host may be asked.
const MAX_LOOKS: usize = 256;
/// All pages are looked at again after this long at the earliest, and after twenty times what that takes.
const RANK_AFTER: Duration = Duration::from_millis(200);

/// A page to ask for again.
struct Due {
    value: f64,
    host: u32,
    url: u32,
    offset: u64,
}

/// The part of a frontier that asks again.
pub(super) struct Refreshing {
    options: Refresh,
    /// The batch, the best last.
    due: Vec<Due>,
    /// When to look at all pages again.
    next_ranking: Instant,
    /// Visits that refreshing has a right to, one for each whole number.
    credit: f64,
    /// Whether any page was due when they were last looked at.
    found_any: bool,
    pub(super) n_asked: u64,
    pub(super) n_changed: u64,
}

impl Refreshing {
    pub(super) fn new(options: Refresh) -> Refreshing {
        let next_ranking = Instant::now();
        Refreshing { options, due: Vec::new(), next_ranking, credit: 0.0, found_any: true, n_asked: 0, n_changed: 0 }
    }

    /// A page was asked for the first time: refreshing gets its share.
    pub(super) fn earn(&mut self) {
        let share = self.options.share.clamp(0.0, 1.0);
        self.credit = (self.credit + share / (1.0 - share).max(0.001)).min(8.0);
    }

    fn is_spent(&self) -> bool {
        self.options.limit.is_some_and(|most| self.n_asked >= most)
    }
}

impl Inner {
    /// Whether a page is to be asked for again before any new one is.
    pub(super) fn is_time_to_refresh(&self) -> bool {
        self.refresh.as_ref().is_some_and(|refresh| refresh.credit >= 1.0)
    }

    /// Whether pages wait to be asked for again.
    pub(super) fn has_due(&self) -> bool {
        self.refresh.as_ref().is_some_and(|refresh| !refresh.due.is_empty() && !refresh.is_spent())
    }

    /// How long until all pages are looked at again, if there may be some to ask for.
    pub(super) fn next_ranking(&self) -> Option<Duration> {
        let refresh = self.refresh.as_ref().filter(|refresh| refresh.found_any && !refresh.is_spent())?;
        Some(refresh.next_ranking.saturating_duration_since(Instant::now()))
    }

    /// The page that is most worth asking for again, of those whose hosts may be asked now.
    pub(super) fn lease_again(&mut self) -> Result<Option<Lease>, Error> {
        let Some(refresh) = &self.refresh else { return Ok(None) };
        if refresh.is_spent() {
            return Ok(None);
        }
        if refresh.due.is_empty() && Instant::now() >= refresh.next_ranking {
            self.rank()?;
        }
        let Some(refresh) = &mut self.refresh else { return Ok(None) };
        let may_be_asked = |due: &Due| {
            self.hosts.contains(due.host)
                && matches!(self.hosts.get(due.host).state, State::Idle | State::Ready(_))
                && !self.leased_urls.contains(&due.url)
        };
        let Some(place) = refresh.due.iter().rev().take(MAX_LOOKS).position(may_be_asked) else { return Ok(None) };
        let Due { host: number, offset, .. } = refresh.due.remove(refresh.due.len() - 1 - place);
        refresh.credit = (refresh.credit - 1.0).max(0.0);
        refresh.n_asked += 1;
        if let State::Ready(precedence) = self.hosts.get(number).state {
            self.ready.remove(&(precedence, number));
        }
        // Handing out takes a page from those that wait, and this one did not.
        self.hosts.get_mut(number).pending += 1;
        self.pending += 1;
        let mut lease = self.hand_out(number, Class::LAST, offset)?;
        let url = lease.ticket.url;
        if let Some(place) = self.validators.get(url)? {
            lease.validators = self.journal.validators_at(place.get(), url)?.map(Box::new);
        }
        self.n_handed_out -= 1;
        if let Some(held) = self.leased.get_mut(&lease.ticket) {
            held.is_refresh = true;
        }
        Ok(Some(lease))
    }

    /// A page that was not asked for after all is the first of its batch.
    pub(super) fn due_again(&mut self, ticket: Ticket) {
        if let Some(refresh) = &mut self.refresh {
            let Ticket { host, url, offset } = ticket;
            refresh.due.push(Due { value: f64::MAX, host, url, offset });
            refresh.n_asked -= 1;
        }
    }

    /// Looks at all pages and takes those that are most worth a visit.
    fn rank(&mut self) -> Result<(), Error> {
        let Some(refresh) = &mut self.refresh else { return Ok(()) };
        let started = Instant::now();
        let now = visits::now();
        let (mut n_changes, mut watched) = (1.0, 1.0 / PRIOR_RATE);
        self.visits.for_each(|_, page| {
            n_changes += f64::from(page.history.n_changes);
            watched += page.history.watched.as_secs_f64();
        })?;
        // A page that was seen once is believed to change as the others do.
        let prior = if n_changes > 1.0 { n_changes / (watched - 1.0 / PRIOR_RATE).max(0.001) } else { PRIOR_RATE };
        let mut due: Vec<Due> = Vec::new();
        let mut failed = None;
        self.visits.for_each(|url, page| {
            let age = page.age(now);
            if page.offset == 0 || age < refresh.options.after || failed.is_some() {
                return;
            }
            let kept = self.scores.as_mut().map(|scores| scores.get(url));
            let class = match kept {
                Some(Ok(kept)) => kept.map_or(0, |kept| kept.class.0),
                Some(Err(error)) => {
                    failed = Some(error);
                    return;
                }
                None => 0,
            };
            let quality = 1.0 - 0.9 * f64::from(class) / 255.0;
            let value = refresh.options.policy.value(quality, page.history.rate_with_prior(prior), age);
            due.push(Due { value, host: page.host, url, offset: page.offset });
            if due.len() >= 2 * BATCH {
                due.select_nth_unstable_by(BATCH, |a, b| b.value.total_cmp(&a.value));
                due.truncate(BATCH);
            }
        })?;
        if let Some(error) = failed {
            return Err(error);
        }
        due.sort_by(|a, b| a.value.total_cmp(&b.value).then(b.url.cmp(&a.url)));
        due.drain(..due.len().saturating_sub(BATCH));
        refresh.found_any = !due.is_empty();
        refresh.due = due;
        refresh.next_ranking = Instant::now() + RANK_AFTER.max(started.elapsed() * 20);
        Ok(())
    }

    /// Writes down how a visit to a page ended; of a page that was asked for again and has not changed, the receipt
    /// says so.
    pub(super) fn note_visit(&mut self, ticket: Ticket, held: &Held, receipt: Receipt) -> Result<Receipt, Error> {
        let mut receipt = receipt;
        let now = visits::now();
        if !held.is_refresh {
            if matches!(receipt.outcome, Outcome::Stored | Outcome::Duplicate) {
                let first =
                    Visited { host: ticket.host, offset: ticket.offset, at: now, history: ChangeHistory::default() };
                self.write_visit(ticket.url, first)?;
            }
            return Ok(receipt);
        }
        let Some(mut page) = self.visits.get(ticket.url)? else { return Ok(receipt) };
        let is_known = receipt.digest != 0 && self.contents.get(receipt.digest)? == Some(ticket.url);
        if receipt.outcome == Outcome::Stored && is_known {
            receipt = Receipt { outcome: Outcome::NotModified, digest: 0, ..receipt };
        }
        let (is_answer, is_changed) = match receipt.outcome {
            Outcome::NotModified | Outcome::Duplicate => (true, false),
            Outcome::NotFound | Outcome::SoftNotFound | Outcome::Disallowed => {
                // It is gone, or closed: nothing is there to be kept fresh.
                page.offset = 0;
                (true, true)
            }
            Outcome::Stored | Outcome::NoIndex | Outcome::Redirected => (true, true),
            _ => (false, false),
        };
        if is_answer {
            page.history.record(page.age(now), is_changed);
        }
        page.at = now;
        if let Some(refresh) = &mut self.refresh {
            refresh.n_changed += u64::from(is_changed);
        }
        self.write_visit(ticket.url, page)?;
        Ok(receipt)
    }

    fn write_visit(&mut self, url: u32, visited: Visited) -> Result<(), Error> {
        self.journal.push(&Event::Visited { url, visited })?;
        self.visits.set(url, visited)
    }
}
