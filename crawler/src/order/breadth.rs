//! Breadth first: pages close to the seeds before pages far from them.

use super::{HostCounts, HostOrder, OrderingPolicy, Priority, ScoreOrder, SharedOrder};
use crate::frontier::Link;

/// A link's priority is its distance from the seeds.
pub struct Breadth;

impl OrderingPolicy for Breadth {
    fn name(&self) -> &'static str {
        "breadth"
    }

    fn shared(&self) -> Option<SharedOrder> {
        Some(SharedOrder { hosts: HostOrder::Best, scores: ScoreOrder::None })
    }

    fn prioritize(&mut self, link: &Link, _host: &HostCounts, _score: &mut f32) -> Priority {
        Priority::saturating(u64::from(link.depth))
    }
}
