//! Scheduling of hosts: idle, ready, resting, busy or out of budget.

use std::cmp::Reverse;
use std::time::Duration;

use super::super::hosts::HostState;
use super::super::journal::Event;
use super::super::{Claim, HostRest, LeaseId};
use super::lanes::MAX_CUTS;
use super::{Inner, LeaseKey};
use crate::error::Error;

/// After how long a host is claimed again when its lane has no slot left.
const NO_ROOM: Duration = Duration::from_millis(100);

impl Inner {
    /// Counts one more waiting URL of a host.
    pub(super) fn add_pending(&mut self, number: u32) {
        let host = self.hosts.get_mut(number);
        host.pending += 1;
        if host.state != HostState::Exhausted {
            self.pending += 1;
        }
        match self.hosts.get(number).state {
            HostState::Idle => self.make_ready(number),
            HostState::Ready(_) => self.update_host_priority(number),
            HostState::Resting | HostState::Busy | HostState::Exhausted => {}
        }
    }

    pub(super) fn make_ready(&mut self, number: u32) {
        let host = self.hosts.get(number);
        let state = if host.pending == 0 {
            self.look_again();
            HostState::Idle
        } else if u64::from(host.fetched) >= self.host_budget {
            self.pending -= u64::from(host.pending);
            HostState::Exhausted
        } else {
            HostState::Ready(self.host_priority(number))
        };
        self.set_state(number, state);
    }

    /// Changes the largest number of requests to one host: hosts that have had their share wait, or no longer do.
    pub(super) fn set_host_budget(&mut self, budget: u64) {
        self.host_budget = budget;
        for number in 0..self.hosts.len() as u32 {
            let host = self.hosts.get(number);
            let has_budget = u64::from(host.fetched) < budget;
            match host.state {
                HostState::Exhausted if has_budget => {
                    self.pending += u64::from(host.pending);
                    self.make_ready(number);
                }
                HostState::Ready(_) if !has_budget => self.make_ready(number),
                _ => {}
            }
        }
    }

    /// Moves a host to a state, and to the lane where it belongs now.
    pub(super) fn set_state(&mut self, number: u32, state: HostState) {
        self.lanes.set_state(number, self.hosts.get_mut(number), state);
    }

    /// Moves a host to another lane when what it has cost and brought says so.
    pub(super) fn update_lane(&mut self, number: u32) {
        if self.hosts.get(number).is_in_wrong_lane() {
            let state = match self.hosts.get(number).state {
                HostState::Ready(_) => HostState::Ready(self.host_priority(number)),
                state => state,
            };
            self.set_state(number, state);
        }
    }

    pub(super) fn update_host_priority(&mut self, number: u32) {
        let HostState::Ready(old) = self.hosts.get(number).state else { return };
        let new = self.host_priority(number);
        if new != old {
            self.set_state(number, HostState::Ready(new));
        }
    }

    /// With few slots, hosts with sitemaps and probes come before all others of their lane: so these do not disturb the
    /// order of pages.
    fn host_priority(&self, number: u32) -> u64 {
        match !self.lanes.shares_out() && self.hosts.get(number).n_auxiliary > 0 {
            true => 0,
            false => self.policy.host_priority(&self.hosts.get(number).counts()).saturating_add(1),
        }
    }

    pub(super) fn start_rest(&mut self, number: u32, rest: Duration) {
        if rest.is_zero() {
            self.make_ready(number);
            return;
        }
        // One microsecond more than asked for, because the clock reading was rounded down.
        let until = self.now() + rest.as_micros() as u64 + 1;
        self.hosts.get_mut(number).rest_ends = until;
        self.set_state(number, HostState::Resting);
        self.resting.push(Reverse((until, number)));
    }

    pub(super) fn rest(&mut self, number: u32, rest: HostRest) -> Result<(), Error> {
        let now = self.now();
        let account = &mut self.hosts.get_mut(number).account;
        account.add_slot_time(now);
        if matches!(rest, HostRest::Aborted(_)) {
            account.n_cuts = (account.n_cuts + 1).min(MAX_CUTS);
        }
        let asked = match rest {
            HostRest::NotRequested(_) => None,
            HostRest::AfterResponse(rest) | HostRest::Aborted(rest) => Some(rest),
        };
        let host = self.hosts.get(number);
        self.lanes.count_slot(host, now.saturating_sub(host.account.leased_at), asked);
        let rest = match rest {
            HostRest::NotRequested(rest) => rest,
            HostRest::AfterResponse(rest) | HostRest::Aborted(rest) => {
                // Rounded up: after a crash the rest must not be shorter.
                let milliseconds = u32::try_from(rest.as_micros().div_ceil(1000)).unwrap_or(u32::MAX);
                let host = self.hosts.get_mut(number);
                host.fetched += 1;
                // Adaptive rests change a little with every response; only large changes are journaled.
                if milliseconds > host.rest_milliseconds || milliseconds < host.rest_milliseconds / 2 {
                    host.rest_milliseconds = milliseconds;
                    self.journal.push(&Event::Rest { host: number, milliseconds })?;
                    // Every host rests that long after reopening; a longer rest must be known then.
                    if rest > self.first_rest {
                        self.write()?;
                    }
                }
                rest
            }
        };
        self.start_rest(number, rest);
        Ok(())
    }

    pub(super) fn claim(&mut self, name: &str) -> Result<Claim, Error> {
        let number = match self.hosts.find(name) {
            Some(number) => number,
            None => self.add_host(name)?,
        };
        let now = self.now();
        let host = self.hosts.get_mut(number);
        match host.state {
            HostState::Busy => return Ok(Claim::Busy),
            HostState::Resting if host.rest_ends > now => {
                return Ok(Claim::RetryAfter(Duration::from_micros(host.rest_ends - now)));
            }
            HostState::Exhausted | HostState::Resting | HostState::Ready(_) | HostState::Idle => {}
        }
        if !self.lanes.has_room_for(host) {
            return Ok(Claim::RetryAfter(NO_ROOM));
        }
        if host.state == HostState::Exhausted {
            self.pending += u64::from(host.pending);
        }
        host.account.leased_at = now;
        self.set_state(number, HostState::Busy);
        self.write_host_record(number)?;
        let fence = self.next_fence();
        self.claimed.insert(number, fence);
        Ok(Claim::Granted(LeaseKey::of_host(number).leased(fence)))
    }

    /// Ends a claim; gives the host, or `None` when the claim has ended before.
    pub(super) fn end_claim(&mut self, claim: LeaseId) -> Option<u32> {
        let number = LeaseKey::of(claim).host;
        self.claimed.get(&number).filter(|fence| **fence == claim.fence())?;
        self.claimed.remove(&number);
        Some(number)
    }
}
