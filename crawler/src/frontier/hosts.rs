//! The hosts of a frontier: queues, rests and counts.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::{Deref, DerefMut};

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

/// One host. A crawl knows many more hosts than it has asked: what is known of a host by its answers is apart.
#[derive(Debug)]
pub(super) struct Host {
    /// Empty for a host that was forgotten.
    pub(super) name: Box<str>,
    pub(super) queues: Queues,
    pub(super) state: HostState,
    /// When its rest ends, in microseconds of the frontier's clock.
    pub(super) rest_ends: u64,
    /// URLs waiting.
    pub(super) pending: u32,
    /// Waiting sitemaps and probes: they take turns with pages, and policies do not count them.
    pub(super) n_auxiliary: u32,
    asked: Option<Box<Asked>>,
}

/// What is known of a host that was asked.
#[derive(Debug)]
pub(super) struct Asked {
    /// Requests answered, with any status.
    pub(super) fetched: u32,
    /// Of these, requests for pages.
    pub(super) pages: u32,
    /// Whether the last lease was a sitemap or a probe, or there was none: a page is next.
    pub(super) was_auxiliary: bool,
    /// Pages stored.
    pub(super) stored: u32,
    /// Bytes of those pages.
    pub(super) bytes: u64,
    /// Response times, added up over its requests.
    pub(super) milliseconds: u64,
    /// The rest it was last given.
    pub(super) rest_milliseconds: u32,
    /// What it has cost and brought lately.
    pub(super) account: Account,
}

impl Asked {
    const NOTHING: Asked = Asked {
        fetched: 0,
        pages: 0,
        was_auxiliary: true,
        stored: 0,
        bytes: 0,
        milliseconds: 0,
        rest_milliseconds: 0,
        account: Account::NEW,
    };
}

/// A host that was not asked reads as one of which everything is zero; the first change makes room.
impl Deref for Host {
    type Target = Asked;

    fn deref(&self) -> &Asked {
        self.asked.as_deref().unwrap_or(&Asked::NOTHING)
    }
}

impl DerefMut for Host {
    fn deref_mut(&mut self) -> &mut Asked {
        self.asked.get_or_insert_with(|| Box::new(Asked::NOTHING))
    }
}

impl Host {
    fn new(name: &str) -> Host {
        Host {
            name: name.into(),
            queues: Queues::default(),
            state: HostState::Idle,
            rest_ends: 0,
            pending: 0,
            n_auxiliary: 0,
            asked: None,
        }
    }

    /// Whether nothing would be lost without it: it has brought no page, and nothing waits.
    pub(super) fn is_barren(&self) -> bool {
        self.state == HostState::Idle && self.pending == 0 && self.stored == 0 && !self.account.has_page
    }

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
    /// The numbers of forgotten hosts, smallest first.
    free: BinaryHeap<Reverse<u32>>,
}

impl Hosts {
    /// The number of the host with that name.
    pub(super) fn find(&self, name: &str) -> Option<u32> {
        let same = |&number: &u32| &*self.get(number).name == name;
        self.by_name.find(xxh3_64(name.as_bytes()), same).copied()
    }

    /// Adds a host that [`Hosts::find`] did not know; gives its number, which is the smallest that is free.
    pub(super) fn add(&mut self, name: &str) -> u32 {
        let number = match self.free.pop() {
            Some(Reverse(number)) => {
                *self.get_mut(number) = Host::new(name);
                number
            }
            None => self.push(Host::new(name)),
        };
        self.index(number)
    }

    /// Adds a host as it was saved: its number is the next one, whichever are free.
    pub(super) fn add_saved(&mut self, name: &str) -> u32 {
        let number = self.push(Host::new(name));
        self.index(number)
    }

    /// Makes a host known by its name.
    fn index(&mut self, number: u32) -> u32 {
        let chunks = &self.chunks;
        let hash = |&number: &u32| xxh3_64(host_of(chunks, number).name.as_bytes());
        self.by_name.insert_unique(hash(&number), number, hash);
        number
    }

    /// Adds a host that was forgotten before it was saved.
    pub(super) fn add_forgotten(&mut self) {
        let number = self.push(Host::new(""));
        self.free.push(Reverse(number));
    }

    fn push(&mut self, host: Host) -> u32 {
        let number = u32::try_from(self.len()).expect("fewer than four billion hosts");
        if self.chunks.last().is_none_or(|chunk| chunk.len() == CHUNK_HOSTS) {
            // The first chunk grows with a small crawl.
            let capacity = if self.chunks.is_empty() { 0 } else { CHUNK_HOSTS };
            self.chunks.push(Vec::with_capacity(capacity));
        }
        self.chunks.last_mut().expect("there is one").push(host);
        number
    }

    /// Forgets a host; its number is given to another.
    pub(super) fn forget(&mut self, number: u32) {
        let hash = xxh3_64(self.get(number).name.as_bytes());
        if let Ok(entry) = self.by_name.find_entry(hash, |&other| other == number) {
            entry.remove();
            *self.get_mut(number) = Host::new("");
            self.free.push(Reverse(number));
        }
    }

    /// How many are known and not forgotten.
    pub(super) fn n_known(&self) -> usize {
        self.by_name.len()
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

    /// How many numbers were given.
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

    #[test]
    fn the_number_of_a_forgotten_host_is_given_to_another() {
        let mut hosts = Hosts::default();
        let _ = ["a", "b", "c"].map(|name| hosts.add(name));
        hosts.get_mut(1).fetched = 7;
        hosts.forget(2);
        hosts.forget(1);
        hosts.forget(1);
        assert_eq!((hosts.find("b"), hosts.n_known(), hosts.len()), (None, 1, 3));
        assert_eq!((hosts.add("d"), hosts.get(1).fetched), (1, 0));
        assert_eq!((hosts.add("b"), hosts.add("e")), (2, 3));
        assert_eq!((hosts.find("a"), hosts.find("b"), hosts.find("d")), (Some(0), Some(2), Some(1)));
    }

    #[test]
    fn a_host_that_was_not_asked_takes_little_memory() {
        assert!(size_of::<Host>() <= 80, "{} bytes", size_of::<Host>());
    }
}
