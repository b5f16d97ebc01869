//! Floors of the ordering lab, on the stored graphs where they are there and on graphs made up here.

use std::path::PathBuf;

use pith_crawler::{Explore, order_named};
use pith_eval::ordering::{Graph, Pace, Setting, compare, focus, simulate};
use url::Url;

fn stored(name: &str) -> Option<Graph> {
    let shared = std::env::var_os("PITH_SHARED")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared")), PathBuf::from);
    let folder = shared.join("data/graphs").join(name);
    if !folder.exists() {
        eprintln!("skipped: no graph in {} (set PITH_SHARED)", folder.display());
        return None;
    }
    Some(Graph::read(&folder).expect("a graph"))
}

#[track_caller]
fn check_floor(name: &str, floor: [f64; 3], to_breadth: f64) {
    let Some(graph) = stored(name) else { return };
    let setting = Setting { policies: vec!["opic".into()], ..Setting::default() };
    let comparison = compare(&graph, &setting);
    let opic = &comparison.policies[0];
    for (part, floor) in ["10", "25", "50"].into_iter().zip(floor) {
        assert!(opic.at[part] >= floor, "{name} at {part} %: {} < {floor}", opic.at[part]);
    }
    assert!(opic.auc_to_breadth >= to_breadth, "{name}: {} x breadth", opic.auc_to_breadth);
}

#[test]
fn opic_is_good_on_debdocs() {
    check_floor("debdocs", [0.38, 0.57, 0.74], 1.12);
}

#[test]
fn opic_is_good_on_webkb() {
    check_floor("webkb", [0.25, 0.45, 0.67], 1.10);
}

#[test]
fn a_focused_crawl_finds_its_topic_early() {
    let Some(graph) = stored("webkb") else { return };
    let labels = ["course", "faculty", "student", "project"].map(str::to_owned);
    let models = focus(&graph, &labels, &Setting::default());
    let mean = |name: &str| models.iter().find(|row| row.model == name).expect("a model of that name").mean;
    assert!(mean("naive-bayes") >= 0.45, "{}", mean("naive-bayes"));
    assert!(mean("naive-bayes") > mean("breadth"));
}

/// An honest web of 200 hosts, and a farm of 1 000 hosts that link to each other and are linked to from one page.
#[test]
fn a_farm_of_links_does_not_capture_the_crawl() {
    const HONEST: u32 = 200 * 50;
    const FARM_HOSTS: u32 = 1_000;
    const FARM_PAGES: u32 = 5;
    let honest = (0..HONEST).map(|page| format!("http://site{}.test/{}", page / 50, page % 50));
    let farm =
        (0..FARM_HOSTS * FARM_PAGES).map(|page| format!("http://farm{}.test/{}", page / FARM_PAGES, page % FARM_PAGES));
    let urls = honest.chain(farm).map(|url| Url::parse(&url).expect("a URL"));
    let mut edges = Vec::new();
    let mut state = 7u64;
    let mut draw = |below: u32| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        ((state >> 33) % u64::from(below)) as u32
    };
    for page in 0..HONEST {
        let home = page / 50 * 50;
        edges.extend((1..6).map(|step| (page, home + (page + step * 7) % 50)));
        edges.push((page, home));
        edges.extend((0..3).map(|_| (page, draw(200) * 50)));
    }
    edges.push((60, HONEST));
    for page in 0..FARM_HOSTS * FARM_PAGES {
        let host = page / FARM_PAGES;
        edges.extend((0..FARM_PAGES).map(|other| (HONEST + page, HONEST + host * FARM_PAGES + other)));
        edges.extend((1..30).map(|step| (HONEST + page, HONEST + (host + step * step) % FARM_HOSTS * FARM_PAGES)));
    }
    let graph = Graph::new(urls, edges.into_iter().filter(|(from, to)| from != to).collect());
    let order =
        simulate(&graph, &[0], &mut *order_named("opic").expect("a policy"), Explore::NOTHING, Pace::Free).order;
    let first = &order[..order.len() / 10];
    let captured = first.iter().filter(|page| **page >= HONEST).count();
    assert!(captured * 20 <= first.len(), "{captured} of the first {} pages", first.len());
}
