//! The crawl loop: lease, fetch, store, settle, until nothing is left or it is told to stop.
//!
//! The frontier decides what is next, the processor what may be fetched and stored, the sink how pages are stored.
//! Everything but the sink runs on the caller's thread.

mod limits;

use std::time::{Duration, Instant};

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;

use self::limits::RunLimits;
use crate::control::{Control, Limit, Orders, Session};
use crate::error::Error;
use crate::frontier::{Frontier, Next, Settled, Settlement, Totals};
use crate::load::Load;
use crate::outcome::Outcome;
use crate::plan::Plan;
use crate::process::{Processed, Processor, Task};
use crate::progress::{Progress, Report, Status, Stop, errors};
use crate::sink::Sink;
use crate::snapshot::{Phase, Snapshot};
use crate::writer::{Committed, PageWriter};

/// How often snapshots are published and leases without a page are settled.
const TICK: Duration = Duration::from_millis(200);

/// Crawls until nothing is left, a limit is reached or `control` stops it; then waits for the requests in flight.
/// `sink_position` is the position of this sink that the frontier last recorded.
///
/// `examples/crawl_one_site.rs` is a whole program around it:
///
/// ```no_run
/// # use pith_crawler::*;
/// # async fn run(sink: Box<dyn Sink>) -> Result<(), Error> {
/// let seed = parse_seed("https://example.org/").expect("a URL");
/// let plan = Plan::new(vec![seed.clone()], Scope::new(Reach::Host, &[seed], Vec::new(), Vec::new()));
/// let frontier = LocalFrontier::open("crawl/frontier".as_ref(), LocalOptions::new(Box::new(Opic::default())))?;
/// let position = frontier.sink_position();
/// let report = crawl(&plan, &frontier, sink, position, &Control::default()).await?;
/// println!("{} pages", report.pages);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// When pages can no longer be stored or the frontier no longer be written. What was settled before stays settled.
pub async fn crawl<F: Frontier>(
    plan: &Plan,
    frontier: &F,
    sink: Box<dyn Sink>,
    sink_position: Vec<u8>,
    control: &Control,
) -> Result<Report, Error> {
    tracing::info!(seeds = plan.seeds.len(), slots = plan.slots, "the crawl begins");
    let session = control.begin();
    frontier.offer(&plan.seed_links(&plan.seeds))?;
    let processor = Processor::new(plan, frontier)?;
    let mut crawl = Crawl::new(plan, frontier, &processor, PageWriter::start(sink), sink_position);
    let mut in_flight = FuturesUnordered::new();
    let mut tick = tokio::time::interval(TICK);
    tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut has_orders = Box::pin(session.has_orders());
    loop {
        let wait = crawl.fill_slots(in_flight.len(), |task| in_flight.push(processor.process(task)))?;
        if crawl.is_over(in_flight.len()) {
            break;
        }
        tokio::select! {
            // Rare events are polled first, so that a stream of responses cannot delay them.
            biased;
            committed = crawl.writer.committed(), if crawl.writer.n_uncommitted() > 0 => {
                if let Some(committed) = committed? {
                    crawl.settle_committed(committed)?;
                }
            }
            () = &mut has_orders => {
                has_orders.set(session.has_orders());
                crawl.obey(session.take_orders())?;
            }
            _ = tick.tick() => {
                crawl.settle_without_page()?;
                frontier.set_load(crawl.load.share());
                crawl.disk_trouble = frontier.disk_trouble();
                crawl.publish(&session, in_flight.len());
            }
            Some(processed) = in_flight.next(), if !in_flight.is_empty() => crawl.handle(processed?)?,
            () = tokio::time::sleep(wait), if wait < TICK => {}
        }
    }
    drop(in_flight);
    crawl.finish(&session)
}

struct Crawl<'c, F> {
    frontier: &'c F,
    processor: &'c Processor<'c, F>,
    writer: PageWriter,
    progress: Progress,
    totals: Totals,
    limits: RunLimits,
    /// The position up to which the sink is known to be durable.
    sink_position: Vec<u8>,
    /// Leases that ended without a page to store.
    without_page: Vec<Settlement>,
    is_empty: bool,
    is_paused: bool,
    load: Load,
    /// The trouble of this machine for which the crawl pauses.
    trouble: Option<&'static str>,
    /// What the frontier says of its disk.
    disk_trouble: Option<&'static str>,
}

