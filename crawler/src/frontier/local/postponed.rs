//! Hosts within a stated number: links to further ones wait on disk until hosts that brought nothing are forgotten.
//!
//! Anyone can name a million hosts on a few pages. What is known of a host is in memory, so there is room for so many of
//! them and no more. A link to an unknown host for which there is no room is a record of the journal and an entry of one
//! queue on disk. It is taken up in its turn, when there is room, as if it were offered then. A host makes room when
//! nothing of it waits and it has brought no page. Only then is nothing lost: its robots.txt is kept by origin, and it
//! has rested.

use std::cmp::Reverse;
use std::time::Duration;

use hashbrown::HashSet;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::super::journal::Event;
use super::super::queue::FifoQueue;
use super::super::{Link, write_host};
use super::Inner;
use crate::error::Error;

/// What a host takes, in bytes: its record, its name, its place among the ready hosts, what its answers leave, and its part
/// of the checkpoint while that is written.
const HOST_BYTES: usize = 384;
/// The part of a crawl's memory that is for hosts: one in so many.
const HOST_SHARE: usize = 4;
/// Links that are taken up at once.
const TAKEN_UP: usize = 32;
/// Hosts that are looked at, at once, for some to forget.
const SWEPT_HOSTS: u32 = 4096;
/// The time until hosts are looked at again after a sweep that found none to forget, in microseconds.
const SWEEP_PAUSE: u64 = 20_000;
/// Links that are remembered to be postponed already: those that many pages have.
const MAX_RECENT: usize = 1 << 16;

/// How many hosts a crawl may know at once within so many bytes of memory.
pub fn max_hosts(memory: usize) -> usize {
    (memory / HOST_SHARE / HOST_BYTES).max(1024)
}

/// The links that wait for room.
pub(super) struct Postponed {
    max_hosts: usize,
    pub(super) queue: FifoQueue,
    /// Fingerprints of links that were postponed lately.
    recent: HashSet<u64>,
    /// The host at which the next sweep begins.
    sweep_at: u32,
    /// No sweep before, in microseconds of the frontier's clock.
    sweep_after: u64,
    /// Hosts that were looked at since one was forgotten or might be.
    n_kept: u32,
}

impl Postponed {
    pub(super) fn new(max_hosts: usize, queue: FifoQueue) -> Postponed {
        Postponed { max_hosts, queue, recent: HashSet::new(), sweep_at: 0, sweep_after: 0, n_kept: 0 }
    }
}

impl Inner {
    /// Postpones a link to an unknown host for which there is no room; gives whether it did.
    pub(super) fn postpone(&mut self, fingerprint: u64, link: &Link) -> Result<bool, Error> {
        if self.hosts.n_known() < self.postponed.max_hosts || self.is_host_known(link) {
            return Ok(false);
        }
        let recent = &mut self.postponed.recent;
        if recent.len() >= MAX_RECENT {
            recent.clear();
        }
        if recent.insert(fingerprint) {
            let offset = self.journal.push(&Event::Postponed { link: link.clone() })?;
            self.postponed.queue.push(offset, &mut self.blocks)?;
        }
        Ok(true)
    }

    /// Takes up some of the links that wait, as far as there is room.
    pub(super) fn take_up_postponed(&mut self) -> Result<(), Error> {
        for _ in 0..TAKEN_UP {
            if self.postponed.queue.is_empty() || !self.has_room()? {
                return Ok(());
            }
            let Some(offset) = self.postponed.queue.pop(&self.blocks)? else { return Ok(()) };
            let link = self.journal.postponed_at(offset)?;
            let fingerprint = xxh3_64_with_seed(link.url.as_str().as_bytes(), self.journal.key());
            self.postponed.recent.remove(&fingerprint);
            // As an ordinary offer: it may be known by now, also because it was taken up before a kill.
            self.offer(&[link])?;
        }
        Ok(())
    }

    fn is_host_known(&mut self, link: &Link) -> bool {
        self.host_name.clear();
        write_host(&link.url, &mut self.host_name);
        self.hosts.find(&self.host_name).is_some()
    }

    /// Whether there is room for another host, perhaps because others are forgotten now.
    fn has_room(&mut self) -> Result<bool, Error> {
        if self.hosts.n_known() >= self.postponed.max_hosts && self.now() >= self.postponed.sweep_after {
            self.forget_hosts()?;
        }
        Ok(self.hosts.n_known() < self.postponed.max_hosts)
    }

    fn forget_hosts(&mut self) -> Result<(), Error> {
        let leased: HashSet<u32> = self.leased.keys().map(|id| id.host).collect();
        let n_hosts = self.hosts.len() as u32;
        for _ in 0..SWEPT_HOSTS.min(n_hosts) {
            let number = self.postponed.sweep_at % n_hosts;
            self.postponed.sweep_at = number + 1;
            let host = self.hosts.get(number);
            // A budget of requests must not begin anew.
            let is_counted = host.fetched > 0 && self.host_budget != u64::MAX;
            if !host.name.is_empty() && host.is_barren() && !is_counted && !leased.contains(&number) {
                self.journal.push(&Event::Forgotten { host: number })?;
                self.hosts.forget(number);
                self.postponed.n_kept = 0;
            } else {
                self.postponed.n_kept = self.postponed.n_kept.saturating_add(1);
            }
        }
        if self.postponed.n_kept >= SWEPT_HOSTS.min(n_hosts) {
            self.postponed.sweep_after = self.now() + SWEEP_PAUSE;
        }
        Ok(())
    }

    /// How soon postponed links may find room when nothing else is left; `None` when they will not.
    pub(super) fn next_room(&self) -> Option<Duration> {
        if self.postponed.queue.is_empty() {
            return None;
        }
        if (self.postponed.n_kept as usize) < self.hosts.len() {
            return Some(Duration::from_micros(SWEEP_PAUSE));
        }
        let Reverse((until, _)) = self.resting.peek()?;
        Some(Duration::from_micros(until.saturating_sub(self.now()).max(1)))
    }

    /// A host may be one to forget now.
    pub(super) fn look_again(&mut self) {
        self.postponed.n_kept = 0;
    }

    /// Adds a host that is not known; its record is written before it is asked.
    pub(super) fn add_host(&mut self, name: &str) -> Result<u32, Error> {
        self.journal.push(&Event::Host { name: name.to_owned() })?;
        let number = self.hosts.add(name);
        self.n_hosts_written = self.n_hosts_written.min(number);
        Ok(number)
    }
}
