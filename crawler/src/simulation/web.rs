//! The simulated web: what every page links to and how every request ends, all from the seed.

use std::time::Duration;

use url::Url;

use super::settings::Settings;
use crate::frontier::{Kind, Link};
use crate::order::SplitMix64;

/// How a request ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// A page with this content.
    Page {
        digest: u64,
    },
    NotFound,
    Redirect {
        to: usize,
    },
    /// 503, with or without `Retry-After`.
    Overloaded(Option<Duration>),
    Unreachable,
    /// It was aborted because it took too long.
    Aborted,
    /// It was never sent.
    NotSent,
}

/// A web of a few hosts.
pub(super) struct Web {
    seed: u64,
    n_hosts: usize,
    n_pages: usize,
    has_claims: bool,
}

impl Web {
    pub(super) fn new(settings: &Settings) -> Web {
        let Settings { seed, n_hosts, n_pages, has_claims, .. } = *settings;
        Web { seed, n_hosts, n_pages, has_claims }
    }

    /// The random numbers of one thing.
    fn random(&self, what: u64, index: usize) -> SplitMix64 {
        let mut random = SplitMix64::new(self.seed ^ what.wrapping_mul(0x9E6C_63D0_876A_3F6B) ^ (index as u64) << 32);
        random.below(2);
        random
    }

    /// The first pages are spread over all hosts; most of the others are on the first ones.
    pub(super) fn host(&self, page: usize) -> usize {
        let mut random = self.random(1, page);
        let n = 1 + random.below(self.n_hosts);
        if page < self.n_hosts { page } else { random.below(n) }
    }

    pub(super) fn host_name(host: usize) -> String {
        format!("h{host}.test")
    }

    pub(super) fn url(&self, page: usize) -> Url {
        format!("http://{}/{page}", Web::host_name(self.host(page))).parse().expect("a URL")
    }

    pub(super) fn page(url: &Url) -> usize {
        url.path()[1..].parse().expect("the number of a page")
    }

    pub(super) fn seeds(&self) -> Vec<Link> {
        (0..self.n_hosts.min(3)).map(|page| Link::seed(self.url(page))).collect()
    }

    /// The pages that a page links to: the next ones in a tree, so that all are found, and a few others.
    pub(super) fn targets(&self, page: usize) -> Vec<usize> {
        let mut random = self.random(2, page);
        let mut targets: Vec<usize> = (1..=3).map(|child| 3 * page + child).filter(|to| *to < self.n_pages).collect();
        targets.extend((0..random.below(5)).map(|_| random.below(self.n_pages)));
        targets
    }

    pub(super) fn links(&self, from: &Link) -> Vec<Link> {
        let page = Web::page(&from.url);
        let mut random = self.random(3, page);
        let mut link = |to: usize| {
            let mut link = Link::page(self.url(to), from.depth + 1);
            if self.has_claims {
                link.kind = [Kind::Page, Kind::Page, Kind::Page, Kind::Sitemap, Kind::Probe][random.below(5)];
                link.hops = [0, 0, 0, 5, 9][random.below(5)];
            }
            link
        };
        self.targets(page).into_iter().map(&mut link).collect()
    }

    /// How the request with this number ends, for a page that was tried so often before.
    pub(super) fn answer(&self, page: usize, attempts: u8, request: u64) -> (Answer, Duration) {
        let mut random = self.random(4 + request, page);
        let latency =
            Duration::from_micros([200, 20_000, 300_000, 4_000_000][random.below(4)] + random.below(999) as u64);
        let is_flaky = self.random(5, self.host(page)).below(3) == 0;
        if is_flaky && attempts < 2 && random.below(3) == 0 {
            let asked = [1, 90, 7200][random.below(3)];
            let trouble = [
                Answer::Overloaded(None),
                Answer::Overloaded(Some(Duration::from_secs(asked))),
                Answer::Unreachable,
                Answer::Aborted,
                Answer::NotSent,
            ];
            return (trouble[random.below(trouble.len())], latency);
        }
        (self.own_answer(page), latency)
    }

    fn own_answer(&self, page: usize) -> Answer {
        let mut own = self.random(6, page);
        match own.below(10) {
            0 if page >= self.n_hosts => Answer::NotFound,
            1 if page >= self.n_hosts => Answer::Redirect { to: own.below(self.n_pages) },
            // Some pages of a host are alike.
            2 | 3 => Answer::Page { digest: 1 + own.below(3) as u64 },
            _ => Answer::Page { digest: 1000 + page as u64 },
        }
    }

    pub(super) fn is_redirect(&self, page: usize) -> bool {
        matches!(self.own_answer(page), Answer::Redirect { .. })
    }
}
