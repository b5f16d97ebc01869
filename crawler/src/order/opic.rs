//! OPIC: every page passes the importance it was given on to the pages it links to.

use super::{Class, HostCounts, Order};
use crate::frontier::Link;
use crate::order::Visit;

/// Classes that halving the cash is worth. Six of them gather at most 0.2 % more PageRank on eight graphs, and move
/// links half as often again; every class that a host has takes memory.
const CLASSES_PER_HALVING: f32 = 2.0;

/// What a page gets for itself when it is fetched, as a part of the mean cash of fetched pages. It is the share of
/// PageRank that comes from nowhere: without it cash trickles away into pages fetched before, and the late crawl is
/// blind. Over nine graphs the area under the curve changes little from 0.3 on; at 0.6 it is largest on seven.
const INCOME: f64 = 0.6;

/// On-line page importance (Abiteboul, Preda and Cobena, 2003): a seed begins with cash 1; a page that is fetched
/// divides its cash, and a small income, among its links; the link with most cash goes first. A host's cash counts for
/// less the more of its pages were fetched, by the square root, so that no site and no farm of links can keep the
/// crawl to itself.
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

impl Order for Opic {
    fn name(&self) -> &'static str {
        "opic"
    }

    fn keeps_scores(&self) -> bool {
        true
    }

    fn place(&mut self, link: &Link, _host: &HostCounts, score: &mut f32) -> Class {
        *score = if link.depth == 0 { 1.0 } else { self.share };
        class_of(*score)
    }

    fn place_again(&mut self, _link: &Link, _host: &HostCounts, score: &mut f32) -> Class {
        *score += self.share;
        class_of(*score)
    }

    fn visit(&mut self, page: &Visit<'_>, _host: &HostCounts, score: &mut f32) {
        self.fetched_cash += f64::from(*score);
        self.n_fetched += 1.0;
        self.n_links += page.n_links as f64;
        self.share = (f64::from(*score) + self.income()) as f32 / page.n_links.max(1) as f32;
        *score = 0.0;
    }

    fn redirect(&mut self, _link: &Link, _host: &HostCounts, score: &mut f32) {
        self.share = std::mem::take(score);
    }

    /// A listed page counts as if an ordinary page that nobody links to had linked to it.
    fn unlinked(&mut self) {
        self.share = (self.income() / (self.n_links / self.n_fetched.max(1.0)).max(1.0)) as f32;
    }

    fn precedence(&self, host: &HostCounts) -> u64 {
        // Dividing by √(1 + pages) is half a step of the logarithm that classes are.
        let damping = 0.5 * CLASSES_PER_HALVING * (1.0 + host.fetched as f32).log2();
        let place = (f32::from(host.best.0) + damping) * 64.0;
        (place as u64) << 32 | (u64::from(u32::MAX) - host.pending.min(u64::from(u32::MAX)))
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

fn class_of(cash: f32) -> Class {
    // Casting takes an infinite number, from no cash at all, to the last class.
    Class::saturating((-cash.log2() * CLASSES_PER_HALVING).max(0.0) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOST: HostCounts = HostCounts { pending: 1, fetched: 0, best: Class::FIRST };

    #[test]
    fn cash_flows_from_a_page_to_its_links() {
        let mut opic = Opic::default();
        let seed = Link::seed("http://x.org/".parse().unwrap());
        let page = Link::page("http://x.org/a".parse().unwrap(), 1);
        let (mut of_seed, mut of_page) = (0.0, 0.0);
        assert_eq!(opic.place(&seed, &HOST, &mut of_seed), Class::FIRST);
        opic.visit(&Visit { link: &seed, n_links: 4, body: b"" }, &HOST, &mut of_seed);
        let first = opic.place(&page, &HOST, &mut of_page);
        let again = opic.place_again(&page, &HOST, &mut of_page);
        assert_eq!((of_seed, of_page), (0.0, 0.5 * 1.6));
        assert!(again < first, "more cash, earlier class");
        assert_eq!(class_of(0.0), Class::LAST);
    }

    #[test]
    fn a_redirect_passes_all_of_its_cash_on() {
        let mut opic = Opic::default();
        let link = Link::page("http://x.org/old".parse().unwrap(), 1);
        let target = Link { hops: 1, ..Link::page("http://x.org/new".parse().unwrap(), 1) };
        let (mut of_link, mut of_target) = (0.25, 0.0);
        opic.redirect(&link, &HOST, &mut of_link);
        opic.place(&target, &HOST, &mut of_target);
        assert_eq!((of_link, of_target), (0.0, 0.25));
    }

    #[test]
    fn a_listed_page_gets_a_little_and_a_restart_changes_nothing() {
        let mut opic = Opic::default();
        let seed = Link::seed("http://x.org/".parse().unwrap());
        let listed = Link::page("http://x.org/b".parse().unwrap(), 1);
        opic.visit(&Visit { link: &seed, n_links: 3, body: b"" }, &HOST, &mut 1.0);
        let mut again = Opic::default();
        again.resume(&opic.state());
        for policy in [&mut opic, &mut again] {
            let mut score = 0.0;
            policy.unlinked();
            policy.place(&listed, &HOST, &mut score);
            assert!((score - 0.2).abs() < 1e-6, "{score}");
        }
    }

    #[test]
    fn a_host_that_was_much_visited_stands_back() {
        let opic = Opic::default();
        let fresh = HostCounts { best: Class(20), ..HOST };
        let worn = HostCounts { best: Class(10), fetched: 10_000, ..HOST };
        assert!(opic.precedence(&fresh) < opic.precedence(&worn));
    }
}
