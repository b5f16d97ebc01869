//! How a crawl calls its frontier: a backend that cannot be reached is asked again, and one that does not answer is not
//! waited for.

use std::cell::Cell;
use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

use url::Url;

use super::{
    Claim, ContentMatch, Frontier, FrontierError, HostRest, Lease, LeaseId, Leases, Link, Offered, SettledBatch,
    Settlement, StoredRobots, WorkerId,
};
use crate::error::Error;

/// A call that is not answered within this time is made again.
const ANSWER_TIME: Duration = Duration::from_secs(10);
/// The first pause before a call is made again; it doubles as long as there is no answer.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
/// The longest pause.
const MAX_PAUSE: Duration = Duration::from_secs(5);

/// A frontier as one worker calls it. Every call is repeated until it is answered; repeating one changes nothing.
pub(crate) struct PatientFrontier<'c, F> {
    frontier: &'c F,
    worker: WorkerId,
    is_unavailable: Cell<bool>,
}

impl<'c, F: Frontier> PatientFrontier<'c, F> {
    pub(crate) fn new(frontier: &'c F, worker: WorkerId) -> PatientFrontier<'c, F> {
        PatientFrontier { frontier, worker, is_unavailable: Cell::new(false) }
    }

    /// The frontier itself, for what needs no answer.
    pub(crate) fn backend(&self) -> &'c F {
        self.frontier
    }

    /// Why nothing can be asked of the frontier now.
    pub(crate) fn trouble(&self) -> Option<&'static str> {
        self.is_unavailable.get().then_some("the frontier does not answer")
    }

    pub(crate) async fn offer(&self, links: &[Link]) -> Result<Offered, Error> {
        self.call(async || self.frontier.offer(links).await).await
    }

    pub(crate) async fn expedite(&self, links: &[Link]) -> Result<(), Error> {
        self.call(async || self.frontier.expedite(links).await).await
    }

    pub(crate) async fn lease(&self, most: usize) -> Result<Leases, Error> {
        self.call(async || self.frontier.lease(&self.worker, most).await).await
    }

    /// Renews leases once; those of which nothing is heard may be lost.
    pub(crate) async fn renew(&self, leases: &[LeaseId]) -> Result<(), Error> {
        match answered(self.frontier.renew(&self.worker, leases)).await {
            Err(FrontierError::Damaged(error)) => Err(error),
            Err(error @ (FrontierError::Fenced | FrontierError::Unavailable(_))) => {
                tracing::warn!(%error, "leases could not be renewed");
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }

    pub(crate) async fn rest(&self, lease: &Lease, rest: HostRest) -> Result<(), Error> {
        self.call(async || self.frontier.rest(lease, rest).await).await
    }

    pub(crate) async fn give_back(&self, lease: &Lease, rest: HostRest) -> Result<(), Error> {
        self.call(async || self.frontier.give_back(lease, rest).await).await
    }

    pub(crate) async fn claim(&self, host: &str) -> Result<Claim, Error> {
        self.call(async || self.frontier.claim(&self.worker, host).await).await
    }

    pub(crate) async fn release(&self, claim: LeaseId, rest: HostRest) -> Result<(), Error> {
        self.call(async || self.frontier.release(claim, rest).await).await
    }

    pub(crate) async fn match_content(&self, lease: &Lease, digest: u64) -> Result<ContentMatch, Error> {
        self.call(async || self.frontier.match_content(lease, digest).await).await
    }

    pub(crate) async fn settle(&self, batch: &[Settlement], sink_position: &[u8]) -> Result<SettledBatch, Error> {
        self.call(async || self.frontier.settle(&self.worker, batch, sink_position).await).await
    }

    pub(crate) async fn set_host_budget(&self, budget: u64) -> Result<(), Error> {
        self.call(async || self.frontier.set_host_budget(budget).await).await
    }

    pub(crate) async fn extend_scope(&self, url: &Url) -> Result<(), Error> {
        self.call(async || self.frontier.extend_scope(url).await).await
    }

    pub(crate) async fn scope_extensions(&self) -> Result<Vec<Url>, Error> {
        self.call(async || self.frontier.scope_extensions().await).await
    }

    pub(crate) async fn store_robots(&self, origin: &str, robots: &StoredRobots) -> Result<(), Error> {
        self.call(async || self.frontier.store_robots(origin, robots).await).await
    }

    pub(crate) async fn stored_robots(&self, origin: &str) -> Result<Option<StoredRobots>, Error> {
        self.call(async || self.frontier.stored_robots(origin).await).await
    }

    /// Makes a call until it is answered.
    async fn call<T>(&self, make: impl AsyncFn() -> Result<T, FrontierError>) -> Result<T, Error> {
        let mut pause = FIRST_PAUSE;
        loop {
            let reason = match answered(make()).await {
                Ok(answer) => {
                    self.is_unavailable.set(false);
                    return Ok(answer);
                }
                Err(FrontierError::Unavailable(reason)) => reason,
                Err(FrontierError::Fenced) => return Err(Error::Fenced),
                Err(FrontierError::Damaged(error)) => return Err(error),
            };
            tracing::debug!(%reason, ?pause, "the frontier is asked again");
            self.is_unavailable.set(true);
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(MAX_PAUSE);
        }
    }
}

/// The answer to a call, or that there was none in time. An answer that is there at once needs no timer.
async fn answered<T>(call: impl Future<Output = Result<T, FrontierError>>) -> Result<T, FrontierError> {
    tokio::pin!(call);
    if let Poll::Ready(answer) = poll_fn(|context| Poll::Ready(call.as_mut().poll(context))).await {
        return answer;
    }
    let late = || FrontierError::Unavailable(format!("no answer within {} s", ANSWER_TIME.as_secs()));
    tokio::time::timeout(ANSWER_TIME, call).await.unwrap_or_else(|_| Err(late()))
}
