//! The crawl itself: lease, visit, keep, settle, until nothing is left or it is told to stop.
//!
//! It drives and decides nothing: what is next is the frontier's business, what may be asked the visitor's, what is
//! kept the sink's. Everything but the sink runs on the caller's thread.

use std::future::Future;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;

use crate::error::Error;
use crate::frontier::{Frontier, Lease, Link, Next, Settled, Totals};
use crate::keeper::{Keeper, Kept};
use crate::outcome::Outcome;
use crate::plan::Plan;
use crate::registry::{Registry, Report, Status, Stop, errors};
use crate::sink::Sink;
use crate::visit::{Ending, Visitor};

/// How often figures are shown and small things are settled.
const TICK: Duration = Duration::from_millis(200);
/// How long visits on their way may take when the crawl is to end.
const DRAIN: Duration = Duration::from_secs(10);

/// Crawls until nothing is left, a limit is reached or `shutdown` is ready; then lets the visits on their way end.
/// `on_status` is shown the figures several times a second. `mark` is what the frontier last kept for this sink.
///
/// # Errors
/// When pages can no longer be kept or the frontier no longer be written. What was settled before stays settled.
pub async fn crawl<F: Frontier>(
    plan: &Plan,
    frontier: &F,
    sink: Box<dyn Sink>,
    mark: Vec<u8>,
    shutdown: impl Future<Output = ()>,
    mut on_status: impl FnMut(&Status),
) -> Result<Report, Error> {
    let seeds: Vec<Link> = plan.seeds.iter().map(|seed| Link::seed(seed.clone())).collect();
    frontier.offer(None, &seeds)?;
    let visitor = Visitor::new(plan, frontier)?;
    let mut crawl = Crawl::new(plan, frontier, sink, mark);
    let mut visits = FuturesUnordered::new();
    let mut tick = tokio::time::interval(TICK);
    tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    tokio::pin!(shutdown);
    loop {
        let wait = crawl.lease_all(visits.len(), |lease| visits.push(visitor.visit(lease)))?;
        if crawl.is_over(visits.len()) {
            break;
        }
        tokio::select! {
            // What comes seldom is looked at first, so that a stream of answers cannot hold it up.
            biased;
            kept = crawl.keeper.kept(), if crawl.keeper.n_waiting() > 0 => {
                if let Some(kept) = kept? {
                    crawl.settle_kept(kept)?;
                }
            }
            () = &mut shutdown, if crawl.stop != Some(Stop::Interrupted) => crawl.end(Stop::Interrupted),
            _ = tick.tick() => {
                crawl.settle_small()?;
                on_status(&crawl.status(visits.len()));
            }
            Some(ending) = visits.next(), if !visits.is_empty() => crawl.take(ending?)?,
            () = tokio::time::sleep(wait), if wait < TICK => {}
        }
    }
    drop(visits);
    crawl.finish()
}

struct Crawl<'c, F> {
    plan: &'c Plan,
    frontier: &'c F,
    keeper: Keeper,
    registry: Registry,
    totals: Totals,
    /// How far the sink is known to be.
    mark: Vec<u8>,
    /// Leases that ended without a page.
    small: Vec<(Lease, Settled)>,
    stop: Option<Stop>,
    drain_until: Option<Instant>,
    is_empty: bool,
}

