//! When the hosts of a frontier in memory may be asked: ready by the policy's order, resting, busy or out of budget.

use std::collections::BTreeSet;
use std::time::Duration;

use hashbrown::HashMap;

use super::super::HostTally;
use crate::order::{HostCounts, OrderingPolicy, Priority};

/// The state of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HostState {
    Idle,
    /// It is in the set of ready hosts with this host priority.
    Ready(u64),
    /// Until this time.
    Resting(Duration),
    Busy,
    /// Its budget is used up.
    Exhausted,
}

/// A host, with its waiting URLs in their order.
pub(super) struct Host {
    pub(super) name: Box<str>,
    /// By priority and the order of arrival.
    pub(super) queue: BTreeSet<(Priority, i64, u32)>,
    pub(super) state: HostState,
    pub(super) fetched: u64,
    /// Of these, requests for pages.
    pub(super) pages: u64,
    pub(super) stored: u64,
    pub(super) bytes: u64,
    pub(super) milliseconds: u64,
    /// The first URL with each content.
    pub(super) contents: HashMap<u64, u32>,
}

impl Host {
    pub(super) fn counts(&self) -> HostCounts {
        let best = self.queue.first().map_or(Priority::LAST, |(priority, ..)| *priority);
        HostCounts { pending: self.queue.len() as u64, fetched: self.pages, best }
    }

    pub(super) fn tally(&self) -> HostTally<'_> {
        HostTally {
            name: &self.name,
            pending: self.queue.len() as u64,
            fetched: self.fetched,
            stored: self.stored,
            bytes: self.bytes,
            milliseconds: self.milliseconds,
        }
    }
}

/// All hosts, and which of them are ready or rest.
pub(super) struct Schedule {
    pub(super) hosts: Vec<Host>,
    by_name: HashMap<Box<str>, usize>,
    ready: BTreeSet<(u64, usize)>,
    resting: BTreeSet<(Duration, usize)>,
    budget: u64,
}

impl Schedule {
    pub(super) fn new(budget: u64) -> Schedule {
        let (ready, resting) = (BTreeSet::new(), BTreeSet::new());
        Schedule { hosts: Vec::new(), by_name: HashMap::new(), ready, resting, budget }
    }

    /// The number of a host, which is added if it is new.
    pub(super) fn number(&mut self, name: &str) -> usize {
        if let Some(&number) = self.by_name.get(name) {
            return number;
        }
        let number = self.hosts.len();
        self.by_name.insert(name.into(), number);
        self.hosts.push(Host {
            name: name.into(),
            queue: BTreeSet::new(),
            state: HostState::Idle,
            fetched: 0,
            pages: 0,
            stored: 0,
            bytes: 0,
            milliseconds: 0,
            contents: HashMap::new(),
        });
        number
    }

    /// URLs that wait for hosts with a budget.
    pub(super) fn pending(&self) -> u64 {
        let has_budget = |host: &&Host| host.state != HostState::Exhausted;
        self.hosts.iter().filter(has_budget).map(|host| host.queue.len() as u64).sum()
    }

    pub(super) fn n_ready(&self) -> usize {
        self.ready.len()
    }

    /// Moves a host to a state.
    pub(super) fn set_state(&mut self, number: usize, state: HostState) {
        match self.hosts[number].state {
            HostState::Ready(priority) => drop(self.ready.remove(&(priority, number))),
            HostState::Resting(until) => drop(self.resting.remove(&(until, number))),
            HostState::Idle | HostState::Busy | HostState::Exhausted => {}
        }
        match state {
            HostState::Ready(priority) => drop(self.ready.insert((priority, number))),
            HostState::Resting(until) => drop(self.resting.insert((until, number))),
            HostState::Idle | HostState::Busy | HostState::Exhausted => {}
        }
        self.hosts[number].state = state;
    }

    /// Finds the state of a host that neither rests nor is busy.
    pub(super) fn update(&mut self, number: usize, policy: &dyn OrderingPolicy) {
        let host = &self.hosts[number];
        if matches!(host.state, HostState::Resting(_) | HostState::Busy) {
            return;
        }
        let state = if host.queue.is_empty() {
            HostState::Idle
        } else if host.fetched >= self.budget {
            HostState::Exhausted
        } else {
            HostState::Ready(policy.host_priority(&host.counts()))
        };
        self.set_state(number, state);
    }

    /// Ends the request of a host: it rests until then.
    pub(super) fn rest(&mut self, number: usize, until: Duration, now: Duration, policy: &dyn OrderingPolicy) {
        if until > now {
            self.set_state(number, HostState::Resting(until));
        } else {
            self.set_state(number, HostState::Idle);
            self.update(number, policy);
        }
    }

    /// Ends the rests that are over.
    pub(super) fn wake(&mut self, now: Duration, policy: &dyn OrderingPolicy) {
        while let Some(&(_, number)) = self.resting.first().filter(|(until, _)| *until <= now) {
            self.set_state(number, HostState::Idle);
            self.update(number, policy);
        }
    }

    /// The ready host that is served next.
    pub(super) fn next(&self) -> Option<usize> {
        self.ready.first().map(|&(_, number)| number)
    }

    /// When the next rest ends.
    pub(super) fn next_waking(&self) -> Option<Duration> {
        self.resting.first().map(|&(until, _)| until)
    }

    pub(super) fn set_budget(&mut self, budget: u64, policy: &dyn OrderingPolicy) {
        self.budget = budget;
        (0..self.hosts.len()).for_each(|number| self.update(number, policy));
    }
}
