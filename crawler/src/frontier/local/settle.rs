//! Ending leases: done, to be retried, or given back unused.

use std::num::NonZeroU64;
use std::time::Duration;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::super::journal::Event;
use super::super::{ContentMatch, FetchRecord, HostRest, Kind, Lease, LeaseId, Settled};
use super::{Inner, set};
use crate::error::Error;
use crate::outcome::Outcome;
use crate::validators::Validators;

/// The longest time between two syncs of the journal to disk.
const SYNC_AFTER: Duration = Duration::from_secs(1);

impl Inner {
    pub(super) fn give_back(&mut self, id: LeaseId, rest: HostRest) -> Result<(), Error> {
        let Some(held) = self.leased.remove(&id) else { return Ok(()) };
        self.leased_urls.remove(&id.url);
        if held.is_refresh {
            self.requeue_refresh(id);
            return self.rest(id.host, rest);
        }
        let host = self.hosts.get_mut(id.host);
        host.queues.push_front(held.priority, id.offset, &mut self.blocks)?;
        host.pending += 1;
        self.pending += 1;
        match held.kind {
            Kind::Page => self.n_handed_out -= 1,
            Kind::Sitemap | Kind::Probe => host.n_auxiliary += 1,
        }
        if self.scores.as_ref().is_some_and(|scores| scores.has_distributed(id.url)) {
            self.interrupted.entry(id.host).or_default().push(id.offset);
        }
        self.apply_late_claim(id.url)?;
        self.rest(id.host, rest)
    }

    pub(super) fn match_content(&mut self, id: LeaseId, digest: u64) -> Result<ContentMatch, Error> {
        let key = content_key(id.host, digest);
        let is_refresh = self.leased.get(&id).is_some_and(|held| held.is_refresh);
        let stored = self.content_digests.get(key)?;
        let first = match stored {
            Some(first) => first,
            None => *self.pending_digests.entry(key).or_insert(id.url),
        };
        Ok(match first == id.url {
            true if stored.is_some() && is_refresh => ContentMatch::Same,
            true if stored.is_some() => ContentMatch::Unchanged,
            true => ContentMatch::New,
            false if self.is_without_query_of(id, first)? => ContentMatch::New,
            false => ContentMatch::Duplicate,
        })
    }

    /// Whether a URL is another one without its query. Anyone can add a query to the URLs of a host and name those
    /// first; the page then counts under its own URL as well.
    fn is_without_query_of(&self, id: LeaseId, first: u32) -> Result<bool, Error> {
        let leased = self.leased.keys().find(|leased| leased.url == first).map(|leased| leased.offset);
        let visited =
            || Ok::<_, Error>(self.visits.get(first)?.map(|visit| visit.offset).filter(|offset| *offset != 0));
        let Some(offset) = leased.map_or_else(visited, |offset| Ok(Some(offset)))? else { return Ok(false) };
        let mut first = self.journal.link_at(offset)?.2.url;
        if first.query().is_none() {
            return Ok(false);
        }
        first.set_query(None);
        Ok(first == self.journal.link_at(id.offset)?.2.url)
    }

