//! Adopting stored pages: a sink holds pages whose URLs the frontier has not settled, because the process was killed
//! between the two, because the frontier lost the end of its journal, or because it is rebuilt from the pages.
//!
//! Such a page goes the way of a page that was just fetched: its links are offered and its URL is settled. So nothing
//! that a sink holds is ever dropped or asked for again.

use std::collections::HashSet;

use futures_util::FutureExt;

use crate::error::Error;
use crate::fetch::{charset, declared_type};
use crate::frontier::{FetchRecord, Lease, LocalFrontier, Settled, Settlement, StoredLease};
use crate::links::LinkScanner;
use crate::media_type::sniff;
use crate::outcome::Outcome;
use crate::page::Page;
use crate::plan::Plan;
use crate::process::{Processed, Processor, is_html};
use crate::robots_cache::origin;
use crate::validators::Validators;

/// Pages that are settled together.
const BATCH_PAGES: usize = 256;

/// A page that a sink holds.
#[derive(Clone, Debug)]
pub struct StoredPage {
    /// The page as the sink got it; only URL, head, body and time of the request are read.
    pub page: Page,
    /// What the sink holds of its body.
    pub body: StoredBody,
    /// The sink position behind it.
    pub sink_position: Vec<u8>,
}

/// What a sink holds of the body of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoredBody {
    /// All that was stored.
    Here,
    /// Nothing: it repeats a body that was stored before.
    Repeat,
    /// Nothing: the server said that the page has not changed.
    NotModified,
}

/// Makes stored pages known to a frontier, in the order in which they were stored: seeds are offered first, then the
/// links of each page within the scope of the plan, and the URL of each page is settled. Gives how many there were.
/// When it is interrupted, the pages behind the frontier's sink position are left.
///
/// # Errors
/// When the frontier cannot be written, or a page cannot be read.
pub fn adopt(
    plan: &Plan,
    frontier: &LocalFrontier,
    pages: impl IntoIterator<Item = std::io::Result<StoredPage>>,
) -> Result<u64, Error> {
    let mut pages = pages.into_iter().peekable();
    if pages.peek().is_none() {
        return Ok(0);
    }
    let mut adoption =
        Adoption { processor: at_once(Processor::new(plan, frontier))?, frontier, origins: HashSet::new() };
    at_once(adoption.processor.offer_seeds())?;
    let (mut n_pages, mut settled) = (0, Vec::new());
    let mut sink_position = Vec::new();
    for stored in pages {
        let stored = stored.map_err(Error::Sink)?;
        // A copy that was stored later is a refresh, which needs the first one to be settled.
        if settled.iter().any(|settlement: &Settlement| settlement.lease.link.url == stored.page.url) {
            frontier.settle(&std::mem::take(&mut settled), &sink_position)?;
        }
        settled.push(adoption.adopt(&stored)?);
        n_pages += 1;
        sink_position = stored.sink_position;
        if settled.len() >= BATCH_PAGES {
            frontier.settle(&std::mem::take(&mut settled), &sink_position)?;
        }
    }
    frontier.settle(&settled, &sink_position)?;
    frontier.finish_adoption()?;
    Ok(n_pages)
}

/// Reads the links of stored pages again, for a plan that wants more than when they were fetched: another scope, more
/// clicks. What is new is offered; nothing is settled. URLs that redirected out of the scope are put back: where they led
/// is kept nowhere. Gives how many pages had links to read.
///
/// # Errors
/// When the frontier cannot be written, or a page cannot be read.
pub fn offer_links_again(
    plan: &Plan,
    frontier: &LocalFrontier,
    pages: impl IntoIterator<Item = std::io::Result<StoredPage>>,
) -> Result<u64, Error> {
    let processor = at_once(Processor::new(plan, frontier))?;
    let mut n_pages = 0;
    for stored in pages {
        let StoredPage { page, body, .. } = stored.map_err(Error::Sink)?;
        if body != StoredBody::Here || !is_html(&media_type(&page)) {
            continue;
        }
        let Some(link) = frontier.known_link(&page.url)? else { continue };
        at_once(processor.offer_links_again(&link, &page, scan_links(&processor, &page)))?;
        n_pages += 1;
    }
    frontier.put_back(Outcome::OutOfScope)?;
    frontier.finish_adoption()?;
    Ok(n_pages)
}

