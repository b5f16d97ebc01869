//! Refreshing stored pages: which, and when.
//!
//! As in WIRE's manager, all pages are ranked together and the best become a batch: the value of a refresh changes with
//! time, differently for every page, so that no queue could stay sorted.

use std::time::Duration;

use super::super::hosts::HostState;
use super::super::journal::Event;
use super::super::visits::VisitRecord;
use super::super::{FetchRecord, Kind, Lease};
use super::settle::content_key;
use super::{ActiveLease, Inner, LeaseKey};
use crate::clock::Clock;
use crate::error::Error;
use crate::order::Priority;
use crate::outcome::Outcome;
use crate::recrawl::{ChangeHistory, PRIOR_RATE, Refresh, RefreshPass};

/// Pages in a batch.
const BATCH: usize = 10_000;
/// Pages of a batch that are examined to find one whose host is ready.
const MAX_LOOKS: usize = 256;
/// The shortest time between two rankings. It is also at least twenty times the duration of the last one.
const RANK_AFTER: Duration = Duration::from_millis(200);

/// A page to refresh.
struct DuePage {
    value: f64,
    host: u32,
    url: u32,
    offset: u64,
}

/// Schedules the refreshes of a frontier.
pub(super) struct RefreshScheduler {
    options: Refresh,
    /// The batch, best page last.
    due: Vec<DuePage>,
    /// When this run began, in milliseconds since 1970.
    began: u64,
    /// When to rank all pages again, by the time of the frontier's clock.
    next_ranking: Duration,
    /// Refreshes that are owed while new pages wait; a refresh costs 1.
    credit: f64,
    /// Whether the last ranking found any page that was due.
    found_any: bool,
    pub(super) n_requested: u64,
    pub(super) n_changed: u64,
}

impl RefreshScheduler {
    pub(super) fn new(options: Refresh, clock: &Clock) -> RefreshScheduler {
        RefreshScheduler {
            options,
            due: Vec::new(),
            began: clock.unix_milliseconds(),
            next_ranking: clock.elapsed(),
            credit: 0.0,
            found_any: true,
            n_requested: 0,
            n_changed: 0,
        }
    }

    /// A new page was leased: adds the share that refreshing gets for it.
    pub(super) fn add_credit(&mut self) {
        let share = self.options.share.clamp(0.0, 1.0);
        self.credit = (self.credit + share / (1.0 - share).max(0.001)).min(8.0);
    }

    /// Whether a page may be refreshed `now`.
    fn is_due(&self, page: &VisitRecord, now: u64) -> bool {
        let due_by = match self.options.pass {
            RefreshPass::Once => self.began,
            RefreshPass::Repeated => now,
        };
        let is_of_this_run = self.options.pass == RefreshPass::Once && page.at >= self.began;
        page.offset != 0 && page.age(due_by) >= self.options.after && !is_of_this_run
    }

    fn is_limit_reached(&self) -> bool {
        self.options.limit.is_some_and(|most| self.n_requested >= most)
    }
}

impl Inner {
    /// Whether a refresh comes before the next new page.
    pub(super) fn is_time_to_refresh(&self) -> bool {
        self.refresh.as_ref().is_some_and(|refresh| refresh.credit >= 1.0)
    }

    /// Whether pages are waiting to be refreshed.
    pub(super) fn has_due(&self) -> bool {
        self.refresh.as_ref().is_some_and(|refresh| !refresh.due.is_empty() && !refresh.is_limit_reached())
    }

    /// The time until the next ranking, if it may find pages.
    pub(super) fn next_ranking(&self) -> Option<Duration> {
        let refresh = self.refresh.as_ref().filter(|refresh| refresh.found_any && !refresh.is_limit_reached())?;
        Some(refresh.next_ranking.saturating_sub(self.clock.elapsed()))
    }

