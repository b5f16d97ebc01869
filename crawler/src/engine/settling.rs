//! Settlements on their way to the frontier: one batch at a time, in order.

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;

use crate::error::Error;
use crate::frontier::{Frontier, SettledBatch, Settlement};
use crate::process::Processor;

/// Settlements that wait above which nothing new is fetched (backpressure).
const MAX_WAITING: usize = 4096;

/// A batch that was settled.
pub(super) struct Ended {
    pub(super) batch: Vec<Settlement>,
    pub(super) result: SettledBatch,
}

/// Settlements on their way.
pub(super) struct Settling<'c> {
    waiting: Vec<Settlement>,
    /// The position up to which the sink is known to be durable.
    sink_position: Vec<u8>,
    running: Option<LocalBoxFuture<'c, Result<Ended, Error>>>,
}

impl<'c> Settling<'c> {
    pub(super) fn new(sink_position: Vec<u8>) -> Settling<'c> {
        Settling { waiting: Vec::new(), sink_position, running: None }
    }

    /// Adds pages that are durable up to this position of the sink.
    pub(super) fn add_stored(&mut self, batch: Vec<Settlement>, sink_position: Vec<u8>) {
        self.waiting.extend(batch);
        self.sink_position = sink_position;
    }

    /// Adds what needs no page.
    pub(super) fn add(&mut self, batch: Vec<Settlement>) {
        self.waiting.extend(batch);
    }

    /// Sends what waits, unless a batch is on its way; gives the batch if the frontier answers at once.
    pub(super) fn send<F: Frontier>(&mut self, processor: &'c Processor<'c, F>) -> Result<Option<Ended>, Error> {
        if self.running.is_some() || self.waiting.is_empty() {
            return Ok(None);
        }
        let (batch, sink_position) = (std::mem::take(&mut self.waiting), self.sink_position.clone());
        let settle = async move {
            let result = processor.frontier().settle(&batch, &sink_position).await?;
            Ok(Ended { batch, result })
        };
        let running = self.running.insert(Box::pin(settle));
        let ended = running.now_or_never().transpose()?;
        if ended.is_some() {
            self.running = None;
        }
        Ok(ended)
    }

    /// Whether a batch is on its way.
    pub(super) fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// Whether nothing is left to settle.
    pub(super) fn is_idle(&self) -> bool {
        self.running.is_none() && self.waiting.is_empty()
    }

    /// Whether the frontier is so far behind that nothing new may be fetched.
    pub(super) fn is_behind(&self) -> bool {
        self.waiting.len() > MAX_WAITING
    }

    /// Waits for the batch that is on its way.
    pub(super) async fn ended(&mut self) -> Result<Option<Ended>, Error> {
        let Some(running) = &mut self.running else { return Ok(None) };
        let ended = running.await;
        self.running = None;
        ended.map(Some)
    }
}
