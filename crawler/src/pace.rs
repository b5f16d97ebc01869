//! When a host, and an address that hosts share, may be asked again.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::{Duration, Instant};

/// The longest pause that a host can ask for.
const MAX_PAUSE: Duration = Duration::from_secs(3600);
/// The pause after the first failure in a row; it doubles with each further one.
const BACK_OFF: Duration = Duration::from_secs(1);
/// The longest pause that failures make.
const MAX_BACK_OFF: Duration = Duration::from_secs(300);
/// Failures to reach a host in a row after which it counts as gone.
const GONE_AFTER: u32 = 4;

/// The rest between the end of a host's answer and the next request to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Delay {
    /// A multiple of the time that the last answer took, within bounds.
    Adaptive {
        /// Times the last answer's time.
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
    /// The rest after an answer that took `elapsed`.
    pub fn after(&self, elapsed: Duration) -> Duration {
        match *self {
            Delay::Fixed(delay) => delay,
            Delay::Adaptive { multiple, least, most } => elapsed.mul_f64(multiple).clamp(least, most.max(least)),
        }
    }

    /// The shortest rest there is.
    pub fn least(&self) -> Duration {
        match *self {
            Delay::Fixed(delay) => delay,
            Delay::Adaptive { least, .. } => least,
        }
    }
}

/// How the last answer of a host was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Health {
    /// It answered.
    Well,
    /// It is overloaded, and may have said for how long.
    Overloaded(Option<Duration>),
    /// It could not be reached.
    Unreachable,
}

/// What is remembered of hosts that failed; hosts that answer well are not in here.
#[derive(Default)]
pub(crate) struct Failures {
    in_a_row: HashMap<String, (u32, u32)>,
}

impl Failures {
    /// How much longer than its usual rest a host is left alone after an answer.
    pub(crate) fn pause(&mut self, host: &str, health: Health) -> Duration {
        if health == Health::Well {
            if !self.in_a_row.is_empty() {
                self.in_a_row.remove(host);
            }
            return Duration::ZERO;
        }
        let (failures, unreachable) = self.in_a_row.entry(host.to_owned()).or_default();
        *failures += 1;
        *unreachable = if health == Health::Unreachable { *unreachable + 1 } else { 0 };
        let back_off = BACK_OFF.saturating_mul(1 << (*failures - 1).min(16)).min(MAX_BACK_OFF);
        match health {
            Health::Overloaded(Some(asked)) => asked.min(MAX_PAUSE).max(back_off.min(Duration::from_secs(1))),
            _ => back_off,
        }
    }

    /// Whether a host could not be reached so often that nothing more is asked of it.
    pub(crate) fn is_gone(&self, host: &str) -> bool {
        self.in_a_row.get(host).is_some_and(|(_, unreachable)| *unreachable >= GONE_AFTER)
    }
}

/// Requests on their way to each address, and when the next may go out.
pub(crate) struct Addresses {
    at_once: usize,
    /// Between two requests to one address: shorter than a host's rest, because its hosts take turns.
    gap: Duration,
    known: HashMap<IpAddr, Address>,
}

struct Address {
    busy: usize,
    /// When the next request may go out.
    free_at: Instant,
    /// The next turn that nobody has been told to come back for.
    next_turn: Instant,
}

impl Addresses {
    pub(crate) fn new(at_once: usize, delay: &Delay) -> Addresses {
        let at_once = at_once.max(1);
        Addresses { at_once, gap: delay.least() / at_once as u32, known: HashMap::new() }
    }

    /// Takes a turn at an address, or says after how long to ask again.
    pub(crate) fn enter(&mut self, address: IpAddr, now: Instant) -> Result<(), Duration> {
        if self.known.len() > 10_000 {
            self.known.retain(|_, address| address.busy > 0 || address.free_at > now);
        }
        let entry = self.known.entry(address).or_insert(Address { busy: 0, free_at: now, next_turn: now });
        if entry.busy < self.at_once && entry.free_at <= now {
            entry.busy += 1;
            entry.free_at = now + self.gap;
            return Ok(());
        }
        // Everybody gets another turn to come back at, so that a thousand hosts on one address do not all ask at once.
        let pause = self.gap.max(Duration::from_millis(20));
        entry.next_turn = entry.next_turn.max(entry.free_at).max(now) + pause;
        Err((entry.next_turn - now).min(Duration::from_secs(30)))
    }

    /// Ends a turn: the answer is here.
    pub(crate) fn leave(&mut self, address: IpAddr, now: Instant) {
        if let Some(entry) = self.known.get_mut(&address) {
            entry.busy = entry.busy.saturating_sub(1);
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
        let pauses: Vec<u64> = (0..4).map(|_| failures.pause("a", Health::Unreachable).as_secs()).collect();
        assert_eq!(pauses, [1, 2, 4, 8]);
        assert!(failures.is_gone("a") && !failures.is_gone("b"));
        assert_eq!(failures.pause("a", Health::Well), Duration::ZERO);
        assert!(!failures.is_gone("a"));
        let asked = Some(Duration::from_secs(120));
        assert_eq!(failures.pause("a", Health::Overloaded(asked)), Duration::from_secs(120));
    }

    #[test]
    fn an_address_takes_no_more_than_its_share_at_once() {
        let delay = Delay::Fixed(Duration::from_secs(1));
        let mut addresses = Addresses::new(4, &delay);
        let address = IpAddr::from([192, 0, 2, 1]);
        let start = Instant::now();
        let at = |quarters: u32| start + delay.least() / 4 * quarters;
        assert!(addresses.enter(address, at(0)).is_ok());
        assert!(addresses.enter(address, at(0)).is_err(), "the gap of a quarter second is kept");
        for turn in 1..4 {
            assert!(addresses.enter(address, at(turn)).is_ok());
        }
        assert!(addresses.enter(address, at(9)).is_err(), "four are on their way");
        addresses.leave(address, at(9));
        assert!(addresses.enter(address, at(9)).is_err(), "the gap runs from the end of an answer");
        assert!(addresses.enter(address, at(10)).is_ok());
    }
}
