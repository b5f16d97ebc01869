//! Hosts that answer every address with a page, and how such apologies are told from pages.
//!
//! Once a host has given a few pages it is asked for an address that nobody can have made. If it answers as if there
//! were a page, what it sent is its apology, and pages of that host that say the same are not kept.

use std::collections::HashMap;

use url::Url;

use crate::simhash::{is_near, simhash};

/// Pages of a host after which it is probed.
const PROBE_AFTER: u32 = 3;
/// Hosts kept at most; beyond that everything is forgotten and learned again.
const MAX_HOSTS: usize = 100_000;

/// Bytes by which two apologies may differ: most name the address that was asked for.
const MAX_DIFFERENCE: usize = 256;

enum Manners {
    Unknown(u32),
    Asked,
    Honest,
    Apologises(u64, usize),
}

/// What is known about the hosts of a crawl.
#[derive(Default)]
pub(crate) struct SoftNotFound {
    hosts: HashMap<String, Manners>,
}

impl SoftNotFound {
    /// A page came for this path: whether it is its host's apology.
    pub(crate) fn is_apology(&self, host: &str, path: &str, body: &[u8]) -> bool {
        match self.hosts.get(host) {
            // Pages of one site share much of their words, so the length must fit too.
            Some(Manners::Apologises(apology, length)) => {
                body.len().abs_diff(*length) <= MAX_DIFFERENCE.max(length / 20)
                    && is_near(*apology, simhash(body, path))
            }
            _ => false,
        }
    }

    /// A page was kept: the address to probe its host with, when it is time for that.
    pub(crate) fn probe(&mut self, host: &str, url: &Url) -> Option<Url> {
        if self.hosts.len() >= MAX_HOSTS {
            self.hosts.clear();
        }
        if !self.hosts.contains_key(host) {
            self.hosts.insert(host.to_owned(), Manners::Unknown(0));
        }
        let manners = self.hosts.get_mut(host)?;
        let Manners::Unknown(n_pages) = manners else { return None };
        *n_pages += 1;
        if *n_pages < PROBE_AFTER {
            return None;
        }
        *manners = Manners::Asked;
        let random = std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), host);
        url.join(&format!("/pith-probe-{random:016x}.html")).ok()
    }

    /// The answer to a probe: a body when the host pretends that there is such a page.
    pub(crate) fn answered(&mut self, host: &str, path: &str, body: Option<&[u8]>) {
        let apology = |body: &[u8]| Manners::Apologises(simhash(body, path), body.len());
        let manners = body.map_or(Manners::Honest, apology);
        self.hosts.insert(host.to_owned(), manners);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_probed_once_and_its_apology_known() {
        let url: Url = "http://a.test/x/y".parse().unwrap();
        let mut soft = SoftNotFound::default();
        let probes: Vec<Option<Url>> = (0..10).map(|_| soft.probe("a.test", &url)).collect();
        assert_eq!(probes.iter().flatten().count(), 1);
        assert_eq!(probes.iter().flatten().next().unwrap().host_str(), Some("a.test"));
        let apology = |path: &str| format!("<h1>Sorry</h1> <p>{} is not here. {}</p>", path, "Go home. ".repeat(60));
        soft.answered("a.test", "/pith-probe", Some(apology("/pith-probe").as_bytes()));
        let body = apology("/some/page");
        assert!(soft.is_apology("a.test", "/some/page", body.as_bytes()));
        let page = b"<p>A page about something that is there, in its own words.</p>";
        assert!(!soft.is_apology("a.test", "/some/page", page));
        assert!(!soft.is_apology("b.test", "/some/page", body.as_bytes()));
    }
}
