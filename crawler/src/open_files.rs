//! The number of files that the process may have open, connections included.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// What the frontier, the sink and the program itself keep open, at most.
const OWN_FILES: usize = 128;
/// Where the system sets no limit.
const NO_LIMIT: usize = 1 << 20;

/// How many connections a crawl may have open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenFiles {
    /// Requests in flight at once.
    pub slots: usize,
    /// Connections that are kept open between requests.
    pub max_idle: usize,
}

impl OpenFiles {
    /// Raises the limit of the process as far as the system lets it, and shares it out: so many requests in flight as
    /// asked for if possible, and the rest for idle connections and the files of the crawl.
    pub fn raise_limit(slots: usize) -> OpenFiles {
        let limit = getrlimit(Resource::Nofile);
        let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
        let limit = if setrlimit(Resource::Nofile, raised).is_ok() { raised } else { limit };
        let most = limit.current.map_or(NO_LIMIT, |most| usize::try_from(most).unwrap_or(NO_LIMIT));
        OpenFiles::share_out(slots, most)
    }

    fn share_out(slots: usize, most: usize) -> OpenFiles {
        let most = most.saturating_sub(OWN_FILES).max(most / 2).max(2);
        // A request may open a connection while that of an earlier one is still being closed.
        let slots = slots.min(most / 2).max(1);
        OpenFiles { slots, max_idle: most.saturating_sub(slots * 3 / 2).min(MAX_IDLE) }
    }
}

/// Idle connections take memory as well: with TLS some ten kilobytes each.
const MAX_IDLE: usize = 2_048;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_shared_out() {
        assert_eq!(OpenFiles::share_out(128, 1024), OpenFiles { slots: 128, max_idle: 704 });
        assert_eq!(OpenFiles::share_out(128, 1 << 20), OpenFiles { slots: 128, max_idle: MAX_IDLE });
        assert_eq!(OpenFiles::share_out(4_000, 1024).slots, 448);
        assert_eq!(OpenFiles::share_out(128, 64), OpenFiles { slots: 16, max_idle: 8 });
    }
}
