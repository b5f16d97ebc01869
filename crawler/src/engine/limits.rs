//! When a run ends: its limits, which may change, and why it was told to stop.

use std::time::{Duration, Instant};

use crate::control::Limit;
use crate::frontier::Totals;
use crate::outcome::Outcome;
use crate::plan::Plan;
use crate::progress::Stop;
use crate::snapshot::LimitsInForce;

/// How long requests in flight may take when the crawl is to end.
const DRAIN: Duration = Duration::from_secs(5);

/// The limits of a run, and its end once it has begun.
pub(super) struct RunLimits {
    in_force: LimitsInForce,
    /// The slots of the plan, which are never exceeded.
    max_slots: usize,
    end: Option<(Stop, Instant)>,
}

impl RunLimits {
    pub(super) fn new(plan: &Plan) -> RunLimits {
        let limits = &plan.limits;
        let (pages, bytes, time, slots) = (limits.pages, limits.bytes, limits.time, plan.slots);
        RunLimits { in_force: LimitsInForce { pages, bytes, time, slots }, max_slots: plan.slots, end: None }
    }

    pub(super) fn in_force(&self) -> LimitsInForce {
        self.in_force
    }

    /// Changes a limit; the one on requests to a host is the frontier's.
    pub(super) fn set(&mut self, limit: Limit) {
        match limit {
            Limit::Pages(most) => self.in_force.pages = most,
            Limit::Bytes(most) => self.in_force.bytes = most,
            Limit::Time(most) => self.in_force.time = most,
            Limit::Slots(most) => self.in_force.slots = most.min(self.max_slots),
            Limit::PerHost(_) => {}
        }
        if self.end.is_some_and(|(stop, _)| stop != Stop::Interrupted) {
            self.end = None;
        }
    }

    /// Begins the end of the run if a limit is reached.
    pub(super) fn check(&mut self, totals: &Totals, elapsed: Duration) {
        let limits = &self.in_force;
        if limits.pages.is_some_and(|most| totals.of(Outcome::Stored) >= most) {
            self.begin_end(Stop::Pages);
        } else if limits.bytes.is_some_and(|most| totals.bytes >= most) {
            self.begin_end(Stop::Bytes);
        } else if limits.time.is_some_and(|most| elapsed >= most) {
            self.begin_end(Stop::Time);
        }
    }

    /// Begins the end of the run. Being told to stop is the reason that counts.
    pub(super) fn begin_end(&mut self, why: Stop) {
        match &mut self.end {
            Some((stop, _)) if why == Stop::Interrupted => *stop = why,
            Some(_) => {}
            None => {
                tracing::info!(?why, "the crawl is to end");
                self.end = Some((why, Instant::now() + DRAIN));
            }
        }
    }

    /// Why the run is to end, if it is.
    pub(super) fn stop(&self) -> Option<Stop> {
        self.end.map(|(stop, _)| stop)
    }

    /// Until when requests in flight are waited for, if the run is to end.
    pub(super) fn drain_until(&self) -> Option<Instant> {
        self.end.map(|(_, until)| until)
    }

    /// The requests that may be in flight when so many pages are stored or on their way to the sink.
    pub(super) fn max_in_flight(&self, n_expected: u64) -> usize {
        let pages_left = self.in_force.pages.map_or(u64::MAX, |most| most.saturating_sub(n_expected));
        usize::try_from(pages_left).unwrap_or(usize::MAX).min(self.in_force.slots)
    }

    /// The time until a limit is reached, at this many pages a second.
    pub(super) fn time_left(&self, totals: &Totals, elapsed: Duration, rate: f64) -> Option<Duration> {
        let pages = totals.of(Outcome::Stored);
        let at_rate = |left: f64| (rate > 0.0).then(|| Duration::try_from_secs_f64(left / rate).ok()).flatten();
        let limits = &self.in_force;
        let by_pages = limits.pages.and_then(|most| at_rate(most.saturating_sub(pages) as f64));
        let mean_bytes = totals.bytes as f64 / pages.max(1) as f64;
        let by_bytes = limits.bytes.and_then(|most| at_rate(most.saturating_sub(totals.bytes) as f64 / mean_bytes));
        let by_time = limits.time.map(|most| most.saturating_sub(elapsed));
        [by_pages, by_bytes, by_time].into_iter().flatten().min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frontier::FetchRecord;
    use crate::scope::{Reach, Scope};

    #[test]
    fn a_limit_that_is_raised_in_time_lets_the_run_go_on_and_a_stop_does_not() {
        let mut plan = Plan::new(Vec::new(), Scope::new(Reach::Any, &[], Vec::new(), Vec::new()));
        plan.limits.pages = Some(2);
        plan.slots = 10;
        let mut limits = RunLimits::new(&plan);
        let mut totals = Totals::default();
        let stored = FetchRecord { outcome: Outcome::Stored, status: 0, bytes: 10, milliseconds: 1, digest: 1 };
        (0..2).for_each(|_| totals.count(stored));
        limits.check(&totals, Duration::ZERO);
        assert_eq!(limits.stop(), Some(Stop::Pages));
        limits.set(Limit::Pages(Some(5)));
        limits.check(&totals, Duration::ZERO);
        assert_eq!((limits.stop(), limits.max_in_flight(2)), (None, 3));
        limits.set(Limit::Slots(1_000));
        limits.set(Limit::Pages(None));
        assert_eq!(limits.max_in_flight(2), 10, "the plan's");
        limits.set(Limit::Bytes(Some(20)));
        limits.check(&totals, Duration::ZERO);
        assert_eq!(limits.stop(), Some(Stop::Bytes));
        limits.begin_end(Stop::Interrupted);
        limits.set(Limit::Bytes(None));
        assert_eq!(limits.stop(), Some(Stop::Interrupted));
    }
}
