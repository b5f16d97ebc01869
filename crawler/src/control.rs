//! The handle on a crawl: others pause it, resume it, stop it, add seeds, change limits and look at what it does.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tokio::sync::{Notify, futures::Notified, watch};
use url::Url;

use crate::snapshot::{Phase, Snapshot};

/// The handle on one crawl. Copies are handles on the same crawl; every method may be called from any thread, also
/// before the crawl begins.
///
/// ```no_run
/// # use pith_crawler::*;
/// # async fn run(plan: Plan, frontier: LocalFrontier, sink: Box<dyn Sink>) -> Result<(), Error> {
/// let control = Control::default();
/// let mut snapshots = control.snapshots();
/// let watcher = control.clone();
/// tokio::spawn(async move {
///     while let Some(snapshot) = snapshots.next().await {
///         if snapshot.status.errors > 1_000 {
///             watcher.stop();
///         }
///     }
/// });
/// crawl(&plan, &frontier, sink, Vec::new(), &control).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Control {
    shared: Arc<Shared>,
}

/// A limit that can change while a crawl runs. `None` takes a limit away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Pages stored, over all runs.
    Pages(Option<u64>),
    /// Bytes of the stored pages, over all runs.
    Bytes(Option<u64>),
    /// Time of this run, pauses included.
    Time(Option<Duration>),
    /// Requests to one host, over all runs.
    PerHost(Option<u64>),
    /// Requests in flight at once; never more than the plan has, for which files are reserved.
    Slots(usize),
}

/// The crawl has ended, so that nothing can be asked of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the crawl has ended")]
pub struct HasEnded;

impl Control {
    /// Sends no further request until [`Control::resume`]; requests in flight end as usual.
    pub fn pause(&self) {
        self.order(|orders| orders.is_paused = true);
    }

    /// Ends a pause.
    pub fn resume(&self) {
        self.order(|orders| orders.is_paused = false);
    }

    /// Ends the crawl: requests in flight get a few seconds, what is durable is settled, and the rest waits for the next
    /// run.
    pub fn stop(&self) {
        self.order(|orders| orders.is_stopped = true);
    }

    /// Adds seeds, in the form that [`parse_seed`](crate::parse_seed) gives. Like redirected seeds they extend the scope,
    /// in this run and later ones; links to their hosts that were left out before are not looked up again in this run.
    ///
    /// # Errors
    /// When the crawl has ended.
    pub fn add_seeds(&self, seeds: Vec<Url>) -> Result<(), HasEnded> {
        self.order(|orders| orders.seeds.extend(seeds)).then_some(()).ok_or(HasEnded)
    }

    /// Changes a limit. A crawl that has reached one and is about to end goes on when the limit is raised in time.
    ///
    /// # Errors
    /// When the crawl has ended.
    pub fn set_limit(&self, limit: Limit) -> Result<(), HasEnded> {
        let set = |orders: &mut Orders| {
            // The last word about each limit counts.
            orders.limits.retain(|other| std::mem::discriminant(other) != std::mem::discriminant(&limit));
            orders.limits.push(limit);
        };
        self.order(set).then_some(()).ok_or(HasEnded)
    }

    /// Looks at the crawl. While nobody does, no snapshot is made.
    pub fn snapshots(&self) -> Snapshots {
        Snapshots { receiver: self.shared.snapshots.subscribe() }
    }

    /// Gives an order; `false` when the crawl has ended.
    fn order(&self, give: impl FnOnce(&mut Orders)) -> bool {
        let mut orders = self.shared.lock();
        if orders.has_ended {
            return false;
        }
        give(&mut orders);
        drop(orders);
        self.shared.has_orders.notify_one();
        true
    }

    /// Begins a crawl, which ends when the session is dropped.
    pub(crate) fn begin(&self) -> Session<'_> {
        self.shared.lock().has_ended = false;
        Session { shared: &self.shared }
    }
}

/// Snapshots of a crawl, each when it is made.
#[derive(Clone, Debug)]
pub struct Snapshots {
    receiver: watch::Receiver<Arc<Snapshot>>,
}

impl Snapshots {
    /// Waits for the next snapshot; one that was not taken in time is replaced by a newer one. Gives `None` when the
    /// crawl has ended and the last one was taken.
    pub async fn next(&mut self) -> Option<Arc<Snapshot>> {
        if self.receiver.borrow().phase == Phase::Ended && !self.receiver.has_changed().unwrap_or(false) {
            return None;
        }
        self.receiver.changed().await.ok()?;
        Some(self.receiver.borrow_and_update().clone())
    }

