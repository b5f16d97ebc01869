//! A crawl that is watched and steered while it runs, against a web that logs every request.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use pith_crawler::{
    Breadth, Control, Delay, HasEnded, Limit, LocalFrontier, LocalOptions, Page, Phase, Plan, Reach, Report, Scope,
    Sink, Snapshot, Snapshots, Stop, crawl, parse_seed,
};
use pith_web::{RunningWeb, Web, WebConfig};
use url::Url;

const PAGES_PER_HOST: usize = 25;

struct Nowhere;

impl Sink for Nowhere {
    fn put(&mut self, _: &Page) -> io::Result<()> {
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
    Web::start(WebConfig { hosts: 6, pages_per_host: PAGES_PER_HOST, sitemaps: false, ..WebConfig::default() }).unwrap()
}

fn seeds(web: &RunningWeb) -> Vec<Url> {
    web.seeds().iter().map(|seed| parse_seed(seed).unwrap()).collect()
}

/// Crawls the hosts of some seeds while somebody else holds the control.
fn steer<D: Future<Output = ()>>(
    web: &RunningWeb,
    seeds: Vec<Url>,
    delay: Duration,
    drive: impl FnOnce(Control) -> D,
) -> Report {
    let folder = tempfile::tempdir().unwrap();
    let frontier = LocalFrontier::open(folder.path(), LocalOptions::new(Box::new(Breadth))).unwrap();
    let scope = Scope::new(Reach::Host, &seeds, Vec::new(), Vec::new());
    let mut plan = Plan::new(seeds, scope);
    plan.politeness.delay = Delay::Fixed(delay);
    plan.politeness.sitemaps = false;
    plan.network.overrides = vec![web.resolve().parse().unwrap()];
    let control = Control::default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (report, ()) = runtime.block_on(async {
        tokio::join!(crawl(&plan, &frontier, Box::new(Nowhere), Vec::new(), &control), drive(control.clone()))
    });
    assert_eq!(control.add_seeds(Vec::new()), Err(HasEnded));
    report.unwrap()
}

/// The first snapshot for which something holds.
async fn until(snapshots: &mut Snapshots, holds: impl Fn(&Snapshot) -> bool) -> Arc<Snapshot> {
    loop {
        let snapshot = snapshots.next().await.expect("the crawl goes on");
        if holds(&snapshot) {
            return snapshot;
        }
    }
}

#[test]
fn a_paused_crawl_sends_nothing_until_it_is_resumed() {
    let web = web();
    let report = steer(&web, seeds(&web), Duration::from_millis(20), async |control| {
        let mut snapshots = control.snapshots();
        until(&mut snapshots, |snapshot| snapshot.status.pages >= 6).await;
        control.pause();
        until(&mut snapshots, |snapshot| snapshot.phase == Phase::Paused && snapshot.status.in_flight == 0).await;
        let n_requests = web.log().len();
        tokio::time::sleep(Duration::from_millis(500)).await;
        assert_eq!(web.log().len(), n_requests, "a request was sent in a pause");
        assert!(n_requests < 6 * PAGES_PER_HOST, "it was paused too late to tell");
        control.resume();
        until(&mut snapshots, |snapshot| snapshot.phase == Phase::Running).await;
    });
    assert_eq!((report.stopped, report.pages), (Stop::Finished, 6 * PAGES_PER_HOST as u64));
}

#[test]
fn an_added_seed_is_crawled_with_its_host() {
    let web = web();
    let all = seeds(&web);
    let hosts = web.hosts().to_vec();
    let asked = |host: &str| web.log().iter().filter(|request| request.host == host).count();
    let (first, second) = (all[..1].to_vec(), all[1..2].to_vec());
    let report = steer(&web, first, Duration::from_millis(10), async |control| {
        let mut snapshots = control.snapshots();
        until(&mut snapshots, |snapshot| snapshot.status.pages >= 3).await;
        assert_eq!(asked(&hosts[1]), 0, "it is out of scope");
        control.add_seeds(second).unwrap();
    });
    assert_eq!((report.stopped, report.pages), (Stop::Finished, 2 * PAGES_PER_HOST as u64));
    assert!(asked(&hosts[1]) > PAGES_PER_HOST && asked(&hosts[2]) == 0);
}

#[test]
fn a_stop_and_every_limit_take_effect_while_the_crawl_runs() {
    let web = web();
    let delay = Duration::from_millis(20);
    let stopped = steer(&web, seeds(&web), delay, async |control| {
        until(&mut control.snapshots(), |snapshot| snapshot.status.pages >= 6).await;
        control.stop();
    });
    assert_eq!(stopped.stopped, Stop::Interrupted);
    assert!(stopped.pages >= 6 && stopped.pages < 6 * PAGES_PER_HOST as u64, "{}", stopped.pages);

    let limited = steer(&web, seeds(&web), 3 * delay, async |control| {
        let mut snapshots = control.snapshots();
        until(&mut snapshots, |snapshot| snapshot.status.pages >= 1).await;
        control.set_limit(Limit::Pages(Some(110))).unwrap();
        until(&mut snapshots, |snapshot| snapshot.limits.pages == Some(110)).await;
    });
    assert_eq!((limited.stopped, limited.pages), (Stop::Pages, 110));

    let timed = steer(&web, seeds(&web), delay, async |control| {
        control.set_limit(Limit::Time(Some(Duration::from_millis(300)))).unwrap();
    });
    assert_eq!(timed.stopped, Stop::Time);

    let n_before = web.log().len();
    let per_host = steer(&web, seeds(&web), delay, async |control| {
        control.set_limit(Limit::PerHost(Some(4))).unwrap();
        control.set_limit(Limit::Slots(1)).unwrap();
    });
    assert_eq!(per_host.stopped, Stop::Finished);
    let requests = &web.log()[n_before..];
    for host in web.hosts() {
        assert_eq!(requests.iter().filter(|request| request.host == *host).count(), 4, "{host}");
    }
    let mut by_time: Vec<_> = requests.iter().map(|request| (request.at, request.ended.unwrap())).collect();
    by_time.sort();
    assert!(by_time.windows(2).all(|pair| pair[1].0 >= pair[0].1), "two were in flight at once");
}

#[test]
fn a_snapshot_tells_domains_with_their_delay_and_the_latest_pages() {
    let web = web();
    let report = steer(&web, seeds(&web), Duration::from_millis(30), async |control| {
        let mut snapshots = control.snapshots();
        let mut last = snapshots.latest();
        assert_eq!(last.phase, Phase::Waiting);
        while let Some(snapshot) = snapshots.next().await {
            last = snapshot;
        }
        assert_eq!((last.phase, last.status.pages), (Phase::Ended, 6 * PAGES_PER_HOST as u64));
        assert_eq!(last.outcomes["stored"], last.status.pages);
        assert_eq!(last.domains.iter().map(|row| row.pages).sum::<u64>(), last.status.pages);
        assert_eq!(last.domains.iter().map(|row| row.bytes).sum::<u64>(), last.status.bytes);
        assert!(last.domains.iter().all(|row| row.delay == Duration::from_millis(30)), "{:?}", last.domains);
        assert!(last.latest.len() == 50 && last.latest.iter().all(|page| page.url.starts_with("http://")));
    });
    assert_eq!(report.stopped, Stop::Finished);
}