impl<'c, F: Frontier> Crawl<'c, F> {
    fn new(plan: &'c Plan, frontier: &'c F, sink: Box<dyn Sink>, mark: Vec<u8>) -> Crawl<'c, F> {
        let totals = frontier.totals();
        Crawl {
            plan,
            frontier,
            keeper: Keeper::start(sink),
            registry: Registry::new(&totals),
            totals,
            mark,
            small: Vec::new(),
            stop: None,
            drain_until: None,
            is_empty: false,
        }
    }

    /// Leases while there is room; gives the time after which it is worth trying again.
    fn lease_all(&mut self, n_visits: usize, mut start: impl FnMut(Lease)) -> Result<Duration, Error> {
        self.check_limits();
        let mut in_flight = n_visits;
        while self.stop.is_none() && in_flight < self.room() {
            match self.frontier.lease()? {
                Next::Fetch(lease) => {
                    self.is_empty = false;
                    start(lease);
                    in_flight += 1;
                }
                Next::Wait(time) => {
                    self.is_empty = false;
                    return Ok(time);
                }
                Next::Empty => {
                    self.is_empty = true;
                    break;
                }
            }
        }
        Ok(TICK)
    }

    /// Visits that may be on their way now.
    fn room(&self) -> usize {
        if self.keeper.is_behind() {
            return 0;
        }
        let coming = self.totals.of(Outcome::Stored) + self.keeper.n_waiting() as u64;
        let pages_left = self.plan.limits.pages.map_or(u64::MAX, |most| most.saturating_sub(coming));
        usize::try_from(pages_left).unwrap_or(usize::MAX).min(self.plan.slots)
    }

    fn check_limits(&mut self) {
        let limits = &self.plan.limits;
        if limits.pages.is_some_and(|most| self.totals.of(Outcome::Stored) >= most) {
            self.end(Stop::Pages);
        } else if limits.bytes.is_some_and(|most| self.totals.bytes >= most) {
            self.end(Stop::Bytes);
        } else if limits.time.is_some_and(|most| self.registry.elapsed() >= most) {
            self.end(Stop::Time);
        }
    }

    fn end(&mut self, why: Stop) {
        if self.stop.is_none() {
            self.stop = Some(why);
            self.drain_until = Some(Instant::now() + DRAIN);
        } else if why == Stop::Interrupted {
            self.stop = Some(why);
        }
    }

    fn is_over(&self, n_visits: usize) -> bool {
        let nothing_left = n_visits == 0 && self.keeper.n_waiting() == 0;
        match self.drain_until {
            Some(until) => nothing_left || Instant::now() >= until,
            None => nothing_left && self.is_empty && self.small.is_empty(),
        }
    }

    fn take(&mut self, ending: Ending) -> Result<(), Error> {
        match ending {
            Ending::GivenBack => {}
            Ending::Settle(lease, settled) => {
                self.small.push((lease, settled));
                if self.small.len() >= 1000 {
                    self.settle_small()?;
                }
            }
            Ending::Keep(lease, page, receipt) => self.keeper.put(lease, *page, receipt),
        }
        Ok(())
    }

    fn settle_kept(&mut self, kept: Kept) -> Result<(), Error> {
        let pages = kept.leases.into_iter().map(|(lease, receipt)| (lease, Settled::Done(receipt)));
        let all: Vec<_> = self.small.drain(..).chain(pages).collect();
        self.mark = kept.mark;
        self.settle(all)
    }

    fn settle_small(&mut self) -> Result<(), Error> {
        if self.small.is_empty() {
            return Ok(());
        }
        let all = std::mem::take(&mut self.small);
        self.settle(all)
    }

    fn settle(&mut self, leases: Vec<(Lease, Settled)>) -> Result<(), Error> {
        self.frontier.settle(leases, &self.mark)?;
        self.totals = self.frontier.totals();
        self.registry.note(&self.totals);
        Ok(())
    }

    fn status(&mut self, in_flight: usize) -> Status {
        self.registry.note(&self.totals);
        let pages = self.totals.of(Outcome::Stored);
        let rate = self.registry.rate(&self.totals);
        let elapsed = self.registry.elapsed();
        let at_rate = |left: f64| (rate > 0.0).then(|| Duration::try_from_secs_f64(left / rate).ok()).flatten();
        let limits = &self.plan.limits;
        let by_pages = limits.pages.and_then(|most| at_rate(most.saturating_sub(pages) as f64));
        let mean_bytes = self.totals.bytes as f64 / pages.max(1) as f64;
        let by_bytes =
            limits.bytes.and_then(|most| at_rate(most.saturating_sub(self.totals.bytes) as f64 / mean_bytes));
        let by_time = limits.time.map(|most| most.saturating_sub(elapsed));
        Status {
            elapsed,
            pages,
            bytes: self.totals.bytes,
            errors: errors(&self.totals),
            rate,
            in_flight,
            gauges: self.frontier.gauges(),
            left: [by_pages, by_bytes, by_time].into_iter().flatten().min(),
        }
    }

    /// Settles what is durable, closes the sink, and gives the account.
    fn finish(mut self) -> Result<Report, Error> {
        self.settle_small()?;
        let stop = self.stop.unwrap_or(Stop::Finished);
        let report = self.registry.report(self.frontier, stop);
        self.keeper.finish()?;
        Ok(report)
    }
}
