//! Which pages to ask for again: policies over pages that change at random (Poisson), at an equal budget of requests.

use std::time::Duration;

use pith_crawler::{ChangeHistory, RefreshPolicy};
use serde::Serialize;

use crate::ordering::Random;

/// What is simulated.
#[derive(Clone, Copy, Debug)]
pub struct SimulationConfig {
    /// Pages, with rates spread evenly over the decades.
    pub n_pages: usize,
    /// Decades between the slowest and the fastest rate of change.
    pub n_decades: u32,
    /// Requests per page and mean time between changes of the middle page.
    pub budget: f64,
    /// How many requests there are per page in all.
    pub n_rounds: usize,
    /// The seed of the random generator.
    pub seed: u64,
}

impl Default for SimulationConfig {
    fn default() -> SimulationConfig {
        SimulationConfig { n_pages: 400, n_decades: 4, budget: 1.0, n_rounds: 100, seed: 1 }
    }
}

/// A way to choose the next page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// Every page in turn.
    Uniform,
    /// As often as a page changes.
    Proportional,
    /// WIRE's: the page with the largest profit, by rates learnt from the visits.
    Profit,
    /// The default: the page with the largest refresh value, by rates learnt from the visits.
    RateOptimal,
    /// The same for one who knows every rate.
    RateOptimalKnown,
}

impl Policy {
    /// All of them.
    pub const ALL: [Policy; 5] =
        [Policy::Uniform, Policy::Proportional, Policy::Profit, Policy::RateOptimal, Policy::RateOptimalKnown];
}

/// The freshness that a policy reached.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct FreshnessResult {
    /// The policy.
    pub policy: Policy,
    /// The share of pages fresh, over the second half of the time.
    pub fresh: f64,
}

/// Time is counted in seconds by the crawler's own functions; a unit here is a day.
const UNIT: f64 = 86_400.0;

struct Page {
    rate: f64,
    visited_at: f64,
    changes_at: f64,
    history: ChangeHistory,
}

/// Runs one policy.
pub fn simulate(config: SimulationConfig, policy: Policy) -> FreshnessResult {
    let mut random = Random(config.seed);
    let decades = f64::from(config.n_decades);
    let mut pages: Vec<Page> = (0..config.n_pages)
        .map(|page| {
            let index = (page as f64 + 0.5) / config.n_pages as f64 - 0.5;
            Page {
                rate: 10f64.powf(index * decades),
                visited_at: 0.0,
                changes_at: 0.0,
                history: ChangeHistory::default(),
            }
        })
        .collect();
    for page in &mut pages {
        page.changes_at = wait(page.rate, &mut random);
    }
    let total_rate: f64 = pages.iter().map(|page| page.rate).sum();
    let step = 1.0 / (config.budget * config.n_pages as f64);
    let n_requests = config.n_rounds * config.n_pages;
    let half = n_requests as f64 * step / 2.0;
    let mut fresh_time = 0.0;
    // The prior rate of a page that was seen once: the mean rate of all pages, as in a crawl. It starts with one change
    // a week.
    let (mut n_changes, mut watched) = (1.0, 7.0);
    let mut credit = vec![0.0; config.n_pages];
    for request in 0..n_requests {
        let now = (request + 1) as f64 * step;
        let chosen = match policy {
            Policy::Uniform => request % config.n_pages,
            Policy::Proportional => {
                // Each page earns credit at its rate; the one with most is visited and pays one visit.
                pages.iter().zip(&mut credit).for_each(|(page, credit)| *credit += page.rate / total_rate);
                let chosen = best(&credit, |credit| *credit);
                credit[chosen] -= 1.0;
                chosen
            }
            Policy::Profit => by_value(&pages, RefreshPolicy::Profit, now, n_changes / watched),
            Policy::RateOptimal => by_value(&pages, RefreshPolicy::RateOptimal, now, n_changes / watched),
            Policy::RateOptimalKnown => {
                best(&pages, |page| RefreshPolicy::RateOptimal.value(1.0, page.rate / UNIT, age(page, now)))
            }
        };
        let page = &mut pages[chosen];
        fresh_time += overlap(page.visited_at, page.changes_at.min(now), half);
        page.history.record(age(page, now), page.changes_at <= now);
        n_changes += f64::from(page.changes_at <= now);
        watched += now - page.visited_at;
        page.visited_at = now;
        page.changes_at = now + wait(page.rate, &mut random);
    }
    let end = n_requests as f64 * step;
    fresh_time += pages.iter().map(|page| overlap(page.visited_at, page.changes_at.min(end), half)).sum::<f64>();
    FreshnessResult { policy, fresh: fresh_time / ((end - half) * config.n_pages as f64) }
}

/// The page that a crawl would ask for, by the rates that its visits have shown.
fn by_value(pages: &[Page], policy: RefreshPolicy, now: f64, prior: f64) -> usize {
    best(pages, |page| policy.value(1.0, page.history.rate_with_prior(prior / UNIT), age(page, now)))
}

fn age(page: &Page, now: f64) -> Duration {
    Duration::from_secs_f64((now - page.visited_at).max(0.0) * UNIT)
}

fn wait(rate: f64, random: &mut Random) -> f64 {
    -(1.0 - random.unit()).ln() / rate
}

fn overlap(from: f64, to: f64, after: f64) -> f64 {
    (to - from.max(after)).max(0.0)
}

fn best<T>(list: &[T], value: impl Fn(&T) -> f64) -> usize {
    let mut best = (0, f64::NEG_INFINITY);
    for (index, one) in list.iter().enumerate() {
        let value = value(one);
        if value > best.1 {
            best = (index, value);
        }
    }
    best.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_keeps_more_pages_fresh_than_uniform_and_proportional() {
        for budget in [0.3, 1.0, 3.0] {
            let config = SimulationConfig { n_pages: 200, budget, n_rounds: 60, ..SimulationConfig::default() };
            let fresh = |policy| simulate(config, policy).fresh;
            let default = fresh(Policy::RateOptimal);
            assert!(default > fresh(Policy::Uniform) + 0.005, "budget {budget}: {default}");
            assert!(default > fresh(Policy::Proportional) + 0.005, "budget {budget}: {default}");
        }
    }

    #[test]
    fn a_uniform_visitor_keeps_what_theory_says() {
        // One rate, one visit per change: (1 - 1/e) of the time is fresh.
        let config = SimulationConfig { n_pages: 300, n_decades: 0, ..SimulationConfig::default() };
        let fresh = simulate(config, Policy::Uniform).fresh;
        assert!((fresh - 0.632).abs() < 0.02, "{fresh}");
    }
}
