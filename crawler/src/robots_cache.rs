//! The rules of each origin, fetched once and kept for at most a day.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use url::Url;

use crate::robots::Robots;

/// RFC 9309 lets a robots.txt be used for a day.
const TTL: Duration = Duration::from_secs(24 * 3600);
/// How long the rules of a host stand that could not be had.
const UNREACHABLE_TTL: Duration = Duration::from_secs(3600);
/// Origins kept at most.
const MAX_ORIGINS: usize = 50_000;
/// How often an unreachable robots.txt is tried before its host is given up.
const ATTEMPTS: u32 = 3;

/// What is known about an origin.
#[derive(Clone, Debug)]
pub(crate) enum Rules {
    /// Its robots.txt must be asked for first.
    Unknown,
    /// What it says.
    Known(Arc<Robots>),
    /// It cannot be had, so nothing may be fetched.
    Unreachable,
}

struct Entry {
    robots: Option<Arc<Robots>>,
    failures: u32,
    until: Instant,
}

/// The robots.txt files of one crawl.
#[derive(Default)]
pub(crate) struct RobotsCache {
    origins: HashMap<String, Entry>,
}

impl RobotsCache {
    /// What is known about a URL's origin.
    pub(crate) fn get(&self, url: &Url) -> Rules {
        match self.origins.get(&origin(url)) {
            Some(entry) if entry.until > Instant::now() => match &entry.robots {
                Some(robots) => Rules::Known(Arc::clone(robots)),
                None if entry.failures >= ATTEMPTS => Rules::Unreachable,
                None => Rules::Unknown,
            },
            _ => Rules::Unknown,
        }
    }

    /// Keeps what an origin's robots.txt says.
    pub(crate) fn keep(&mut self, url: &Url, robots: Robots) -> Arc<Robots> {
        let robots = Arc::new(robots);
        self.make_room();
        let entry = Entry { robots: Some(Arc::clone(&robots)), failures: 0, until: Instant::now() + TTL };
        self.origins.insert(origin(url), entry);
        robots
    }

    /// Remembers that an origin's robots.txt could not be had once more.
    pub(crate) fn fail(&mut self, url: &Url) {
        self.make_room();
        let until = Instant::now() + UNREACHABLE_TTL;
        let entry = self.origins.entry(origin(url)).or_insert(Entry { robots: None, failures: 0, until });
        *entry = Entry { robots: None, failures: entry.failures + 1, until };
    }

    fn make_room(&mut self) {
        if self.origins.len() >= MAX_ORIGINS {
            let now = Instant::now();
            self.origins.retain(|_, entry| entry.until > now);
            if self.origins.len() >= MAX_ORIGINS {
                self.origins.clear();
            }
        }
    }
}

/// Scheme, host and port: what one robots.txt speaks for.
pub(crate) fn origin(url: &Url) -> String {
    url[..url::Position::BeforePath].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_unreachable_only_after_several_tries() {
        let url: Url = "http://a.test/x".parse().unwrap();
        let mut cache = RobotsCache::default();
        for _ in 0..ATTEMPTS {
            assert!(matches!(cache.get(&url), Rules::Unknown));
            cache.fail(&url);
        }
        assert!(matches!(cache.get(&url), Rules::Unreachable));
        cache.keep(&url, Robots::allow_all());
        assert!(matches!(cache.get(&"http://a.test/y".parse().unwrap()), Rules::Known(_)));
        assert!(matches!(cache.get(&"https://a.test/y".parse().unwrap()), Rules::Unknown));
    }
}
