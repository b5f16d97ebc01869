//! Malformed answers, our own and those that the Web Platform Tests keep: served raw, each ends in an outcome, soon and without a panic.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use pith_crawler::{
    Control, Delay, LocalFrontier, LocalOptions, Page, Plan, Reach, Scope, Sink, Stop, crawl, order_named,
};
use url::Url;

use super::suite::{Tally, bytes, own_and, say};

/// An answer that breaks off must not be waited for.
const MAX_TIME: Duration = Duration::from_secs(10);

#[test]
fn every_raw_answer_ends_in_an_outcome() {
    let cases = own_and("raw_answers", "http1_raw_responses_wpt");
    let answers: Vec<Vec<u8>> = cases.iter().map(|case| bytes(case, "raw")).collect();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let served = Arc::new(answers);
    std::thread::spawn({
        let served = served.clone();
        move || {
            for stream in listener.incoming().flatten() {
                let served = served.clone();
                std::thread::spawn(move || serve(stream, &served));
            }
        }
    });
    let mut tally = Tally::new("http1_raw_responses_wpt");
    let mut outcomes = BTreeMap::new();
    for (number, case) in cases.iter().enumerate() {
        let started = Instant::now();
        let outcome = ask(&format!("http://127.0.0.1:{port}/{number}"));
        let is_soon = started.elapsed() < MAX_TIME;
        *outcomes.entry(outcome.unwrap_or("none")).or_insert(0) += 1;
        tally.count(outcome.is_some() && is_soon, || None, || format!("{}: {outcome:?}", case["file"]));
    }
    say(&format!("http1_raw_responses_wpt: {outcomes:?}"));
    tally.finish();
}

/// Crawls one URL; the name of its one outcome.
fn ask(url: &str) -> Option<&'static str> {
    let folder = tempfile::tempdir().unwrap();
    let order = order_named("breadth").unwrap();
    let frontier = LocalFrontier::open(folder.path(), LocalOptions::new(order)).unwrap();
    let seed: Url = url.parse().unwrap();
    let mut plan = Plan::new(vec![seed.clone()], Scope::new(Reach::Host, &[seed], Vec::new(), Vec::new()));
    plan.limits.depth = Some(0);
    plan.politeness.delay = Delay::Fixed(Duration::ZERO);
    plan.politeness.robots = false;
    plan.politeness.sitemaps = false;
    plan.network.allow_private = true;
    plan.response_limits.max_time = MAX_TIME;
    plan.attempts = 1;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let control = Control::default();
    let crawled = crawl(&plan, &frontier, Box::new(Nowhere), Vec::new(), &control);
    let report = runtime.block_on(crawled).unwrap();
    assert_eq!(report.stopped, Stop::Finished);
    let first = report.outcomes.iter().find(|(name, _)| **name != "probed");
    first.filter(|_| report.settled >= 1).map(|(name, _)| *name)
}

fn serve(mut stream: TcpStream, answers: &[Vec<u8>]) {
    let mut request = Vec::new();
    let mut piece = [0; 1024];
    while !request.windows(4).any(|end| end == b"\r\n\r\n") {
        match stream.read(&mut piece) {
            Ok(0) | Err(_) => return,
            Ok(n) => request.extend_from_slice(&piece[..n]),
        }
    }
    let line = String::from_utf8_lossy(&request).into_owned();
    let number = line.split([' ', '/']).filter_map(|word| word.parse::<usize>().ok()).next();
    if let Some(answer) = number.and_then(|number| answers.get(number)) {
        let _ = stream.write_all(answer);
    }
}

struct Nowhere;

impl Sink for Nowhere {
    fn put(&mut self, _page: &Page) -> io::Result<()> {
        Ok(())
    }

    fn commit(&mut self) -> io::Result<Vec<u8>> {
        Ok(Vec::new())
    }

    fn finish(&mut self) -> io::Result<()> {
        Ok(())
    }
}
