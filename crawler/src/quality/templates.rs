//! Which templates many hosts share, as far as a bounded table remembers.

use std::collections::{HashMap, VecDeque};

use xxhash_rust::xxh3::xxh3_64;

/// Templates that are remembered; the oldest is forgotten first.
const MAX_TEMPLATES: usize = 10_000;
/// Hosts that are remembered of each.
const MAX_HOSTS: usize = 8;

/// Templates, and a few of the hosts of each.
#[derive(Default)]
pub(super) struct Templates {
    hosts: HashMap<u64, Vec<u64>>,
    order: VecDeque<u64>,
}

impl Templates {
    /// Notes that a host has a page of this template; gives on how many hosts it was seen, up to [`MAX_HOSTS`].
    pub(super) fn insert(&mut self, template: u64, host: &str) -> usize {
        if !self.hosts.contains_key(&template) {
            if self.order.len() >= MAX_TEMPLATES
                && let Some(oldest) = self.order.pop_front()
            {
                self.hosts.remove(&oldest);
            }
            self.order.push_back(template);
        }
        let hosts = self.hosts.entry(template).or_default();
        let host = xxh3_64(host.as_bytes());
        if !hosts.contains(&host) && hosts.len() < MAX_HOSTS {
            hosts.push(host);
        }
        hosts.len()
    }
}
