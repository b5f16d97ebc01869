//! Politeness: when a host, and an IP address that hosts share, may get the next request.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::{Duration, Instant};

/// The longest `Retry-After` that is obeyed.
const MAX_PAUSE: Duration = Duration::from_secs(3600);
/// The back-off after the first failure; it doubles with each further one in a row.
const BACK_OFF: Duration = Duration::from_secs(1);
/// The longest back-off.
const MAX_BACK_OFF: Duration = Duration::from_secs(300);
/// Consecutive failures to reach a host after which it counts as unreachable.
const UNREACHABLE_AFTER: u32 = 4;
/// The largest number of hosts with failures; at more, all entries are dropped and learned again.
const MAX_FAILING_HOSTS: usize = 200_000;

/// The rest between the end of a host's response and the next request to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Delay {
    /// A multiple of the last response time, within bounds.
    Adaptive {
        /// The factor on the last response time.
        multiple: f64,
        /// Never less.
        least: Duration,
        /// Never more.
        most: Duration,
    },
    /// Always the same; zero switches pacing off.
    Fixed(Duration),
}

impl Default for Delay {
    fn default() -> Self {
        Delay::Adaptive { multiple: 10.0, least: Duration::from_secs(1), most: Duration::from_secs(30) }
    }
}

impl Delay {
    /// The rest after a response that took `elapsed`.
    pub fn after(&self, elapsed: Duration) -> Duration {
        match *self {
            Delay::Fixed(delay) => delay,
            Delay::Adaptive { multiple, least, most } => elapsed.mul_f64(multiple).clamp(least, most.max(least)),
        }
    }

    /// The shortest rest that this delay gives.
    pub fn least(&self) -> Duration {
        match *self {
            Delay::Fixed(delay) => delay,
            Delay::Adaptive { least, .. } => least,
        }
    }
}

/// How a host responded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Health {
    /// It answered.
    Healthy,
    /// It is overloaded; with its `Retry-After`, if it sent one.
    Overloaded(Option<Duration>),
    /// It could not be reached.
    Unreachable,
}

/// Consecutive failures per host; hosts that respond well have no entry.
#[derive(Default)]
pub(crate) struct Failures {
    consecutive: HashMap<String, (u32, u32)>,
}

impl Failures {
    /// Records a response; gives the back-off of its host, zero when it is healthy.
    pub(crate) fn back_off(&mut self, host: &str, health: Health) -> Duration {
        if health == Health::Healthy {
            if !self.consecutive.is_empty() {
                self.consecutive.remove(host);
            }
            return Duration::ZERO;
        }
        if self.consecutive.len() >= MAX_FAILING_HOSTS {
            self.consecutive.clear();
        }
        let (failures, unreachable) = self.consecutive.entry(host.to_owned()).or_default();
        *failures += 1;
        *unreachable = if health == Health::Unreachable { *unreachable + 1 } else { 0 };
        let back_off = BACK_OFF.saturating_mul(1 << (*failures - 1).min(16)).min(MAX_BACK_OFF);
        match health {
            Health::Overloaded(Some(asked)) => asked.min(MAX_PAUSE).max(back_off.min(Duration::from_secs(1))),
            _ => back_off,
        }
    }

    /// Whether a host could not be reached so often that no more requests are sent to it.
    pub(crate) fn is_unreachable(&self, host: &str) -> bool {
        self.consecutive.get(host).is_some_and(|(_, unreachable)| *unreachable >= UNREACHABLE_AFTER)
    }
}

/// Requests in flight per IP address, and when the next may be sent.
pub(crate) struct Addresses {
    max_concurrent: usize,
    /// The time between two requests to one address: shorter than a host's rest, because its hosts alternate.
    gap: Duration,
    known: HashMap<IpAddr, Address>,
}

struct Address {
    n_in_flight: usize,
    /// When the next request may be sent.
    free_at: Instant,
    /// The retry time for the next caller that has to wait.
    next_retry: Instant,
}

impl Addresses {
    pub(crate) fn new(max_concurrent: usize, delay: &Delay) -> Addresses {
        let max_concurrent = max_concurrent.max(1);
        Addresses { max_concurrent, gap: delay.least() / max_concurrent as u32, known: HashMap::new() }
    }

    /// Acquires a slot at an address, or gives the time after which to try again.
    pub(crate) fn acquire(&mut self, address: IpAddr, now: Instant) -> Result<(), Duration> {
        if self.known.len() > 10_000 {
            self.known.retain(|_, address| address.n_in_flight > 0 || address.free_at > now);
        }
        let entry = self.known.entry(address).or_insert(Address { n_in_flight: 0, free_at: now, next_retry: now });
        if entry.n_in_flight < self.max_concurrent && entry.free_at <= now {
            entry.n_in_flight += 1;
            entry.free_at = now + self.gap;
            return Ok(());
        }
        // Every waiting caller gets a different retry time, so that a thousand hosts on one address do not retry at
        // once.
        let pause = self.gap.max(Duration::from_millis(20));
        entry.next_retry = entry.next_retry.max(entry.free_at).max(now) + pause;
        Err((entry.next_retry - now).min(Duration::from_secs(30)))
    }

    /// Releases a slot when the response has ended.
    pub(crate) fn release(&mut self, address: IpAddr, now: Instant) {
        if let Some(entry) = self.known.get_mut(&address) {
            entry.n_in_flight = entry.n_in_flight.saturating_sub(1);
            entry.free_at = entry.free_at.max(now + self.gap);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_is_a_multiple_of_the_answer_within_bounds() {
        let delay = Delay::default();
        assert_eq!(delay.after(Duration::from_millis(10)), Duration::from_secs(1));
        assert_eq!(delay.after(Duration::from_millis(500)), Duration::from_secs(5));
        assert_eq!(delay.after(Duration::from_secs(60)), Duration::from_secs(30));
        assert_eq!(Delay::Fixed(Duration::ZERO).after(Duration::from_secs(60)), Duration::ZERO);
    }

    #[test]
    fn failures_double_the_pause_and_one_good_answer_ends_it() {
        let mut failures = Failures::default();
        let pauses: Vec<u64> = (0..4).map(|_| failures.back_off("a", Health::Unreachable).as_secs()).collect();
        assert_eq!(pauses, [1, 2, 4, 8]);
        assert!(failures.is_unreachable("a") && !failures.is_unreachable("b"));
        assert_eq!(failures.back_off("a", Health::Healthy), Duration::ZERO);
        assert!(!failures.is_unreachable("a"));
        let asked = Some(Duration::from_secs(120));
        assert_eq!(failures.back_off("a", Health::Overloaded(asked)), Duration::from_secs(120));
    }

    #[test]
    fn an_address_takes_no_more_than_its_share_at_once() {
        let delay = Delay::Fixed(Duration::from_secs(1));
        let mut addresses = Addresses::new(4, &delay);
        let address = IpAddr::from([192, 0, 2, 1]);
        let start = Instant::now();
        let at = |quarters: u32| start + delay.least() / 4 * quarters;
        assert!(addresses.acquire(address, at(0)).is_ok());
        assert!(addresses.acquire(address, at(0)).is_err(), "the gap of a quarter second is kept");
        for turn in 1..4 {
            assert!(addresses.acquire(address, at(turn)).is_ok());
        }
        assert!(addresses.acquire(address, at(9)).is_err(), "four are on their way");
        addresses.release(address, at(9));
        assert!(addresses.acquire(address, at(9)).is_err(), "the gap runs from the end of an answer");
        assert!(addresses.acquire(address, at(10)).is_ok());
    }
}
