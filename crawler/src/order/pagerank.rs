//! PageRank over the part of the web that is known so far, computed anew every so many pages.

use std::collections::HashMap;

use xxhash_rust::xxh3::xxh3_64;

use super::{Class, HostCounts, Order, Visit};
use crate::frontier::Link;

const DAMPING: f32 = 0.85;
/// Ranks are computed anew when the crawl has grown by this much.
const GROWTH: f32 = 1.05;
/// Rounds from the ranks of the last time: they only have to catch up.
const ROUNDS: usize = 8;
/// Classes that doubling the rank is worth.
const CLASSES_PER_DOUBLING: f32 = 4.0;

/// The best-known order and the most expensive one: it keeps every link in memory (8 bytes each) and places every
/// waiting link anew when ranks were computed. Between two computations a page's rank is what its known parents pass on to it. After a restart it begins to learn anew.
#[derive(Default)]
pub struct PageRank {
    numbers: HashMap<u64, u32>,
    /// Sums to the number of pages, so that 1 is an ordinary page however many there are.
    ranks: Vec<f32>,
    n_links: Vec<u32>,
    edges: Vec<(u32, u32)>,
    /// The page whose links are being placed; seeds and what sitemaps name come from none.
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

    fn receive(&mut self, link: &Link) -> Class {
        let to = self.number(link);
        if let Some(page) = self.page {
            self.edges.push((page, to));
            self.ranks[to as usize] += self.share;
        }
        class_of(self.ranks[to as usize])
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

impl Order for PageRank {
    fn name(&self) -> &'static str {
        "pagerank"
    }

    fn keeps_scores(&self) -> bool {
        true
    }

    fn place(&mut self, link: &Link, _host: &HostCounts, _score: &mut f32) -> Class {
        self.receive(link)
    }

    fn place_again(&mut self, link: &Link, _host: &HostCounts, _score: &mut f32) -> Class {
        self.receive(link)
    }

    fn visit(&mut self, page: &Visit<'_>, _host: &HostCounts, _score: &mut f32) {
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
    fn redirect(&mut self, link: &Link, _host: &HostCounts, _score: &mut f32) {
        let number = self.number(link);
        self.page = Some(number);
        self.n_links[number as usize] = 1;
        self.share = DAMPING * self.ranks[number as usize];
    }

    fn unlinked(&mut self) {
        self.page = None;
    }

    fn reranks(&mut self) -> bool {
        std::mem::take(&mut self.is_new)
    }

    fn precedence(&self, host: &HostCounts) -> u64 {
        // A host counts for less the more of it was fetched, by the square root, as in `opic`.
        let damping = 0.5 * CLASSES_PER_DOUBLING * (1.0 + host.fetched as f32).log2();
        let place = (f32::from(host.best.0) + damping) * 64.0;
        (place as u64) << 32 | (u64::from(u32::MAX) - host.pending.min(u64::from(u32::MAX)))
    }

    fn reviews(&self) -> bool {
        true
    }

    /// A link that was overtaken since it was placed goes back to where it belongs now.
    fn review(&mut self, link: &Link, _host: &HostCounts) -> Class {
        let number = self.number(link);
        class_of(self.ranks[number as usize])
    }
}

fn class_of(rank: f32) -> Class {
    let steps = ((rank / (1.0 - DAMPING)).log2() * CLASSES_PER_DOUBLING).clamp(0.0, 255.0);
    Class(255 - steps as u8)
}
