//! The robots.txt of an origin: fetched before anything else of it, through redirects.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use url::Url;

use super::hops::{MAX_LOOKS, Place, RobotsAnswer, RobotsHop};
use super::sitemap::GUESSED_PATH;
use super::{Processed, Processor, health_of};
use crate::canonical::resolve as resolve_reference;
use crate::domain::site;
use crate::error::Error;
use crate::fetch::{FetchResponse, Need, Wanted};
use crate::frontier::{Claim, Frontier, HostRest, Kind, Lease, Link, StoredRobots, host_of};
use crate::outcome::Outcome;
use crate::pace::Health;
use crate::robots::{MAX_ROBOTS_BYTES, Robots};
use crate::robots_cache::{Rules, origin as origin_of};

/// Redirects followed from one robots.txt, as RFC 9309 asks.
const MAX_ROBOTS_HOPS: usize = 5;
/// How long a host that others redirect to may take to answer while other hosts wait for a slot: at first, after one
/// aborted response, and after two.
const HOP_PATIENCE: [Duration; 3] = [Duration::from_millis(1_500), Duration::from_secs(6), Duration::from_secs(20)];
/// Sitemaps on other sites that one robots.txt may name. The protocol allows them, and a few are in use; more would let
/// it name the pages of another site, each of which would then be asked for before all others.
const MAX_FOREIGN_SITEMAPS: usize = 8;

