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
    pub(super) has_page: bool,
    lane: Lane,
    /// How far it fell behind the others of its lane when it became ready.
    class: u8,
}

impl Default for Account {
    fn default() -> Self {
        Account {
            cost: 0.0,
            gain: 1.0,
            unsettled: 0.0,
            n_cuts: 0,
            leased_at: 0,
            has_page: false,
            lane: Lane::Unproven,
            class: 0,
        }
    }
}

impl Account {
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
        host.account.lane = host.account.lane(host.stored > 0);
        host.state = state;
        let lane = host.account.lane as usize;
        self.n_active[lane] += usize::from(is_active(state));
        match &host.state {
            HostState::Ready(host_priority) => {
                host.account.class = if shares_out { host.account.class(host.fetched) } else { 0 };
                self.ready[lane].insert((host.account.class, *host_priority, number));
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

    /// The slots for unproven and costly hosts, by the share of the time that they may use; four at least.
    fn overload_limit(&self) -> usize {
        let least = (self.slots / 8).clamp(1, 4);
        ((self.slots as f64 * self.others_share) as usize).max(least)
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

fn is_active(state: HostState) -> bool {
    matches!(state, HostState::Ready(_) | HostState::Resting | HostState::Busy)
}

#[cfg(test)]
mod tests {
    use super::super::super::hosts::Hosts;
    use super::*;

    struct Bench {
        lanes: Lanes,
        hosts: Hosts,
    }

    impl Bench {
        fn new(slots: usize) -> Bench {
            Bench { lanes: Lanes::new(slots), hosts: Hosts::default() }
        }

        /// Adds ready hosts; `prepare` says what they have cost and brought.
        fn add(&mut self, count: usize, prepare: impl Fn(&mut Host)) {
            for _ in 0..count {
                let number = self.hosts.add(&format!("h{}.test", self.hosts.len()));
                prepare(self.hosts.get_mut(number));
                self.set(number, HostState::Ready(u64::from(number)));
            }
        }

        fn set(&mut self, number: u32, state: HostState) {
            self.lanes.set_state(number, self.hosts.get_mut(number), state);
        }

        /// Leases as many hosts as get a slot, up to so many; gives how many are of each lane.
        fn fill(&mut self, slots: usize) -> [usize; 3] {
            for _ in 0..slots {
                let Some(number) = self.lanes.next() else { break };
                self.set(number, HostState::Busy);
            }
            self.lanes.n_busy
        }
    }

    fn proven(host: &mut Host) {
        host.stored = 1;
    }

    fn costly(host: &mut Host) {
        host.account.n_cuts = 1;
    }

    #[test]
    fn hosts_that_bring_pages_find_free_slots_whoever_came_first() {
        let mut bench = Bench::new(128);
        bench.add(400, costly);
        bench.add(400, |_| {});
        bench.add(30, proven);
        // All proven hosts rest when the others are leased.
        for number in 800..830 {
            bench.set(number, HostState::Resting);
        }
        let [_, unproven, costly] = bench.fill(128);
        assert!(unproven + costly <= 98, "{unproven} unproven and {costly} costly hosts");
        assert!(unproven >= 49 && costly >= 16, "{unproven} unproven and {costly} costly hosts");
        for number in 800..830 {
            bench.set(number, HostState::Ready(9));
        }
        assert_eq!(bench.fill(128 - unproven - costly)[0], 30);
    }

    #[test]
    fn whoever_is_alone_gets_every_slot() {
        for prepare in [proven, costly, |_: &mut Host| {}] {
            let mut bench = Bench::new(16);
            bench.add(20, prepare);
            assert_eq!(bench.fill(16).iter().sum::<usize>(), 16);
        }
    }

    #[test]
    fn the_policy_decides_between_hosts_that_are_new_and_those_that_bring_pages() {
        let mut bench = Bench::new(1);
        bench.add(1, |_| {});
        bench.add(1, proven);
        bench.add(1, |_| {});
        let order: Vec<u32> = std::iter::from_fn(|| {
            let number = bench.lanes.next()?;
            bench.set(number, HostState::Idle);
            Some(number)
        })
        .collect();
        assert_eq!(order, [0, 1, 2]);
    }

    #[test]
    fn a_host_is_costly_by_its_slot_time_per_page_and_no_longer_when_it_brings_pages_again() {
        let mut account = Account::default();
        assert_eq!(account.lane(false), Lane::Unproven);
        account.count_answer(1.0);
        assert_eq!(account.lane(true), Lane::Proven);
        account.add_slot_time(60_000_000);
        assert_eq!(account.lane(true), Lane::Costly, "a minute for one answer");
        (0..12).for_each(|_| account.count_answer(1.0));
        assert_eq!(account.lane(true), Lane::Proven);
        (0..12).for_each(|_| account.count_answer(0.0));
        assert_eq!(account.lane(true), Lane::Costly, "answers that bring nothing cost as well");
    }

    /// An event loop that does one thing after the other: hosts take their turns, and each request takes some
    /// microseconds of it. There is no clock but the sum of what was done.
    struct Loop {
        bench: Bench,
        now: u64,
        resting: std::collections::BinaryHeap<std::cmp::Reverse<(u64, u32)>>,
        busy: u64,
        reported_at: u64,
    }

    const REST: u64 = 20_000;
    const SECOND: u64 = 1_000_000;

    impl Loop {
        fn new() -> Loop {
            Loop { bench: Bench::new(128), now: 0, resting: Default::default(), busy: 0, reported_at: 0 }
        }

        /// Runs until a time; `work` gives what a request to a host takes, and whether it brings a page. Gives how many
        /// pages there were.
        fn run(&mut self, until: u64, work: impl Fn(u32, u32) -> (u64, bool)) -> usize {
            let mut n_pages = 0;
            if self.now == 0 {
                // The policy prefers hosts that were asked least.
                let n_hosts = self.bench.hosts.len() as u32;
                (0..n_hosts).for_each(|number| self.bench.set(number, HostState::Ready(0)));
            }
            while self.now < until {
                while let Some(&std::cmp::Reverse((end, number))) = self.resting.peek()
                    && end <= self.now
                {
                    self.resting.pop();
                    self.bench.set(number, HostState::Ready(u64::from(self.bench.hosts.get(number).fetched)));
                }
                if self.now - self.reported_at >= 200_000 {
                    let busy_share = self.busy as f64 / (self.now - self.reported_at) as f64;
                    self.bench.lanes.set_load(busy_share, self.now);
                    (self.busy, self.reported_at) = (0, self.now);
                }
                self.bench.lanes.grant(self.now);
                let Some(number) = self.bench.lanes.next() else {
                    let next = self.resting.peek().map_or(until, |next| next.0.0);
                    self.now = next.min(self.reported_at + 200_000).clamp(self.now + 1, self.now + 1_000);
                    continue;
                };
                self.bench.set(number, HostState::Busy);
                let n_before = self.bench.hosts.get(number).fetched;
                let (microseconds, is_page) = work(number, n_before);
                self.now += microseconds;
                self.busy += microseconds;
                let host = self.bench.hosts.get_mut(number);
                host.fetched += 1;
                host.stored += u32::from(is_page);
                host.account.count_answer(if is_page { 1.0 } else { 0.0 });
                // A part of the work is not in the response: connections, timers, the frontier.
                self.bench.lanes.count_work(host, Duration::from_micros(microseconds * 2 / 3));
                self.bench.set(number, HostState::Resting);
                self.resting.push(std::cmp::Reverse((self.now + REST, number)));
                n_pages += usize::from(is_page);
            }
            n_pages
        }
    }

    /// Thirty hosts that bring pages after a robots.txt, beside others that bring nothing.
    fn pages_beside(n_others: usize, other_work: u64, honest_work: u64) -> usize {
        let mut simulation = Loop::new();
        simulation.bench.add(30, |_| {});
        simulation.bench.add(n_others, |_| {});
        let work = |number: u32, n_before: u32| match number < 30 {
            true => (honest_work, n_before > 0),
            false => (other_work, false),
        };
        // The first seconds are for getting to know the hosts.
        simulation.run(5 * SECOND, work);
        simulation.run(25 * SECOND, work)
    }

    #[test]
    fn honest_hosts_keep_their_rate_beside_any_that_bring_nothing() {
        // From a loop that is mostly idle to one with more to do than it can.
        for honest_work in [200, 700, 2_000] {
            let alone = pages_beside(0, 0, honest_work);
            for (n_others, other_work) in [(300, 300), (300, 2_000), (2_000, 1_000)] {
                let beside = pages_beside(n_others, other_work, honest_work);
                assert!(
                    beside * 100 >= alone * 90,
                    "{beside} of {alone} pages at {honest_work} us each, beside {n_others} hosts of {other_work} us"
                );
            }
        }
    }

    #[test]
    fn hosts_that_have_brought_nothing_still_get_turns_beside_a_busy_crowd() {
        let mut simulation = Loop::new();
        simulation.bench.add(200, proven);
        simulation.bench.add(20, |_| {});
        simulation.run(10 * SECOND, |number, _| (1_000, number < 200));
        for number in 200..220 {
            let n_requests = simulation.bench.hosts.get(number).fetched;
            assert!(n_requests >= 10, "{n_requests} requests to host {number}");
        }
    }

    #[test]
    fn what_a_busy_loop_leaves_is_shared_out_and_all_of_it_when_nobody_brings_pages() {
        let mut bench = Bench::new(128);
        bench.add(30, proven);
        bench.add(300, |host| host.fetched = 5);
        assert_eq!(bench.fill(128), [30, 98, 0]);
        (1..10).for_each(|tick| bench.lanes.set_load(1.0, tick * 200_000));
        (30..128).for_each(|number| bench.set(number, HostState::Ready(1)));
        assert_eq!(bench.fill(98), [30, 6, 0], "a twentieth of the slots");
        bench.lanes.count_work(bench.hosts.get_mut(40), Duration::from_secs(1));
        (30..128).for_each(|number| bench.set(number, HostState::Ready(1)));
        assert_eq!(bench.fill(98), [30, 0, 0], "they have used up their time");
        (10..60).for_each(|tick| bench.lanes.set_load(0.2, tick * 200_000));
        assert!(bench.fill(98)[1] > 30, "the loop has time for them again");
        bench.lanes.count_work(bench.hosts.get_mut(40), Duration::from_secs(60));
        (0..30).for_each(|number| bench.set(number, HostState::Idle));
        assert_eq!(bench.fill(128).iter().sum::<usize>(), 128, "nobody else has anything to do");
    }
}
