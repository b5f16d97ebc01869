//! The load of the event loop: which share of the time it was busy.

use std::time::{Duration, Instant};

use tokio::runtime::Handle;

/// Measures the load of the runtime's first thread, on which a crawl runs.
pub(crate) struct Load {
    measured_at: Instant,
    busy: Duration,
}

impl Load {
    /// Begins to measure.
    pub(crate) fn new() -> Load {
        Load { measured_at: Instant::now(), busy: busy_time() }
    }

    /// The busy share of the time, from 0 to 1, since this was last asked.
    pub(crate) fn share(&mut self) -> f64 {
        let (now, busy) = (Instant::now(), busy_time());
        let elapsed = now - self.measured_at;
        let share = busy.saturating_sub(self.busy).as_secs_f64() / elapsed.as_secs_f64().max(0.001);
        (self.measured_at, self.busy) = (now, busy);
        share.min(1.0)
    }
}

fn busy_time() -> Duration {
    Handle::try_current().map_or(Duration::ZERO, |handle| handle.metrics().worker_total_busy_duration(0))
}
