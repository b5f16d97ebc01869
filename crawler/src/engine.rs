//! The crawl loop: lease, fetch, store, settle, until nothing is left or it is told to stop.
//!
//! The frontier decides what is next, the processor what may be fetched and stored, the sink how pages are stored.
//! Everything but the sink runs on the caller's thread.

use std::future::Future;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;

use crate::error::Error;
use crate::frontier::{Frontier, Lease, Next, Settled, Totals};
use crate::load::Load;
use crate::outcome::Outcome;
use crate::plan::Plan;
use crate::process::{Processed, Processor, Task};
use crate::progress::{Progress, Report, Status, Stop, Unheard, errors};
use crate::sink::Sink;
use crate::writer::{Committed, PageWriter};

/// How often figures are reported and failed attempts are settled.
const TICK: Duration = Duration::from_millis(200);
/// How long requests in flight may take when the crawl is to end.
const DRAIN: Duration = Duration::from_secs(5);

/// Crawls until nothing is left, a limit is reached or `shutdown` is ready; then waits for the requests in flight.
/// `on_status` gets the figures several times a second. `sink_position` is the position of this sink that the frontier
/// last recorded.
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
/// let report = crawl(&plan, &frontier, sink, position, std::future::pending(), |_| {}).await?;
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
    shutdown: impl Future<Output = ()>,
    mut on_status: impl FnMut(&Status),
) -> Result<Report, Error> {
    frontier.offer(None, &plan.seed_links())?;
    let processor = Processor::new(plan, frontier)?;
    let mut crawl = Crawl::new(plan, frontier, sink, sink_position);
    let mut in_flight = FuturesUnordered::new();
    let mut tick = tokio::time::interval(TICK);
    tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    tokio::pin!(shutdown);
    loop {
        let wait = crawl.fill_slots(&processor, in_flight.len(), |task| in_flight.push(processor.process(task)))?;
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
            () = &mut shutdown, if crawl.stop != Some(Stop::Interrupted) => crawl.begin_stop(Stop::Interrupted),
            _ = tick.tick() => {
                crawl.settle_retries()?;
                frontier.set_load(crawl.load.share());
                crawl.disk_trouble = frontier.disk_trouble();
                on_status(&crawl.status(in_flight.len()));
            }
            Some(processed) = in_flight.next(), if !in_flight.is_empty() => {
                processor.take_kept().into_iter().for_each(|response| crawl.writer.keep(response));
                crawl.handle(processed?);
            }
            () = tokio::time::sleep(wait), if wait < TICK => {}
        }
    }
    drop(in_flight);
    crawl.finish(processor.unheard())
}

struct Crawl<'c, F> {
    plan: &'c Plan,
    frontier: &'c F,
    writer: PageWriter,
    progress: Progress,
    totals: Totals,
    /// The position up to which the sink is known to be durable.
    sink_position: Vec<u8>,
    /// Leases that ended with a failure and are to be tried again.
    retries: Vec<Lease>,
    stop: Option<Stop>,
    drain_until: Option<Instant>,
    is_empty: bool,
    load: Load,
    /// The trouble of this machine for which the crawl pauses.
    trouble: Option<&'static str>,
    /// What the frontier says of its disk.
    disk_trouble: Option<&'static str>,
}

