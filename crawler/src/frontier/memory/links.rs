//! Links of a frontier in memory: new URLs wait, known ones may be promoted or claimed better.

use hashbrown::HashSet;
use url::Url;

use super::super::claims::Claim as UrlClaim;
use super::super::{Kind, Link, Offered, Outlinks};
use super::state::{Entry, Stage, State};
use crate::order::{FetchedPage, Priority};

/// An end of a queue.
pub(super) enum End {
    Front,
    Back,
}

impl State {
    pub(super) fn offer(&mut self, links: &[Link]) -> Offered {
        self.policy().no_source_page();
        let mut offered = Offered::default();
        for link in links {
            match self.add(link) {
                true => offered.new += 1,
                false => offered.known += 1,
            }
        }
        offered
    }

    /// Adds a link, or takes what it says about a known URL; gives whether the URL is new.
    pub(super) fn add(&mut self, link: &Link) -> bool {
        let Some(&url) = self.by_url.get(&link.url) else {
            let host = self.schedule.number(&link.host());
            let mut score = 0.0;
            let priority = match link.kind {
                Kind::Page => self.options.policy.prioritize(link, &self.schedule.hosts[host].counts(), &mut score),
                Kind::Sitemap | Kind::Probe => Priority::FIRST,
            };
            let url = self.urls.len();
            let claim = UrlClaim::first(link, 0, self.options.tracks_depth);
            let (link, stage, late_claim) = (link.clone(), Stage::Done, None);
            self.by_url.insert(link.url.clone(), url);
            self.urls.push(Entry { link, host, claim, late_claim, score, priority, attempts: 0, stage, content: 0 });
            self.queue(url, priority, End::Back);
            return true;
        };
        self.improve(url, link);
        if self.options.policy.keeps_scores() {
            let counts = self.schedule.hosts[self.urls[url].host].counts();
            let entry = &mut self.urls[url];
            let priority = self.options.policy.reprioritize(link, &counts, &mut entry.score);
            if priority < entry.priority && matches!(entry.stage, Stage::Waiting(_)) {
                self.queue(url, priority, End::Back);
            }
        }
        false
    }

    /// Lets a URL wait, at the front or at the back of its priority.
    pub(super) fn queue(&mut self, url: usize, priority: Priority, end: End) {
        self.unqueue(url);
        let place = match end {
            End::Front => {
                self.places.0 -= 1;
                self.places.0
            }
            End::Back => {
                self.places.1 += 1;
                self.places.1
            }
        };
        let entry = &mut self.urls[url];
        (entry.priority, entry.stage) = (priority, Stage::Waiting(place));
        self.schedule.hosts[entry.host].queue.insert((priority, place, url as u32));
        self.schedule.update(entry.host, &*self.options.policy);
    }

    fn unqueue(&mut self, url: usize) {
        let entry = &self.urls[url];
        if let Stage::Waiting(place) = entry.stage {
            self.schedule.hosts[entry.host].queue.remove(&(entry.priority, place, url as u32));
        }
    }

    /// A known URL was found again: this claim about it may be better.
    pub(super) fn improve(&mut self, url: usize, link: &Link) {
        let entry = &mut self.urls[url];
        let Some(claim) = entry.claim else { return };
        let Some(better) = claim.improved_by(link, self.options.tracks_depth) else { return };
        let is_revival = entry.stage == Stage::Done;
        if is_revival && !claim.may_revive() {
            return;
        }
        if entry.stage == Stage::Leased {
            entry.late_claim = Some(better);
            return;
        }
        let priority = match (better.kind, claim.kind) {
            (Kind::Sitemap | Kind::Probe, _) => Priority::FIRST,
            (Kind::Page, Kind::Page) => entry.priority,
            (Kind::Page, _) => {
                self.options.policy.no_source_page();
                self.options.policy.prioritize(&better, &self.schedule.hosts[entry.host].counts(), &mut entry.score)
            }
        };
        entry.claim = Some(UrlClaim::better(Some(claim), &better, 0, is_revival));
        entry.link = better;
        let end = if priority == Priority::FIRST { End::Front } else { End::Back };
        self.queue(url, priority, end);
    }

    pub(super) fn expedite(&mut self, links: &[Link]) {
        for link in links {
            match self.by_url.get(&link.url).copied() {
                None => drop(self.offer(std::slice::from_ref(link))),
                Some(url) if matches!(self.urls[url].stage, Stage::Waiting(_)) => {
                    self.queue(url, Priority::FIRST, End::Front);
                }
                Some(_) => {}
            }
        }
    }

    /// Adds the links of a page and tells the policy of the page.
    pub(super) fn offer_outlinks(&mut self, url: usize, from: &Link, found: &Outlinks) {
        let mut distinct: HashSet<&Url> = found.links.iter().map(|link| &link.url).collect();
        distinct.remove(&from.url);
        let counts = self.schedule.hosts[self.urls[url].host].counts();
        let page = FetchedPage { link: from, n_links: distinct.len(), body: &found.text };
        let score = &mut self.urls[url].score;
        match found.is_redirect {
            true => self.options.policy.redirected(from, &counts, score),
            false => self.options.policy.page_fetched(&page, &counts, score),
        }
        for link in &found.links {
            if distinct.remove(&link.url) {
                self.add(link);
            }
        }
        if self.options.policy.reranks() {
            self.rerank();
        }
    }

    /// Promotes every waiting URL to which the policy would give a smaller priority now.
    fn rerank(&mut self) {
        for url in 0..self.urls.len() {
            let entry = &self.urls[url];
            if entry.link.kind != Kind::Page || !matches!(entry.stage, Stage::Waiting(_)) {
                continue;
            }
            let priority = self.options.policy.review(&entry.link, &self.schedule.hosts[entry.host].counts());
            if priority < entry.priority {
                self.queue(url, priority, End::Back);
            }
        }
    }

    pub(super) fn apply_late_claim(&mut self, url: usize) {
        if let Some(link) = self.urls[url].late_claim.take() {
            self.improve(url, &link);
        }
    }
}
