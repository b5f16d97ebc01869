//! Soft-404 detection: hosts that answer missing pages with status 200.
//!
//! After a few pages of a host a random URL that cannot exist is requested (a probe). If the host answers with status
//! 200, the body is its soft-404 template, and pages of that host that are near-duplicates of it are not stored.

use std::collections::HashMap;

use url::Url;

use crate::simhash::{is_near, simhash};

/// Pages of a host after which it is probed.
const PROBE_AFTER: u32 = 3;
/// The largest number of hosts; at more, all entries are dropped and learned again.
const MAX_HOSTS: usize = 100_000;

/// Bytes by which two soft-404 pages of a host may differ: most contain the requested URL.
const MAX_DIFFERENCE: usize = 256;

/// What is known about the soft-404 behaviour of a host.
enum Soft404 {
    /// Not probed yet; the number of its pages so far.
    Unprobed(u32),
    /// The probe was offered to the frontier and has no response yet.
    ProbePending,
    /// It answers missing pages with an error status.
    Absent,
    /// The simhash and the length of the page that it sends for missing pages.
    Template(u64, usize),
}

/// The soft-404 state of the hosts of a crawl.
#[derive(Default)]
pub(crate) struct Soft404Detector {
    hosts: HashMap<String, Soft404>,
}

impl Soft404Detector {
    /// Whether a page matches the soft-404 template of its host.
    pub(crate) fn is_soft404(&self, host: &str, path: &str, body: &[u8]) -> bool {
        match self.hosts.get(host) {
            // Pages of one site share many words, so the length must match too.
            Some(Soft404::Template(template, length)) => {
                body.len().abs_diff(*length) <= MAX_DIFFERENCE.max(length / 20)
                    && is_near(*template, simhash(body, path))
            }
            _ => false,
        }
    }

    /// Counts a stored page of a host; gives the probe URL when the host is to be probed, once per host.
    pub(crate) fn probe(&mut self, host: &str, url: &Url) -> Option<Url> {
        if self.hosts.len() >= MAX_HOSTS {
            self.hosts.clear();
        }
        if !self.hosts.contains_key(host) {
            self.hosts.insert(host.to_owned(), Soft404::Unprobed(0));
        }
        let state = self.hosts.get_mut(host)?;
        let Soft404::Unprobed(n_pages) = state else { return None };
        *n_pages += 1;
        if *n_pages < PROBE_AFTER {
            return None;
        }
        *state = Soft404::ProbePending;
        let random = std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), host);
        url.join(&format!("/pith-probe-{random:016x}.html")).ok()
    }

    /// Records the response to a probe; `body` is given when its status was 200.
    pub(crate) fn record_probe(&mut self, host: &str, path: &str, body: Option<&[u8]>) {
        let template = |body: &[u8]| Soft404::Template(simhash(body, path), body.len());
        let state = body.map_or(Soft404::Absent, template);
        self.hosts.insert(host.to_owned(), state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_probed_once_and_its_soft_404_template_known() {
        let url: Url = "http://a.test/x/y".parse().unwrap();
        let mut soft = Soft404Detector::default();
        let probes: Vec<Option<Url>> = (0..10).map(|_| soft.probe("a.test", &url)).collect();
        assert_eq!(probes.iter().flatten().count(), 1);
        assert_eq!(probes.iter().flatten().next().unwrap().host_str(), Some("a.test"));
        let template = |path: &str| format!("<h1>Sorry</h1> <p>{} is not here. {}</p>", path, "Go home. ".repeat(60));
        soft.record_probe("a.test", "/pith-probe", Some(template("/pith-probe").as_bytes()));
        let body = template("/some/page");
        assert!(soft.is_soft404("a.test", "/some/page", body.as_bytes()));
        let page = b"<p>A page about something that is there, in its own words.</p>";
        assert!(!soft.is_soft404("a.test", "/some/page", page));
        assert!(!soft.is_soft404("b.test", "/some/page", body.as_bytes()));
    }
}
