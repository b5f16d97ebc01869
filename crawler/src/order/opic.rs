//! OPIC: every page passes the importance it was given on to the pages it links to.

use super::{HostCounts, HostOrder, OrderingPolicy, Priority, ScoreOrder, SharedOrder};
use crate::frontier::Link;
use crate::order::FetchedPage;

/// Priority steps per halving of the cash. Six steps gather at most 0.2 % more PageRank on eight graphs, and move links
/// half as often again; each priority that a host has in use takes memory.
const STEPS_PER_HALVING: f32 = 2.0;

/// The cash that a page receives when it is fetched, as a fraction of the mean cash of fetched pages. It corresponds to
/// the random jump of PageRank: without it cash drains into pages that were fetched before, and links found late cannot
/// be told apart. Over nine graphs the area under the curve changes little from 0.3 on; at 0.6 it is largest on seven.
const INCOME: f64 = 0.6;

/// On-line page importance (Abiteboul, Preda and Cobena, 2003): a seed begins with cash 1; a page that is fetched
/// divides its cash, and a small income, among its links; the link with most cash goes first. A host's cash counts for
/// less the more of its pages were fetched, by the square root, so that no single site or link farm can dominate the
/// crawl.
///
/// It needs one number per URL and no matrix of links.
#[derive(Default)]
pub struct Opic {
    share: f32,
    /// The cash of all pages when they were fetched, and how many they were: for the mean.
    fetched_cash: f64,
    n_fetched: f64,
    /// Links of all pages that were fetched.
    n_links: f64,
}

impl Opic {
    fn income(&self) -> f64 {
        INCOME * self.fetched_cash / self.n_fetched.max(1.0)
    }
}

impl OrderingPolicy for Opic {
    fn name(&self) -> &'static str {
        "opic"
    }

    fn shared(&self) -> Option<SharedOrder> {
        Some(SharedOrder {
            hosts: HostOrder::Damped(STEPS_PER_HALVING),
            scores: ScoreOrder::Halvings(STEPS_PER_HALVING),
        })
    }

    fn keeps_scores(&self) -> bool {
        true
    }

    fn prioritize(&mut self, link: &Link, _host: &HostCounts, score: &mut f32) -> Priority {
        *score = if link.depth == 0 { 1.0 } else { self.share };
        priority_of(*score)
    }

    fn reprioritize(&mut self, _link: &Link, _host: &HostCounts, score: &mut f32) -> Priority {
        *score += self.share;
        priority_of(*score)
    }

    fn page_fetched(&mut self, page: &FetchedPage<'_>, _host: &HostCounts, score: &mut f32) {
        self.fetched_cash += f64::from(*score);
        self.n_fetched += 1.0;
        self.n_links += page.n_links as f64;
        self.share = (f64::from(*score) + self.income()) as f32 / page.n_links.max(1) as f32;
        *score = 0.0;
    }

    fn redirected(&mut self, _link: &Link, _host: &HostCounts, score: &mut f32) {
        self.share = std::mem::take(score);
    }

    /// A sitemap entry gets as much as a link on an average page that has no inlinks.
    fn no_source_page(&mut self) {
        self.share = (self.income() / (self.n_links / self.n_fetched.max(1.0)).max(1.0)) as f32;
    }

    fn host_priority(&self, host: &HostCounts) -> u64 {
        // Priorities are logarithms of cash: dividing cash by √(1 + pages) adds half of log2(1 + pages) halvings.
        let damping = 0.5 * STEPS_PER_HALVING * (1.0 + host.fetched as f32).log2();
        let damped = (f32::from(host.best.0) + damping) * 64.0;
        (damped as u64) << 32 | (u64::from(u32::MAX) - host.pending.min(u64::from(u32::MAX)))
    }

    fn state(&self) -> Vec<u8> {
        [self.fetched_cash, self.n_fetched, self.n_links].iter().flat_map(|number| number.to_le_bytes()).collect()
    }

    fn resume(&mut self, state: &[u8]) {
        let mut numbers = state.chunks_exact(8).map(|bytes| f64::from_le_bytes(bytes.try_into().expect("eight bytes")));
        if let (Some(cash), Some(fetched), Some(links)) = (numbers.next(), numbers.next(), numbers.next()) {
            (self.fetched_cash, self.n_fetched, self.n_links) = (cash, fetched, links);
        }
    }
}

fn priority_of(cash: f32) -> Priority {
    // No cash gives an infinite logarithm, which the cast saturates to the last priority.
    Priority::saturating((-cash.log2() * STEPS_PER_HALVING).max(0.0) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOST: HostCounts = HostCounts { pending: 1, fetched: 0, best: Priority::FIRST };

    #[test]
    fn cash_flows_from_a_page_to_its_links() {
        let mut opic = Opic::default();
        let seed = Link::seed("http://x.org/".parse().unwrap());
        let page = Link::page("http://x.org/a".parse().unwrap(), 1);
        let (mut of_seed, mut of_page) = (0.0, 0.0);
        assert_eq!(opic.prioritize(&seed, &HOST, &mut of_seed), Priority::FIRST);
        opic.page_fetched(&FetchedPage { link: &seed, n_links: 4, body: b"" }, &HOST, &mut of_seed);
        let first = opic.prioritize(&page, &HOST, &mut of_page);
        let again = opic.reprioritize(&page, &HOST, &mut of_page);
        assert_eq!((of_seed, of_page), (0.0, 0.5 * 1.6));
        assert!(again < first, "more cash, earlier priority");
        assert_eq!(priority_of(0.0), Priority::LAST);
    }

    #[test]
    fn a_redirect_passes_all_of_its_cash_on() {
        let mut opic = Opic::default();
        let link = Link::page("http://x.org/old".parse().unwrap(), 1);
        let target = Link { hops: 1, ..Link::page("http://x.org/new".parse().unwrap(), 1) };
        let (mut of_link, mut of_target) = (0.25, 0.0);
        opic.redirected(&link, &HOST, &mut of_link);
        opic.prioritize(&target, &HOST, &mut of_target);
        assert_eq!((of_link, of_target), (0.0, 0.25));
    }

    #[test]
    fn a_listed_page_gets_a_little_and_a_restart_changes_nothing() {
        let mut opic = Opic::default();
        let seed = Link::seed("http://x.org/".parse().unwrap());
        let listed = Link::page("http://x.org/b".parse().unwrap(), 1);
        opic.page_fetched(&FetchedPage { link: &seed, n_links: 3, body: b"" }, &HOST, &mut 1.0);
        let mut again = Opic::default();
        again.resume(&opic.state());
        for policy in [&mut opic, &mut again] {
            let mut score = 0.0;
            policy.no_source_page();
            policy.prioritize(&listed, &HOST, &mut score);
            assert!((score - 0.2).abs() < 1e-6, "{score}");
        }
    }

    #[test]
    fn a_host_that_was_much_visited_stands_back() {
        let opic = Opic::default();
        let fresh = HostCounts { best: Priority(20), ..HOST };
        let worn = HostCounts { best: Priority(10), fetched: 10_000, ..HOST };
        assert!(opic.host_priority(&fresh) < opic.host_priority(&worn));
    }
}