    /// The newest snapshot.
    pub fn latest(&self) -> Arc<Snapshot> {
        self.receiver.borrow().clone()
    }
}

#[derive(Debug, Default)]
struct Shared {
    orders: Mutex<Orders>,
    has_orders: Notify,
    snapshots: watch::Sender<Arc<Snapshot>>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Orders> {
        self.orders.lock().expect("nothing panics while it holds the orders")
    }
}

/// What a crawl was told.
#[derive(Debug, Default)]
pub(crate) struct Orders {
    pub(crate) is_paused: bool,
    pub(crate) is_stopped: bool,
    /// Seeds that were added since the crawl last looked.
    pub(crate) seeds: Vec<Url>,
    /// Limits that were changed since then.
    pub(crate) limits: Vec<Limit>,
    has_ended: bool,
}

/// The side of the crawl: it takes orders and publishes snapshots until it is dropped.
pub(crate) struct Session<'c> {
    shared: &'c Shared,
}

impl Session<'_> {
    /// Ready when there are orders.
    pub(crate) fn has_orders(&self) -> Notified<'_> {
        self.shared.has_orders.notified()
    }

    /// Waits until the crawl is told to stop. Other orders stay.
    pub(crate) async fn stopped(&self) {
        while !self.shared.lock().is_stopped {
            self.shared.has_orders.notified().await;
        }
    }

    /// Looks again for orders that came while something else waited for them.
    pub(crate) fn look_again(&self) {
        self.shared.has_orders.notify_one();
    }

    /// What was told, with the seeds and limits that are new.
    pub(crate) fn take_orders(&self) -> Orders {
        let mut orders = self.shared.lock();
        let (seeds, limits) = (std::mem::take(&mut orders.seeds), std::mem::take(&mut orders.limits));
        Orders { is_paused: orders.is_paused, is_stopped: orders.is_stopped, seeds, limits, has_ended: false }
    }

    /// Whether somebody looks.
    pub(crate) fn is_watched(&self) -> bool {
        self.shared.snapshots.receiver_count() > 0
    }

    pub(crate) fn publish(&self, snapshot: Snapshot) {
        self.shared.snapshots.send_replace(Arc::new(snapshot));
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        self.shared.lock().has_ended = true;
        self.shared.snapshots.send_modify(|snapshot| Arc::make_mut(snapshot).phase = Phase::Ended);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_from_before_a_crawl_are_taken_once_and_none_after_its_end() {
        let control = Control::default();
        control.pause();
        control.set_limit(Limit::Pages(Some(1))).unwrap();
        control.set_limit(Limit::Slots(2)).unwrap();
        control.set_limit(Limit::Pages(Some(3))).unwrap();
        control.add_seeds(vec!["http://a.test/".parse().unwrap()]).unwrap();
        let session = control.begin();
        let orders = session.take_orders();
        assert_eq!((orders.is_paused, orders.is_stopped, orders.seeds.len()), (true, false, 1));
        assert_eq!(orders.limits, [Limit::Slots(2), Limit::Pages(Some(3))]);
        let again = session.take_orders();
        assert_eq!((again.is_paused, again.seeds.len(), again.limits.len()), (true, 0, 0));
        drop(session);
        assert_eq!(control.add_seeds(Vec::new()), Err(HasEnded));
        assert_eq!(control.set_limit(Limit::Time(None)), Err(HasEnded));
    }

    #[tokio::test]
    async fn who_looks_gets_the_newest_snapshot_and_the_end() {
        let control = Control::default();
        let session = control.begin();
        assert!(!session.is_watched());
        let mut snapshots = control.snapshots();
        assert!(session.is_watched());
        for n_domains in 1..4 {
            session.publish(Snapshot { n_domains, ..Snapshot::default() });
        }
        assert_eq!(snapshots.next().await.unwrap().n_domains, 3);
        drop(session);
        let last = snapshots.next().await.unwrap();
        assert_eq!((last.n_domains, last.phase), (3, Phase::Ended));
        assert!(snapshots.next().await.is_none());
        drop(snapshots);
        assert!(!control.begin().is_watched());
    }
}