fn scan_links(processor: &Processor<'_, LocalFrontier>, page: &Page) -> LinkScanner {
    let mut scanner = LinkScanner::new(charset(&page.headers).as_deref(), processor.product(), processor.anchors());
    scanner.feed(&page.body);
    scanner
}

struct Adoption<'c> {
    processor: Processor<'c, LocalFrontier>,
    frontier: &'c LocalFrontier,
    /// Origins whose sitemaps were offered.
    origins: HashSet<String>,
}

impl Adoption<'_> {
    fn adopt(&mut self, stored: &StoredPage) -> Result<Settlement, Error> {
        let page = &stored.page;
        let StoredLease { mut lease, is_new, is_refresh } = self.frontier.lease_stored(&page.url, page.fetched_at)?;
        if is_new {
            // No stored page links to it: a seed, or what a seed was redirected to, or what a sitemap lists.
            at_once(self.processor.extend_scope(&page.url))?;
        }
        if self.origins.insert(origin(&page.url)) {
            at_once(self.processor.offer_known_sitemaps(&page.url))?;
        }
        let outcome = match stored.body {
            StoredBody::Here => return self.process(lease, page),
            StoredBody::NotModified => Outcome::NotModified,
            StoredBody::Repeat if is_refresh => Outcome::NotModified,
            StoredBody::Repeat => Outcome::Duplicate,
        };
        lease.validators = Validators::of(page).map(Box::new);
        let record = FetchRecord { outcome, bytes: 0, milliseconds: 0, digest: 0 };
        Ok(Settlement::new(lease, Settled::Done(record)))
    }

    fn process(&self, lease: Lease, page: &Page) -> Result<Settlement, Error> {
        let mut page = page.clone();
        page.media_type = media_type(&page);
        let scanner = is_html(&page.media_type).then(|| scan_links(&self.processor, &page));
        let mut entries = self.processor.entries_of_page(&lease.link, &page);
        let elapsed = page.elapsed;
        let processed = at_once(self.processor.store(lease, Box::new(page), scanner, elapsed))?;
        if let Some(entries) = entries.as_mut().filter(|_| processed.is_news()) {
            while !entries.read_some() {}
            if let Some(mut listed) = entries.take_listed() {
                while at_once(self.processor.offer_some(&mut listed))? {}
            }
        }
        match processed {
            Processed::Store(settlement, _) | Processed::Settle(settlement) => Ok(settlement),
            Processed::Returned(_) => unreachable!("a page at hand is not given back"),
        }
    }
}

/// The answer of the embedded frontier, which never lets anyone wait.
fn at_once<T>(call: impl Future<Output = T>) -> T {
    call.now_or_never().expect("the embedded frontier answers at once")
}

