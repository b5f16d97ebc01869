//! Orders that machines can keep together: rules which a server that knows no policy follows.

use super::Priority;

/// How scores and hosts are ordered where the policy itself does not run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SharedOrder {
    /// Which of the ready hosts is served first.
    pub hosts: HostOrder,
    /// What becomes of a URL that is found again.
    pub scores: ScoreOrder,
}

/// Which of the ready hosts is served first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum HostOrder {
    /// The one whose next link has the smallest priority.
    Best,
    /// The same, where a host stands back by half of the logarithm of its pages, times these steps.
    Damped(f32),
    /// The one with the longest queue.
    Largest,
    /// The one with the fewest pages.
    LeastVisited,
}

/// What becomes of a URL that is found again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ScoreOrder {
    /// Nothing: there are no scores.
    None,
    /// Scores add up; so many steps of priority per halving of a score.
    Halvings(f32),
    /// Scores add up; the priority is this number less the score, and above a hundred less its logarithm.
    Count(u8),
    /// It moves ahead when it is given a smaller priority.
    Given,
}

impl ScoreOrder {
    /// The priority of a URL with this score, if the score decides it.
    pub fn priority_of(self, score: f32) -> Option<Priority> {
        match self {
            ScoreOrder::None | ScoreOrder::Given => None,
            ScoreOrder::Halvings(steps) => Some(Priority::saturating((-score.log2() * steps).max(0.0) as u64)),
            ScoreOrder::Count(first) => {
                let steps = if score <= 100.0 { score } else { 100.0 + 12.0 * (score / 100.0).log2() };
                Some(Priority(first.saturating_sub((steps as u64).min(255) as u8)))
            }
        }
    }
}
