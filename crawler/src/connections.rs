//! Idle connections: how many are kept open, over all hosts.
//!
//! The pool of the HTTP client bounds idle connections per host only. A crawl of thousands of hosts would keep one for
//! each, until no file can be opened any more.

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

/// How long an idle connection is kept.
pub(crate) const IDLE_TIME: Duration = Duration::from_secs(60);

/// The origins to which connections are kept open.
pub(crate) struct Connections {
    max_kept: usize,
    /// When each origin, by the digest of its name, got its last request.
    last_used: HashMap<u64, Instant>,
    /// The same origins, by the time at which they were last looked at.
    order: VecDeque<(Instant, u64)>,
}

impl Connections {
    /// At most so many connections are kept.
    pub(crate) fn new(max_kept: usize) -> Connections {
        Connections { max_kept, last_used: HashMap::new(), order: VecDeque::new() }
    }

    /// Whether the connection of a request to this origin may be kept open.
    pub(crate) fn may_keep(&mut self, origin: u64, now: Instant) -> bool {
        while let Some(&(at, oldest)) = self.order.front()
            && now.saturating_duration_since(at) > IDLE_TIME
        {
            self.order.pop_front();
            match self.last_used.get(&oldest).copied() {
                Some(used) if used > at => self.order.push_back((used, oldest)),
                _ => drop(self.last_used.remove(&oldest)),
            }
        }
        if let Some(used) = self.last_used.get_mut(&origin) {
            *used = now;
            return true;
        }
        let has_room = self.last_used.len() < self.max_kept;
        if has_room {
            self.last_used.insert(origin, now);
            self.order.push_back((now, origin));
        }
        has_room
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_kept_up_to_a_bound_and_idle_ones_make_room() {
        let start = Instant::now();
        let at = |seconds: u64| start + Duration::from_secs(seconds);
        let mut connections = Connections::new(2);
        assert!(connections.may_keep(1, at(0)) && connections.may_keep(2, at(0)));
        assert!(!connections.may_keep(3, at(1)));
        assert!(connections.may_keep(1, at(50)), "it is open");
        assert!(connections.may_keep(3, at(70)), "the second was closed");
        assert!(!connections.may_keep(4, at(70)), "the first was used in between");
        assert!(connections.may_keep(4, at(140)));
    }
}
