//! Policies side by side on one graph.

use std::collections::{BTreeMap, HashSet};

use pith_crawler::{
    DEFAULT_EXPLORE, Explore, FetchedPage, ORDER_NAMES, OrderingPolicy, Topic, TopicModel, order_named,
};
use serde::Serialize;

use super::graph::Graph;
use super::measure::{Curve, greedy, mean, oracle, page_rank};
use super::simulate::{Pace, simulate};

/// What is compared.
#[derive(Clone, Debug)]
pub struct SimulationConfig {
    /// Random seed pages for each run; without a number the graph's portal, or ten.
    pub n_seeds: Option<usize>,
    /// Runs with other seeds, of which the mean is taken. A portal is one run.
    pub n_runs: usize,
    /// Names of policies.
    pub policies: Vec<String>,
    /// Pages fetched at once when hosts are paced.
    pub slots: usize,
    /// The share of pages chosen at random, as in a crawl.
    pub explore: Explore,
}

impl Default for SimulationConfig {
    fn default() -> SimulationConfig {
        let policies = ORDER_NAMES.iter().map(|name| (*name).to_owned()).collect();
        let explore = Explore { share: DEFAULT_EXPLORE, seed: 0 };
        SimulationConfig { n_seeds: None, n_runs: 5, policies, slots: 30, explore }
    }
}

/// One order's figures, means over the runs.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The policy.
    pub policy: String,
    /// PageRank gathered at 10, 25 and 50 % of the pages.
    pub at: BTreeMap<String, f64>,
    /// The mean of the curve.
    pub auc: f64,
    /// Relative to breadth-first.
    pub auc_to_breadth: f64,
    /// Relative to the greedy omniscient order.
    pub auc_to_greedy: f64,
    /// Relative to the true bound.
    pub auc_to_bound: f64,
    /// The same with one page per host and round.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub polite: Option<Polite>,
    /// The curve at each half per cent of the pages.
    pub curve: Vec<f64>,
}

/// An order's figures when hosts are paced.
#[derive(Clone, Debug, Serialize)]
pub struct Polite {
    /// PageRank gathered at 10, 25 and 50 % of the pages.
    pub at: BTreeMap<String, f64>,
    /// The mean of the curve.
    pub auc: f64,
    /// Rounds, relative to full rounds throughout.
    pub rounds_to_ideal: f64,
}

/// The whole comparison.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// Pages, links and hosts of the graph, and pages reached (mean).
    pub pages: usize,
    /// Links.
    pub edges: usize,
    /// Hosts.
    pub hosts: usize,
    /// Pages reached from the seeds, mean.
    pub reached: f64,
    /// Runs.
    pub runs: usize,
    /// The policies.
    pub policies: Vec<Row>,
    /// The greedy omniscient order, and the true bound.
    pub references: Vec<Row>,
}

/// Runs every policy with and without pacing. The greedy order and the bound come with them.
pub fn compare(graph: &Graph, config: &SimulationConfig) -> Comparison {
    let runs = runs(graph, config);
    let mut curves: BTreeMap<String, Vec<Curve>> = BTreeMap::new();
    let mut paced: BTreeMap<String, (Vec<Curve>, f64)> = BTreeMap::new();
    let mut n_reached = 0;
    let named = config.policies.iter().filter(|name| *name != "breadth");
    let names: Vec<&str> = std::iter::once("breadth").chain(named.map(String::as_str)).collect();
    for seeds in &runs {
        let reached = graph.reachable(seeds);
        let n = reached.iter().filter(|reached| **reached).count();
        n_reached += n;
        let importance = page_rank(graph, &reached);
        let mut add = |name: &str, order: &[u32]| {
            curves.entry(name.to_owned()).or_default().push(Curve::of(order, &importance, n));
        };
        add("bound", &oracle(&reached, &importance));
        add("greedy", &greedy(graph, seeds, &importance));
        for name in &names {
            let Some(mut policy) = order_named(name) else { continue };
            add(name, &simulate(graph, seeds, &mut *policy, config.explore, Pace::Free).order);
            let mut policy = order_named(name).expect("known a line ago");
            let crawl = simulate(graph, seeds, &mut *policy, config.explore, Pace::Polite { slots: config.slots });
            let entry = paced.entry((*name).to_owned()).or_default();
            entry.0.push(Curve::of(&crawl.order, &importance, n));
            entry.1 += crawl.n_rounds as f64 / n.div_ceil(config.slots).max(1) as f64 / runs.len() as f64;
        }
    }
    let means: BTreeMap<&str, Curve> = curves.iter().map(|(name, curves)| (name.as_str(), mean(curves))).collect();
    let row = |name: &str| {
        let curve = &means[name];
        let polite = paced.get(name).map(|(curves, rounds)| {
            let curve = mean(curves);
            Polite { at: at(&curve), auc: curve.area, rounds_to_ideal: *rounds }
        });
        Row {
            policy: name.to_owned(),
            at: at(curve),
            auc: curve.area,
            auc_to_breadth: curve.area / means["breadth"].area,
            auc_to_greedy: curve.area / means["greedy"].area,
            auc_to_bound: curve.area / means["bound"].area,
            polite,
            curve: curve.points.clone(),
        }
    };
    Comparison {
        pages: graph.n_pages(),
        edges: graph.n_edges(),
        hosts: graph.n_hosts(),
        reached: n_reached as f64 / runs.len().max(1) as f64,
        runs: runs.len(),
        policies: config
            .policies
            .iter()
            .filter(|name| means.contains_key(name.as_str()))
            .map(|name| row(name))
            .collect(),
        references: ["greedy", "bound"].map(row).into(),
    }
}

