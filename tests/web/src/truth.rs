//! What is true about every page, for the assertions.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::config::Robots;
use crate::prose::{Language, PageType};
use crate::site::{Charset, Copy, Failure, Role, Site};

/// What is true about one page.
#[derive(Clone, Debug)]
pub struct PageTruth {
    /// The same for every URL of the page: `h3/p12`.
    pub id: String,
    /// The one URL that counts.
    pub url: String,
    /// What the page is.
    pub page_type: PageType,
    /// The language of its content.
    pub language: Language,
    /// How it is encoded.
    pub charset: Charset,
    /// Its headline.
    pub title: String,
    /// Who wrote it.
    pub author: String,
    /// The main text and nothing else: blocks separated by blank lines, without the title.
    pub text: String,
    /// The sentences that say what it is about; empty where no such sentences exist.
    pub summary: Vec<String>,
    /// The page whose main text this one repeats to the letter (its id).
    pub duplicate_of: Option<String>,
    /// The page whose main text this one repeats with a few words changed (its id).
    pub near_duplicate_of: Option<String>,
    /// The trap it belongs to, by name.
    pub trap: Option<&'static str>,
    /// Only the sitemap knows it.
    pub orphan: bool,
}

/// What is true about the whole web. Everything is computed when asked for.
#[derive(Clone)]
pub struct Truth {
    site: Arc<Site>,
}

impl Truth {
    pub(crate) fn new(site: Arc<Site>) -> Self {
        Truth { site }
    }

    /// The page behind a URL; a fragment and a session id make no difference. `None` for redirects, errors and what a
    /// trap makes up.
    pub fn page(&self, url: &str) -> Option<PageTruth> {
        let (host, number) = self.find(url)?;
        Some(self.describe(host, number))
    }

    /// Every page of the ordinary hosts, those that only sitemaps know too.
    pub fn pages(&self) -> impl Iterator<Item = PageTruth> + '_ {
        (0..self.site.config.hosts)
            .flat_map(move |host| (0..self.site.n_pages(host)).map(move |number| self.describe(host, number)))
    }

    /// The URLs that links lead to from the given ones: without what robots.txt forbids, what always fails and what
    /// traps make up. A session id or a fragment is not part of these URLs.
    pub fn reachable<S: AsRef<str>>(&self, seeds: &[S]) -> BTreeSet<String> {
        let site = &self.site;
        let mut waiting: Vec<(usize, usize)> = seeds.iter().filter_map(|seed| self.find(seed.as_ref())).collect();
        let mut seen: std::collections::HashSet<(usize, usize)> = waiting.iter().copied().collect();
        let mut urls = BTreeSet::new();
        while let Some((host, number)) = waiting.pop() {
            if !site.robots_allow(host) || site.fails(host, number) == Some(Failure::Always) {
                continue;
            }
            urls.insert(site.url(host, number));
            let targets = site.targets(host, number).into_iter().chain(site.redirect_targets(host, number));
            waiting.extend(targets.filter(|target| seen.insert(*target)));
        }
        urls
    }

    /// The URLs of pages that only sitemaps know.
    pub fn orphans(&self) -> BTreeSet<String> {
        let site = &self.site;
        (0..site.config.hosts)
            .filter(|host| site.robots_allow(*host))
            .flat_map(|host| (site.n_linked(host)..site.n_pages(host)).map(move |number| site.url(host, number)))
            .collect()
    }

    /// The names of the hosts that are traps, with the trap's name.
    pub fn traps(&self) -> Vec<(String, &'static str)> {
        let hosts = self.site.hosts.iter();
        hosts.filter_map(|host| Some((host.authority.clone(), host.role.trap()?))).collect()
    }

    /// How many times per second a page changes.
    pub fn change_rate(&self, url: &str) -> Option<f64> {
        let (host, number) = self.find(url)?;
        Some(self.site.config.changes_per_second * self.site.change_factor(host, number))
    }

    fn find(&self, url: &str) -> Option<(usize, usize)> {
        let rest = url.strip_prefix("http://")?;
        let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        let path = path.split('#').next().unwrap_or("");
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        if !query.is_empty() && !query.starts_with("sid=") {
            return None;
        }
        let host = self.site.find_host(authority)?;
        Some((host, self.site.find_page(host, if path.is_empty() { "/" } else { path })?))
    }

    fn describe(&self, host: usize, number: usize) -> PageTruth {
        let site = &self.site;
        let home = &site.hosts[host];
        let plan = site.plan(host, number);
        let content = site.content(host, number, 0);
        let (source, source_number) = site.source(host, number);
        let id = |number: usize| format!("h{source}/p{number}");
        let copy = |kind| plan.copy_of.filter(|copy| copy.1 == kind).map(|copy| id(copy.0));
        let mirrored = (home.role == Role::Mirror).then(|| id(source_number));
        PageTruth {
            id: format!("h{host}/p{number}"),
            url: site.url(host, number),
            page_type: plan.page_type,
            language: home.language,
            charset: home.charset,
            text: content.text(home.language),
            title: content.title,
            author: content.author.to_owned(),
            summary: content.summary,
            duplicate_of: copy(Copy::Exact).or(mirrored),
            near_duplicate_of: copy(Copy::Near),
            trap: home.role.trap(),
            orphan: number >= site.n_linked(host),
        }
    }
}

impl Site {
    /// Whether robots.txt allows crawling at all: a host whose robots.txt fails with 503 is closed.
    pub(crate) fn robots_allow(&self, host: usize) -> bool {
        !(self.config.robots == Robots::Varied && self.hosts[host].role == Role::Ordinary && host % 10 == 8)
    }
}
