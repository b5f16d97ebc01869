//! Least-visited hosts first: breadth over hosts rather than over pages.

use super::{HostCounts, HostOrder, OrderingPolicy, Priority, ScoreOrder, SharedOrder};
use crate::frontier::Link;

/// The host with the fewest fetched pages is served first; within a host, breadth first.
pub struct LeastVisited;

impl OrderingPolicy for LeastVisited {
    fn name(&self) -> &'static str {
        "least-visited"
    }

    fn shared(&self) -> Option<SharedOrder> {
        Some(SharedOrder { hosts: HostOrder::LeastVisited, scores: ScoreOrder::None })
    }

    fn prioritize(&mut self, link: &Link, _host: &HostCounts, _score: &mut f32) -> Priority {
        Priority::saturating(u64::from(link.depth))
    }

    fn host_priority(&self, host: &HostCounts) -> u64 {
        host.fetched
    }
}