impl<'c, F: Frontier> Crawl<'c, F> {
    fn new(
        plan: &'c Plan,
        frontier: &'c F,
        processor: &'c Processor<'c, F>,
        writer: PageWriter,
        sink_position: Vec<u8>,
    ) -> Crawl<'c, F> {
        let totals = frontier.totals();
        Crawl {
            frontier,
            processor,
            writer,
            progress: Progress::new(&totals),
            totals,
            limits: RunLimits::new(plan),
            sink_position,
            without_page: Vec::new(),
            is_empty: false,
            is_paused: false,
            load: Load::new(),
            trouble: None,
            disk_trouble: None,
        }
    }

    /// Starts tasks while slots are free; gives the time after which to try again.
    fn fill_slots(&mut self, n_in_flight: usize, mut start: impl FnMut(Task)) -> Result<Duration, Error> {
        self.limits.check(&self.totals, self.progress.elapsed());
        self.notice_trouble();
        let (mut in_flight, max_in_flight) = (n_in_flight, self.max_in_flight());
        let mut wait = TICK;
        if in_flight == 0 {
            self.settle_without_page()?;
            // One page at a time: the links of the last one come first, and the order is exactly the policy's.
            if self.limits.in_force().slots == 1 && self.writer.n_uncommitted() > 0 {
                self.writer.commit_now();
                return Ok(wait);
            }
        }
        while in_flight < max_in_flight {
            if let Some(hop) = self.processor.next_hop()? {
                start(Task::RobotsHop(hop));
                in_flight += 1;
                continue;
            }
            match self.frontier.lease()? {
                Next::Fetch(lease) => {
                    self.is_empty = false;
                    start(Task::Lease(lease));
                    in_flight += 1;
                }
                Next::Wait(time) => {
                    self.is_empty = false;
                    wait = time.min(self.processor.next_hop_due().unwrap_or(time));
                    break;
                }
                Next::Empty => {
                    self.is_empty = true;
                    break;
                }
            }
        }
        if in_flight == 0 && self.writer.n_uncommitted() > 0 {
            // The links of these pages are all that can be waited for.
            self.writer.commit_now();
        }
        if max_in_flight > 0 {
            self.processor.set_waiting(self.frontier.n_waiting_hosts(in_flight >= max_in_flight));
        }
        Ok(wait)
    }

    /// Looks for trouble of this machine.
    fn notice_trouble(&mut self) {
        let trouble = self.processor.trouble().or(self.writer.trouble()).or(self.disk_trouble);
        match trouble {
            Some(what) if self.trouble != trouble => tracing::warn!(what, "the crawl pauses and tries again"),
            None if self.trouble.is_some() => tracing::info!("the trouble is over"),
            _ => {}
        }
        self.trouble = trouble;
    }

    /// The number of leases that may be in flight now.
    fn max_in_flight(&self) -> usize {
        let may_not = self.is_paused || self.limits.stop().is_some() || self.trouble.is_some();
        if may_not || self.writer.is_behind() {
            return 0;
        }
        self.limits.max_in_flight(self.totals.of(Outcome::Stored) + self.writer.n_uncommitted() as u64)
    }

    /// Does what the holder of the control has asked for.
    fn obey(&mut self, orders: Orders) -> Result<(), Error> {
        if self.is_paused != orders.is_paused {
            tracing::info!(is_paused = orders.is_paused, "told to pause or resume");
            self.is_paused = orders.is_paused;
        }
        for limit in orders.limits {
            tracing::info!(?limit, "a limit has changed");
            match limit {
                Limit::PerHost(most) => self.frontier.set_host_budget(most.unwrap_or(u64::MAX))?,
                limit => self.limits.set(limit),
            }
            self.frontier.set_slots(self.limits.in_force().slots);
            self.is_empty = false;
        }
        if !orders.seeds.is_empty() {
            tracing::info!(seeds = orders.seeds.len(), "seeds were added");
            self.processor.add_seeds(&orders.seeds)?;
            self.is_empty = false;
        }
        if orders.is_stopped {
            self.limits.begin_end(Stop::Interrupted);
        }
        Ok(())
    }

    fn is_over(&self, n_in_flight: usize) -> bool {
        let nothing_left = n_in_flight == 0 && self.writer.n_uncommitted() == 0;
        match self.limits.drain_until() {
            // What the sink cannot take now is fetched again, or found in the sink, when the crawl goes on.
            Some(until) => nothing_left || self.writer.trouble().is_some() || Instant::now() >= until,
            None => !self.is_paused && nothing_left && self.is_empty && self.without_page.is_empty(),
        }
    }

    fn handle(&mut self, processed: Processed) -> Result<(), Error> {
        match processed {
            Processed::Returned => {}
            Processed::Settle(settlement) => {
                self.without_page.push(settlement);
                if self.without_page.len() >= 1000 {
                    self.settle_without_page()?;
                }
            }
            Processed::Store(settlement, page) => self.writer.put(settlement, *page),
        }
        Ok(())
    }

    fn settle_committed(&mut self, committed: Committed) -> Result<(), Error> {
        let mut all = std::mem::take(&mut self.without_page);
        all.extend(committed.settlements);
        self.sink_position = committed.sink_position;
        self.settle(all)
    }

    fn settle_without_page(&mut self) -> Result<(), Error> {
        if self.without_page.is_empty() {
            return Ok(());
        }
        let all = std::mem::take(&mut self.without_page);
        self.settle(all)
    }

    fn settle(&mut self, batch: Vec<Settlement>) -> Result<(), Error> {
        self.tell(&batch);
        self.frontier.settle(batch, &self.sink_position)?;
        self.totals = self.frontier.totals();
        self.progress.record(&self.totals);
        Ok(())
    }

    /// Tells whoever looks, and the log, which URLs are settled.
    fn tell(&self, batch: &[Settlement]) {
        for Settlement { lease, settled, .. } in batch {
            let url = &lease.link.url;
            match settled {
                Settled::Done(record) => {
                    let (bytes, milliseconds) = (record.bytes, record.milliseconds);
                    tracing::debug!(
                        url = url.as_str(),
                        outcome = record.outcome.name(),
                        bytes,
                        milliseconds,
                        "settled"
                    );
                    self.processor.live().settled(url, record);
                }
                Settled::Retry => tracing::debug!(url = url.as_str(), attempts = lease.attempts + 1, "to be retried"),
            }
        }
    }

    /// Publishes a snapshot if somebody looks.
    fn publish(&mut self, session: &Session<'_>, in_flight: usize) {
        self.progress.record(&self.totals);
        if !session.is_watched() {
            return;
        }
        self.processor.live().begin(self.frontier);
        let phase = match (self.limits.stop(), self.is_paused) {
            (Some(_), _) => Phase::Stopping,
            (None, true) => Phase::Paused,
            (None, false) => Phase::Running,
        };
        let counted = Outcome::ALL.iter().map(|&outcome| (outcome.name(), self.totals.of(outcome)));
        let mut snapshot = Snapshot {
            phase,
            status: self.status(in_flight),
            limits: self.limits.in_force(),
            outcomes: counted.filter(|(_, count)| *count > 0).collect(),
            ..Snapshot::default()
        };
        self.processor.live().fill(&mut snapshot);
        session.publish(snapshot);
    }

    fn status(&self, in_flight: usize) -> Status {
        let (elapsed, rate) = (self.progress.elapsed(), self.progress.rate(&self.totals));
        Status {
            elapsed,
            pages: self.totals.of(Outcome::Stored),
            bytes: self.totals.bytes,
            errors: errors(&self.totals),
            rate,
            in_flight,
            gauges: self.frontier.gauges(),
            trouble: self.trouble,
            left: self.limits.time_left(&self.totals, elapsed, rate),
        }
    }

    /// Settles what is durable, closes the sink and gives the report.
    fn finish(mut self, session: &Session<'_>) -> Result<Report, Error> {
        self.settle_without_page()?;
        self.publish(session, 0);
        let stop = self.limits.stop().unwrap_or(Stop::Finished);
        let report = self.progress.report(self.frontier, stop);
        self.writer.finish()?;
        tracing::info!(why = ?stop, pages = report.pages, pending = report.pending, "the crawl has ended");
        Ok(report)
    }
}