impl<F: Frontier> Processor<'_, F> {
    /// Fetches the robots.txt of a host instead of the leased URL, which is given back.
    pub(super) async fn process_robots(&self, lease: Lease, host: &str) -> Result<Processed, Error> {
        let url = lease.link.url.clone();
        let place = self.hops.borrow().place(&url);
        let (at, n_hops) = match place {
            Place::Own(at, n_hops) => (at, n_hops),
            Place::Elsewhere(wait) => return self.give_back(lease, HostRest::NotRequested(wait)).await,
        };
        let slot = match self.acquire_address(&url).await {
            Ok(slot) => slot,
            Err(wait) => return self.give_back(lease, HostRest::NotRequested(wait)).await,
        };
        let started = Instant::now();
        let response = self.unless_others_wait(lease.patience, self.fetch_robots(&at)).await;
        let elapsed = started.elapsed();
        drop(slot);
        let Some(response) = response else { return self.abort(lease, elapsed).await };
        if self.is_postponed(&response) {
            return self
                .give_back(lease, HostRest::AfterResponse(self.plan.politeness.delay_of(host).after(elapsed)))
                .await;
        }
        let health = robots_health(&response);
        let answer = match response {
            // No request can reach this origin; the URL itself will get the outcome.
            Err(Outcome::BlockedAddress | Outcome::NoAddress | Outcome::TlsError) if at.origin() == url.origin() => {
                RobotsAnswer::allow_all()
            }
            response => self.robots_answer(&at, response),
        };
        self.advance(&url, n_hops, answer).await?;
        let crawl_delay = self.robots.borrow_mut().crawl_delay(&url);
        let rest = self.rest_after(host, elapsed, health, crawl_delay);
        self.give_back(lease, HostRest::AfterResponse(rest)).await
    }

    /// The robots.txt rules of a URL's origin, from this run or from an earlier one.
    pub(super) async fn rules(&self, url: &Url) -> Result<Rules, Error> {
        let rules = self.robots.borrow_mut().get(url);
        if !matches!(rules, Rules::Unknown) {
            return Ok(rules);
        }
        let Some(stored) = self.frontier.stored_robots(&origin_of(url)).await? else { return Ok(rules) };
        let restored = self.robots.borrow_mut().restore(url, &stored, &self.plan.identity.product);
        let Some(robots) = restored else { return Ok(rules) };
        // The earlier run may have been killed between keeping the rules and offering the sitemaps.
        self.offer_sitemaps(url, &robots).await?;
        Ok(Rules::Known(robots))
    }

    /// Offers the sitemaps of an origin as far as they are known without a request; a request for the usual one brings
    /// the others with the robots.txt.
    pub(crate) async fn offer_known_sitemaps(&self, url: &Url) -> Result<(), Error> {
        if !self.plan.politeness.robots {
            return Ok(());
        }
        match self.rules(url).await? {
            Rules::Known(_) => Ok(()),
            Rules::Unknown | Rules::Unreachable => self.offer_sitemaps(url, &Robots::allow_all()).await,
        }
    }

    /// The next robots.txt to request from a host that another host redirects to.
    pub(crate) async fn next_hop(&self) -> Result<Option<RobotsHop>, Error> {
        self.hops.borrow_mut().look_at_busy_hosts();
        for _ in 0..MAX_LOOKS {
            let Some(host) = self.hops.borrow_mut().take_due_host() else { break };
            let claim = self.frontier.claim(&host).await?;
            let hop = self.hops.borrow_mut().claimed(host, claim);
            match (hop, claim) {
                (Some(hop), _) => return Ok(Some(hop)),
                // Nobody waits for this host any more.
                (None, Claim::Granted(id)) => self.frontier.release(id, HostRest::NotRequested(Duration::ZERO)).await?,
                (None, Claim::RetryAfter(_) | Claim::Busy) => {}
            }
        }
        Ok(None)
    }

    /// The time until [`Processor::next_hop`] may have something.
    pub(crate) fn next_hop_due(&self) -> Option<Duration> {
        self.hops.borrow().next_due()
    }

    /// Requests the robots.txt that other hosts redirect to.
    pub(super) async fn process_hop(&self, hop: RobotsHop) -> Result<Processed, Error> {
        let (url, host) = (hop.url.clone(), host_of(&hop.url));
        if self.failures.borrow().is_unreachable(&host) {
            self.frontier.release(hop.claim, HostRest::NotRequested(Duration::ZERO)).await?;
            self.answer_hop(&url, RobotsAnswer::Failed, Duration::ZERO).await?;
            return Ok(Processed::Returned(hop.claim));
        }
        let slot = match self.acquire_address(&url).await {
            Ok(slot) => slot,
            Err(wait) => {
                self.frontier.release(hop.claim, HostRest::NotRequested(wait)).await?;
                let claim = hop.claim;
                self.hops.borrow_mut().retry(hop, wait, 0);
                return Ok(Processed::Returned(claim));
            }
        };
        let started = Instant::now();
        let patience = HOP_PATIENCE.get(usize::from(hop.n_cuts)).copied();
        let response = self.unless_others_wait(patience, self.fetch_robots(&url)).await;
        drop(slot);
        let Some(response) = response else {
            let rest = self.rest_after(&host, started.elapsed(), Health::Healthy, None);
            self.frontier.release(hop.claim, HostRest::Aborted(rest)).await?;
            let (claim, n_cuts) = (hop.claim, hop.n_cuts + 1);
            self.hops.borrow_mut().retry(hop, rest, n_cuts);
            return Ok(Processed::Returned(claim));
        };
        let rest = self.rest_after(&host, started.elapsed(), health_of(&response), None);
        self.frontier.release(hop.claim, HostRest::AfterResponse(rest)).await?;
        if self.is_postponed(&response) {
            let claim = hop.claim;
            self.hops.borrow_mut().retry(hop, rest, 0);
            return Ok(Processed::Returned(claim));
        }
        let answer = self.robots_answer(&url, response);
        self.answer_hop(&url, answer, rest).await?;
        Ok(Processed::Returned(hop.claim))
    }

    async fn answer_hop(&self, url: &Url, answer: RobotsAnswer, rest: Duration) -> Result<(), Error> {
        let waiting = self.hops.borrow_mut().answered(url, &answer, rest);
        for origin in waiting {
            self.advance(&origin.origin, origin.n_hops, answer.clone()).await?;
        }
        Ok(())
    }

    async fn fetch_robots(&self, at: &Url) -> Result<FetchResponse, Outcome> {
        self.fetcher.fetch(at, Wanted::Anything(MAX_ROBOTS_BYTES), None, |_, _, _| Need::Body).await
    }

    /// Takes an answer for the robots.txt of an origin: the rules are cached, a redirect waits for its host.
    async fn advance(&self, origin: &Url, mut n_hops: usize, mut answer: RobotsAnswer) -> Result<(), Error> {
        while let RobotsAnswer::Redirect(next) = answer {
            if n_hops >= MAX_ROBOTS_HOPS {
                // With more redirects RFC 9309 allows the file to count as missing.
                answer = RobotsAnswer::allow_all();
                break;
            }
            n_hops += 1;
            let known = self.hops.borrow().answer(&next).filter(|_| host_of(&next) != host_of(origin));
            match known {
                Some(known) => answer = known,
                None => {
                    self.hops.borrow_mut().wait(origin, n_hops, next);
                    return Ok(());
                }
            }
        }
        self.hops.borrow_mut().end(origin);
        match answer {
            RobotsAnswer::Rules(robots, body) => {
                tracing::debug!(origin = origin.as_str(), bytes = body.len(), "the rules of robots.txt are known");
                self.robots.borrow_mut().insert(origin, robots.clone());
                let stored = StoredRobots { body: body.to_vec(), fetched_at: SystemTime::now() };
                self.frontier.store_robots(&origin_of(origin), &stored).await?;
                self.offer_sitemaps(origin, &robots).await?;
            }
            RobotsAnswer::Redirect(_) | RobotsAnswer::Failed => {
                tracing::debug!(origin = origin.as_str(), "robots.txt could not be had");
                self.robots.borrow_mut().record_failure(origin);
            }
        }
        Ok(())
    }

    /// What a response to a request for a robots.txt means.
    fn robots_answer(&self, at: &Url, response: Result<FetchResponse, Outcome>) -> RobotsAnswer {
        let allow_all = RobotsAnswer::allow_all;
        match response {
            Ok(FetchResponse::Page(page)) => {
                let rules = Robots::parse(&page.body, &self.plan.identity.product);
                RobotsAnswer::Rules(Arc::new(rules), page.body)
            }
            Ok(FetchResponse::Redirect(_, target)) => {
                resolve_reference(at, &target).map_or_else(allow_all, RobotsAnswer::Redirect)
            }
            Ok(FetchResponse::Status(429 | 500.., _)) => RobotsAnswer::Failed,
            Ok(FetchResponse::Status(..) | FetchResponse::Unwanted | FetchResponse::NotModified(_)) => allow_all(),
            Ok(FetchResponse::NotNow(_)) | Err(_) => RobotsAnswer::Failed,
        }
    }

    async fn offer_sitemaps(&self, url: &Url, robots: &Robots) -> Result<(), Error> {
        if !self.plan.politeness.sitemaps {
            return Ok(());
        }
        let mut named: Vec<&str> = robots.sitemaps().iter().map(String::as_str).collect();
        if named.is_empty() {
            named.push(GUESSED_PATH);
        }
        let found = named.into_iter().filter_map(|text| resolve_reference(url, text));
        let wanted = found.filter(|sitemap| self.scope.borrow().contains(sitemap));
        let (own, foreign): (Vec<Url>, Vec<Url>) = wanted.partition(|sitemap| site(sitemap) == site(url));
        let all = own.into_iter().chain(foreign.into_iter().take(MAX_FOREIGN_SITEMAPS));
        let links: Vec<Link> = all.map(|url| Link { kind: Kind::Sitemap, ..Link::page(url, 0) }).collect();
        self.frontier.offer(&links).await?;
        Ok(())
    }
}

/// How a host responded to a request for its robots.txt.
fn robots_health(response: &Result<FetchResponse, Outcome>) -> Health {
    match response {
        Ok(FetchResponse::Status(429 | 500.., wait)) => Health::Overloaded(*wait),
        Ok(_) | Err(Outcome::BlockedAddress | Outcome::NoAddress | Outcome::TlsError) => Health::Healthy,
        Err(_) => Health::Unreachable,
    }
}
