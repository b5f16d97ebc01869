//! Leases and claims of a frontier in memory: who holds what, and until when.

use std::time::Duration;

use url::Url;

use super::super::{Claim, ContentMatch, FrontierError, HostRest, Kind, Lease, LeaseId, Leases, WorkerId};
use super::links::End;
use super::scheduling::HostState;
use super::state::{Entry, Held, Stage, State};

/// The bit of a lease's key that tells a claimed host from a leased URL.
const HOST_KEY: u128 = 1 << 64;

impl State {
    pub(super) fn lease(&mut self, worker: &WorkerId, most: usize) -> Leases {
        let now = self.now();
        self.end_leases(now);
        self.schedule.wake(now, &*self.options.policy);
        let mut granted = Vec::new();
        while granted.len() < most.max(1)
            && let Some(host) = self.schedule.next()
            && let Some((priority, place, url)) = self.schedule.hosts[host].queue.pop_first()
        {
            self.schedule.set_state(host, HostState::Busy);
            let entry = &mut self.urls[url as usize];
            debug_assert_eq!((entry.priority, entry.stage), (priority, Stage::Waiting(place)));
            entry.stage = Stage::Leased;
            self.n_leased += 1;
            let id = self.hold(u128::from(url), worker, now);
            let Entry { link, attempts, .. } = &self.urls[url as usize];
            let (link, attempts, trace) = (link.clone(), *attempts, Box::default());
            granted.push(Lease { link, attempts, validators: None, patience: None, trace, id });
        }
        if !granted.is_empty() {
            return Leases::Granted(granted);
        }
        let next_end = self.ends.first().map(|(until, _)| *until);
        let is_pending = self.schedule.pending() > 0;
        let next_waking = self.schedule.next_waking().filter(|_| is_pending);
        match [next_waking, next_end].into_iter().flatten().min() {
            Some(until) => Leases::Wait(until.saturating_sub(now).max(Duration::from_micros(1))),
            None if is_pending || self.n_leased > 0 => Leases::Wait(Duration::from_secs(1)),
            None => Leases::Empty,
        }
    }

    fn hold(&mut self, key: u128, worker: &WorkerId, now: Duration) -> LeaseId {
        self.last_fence += 1;
        let until = self.options.lease_time.map(|time| now + time);
        self.ends.extend(until.map(|until| (until, key)));
        self.held.insert(key, Held { fence: self.last_fence, worker: worker.clone(), has_rested: false, until });
        LeaseId::new(key, self.last_fence)
    }

    /// Ends what was held, if it still is by this lease; gives its key.
    pub(super) fn let_go(&mut self, id: LeaseId) -> Result<u128, FrontierError> {
        self.check(id)?;
        if let Some(Held { until: Some(until), .. }) = self.held.remove(&id.key()) {
            self.ends.remove(&(until, id.key()));
        }
        Ok(id.key())
    }

    pub(super) fn check(&mut self, id: LeaseId) -> Result<(), FrontierError> {
        let now = self.now();
        self.end_leases(now);
        let is_held = self.held.get(&id.key()).is_some_and(|held| held.fence == id.fence());
        is_held.then_some(()).ok_or(FrontierError::Fenced)
    }

    /// Ends the leases and claims that were not renewed in time: their URLs are next, and their hosts may be asked.
    fn end_leases(&mut self, now: Duration) {
        while let Some(&(until, key)) = self.ends.first().filter(|(until, _)| *until <= now) {
            self.ends.remove(&(until, key));
            self.held.remove(&key);
            let host = match key & HOST_KEY {
                0 => {
                    self.n_leased -= 1;
                    let url = key as usize;
                    self.urls[url].stage = Stage::Done;
                    self.queue(url, self.urls[url].priority, End::Front);
                    self.urls[url].host
                }
                _ => (key - HOST_KEY) as usize,
            };
            if self.schedule.hosts[host].state == HostState::Busy {
                self.schedule.rest(host, now, now, &*self.options.policy);
            }
        }
    }