fn at(curve: &Curve) -> BTreeMap<String, f64> {
    [10, 25, 50].map(|per_cent| (per_cent.to_string(), curve.at(per_cent))).into()
}

fn runs(graph: &Graph, config: &SimulationConfig) -> Vec<Vec<u32>> {
    match (config.n_seeds, graph.portal()) {
        (None, Some(portal)) => vec![vec![portal]],
        (n_seeds, _) => {
            (0..config.n_runs as u64).map(|seed| graph.random_seeds(n_seeds.unwrap_or(10), seed, |_| true)).collect()
        }
    }
}

/// How much of a topic each order finds in the first quarter of the pages.
#[derive(Clone, Debug, Serialize)]
pub struct Focused {
    /// The model, or a policy that knows of no topic.
    pub model: String,
    /// By label, the share of the topic's pages that was found.
    pub recall_at_25: BTreeMap<String, f64>,
    /// The mean over the labels.
    pub mean: f64,
    /// The share of the fetched quarter that was on the topic, mean over the labels.
    pub harvest_rate: f64,
}

/// Crawls for each label from seeds on its topic. The judge of fetched pages is the label itself.
pub fn focus(graph: &Graph, labels: &[String], config: &SimulationConfig) -> Vec<Focused> {
    const MODELS: [&str; 4] = ["naive-bayes", "frequent-terms", "opic", "breadth"];
    MODELS.iter().map(|model| focus_with(graph, labels, config, model)).collect()
}

fn focus_with(graph: &Graph, labels: &[String], config: &SimulationConfig, model: &str) -> Focused {
    let mut recalls = BTreeMap::new();
    let mut harvest = 0.0;
    for label in labels {
        let on_topic: Vec<bool> = (0..graph.n_pages() as u32).map(|page| has_label(graph.label(page), label)).collect();
        let mut recall = 0.0;
        for seed in 0..config.n_runs as u64 {
            let seeds = graph.random_seeds(config.n_seeds.unwrap_or(10), seed, |page| on_topic[page as usize]);
            let reached = graph.reachable(&seeds);
            let n = reached.iter().filter(|reached| **reached).count();
            let n_topic = (0..n_pages(graph)).filter(|page| reached[*page] && on_topic[*page]).count();
            let mut policy = policy_for(model, graph, &on_topic);
            let order = simulate(graph, &seeds, &mut *policy, config.explore, Pace::Free).order;
            let found = order[..n / 4].iter().filter(|page| on_topic[**page as usize]).count();
            recall += found as f64 / n_topic.max(1) as f64 / config.n_runs as f64;
            harvest += found as f64 / (n / 4).max(1) as f64 / (config.n_runs * labels.len()) as f64;
        }
        recalls.insert(label.clone(), recall);
    }
    let mean = recalls.values().sum::<f64>() / recalls.len().max(1) as f64;
    Focused { model: model.to_owned(), recall_at_25: recalls, mean, harvest_rate: harvest }
}

fn n_pages(graph: &Graph) -> usize {
    graph.n_pages()
}

fn policy_for(model: &str, graph: &Graph, on_topic: &[bool]) -> Box<dyn OrderingPolicy> {
    let kind = match model {
        "naive-bayes" => TopicModel::NaiveBayes,
        "frequent-terms" => TopicModel::FrequentTerms { n: 20 },
        name => return order_named(name).expect("a policy of that name"),
    };
    let known: HashSet<String> = (0..graph.n_pages() as u32)
        .filter(|page| on_topic[*page as usize])
        .map(|page| graph.link(page).url.to_string())
        .collect();
    Box::new(Topic::new(kind, Box::new(move |visit: &FetchedPage<'_>| known.contains(visit.link.url.as_str()))))
}

/// Whether a list of labels, with finer ones behind a slash or a dot, has this one.
fn has_label(list: &str, wanted: &str) -> bool {
    list.split(';').any(|label| {
        label.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '.']))
            || label.split(['/', '.']).any(|part| part == wanted)
    })
}
