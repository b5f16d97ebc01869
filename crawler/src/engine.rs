//! The crawl loop: lease, fetch, store, settle, until nothing is left or it is told to stop.
//!
//! The frontier decides what is next, the processor what may be fetched and stored, the sink how pages are stored.
//! Everything but the sink runs on the caller's thread.

mod choosing;
mod limits;
mod settling;
mod telling;

use std::collections::HashSet;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use futures_util::future::LocalBoxFuture;
use futures_util::stream::FuturesUnordered;

use self::choosing::{Choice, Choosing};
use self::limits::RunLimits;
use self::settling::{Ended, Settling};
use crate::control::{Control, Limit, Orders, Session};
use crate::error::Error;
use crate::frontier::{Frontier, LeaseId, Settlement, Totals};
use crate::load::Load;
use crate::outcome::Outcome;
use crate::plan::Plan;
use crate::process::{Processed, Processor, Task};
use crate::progress::{Progress, Report, Stop};
use crate::sink::Sink;
use crate::writer::{Committed, PageWriter};

/// How often snapshots are published and leases without a page are settled.
const TICK: Duration = Duration::from_millis(200);
/// How long the frontier is waited for at the end of a crawl.
const LAST_ANSWERS: Duration = Duration::from_secs(3);

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
    let begin = async {
        let processor = Processor::new(plan, frontier).await?;
        processor.offer_seeds().await?;
        Ok::<_, Error>(processor)
    };
    let processor = tokio::select! {
        biased;
        processor = begin => processor?,
        () = session.stopped() => return Err(Error::Unavailable("told to stop before it answered".to_owned())),
    };
    session.look_again();
    let mut crawl = Crawl::new(plan, &processor, PageWriter::start(sink), sink_position);
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
                crawl.obey(session.take_orders());
            }
            _ = tick.tick() => {
                crawl.settle_without_page()?;
                frontier.set_load(crawl.load.share());
                crawl.disk_trouble = frontier.disk_trouble();
                crawl.renew_leases();
                crawl.publish(&session, in_flight.len());
            }
            ended = crawl.settling.ended(), if crawl.settling.is_running() => {
                crawl.settled(ended?)?;
            }
            answered = crawl.choosing.answered(), if crawl.choosing.is_waiting() => answered?,
            Some(done) = crawl.aside.next(), if !crawl.aside.is_empty() => {
                crawl.is_empty = false;
                done?;
            }
            Some(processed) = in_flight.next(), if !in_flight.is_empty() => crawl.handle(processed?)?,
            () = tokio::time::sleep(wait), if wait < TICK => {}
        }
    }
    drop(in_flight);
    let report = crawl.finish(&session).await?;
    Ok(Report { reserved_this_run: processor.reserved(), ..report })
}

