//! Redirects of robots.txt files: which origins wait for which URL of which host.
//!
//! An origin whose robots.txt redirects to another host gives its slot and its host back. The redirect waits here until
//! the other host is free, so that no request ever waits for one host while it holds another.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use url::Url;

use crate::frontier::{Claim, LeaseId, host_of};
use crate::robots::Robots;
use crate::robots_cache::origin as origin_of;

/// How long the answer to a redirect target is used for other origins that redirect to it.
const TTL: Duration = Duration::from_secs(3600);
/// Answers kept at most.
const MAX_ANSWERS: usize = 1_000;
/// Hosts that are looked at in one turn.
pub(super) const MAX_LOOKS: usize = 32;
/// The time that pages of a host have between two robots.txt requests for other hosts, at least.
const LEAST_GAP: Duration = Duration::from_millis(5);

/// The answer to one request for a robots.txt.
#[derive(Clone, Debug)]
pub(super) enum RobotsAnswer {
    /// The rules, and the bytes that they were read from.
    Rules(Arc<Robots>, Bytes),
    /// A redirect to this URL.
    Redirect(Url),
    /// No answer that counts.
    Failed,
}

impl RobotsAnswer {
    /// There is no robots.txt.
    pub(super) fn allow_all() -> RobotsAnswer {
        RobotsAnswer::Rules(Arc::new(Robots::allow_all()), Bytes::new())
    }
}

/// An origin whose robots.txt was redirected.
#[derive(Clone, Debug)]
pub(super) struct Waiting {
    /// A URL of the origin.
    pub(super) origin: Url,
    /// How many redirects led to the URL that it waits for.
    pub(super) n_hops: usize,
}

/// Where the robots.txt of an origin is to be found.
pub(super) enum Place {
    /// At this URL of its own host, after so many redirects.
    Own(Url, usize),
    /// On another host; ask again after this long.
    Elsewhere(Duration),
}

/// The right to request a robots.txt from a host that another host redirects to.
pub(crate) struct RobotsHop {
    pub(super) claim: LeaseId,
    pub(super) url: Url,
    /// Responses that were aborted because they took too long.
    pub(super) n_cuts: u8,
}

impl RobotsHop {
    /// The claim of the host.
    pub(crate) fn claim(&self) -> LeaseId {
        self.claim
    }
}

#[derive(Default)]
struct Target {
    urls: VecDeque<Url>,
    n_cuts: u8,
    is_in_flight: bool,
}

/// The redirects of one crawl.
#[derive(Default)]
pub(super) struct RobotsHops {
    /// By origin: the URL it waits for, the redirects so far, and since when.
    places: HashMap<String, (Url, usize, Instant)>,
    /// By URL: who waits for it.
    waiting: HashMap<Url, Vec<Waiting>>,
    targets: HashMap<String, Target>,
    /// Hosts with waiting URLs, by the time at which to try them.
    due: BinaryHeap<Reverse<(Instant, String)>>,
    /// Hosts with waiting URLs that have a request in flight.
    busy: VecDeque<String>,
    answers: HashMap<Url, (Instant, RobotsAnswer)>,
}

impl RobotsHops {
    /// Where to find the robots.txt of a URL's origin.
    pub(super) fn place(&self, url: &Url) -> Place {
        match self.places.get(&origin_of(url)) {
            None => Place::Own(url.join("/robots.txt").expect("an HTTP URL has a path"), 0),
            Some((at, n_hops, _)) if host_of(at) == host_of(url) => Place::Own(at.clone(), *n_hops),
            // The longer it has waited, the rarer it asks: a thousand origins may wait for one host.
            Some((.., since)) => {
                Place::Elsewhere((since.elapsed() / 2).clamp(Duration::from_millis(100), Duration::from_secs(30)))
            }
        }
    }

    /// The answer of a URL, when another origin was redirected to it lately.
    pub(super) fn answer(&self, url: &Url) -> Option<RobotsAnswer> {
        self.answers.get(url).filter(|(until, _)| *until > Instant::now()).map(|(_, answer)| answer.clone())
    }

    /// Lets an origin wait for a URL.
    pub(super) fn wait(&mut self, origin: &Url, n_hops: usize, at: Url) {
        let (now, host) = (Instant::now(), host_of(&at));
        self.places.insert(origin_of(origin), (at.clone(), n_hops, now));
        if host == host_of(origin) {
            return;
        }
        let waiting = self.waiting.entry(at.clone()).or_default();
        waiting.push(Waiting { origin: origin.clone(), n_hops });
        if waiting.len() > 1 {
            return;
        }
        let target = self.targets.entry(host.clone()).or_default();
        target.urls.push_back(at);
        if target.urls.len() == 1 && !target.is_in_flight {
            self.due.push(Reverse((now, host)));
        }
    }

    /// The robots.txt of an origin waits for nothing any more.
    pub(super) fn end(&mut self, origin: &Url) {
        if !self.places.is_empty() {
            self.places.remove(&origin_of(origin));
        }
    }

    /// Hosts that had a request in flight may be free now.
    pub(super) fn look_at_busy_hosts(&mut self) {
        let now = Instant::now();
        for _ in 0..self.busy.len().min(MAX_LOOKS) {
            self.due.extend(self.busy.pop_front().map(|host| Reverse((now, host))));
        }
    }

