//! By the number of pages that link to a page.

use super::{HostCounts, HostOrder, OrderingPolicy, Priority, ScoreOrder, SharedOrder};
use crate::frontier::Link;

/// The link that was found most often goes first.
pub struct Backlink;

impl OrderingPolicy for Backlink {
    fn name(&self) -> &'static str {
        "backlink"
    }

    fn shared(&self) -> Option<SharedOrder> {
        Some(SharedOrder { hosts: HostOrder::Best, scores: ScoreOrder::Count(u8::MAX) })
    }

    fn keeps_scores(&self) -> bool {
        true
    }

    fn prioritize(&mut self, _link: &Link, _host: &HostCounts, score: &mut f32) -> Priority {
        *score = 1.0;
        priority_of(*score)
    }

    fn reprioritize(&mut self, _link: &Link, _host: &HostCounts, score: &mut f32) -> Priority {
        *score += 1.0;
        priority_of(*score)
    }
}

/// One step per link up to a hundred links, logarithmic above.
fn priority_of(links: f32) -> Priority {
    let steps = if links <= 100.0 { links } else { 100.0 + 12.0 * (links / 100.0).log2() };
    Priority::saturating(255 - (steps as u64).min(255))
}
