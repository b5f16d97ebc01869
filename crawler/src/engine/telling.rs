//! What a crawl tells of itself: events for the log, and snapshots for whoever looks.

use super::Crawl;
use super::settling::Ended;
use crate::control::Session;
use crate::frontier::{Frontier, Settled, Settlement};
use crate::log_entry::LogEntry;
use crate::outcome::Outcome;
use crate::progress::{Status, errors};
use crate::snapshot::{Phase, Snapshot};

impl<F: Frontier> Crawl<'_, F> {
    /// Tells whoever looks, and the log, which URLs are settled.
    pub(super) fn tell(&mut self, ended: Ended) {
        for Settlement { lease, settled, .. } in ended.batch {
            let url = &lease.link.url;
            self.held.0.remove(&lease.id);
            if ended.result.fenced.contains(&lease.id) {
                tracing::warn!(url = url.as_str(), "the lease was lost before it was settled");
                continue;
            }
            match settled {
                Settled::Done(record) => {
                    let (bytes, milliseconds) = (record.bytes, record.milliseconds);
                    tracing::debug!(
                        url = url.as_str(),
                        outcome = record.outcome.name(),
                        bytes,
                        milliseconds,
                        "settled"
                    );
                    self.progress.failures.count(url, record.outcome, lease.trace.status);
                    self.processor.live().settled(url, &record);
                    self.writer.log(LogEntry::of(lease, &record));
                }
                Settled::Retry => tracing::debug!(url = url.as_str(), attempts = lease.attempts + 1, "to be retried"),
            }
        }
    }

    /// Publishes a snapshot if somebody looks.
    pub(super) fn publish(&mut self, session: &Session<'_>, in_flight: usize) {
        self.progress.record(&self.totals);
        if !session.is_watched() {
            return;
        }
        if !self.processor.live().have_begun() {
            let (live, backend) = (self.processor.live(), self.backend());
            self.aside.push(Box::pin(async move {
                live.begin(backend).await;
                Ok(())
            }));
        }
        let phase = match (self.limits.stop(), self.is_paused) {
            (Some(_), _) => Phase::Stopping,
            (None, true) => Phase::Paused,
            (None, false) => Phase::Running,
        };
        let counted = Outcome::ALL.iter().map(|&outcome| (outcome.name(), self.totals.of(outcome)));
        let mut snapshot = Snapshot {
            phase,
            status: self.status(in_flight),
            limits: self.limits.in_force(),
            outcomes: counted.filter(|(_, count)| *count > 0).collect(),
            ..Snapshot::default()
        };
        self.processor.live().fill(&mut snapshot);
        session.publish(snapshot);
    }

    fn status(&self, in_flight: usize) -> Status {
        let (elapsed, rate) = (self.progress.elapsed(), self.progress.rate(&self.totals));
        Status {
            elapsed,
            pages: self.totals.of(Outcome::Stored),
            bytes: self.totals.bytes,
            errors: errors(&self.totals),
            rate,
            in_flight,
            gauges: self.backend().gauges(),
            trouble: self.trouble,
            left: self.limits.time_left(&self.totals, elapsed, rate),
        }
    }
}
