//! What is sent to the scripts: links with their fingerprints, grouped by partition, each URL once.

use hashbrown::HashMap;
use url::Url;
use xxhash_rust::xxh3::xxh3_64;

use super::super::{Kind, Link, host_of};
use crate::order::{Priority, ScoreOrder};

/// The number by which a URL is known.
pub(super) fn fingerprint(url: &Url) -> u64 {
    xxh3_64(url.as_str().as_bytes())
}

/// The partition of a host.
pub(super) fn partition_of(host: &str, n_partitions: u16) -> u16 {
    (xxh3_64(host.as_bytes()) % u64::from(n_partitions.max(1))) as u16
}

/// A link, with what a policy says of it.
pub(super) struct ScoredLink<'l> {
    pub(super) link: &'l Link,
    /// For a new URL.
    pub(super) priority: Priority,
    /// The score of a new URL.
    pub(super) first: f32,
    /// What is added to the score of a known one.
    pub(super) more: f32,
}

/// One URL in a message; repeats are added to it.
struct Row {
    fingerprint: u64,
    host: u16,
    priority: u8,
    first: f32,
    more: f32,
    kind: Kind,
    depth: u32,
    hops: u8,
    tail: Vec<u8>,
}

/// The links for one partition.
#[derive(Default)]
pub(super) struct LinkMessage {
    hosts: Vec<String>,
    by_host: HashMap<String, u16>,
    rows: Vec<Row>,
    by_url: HashMap<(u64, u8), usize>,
}

/// The hosts that one message may name.
const MAX_HOSTS: usize = u16::MAX as usize;

impl LinkMessage {
    /// Whether it takes links of further hosts.
    pub(super) fn has_room(&self) -> bool {
        self.hosts.len() < MAX_HOSTS
    }

    /// Adds a link, or adds what it says to the same URL's.
    pub(super) fn add(&mut self, found: &ScoredLink<'_>, scores: ScoreOrder) {
        let Link { url, depth, hops, kind, .. } = found.link;
        let key = (fingerprint(url), kind.code());
        if let Some(&index) = self.by_url.get(&key) {
            let row = &mut self.rows[index];
            (row.depth, row.hops) = (row.depth.min(*depth), row.hops.min(*hops));
            row.first += found.more;
            row.more += found.more;
            row.priority = row.priority.min(found.priority.0);
            if let (Kind::Page, Some(priority)) = (kind, scores.priority_of(row.first)) {
                row.priority = priority.0;
            }
            return;
        }
        let name = host_of(url);
        let host = *self.by_host.entry(name.clone()).or_insert_with(|| {
            self.hosts.push(name);
            (self.hosts.len() - 1) as u16
        });
        self.by_url.insert(key, self.rows.len());
        self.rows.push(Row {
            fingerprint: key.0,
            host,
            priority: found.priority.0,
            first: found.first,
            more: found.more,
            kind: *kind,
            depth: *depth,
            hops: *hops,
            tail: tail_of(url, &self.hosts[usize::from(host)]),
        });
    }

    /// The fingerprints, in the order of the arguments.
    pub(super) fn fingerprints(&self) -> Vec<u64> {
        self.rows.iter().map(|row| row.fingerprint).collect()
    }

    /// Adds the arguments: the hosts, then number and bytes of each link.
    pub(super) fn write(&self, arguments: &mut Vec<Vec<u8>>) {
        arguments.push(self.hosts.len().to_string().into_bytes());
        arguments.extend(self.hosts.iter().map(|host| host.clone().into_bytes()));
        for row in &self.rows {
            arguments.push((row.fingerprint as i64).to_string().into_bytes());
            let mut bytes = Vec::with_capacity(26 + row.tail.len());
            bytes.push(row.priority);
            bytes.extend(row.first.to_be_bytes());
            bytes.extend(row.more.to_be_bytes());
            bytes.extend(row.host.to_be_bytes());
            bytes.extend(row.fingerprint.to_be_bytes());
            bytes.extend([row.kind.code(), row.hops, 0]);
            bytes.extend(row.depth.to_be_bytes());
            bytes.extend(&row.tail);
            arguments.push(bytes);
        }
    }
}

/// What is left of a URL whose host is known.
fn tail_of(url: &Url, host: &str) -> Vec<u8> {
    let text = url.as_str();
    let rest = |scheme: &str| text.strip_prefix(scheme)?.strip_prefix(host);
    let (letter, rest) = match (rest("https://"), rest("http://")) {
        (Some(rest), _) => (b's', rest),
        (None, Some(rest)) => (b'h', rest),
        (None, None) => (b'u', text),
    };
    let mut tail = vec![letter];
    tail.extend(rest.as_bytes());
    tail
}

/// A URL that waited, as an entry of a queue says it.
pub(super) struct Entry {
    pub(super) fingerprint: u64,
    pub(super) link: Link,
    pub(super) attempts: u8,
}

impl Entry {
    /// Reads an entry of a host's queue; `None` for what no frontier has written.
    pub(super) fn read(bytes: &[u8], host: &str) -> Option<Entry> {
        let (fingerprint, rest) = bytes.split_first_chunk::<8>()?;
        let ([kind, hops, attempts], rest) = rest.split_first_chunk::<3>()?;
        let (depth, tail) = rest.split_first_chunk::<4>()?;
        let (letter, rest) = tail.split_first()?;
        let rest = std::str::from_utf8(rest).ok()?;
        let url = match letter {
            b's' => format!("https://{host}{rest}").parse().ok()?,
            b'h' => format!("http://{host}{rest}").parse().ok()?,
            _ => rest.parse().ok()?,
        };
        let (kind, depth) = (Kind::from_code(*kind)?, u32::from_be_bytes(*depth));
        let link = Link { kind, hops: *hops, ..Link::page(url, depth) };
        Some(Entry { fingerprint: u64::from_be_bytes(*fingerprint), link, attempts: *attempts })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_gives_its_link_back() {
        for url in ["https://a.test/x?y=1", "http://a.test:81/", "http://[::1]/x", "https://user@a.test/"] {
            let link = Link { hops: 3, kind: Kind::Sitemap, ..Link::page(url.parse().unwrap(), 7) };
            let mut message = LinkMessage::default();
            message.add(&ScoredLink { link: &link, priority: Priority(1), first: 1.0, more: 1.0 }, ScoreOrder::None);
            let mut arguments = Vec::new();
            message.write(&mut arguments);
            let entry = Entry::read(&arguments[3][11..], &link.host()).unwrap();
            assert_eq!((entry.link, entry.attempts, entry.fingerprint), (link.clone(), 0, fingerprint(&link.url)));
        }
    }

    #[test]
    fn repeats_are_sent_once_with_all_that_they_add() {
        let scores = ScoreOrder::Halvings(2.0);
        let url: Url = "http://a.test/".parse().unwrap();
        let (far, near) = (Link::page(url.clone(), 5), Link::page(url, 2));
        let mut message = LinkMessage::default();
        for link in [&far, &near] {
            message.add(&ScoredLink { link, priority: Priority(4), first: 0.25, more: 0.25 }, scores);
        }
        let [row] = &message.rows[..] else { panic!("one") };
        assert_eq!((row.depth, row.first, row.more, row.priority), (2, 0.5, 0.5, 2));
    }
}
