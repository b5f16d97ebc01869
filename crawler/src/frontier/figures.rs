//! The figures of a frontier.

use super::FetchRecord;
use crate::outcome::Outcome;

/// What [`Frontier::offer`](crate::Frontier::offer) did with the links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offered {
    /// URLs never seen before.
    pub new: u64,
    /// URLs that were known.
    pub known: u64,
    /// URLs of hosts for which there is no room, which wait on disk.
    pub postponed: u64,
}

/// Current figures of the frontier, for the progress line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Gauges {
    /// URLs waiting.
    pub pending: u64,
    /// URLs ever added.
    pub known: u64,
    /// URLs handed out and not settled.
    pub leased: u64,
    /// Hosts that are ready for a request.
    pub ready_hosts: u64,
    /// Hosts that are known.
    pub hosts: u64,
    /// Links to further hosts, which wait until there is room for them.
    pub postponed: u64,
}

/// Totals since the crawl began, over all its runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// The number of URLs per outcome, by its code.
    pub(super) outcomes: Vec<u64>,
    /// Bytes of the stored pages.
    pub bytes: u64,
    /// Response times, added up over all requests.
    pub milliseconds: u64,
}

impl Totals {
    /// The number of URLs with this outcome.
    pub fn of(&self, outcome: Outcome) -> u64 {
        self.outcomes.get(usize::from(outcome.code())).copied().unwrap_or(0)
    }

    /// URLs that are done.
    pub fn settled(&self) -> u64 {
        // The counts come from a file, in which anything may stand.
        self.outcomes.iter().fold(0, |sum: u64, count| sum.saturating_add(*count))
    }

    pub(crate) fn count(&mut self, record: FetchRecord) {
        let code = usize::from(record.outcome.code());
        if code >= self.outcomes.len() {
            self.outcomes.resize(code + 1, 0);
        }
        self.outcomes[code] += 1;
        self.milliseconds += u64::from(record.milliseconds);
        if record.outcome == Outcome::Stored {
            self.bytes += u64::from(record.bytes);
        }
    }
}

/// The figures of one host.
#[derive(Clone, Copy, Debug)]
pub struct HostTally<'f> {
    /// Its name, with the port where that is not the default of the scheme.
    pub name: &'f str,
    /// URLs waiting.
    pub pending: u64,
    /// Requests answered.
    pub fetched: u64,
    /// Pages stored.
    pub stored: u64,
    /// Bytes of those pages.
    pub bytes: u64,
    /// Response times, added up over its requests.
    pub milliseconds: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_that_no_crawl_has_do_not_overflow() {
        let totals = Totals { outcomes: vec![u64::MAX, 1], ..Totals::default() };
        assert_eq!(totals.settled(), u64::MAX);
    }
}
