//! Breadth first: pages close to the seeds before pages far from them.

use super::{Class, HostCounts, Order};
use crate::frontier::Link;

/// A link's class is its distance from the seeds.
pub struct Breadth;

impl Order for Breadth {
    fn name(&self) -> &'static str {
        "breadth"
    }

    fn place(&mut self, link: &Link, _host: &HostCounts, _score: &mut f32) -> Class {
        Class::saturating(u64::from(link.depth))
    }
}
