//! `kill -9` at any moment loses no page and stores none twice.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use pith_web::{Web, WebConfig};

use crate::crawl::{crawl_command, stored};

/// Kills that the test makes unless `PITH_KILLS` says otherwise.
const KILLS: u64 = 100;

#[test]
fn nothing_is_lost_and_nothing_comes_twice_after_many_kills() {
    let kills: u64 = std::env::var("PITH_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(KILLS);
    let config = WebConfig { hosts: 40, pages_per_host: 25, latency: Duration::from_millis(3), ..WebConfig::default() };
    let web = Web::start(config).unwrap();
    let out = tempfile::tempdir().unwrap();
    // Small shards, so that kills also fall between two of them; few slots, so that the crawl outlives the kills.
    let words = ["--delay", "0s", "--scope", "any", "--slots", "4", "--shard-size", "60k"];
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut ended = 0;
    let started = Instant::now();
    for _ in 0..kills {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mut child = crawl_command(&web, out.path(), &words).spawn().unwrap();
        let until = Instant::now() + Duration::from_millis(30 + (random >> 33) % 350);
        while Instant::now() < until && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        ended += u64::from(child.try_wait().unwrap().is_some());
        let _ = child.kill();
        child.wait().unwrap();
    }
    let output = crawl_command(&web, out.path(), &words).output().unwrap();
    assert!(matches!(output.status.code(), Some(0 | 3)), "{}", String::from_utf8_lossy(&output.stderr));
    let urls = stored(out.path());
    let distinct: BTreeSet<String> = urls.iter().cloned().collect();
    let mut expected = web.truth().reachable(web.seeds());
    expected.extend(web.truth().orphans());
    println!(
        "{kills} kills ({ended} found the crawl ended) in {:?}: {} pages, {} of {} expected, {} requests",
        started.elapsed(),
        urls.len(),
        distinct.intersection(&expected).count(),
        expected.len(),
        web.totals().requests,
    );
    assert_eq!(urls.len(), distinct.len(), "a page was stored twice");
    let missing: Vec<_> = expected.difference(&distinct).collect();
    assert!(missing.is_empty(), "lost {missing:?}");
}
