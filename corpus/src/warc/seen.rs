//! Which payloads were stored before, so that a repeat becomes a `revisit` record.

use std::collections::VecDeque;

use hashbrown::HashMap;
use jiff::Timestamp;

/// The payload digests of recent answers with their hosts, oldest forgotten first.
///
/// A body that another host has sent before is stored again: the host that was asked first may be the one that copied
/// it, and a `revisit` record alone would leave the other host without its page.
pub(super) struct Seen {
    limit: usize,
    by_digest: HashMap<SeenKey, (Box<str>, Timestamp)>,
    order: VecDeque<SeenKey>,
}

/// The digest of a payload and the hash of its host.
type SeenKey = ([u8; 32], u64);

impl Seen {
    pub(super) fn new(limit: usize) -> Seen {
        Seen { limit, by_digest: HashMap::new(), order: VecDeque::new() }
    }

    pub(super) fn get(&self, digest: &[u8; 32], url: &str) -> Option<(&str, Timestamp)> {
        let (earlier, date) = self.by_digest.get(&(*digest, host_hash(url)))?;
        // A page that was first asked for with a query is stored under its own URL as well.
        let is_without_query = earlier.strip_prefix(url).is_some_and(|rest| rest.starts_with('?'));
        (!is_without_query).then_some((&**earlier, *date))
    }

    pub(super) fn insert(&mut self, digest: [u8; 32], url: &str, date: Timestamp) {
        let key = (digest, host_hash(url));
        if let Some(earlier) = self.by_digest.get_mut(&key) {
            // The original stays the one that is named, except where a page came with a query first.
            if earlier.0.strip_prefix(url).is_some_and(|rest| rest.starts_with('?')) {
                *earlier = (url.into(), date);
            }
            return;
        }
        if self.limit == 0 {
            return;
        }
        if self.order.len() == self.limit
            && let Some(oldest) = self.order.pop_front()
        {
            self.by_digest.remove(&oldest);
        }
        self.by_digest.insert(key, (url.into(), date));
        self.order.push_back(key);
    }
}

/// The hash of a URL's host and port.
fn host_hash(url: &str) -> u64 {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    xxhash_rust::xxh3::xxh3_64(host.as_bytes())
}