/// The media type of a body, by its header or by its first bytes, as when it was fetched.
fn media_type(page: &Page) -> String {
    match declared_type(&page.headers) {
        Some(declared) if declared.essence() != "application/octet-stream" => declared.essence().to_owned(),
        _ => sniff(&page.body).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::path::Path;
    use std::time::{Duration, SystemTime};

    use pith_notation::Headers;
    use url::Url;

    use super::*;
    use crate::frontier::{Frontier, HostRest, Kind, LocalOptions, Next};
    use crate::order::{Breadth, Opic, OrderingPolicy};
    use crate::scope::{Reach, Scope};

    /// A small web, and a crawl of it whose sink is a list.
    struct Bench {
        pages: BTreeMap<String, String>,
        plan: Plan,
        order: fn() -> Box<dyn OrderingPolicy>,
    }

    impl Bench {
        fn new(order: fn() -> Box<dyn OrderingPolicy>) -> Bench {
            let url = |page: usize| format!("http://h{}.test/{page}", page % 2);
            let links =
                |page: usize| [2 * page + 1, 2 * page + 2].map(|to| format!("<a href=\"{}\">x</a>", url(to % 7)));
            let pages = (0..7).map(|page| (url(page), format!("<p>page {page}</p>{}", links(page).concat()))).collect();
            let seeds = vec![url(0).parse().unwrap()];
            let scope = Scope::new(Reach::Any, &seeds, vec![], vec![]);
            let mut plan = Plan::new(seeds, scope);
            plan.politeness.sitemaps = false;
            Bench { pages, plan, order }
        }

        fn open(&self, folder: &Path) -> Result<LocalFrontier, Error> {
            LocalFrontier::open(folder, LocalOptions { bloom_bytes: 4096, ..LocalOptions::new((self.order)()) })
        }

        fn page(&self, url: &Url) -> Page {
            let headers = Headers::parse(b"Content-Type: text/html\r\n");
            let body = self.pages[url.as_str()].clone().into_bytes().into();
            Page { headers, body, fetched_at: SystemTime::now(), ..Page::empty(url.clone()) }
        }

        /// Stores up to `n` pages and settles them two at a time; the last ones may stay unsettled, as by a kill.
        fn crawl(&self, frontier: &LocalFrontier, stored: &mut Vec<StoredPage>, n: usize) {
            let processor = at_once(Processor::new(&self.plan, frontier)).unwrap();
            let adoption = Adoption { processor, frontier, origins: HashSet::new() };
            at_once(adoption.processor.offer_seeds()).unwrap();
            let mut unsettled = Vec::new();
            let settle = |unsettled: &mut Vec<_>, stored: &[StoredPage]| {
                let position = stored.last().map_or(Vec::new(), |last| last.sink_position.clone());
                frontier.settle(&std::mem::take(unsettled), &position).unwrap();
            };
            let mut n_stored = 0;
            while n_stored < n {
                let Next::Fetch(lease) = frontier.lease().unwrap() else {
                    if unsettled.is_empty() {
                        assert!(matches!(frontier.lease().unwrap(), Next::Empty));
                        break;
                    }
                    settle(&mut unsettled, stored);
                    continue;
                };
                frontier.rest(&lease, HostRest::AfterResponse(Duration::ZERO)).unwrap();
                if lease.link.kind == Kind::Probe {
                    let record = FetchRecord { outcome: Outcome::Probed, bytes: 0, milliseconds: 0, digest: 0 };
                    unsettled.push(Settlement::new(lease, Settled::Done(record)));
                    continue;
                }
                let page = self.page(&lease.link.url);
                let position = (stored.len() as u32 + 1).to_le_bytes().to_vec();
                unsettled.push(adoption.process(lease, &page).unwrap());
                stored.push(StoredPage { page, body: StoredBody::Here, sink_position: position });
                n_stored += 1;
                if unsettled.len() == 2 {
                    settle(&mut unsettled, stored);
                }
            }
        }

        /// Adopts what the frontier does not know and crawls to the end: every page is stored once.
        #[track_caller]
        fn finish(&self, frontier: &LocalFrontier, mut stored: Vec<StoredPage>, what: &str) {
            let mark = frontier.sink_position().try_into().map_or(0, u32::from_le_bytes) as usize;
            assert!(mark <= stored.len(), "{what}");
            let unknown: Vec<_> = stored[mark..].iter().cloned().map(Ok).collect();
            assert_eq!(adopt(&self.plan, frontier, unknown).unwrap(), (stored.len() - mark) as u64, "{what}");
            self.crawl(frontier, &mut stored, usize::MAX);
            let urls: Vec<&str> = stored.iter().map(|stored| stored.page.url.as_str()).collect();
            assert_eq!(
                urls.iter().collect::<BTreeSet<_>>().len(),
                urls.len(),
                "{what}: one was stored twice: {urls:?}"
            );
            assert_eq!(urls.len(), self.pages.len(), "{what}: lost some: {urls:?}");
            assert_eq!(frontier.totals().of(Outcome::Stored), urls.len() as u64, "{what}");
            assert_eq!(frontier.gauges().pending, 0, "{what}");
        }
    }

    const ORDERS: [fn() -> Box<dyn OrderingPolicy>; 2] = [|| Box::new(Breadth), || Box::new(Opic::default())];

    #[test]
    fn a_kill_after_any_page_loses_none_and_stores_none_twice() {
        for order in ORDERS {
            for n in 0..=7 {
                let bench = Bench::new(order);
                let folder = tempfile::tempdir().unwrap();
                let mut stored = Vec::new();
                bench.crawl(&bench.open(folder.path()).unwrap(), &mut stored, n);
                bench.finish(&bench.open(folder.path()).unwrap(), stored.clone(), &format!("killed after {n}"));
                let empty = tempfile::tempdir().unwrap();
                bench.finish(&bench.open(empty.path()).unwrap(), stored, &format!("rebuilt from {n}"));
            }
        }
    }

    #[test]
    fn a_page_stored_again_is_adopted_as_a_refresh() {
        let bench = Bench::new(ORDERS[0]);
        let folder = tempfile::tempdir().unwrap();
        let mut stored = Vec::new();
        bench.crawl(&bench.open(folder.path()).unwrap(), &mut stored, 7);
        let again = |body| StoredPage { body, ..stored[0].clone() };
        let mut changed = again(StoredBody::Here);
        changed.page.body = b"<p>other</p>".to_vec().into();
        let all = [&stored[..], &[again(StoredBody::NotModified), again(StoredBody::Repeat), changed]].concat();
        let empty = tempfile::tempdir().unwrap();
        let frontier = bench.open(empty.path()).unwrap();
        assert_eq!(adopt(&bench.plan, &frontier, all.into_iter().map(Ok)).unwrap(), 10);
        let totals = frontier.totals();
        assert_eq!((totals.of(Outcome::Stored), totals.of(Outcome::NotModified), totals.settled()), (8, 2, 10));
    }

    /// Opens the crawl with a damaged journal: an error that names it and changes nothing, or nothing lost or twice.
    fn check_damaged(bench: &Bench, folder: &Path, stored: &[StoredPage], bytes: &[u8], what: &str) -> bool {
        std::fs::remove_dir_all(folder).unwrap();
        std::fs::create_dir(folder).unwrap();
        let path = folder.join("journal");
        std::fs::write(&path, bytes).unwrap();
        match bench.open(folder) {
            Ok(frontier) => {
                bench.finish(&frontier, stored.to_vec(), what);
                true
            }
            Err(Error::Damaged { path: named, .. }) => {
                assert_eq!((named, std::fs::read(&path).unwrap()), (path, bytes.to_vec()), "{what}");
                false
            }
            Err(error) => panic!("{what}: {error}"),
        }
    }

    #[test]
    fn any_byte_of_the_journal_flipped_dropped_or_cut_off_loses_no_page() {
        let bench = Bench::new(ORDERS[0]);
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("frontier");
        let mut stored = Vec::new();
        bench.crawl(&bench.open(&folder).unwrap(), &mut stored, 5);
        let journal = std::fs::read(folder.join("journal")).unwrap();
        let (mut n_refused, mut n_opened) = (0, 0);
        for at in 0..journal.len() {
            let flipped = journal.iter().enumerate().map(|(index, byte)| byte ^ u8::from(index == at) << (at % 8));
            let flipped: Vec<u8> = flipped.collect();
            let dropped = [&journal[..at], &journal[at + 1..]].concat();
            let cases = [("flipped", &flipped[..]), ("dropped", &dropped), ("cut", &journal[..at])];
            for (name, bytes) in cases {
                match check_damaged(&bench, &folder, &stored, bytes, &format!("{name} at {at}")) {
                    true => n_opened += 1,
                    false => n_refused += 1,
                }
            }
        }
        println!("{} bytes: {n_refused} refused, {n_opened} opened", journal.len());
        assert!(n_refused > journal.len() / 2 && n_opened > journal.len(), "{n_refused} refused, {n_opened} opened");
    }
}
