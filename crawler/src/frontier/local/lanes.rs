//! Which ready host gets the next slot: lanes that keep slow and useless hosts from crowding out the others.
//!
//! A host is in one of three lanes, by what it has cost and brought. Hosts that bring pages have half of the slots
//! reserved, as far as there are such hosts: the other lanes may use what is left and no more. Within a lane, and
//! between the first two, the ordering policy decides.

use std::collections::BTreeSet;
use std::time::Duration;

use super::super::hosts::{Host, HostState};

/// Slot time per useful answer, in milliseconds, above which a host is costly.
const COSTLY_MILLISECONDS: f32 = 2_000.0;
/// Slot time without any useful answer, in milliseconds, after which a host is costly.
const MAX_UNPROVEN_MILLISECONDS: f32 = 10_000.0;
/// What a request costs besides its slot time: even an immediate answer takes processor time and a turn.
const REQUEST_MILLISECONDS: f32 = 100.0;
/// What remains of earlier costs and gains with each further answer.
const DECAY: f32 = 0.8;
/// With fewer slots there is nothing to share out: the policy alone decides.
const MIN_SLOTS: usize = 8;
/// So many requests, robots.txt, a redirect and a page, a host has before it must have brought something.
const FIRST_REQUESTS: u32 = 3;
/// After so many aborted responses a host has all the time it needs.
pub(super) const MAX_CUTS: u8 = 3;
/// The load of the event loop up to which unproven and costly hosts may fill it. Above, everybody waits for a turn.
const TARGET_LOAD: f64 = 0.5;
/// The share of the processor time that unproven and costly hosts have in any case.
const LEAST_SHARE: f64 = 1.0 / 20.0;
/// How fast their share rises, per report of the load. It falls at once.
const SHARE_STEP: f64 = 1.0 / 8.0;
/// Processor time, in microseconds, that unproven and costly hosts may have saved up.
const MAX_CREDIT: f64 = 20_000.0;
/// Processor time, in microseconds, that hosts which were hardly asked anything yet may use in advance.
const NEW_HOSTS_ADVANCE: f64 = 20_000.0;
/// Processor time, in microseconds, for which unproven and costly hosts may be made to wait.
const MAX_DEBT: f64 = 10_000_000.0;
/// The part of the time from one request to a proven host to the next for which the answers of unproven and costly hosts
/// may hold it up when all that are under way come at once: one in so many.
const BURST_SHARE: f64 = 32.0;
/// How much a new figure counts in a running mean: one in so many.
const MEAN_OVER: f64 = 16.0;
/// How many milliseconds of a slot a millisecond of the processor is worth: there are many slots and one event loop.
const WORK_FACTOR: f32 = 20.0;

/// What a host has cost and brought lately.
#[derive(Clone, Copy, Debug)]
pub(in crate::frontier) struct Account {
    /// Milliseconds of slots, decayed.
    cost: f32,
    /// Useful answers, decayed.
    gain: f32,
    /// Milliseconds of slots since the last settled lease.
    unsettled: f32,
    /// Responses in a row that were aborted because they took too long while other hosts waited.
    pub(super) n_cuts: u8,
    /// When the current lease began, in microseconds of the frontier's clock.
    pub(super) leased_at: u64,
    /// Whether a page of it is on its way to the sink, or was.
    pub(in crate::frontier) has_page: bool,
    lane: Lane,
    /// How far it fell behind the others of its lane when it became ready.
    class: u8,
}

impl Account {
    /// The account of a host that was not asked yet.
    pub(in crate::frontier) const NEW: Account = Account {
        cost: 0.0,
        gain: 1.0,
        unsettled: 0.0,
        n_cuts: 0,
        leased_at: 0,
        has_page: false,
        lane: Lane::Unproven,
        class: 0,
    };

    /// Adds the slot time of a lease that ended now.
    pub(super) fn add_slot_time(&mut self, now: u64) {
        self.unsettled += now.saturating_sub(self.leased_at) as f32 / 1000.0;
    }

    /// Counts an answer, with 1 for a stored page and 0 for one that brought nothing.
    pub(super) fn count_answer(&mut self, gain: f32) {
        self.cost = self.cost * DECAY + std::mem::take(&mut self.unsettled) + REQUEST_MILLISECONDS;
        self.gain = self.gain * DECAY + gain;
        if gain > 0.0 && !self.is_costly() {
            self.n_cuts = 0;
        }
    }

