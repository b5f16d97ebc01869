//! What a seed decides about a crawl.

use std::time::Duration;

use crate::order::{Explore, ORDER_NAMES, SplitMix64};
use crate::pace::Delay;

/// The settings of one simulated crawl.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub(super) seed: u64,
    pub(super) n_hosts: usize,
    pub(super) n_pages: usize,
    pub(super) n_addresses: usize,
    pub(super) per_address: usize,
    pub(super) slots: usize,
    pub(super) host_budget: u64,
    pub(super) delay: Delay,
    pub(super) order: &'static str,
    pub(super) explore: Explore,
    /// Whether links make different claims about one URL: its kind, depth and hops.
    pub(super) has_claims: bool,
    /// The hosts that may be known at once.
    pub(super) max_hosts: usize,
    /// The chance of a crash before a step, of a thousand.
    pub(super) crash_rate: usize,
}

impl Settings {
    pub(super) fn of(seed: u64) -> Settings {
        let mut random = SplitMix64::new(seed.wrapping_mul(0xA076_1D64_78BD_642F));
        let n_hosts = 1 + random.below(8);
        let least = Duration::from_micros([0, 1, 150_000, 999_999, 1_000_000][random.below(5)]);
        let delay = match random.below(2) {
            0 => Delay::Fixed(least),
            _ => Delay::Adaptive { multiple: 10.0, least, most: Duration::from_secs(30) },
        };
        let explore = match random.below(4) {
            0 => Explore { share: 0.2, seed },
            _ => Explore::NOTHING,
        };
        Settings {
            seed,
            n_hosts,
            n_pages: n_hosts + 5 + random.below(60),
            n_addresses: 1 + random.below(n_hosts),
            per_address: 1 + random.below(4),
            slots: [1, 2, 3, 7, 8, 12][random.below(6)],
            host_budget: if random.below(4) == 0 { 1 + random.below(12) as u64 } else { u64::MAX },
            delay,
            order: ORDER_NAMES[random.below(ORDER_NAMES.len())],
            explore,
            has_claims: random.below(3) == 0,
            crash_rate: [0, 10, 30, 80][random.below(4)],
            max_hosts: if random.below(4) == 0 { 1 + random.below(4) } else { usize::MAX },
        }
    }
}