    /// Leases the page with the largest refresh value among those whose hosts are ready.
    pub(super) fn lease_refresh(&mut self) -> Result<Option<Lease>, Error> {
        let Some(refresh) = &self.refresh else { return Ok(None) };
        if refresh.is_limit_reached() {
            return Ok(None);
        }
        if refresh.due.is_empty() && self.clock.elapsed() >= refresh.next_ranking {
            self.rank_due_pages()?;
        }
        let Some(refresh) = &mut self.refresh else { return Ok(None) };
        let is_available = |due: &DuePage| {
            self.hosts.contains(due.host)
                && matches!(self.hosts.get(due.host).state, HostState::Idle | HostState::Ready(_))
                && self.lanes.has_room_for(self.hosts.get(due.host))
                && !self.leased_urls.contains(&due.url)
        };
        let Some(from_end) = refresh.due.iter().rev().take(MAX_LOOKS).position(is_available) else { return Ok(None) };
        let DuePage { host: number, offset, .. } = refresh.due.remove(refresh.due.len() - 1 - from_end);
        refresh.credit = (refresh.credit - 1.0).max(0.0);
        refresh.n_requested += 1;
        // Handing out decrements the counts of waiting URLs, and this page was in no queue.
        self.hosts.get_mut(number).pending += 1;
        self.pending += 1;
        let (n_handed_out, n_auxiliary) = (self.n_handed_out, self.hosts.get(number).n_auxiliary);
        let mut lease = self.hand_out(number, Priority::LAST, offset)?;
        // A stored page is a page, also if it was first asked for as a sitemap; and it was counted when it was new.
        lease.link.kind = Kind::Page;
        self.n_handed_out = n_handed_out;
        self.hosts.get_mut(number).n_auxiliary = n_auxiliary;
        let id = LeaseKey::of(lease.id);
        let url = id.url;
        if let Some(offset) = self.validators.get(url)? {
            lease.validators = self.journal.validators_at(offset.get(), url)?.map(Box::new);
        }
        if let Some(held) = self.leased.get_mut(&id) {
            (held.is_refresh, held.kind) = (true, Kind::Page);
        }
        Ok(Some(lease))
    }

    /// A refresh that was given back becomes the first of its batch.
    pub(super) fn requeue_refresh(&mut self, id: LeaseKey) {
        if let Some(refresh) = &mut self.refresh {
            let LeaseKey { host, url, offset } = id;
            refresh.due.push(DuePage { value: f64::MAX, host, url, offset });
            refresh.n_requested -= 1;
        }
    }

    /// Ranks all pages and takes those with the largest refresh value as the new batch.
    fn rank_due_pages(&mut self) -> Result<(), Error> {
        let Some(refresh) = &mut self.refresh else { return Ok(()) };
        let started = self.clock.elapsed();
        let now = self.clock.unix_milliseconds();
        let (mut n_changes, mut watched) = (1.0, 1.0 / PRIOR_RATE);
        self.visits.for_each(|_, page| {
            n_changes += f64::from(page.history.n_changes);
            watched += page.history.observed.as_secs_f64();
        })?;
        // A page that was fetched once is assumed to change at the mean rate of the others.
        let prior = if n_changes > 1.0 { n_changes / (watched - 1.0 / PRIOR_RATE).max(0.001) } else { PRIOR_RATE };
        let mut due: Vec<DuePage> = Vec::new();
        let mut failed = None;
        self.visits.for_each(|url, page| {
            let age = page.age(now);
            if failed.is_some() || !refresh.is_due(&page, now) {
                return;
            }
            let kept = self.scores.as_mut().map(|scores| scores.get(url));
            let priority = match kept {
                Some(Ok(kept)) => kept.map_or(0, |kept| kept.priority.0),
                Some(Err(error)) => {
                    failed = Some(error);
                    return;
                }
                None => 0,
            };
            let quality = 1.0 - 0.9 * f64::from(priority) / 255.0;
            let value = refresh.options.policy.value(quality, page.history.rate_with_prior(prior), age);
            due.push(DuePage { value, host: page.host, url, offset: page.offset });
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
        let finished = self.clock.elapsed();
        refresh.next_ranking = finished + RANK_AFTER.max((finished - started) * 20);
        Ok(())
    }

    /// Journals how a visit to a page ended. The returned record has the outcome `NotModified` when a refresh found the
    /// page unchanged.
    pub(super) fn record_visit(
        &mut self,
        id: LeaseKey,
        held: &ActiveLease,
        record: FetchRecord,
    ) -> Result<FetchRecord, Error> {
        let mut record = record;
        let now = held.fetched_at.unwrap_or_else(|| self.clock.unix_milliseconds());
        if !held.is_refresh {
            if matches!(record.outcome, Outcome::Stored | Outcome::Duplicate) {
                let first =
                    VisitRecord { host: id.host, offset: id.offset, at: now, history: ChangeHistory::default() };
                self.write_visit(id.url, first)?;
            }
            return Ok(record);
        }
        let Some(mut page) = self.visits.get(id.url)? else { return Ok(record) };
        let is_known =
            record.digest != 0 && self.content_digests.get(content_key(id.host, record.digest))? == Some(id.url);
        if record.outcome == Outcome::Stored && is_known {
            record = FetchRecord { outcome: Outcome::NotModified, digest: 0, ..record };
        }
        let (is_answer, is_changed) = match record.outcome {
            Outcome::NotModified | Outcome::Duplicate => (true, false),
            Outcome::NotFound | Outcome::SoftNotFound | Outcome::Disallowed => {
                // The page no longer exists or is disallowed: it is not refreshed again.
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
        self.write_visit(id.url, page)?;
        Ok(record)
    }

    fn write_visit(&mut self, url: u32, visit: VisitRecord) -> Result<(), Error> {
        self.journal.push(&Event::Visited { url, visit })?;
        self.visits.set(url, visit)
    }
}
