//! Leases come back: settled, to be tried again, or unused.

use std::num::NonZeroU64;
use std::time::{Duration, Instant};

use super::super::journal::Event;
use super::super::{Kind, Lease, Pause, Receipt, Settled, Ticket};
use super::{Inner, set};
use crate::error::Error;
use crate::outcome::Outcome;
use crate::validators::Validators;

/// How long settled URLs wait at most until the disk has them.
const SYNC_AFTER: Duration = Duration::from_secs(1);

impl Inner {
    pub(super) fn give_back(&mut self, ticket: Ticket, pause: Pause) -> Result<(), Error> {
        let Some(held) = self.leased.remove(&ticket) else { return Ok(()) };
        self.leased_urls.remove(&ticket.url);
        if held.is_refresh {
            self.due_again(ticket);
            return self.rest(ticket.host, pause);
        }
        let host = self.hosts.get_mut(ticket.host);
        host.queues.push_front(held.class, ticket.offset, &mut self.blocks)?;
        host.pending += 1;
        self.pending += 1;
        match held.kind {
            Kind::Page => self.n_handed_out -= 1,
            Kind::Sitemap | Kind::Probe => host.extras += 1,
        }
        if self.scores.as_ref().is_some_and(|scores| scores.has_paid(ticket.url)) {
            self.unfinished.entry(ticket.host).or_default().push(ticket.offset);
        }
        self.rest(ticket.host, pause)
    }

    pub(super) fn is_repeat(&mut self, url: u32, digest: u64) -> Result<bool, Error> {
        if let Some(first) = self.contents.get(digest)? {
            return Ok(first != url);
        }
        Ok(*self.coming.entry(digest).or_insert(url) != url)
    }

    pub(super) fn settle(&mut self, leases: Vec<(Lease, Settled)>, mark: &[u8]) -> Result<(), Error> {
        for (lease, settled) in leases {
            let ticket = lease.ticket;
            let Some(held) = self.leased.remove(&ticket) else { continue };
            self.leased_urls.remove(&ticket.url);
            match settled {
                Settled::Done(receipt) => {
                    let receipt = match held.kind {
                        Kind::Page => self.note_visit(ticket, &held, receipt)?,
                        Kind::Sitemap | Kind::Probe => receipt,
                    };
                    self.journal.push(&Event::Done { host: ticket.host, url: ticket.url, receipt })?;
                    self.count(ticket.host, ticket.url, receipt)?;
                    if let Some(scores) = &mut self.scores {
                        scores.settle(ticket.url);
                    }
                    if matches!(receipt.outcome, Outcome::Stored | Outcome::Duplicate) {
                        self.remember(ticket.url, lease.validators.map(|known| *known))?;
                    }
                }
                Settled::Again if held.is_refresh => {
                    let failed = Receipt { outcome: Outcome::NoContent, bytes: 0, milliseconds: 0, digest: 0 };
                    self.note_visit(ticket, &held, failed)?;
                }
                Settled::Again => {
                    let attempts = held.attempts.saturating_add(1);
                    let Ticket { host, url, offset } = ticket;
                    self.journal.push(&Event::Again { host, url, offset, attempts, class: held.class })?;
                    self.attempts.insert(url, attempts);
                    let its_host = self.hosts.get_mut(host);
                    its_host.queues.push(held.class, offset, &mut self.blocks)?;
                    its_host.extras += u32::from(held.kind != Kind::Page);
                    self.one_more(host);
                }
            }
        }
        if mark != self.mark {
            self.mark = mark.to_vec();
            self.journal.push(&Event::Mark { mark: mark.to_vec() })?;
        }
        // Written, it survives the process; the disk is only waited for once a second. What a power cut takes away
        // then is the settling of the last second: the sink goes back to its mark and those pages are fetched again.
        self.write()?;
        if self.synced.elapsed() >= SYNC_AFTER {
            self.journal.sync()?;
            self.synced = Instant::now();
        }
        Ok(())
    }

    /// Writes down what the server told about a page, or that it tells nothing any more.
    fn remember(&mut self, url: u32, validators: Option<Validators>) -> Result<(), Error> {
        if validators.is_none() && self.validators.get(url)?.is_none() {
            return Ok(());
        }
        let is_any = validators.is_some();
        let place = self.journal.push(&Event::Validators { url, validators })?;
        match NonZeroU64::new(place).filter(|_| is_any) {
            Some(place) => self.validators.set(url, place),
            None => self.validators.clear(url),
        }
    }

    pub(super) fn count(&mut self, host: u32, url: u32, receipt: Receipt) -> Result<(), Error> {
        set(&mut self.done, url);
        self.attempts.remove(&url);
        if receipt.digest != 0 {
            self.coming.remove(&receipt.digest);
            self.contents.insert(receipt.digest, url)?;
        }
        self.totals.count(receipt);
        let host = self.hosts.get_mut(host);
        host.milliseconds += u64::from(receipt.milliseconds);
        if receipt.outcome == Outcome::Stored {
            host.stored += 1;
            host.bytes += u64::from(receipt.bytes);
        }
        Ok(())
    }
}
