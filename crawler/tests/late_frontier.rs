//! A frontier that answers late, out of order, with errors or not at all must not stop a crawl.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use pith_crawler::{
    Breadth, Claim, ContentMatch, Control, Delay, Error, Frontier, FrontierError, Gauges, HostRest, HostTally, Lease,
    LeaseId, Leases, Limit, Link, LocalFrontier, LocalOptions, MemoryFrontier, MemoryOptions, Offered, Page, Plan,
    Reach, Scope, SettledBatch, Settlement, Sink, SplitMix64, Stop, StoredRobots, Totals, WorkerId, crawl, parse_seed,
};
use pith_web::{RunningWeb, Web, WebConfig};
use url::Url;

const HOSTS: usize = 5;
const PAGES_PER_HOST: usize = 12;

/// What a call meets on its way.
enum Fate {
    Late(Duration),
    Refused,
    Lost,
}

/// A frontier behind a bad line.
struct Unreliable<F> {
    frontier: F,
    fate: RefCell<Box<dyn FnMut(&'static str) -> Fate>>,
    n_refused: Cell<usize>,
}

impl<F: Frontier> Unreliable<F> {
    fn new(frontier: F, fate: impl FnMut(&'static str) -> Fate + 'static) -> Unreliable<F> {
        Unreliable { frontier, fate: RefCell::new(Box::new(fate)), n_refused: Cell::new(0) }
    }

    async fn pass(&self, call: &'static str) -> Result<(), FrontierError> {
        let fate = self.fate.borrow_mut()(call);
        match fate {
            Fate::Late(time) => tokio::time::sleep(time).await,
            Fate::Lost => std::future::pending().await,
            Fate::Refused => {
                self.n_refused.set(self.n_refused.get() + 1);
                return Err(FrontierError::Unavailable("the line is bad".to_owned()));
            }
        }
        Ok(())
    }
}

impl<F: Frontier> Frontier for Unreliable<F> {
    async fn offer(&self, links: &[Link]) -> Result<Offered, FrontierError> {
        self.pass("offer").await?;
        self.frontier.offer(links).await
    }

    async fn expedite(&self, links: &[Link]) -> Result<(), FrontierError> {
        self.pass("expedite").await?;
        self.frontier.expedite(links).await
    }

    async fn lease(&self, worker: &WorkerId, most: usize) -> Result<Leases, FrontierError> {
        self.pass("lease").await?;
        self.frontier.lease(worker, most).await
    }

    fn lease_time(&self) -> Option<Duration> {
        self.frontier.lease_time()
    }

    async fn renew(&self, worker: &WorkerId, leases: &[LeaseId]) -> Result<(), FrontierError> {
        self.pass("renew").await?;
        self.frontier.renew(worker, leases).await
    }

    async fn rest(&self, lease: &Lease, rest: HostRest) -> Result<(), FrontierError> {
        self.pass("rest").await?;
        self.frontier.rest(lease, rest).await
    }

    async fn give_back(&self, lease: &Lease, rest: HostRest) -> Result<(), FrontierError> {
        self.pass("give_back").await?;
        self.frontier.give_back(lease, rest).await
    }

    async fn claim(&self, worker: &WorkerId, host: &str) -> Result<Claim, FrontierError> {
        self.pass("claim").await?;
        self.frontier.claim(worker, host).await
    }

    async fn release(&self, claim: LeaseId, rest: HostRest) -> Result<(), FrontierError> {
        self.pass("release").await?;
        self.frontier.release(claim, rest).await
    }

    async fn match_content(&self, lease: &Lease, digest: u64) -> Result<ContentMatch, FrontierError> {
        self.pass("match_content").await?;
        self.frontier.match_content(lease, digest).await
    }

    async fn settle(
        &self,
        worker: &WorkerId,
        batch: &[Settlement],
        sink_position: &[u8],
    ) -> Result<SettledBatch, FrontierError> {
        self.pass("settle").await?;
        self.frontier.settle(worker, batch, sink_position).await
    }

    async fn set_host_budget(&self, budget: u64) -> Result<(), FrontierError> {
        self.pass("set_host_budget").await?;
        self.frontier.set_host_budget(budget).await
    }

    async fn extend_scope(&self, url: &Url) -> Result<(), FrontierError> {
        self.pass("extend_scope").await?;
        self.frontier.extend_scope(url).await
    }

    async fn scope_extensions(&self) -> Result<Vec<Url>, FrontierError> {
        self.pass("scope_extensions").await?;
        self.frontier.scope_extensions().await
    }

    async fn store_robots(&self, origin: &str, robots: &StoredRobots) -> Result<(), FrontierError> {
        self.pass("store_robots").await?;
        self.frontier.store_robots(origin, robots).await
    }

    async fn stored_robots(&self, origin: &str) -> Result<Option<StoredRobots>, FrontierError> {
        self.pass("stored_robots").await?;
        self.frontier.stored_robots(origin).await
    }

    async fn hosts(&self, each: &mut dyn FnMut(HostTally<'_>)) -> Result<(), FrontierError> {
        self.frontier.hosts(each).await
    }

    fn reads_text(&self) -> bool {
        self.frontier.reads_text()
    }

    fn gauges(&self) -> Gauges {
        self.frontier.gauges()
    }

    fn totals(&self) -> Totals {
        self.frontier.totals()
    }
}

/// Keeps the URLs that it stores.
#[derive(Clone, Default)]
struct Urls(Arc<Mutex<Vec<String>>>);

impl Sink for Urls {
    fn put(&mut self, page: &Page) -> io::Result<()> {
        self.0.lock().unwrap().push(page.url.to_string());
        Ok(())
    }

