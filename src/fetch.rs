//! Pages fetched for the moment: the crawler's own way, robots.txt and rests included, with nothing left on disk.

use std::io;
use std::sync::{Arc, Mutex};

use pith_corpus::warc::{self, PageKind};
use pith_crawler::{
    Breadth, Control, Delay, Follow, MemoryFrontier, MemoryOptions, Network, OwnerPreferences, Page, Plan, Reach,
    Report, Scope, Sink, host_of,
};
use url::Url;

use crate::exit::Failure;

/// How pages are asked for.
pub struct FetchOptions {
    /// Who asks.
    pub identity: pith_crawler::Identity,
    /// How hosts are reached.
    pub network: Network,
    /// Whether robots.txt is obeyed.
    pub robots: bool,
    /// How long an answer may take.
    pub timeout: std::time::Duration,
    /// How often a URL is tried.
    pub attempts: u8,
}

/// Fetches the pages of these URLs, through redirects, in the order of the URLs where they are not redirected.
pub fn fetch(urls: &[Url], options: FetchOptions) -> Result<(Vec<warc::Page>, Report), Failure> {
    let plan = plan(urls, options);
    let frontier = MemoryFrontier::new(MemoryOptions::new(Box::new(Breadth)));
    let pages = Arc::new(Mutex::new(Vec::new()));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let sink = Box::new(Collected(pages.clone()));
    let control = Control::default();
    let report = runtime.block_on(pith_crawler::crawl(&plan, &frontier, sink, Vec::new(), &control));
    runtime.shutdown_background();
    let report = report?;
    let mut pages = std::mem::take(&mut *pages.lock().expect("nothing panics while it holds the pages"));
    pages.sort_by_key(|page| urls.iter().position(|url| *url == page.url).unwrap_or(usize::MAX));
    Ok((pages.into_iter().map(as_record).collect(), report))
}

fn plan(urls: &[Url], options: FetchOptions) -> Plan {
    let mut plan = Plan::new(urls.to_vec(), Scope::new(Reach::Host, urls, Vec::new(), Vec::new()));
    plan.follow = Follow::Redirects;
    plan.politeness.sitemaps = false;
    plan.politeness.robots = options.robots;
    // A page that somebody wants to read is no use that its owner could reserve.
    plan.politeness.preferences = OwnerPreferences::Ignore;
    // A host that is asked for one page needs no rest between its robots.txt and the page.
    let mut hosts: Vec<String> = urls.iter().map(host_of).collect();
    hosts.sort();
    if !hosts.windows(2).any(|pair| pair[0] == pair[1]) {
        plan.politeness.delay = Delay::Fixed(std::time::Duration::ZERO);
    }
    plan.identity = options.identity;
    plan.network = options.network;
    plan.attempts = options.attempts;
    plan.response_limits.max_time = options.timeout;
    plan.slots = 16;
    plan
}

/// A sink that keeps pages in memory.
struct Collected(Arc<Mutex<Vec<Page>>>);

impl Sink for Collected {
    fn put(&mut self, page: &Page) -> io::Result<()> {
        self.0.lock().expect("nothing panics while it holds the pages").push(page.clone());
        Ok(())
    }

    fn commit(&mut self) -> io::Result<Vec<u8>> {
        Ok(Vec::new())
    }

    fn finish(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The page as an archive would give it.
fn as_record(page: Page) -> warc::Page {
    let headers = page.headers.iter().map(|(name, value)| (name.to_owned(), value.to_vec()));
    warc::Page {
        kind: PageKind::Response,
        url: page.url.to_string(),
        fetched_at: page.fetched_at.try_into().ok(),
        status: Some(page.status),
        headers: headers.collect(),
        is_whole: page.truncation.is_none(),
        body: page.body.to_vec(),
        digest: None,
        preferences: None,
        offset: 0,
    }
}
