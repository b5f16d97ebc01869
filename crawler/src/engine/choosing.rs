//! What the free slots are used for. The frontier may take its time to say so; the crawl goes on meanwhile.

use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;

use crate::error::Error;
use crate::frontier::{Frontier, Leases};
use crate::process::{Processor, Task};

/// What there is to do.
pub(super) enum Choice {
    Tasks(Vec<Task>),
    /// Nothing for so long, unless something changes.
    Wait(Duration),
    /// Nothing at all, and nothing is leased.
    Empty,
}

/// The question that was put to the frontier, and its answer until it is used.
#[derive(Default)]
pub(super) struct Choosing<'c> {
    asked: Option<LocalBoxFuture<'c, Result<Choice, Error>>>,
    answer: Option<Choice>,
}

impl<'c> Choosing<'c> {
    /// What to do with so many free slots, if that is known at once. Otherwise [`Choosing::answered`] waits for it.
    pub(super) fn choose<F: Frontier>(
        &mut self,
        processor: &'c Processor<'c, F>,
        most: usize,
    ) -> Result<Option<Choice>, Error> {
        if let Some(answer) = self.answer.take() {
            return Ok(Some(answer));
        }
        if most == 0 {
            return Ok(None);
        }
        let asked = self.asked.get_or_insert_with(|| Box::pin(choose(processor, most)));
        let answer = asked.now_or_never().transpose()?;
        if answer.is_some() {
            self.asked = None;
        }
        Ok(answer)
    }

    /// Whether a question is open.
    pub(super) fn is_waiting(&self) -> bool {
        self.asked.is_some()
    }

    /// Waits for the answer to the open question.
    pub(super) async fn answered(&mut self) -> Result<(), Error> {
        if let Some(asked) = &mut self.asked {
            let answer = asked.await;
            self.asked = None;
            self.answer = Some(answer?);
        }
        Ok(())
    }
}

async fn choose<F: Frontier>(processor: &Processor<'_, F>, most: usize) -> Result<Choice, Error> {
    if let Some(hop) = processor.next_hop().await? {
        return Ok(Choice::Tasks(vec![Task::RobotsHop(hop)]));
    }
    Ok(match processor.frontier().lease(most).await? {
        Leases::Granted(leases) => Choice::Tasks(leases.into_iter().map(Task::Lease).collect()),
        Leases::Wait(time) => Choice::Wait(time.min(processor.next_hop_due().unwrap_or(time))),
        Leases::Empty => Choice::Empty,
    })
}
