//! Crawls every seed's host with the `spider` crate, 32 at once, and prints how many pages came: no robots.txt, no
//! delay, nothing stored, links to other hosts not followed, as that crate is made.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use spider::website::Website;
use tokio::sync::Semaphore;

#[tokio::main]
async fn main() {
    let path = std::env::args().nth(1).expect("usage: bench-spider SEEDS");
    let seeds = std::fs::read_to_string(path).expect("the seeds can be read");
    let (pages, bytes) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let at_once = Arc::new(Semaphore::new(32));
    let mut crawls = tokio::task::JoinSet::new();
    for seed in seeds.lines().map(str::to_owned) {
        let (pages, bytes, at_once) = (pages.clone(), bytes.clone(), at_once.clone());
        crawls.spawn(async move {
            let _turn = at_once.acquire_owned().await.expect("it is never closed");
            let mut website = Website::new(&seed);
            website.configuration.respect_robots_txt = false;
            website.configuration.delay = 0;
            let mut arrivals = website.subscribe(64);
            let counting = tokio::spawn(async move {
                while let Ok(page) = arrivals.recv().await {
                    pages.fetch_add(1, Ordering::Relaxed);
                    bytes.fetch_add(page.get_html_bytes_u8().len() as u64, Ordering::Relaxed);
                }
            });
            website.crawl().await;
            website.unsubscribe();
            drop(website);
            let _ = counting.await;
        });
    }
    while crawls.join_next().await.is_some() {}
    println!("{{\"pages\":{},\"bytes\":{}}}", pages.load(Ordering::Relaxed), bytes.load(Ordering::Relaxed));
}
