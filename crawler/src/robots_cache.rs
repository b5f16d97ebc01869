//! The cache of robots.txt rules by origin, within a number of bytes.

use std::sync::Arc;
use std::time::{Duration, Instant};

use url::Url;

use crate::frontier::StoredRobots;
use crate::generations::Generations;
use crate::robots::Robots;

/// RFC 9309 allows a robots.txt to be cached for a day.
pub(crate) const ROBOTS_TTL: Duration = Duration::from_secs(24 * 3600);
/// How long a failure to fetch a robots.txt is cached.
const UNREACHABLE_TTL: Duration = Duration::from_secs(3600);
/// Attempts to fetch a robots.txt before its origin counts as unreachable.
const ATTEMPTS: u32 = 3;
/// Rules of more bytes share a part of the cache of their own, so that a few huge files do not displace all others.
const LARGE_BYTES: usize = 64 << 10;

/// The cached state of an origin.
#[derive(Clone, Debug)]
pub(crate) enum Rules {
    /// Its robots.txt must be fetched first.
    Unknown,
    /// Its rules.
    Known(Arc<Robots>),
    /// It could not be fetched, so nothing else may be.
    Unreachable,
}

struct Entry {
    robots: Option<Arc<Robots>>,
    failures: u32,
    until: Instant,
    bytes: usize,
}

/// The robots.txt files of one crawl.
pub(crate) struct RobotsCache {
    small: Generations<Entry>,
    large: Generations<Entry>,
}

impl RobotsCache {
    /// A cache that takes so many bytes at most.
    pub(crate) fn new(max_bytes: usize) -> RobotsCache {
        RobotsCache { small: Generations::new(max_bytes / 2), large: Generations::new(max_bytes / 2) }
    }

    /// The state of a URL's origin.
    pub(crate) fn get(&mut self, url: &Url) -> Rules {
        match self.entry(&origin(url)) {
            Some(entry) if entry.until > Instant::now() => match &entry.robots {
                Some(robots) => Rules::Known(Arc::clone(robots)),
                None if entry.failures >= ATTEMPTS => Rules::Unreachable,
                None => Rules::Unknown,
            },
            _ => Rules::Unknown,
        }
    }

    /// Caches the rules of an origin.
    pub(crate) fn insert(&mut self, url: &Url, robots: Arc<Robots>) {
        let bytes = robots.heap_bytes();
        self.put(url, Entry { robots: Some(robots), failures: 0, until: Instant::now() + ROBOTS_TTL, bytes });
    }

    /// The Crawl-delay of a URL's origin, if its rules are known and name one.
    pub(crate) fn crawl_delay(&mut self, url: &Url) -> Option<Duration> {
        self.entry(&origin(url))?.robots.as_ref()?.crawl_delay()
    }

    /// Caches the rules of an origin that an earlier run has fetched, for what is left of their time; `None` when it is
    /// over.
    pub(crate) fn restore(&mut self, url: &Url, robots: &StoredRobots, product: &str) -> Option<Arc<Robots>> {
        let left = ROBOTS_TTL.checked_sub(robots.fetched_at.elapsed().ok()?).filter(|left| !left.is_zero())?;
        let rules = Arc::new(Robots::parse(&robots.body, product));
        let bytes = rules.heap_bytes();
        self.put(url, Entry { robots: Some(Arc::clone(&rules)), failures: 0, until: Instant::now() + left, bytes });
        Some(rules)
    }

    /// Counts a failure to fetch the robots.txt of an origin.
    pub(crate) fn record_failure(&mut self, url: &Url) {
        let failures = self.entry(&origin(url)).map_or(0, |entry| entry.failures) + 1;
        self.put(url, Entry { robots: None, failures, until: Instant::now() + UNREACHABLE_TTL, bytes: 0 });
    }

    fn entry(&mut self, origin: &str) -> Option<&Entry> {
        match self.small.get(origin) {
            Some(entry) => Some(entry),
            None => self.large.get(origin),
        }
    }

    fn put(&mut self, url: &Url, entry: Entry) {
        let origin = origin(url);
        self.small.remove(&origin);
        self.large.remove(&origin);
        if entry.bytes > LARGE_BYTES { &mut self.large } else { &mut self.small }.insert(origin, entry.bytes, entry);
    }
}

/// Scheme, host and port: what one robots.txt applies to.
pub(crate) fn origin(url: &Url) -> String {
    url[..url::Position::BeforePath].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::SystemTime;

    #[test]
    fn an_origin_is_unreachable_only_after_several_tries() {
        let url: Url = "http://a.test/x".parse().unwrap();
        let mut cache = RobotsCache::new(1 << 20);
        for _ in 0..ATTEMPTS {
            assert!(matches!(cache.get(&url), Rules::Unknown));
            cache.record_failure(&url);
        }
        assert!(matches!(cache.get(&url), Rules::Unreachable));
        cache.insert(&url, Arc::new(Robots::allow_all()));
        assert!(matches!(cache.get(&"http://a.test/y".parse().unwrap()), Rules::Known(_)));
        assert!(matches!(cache.get(&"https://a.test/y".parse().unwrap()), Rules::Unknown));
    }

    #[test]
    fn large_files_displace_each_other_and_not_the_small_ones() {
        let mut cache = RobotsCache::new(4 << 20);
        let url = |number: usize| format!("http://h{number}.test/").parse::<Url>().unwrap();
        let large: String = (0..20_000).map(|number| format!("Disallow: /directory/{number}\n")).collect();
        let large = Robots::parse(format!("User-agent: *\n{large}").as_bytes(), "pith");
        assert!(large.heap_bytes() > LARGE_BYTES);
        let large = Arc::new(large);
        for number in 0..1_000 {
            cache.insert(&url(number), Arc::new(Robots::allow_all()));
        }
        for number in 1_000..1_100 {
            cache.insert(&url(number), large.clone());
        }
        assert!((0..1_000).all(|number| matches!(cache.get(&url(number)), Rules::Known(_))));
        let n_large = (1_000..1_100).filter(|number| matches!(cache.get(&url(*number)), Rules::Known(_))).count();
        assert!((1..=4 << 20).contains(&(n_large * large.heap_bytes())), "{n_large} are kept");
    }

    #[test]
    fn rules_of_an_earlier_run_hold_for_the_rest_of_their_day() {
        let url: Url = "http://a.test/x".parse().unwrap();
        let robots = |age: Duration| StoredRobots {
            body: b"User-agent: *\nDisallow: /x".to_vec(),
            fetched_at: SystemTime::now() - age,
        };
        let mut cache = RobotsCache::new(4 << 20);
        assert!(cache.restore(&url, &robots(ROBOTS_TTL), "pith").is_none());
        let mut future = robots(Duration::ZERO);
        future.fetched_at += Duration::from_secs(60);
        assert!(cache.restore(&url, &future, "pith").is_none(), "a clock that was set back");
        assert!(matches!(cache.get(&url), Rules::Unknown));
        let rules = cache.restore(&url, &robots(ROBOTS_TTL / 2), "pith").unwrap();
        assert!(!rules.allows(url.as_str()));
        assert!(matches!(cache.get(&url), Rules::Known(_)));
    }
}