struct Crawl<'c, F> {
    processor: &'c Processor<'c, F>,
    writer: PageWriter,
    progress: Progress,
    totals: Totals,
    limits: RunLimits,
    choosing: Choosing<'c>,
    settling: Settling<'c>,
    /// What the frontier does besides, as it was told to.
    aside: FuturesUnordered<LocalBoxFuture<'c, Result<(), Error>>>,
    /// The leases that must be renewed, and when that was last done.
    held: (HashSet<LeaseId>, Instant),
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
    fn new(plan: &Plan, processor: &'c Processor<'c, F>, writer: PageWriter, sink_position: Vec<u8>) -> Crawl<'c, F> {
        let totals = processor.frontier().backend().totals();
        Crawl {
            processor,
            writer,
            progress: Progress::new(&totals),
            totals,
            limits: RunLimits::new(plan),
            choosing: Choosing::default(),
            settling: Settling::new(sink_position),
            aside: FuturesUnordered::new(),
            held: (HashSet::new(), Instant::now()),
            without_page: Vec::new(),
            is_empty: false,
            is_paused: false,
            load: Load::new(),
            trouble: None,
            disk_trouble: None,
        }
    }

    fn backend(&self) -> &'c F {
        self.processor.frontier().backend()
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
            if self.limits.in_force().slots == 1 && !self.is_all_settled() {
                self.writer.commit_now();
                return Ok(wait);
            }
        }
        while let Some(choice) = self.choosing.choose(self.processor, max_in_flight.saturating_sub(in_flight))? {
            self.is_empty = matches!(choice, Choice::Empty);
            match choice {
                Choice::Tasks(tasks) => {
                    in_flight += tasks.len();
                    tasks.into_iter().for_each(|task| {
                        self.hold(&task);
                        start(task);
                    });
                }
                Choice::Wait(time) => {
                    wait = time;
                    break;
                }
                Choice::Empty => break,
            }
        }
        if in_flight == 0 && self.writer.n_uncommitted() > 0 {
            // The links of these pages are all that can be waited for.
            self.writer.commit_now();
        }
        if max_in_flight > 0 {
            self.processor.set_waiting(self.backend().n_waiting_hosts(in_flight >= max_in_flight));
        }
        Ok(wait)
    }

    /// Notes a lease that must be renewed.
    fn hold(&mut self, task: &Task) {
        if self.backend().lease_time().is_some() {
            self.held.0.insert(match task {
                Task::Lease(lease) => lease.id,
                Task::RobotsHop(hop) => hop.claim(),
            });
        }
    }

    /// Renews leases long before they end.
    fn renew_leases(&mut self) {
        let Some(time) = self.backend().lease_time().filter(|_| !self.held.0.is_empty()) else { return };
        if self.held.1.elapsed() >= time / 3 {
            self.held.1 = Instant::now();
            let (processor, leases) = (self.processor, self.held.0.iter().copied().collect::<Vec<_>>());
            self.aside.push(Box::pin(async move { processor.frontier().renew(&leases).await }));
        }
    }

    /// Whether every page so far is settled.
    fn is_all_settled(&self) -> bool {
        self.writer.n_uncommitted() == 0 && self.settling.is_idle()
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
        if may_not || self.writer.is_behind() || self.settling.is_behind() {
            return 0;
        }
        self.limits.max_in_flight(self.totals.of(Outcome::Stored) + self.writer.n_uncommitted() as u64)
    }

    /// Does what the holder of the control has asked for.
    fn obey(&mut self, orders: Orders) {
        if self.is_paused != orders.is_paused {
            tracing::info!(is_paused = orders.is_paused, "told to pause or resume");
            self.is_paused = orders.is_paused;
        }
        let processor = self.processor;
        for limit in orders.limits {
            tracing::info!(?limit, "a limit has changed");
            if let Limit::PerHost(most) = limit {
                let budget = most.unwrap_or(u64::MAX);
                self.aside.push(Box::pin(async move { processor.frontier().set_host_budget(budget).await }));
            }
            self.limits.set(limit);
            self.backend().set_slots(self.limits.in_force().slots);
        }
        if !orders.seeds.is_empty() {
            tracing::info!(seeds = orders.seeds.len(), "seeds were added");
            self.aside.push(Box::pin(async move { processor.add_seeds(&orders.seeds).await }));
        }
        if orders.is_stopped {
            self.limits.begin_end(Stop::Interrupted);
        }
    }

    fn is_over(&self, n_in_flight: usize) -> bool {
        let nothing_left = n_in_flight == 0 && self.is_all_settled() && self.aside.is_empty();
        match self.limits.drain_until() {
            // What the sink cannot take now is fetched again, or found in the sink, when the crawl goes on.
            Some(until) => nothing_left || self.writer.trouble().is_some() || Instant::now() >= until,
            None => !self.is_paused && nothing_left && self.is_empty && self.without_page.is_empty(),
        }
    }

    fn handle(&mut self, processed: Processed) -> Result<(), Error> {
        match processed {
            Processed::Returned(lease) => {
                self.held.0.remove(&lease);
            }
            Processed::Settle(settlement) => {
                self.without_page.push(settlement);
                if self.without_page.len() >= 1000 {
                    self.settle_without_page()?;
                }
            }
            Processed::Store(settlement, page) => self.writer.put(settlement, page),
        }
        Ok(())
    }

    fn settle_committed(&mut self, committed: Committed) -> Result<(), Error> {
        self.settling.add(std::mem::take(&mut self.without_page));
        self.settling.add_stored(committed.settlements, committed.sink_position);
        self.settled(None)
    }

    fn settle_without_page(&mut self) -> Result<(), Error> {
        self.settling.add(std::mem::take(&mut self.without_page));
        self.settled(None)
    }

    /// Notes a batch that was settled, and settles what waits.
    fn settled(&mut self, mut ended: Option<Ended>) -> Result<(), Error> {
        loop {
            if let Some(ended) = ended {
                self.tell(ended);
                self.totals = self.backend().totals();
                self.progress.record(&self.totals);
            }
            ended = self.settling.send(self.processor)?;
            if ended.is_none() {
                return Ok(());
            }
        }
    }

    /// Settles what is durable, closes the sink and gives the report.
    async fn finish(mut self, session: &Session<'_>) -> Result<Report, Error> {
        self.settle_without_page()?;
        // What is not settled now is found in the sink when the crawl goes on.
        if tokio::time::timeout(LAST_ANSWERS, self.settle_all()).await.is_err() {
            tracing::warn!("the frontier does not answer: some pages are not settled");
        }
        self.publish(session, 0);
        let stop = self.limits.stop().unwrap_or(Stop::Finished);
        let late = |_| Error::Unavailable("it does not tell its hosts".to_owned());
        let report = tokio::time::timeout(LAST_ANSWERS, self.progress.report(self.backend(), stop)).await;
        self.writer.finish()?;
        let report = Report { unheard_this_run: self.processor.unheard(), ..report.map_err(late)?? };
        tracing::info!(why = ?stop, pages = report.pages, pending = report.pending, "the crawl has ended");
        Ok(report)
    }

    async fn settle_all(&mut self) -> Result<(), Error> {
        while self.settling.is_running() {
            let ended = self.settling.ended().await?;
            self.settled(ended)?;
        }
        Ok(())
    }
}
