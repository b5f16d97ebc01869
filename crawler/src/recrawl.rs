//! Recrawling: estimating how often pages change, and which stored page to refresh next.

use std::time::Duration;

/// What repeated visits to a page have observed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ChangeHistory {
    /// Visits after the first.
    pub n_visits: u32,
    /// How many of them found the page changed.
    pub n_changes: u32,
    /// The time from the first visit to the last.
    pub observed: Duration,
}

/// How a crawl refreshes stored pages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Refresh {
    /// The share of requests that refresh stored pages while new ones wait, from 0 to 1.
    pub share: f64,
    /// The shortest time between two requests for a page.
    pub after: Duration,
    /// The largest number of refreshes in this run.
    pub limit: Option<u64>,
    /// How often a page may be refreshed in this run.
    pub pass: RefreshPass,
    /// Which page is next.
    pub policy: RefreshPolicy,
}

impl Default for Refresh {
    /// Three of ten requests, and every page at most once a day.
    fn default() -> Refresh {
        Refresh {
            share: 0.3,
            after: Duration::from_secs(86_400),
            limit: None,
            pass: RefreshPass::Once,
            policy: RefreshPolicy::RateOptimal,
        }
    }
}

/// How often one run refreshes a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RefreshPass {
    /// Once at most: pages are due by their age at the start of the run, so that a pass ends however long it takes.
    #[default]
    Once,
    /// Again whenever it is due; for runs with an end of their own.
    Repeated,
}

/// Which page is refreshed first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RefreshPolicy {
    /// The one whose visit adds most time that copies are fresh: [`refresh_value`].
    #[default]
    RateOptimal,
    /// WIRE's: the one with the largest [`profit`].
    Profit,
    /// The one whose last request is the longest ago.
    Uniform,
}

impl RefreshPolicy {
    /// The value of a refresh now, to be compared with other pages under the same policy.
    pub fn value(self, quality: f64, rate: f64, age: Duration) -> f64 {
        match self {
            RefreshPolicy::RateOptimal => refresh_value(quality, rate, age),
            RefreshPolicy::Profit => profit(quality, Some(freshness(rate, age))),
            RefreshPolicy::Uniform => age.as_secs_f64(),
        }
    }
}

/// The prior change rate of a page that was fetched once: one change a week.
pub(crate) const PRIOR_RATE: f64 = 1.0 / (7.0 * 86_400.0);

impl ChangeHistory {
    /// Adds a visit, `after` the one before it.
    pub fn record(&mut self, after: Duration, changed: bool) {
        self.n_visits = self.n_visits.saturating_add(1);
        self.n_changes = self.n_changes.saturating_add(u32::from(changed));
        self.observed = self.observed.saturating_add(after);
    }

    /// The estimated changes per second.
    pub fn rate(&self) -> f64 {
        self.rate_with_prior(PRIOR_RATE)
    }

    /// The estimated changes per second, with another prior rate for pages without history.
    ///
    /// A visit sees that something changed, not how often: of `n` visits with `x` changes, at a mean interval `i`, the
    /// estimate is −ln((n − x + ½) / (n + ½)) / i (Cho and Garcia-Molina), which does not take a page that changed
    /// every time for one that changes once per visit.
    pub fn rate_with_prior(&self, prior: f64) -> f64 {
        let seconds = self.observed.as_secs_f64();
        if self.n_visits == 0 || seconds <= 0.0 {
            return prior;
        }
        let (n, x) = (f64::from(self.n_visits), f64::from(self.n_changes));
        let interval = seconds / n;
        // A page that never changed may still change: half a change is assumed over the time of observation.
        let estimate = -((n - x + 0.5) / (n + 0.5)).ln() / interval;
        if x == 0.0 { 0.5 / (seconds + 0.5 / prior) } else { estimate }
    }
}

/// The probability that a stored copy of this age is still up to date.
pub fn freshness(rate: f64, age: Duration) -> f64 {
    (-rate * age.as_secs_f64()).exp()
}

/// WIRE's profit of a download: the quality of the page less what the copy at hand is still worth. A page never seen
/// has no freshness and profits by its whole quality.
pub fn profit(quality: f64, freshness: Option<f64>) -> f64 {
    quality - quality * freshness.unwrap_or(0.0)
}

/// How much a visit now adds to the time that the copy is fresh, for each visit that could be made elsewhere.
///
/// Always taking the page with the largest number leads to the rates that keep most copies fresh (the marginal value of
/// Cho and Garcia-Molina's optimum, which Azar and others show to be within 1 % as an on-line rule). Unlike [`profit`]
/// it is small for a page that changes faster than it could be refreshed.
pub fn refresh_value(quality: f64, rate: f64, age: Duration) -> f64 {
    if rate <= 0.0 {
        return 0.0;
    }
    let changes = rate * age.as_secs_f64();
    quality / rate * (1.0 - (-changes).exp() * (1.0 + changes))
}

/// The visits per second that each page should get of a budget, when visits come by chance at that rate: the solution
/// of the Lagrange condition, with pages not worth a visit at zero. `pages` are quality and rate of change.
pub fn optimal_rates(pages: &[(f64, f64)], budget: f64) -> Vec<f64> {
    let rates_at = |price: f64| {
        pages.iter().map(move |(quality, rate)| ((quality * rate / price).sqrt() - rate).max(0.0)).collect::<Vec<f64>>()
    };
    // The sum of rates falls as the price rises: halve the interval of prices until it meets the budget.
    let (mut low, mut high) = (1e-30f64, 1e30f64);
    for _ in 0..200 {
        let price = (low.ln() / 2.0 + high.ln() / 2.0).exp();
        if rates_at(price).iter().sum::<f64>() > budget {
            low = price;
        } else {
            high = price;
        }
    }
    rates_at(high)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3600);

    #[test]
    fn wires_worked_examples_come_out() {
        assert!((profit(0.4, Some(0.1)) - 0.36).abs() < 1e-9);
        assert!((profit(0.7, Some(0.9)) - 0.07).abs() < 1e-9);
        assert!((profit(0.6, None) - 0.60).abs() < 1e-9);
    }

    #[test]
    fn a_rate_is_learnt_from_visits_that_only_see_whether() {
        let mut history = ChangeHistory::default();
        assert_eq!(history.rate(), PRIOR_RATE);
        // A page with a change in ten hours shows one in about 9.5 % of hourly visits.
        for visit in 0..1000 {
            history.record(HOUR, visit % 21 < 2);
        }
        let per_hour = history.rate() * 3600.0;
        assert!((per_hour - 0.1).abs() < 0.01, "{per_hour}");
        let mut still = ChangeHistory::default();
        (0..100).for_each(|_| still.record(HOUR, false));
        assert!(still.rate() * 3600.0 < 0.01);
        let mut restless = ChangeHistory::default();
        (0..100).for_each(|_| restless.record(HOUR, true));
        assert!(restless.rate().is_finite() && restless.rate() * 3600.0 > 3.0);
    }

    #[test]
    fn a_page_that_cannot_be_followed_is_given_up() {
        let rates = optimal_rates(&[(1.0, 1000.0), (1.0, 1.0)], 1.0);
        assert_eq!(rates[0], 0.0);
        assert!((rates[1] - 1.0).abs() < 1e-6);
        assert!(refresh_value(1.0, 1.0, HOUR) < refresh_value(1.0, 1e-3, HOUR));
    }

    #[test]
    fn freshness_falls_with_age() {
        assert!((freshness(1.0 / 3600.0, HOUR) - (-1.0f64).exp()).abs() < 1e-9);
        assert_eq!(freshness(1.0, Duration::ZERO), 1.0);
    }
}