    pub(super) fn lease_time(&self) -> Option<Duration> {
        self.options.lease_time
    }

    pub(super) fn renew(&mut self, worker: &WorkerId, leases: &[LeaseId]) -> Result<(), FrontierError> {
        let now = self.now();
        self.end_leases(now);
        let until = self.options.lease_time.map(|time| now + time);
        let mut result = Ok(());
        for id in leases {
            match self.held.get_mut(&id.key()).filter(|held| held.fence == id.fence() && held.worker == *worker) {
                Some(held) => {
                    if let (Some(old), Some(until)) = (held.until, until) {
                        self.ends.remove(&(old, id.key()));
                        self.ends.insert((until, id.key()));
                    }
                    held.until = until;
                }
                None => result = Err(FrontierError::Fenced),
            }
        }
        result
    }

    pub(super) fn rest(&mut self, id: LeaseId, rest: HostRest) -> Result<(), FrontierError> {
        self.check(id)?;
        if self.held.get_mut(&id.key()).is_some_and(|held| std::mem::replace(&mut held.has_rested, true)) {
            return Ok(());
        }
        let entry = &self.urls[id.key() as usize];
        self.rest_host(entry.host, rest, entry.link.kind == Kind::Page);
        Ok(())
    }

    fn rest_host(&mut self, number: usize, rest: HostRest, is_page: bool) {
        let host = &mut self.schedule.hosts[number];
        let time = match rest {
            HostRest::NotRequested(time) => time,
            HostRest::AfterResponse(time) | HostRest::Aborted(time) => {
                host.fetched += 1;
                host.pages += u64::from(is_page);
                time
            }
        };
        let now = self.now();
        self.schedule.rest(number, now + time, now, &*self.options.policy);
    }

    pub(super) fn give_back(&mut self, id: LeaseId, rest: HostRest) -> Result<(), FrontierError> {
        let url = self.let_go(id)? as usize;
        self.n_leased -= 1;
        self.urls[url].stage = Stage::Done;
        self.queue(url, self.urls[url].priority, End::Front);
        self.apply_late_claim(url);
        self.rest_host(self.urls[url].host, rest, false);
        Ok(())
    }

    pub(super) fn claim(&mut self, worker: &WorkerId, host: &str) -> Claim {
        let now = self.now();
        self.end_leases(now);
        self.schedule.wake(now, &*self.options.policy);
        let number = self.schedule.number(host);
        match self.schedule.hosts[number].state {
            HostState::Busy => Claim::Busy,
            HostState::Resting(until) => Claim::RetryAfter(until - now),
            HostState::Idle | HostState::Ready(_) | HostState::Exhausted => {
                self.schedule.set_state(number, HostState::Busy);
                Claim::Granted(self.hold(HOST_KEY + number as u128, worker, now))
            }
        }
    }

    pub(super) fn release(&mut self, claim: LeaseId, rest: HostRest) -> Result<(), FrontierError> {
        let number = (self.let_go(claim)? - HOST_KEY) as usize;
        self.rest_host(number, rest, false);
        Ok(())
    }

    pub(super) fn match_content(&mut self, id: LeaseId, digest: u64) -> Result<ContentMatch, FrontierError> {
        self.check(id)?;
        let url = id.key() as usize;
        let first = *self.schedule.hosts[self.urls[url].host].contents.entry(digest).or_insert(url as u32) as usize;
        // Anyone can add a query to the URLs of a host and name those first.
        let without_query = |url: &Url| {
            let mut url = url.clone();
            url.set_query(None);
            url
        };
        let first_url = &self.urls[first].link.url;
        let is_own =
            first == url || (first_url.query().is_some() && without_query(first_url) == self.urls[url].link.url);
        Ok(match is_own {
            true if self.urls[url].content == digest => ContentMatch::Unchanged,
            true => ContentMatch::New,
            false => ContentMatch::Duplicate,
        })
    }
}
