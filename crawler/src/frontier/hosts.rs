//! The hosts of a frontier: their queues, their clocks and what they gave.

use hashbrown::HashTable;
use xxhash_rust::xxh3::xxh3_64;

use super::queue::Queues;
use crate::order::HostCounts;

/// Whether a host may be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Nothing is waiting; it may be asked as soon as something is.
    Idle,
    /// It stands among the ready hosts under this precedence.
    Ready(u64),
    /// It rests until its time has come.
    Resting,
    /// It is being asked.
    Busy,
    /// It has given all that this crawl may take from it.
    Exhausted,
}

/// One host.
#[derive(Debug)]
pub(super) struct Host {
    pub(super) name: Box<str>,
    pub(super) queues: Queues,
    pub(super) state: State,
    /// URLs waiting.
    pub(super) pending: u32,
    /// Requests answered, well or badly.
    pub(super) fetched: u32,
    /// Of these, requests for pages.
    pub(super) pages: u32,
    /// Waiting URLs that are no pages but sitemaps and probes: they go first, and no policy counts them.
    pub(super) extras: u32,
    /// Pages kept.
    pub(super) stored: u32,
    /// Bytes of those pages.
    pub(super) bytes: u64,
    /// Time spent waiting for its answers.
    pub(super) milliseconds: u64,
    /// When it will have rested enough, in microseconds of the frontier's clock.
    pub(super) due: u64,
    /// The rest it was last given.
    pub(super) rest_milliseconds: u32,
}

impl Host {
    /// What a policy may know about it.
    pub(super) fn counts(&self) -> HostCounts {
        HostCounts { pending: u64::from(self.pending), fetched: u64::from(self.pages), best: self.queues.best() }
    }
}

/// All hosts, by number and by name.
#[derive(Default)]
pub(super) struct Hosts {
    list: Vec<Host>,
    by_name: HashTable<u32>,
}

impl Hosts {
    /// The number of the host with that name.
    pub(super) fn find(&self, name: &str) -> Option<u32> {
        let same = |&number: &u32| &*self.list[number as usize].name == name;
        self.by_name.find(xxh3_64(name.as_bytes()), same).copied()
    }

    /// Adds a host that [`Hosts::find`] did not know; gives its number.
    pub(super) fn add(&mut self, name: &str) -> u32 {
        let number = u32::try_from(self.list.len()).expect("fewer than four billion hosts");
        self.list.push(Host {
            name: name.into(),
            queues: Queues::default(),
            state: State::Idle,
            pending: 0,
            fetched: 0,
            pages: 0,
            extras: 0,
            stored: 0,
            bytes: 0,
            milliseconds: 0,
            due: 0,
            rest_milliseconds: 0,
        });
        let list = &self.list;
        let hash = |&number: &u32| xxh3_64(list[number as usize].name.as_bytes());
        self.by_name.insert_unique(xxh3_64(name.as_bytes()), number, hash);
        number
    }

    pub(super) fn get(&self, number: u32) -> &Host {
        &self.list[number as usize]
    }

    pub(super) fn get_mut(&mut self, number: u32) -> &mut Host {
        &mut self.list[number as usize]
    }

    pub(super) fn contains(&self, number: u32) -> bool {
        (number as usize) < self.list.len()
    }

    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = (u32, &Host)> {
        self.list.iter().enumerate().map(|(number, host)| (number as u32, host))
    }
}
