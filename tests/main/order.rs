//! Which page next: the crawl follows the order that the simulation foretells, also through `kill -9`.

use std::collections::HashSet;
use std::path::Path;
use std::time::{Duration, Instant};

use pith_crawler::{Explore, ORDER_NAMES, order_named};
use pith_eval::ordering::{Graph, Pace, Random, simulate};
use pith_web::{RunningWeb, Web};
use url::Url;

use crate::crawl::crawl_command;

/// Pages on hosts of different sizes, with paths of different depths; the first ones are linked to most.
fn made_up(n_pages: u32, n_hosts: u64) -> (Vec<String>, Vec<(u32, u32)>) {
    let mut random = Random(17);
    let urls = (0..n_pages).map(|page| {
        let host = (random.unit().powi(3) * n_hosts as f64) as u64;
        let path: String =
            (0..random.next() % 4).map(|level| format!("{}{level}/", ["a", "b", "c"][level as usize % 3])).collect();
        format!("http://h{host}.test/{path}page-{page}.html")
    });
    let urls: Vec<String> = urls.collect();
    let mut edges = Vec::new();
    for from in 0..n_pages {
        edges.extend((0..1 + random.next() % 12).map(|_| (from, (random.unit().powi(2) * f64::from(n_pages)) as u32)));
    }
    edges.sort_unstable();
    edges.dedup();
    (urls, edges)
}

/// The web of a graph, where every page also links to itself and to its first target twice.
fn serve(urls: &[String], edges: &[(u32, u32)]) -> RunningWeb {
    let mut links = Vec::new();
    for page in 0..urls.len() as u32 {
        let own: Vec<(u32, u32)> = edges.iter().copied().filter(|(from, _)| *from == page).collect();
        links.extend(&own);
        links.push((page, page));
        links.extend(own.first());
    }
    Web::from_graph(urls.to_vec(), &links).unwrap()
}

/// Pages in the order in which they were first asked for; what is no page of the graph does not count.
fn asked(web: &RunningWeb, urls: &[String]) -> Vec<u32> {
    let numbers: std::collections::HashMap<&str, u32> =
        urls.iter().enumerate().map(|(number, url)| (url.as_str(), number as u32)).collect();
    let mut before = HashSet::new();
    let log = web.log();
    let pages =
        log.iter().filter_map(|request| numbers.get(format!("http://{}{}", request.host, request.path).as_str()));
    pages.copied().filter(|page| before.insert(*page)).collect()
}

fn foretold(urls: &[String], edges: &[(u32, u32)], policy: &str, explore: Explore) -> Vec<u32> {
    let graph = Graph::new(urls.iter().map(|url| Url::parse(url).unwrap()), edges.to_vec());
    simulate(&graph, &[0], &mut *order_named(policy).unwrap(), explore, Pace::Free).order
}

#[track_caller]
fn check_same(policy: &str, asked: &[u32], foretold: &[u32]) {
    let differs = asked.iter().zip(foretold).position(|(asked, foretold)| asked != foretold);
    if let Some(place) = differs {
        let (from, to) = (place.saturating_sub(3), place + 5);
        panic!(
            "{policy}: page {place} of {} differs: asked {:?}, foretold {:?}",
            foretold.len(),
            &asked[from..to.min(asked.len())],
            &foretold[from..to.min(foretold.len())]
        );
    }
    assert_eq!(asked.len(), foretold.len(), "{policy}");
}

const WORDS: [&str; 7] = ["--delay", "0s", "--scope", "any", "--slots", "1", "--no-sitemaps"];

#[test]
fn a_crawl_with_one_slot_follows_the_simulated_order() {
    let (urls, edges) = made_up(500, 30);
    for policy in ORDER_NAMES {
        for explore in ["0", "0.2"] {
            let web = serve(&urls, &edges);
            let out = tempfile::tempdir().unwrap();
            let output = crawl_command(&web, out.path(), &WORDS)
                .args(["--order", policy, "--explore", explore])
                .output()
                .unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            let expected = foretold(&urls, &edges, policy, Explore { share: explore.parse().unwrap(), seed: 0 });
            check_same(policy, &asked(&web, &urls), &expected);
        }
    }
}

#[test]
fn opic_is_the_default_and_costs_at_most_twenty_bytes_per_url() {
    let (urls, edges) = made_up(3000, 200);
    let web = serve(&urls, &edges);
    let out = tempfile::tempdir().unwrap();
    let output = crawl_command(&web, out.path(), &WORDS).args(["--explore", "0"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    check_same("opic", &asked(&web, &urls), &foretold(&urls, &edges, "opic", Explore::NOTHING));
    let bytes = state_bytes(out.path());
    let known = crate::crawl::report(out.path())["known"].as_u64().unwrap();
    println!("{bytes} bytes for {known} URLs");
    assert!(bytes <= 20 * known, "{bytes} bytes for {known} URLs");
}

fn state_bytes(out: &Path) -> u64 {
    ["scores", "scores-log"].iter().map(|name| out.join("frontier").join(name).metadata().unwrap().len()).sum()
}

#[test]
fn many_kills_change_nothing_about_the_order_of_opic() {
    let (urls, edges) = made_up(2500, 60);
    let web = serve(&urls, &edges);
    let out = tempfile::tempdir().unwrap();
    let mut random = Random(5);
    let mut n_kills = 0;
    let command = || {
        let mut command = crawl_command(&web, out.path(), &WORDS);
        command.args(["--explore", "0"]);
        command
    };
    while n_kills < 10 {
        let mut child = command().spawn().unwrap();
        let until = Instant::now() + Duration::from_millis(300 + random.next() % 400);
        while Instant::now() < until && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        if child.try_wait().unwrap().is_some() {
            break;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        n_kills += 1;
    }
    let output = command().output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    println!("{n_kills} kills, {} requests", web.totals().requests);
    assert!(n_kills > 0, "the crawl ended before it could be killed");
    check_same("opic", &asked(&web, &urls), &foretold(&urls, &edges, "opic", Explore::NOTHING));
}