    fn commit(&mut self) -> io::Result<Vec<u8>> {
        Ok(Vec::new())
    }

    fn finish(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn web() -> RunningWeb {
    let config = WebConfig { hosts: HOSTS, pages_per_host: PAGES_PER_HOST, sitemaps: false, ..WebConfig::default() };
    Web::start(config).unwrap()
}

fn plan(web: &RunningWeb) -> Plan {
    let seeds: Vec<Url> = web.seeds().iter().map(|seed| parse_seed(seed).unwrap()).collect();
    let scope = Scope::new(Reach::Host, &seeds, Vec::new(), Vec::new());
    let mut plan = Plan::new(seeds, scope);
    plan.politeness.delay = Delay::Fixed(Duration::ZERO);
    plan.politeness.sitemaps = false;
    plan.network.overrides = vec![web.resolve().parse().unwrap()];
    plan
}

fn run<F: Frontier>(web: &RunningWeb, frontier: &F, sink: &Urls, control: &Control) -> Result<Stop, Error> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let plan = plan(web);
    let crawled = crawl(&plan, frontier, Box::new(sink.clone()), Vec::new(), control);
    runtime.block_on(crawled).map(|report| report.stopped)
}

fn local(folder: &tempfile::TempDir) -> LocalFrontier {
    LocalFrontier::open(folder.path(), LocalOptions::new(Box::new(Breadth))).unwrap()
}

/// Crawls everything behind a line with this fate.
#[track_caller]
fn check<F: Frontier>(frontier: F, fate: impl FnMut(&'static str) -> Fate + 'static) -> usize {
    let web = web();
    let (frontier, sink) = (Unreliable::new(frontier, fate), Urls::default());
    assert_eq!(run(&web, &frontier, &sink, &Control::default()).unwrap(), Stop::Finished);
    let urls = sink.0.lock().unwrap();
    let distinct: BTreeSet<&String> = urls.iter().collect();
    assert_eq!((urls.len(), distinct.len()), (HOSTS * PAGES_PER_HOST, HOSTS * PAGES_PER_HOST), "each page once");
    assert_eq!(frontier.totals().of(pith_crawler::Outcome::Stored), urls.len() as u64);
    frontier.n_refused.get()
}

/// Calls take from nothing to some milliseconds, so that they end in another order than they began, and some fail.
fn bad_line(seed: u64) -> impl FnMut(&'static str) -> Fate {
    let mut random = SplitMix64::new(seed);
    move |_| match random.below(8) {
        0 => Fate::Refused,
        _ => Fate::Late(Duration::from_micros(random.below(4000) as u64)),
    }
}

#[test]
fn answers_that_are_late_out_of_order_or_errors_cost_time_and_no_page() {
    let folder = tempfile::tempdir().unwrap();
    assert!(check(local(&folder), bad_line(1)) > 10, "some calls failed");
    assert!(check(MemoryFrontier::new(MemoryOptions::new(Box::new(Breadth))), bad_line(2)) > 10);
}

#[test]
fn leases_are_renewed_and_calls_that_are_never_answered_are_made_again() {
    // Each kind of call is lost once; leases that were granted on the way would end by themselves.
    let mut lost: BTreeSet<&str> = BTreeSet::new();
    let fate = move |call| match matches!(call, "lease" | "settle" | "match_content") && lost.insert(call) {
        true => Fate::Lost,
        false => Fate::Late(Duration::from_millis(1)),
    };
    let options = MemoryOptions { lease_time: Some(Duration::from_secs(2)), ..MemoryOptions::new(Box::new(Breadth)) };
    check(MemoryFrontier::new(options), fate);
}

#[test]
fn a_crawl_stops_when_told_though_the_frontier_has_fallen_silent() {
    let web = web();
    let frontier = MemoryFrontier::new(MemoryOptions::new(Box::new(Breadth)));
    let mut n_calls = 0;
    let silent_after = move |_| {
        n_calls += 1;
        if n_calls > 60 { Fate::Lost } else { Fate::Late(Duration::ZERO) }
    };
    let (frontier, sink, control) = (Unreliable::new(frontier, silent_after), Urls::default(), Control::default());
    control.set_limit(Limit::Pages(None)).unwrap();
    let told = control.clone();
    let began = Instant::now();
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_secs(1));
        told.stop();
    });
    assert_eq!(run(&web, &frontier, &sink, &control).unwrap(), Stop::Interrupted);
    assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
    assert!(sink.0.lock().unwrap().len() < HOSTS * PAGES_PER_HOST);
}

#[test]
fn a_frontier_that_never_answers_does_not_keep_a_crawl_from_being_stopped() {
    let web = web();
    let frontier = Unreliable::new(MemoryFrontier::new(MemoryOptions::new(Box::new(Breadth))), |_| Fate::Refused);
    let control = Control::default();
    control.stop();
    let stopped = run(&web, &frontier, &Urls::default(), &control);
    assert!(matches!(stopped, Err(Error::Unavailable(_))), "{stopped:?}");
}