impl<'c, F: Frontier> Crawl<'c, F> {
    fn new(plan: &'c Plan, frontier: &'c F, sink: Box<dyn Sink>, sink_position: Vec<u8>) -> Crawl<'c, F> {
        let totals = frontier.totals();
        Crawl {
            plan,
            frontier,
            writer: PageWriter::start(sink),
            progress: Progress::new(&totals),
            totals,
            sink_position,
            retries: Vec::new(),
            stop: None,
            drain_until: None,
            is_empty: false,
            load: Load::new(),
            trouble: None,
            disk_trouble: None,
        }
    }

    /// Starts tasks while slots are free; gives the time after which to try again.
    fn fill_slots(
        &mut self,
        processor: &Processor<'_, F>,
        n_in_flight: usize,
        mut start: impl FnMut(Task),
    ) -> Result<Duration, Error> {
        self.check_limits();
        self.trouble = processor.trouble().or(self.writer.trouble()).or(self.disk_trouble);
        let (mut in_flight, max_in_flight) = (n_in_flight, self.max_in_flight());
        let mut wait = TICK;
        while self.stop.is_none() && in_flight < max_in_flight {
            if let Some(hop) = processor.next_hop()? {
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
                    wait = time.min(processor.next_hop_due().unwrap_or(time));
                    break;
                }
                Next::Empty => {
                    self.is_empty = true;
                    break;
                }
            }
        }
        if max_in_flight > 0 {
            processor.set_waiting(self.frontier.n_waiting_hosts(in_flight >= max_in_flight));
        }
        Ok(wait)
    }

    /// The number of leases that may be in flight now.
    fn max_in_flight(&self) -> usize {
        if self.writer.is_behind() || self.trouble.is_some() {
            return 0;
        }
        let n_expected = self.totals.of(Outcome::Stored) + self.writer.n_uncommitted_pages() as u64;
        let pages_left = self.plan.limits.pages.map_or(u64::MAX, |most| most.saturating_sub(n_expected));
        usize::try_from(pages_left).unwrap_or(usize::MAX).min(self.plan.slots)
    }

    fn check_limits(&mut self) {
        let limits = &self.plan.limits;
        if limits.pages.is_some_and(|most| self.totals.of(Outcome::Stored) >= most) {
            self.begin_stop(Stop::Pages);
        } else if limits.bytes.is_some_and(|most| self.totals.bytes >= most) {
            self.begin_stop(Stop::Bytes);
        } else if limits.time.is_some_and(|most| self.progress.elapsed() >= most) {
            self.begin_stop(Stop::Time);
        }
    }

    fn begin_stop(&mut self, why: Stop) {
        if self.stop.is_none() {
            self.stop = Some(why);
            self.drain_until = Some(Instant::now() + DRAIN);
        } else if why == Stop::Interrupted {
            self.stop = Some(why);
        }
    }

    fn is_over(&self, n_in_flight: usize) -> bool {
        let nothing_left = n_in_flight == 0 && self.writer.n_uncommitted() == 0;
        match self.drain_until {
            // What the sink cannot take now is fetched again, or found in the sink, when the crawl goes on.
            Some(until) => nothing_left || self.writer.trouble().is_some() || Instant::now() >= until,
            None => nothing_left && self.is_empty && self.retries.is_empty(),
        }
    }

    fn handle(&mut self, processed: Processed) {
        match processed {
            Processed::Returned => {}
            Processed::Settle(lease, Settled::Done(record)) => self.writer.note(lease, record),
            Processed::Settle(lease, Settled::Retry) => self.retries.push(lease),
            Processed::Store(lease, page, record) => self.writer.put(lease, page, record),
        }
    }

    fn settle_committed(&mut self, committed: Committed) -> Result<(), Error> {
        committed.leases.iter().for_each(|(lease, record)| self.progress.count(&lease.link.url, record));
        let done = committed.leases.into_iter().map(|(lease, record)| (lease, Settled::Done(record))).collect();
        self.sink_position = committed.sink_position;
        self.settle(done)
    }

    fn settle_retries(&mut self) -> Result<(), Error> {
        if self.retries.is_empty() {
            return Ok(());
        }
        let retries = self.retries.drain(..).map(|lease| (lease, Settled::Retry)).collect();
        self.settle(retries)
    }

    fn settle(&mut self, leases: Vec<(Lease, Settled)>) -> Result<(), Error> {
        self.frontier.settle(leases, &self.sink_position)?;
        self.totals = self.frontier.totals();
        self.progress.record(&self.totals);
        Ok(())
    }

    fn status(&mut self, in_flight: usize) -> Status {
        self.progress.record(&self.totals);
        let pages = self.totals.of(Outcome::Stored);
        let rate = self.progress.rate(&self.totals);
        let elapsed = self.progress.elapsed();
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
            trouble: self.trouble,
            left: [by_pages, by_bytes, by_time].into_iter().flatten().min(),
        }
    }

    /// Settles what is durable, closes the sink and gives the report.
    fn finish(mut self, unheard: Unheard) -> Result<Report, Error> {
        self.settle_retries()?;
        let stop = self.stop.unwrap_or(Stop::Finished);
        let report = self.progress.report(self.frontier, stop, unheard);
        self.writer.finish()?;
        Ok(report)
    }
}