    pub(super) fn settle(&mut self, leases: Vec<(Lease, Settled)>, sink_position: &[u8]) -> Result<(), Error> {
        for (lease, settled) in leases {
            let id = lease.id;
            let Some(held) = self.leased.remove(&id) else { continue };
            self.leased_urls.remove(&id.url);
            match settled {
                Settled::Done(record) => {
                    // Without a body the server itself has said that nothing has changed.
                    let is_same = record.outcome == Outcome::NotModified && record.bytes > 0;
                    let has_copy = is_same || matches!(record.outcome, Outcome::Stored | Outcome::Duplicate);
                    // What was asked for as a sitemap may have turned out to be a page.
                    let is_page = held.kind == Kind::Page || has_copy;
                    let record = if is_page { self.record_visit(id, &held, record)? } else { record };
                    self.journal.push(&Event::Done { host: id.host, url: id.url, record })?;
                    self.count(id.host, id.url, record)?;
                    self.count_answer(id.host, gain(record.outcome));
                    if let Some(scores) = &mut self.scores {
                        scores.settle(id.url);
                    }
                    match record.outcome {
                        // The same bytes, or an answer of 304, may come with new validators.
                        Outcome::NotModified => self.renew_validators(id.url, lease.validators, has_copy)?,
                        _ if has_copy => self.store_validators(id.url, lease.validators.map(|known| *known))?,
                        _ => {}
                    }
                }
                Settled::Retry if held.is_refresh => {
                    let failed =
                        FetchRecord { outcome: Outcome::NoContent, status: 0, bytes: 0, milliseconds: 0, digest: 0 };
                    self.record_visit(id, &held, failed)?;
                }
                Settled::Retry => {
                    let attempts = held.attempts.saturating_add(1);
                    let LeaseId { host, url, offset } = id;
                    self.journal.push(&Event::Retry { host, url, offset, attempts, priority: held.priority })?;
                    self.attempts.insert(url, attempts);
                    self.count_answer(host, 0.0);
                    let its_host = self.hosts.get_mut(host);
                    its_host.queues.push(held.priority, offset, &mut self.blocks)?;
                    its_host.n_auxiliary += u32::from(held.kind != Kind::Page);
                    self.add_pending(host);
                }
            }
            self.apply_late_claim(id.url)?;
        }
        if sink_position != self.sink_position {
            self.sink_position = sink_position.to_vec();
            self.journal.push(&Event::SinkPosition { sink_position: sink_position.to_vec() })?;
        }
        // Written data survives a killed process; the disk is synced once a second. A power cut can lose the last
        // second of settled leases: the sink is then truncated to the recorded position and those pages are fetched
        // again.
        self.write()?;
        if self.clock.elapsed() >= self.synced + SYNC_AFTER {
            self.journal.sync()?;
            self.synced = self.clock.elapsed();
        }
        Ok(())
    }

    /// Journals validators that differ from those at hand, for a page that has not changed. They go on to stand for the
    /// copy that was stored first. An answer of 304 without validators leaves those at hand.
    fn renew_validators(&mut self, url: u32, new: Option<Box<Validators>>, has_body: bool) -> Result<(), Error> {
        let old = match self.validators.get(url)? {
            Some(offset) => self.journal.validators_at(offset.get(), url)?,
            None => None,
        };
        let new = match (new, &old) {
            (None, _) if !has_body => return Ok(()),
            (new, None) => new.map(|new| *new),
            (new, Some(old)) => new.map(|new| Validators { kept_at: old.kept_at, ..*new }),
        };
        if new == old { Ok(()) } else { self.store_validators(url, new) }
    }

    /// Journals the validators of a page, or that it has none any more.
    fn store_validators(&mut self, url: u32, validators: Option<Validators>) -> Result<(), Error> {
        if validators.is_none() && self.validators.get(url)?.is_none() {
            return Ok(());
        }
        let is_any = validators.is_some();
        let offset = self.journal.push(&Event::Validators { url, validators })?;
        match NonZeroU64::new(offset).filter(|_| is_any) {
            Some(offset) => self.validators.set(url, offset),
            None => self.validators.clear(url),
        }
    }

    fn count_answer(&mut self, host: u32, gain: f32) {
        self.hosts.get_mut(host).account.count_answer(gain);
        self.update_lane(host);
    }

    pub(super) fn count(&mut self, host: u32, url: u32, record: FetchRecord) -> Result<(), Error> {
        set(&mut self.done, url);
        self.claims.settle(url, record.outcome)?;
        self.attempts.remove(&url);
        if record.digest != 0 {
            let key = content_key(host, record.digest);
            self.pending_digests.remove(&key);
            self.content_digests.insert(key, url)?;
        }
        self.totals.count(record);
        let host = self.hosts.get_mut(host);
        host.milliseconds += u64::from(record.milliseconds);
        host.n_low_quality += u32::from(record.outcome == Outcome::LowQuality);
        if record.outcome == Outcome::Stored {
            host.stored += 1;
            host.bytes += u64::from(record.bytes);
        }
        Ok(())
    }
}

/// What an answer brought, as a share of a stored page.
fn gain(outcome: Outcome) -> f32 {
    match outcome {
        Outcome::Stored | Outcome::NotModified => 1.0,
        Outcome::Duplicate => 0.25,
        Outcome::LowQuality => 0.1,
        _ => 0.0,
    }
}

/// The key of a page's content among the pages of its host. Contents of other hosts do not count: whoever copies a page
/// before its host is crawled must not take it from there.
pub(super) fn content_key(host: u32, digest: u64) -> u64 {
    xxh3_64_with_seed(&digest.to_le_bytes(), u64::from(host))
}
