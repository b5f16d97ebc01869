//! Lanes, and an event loop that is simulated without a clock.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

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
    let mut account = Account::NEW;
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

/// An event loop that does one thing after the other: it starts requests while slots are free, each takes a part of
/// its microseconds then and the rest when its answer has come. There is no clock but the sum of what was done.
struct Loop {
    bench: Bench,
    now: u64,
    resting: BinaryHeap<Reverse<(u64, u32)>>,
    answers: BinaryHeap<Reverse<(u64, u32)>>,
    busy: u64,
    reported_at: u64,
}

const REST: u64 = 20_000;
/// The time from a request to its answer.
const LATENCY: u64 = 1_000;
const SECOND: u64 = 1_000_000;

impl Loop {
    fn new() -> Loop {
        let (resting, answers) = Default::default();
        Loop { bench: Bench::new(128), now: 0, resting, answers, busy: 0, reported_at: 0 }
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
            self.end_rests();
            self.report_load();
            self.start_requests(&work);
            n_pages += usize::from(self.take_answer(until, &work));
        }
        n_pages
    }

    fn end_rests(&mut self) {
        while let Some(&Reverse((end, number))) = self.resting.peek()
            && end <= self.now
        {
            self.resting.pop();
            let host = self.bench.hosts.get_mut(number);
            let host_priority = u64::from(host.fetched);
            self.bench.set(number, HostState::Ready(host_priority));
        }
    }

    fn report_load(&mut self) {
        if self.now - self.reported_at >= 200_000 {
            let busy_share = self.busy as f64 / (self.now - self.reported_at) as f64;
            self.bench.lanes.set_load(busy_share, self.now);
            (self.busy, self.reported_at) = (0, self.now);
        }
    }

    fn take_time(&mut self, microseconds: u64) {
        self.now += microseconds;
        self.busy += microseconds;
    }

    fn start_requests(&mut self, work: impl Fn(u32, u32) -> (u64, bool)) {
        while self.answers.len() < 128 {
            self.bench.lanes.grant(self.now);
            let Some(number) = self.bench.lanes.next() else { return };
            self.bench.set(number, HostState::Busy);
            self.bench.hosts.get_mut(number).account.leased_at = self.now;
            // A part of the work is not in the response: connections, timers, the frontier.
            let (microseconds, _) = work(number, self.bench.hosts.get(number).fetched);
            self.take_time(microseconds / 3);
            self.answers.push(Reverse((self.now + LATENCY, number)));
        }
    }

    /// Reads the next answer, if one has come; gives whether it is a page.
    fn take_answer(&mut self, until: u64, work: impl Fn(u32, u32) -> (u64, bool)) -> bool {
        let Some(&Reverse((_, number))) = self.answers.peek().filter(|next| next.0.0 <= self.now) else {
            let next = [self.resting.peek(), self.answers.peek()].into_iter().flatten().map(|next| next.0.0).min();
            let next = next.unwrap_or(until).min(self.reported_at + 200_000);
            self.now = next.clamp(self.now + 1, self.now + 1_000);
            return false;
        };
        self.answers.pop();
        let (microseconds, is_page) = work(number, self.bench.hosts.get(number).fetched);
        self.take_time(microseconds - microseconds / 3);
        let host = self.bench.hosts.get_mut(number);
        host.fetched += 1;
        host.stored += u32::from(is_page);
        host.account.count_answer(if is_page { 1.0 } else { 0.0 });
        self.bench.lanes.count_work(host, Duration::from_micros(microseconds * 2 / 3));
        let host = self.bench.hosts.get(number);
        self.bench.lanes.count_slot(host, self.now - host.account.leased_at, Some(Duration::from_micros(REST)));
        self.bench.set(number, HostState::Resting);
        self.resting.push(Reverse((self.now + REST, number)));
        is_page
    }
}

/// Thirty hosts that bring pages after a robots.txt, beside others that bring nothing: pages when the first seconds,
/// in which the hosts become known, are over, and pages when what the others have used then is made up for.
fn pages_beside(n_others: usize, other_work: u64, honest_work: u64) -> [usize; 2] {
    let mut simulation = Loop::new();
    simulation.bench.add(30, |_| {});
    simulation.bench.add(n_others, |_| {});
    let work = |number: u32, n_before: u32| match number < 30 {
        true => (honest_work, n_before > 0),
        false => (other_work, false),
    };
    [(5, 25), (150, 170)].map(|(from, to)| {
        simulation.run(from * SECOND, work);
        simulation.run(to * SECOND, work)
    })
}

#[test]
fn honest_hosts_keep_their_rate_beside_any_that_bring_nothing() {
    // From a loop that is mostly idle to one with more to do than it can.
    for honest_work in [200, 700, 2_000] {
        let alone = pages_beside(0, 0, honest_work);
        for (n_others, other_work) in [(300, 300), (300, 2_000), (300, 5_000), (2_000, 1_000)] {
            let beside = pages_beside(n_others, other_work, honest_work);
            let is_kept = beside.iter().zip(alone).all(|(beside, alone)| beside * 100 >= alone * 90);
            let others = format!("{n_others} hosts of {other_work} us");
            assert!(is_kept, "{beside:?} of {alone:?} pages at {honest_work} us each, beside {others}");
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

#[test]
fn answers_that_take_long_to_read_come_one_at_a_time_and_slow_hosts_hold_their_slots() {
    let mut bench = Bench::new(128);
    bench.add(30, proven);
    bench.add(300, |host| host.fetched = 5);
    bench.lanes.count_slot(bench.hosts.get(0), 1_000, Some(Duration::from_millis(50)));
    bench.lanes.count_work(bench.hosts.get_mut(40), Duration::from_millis(2));
    bench.lanes.count_slot(bench.hosts.get(40), 3_000, None);
    assert_eq!(bench.fill(128), [30, 1, 0], "one answer of two milliseconds holds everybody up for long enough");
    (0..100).for_each(|_| bench.lanes.count_slot(bench.hosts.get(40), 200_000, None));
    assert_eq!(bench.fill(128), [30, 98, 0], "their answers are far apart");
}
