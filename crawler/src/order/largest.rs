//! WIRE's larger-sites-first: the host with most links waiting is asked first.

use super::{Class, HostCounts, Order};
use crate::frontier::Link;

/// Serves throughput rather than quality: the largest queue decides when a crawl can end. Within a host, breadth first.
pub struct Largest;

impl Order for Largest {
    fn name(&self) -> &'static str {
        "largest"
    }

    fn place(&mut self, link: &Link, _host: &HostCounts, _score: &mut f32) -> Class {
        Class::saturating(u64::from(link.depth))
    }

    fn precedence(&self, host: &HostCounts) -> u64 {
        u64::MAX - host.pending
    }
}
