//! Least-visited hosts first: breadth over hosts rather than over pages.

use super::{Class, HostCounts, Order};
use crate::frontier::Link;

/// The host with the fewest fetched pages is asked first; within a host, breadth first.
pub struct LeastVisited;

impl Order for LeastVisited {
    fn name(&self) -> &'static str {
        "least-visited"
    }

    fn place(&mut self, link: &Link, _host: &HostCounts, _score: &mut f32) -> Class {
        Class::saturating(u64::from(link.depth))
    }

    fn precedence(&self, host: &HostCounts) -> u64 {
        host.fetched
    }
}
