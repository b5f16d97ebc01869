//! By URL level: home pages before pages deep in a site.

use super::{HostCounts, HostOrder, OrderingPolicy, Priority, ScoreOrder, SharedOrder};
use crate::frontier::Link;

/// Ten per slash in the path plus one per label in front of the registrable domain.
pub struct Level;

impl OrderingPolicy for Level {
    fn name(&self) -> &'static str {
        "level"
    }

    fn shared(&self) -> Option<SharedOrder> {
        Some(SharedOrder { hosts: HostOrder::Best, scores: ScoreOrder::None })
    }

    fn prioritize(&mut self, link: &Link, _host: &HostCounts, _score: &mut f32) -> Priority {
        Priority::saturating(level(link))
    }
}

fn level(link: &Link) -> u64 {
    let slashes = link.url.path().bytes().filter(|&byte| byte == b'/').count() as u64;
    let dots = |name: &str| name.bytes().filter(|&byte| byte == b'.').count() as u64;
    let host = link.url.host_str().unwrap_or("");
    let extra = psl::domain_str(host).map_or(0, |domain| dots(host).saturating_sub(dots(domain)));
    10 * slashes + extra
}

#[cfg(test)]
mod tests {
    use super::level;
    use crate::frontier::Link;

    #[track_caller]
    fn check(url: &str, expected: u64) {
        assert_eq!(level(&Link::seed(url.parse().unwrap())), expected, "{url}");
    }

    #[test]
    fn a_slash_weighs_ten_and_a_subdomain_one() {
        check("http://catho.com.br/", 10);
        check("http://www.catho.com.br/", 11);
        check("http://a.b.catho.com.br/jobs/1.html", 22);
    }
}