    /// The next host that may be tried; [`RobotsHops::claimed`] must follow.
    pub(super) fn take_due_host(&mut self) -> Option<String> {
        self.due.peek().filter(|Reverse((at, _))| *at <= Instant::now())?;
        self.due.pop().map(|Reverse((_, host))| host)
    }

    /// Takes the answer to the claim of a host: gives the request that may be sent to it, if any.
    pub(super) fn claimed(&mut self, host: String, claim: Claim) -> Option<RobotsHop> {
        match claim {
            Claim::Granted(claim) => {
                let target = self.targets.entry(host).or_default();
                let url = target.urls.pop_front()?;
                target.is_in_flight = true;
                return Some(RobotsHop { claim, url, n_cuts: target.n_cuts });
            }
            Claim::RetryAfter(wait) => self.due.push(Reverse((Instant::now() + wait, host))),
            Claim::Busy => self.busy.push_back(host),
        }
        None
    }

    /// The time until [`RobotsHops::take_due_host`] may have something.
    pub(super) fn next_due(&self) -> Option<Duration> {
        self.due.peek().map(|Reverse((at, _))| at.saturating_duration_since(Instant::now()))
    }

    /// A request was not made, or aborted: its URL is first in line again after a time.
    pub(super) fn retry(&mut self, hop: RobotsHop, wait: Duration, n_cuts: u8) {
        let host = host_of(&hop.url);
        let target = self.targets.entry(host.clone()).or_default();
        target.n_cuts = n_cuts;
        target.is_in_flight = false;
        target.urls.push_front(hop.url);
        self.due.push(Reverse((Instant::now() + wait, host)));
    }

    /// A request was answered; gives the origins that waited for it. The host rests for `rest`, and its own pages have
    /// the turn after that.
    pub(super) fn answered(&mut self, url: &Url, answer: &RobotsAnswer, rest: Duration) -> Vec<Waiting> {
        let (now, host) = (Instant::now(), host_of(url));
        if let Some(target) = self.targets.get_mut(&host) {
            target.is_in_flight = false;
            match target.urls.is_empty() {
                true => drop(self.targets.remove(&host)),
                false => self.due.push(Reverse((now + (rest * 2).max(rest + LEAST_GAP), host))),
            }
        }
        if !matches!(answer, RobotsAnswer::Failed) {
            if self.answers.len() >= MAX_ANSWERS {
                self.answers.clear();
            }
            self.answers.insert(url.clone(), (now + TTL, answer.clone()));
        }
        self.waiting.remove(url).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        text.parse().unwrap()
    }

    fn granted() -> Claim {
        Claim::Granted(LeaseId::new(7, 1))
    }

    /// Tries the next host, which answers like this.
    fn next(hops: &mut RobotsHops, answer: Claim) -> Option<RobotsHop> {
        hops.look_at_busy_hosts();
        let host = hops.take_due_host()?;
        hops.claimed(host, answer)
    }

    #[test]
    fn one_answer_serves_all_origins_that_wait_for_it() {
        let mut hops = RobotsHops::default();
        let at = url("http://rules.test/robots.txt");
        for host in ["a", "b", "c"] {
            hops.wait(&url(&format!("http://{host}.test/x")), 1, at.clone());
        }
        assert!(matches!(hops.place(&url("http://a.test/y")), Place::Elsewhere(_)));
        let hop = next(&mut hops, granted()).expect("the host is free");
        assert_eq!((hop.claim.key(), &hop.url), (7, &at));
        assert!(next(&mut hops, granted()).is_none(), "it is asked once");
        let answer = RobotsAnswer::allow_all();
        assert_eq!(hops.answered(&at, &answer, Duration::ZERO).len(), 3);
        assert!(hops.answer(&at).is_some());
    }

    #[test]
    fn a_busy_host_is_asked_again_and_a_resting_one_later() {
        let mut hops = RobotsHops::default();
        hops.wait(&url("http://a.test/"), 1, url("http://rules.test/robots.txt"));
        assert!(next(&mut hops, Claim::Busy).is_none());
        let rest = Duration::from_secs(60);
        assert!(next(&mut hops, Claim::RetryAfter(rest)).is_none());
        assert!(next(&mut hops, granted()).is_none(), "it rests");
        assert!(hops.next_due().unwrap() > Duration::from_secs(50));
    }

    #[test]
    fn a_redirect_within_a_host_is_left_to_its_own_leases() {
        let mut hops = RobotsHops::default();
        let (own, other) = (url("http://a.test/"), url("https://a.test:8443/robots.txt"));
        hops.wait(&own, 2, url("http://a.test/rules"));
        assert!(matches!(hops.place(&own), Place::Own(at, 2) if at.path() == "/rules"));
        assert!(next(&mut hops, granted()).is_none());
        hops.wait(&own, 3, other);
        assert!(matches!(hops.place(&own), Place::Elsewhere(_)), "another port is another host");
        hops.end(&own);
        assert!(matches!(hops.place(&own), Place::Own(_, 0)));
    }
}
