//! The hosts of a frontier: queues, rests and counts.

use hashbrown::HashTable;
use xxhash_rust::xxh3::xxh3_64;

use super::local::lanes::Account;
use super::queue::Queues;
use crate::order::{HostCounts, Priority};

/// The scheduling state of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HostState {
    /// No URL is waiting; a new one makes it ready at once.
    Idle,
    /// It is in the set of ready hosts with this host priority.
    Ready(u64),
    /// It rests until [`Host::rest_ends`].
    Resting,
    /// One of its URLs is leased and its response has not ended.
    Busy,
    /// Its request budget is used up.
    Exhausted,
}

/// One host.
#[derive(Debug)]
pub(super) struct Host {
    pub(super) name: Box<str>,
    pub(super) queues: Queues,
    pub(super) state: HostState,
    /// URLs waiting.
    pub(super) pending: u32,
    /// Requests answered, with any status.
    pub(super) fetched: u32,
    /// Of these, requests for pages.
    pub(super) pages: u32,
    /// Waiting sitemaps and probes: they take turns with pages, and policies do not count them.
    pub(super) n_auxiliary: u32,
    /// Whether the last lease was a sitemap or a probe, or there was none: a page is next.
    pub(super) was_auxiliary: bool,
    /// Pages stored.
    pub(super) stored: u32,
    /// Bytes of those pages.
    pub(super) bytes: u64,
    /// Pages of low quality.
    pub(super) n_low_quality: u32,
    /// Response times, added up over its requests.
    pub(super) milliseconds: u64,
    /// When its rest ends, in microseconds of the frontier's clock.
    pub(super) rest_ends: u64,
    /// The rest it was last given.
    pub(super) rest_milliseconds: u32,
    /// What it has cost and brought lately.
    pub(super) account: Account,
}

impl Host {
    /// The figures for the ordering policy. A host that has only sitemaps and probes waiting is ranked as if they were
    /// pages.
    pub(super) fn counts(&self) -> HostCounts {
        let has_pages = self.pending > self.n_auxiliary;
        let (fetched, best) = match has_pages {
            true => (self.pages, self.best_page()),
            false => (self.fetched, self.queues.best()),
        };
        HostCounts { pending: u64::from(self.pending), fetched: u64::from(fetched), best }
    }

    /// Whether nothing of it should be fetched while others wait: what waits was found on low-quality pages, or it has
    /// brought little else than such pages.
    pub(super) fn waits_for_others(&self) -> bool {
        let is_low_quality = self.n_low_quality >= 2 && self.n_low_quality > 3 * self.stored;
        is_low_quality || self.queues.best() == Priority::LAST
    }

    /// Whether a sitemap or a probe is the next to be fetched.
    pub(super) fn is_turn_of_auxiliary(&self) -> bool {
        self.n_auxiliary > 0 && (!self.was_auxiliary || self.pending == self.n_auxiliary)
    }

    /// Whether it belongs in another lane than it is in.
    pub(super) fn is_in_wrong_lane(&self) -> bool {
        self.account.is_in_wrong_lane(self.stored > 0)
    }

    /// The priority of the next page. Sitemaps and probes are in the queue of the first priority.
    fn best_page(&self) -> Priority {
        match self.n_auxiliary > 0 && self.queues.n_first() <= self.n_auxiliary as usize {
            true => self.queues.second(),
            false => self.queues.best(),
        }
    }
}

/// Hosts that are allocated together: a list that doubles would take up to three times its size while it grows.
const CHUNK_HOSTS: usize = 4096;

/// All hosts, by number and by name.
#[derive(Default)]
pub(super) struct Hosts {
    /// All full but the last.
    chunks: Vec<Vec<Host>>,
    by_name: HashTable<u32>,
}

impl Hosts {
    /// The number of the host with that name.
    pub(super) fn find(&self, name: &str) -> Option<u32> {
        let same = |&number: &u32| &*self.get(number).name == name;
        self.by_name.find(xxh3_64(name.as_bytes()), same).copied()
    }

    /// Adds a host that [`Hosts::find`] did not know; gives its number.
    pub(super) fn add(&mut self, name: &str) -> u32 {
        let number = u32::try_from(self.len()).expect("fewer than four billion hosts");
        if self.chunks.last().is_none_or(|chunk| chunk.len() == CHUNK_HOSTS) {
            // The first chunk grows with a small crawl.
            let capacity = if self.chunks.is_empty() { 0 } else { CHUNK_HOSTS };
            self.chunks.push(Vec::with_capacity(capacity));
        }
        let chunk = self.chunks.last_mut().expect("there is one");
        chunk.push(Host {
            name: name.into(),
            queues: Queues::default(),
            state: HostState::Idle,
            pending: 0,
            fetched: 0,
            pages: 0,
            n_auxiliary: 0,
            was_auxiliary: true,
            stored: 0,
            n_low_quality: 0,
            bytes: 0,
            milliseconds: 0,
            rest_ends: 0,
            rest_milliseconds: 0,
            account: Account::default(),
        });
        let chunks = &self.chunks;
        let hash = |&number: &u32| xxh3_64(host_of(chunks, number).name.as_bytes());
        self.by_name.insert_unique(xxh3_64(name.as_bytes()), number, hash);
        number
    }

    pub(super) fn get(&self, number: u32) -> &Host {
        host_of(&self.chunks, number)
    }

    pub(super) fn get_mut(&mut self, number: u32) -> &mut Host {
        &mut self.chunks[number as usize / CHUNK_HOSTS][number as usize % CHUNK_HOSTS]
    }

    pub(super) fn contains(&self, number: u32) -> bool {
        (number as usize) < self.len()
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.chunks.last().map_or(0, |last| (self.chunks.len() - 1) * CHUNK_HOSTS + last.len())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &Host)> {
        self.chunks.iter().flatten().enumerate().map(|(number, host)| (number as u32, host))
    }
}

fn host_of(chunks: &[Vec<Host>], number: u32) -> &Host {
    &chunks[number as usize / CHUNK_HOSTS][number as usize % CHUNK_HOSTS]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_found_by_number_and_by_name_beyond_a_chunk() {
        let mut hosts = Hosts::default();
        let name = |number: u32| format!("h{number}.test");
        for number in 0..2 * CHUNK_HOSTS as u32 + 3 {
            assert_eq!((hosts.find(&name(number)), hosts.len()), (None, number as usize));
            assert!(!hosts.contains(number));
            assert_eq!(hosts.add(&name(number)), number);
        }
        for (number, host) in hosts.iter() {
            assert_eq!((&*host.name, hosts.find(&host.name)), (&*name(number), Some(number)));
            assert_eq!(hosts.get(number).name, host.name);
        }
        assert_eq!(hosts.iter().count(), hosts.len());
    }
}