    fn is_costly(&self) -> bool {
        self.cost + self.unsettled > COSTLY_MILLISECONDS * self.gain
    }

    fn lane(&self, has_stored: bool) -> Lane {
        let has_stored = has_stored || self.has_page;
        let is_costly = match has_stored {
            true => self.is_costly(),
            false => self.cost + self.unsettled > MAX_UNPROVEN_MILLISECONDS,
        };
        match has_stored {
            _ if is_costly || self.n_cuts > 0 => Lane::Costly,
            true => Lane::Proven,
            false => Lane::Unproven,
        }
    }

    pub(in crate::frontier) fn is_in_wrong_lane(&self, has_stored: bool) -> bool {
        self.lane != self.lane(has_stored)
    }

    /// How far a host falls behind the others of its lane.
    fn class(&self, n_requests: u32) -> u8 {
        let times = match self.lane {
            Lane::Proven => return 0,
            Lane::Unproven if n_requests < FIRST_REQUESTS => return 0,
            Lane::Unproven => 2.0 / self.gain.max(0.0001),
            Lane::Costly => (self.cost + self.unsettled) / (COSTLY_MILLISECONDS * self.gain.max(0.001)),
        };
        self.n_cuts + times.clamp(1.0, 4096.0).log2().ceil() as u8
    }
}

/// The lane of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lane {
    /// It brings pages at an ordinary cost.
    Proven,
    /// It has brought no page yet.
    Unproven,
    /// It costs far more slot time than it brings pages, or it was too slow while others waited.
    Costly,
}

/// The ready hosts by lane, and how many hosts of each lane have work and hold slots.
pub(super) struct Lanes {
    slots: usize,
    /// By class and host priority.
    ready: [BTreeSet<(u8, u64, u32)>; 3],
    n_active: [usize; 3],
    n_busy: [usize; 3],
    /// The share of the slots and of the processor time that unproven and costly hosts may use: what proven hosts leave
    /// of the event loop.
    others_share: f64,
    /// The processor time, in microseconds, that unproven and costly hosts may still use.
    others_credit: f64,
    /// Until when that was granted, in microseconds of the frontier's clock.
    granted_until: u64,
    /// What they have used since the load was last reported.
    others_work: f64,
    /// When the load was last reported, in microseconds of the frontier's clock.
    reported_at: u64,
    /// Requests since then, and the processor time of their responses.
    n_requests: u32,
    work: f64,
    /// The processor time of a request besides its response: connections, timers, the frontier.
    overhead: f64,
    /// The mean processor time of a response of an unproven or costly host, in microseconds.
    others_response: f64,
    /// The mean time for which such a host holds a slot, in microseconds.
    others_held: f64,
    /// The mean time from one request to a proven host to the next, in microseconds.
    proven_cycle: f64,
}

impl Lanes {
    pub(super) fn new(slots: usize) -> Lanes {
        let slots = slots.max(1);
        Lanes {
            slots,
            ready: Default::default(),
            n_active: [0; 3],
            n_busy: [0; 3],
            others_share: 1.0,
            others_credit: MAX_CREDIT,
            granted_until: 0,
            others_work: 0.0,
            reported_at: 0,
            n_requests: 0,
            work: 0.0,
            overhead: 0.0,
            others_response: 0.0,
            others_held: 0.0,
            proven_cycle: 0.0,
        }
    }

    /// Changes the number of slots.
    pub(super) fn set_slots(&mut self, slots: usize) {
        self.slots = slots.max(1);
    }

    /// Moves a host to a state, and to the lane where it belongs now.
    pub(super) fn set_state(&mut self, number: u32, host: &mut Host, state: HostState) {
        let (lane, shares_out) = (host.account.lane as usize, self.shares_out());
        match host.state {
            HostState::Ready(host_priority) => {
                self.ready[lane].remove(&(host.account.class, host_priority, number));
            }
            HostState::Busy => self.n_busy[lane] -= 1,
            _ => {}
        }
        self.n_active[lane] -= usize::from(is_active(host.state));
        let lane = host.account.lane(host.stored > 0);
        if lane != host.account.lane {
            host.account.lane = lane;
        }
        host.state = state;
        let lane = lane as usize;
        self.n_active[lane] += usize::from(is_active(state));
        match &host.state {
            HostState::Ready(host_priority) => {
                let (class, host_priority) =
                    (if shares_out { host.account.class(host.fetched) } else { 0 }, *host_priority);
                if class != host.account.class {
                    host.account.class = class;
                }
                self.ready[lane].insert((class, host_priority, number));
            }
            HostState::Busy => self.n_busy[lane] += 1,
            _ => {}
        }
    }

