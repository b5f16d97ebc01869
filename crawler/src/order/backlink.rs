//! By the number of pages that link to a page.

use super::{Class, HostCounts, Order};
use crate::frontier::Link;

/// The link that was found most often goes first.
pub struct Backlink;

impl Order for Backlink {
    fn name(&self) -> &'static str {
        "backlink"
    }

    fn keeps_scores(&self) -> bool {
        true
    }

    fn place(&mut self, _link: &Link, _host: &HostCounts, score: &mut f32) -> Class {
        *score = 1.0;
        class_of(*score)
    }

    fn place_again(&mut self, _link: &Link, _host: &HostCounts, score: &mut f32) -> Class {
        *score += 1.0;
        class_of(*score)
    }
}

/// Single links up to a hundred, then by ratio.
fn class_of(links: f32) -> Class {
    let steps = if links <= 100.0 { links } else { 100.0 + 12.0 * (links / 100.0).log2() };
    Class::saturating(255 - (steps as u64).min(255))
}
