//! How good an order is: PageRank gathered by the time a part of the pages is fetched.

use std::collections::BinaryHeap;

use super::graph::Graph;

/// PageRank (0.85) of the pages that can be reached, over the links among them; it sums to 1.
pub fn page_rank(graph: &Graph, reached: &[bool]) -> Vec<f64> {
    const DAMPING: f64 = 0.85;
    let pages: Vec<u32> = (0..graph.n_pages() as u32).filter(|page| reached[*page as usize]).collect();
    let n = pages.len().max(1) as f64;
    let mut ranks = vec![0.0; graph.n_pages()];
    pages.iter().for_each(|page| ranks[*page as usize] = 1.0 / n);
    for _ in 0..100 {
        let dangling: f64 =
            pages.iter().filter(|page| graph.targets(**page).is_empty()).map(|page| ranks[*page as usize]).sum();
        let base = (1.0 - DAMPING + DAMPING * dangling) / n;
        let mut next = vec![0.0; graph.n_pages()];
        pages.iter().for_each(|page| next[*page as usize] = base);
        for &page in &pages {
            let targets = graph.targets(page);
            let share = DAMPING * ranks[page as usize] / targets.len().max(1) as f64;
            targets.iter().for_each(|target| next[*target as usize] += share);
        }
        let change: f64 = pages.iter().map(|page| (next[*page as usize] - ranks[*page as usize]).abs()).sum();
        ranks = next;
        if change < 1e-9 {
            break;
        }
    }
    ranks
}

/// The share gathered after each part of a crawl.
#[derive(Clone, Debug)]
pub struct Curve {
    /// At 0 %, 0.5 %, 1 %, … 100 % of the pages.
    pub points: Vec<f64>,
    /// The mean over the whole crawl.
    pub area: f64,
}

/// Points of a curve, one for each half per cent and one for the start.
const POINTS: usize = 201;

impl Curve {
    /// What an order gathers of an importance that sums to 1 over the `n_pages` that can be reached. Pages that were never
    /// fetched gather nothing.
    pub fn of(order: &[u32], importance: &[f64], n_pages: usize) -> Curve {
        let mut sums = Vec::with_capacity(n_pages + 1);
        let mut sum = 0.0;
        sums.push(0.0);
        for index in 0..n_pages {
            sum += order.get(index).map_or(0.0, |page| importance[*page as usize]);
            sums.push(sum);
        }
        let area = sums[1..].iter().sum::<f64>() / n_pages.max(1) as f64;
        let points = (0..POINTS).map(|point| sums[point * n_pages / (POINTS - 1)]).collect();
        Curve { points, area }
    }

    /// What was gathered after this part of the pages, in per cent.
    pub fn at(&self, per_cent: usize) -> f64 {
        self.points[(per_cent * 2).min(POINTS - 1)]
    }
}

/// The mean of curves.
pub fn mean(curves: &[Curve]) -> Curve {
    let n = curves.len().max(1) as f64;
    let points = (0..POINTS).map(|point| curves.iter().map(|curve| curve.points[point]).sum::<f64>() / n).collect();
    Curve { points, area: curves.iter().map(|curve| curve.area).sum::<f64>() / n }
}

/// The true bound: all pages by importance, as if each could be fetched without a link to it.
pub fn oracle(reached: &[bool], importance: &[f64]) -> Vec<u32> {
    let mut pages: Vec<u32> = (0..reached.len() as u32).filter(|page| reached[*page as usize]).collect();
    pages.sort_by(|a, b| importance[*b as usize].total_cmp(&importance[*a as usize]));
    pages
}

/// The order of one who knows every page's importance and takes the best page discovered so far. It is no bound: a poor
/// page may lead to many good ones.
pub fn greedy(graph: &Graph, seeds: &[u32], importance: &[f64]) -> Vec<u32> {
    // Floats of one sign compare like their bits.
    let key = |page: u32| (importance[page as usize].to_bits(), std::cmp::Reverse(page));
    let mut known = vec![false; graph.n_pages()];
    let mut waiting = BinaryHeap::new();
    let mut order = Vec::new();
    let mut discover = |page: u32, waiting: &mut BinaryHeap<_>| {
        if !std::mem::replace(&mut known[page as usize], true) {
            waiting.push(key(page));
        }
    };
    seeds.iter().for_each(|seed| discover(*seed, &mut waiting));
    while let Some((_, std::cmp::Reverse(page))) = waiting.pop() {
        order.push(page);
        graph.targets(page).iter().for_each(|target| discover(*target, &mut waiting));
    }
    order
}
