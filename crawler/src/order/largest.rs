//! WIRE's larger-sites-first: the host with most waiting links is served first.

use super::{HostCounts, HostOrder, OrderingPolicy, Priority, ScoreOrder, SharedOrder};
use crate::frontier::Link;

/// Optimizes throughput rather than quality: the largest queue decides when a crawl can end. Within a host, breadth
/// first.
pub struct Largest;

impl OrderingPolicy for Largest {
    fn name(&self) -> &'static str {
        "largest"
    }

    fn shared(&self) -> Option<SharedOrder> {
        Some(SharedOrder { hosts: HostOrder::Largest, scores: ScoreOrder::None })
    }

    fn prioritize(&mut self, link: &Link, _host: &HostCounts, _score: &mut f32) -> Priority {
        Priority::saturating(u64::from(link.depth))
    }

    fn host_priority(&self, host: &HostCounts) -> u64 {
        u64::MAX - host.pending
    }
}