    /// Whether there are so many slots that they are shared out between lanes.
    pub(super) fn shares_out(&self) -> bool {
        self.slots >= MIN_SLOTS
    }

    /// The ready host that is served next.
    pub(super) fn next(&self) -> Option<u32> {
        if !self.shares_out() {
            return self.ready.iter().filter_map(BTreeSet::first).min().map(|(.., number)| *number);
        }
        let first = |lane: Lane| self.ready[lane as usize].first().filter(|_| self.has_room(lane));
        let costly = first(Lane::Costly).map(|(.., number)| *number);
        if costly.is_some() && self.n_busy[Lane::Costly as usize] < self.slots / 8 {
            return costly;
        }
        // Hosts that have brought nothing yield to the others, but not for ever: the time that is theirs adds up.
        let unproven = first(Lane::Unproven).filter(|(class, ..)| *class > 0).map(|(.., number)| *number);
        let has_saved = self.n_active[Lane::Proven as usize] > 0 && self.others_credit > MAX_CREDIT / 2.0;
        if unproven.is_some() && has_saved && self.n_busy[Lane::Unproven as usize] < self.slots / 8 {
            return unproven;
        }
        let best = [first(Lane::Proven), first(Lane::Unproven)].into_iter().flatten().min();
        best.map(|(.., number)| *number).or(costly)
    }

    /// Whether a host may get a slot, as far as the others of its lane leave one.
    pub(super) fn has_room_for(&self, host: &Host) -> bool {
        self.has_room(host.account.lane)
    }

    fn has_room(&self, lane: Lane) -> bool {
        if !self.shares_out() {
            return true;
        }
        let [n_proven, n_unproven, _] = self.n_active;
        let [_, busy_unproven, busy_costly] = self.n_busy;
        let mut for_both = self.slots - n_proven.min(self.slots / 2);
        if n_proven > 0 {
            for_both = for_both.min(self.overload_limit());
            if self.others_credit <= 0.0 {
                // Hosts that were hardly asked anything yet need not wait for what others have used up, within bounds:
                // a hostile site can have any number of new hosts.
                let is_new = self.ready[Lane::Unproven as usize].first().is_some_and(|(class, ..)| *class == 0)
                    && self.others_credit > -NEW_HOSTS_ADVANCE;
                return lane == Lane::Proven || (lane == Lane::Unproven && is_new && busy_unproven < for_both);
            }
        }
        let for_costly = for_both.saturating_sub(n_unproven.min(for_both / 2)).max(1);
        match lane {
            Lane::Proven => true,
            // Costly hosts hold their slots for long: whatever they hold, others get half.
            Lane::Unproven => busy_unproven + busy_costly.min(for_both / 2) < for_both,
            Lane::Costly => busy_unproven + busy_costly < for_both && busy_costly < for_costly,
        }
    }

    /// Whether ready hosts wait for nothing but processor time.
    pub(super) fn is_short_of_time(&self) -> bool {
        let others = [Lane::Unproven, Lane::Costly];
        self.shares_out()
            && self.n_active[Lane::Proven as usize] > 0
            && self.others_credit <= 0.0
            && others.into_iter().any(|lane| !self.ready[lane as usize].is_empty())
    }

    /// How many ready hosts wait for a slot: all of them when every slot is taken.
    pub(super) fn n_waiting(&self, is_full: bool) -> usize {
        let is_blocked = |lane: Lane| is_full || !self.has_room(lane);
        let lanes = [Lane::Proven, Lane::Unproven, Lane::Costly];
        lanes.into_iter().filter(|lane| is_blocked(*lane)).map(|lane| self.ready[lane as usize].len()).sum()
    }

