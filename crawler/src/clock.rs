//! The clock of a frontier: the system's, or one that a simulation moves.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Tells the time: what passes between two events, and the date.
#[derive(Clone, Debug)]
pub struct Clock(Source);

#[derive(Clone, Debug)]
enum Source {
    System { started: Instant },
    Manual { started: SystemTime, microseconds: Arc<AtomicU64> },
}

impl Clock {
    /// The clock of the system.
    pub fn system() -> Clock {
        Clock(Source::System { started: Instant::now() })
    }

    /// A clock that stands still until [`Clock::advance`] moves it; its copies move with it.
    pub fn manual(started: SystemTime) -> Clock {
        Clock(Source::Manual { started, microseconds: Arc::default() })
    }

    /// Moves a manual clock on. The clock of the system moves by itself.
    pub fn advance(&self, time: Duration) {
        if let Source::Manual { microseconds, .. } = &self.0 {
            microseconds.fetch_add(time.as_micros() as u64, Ordering::Relaxed);
        }
    }

    /// The time since the clock was made. It never goes back.
    pub fn elapsed(&self) -> Duration {
        match &self.0 {
            Source::System { started } => started.elapsed(),
            Source::Manual { microseconds, .. } => Duration::from_micros(microseconds.load(Ordering::Relaxed)),
        }
    }

    /// The date, which may go back when the system's is set.
    pub fn date(&self) -> SystemTime {
        match &self.0 {
            Source::System { .. } => SystemTime::now(),
            Source::Manual { started, .. } => *started + self.elapsed(),
        }
    }

    /// The date in milliseconds since 1970.
    pub(crate) fn unix_milliseconds(&self) -> u64 {
        self.date().duration_since(UNIX_EPOCH).map_or(1, |time| time.as_millis() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manual_clock_moves_when_it_is_told_to_and_its_copies_with_it() {
        let clock = Clock::manual(UNIX_EPOCH + Duration::from_secs(9));
        let copy = clock.clone();
        assert_eq!((copy.elapsed(), copy.unix_milliseconds()), (Duration::ZERO, 9000));
        clock.advance(Duration::from_millis(1500));
        assert_eq!((copy.elapsed(), copy.unix_milliseconds()), (Duration::from_millis(1500), 10_500));
    }
}
