//! The memory of response bodies: a budget that all responses of a crawl share.
//!
//! Every slot has a small share of its own, which is enough for most pages and is never refused. A body that grows
//! beyond it takes from what all share. When that is used up, the body waits; after a while it is given up for now, and
//! its URL is tried again later. One body at a time may overdraw the budget, so that large pages always get through.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::Notify;

/// Memory is taken in steps of this many bytes.
const STEP: usize = 256 << 10;
/// How long a body waits for memory.
const PATIENCE: Duration = Duration::from_secs(2);

/// The memory for the bodies of one crawl.
#[derive(Clone)]
pub(crate) struct Budget(Arc<Shared>);

struct Shared {
    /// What each body may use without asking.
    own_bytes: usize,
    /// What all bodies together may use beyond that.
    shared_bytes: usize,
    used: AtomicUsize,
    is_overdrawn: AtomicBool,
    has_freed: Notify,
}

/// There is no memory for a larger body now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NoMemory;

impl Budget {
    /// A budget of so many bytes for so many bodies at once.
    pub(crate) fn new(bytes: usize, slots: usize) -> Budget {
        Budget(Arc::new(Shared {
            own_bytes: bytes / 2 / slots.max(1),
            shared_bytes: bytes / 2,
            used: AtomicUsize::new(0),
            is_overdrawn: AtomicBool::new(false),
            has_freed: Notify::new(),
        }))
    }

    /// The share of a new body.
    pub(crate) fn share(&self) -> Share {
        Share { budget: self.clone(), taken: 0, overdraws: false }
    }

    fn try_take(&self, bytes: usize) -> bool {
        let used = &self.0.used;
        let take = |used: usize| (used + bytes <= self.0.shared_bytes).then_some(used + bytes);
        used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok()
    }
}

/// The memory of one body; freed when dropped.
pub(crate) struct Share {
    budget: Budget,
    taken: usize,
    overdraws: bool,
}

impl Share {
    /// Makes room for a body of so many bytes.
    ///
    /// # Errors
    /// When there is no memory and none was freed within two seconds.
    pub(crate) async fn grow_to(&mut self, bytes: usize) -> Result<(), NoMemory> {
        if self.try_grow_to(bytes) {
            return Ok(());
        }
        let budget = self.budget.clone();
        let wait = async {
            loop {
                let freed = budget.0.has_freed.notified();
                if self.try_grow_to(bytes) {
                    return;
                }
                freed.await;
            }
        };
        tokio::time::timeout(PATIENCE, wait).await.map_err(|_| NoMemory)
    }

    fn try_grow_to(&mut self, bytes: usize) -> bool {
        let wanted = bytes.saturating_sub(self.budget.0.own_bytes);
        if wanted <= self.taken {
            return true;
        }
        let more = (wanted - self.taken).next_multiple_of(STEP);
        if self.budget.try_take(more) {
            self.taken += more;
            return true;
        }
        self.overdraws = self.overdraws || !self.budget.0.is_overdrawn.swap(true, Ordering::Relaxed);
        self.overdraws
    }

    /// The bytes of a body, which keep its share until they are dropped.
    pub(crate) fn keep_with(self, body: Vec<u8>) -> Bytes {
        match self.taken > 0 || self.overdraws {
            true => Bytes::from_owner(Kept { body, _share: self }),
            false => Bytes::from(body),
        }
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        if self.overdraws {
            self.budget.0.is_overdrawn.store(false, Ordering::Relaxed);
        }
        if self.taken > 0 {
            self.budget.0.used.fetch_sub(self.taken, Ordering::Relaxed);
        }
        if self.overdraws || self.taken > 0 {
            self.budget.0.has_freed.notify_waiters();
        }
    }
}

struct Kept {
    body: Vec<u8>,
    _share: Share,
}

impl AsRef<[u8]> for Kept {
    fn as_ref(&self) -> &[u8] {
        &self.body
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn bodies_share_the_budget_and_one_may_overdraw_it() {
        let budget = Budget::new(8 << 20, 4);
        let mut shares: Vec<Share> = (0..6).map(|_| budget.share()).collect();
        for share in &mut shares {
            assert!(share.grow_to(1 << 20).await.is_ok(), "each has a megabyte of its own");
        }
        assert!(shares[0].grow_to(5 << 20).await.is_ok(), "the others leave four");
        assert!(shares[1].grow_to(5 << 20).await.is_ok(), "one overdraws");
        assert_eq!(shares[2].grow_to(5 << 20).await, Err(NoMemory));
        let body = shares.remove(0).keep_with(vec![0; 100]);
        assert_eq!(shares[1].grow_to(5 << 20).await, Err(NoMemory), "the body is still held");
        drop(body);
        assert!(shares[1].grow_to(5 << 20).await.is_ok());
        drop(shares);
        assert_eq!(budget.0.used.load(Ordering::Relaxed), 0);
    }

    #[tokio::test]
    async fn a_body_waits_for_memory_that_is_freed_soon() {
        let budget = Budget::new(8 << 20, 4);
        let (mut first, mut second, mut third) = (budget.share(), budget.share(), budget.share());
        assert!(first.grow_to(5 << 20).await.is_ok() && second.grow_to(5 << 20).await.is_ok());
        let (grown, ()) = tokio::join!(third.grow_to(5 << 20), async {
            tokio::task::yield_now().await;
            drop(first);
        });
        assert!(grown.is_ok());
    }
}
