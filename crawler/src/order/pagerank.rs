//! PageRank over the part of the web that is known so far, recomputed at intervals.

use std::collections::HashMap;

use xxhash_rust::xxh3::xxh3_64;

use super::{FetchedPage, HostCounts, OrderingPolicy, Priority};
use crate::frontier::Link;

const DAMPING: f32 = 0.85;
/// Ranks are recomputed when the number of fetched pages has grown by this factor.
const GROWTH: f32 = 1.05;
/// Iterations per computation. They start from the previous ranks, so few are needed.
const ROUNDS: usize = 8;
/// Priority steps per doubling of the rank.
const STEPS_PER_DOUBLING: f32 = 4.0;

/// The best-known order and the most expensive one: it keeps every link in memory (8 bytes each) and prioritizes every
/// waiting link again after each computation. Between two computations a page's rank is what its known parents pass on
/// to it. The graph is not saved: after a restart it starts empty.
#[derive(Default)]
pub struct PageRank {
    numbers: HashMap<u64, u32>,
    /// Sums to the number of pages, so that 1 is an ordinary page however many there are.
    ranks: Vec<f32>,
    n_links: Vec<u32>,
    edges: Vec<(u32, u32)>,
    /// The page whose links are being prioritized; none for seeds and sitemap entries.
    page: Option<u32>,
    share: f32,
    n_fetched: u32,
    next_computation: u32,
    is_new: bool,
}

impl PageRank {
    fn number(&mut self, link: &Link) -> u32 {
        let next = self.ranks.len() as u32;
        let number = *self.numbers.entry(xxh3_64(link.url.as_str().as_bytes())).or_insert(next);
        if number == next {
            self.ranks.push(1.0 - DAMPING);
            self.n_links.push(0);
        }
        number
    }

    fn receive(&mut self, link: &Link) -> Priority {
        let to = self.number(link);
        if let Some(page) = self.page {
            self.edges.push((page, to));
            self.ranks[to as usize] += self.share;
        }
        priority_of(self.ranks[to as usize])
    }

    fn compute(&mut self) {
        for _ in 0..ROUNDS {
            let mut next = vec![1.0 - DAMPING; self.ranks.len()];
            for &(from, to) in &self.edges {
                let links = self.n_links[from as usize].max(1) as f32;
                next[to as usize] += DAMPING * self.ranks[from as usize] / links;
            }
            self.ranks = next;
        }
    }
}

impl OrderingPolicy for PageRank {
    fn name(&self) -> &'static str {
        "pagerank"
    }

    fn keeps_scores(&self) -> bool {
        true
    }

    fn prioritize(&mut self, link: &Link, _host: &HostCounts, _score: &mut f32) -> Priority {
        self.receive(link)
    }

    fn reprioritize(&mut self, link: &Link, _host: &HostCounts, _score: &mut f32) -> Priority {
        self.receive(link)
    }

    fn page_fetched(&mut self, page: &FetchedPage<'_>, _host: &HostCounts, _score: &mut f32) {
        let number = self.number(page.link);
        self.page = Some(number);
        self.n_links[number as usize] = page.n_links as u32;
        self.n_fetched += 1;
        if self.n_fetched >= self.next_computation {
            self.compute();
            self.is_new = true;
            self.next_computation = (self.n_fetched as f32 * GROWTH) as u32 + 100;
        }
        self.share = DAMPING * self.ranks[number as usize] / page.n_links.max(1) as f32;
    }

    /// A redirect is a page with one link.
    fn redirected(&mut self, link: &Link, _host: &HostCounts, _score: &mut f32) {
        let number = self.number(link);
        self.page = Some(number);
        self.n_links[number as usize] = 1;
        self.share = DAMPING * self.ranks[number as usize];
    }

    fn no_source_page(&mut self) {
        self.page = None;
    }

    fn reranks(&mut self) -> bool {
        std::mem::take(&mut self.is_new)
    }

    fn host_priority(&self, host: &HostCounts) -> u64 {
        // A host counts for less the more of it was fetched, by the square root, as in `opic`.
        let damping = 0.5 * STEPS_PER_DOUBLING * (1.0 + host.fetched as f32).log2();
        let damped = (f32::from(host.best.0) + damping) * 64.0;
        (damped as u64) << 32 | (u64::from(u32::MAX) - host.pending.min(u64::from(u32::MAX)))
    }

    fn reviews(&self) -> bool {
        true
    }

    /// The priority by the current rank: a link that was overtaken is queued again with it.
    fn review(&mut self, link: &Link, _host: &HostCounts) -> Priority {
        let number = self.number(link);
        priority_of(self.ranks[number as usize])
    }
}

fn priority_of(rank: f32) -> Priority {
    let steps = ((rank / (1.0 - DAMPING)).log2() * STEPS_PER_DOUBLING).clamp(0.0, 254.0);
    Priority(254 - steps as u8)
}
