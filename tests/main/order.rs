//! Which page next: the crawl follows the order that the simulation foretells, also through `kill -9`.

use std::collections::HashSet;
use std::path::Path;
use std::time::{Duration, Instant};

use pith_crawler::{Explore, ORDER_NAMES, order_named};
use pith_eval::ordering::{Graph, Pace, Random, simulate};
use pith_web::{RunningWeb, Web, WebConfig};
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

fn crawl(web: &RunningWeb, out: &Path, seeds: &[&str], words: &[&str]) -> String {
    let output = crate::crawl::pith()
        .arg("crawl")
        .args(seeds)
        .arg("--out")
        .arg(out)
        .args(["--resolve", &web.resolve(), "--delay", "0s", "--scope", "any", "--slots", "4"])
        .args(words)
        .output()
        .unwrap();
    assert!(matches!(output.status.code(), Some(0 | 3)), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// How many of the stored pages are in Portuguese.
fn in_portuguese(web: &RunningWeb, out: &Path) -> usize {
    let is_portuguese = |url: &String| web.truth().page(url).is_some_and(|page| page.language.tag().starts_with("pt"));
    crate::crawl::stored(out).iter().filter(|url| is_portuguese(url)).count()
}

#[test]
fn a_focused_crawl_says_what_its_topic_is_and_how_much_of_it_it_found() {
    let web = Web::start(WebConfig { hosts: 16, pages_per_host: 30, sitemaps: false, ..WebConfig::default() }).unwrap();
    let is_portuguese = |url: &&String| web.truth().page(url).is_some_and(|page| page.language.tag().starts_with("pt"));
    let seed = web.seeds().iter().find(is_portuguese).expect("a site in Portuguese").as_str();
    let folder = || tempfile::tempdir().unwrap();
    let (broad, learnt, given, frequent) = (folder(), folder(), folder(), folder());
    crawl(&web, broad.path(), &[seed], &["--order", "breadth", "--pages", "100"]);
    let stderr = crawl(&web, learnt.path(), &[seed], &["--order", "topic", "--pages", "100"]);
    let words = folder().path().join("words.txt");
    std::fs::create_dir_all(words.parent().unwrap()).unwrap();
    std::fs::write(&words, "não, também\nmas você\n").unwrap();
    crawl(&web, given.path(), &[seed], &["--topic-words", words.to_str().unwrap(), "--pages", "100"]);
    crawl(&web, frequent.path(), &[seed], &["--topic-model", "frequent-terms", "--pages", "100"]);
    let counts = [&broad, &learnt, &given, &frequent].map(|out| in_portuguese(&web, out.path()));
    println!("pages in Portuguese of 100: breadth, learnt, given, frequent terms: {counts:?}\n{stderr}");
    assert!(counts.iter().all(|count| *count > 0), "{counts:?}");
    assert!(stderr.contains("harvest rate") && stderr.contains("most frequent terms"), "{stderr}");
    for out in [&learnt, &given, &frequent] {
        let topic = &crate::crawl::report(out.path())["topic"];
        let rate = topic["harvest_rate"].as_f64().unwrap();
        assert!(rate > 0.0 && rate <= 1.0 && topic["pages"].as_u64().unwrap() >= 90, "{topic}");
        assert!(topic["terms"].as_array().unwrap().len() >= 10 && !topic["words"].as_array().unwrap().is_empty());
        assert!(out.path().join("topic.json").exists());
    }
    let given = &crate::crawl::report(given.path())["topic"]["words"];
    let words: Vec<&str> = given.as_array().unwrap().iter().filter_map(|pair| pair[0].as_str()).collect();
    assert_eq!(words, ["mas", "não", "também", "você"], "the words of the file");
    let usage =
        crate::crawl::pith().args(["crawl", seed, "--out", "x", "--order", "opic", "--topic-words", "a b"]).output();
    assert_eq!(usage.unwrap().status.code(), Some(2));
}

#[test]
fn pages_that_change_are_asked_for_again_and_those_that_do_not_are_spared() {
    let config =
        WebConfig { hosts: 6, pages_per_host: 20, changes_per_second: 0.05, sitemaps: false, ..WebConfig::default() };
    let web = Web::start(config).unwrap();
    let out = tempfile::tempdir().unwrap();
    let seeds: Vec<&str> = web.seeds().iter().map(String::as_str).collect();
    crawl(&web, out.path(), &seeds, &[]);
    let n_pages = crate::crawl::stored(out.path()).len();
    let again = |n: usize| {
        web.advance(Duration::from_secs(20));
        let words = ["--recrawl", "--refresh-after", "0s", "--refreshes", &n.to_string()];
        crawl(&web, out.path(), &seeds, &words);
        let report = crate::crawl::report(out.path());
        assert_eq!(report["refresh"]["asked"], n, "{report}");
        report["refresh"]["changed"].as_u64().unwrap()
    };
    let n_changed = again(n_pages);
    assert!(n_changed > 5 && n_changed < n_pages as u64, "{n_changed} of {n_pages}");
    let before = web.log().len();
    let n_changed_later: u64 = (0..8).map(|_| again(40)).sum();
    let log = web.log();
    let requests: Vec<_> = log[before..].iter().filter(|request| request.path != "/robots.txt").collect();
    let conditional = requests.iter().filter(|request| {
        request.headers.contains_key("if-none-match") || request.headers.contains_key("if-modified-since")
    });
    let n_conditional = conditional.count();
    let n_spared = requests.iter().filter(|request| request.status == 304).count();
    let visits = |from: f64, to: f64| {
        let rate = |url: &String| web.truth().change_rate(url).unwrap_or(0.0) * 20.0;
        let pages = web.truth().reachable(&seeds);
        let wanted: HashSet<String> = pages.into_iter().filter(|url| (from..to).contains(&rate(url))).collect();
        let is_wanted =
            |request: &&&pith_web::Request| wanted.contains(&format!("http://{}{}", request.host, request.path));
        requests.iter().filter(is_wanted).count() as f64 / wanted.len() as f64
    };
    let (slow, lively) = (visits(0.0, 0.1), visits(0.4, 10.0));
    println!(
        "{} requests, {n_conditional} conditional, {n_spared} not modified, {n_changed_later} changed; \
         {slow:.2} visits to a slow page, {lively:.2} to a lively one",
        requests.len()
    );
    assert!(n_conditional > 100 && n_spared > 50, "{n_conditional} conditional, {n_spared} not modified");
    assert!(lively > 1.3 * slow, "{lively} visits to lively pages, {slow} to slow ones");
}
