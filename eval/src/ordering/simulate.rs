//! A crawl over a stored graph: the frontier's rules without its disk, the crawler's policies as they are.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use pith_crawler::{Explore, FetchedPage, HostCounts, Link, OrderingPolicy, Priority, SplitMix64};

use super::graph::Graph;

/// How hosts are paced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// One page after the other, from any host.
    Free,
    /// So many pages at once, at most one of them from a host.
    Polite {
        /// Pages at once.
        slots: usize,
    },
}

/// What a simulated crawl did.
#[derive(Clone, Debug, Default)]
pub struct Crawl {
    /// The pages in the order in which they were fetched.
    pub order: Vec<u32>,
    /// How many rounds it took: as many as pages when free.
    pub n_rounds: usize,
}

/// As often is a host's next link looked at again before one is fetched; the frontier does the same.
const MAX_REVIEWS: usize = 64;

/// Crawls everything that can be reached from the seeds, in the order of a policy.
pub fn simulate(graph: &Graph, seeds: &[u32], policy: &mut dyn OrderingPolicy, explore: Explore, pace: Pace) -> Crawl {
    let mut frontier = Frontier::new(graph, policy, explore);
    frontier.offer(None, seeds);
    let mut crawl = Crawl::default();
    let slots = match pace {
        Pace::Free => 1,
        Pace::Polite { slots } => slots.max(1),
    };
    loop {
        let round: Vec<(u32, u32)> = std::iter::from_fn(|| frontier.lease()).take(slots).collect();
        if round.is_empty() {
            return crawl;
        }
        crawl.n_rounds += 1;
        for (host, page) in round {
            crawl.order.push(page);
            frontier.offer(Some(page), graph.targets(page));
            frontier.settle(host);
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Idle,
    Ready(u64),
    Busy,
}

struct Host {
    queues: BTreeMap<Priority, VecDeque<u32>>,
    pending: u64,
    fetched: u64,
    state: State,
}

impl Host {
    fn counts(&self) -> HostCounts {
        let best = self.queues.keys().next().copied().unwrap_or(Priority::LAST);
        HostCounts { pending: self.pending, fetched: self.fetched, best }
    }
}

struct Frontier<'g, 'p> {
    graph: &'g Graph,
    policy: &'p mut dyn OrderingPolicy,
    /// Links as the crawl found them: their depth is known only then.
    links: Vec<Link>,
    scores: Vec<f32>,
    classes: Vec<Option<Priority>>,
    done: Vec<bool>,
    /// Pages in the order in which they were found.
    found: Vec<u32>,
    hosts: Vec<Host>,
    /// Hosts are numbered as they are found, as in a crawl: it decides between equals.
    numbers: Vec<Option<u32>>,
    ready: BTreeSet<(u64, u32)>,
    explore: Explore,
    n_handed_out: u64,
}

impl<'g, 'p> Frontier<'g, 'p> {
    fn new(graph: &'g Graph, policy: &'p mut dyn OrderingPolicy, explore: Explore) -> Self {
        let n_pages = graph.n_pages();
        Frontier {
            graph,
            policy,
            links: (0..n_pages as u32).map(|page| graph.link(page).clone()).collect(),
            scores: vec![0.0; n_pages],
            classes: vec![None; n_pages],
            done: vec![false; n_pages],
            found: Vec::new(),
            hosts: Vec::new(),
            numbers: vec![None; graph.n_hosts()],
            ready: BTreeSet::new(),
            explore,
            n_handed_out: 0,
        }
    }

    fn offer(&mut self, from: Option<u32>, targets: &[u32]) {
        if let Some(page) = from {
            let number = self.number(page);
            let counts = self.hosts[number as usize].counts();
            // What is stored of a page's text is the text around its links.
            let mut body = String::new();
            if self.policy.reads_text() {
                let texts = targets.iter().filter_map(|target| self.graph.anchor(page, *target));
                texts.for_each(|(anchor, context)| body.extend([anchor.as_str(), " ", context.as_str(), "\n"]));
            }
            let visit = FetchedPage { link: &self.links[page as usize], n_links: targets.len(), body: body.as_bytes() };
            self.policy.page_fetched(&visit, &counts, &mut self.scores[page as usize]);
        } else {
            self.policy.no_source_page();
        }
        let depth = from.map_or(0, |page| self.links[page as usize].depth + 1);
        for &target in targets {
            let host = self.number(target);
            let counts = self.hosts[host as usize].counts();
            if self.policy.reads_text() {
                let anchor = from.and_then(|from| self.graph.anchor(from, target)).cloned().unwrap_or_default();
                (self.links[target as usize].anchor, self.links[target as usize].context) = anchor;
            }
            let index = target as usize;
            match self.classes[index] {
                None => {
                    self.links[index].depth = depth;
                    self.found.push(target);
                    let class = self.policy.prioritize(&self.links[index], &counts, &mut self.scores[index]);
                    self.queue(host, target, class);
                    self.hosts[host as usize].pending += 1;
                    self.renew(host);
                }
                Some(old) if self.policy.keeps_scores() => {
                    let class = self.policy.reprioritize(&self.links[index], &counts, &mut self.scores[index]);
                    if class < old && !self.done[index] {
                        self.queue(host, target, class);
                        self.renew(host);
                    }
                }
                Some(_) => {}
            }
        }
        if from.is_some() && self.policy.reranks() {
            self.rerank();
        }
    }

    /// Places every waiting page into the queue that the policy chooses now.
    fn rerank(&mut self) {
        for index in 0..self.found.len() {
            let page = self.found[index];
            let index = page as usize;
            let Some(old) = self.classes[index].filter(|_| !self.done[index]) else { continue };
            let host = self.number(page);
            let counts = self.hosts[host as usize].counts();
            let class = self.policy.review(&self.links[index], &counts);
            if class < old {
                self.queue(host, page, class);
                self.renew(host);
            }
        }
    }

    fn number(&mut self, page: u32) -> u32 {
        let hosts = &mut self.hosts;
        *self.numbers[self.graph.host(page) as usize].get_or_insert_with(|| {
            hosts.push(Host { queues: BTreeMap::new(), pending: 0, fetched: 0, state: State::Idle });
            hosts.len() as u32 - 1
        })
    }

    fn queue(&mut self, host: u32, page: u32, class: Priority) {
        self.classes[page as usize] = Some(class);
        self.hosts[host as usize].queues.entry(class).or_default().push_back(page);
    }

    /// Puts a host where it stands now among those that may be asked.
    fn renew(&mut self, number: u32) {
        let host = &mut self.hosts[number as usize];
        if let State::Ready(old) = host.state {
            self.ready.remove(&(old, number));
        } else if host.state == State::Busy {
            return;
        }
        host.state = State::Idle;
        if host.pending > 0 {
            let precedence = self.policy.host_priority(&host.counts());
            host.state = State::Ready(precedence);
            self.ready.insert((precedence, number));
        }
    }

    fn lease(&mut self) -> Option<(u32, u32)> {
        if let Some(mut draw) = self.explore.sample(self.n_handed_out)
            && let Some(page) = self.lease_any(&mut draw)
        {
            return Some(page);
        }
        while let Some((_, number)) = self.ready.pop_first() {
            if let Some(page) = self.lease_from(number) {
                return Some(self.hand_out(number, page));
            }
            self.hosts[number as usize].state = State::Idle;
            self.hosts[number as usize].pending = 0;
        }
        None
    }

    /// The first page of a random class at a random host.
    fn lease_any(&mut self, draw: &mut SplitMix64) -> Option<(u32, u32)> {
        let is_ready =
            |number: &usize| self.hosts.get(*number).is_some_and(|host| matches!(host.state, State::Ready(_)));
        let number = (0..16).map(|_| draw.below(self.hosts.len().max(1))).find(is_ready)?;
        let queues = &mut self.hosts[number].queues;
        let class = *queues.keys().nth(draw.below(queues.len().max(1)))?;
        while let Some(queue) = queues.get_mut(&class) {
            let page = queue.pop_front();
            if queue.is_empty() {
                queues.remove(&class);
            }
            if let Some(page) = page.filter(|page| !self.done[*page as usize]) {
                if let State::Ready(precedence) = self.hosts[number].state {
                    self.ready.remove(&(precedence, number as u32));
                }
                return Some(self.hand_out(number as u32, page));
            }
        }
        None
    }

    /// The host's best page, after the policy has looked at it again.
    fn lease_from(&mut self, number: u32) -> Option<u32> {
        let mut n_reviews = 0;
        while let Some((class, page)) = pop(&mut self.hosts[number as usize].queues) {
            if self.done[page as usize] {
                continue;
            }
            if n_reviews < MAX_REVIEWS && self.policy.reviews() {
                n_reviews += 1;
                let counts = self.hosts[number as usize].counts();
                let now = self.policy.review(&self.links[page as usize], &counts);
                if now > class {
                    self.queue(number, page, now);
                    continue;
                }
            }
            return Some(page);
        }
        None
    }

    fn hand_out(&mut self, number: u32, page: u32) -> (u32, u32) {
        self.n_handed_out += 1;
        self.done[page as usize] = true;
        let host = &mut self.hosts[number as usize];
        host.state = State::Busy;
        host.pending -= 1;
        // The best class of a host is that of a page to be had.
        while let Some(mut first) = host.queues.first_entry() {
            match first.get().front() {
                Some(page) if !self.done[*page as usize] => break,
                _ => drop(first.get_mut().pop_front()),
            }
            if first.get().is_empty() {
                first.remove();
            }
        }
        (number, page)
    }

    fn settle(&mut self, number: u32) {
        let host = &mut self.hosts[number as usize];
        host.fetched += 1;
        host.state = State::Idle;
        self.renew(number);
    }
}

fn pop(queues: &mut BTreeMap<Priority, VecDeque<u32>>) -> Option<(Priority, u32)> {
    let mut first = queues.first_entry()?;
    let class = *first.key();
    let page = first.get_mut().pop_front();
    if first.get().is_empty() {
        first.remove();
    }
    page.map(|page| (class, page))
}

#[cfg(test)]
mod tests {
    use super::*;
    use pith_crawler::{ORDER_NAMES, order_named};
    use url::Url;

    fn graph() -> Graph {
        let urls = (0..60).map(|page| Url::parse(&format!("http://h{}.test/{page}", page % 7)).unwrap());
        let edges = (0..60)
            .flat_map(|page| [(page, (page * 3 + 1) % 60), (page, (page * 7 + 2) % 60), (page, (page + 1) % 60)]);
        Graph::new(urls, edges.collect())
    }

    #[test]
    fn every_policy_fetches_every_page_once() {
        let graph = graph();
        for name in ORDER_NAMES {
            for pace in [Pace::Free, Pace::Polite { slots: 4 }] {
                for explore in [Explore::NOTHING, Explore { share: 0.5, seed: 1 }] {
                    let crawl = simulate(&graph, &[0], &mut *order_named(name).unwrap(), explore, pace);
                    let mut pages = crawl.order.clone();
                    pages.sort_unstable();
                    assert_eq!(pages, (0..60).collect::<Vec<_>>(), "{name}");
                }
            }
        }
    }

    #[test]
    fn a_polite_round_never_has_two_pages_of_a_host() {
        let graph = graph();
        let crawl =
            simulate(&graph, &[0], &mut *order_named("opic").unwrap(), Explore::NOTHING, Pace::Polite { slots: 60 });
        assert!(crawl.n_rounds >= 60 / 7, "seven hosts, one page of each in a round");
    }
}
