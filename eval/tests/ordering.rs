//! Floors of the ordering lab: on a small stored graph, on the shared ones where they are there, and on graphs made up here.

use std::path::{Path, PathBuf};

use pith_crawler::{Explore, order_named};
use pith_eval::ordering::{Graph, Pace, Random, SimulationConfig, compare, focus, simulate};
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

/// Thirty pages whose links are explained in `edges.tsv`: a portal, eight sections, twelve leaves, and a hub with eight
/// articles.
fn small() -> Graph {
    Graph::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/graphs/small")).expect("a graph")
}

/// Six sections link to the hub: `opic` asks for it before the last section. In order of discovery the leaves come first.
#[test]
fn opic_gathers_the_hub_of_the_small_graph_first() {
    const HUB: u32 = 29;
    let graph = small();
    let place_of_hub = |policy: &str| {
        let mut policy = order_named(policy).expect("a policy");
        let order = simulate(&graph, &[0], &mut *policy, Explore { share: 0.0, seed: 0 }, Pace::Free).order;
        assert_eq!(order.len(), 30, "every page is reached once");
        order.iter().position(|page| *page == HUB).expect("the hub is reached")
    };
    let [opic, breadth] = ["opic", "breadth"].map(place_of_hub);
    assert!(opic < 9, "the hub is page {opic} of opic, after every section");
    assert!(breadth > 20, "the hub is page {breadth} of breadth, before the leaves");
}

#[track_caller]
fn check_floor(name: &str, floor: [f64; 3], to_breadth: f64) {
    let Some(graph) = stored(name) else { return };
    let config = SimulationConfig { policies: vec!["opic".into()], ..SimulationConfig::default() };
    let comparison = compare(&graph, &config);
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
    let models = focus(&graph, &labels, &SimulationConfig::default());
    let mean = |name: &str| models.iter().find(|row| row.model == name).expect("a model of that name").mean;
    assert!(mean("naive-bayes") >= 0.45, "{}", mean("naive-bayes"));
    assert!(mean("naive-bayes") > mean("breadth"));
}

/// An honest web of 200 hosts, and a farm of 1 000 hosts whose home pages all link to each other. The home pages of
/// twenty honest hosts link to the farm, as comments with spam do.
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
    let mut random = Random(7);
    let mut draw = |below: u32| (random.next() % u64::from(below)) as u32;
    for page in 0..HONEST {
        let home = page / 50 * 50;
        edges.extend((1..6).map(|step| (page, home + (page + step * 7) % 50)));
        edges.push((page, home));
        edges.extend((0..3).map(|_| (page, draw(200) * 50)));
    }
    edges.extend((0..20).map(|site| (site * 10 * 50, HONEST + draw(FARM_HOSTS) * FARM_PAGES)));
    for host in 0..FARM_HOSTS {
        let home = HONEST + host * FARM_PAGES;
        edges.extend((0..FARM_HOSTS).map(|other| (home, HONEST + other * FARM_PAGES)));
        for page in 0..FARM_PAGES {
            edges.extend((0..FARM_PAGES).map(|other| (home + page, home + other)));
            edges.extend((1..30).map(|step| (home + page, HONEST + (host + step * step) % FARM_HOSTS * FARM_PAGES)));
        }
    }
    let graph = Graph::new(urls, edges);
    let captured = |policy: &str| {
        let mut policy = order_named(policy).expect("a policy");
        let order = simulate(&graph, &[0], &mut *policy, SimulationConfig::default().explore, Pace::Free).order;
        let first = &order[..order.len() / 10];
        first.iter().filter(|page| **page >= HONEST).count() as f64 / first.len() as f64
    };
    let [opic, breadth, backlink] = ["opic", "breadth", "backlink"].map(captured);
    println!("the farm's part of the first tenth: opic {opic:.3}, breadth {breadth:.3}, backlink {backlink:.3}");
    assert!(opic <= 0.05, "{opic}");
    assert!(breadth.max(backlink) > 0.2, "a farm that captures nobody shows nothing: {breadth}, {backlink}");
}

/// Webs of other shapes than the stored ones: `opic` must not lose to breadth-first on any.
#[test]
fn opic_is_ahead_of_breadth_on_webs_of_many_shapes() {
    const N: u32 = 6_000;
    let mut random = Random(3);
    type Shape = (&'static str, Vec<String>, Vec<(u32, u32)>);
    let mut shapes: Vec<Shape> = Vec::new();
    let mut below = |below: u32| (random.next() % u64::from(below)) as u32;
    // Sixty sites, each a tree with links to parent, brothers and home.
    let mut edges = Vec::new();
    for page in 60..N {
        let (host, place) = (page % 60, page / 60);
        let parent = (place - 1) / 6;
        edges.extend([(host + parent * 60, page), (page, host + parent * 60), (page, host)]);
        edges.extend((1..=6).map(|brother| (page, host + (parent * 6 + brother) * 60)).filter(|(_, to)| *to < N));
        if below(20) == 0 {
            edges.push((page, below(60)));
        }
    }
    let urls = (0..N).map(|page| format!("http://h{}.test/{page}", page % 60)).collect();
    shapes.push(("hierarchy", urls, edges));
    // Pages link to what is already linked to much.
    let mut pool = vec![0];
    let mut edges = Vec::new();
    for page in 1..N {
        edges.push((below(page), page));
        for _ in 0..7 {
            let target = pool[below(pool.len() as u32) as usize];
            edges.push((page, target));
            pool.push(target);
        }
        pool.push(page);
    }
    let urls: Vec<String> = (0..N).map(|page| format!("http://h{}.test/{page}", page % 97)).collect();
    shapes.push(("hubs", urls.clone(), edges.clone()));
    // The same on one host.
    let one = (0..N).map(|page| format!("http://one.test/{page}")).collect();
    shapes.push(("one host", one, edges));
    // Two thousand sites of three pages.
    let mut edges = Vec::new();
    for page in 0..N {
        let home = page % 2000;
        edges.extend([(home, page), (page, home), (page, below(2000)), (page, below(2000))]);
        edges.extend((0..5).map(|_| (page, below(2000).min(below(2000)).min(below(2000)))));
    }
    let urls = (0..N).map(|page| format!("http://h{}.test/{page}", page % 2000)).collect();
    shapes.push(("many hosts", urls, edges));
    for (name, urls, edges) in shapes {
        let graph = Graph::new(urls.iter().map(|url| Url::parse(url).expect("a URL")), edges);
        let config = SimulationConfig {
            n_seeds: Some(10),
            policies: vec!["opic".into(), "pagerank".into()],
            ..SimulationConfig::default()
        };
        let comparison = compare(&graph, &config);
        for row in &comparison.policies {
            println!(
                "{name}: {} {:.3} of breadth, {:.3} of the bound",
                row.policy, row.auc_to_breadth, row.auc_to_bound
            );
            assert!(row.auc_to_breadth > 1.0, "{name}: {} {}", row.policy, row.auc_to_breadth);
        }
    }
}
