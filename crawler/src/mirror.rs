//! Hosts that only repeat another host under their own name.
//!
//! The first pages of every host are compared with what other hosts gave under the same path: byte for byte, but for
//! the host's own name. When enough of them are equal and hardly any is not, the host that was met later is a mirror,
//! and nothing more is asked of it. Likeness is not enough: sites made from one template have like pages under like
//! paths, and a fingerprint of their words cannot tell them apart.

use std::collections::{HashMap, HashSet};

use memchr::memmem;
use url::Url;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// Pages of a host that are compared.
const SAMPLES: u32 = 12;
/// Pages under the same path that must be equal.
const MATCHES: u32 = 5;
/// Pages that may differ: what changes between two requests.
const MISSES: u32 = 1;
/// Paths and hosts kept at most; beyond that everything is forgotten and learned again.
const MAX_KEPT: usize = 200_000;

/// What is known about the hosts of a crawl.
#[derive(Default)]
pub(crate) struct Mirrors {
    /// Hosts in the order in which they were met, and how many of their pages were compared.
    hosts: HashMap<String, (u32, u32)>,
    by_path: HashMap<u64, Vec<(u32, u64)>>,
    /// Equal and unequal pages of two hosts, the earlier one first.
    pairs: HashMap<(u32, u32), (u32, u32)>,
    mirrors: HashSet<u32>,
}

impl Mirrors {
    /// Whether a host only repeats another.
    pub(crate) fn is_mirror(&self, host: &str) -> bool {
        !self.mirrors.is_empty() && self.hosts.get(host).is_some_and(|(number, _)| self.mirrors.contains(number))
    }

    /// A page came.
    pub(crate) fn compare(&mut self, host: &str, url: &Url, body: &[u8]) {
        if self.by_path.len() + self.hosts.len() + self.pairs.len() > MAX_KEPT {
            *self = Mirrors::default();
        }
        let next = self.hosts.len() as u32;
        if !self.hosts.contains_key(host) {
            self.hosts.insert(host.to_owned(), (next, 0));
        }
        let Some((number, n_samples)) = self.hosts.get_mut(host) else { return };
        if *n_samples == SAMPLES {
            return;
        }
        *n_samples += 1;
        let number = *number;
        let digest = digest_without(url.host_str().unwrap_or(""), body);
        let path = xxh3_64(url[url::Position::BeforePath..].as_bytes());
        let others = self.by_path.entry(path).or_default();
        for &(other, its_digest) in others.iter() {
            let pair = (number.min(other), number.max(other));
            let (equal, unequal) = self.pairs.entry(pair).or_default();
            let counter = if digest == its_digest { &mut *equal } else { &mut *unequal };
            *counter += 1;
            if *equal >= MATCHES && *unequal <= MISSES {
                self.mirrors.insert(pair.1);
            }
        }
        // A path that every site has, such as the root, needs only a few hosts to compare with.
        if others.len() < 16 {
            others.push((number, digest));
        }
    }
}

/// The digest of a page with a name taken out.
fn digest_without(name: &str, body: &[u8]) -> u64 {
    let mut digest = Xxh3::new();
    let mut rest = 0;
    if !name.is_empty() {
        for at in memmem::find_iter(body, name) {
            digest.update(&body[rest..at]);
            rest = at + name.len();
        }
    }
    digest.update(&body[rest..]);
    digest.digest()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(site: u32, path: u32) -> String {
        (0..200).map(|word| format!("s{site}p{path}w{} ", word * 7 % 101)).collect()
    }

    #[test]
    fn a_host_with_the_pages_of_another_is_found_and_a_host_of_its_own_is_not() {
        let mut mirrors = Mirrors::default();
        for path in 0..10 {
            for (host, site) in [("a.test", 1), ("b.test", 2), ("www.a.test", 1)] {
                let url: Url = format!("http://{host}/page/{path}").parse().unwrap();
                let body = format!("<a href='http://{host}/'>{host}</a> {}", page(site, path));
                mirrors.compare(host, &url, body.as_bytes());
            }
        }
        assert!(mirrors.is_mirror("www.a.test"));
        assert!(!mirrors.is_mirror("a.test") && !mirrors.is_mirror("b.test"));
    }
}
