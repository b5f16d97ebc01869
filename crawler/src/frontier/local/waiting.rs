//! What a frontier waits for when no host is ready.

use std::time::Duration;

use super::super::hosts::HostState;
use super::LocalFrontier;

/// A host with URLs that may not be asked yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestingHost {
    /// Its name, with the port where that is not the default.
    pub name: String,
    /// The URLs that wait for it.
    pub pending: u64,
    /// The rest of its rest: between requests, or what its `Retry-After` asked for.
    pub time: Duration,
}

impl LocalFrontier {
    /// The host whose rest ends first among those with URLs, if no host is ready now.
    pub fn next_resting_host(&self) -> Option<RestingHost> {
        let inner = self.lock();
        if inner.lanes.n_ready() > 0 {
            return None;
        }
        // A host that was claimed and rests again leaves its earlier entry behind.
        let is_waiting = |&(until, number): &(u64, u32)| {
            let host = inner.hosts.get(number);
            host.pending > 0 && host.state == HostState::Resting && host.rest_ends == until
        };
        let with_urls = inner.resting.iter().map(|entry| entry.0).filter(is_waiting);
        let (until, number) = with_urls.min()?;
        let host = inner.hosts.get(number);
        let time = Duration::from_micros(until.saturating_sub(inner.now()));
        Some(RestingHost { name: host.name.to_string(), pending: u64::from(host.pending), time })
    }
}