    pub(super) fn n_ready(&self) -> usize {
        self.ready.iter().map(BTreeSet::len).sum()
    }

    /// How long a response may take while other hosts wait for a slot.
    pub(super) fn patience(host: &Host) -> Option<Duration> {
        let account = &host.account;
        let milliseconds = match (account.lane, account.n_cuts) {
            (Lane::Unproven, _) => 1_000,
            (Lane::Proven, _) => 2_000,
            (Lane::Costly, 0 | 1) => 4_000,
            (Lane::Costly, 2) => 16_000,
            (Lane::Costly, _) => return None,
        };
        Some(Duration::from_millis(milliseconds))
    }

    /// The slots for unproven and costly hosts, by the share of the time that they may use, four at least.
    fn overload_limit(&self) -> usize {
        let least = (self.slots / 8).clamp(1, 4);
        ((self.slots as f64 * self.others_share) as usize).max(least).min(self.burst_limit())
    }

    /// How many unproven and costly hosts may be asked at once: everybody waits while their answers are read, and all of
    /// them may come together. Hosts that hold their slots for long do not: of these there may be as many as use up the
    /// time that is theirs.
    fn burst_limit(&self) -> usize {
        if self.others_response <= 0.0 || self.proven_cycle <= 0.0 {
            return usize::MAX;
        }
        let time = (self.proven_cycle / BURST_SHARE).max(self.others_held * self.others_share);
        ((time / self.others_response) as usize).max(1)
    }

    /// Counts that a host gives its slot back, which it held for so long; with its rest, if it was asked.
    pub(super) fn count_slot(&mut self, host: &Host, held: u64, rest: Option<Duration>) {
        match (host.account.lane, rest) {
            (Lane::Proven, Some(rest)) => {
                move_mean(&mut self.proven_cycle, held as f64 + rest.as_secs_f64() * 1e6);
            }
            (Lane::Proven, None) => {}
            (Lane::Unproven | Lane::Costly, _) => move_mean(&mut self.others_held, held as f64),
        }
    }

    /// Counts the processor time that a response of a host has taken.
    pub(super) fn count_work(&mut self, host: &mut Host, work: Duration) {
        let microseconds = work.as_secs_f64() * 1e6;
        host.account.unsettled += (microseconds / 1e3) as f32 * WORK_FACTOR;
        self.n_requests += 1;
        self.work += microseconds;
        if host.account.lane != Lane::Proven {
            self.others_work += microseconds + self.overhead;
            self.others_credit = (self.others_credit - microseconds - self.overhead).max(-MAX_DEBT);
            move_mean(&mut self.others_response, microseconds);
        }
    }

    /// Grants unproven and costly hosts their share of the time up to now: little by little, because a lot of it at once
    /// would make everybody else wait.
    pub(super) fn grant(&mut self, now: u64) {
        let elapsed = now.saturating_sub(self.granted_until) as f64;
        self.others_credit = (self.others_credit + elapsed * self.others_share).min(MAX_CREDIT);
        self.granted_until = now;
    }

    /// Adapts to the load of the event loop: unproven and costly hosts get the time that proven hosts leave, up to
    /// [`TARGET_LOAD`], and [`LEAST_SHARE`] at least.
    pub(super) fn set_load(&mut self, busy_share: f64, now: u64) {
        self.grant(now);
        let elapsed = now.saturating_sub(self.reported_at).max(1) as f64;
        if self.n_requests > 0 {
            let overhead = (busy_share * elapsed - self.work).max(0.0) / f64::from(self.n_requests);
            self.overhead += (overhead - self.overhead) / 4.0;
        }
        let proven_share = (busy_share - self.others_work / elapsed).max(0.0);
        let share = (TARGET_LOAD - proven_share).max(LEAST_SHARE);
        self.others_share = share.min(self.others_share + SHARE_STEP);
        (self.n_requests, self.work, self.others_work) = (0, 0.0, 0.0);
        self.reported_at = now;
    }
}

fn move_mean(mean: &mut f64, value: f64) {
    *mean += (value - *mean) / if *mean == 0.0 { 1.0 } else { MEAN_OVER };
}

fn is_active(state: HostState) -> bool {
    matches!(state, HostState::Ready(_) | HostState::Resting | HostState::Busy)
}

#[cfg(test)]
mod tests;
