//! Batches of settlements: messages that arrive once, all of them, whoever delivers them in the end.
//!
//! A batch whose messages go to several partitions, or are too long for one, is written down first. When its worker dies
//! on the way, another delivers what is left; a partition takes a message once, by its number.

use std::time::{Duration, Instant};

use hashbrown::HashSet;
use redis::cmd;
use url::Url;

use super::super::{FrontierError, LeaseId, Link, Settled, SettledBatch, Settlement, WorkerId};
use super::message::{LinkMessage, fingerprint, partition_of};
use super::scripts::{list, number, text, totals, unexpected};
use super::{RedisFrontier, State, fence_bytes, key_bytes, partition_in};
use crate::order::{FetchedPage, HostCounts, Priority};
use crate::outcome::Outcome;

/// Links in one message: the server does nothing else while it reads them.
const MAX_LINKS: usize = 4000;
/// How long a batch stays that was written down before others deliver it.
const LEFT_AFTER: Duration = Duration::from_secs(20);
/// How often batches of others are looked for.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// Settlements on their way, as they were first sent.
#[derive(Clone)]
pub(super) struct Batch {
    ids: Vec<LeaseId>,
    lost: Vec<LeaseId>,
    /// The name under which it is written down, if it needs more than one message.
    name: Option<Vec<u8>>,
    messages: Vec<Message>,
}

/// What one partition is told.
#[derive(Clone)]
struct Message {
    partition: u16,
    arguments: Vec<Vec<u8>>,
    fingerprints: Vec<u64>,
}

/// The leases and links for one partition, until they become a message.
#[derive(Default)]
struct Draft {
    leases: Vec<[Vec<u8>; 4]>,
    links: LinkMessage,
}

impl RedisFrontier {
    pub(super) async fn settle_batch(
        &self,
        worker: &WorkerId,
        settlements: &[Settlement],
        sink_position: &[u8],
    ) -> Result<SettledBatch, FrontierError> {
        let ids: Vec<LeaseId> = settlements.iter().map(|settlement| settlement.lease.id).collect();
        let unfinished = self.lock().unfinished.clone().filter(|batch| batch.ids == ids);
        let batch = match unfinished {
            Some(batch) => batch,
            None => {
                // Whoever has lost a lease does not pay its links.
                let lost = self.lost(worker, &ids).await?;
                let batch = self.prepare(worker, settlements, sink_position, lost);
                self.lock().unfinished = Some(batch.clone());
                batch
            }
        };
        let outbox = self.prefix(partition_of(worker.as_str(), self.n_partitions)) + "outbox";
        self.keep(&batch, &outbox).await?;
        let mut lost = batch.lost.clone();
        for message in &batch.messages {
            for fence in self.deliver(message).await? {
                let is_it = |id: &LeaseId| partition_in(*id) == message.partition && id.fence() == fence;
                lost.extend(ids.iter().copied().filter(is_it));
            }
        }
        if let Some(name) = &batch.name {
            let _: i64 = self.server.command(cmd("HDEL").arg(&outbox).arg(name.as_slice())).await?;
        }
        let mut state = self.lock();
        state.unfinished = None;
        state.scores.retain(|id, _| !ids.contains(id));
        Ok(SettledBatch { fenced: lost })
    }

    /// Writes a batch down if it needs more than one message.
    async fn keep(&self, batch: &Batch, outbox: &str) -> Result<(), FrontierError> {
        if let Some(name) = &batch.name {
            let blob = write_messages(&batch.messages);
            let _: i64 = self.server.command(cmd("HSET").arg(outbox).arg(name.as_slice()).arg(blob)).await?;
        }
        Ok(())
    }

    /// Writes a batch down and goes no further.
    #[cfg(test)]
    pub(super) async fn write_down(&self, worker: &WorkerId, settlements: &[Settlement], sink_position: &[u8]) {
        let batch = self.prepare(worker, settlements, sink_position, Vec::new());
        let outbox = self.prefix(partition_of(worker.as_str(), self.n_partitions)) + "outbox";
        self.keep(&batch, &outbox).await.unwrap();
    }

    /// Tells a partition; gives the fences of the leases that had ended.
    async fn deliver(&self, message: &Message) -> Result<Vec<u64>, FrontierError> {
        let answer = self.run(&self.scripts.settle, message.partition, message.arguments.clone()).await?;
        let mut answer = list(answer)?.into_iter();
        let mut next = || answer.next().ok_or_else(unexpected);
        let lost = list(next()?)?.into_iter().map(number).collect::<Result<_, _>>()?;
        let links = text(next()?)?;
        self.note_totals(message.partition, totals(next()?)?);
        self.remember(&message.fingerprints, &links);
        Ok(lost)
    }

    fn prepare(
        &self,
        worker: &WorkerId,
        settlements: &[Settlement],
        sink_position: &[u8],
        lost: Vec<LeaseId>,
    ) -> Batch {
        let mut state = self.lock();
        let home = partition_of(worker.as_str(), self.n_partitions);
        let mut messages: Vec<Message> = Vec::new();
        let mut drafts: Vec<(u16, Draft)> = Vec::new();
        let mut n_links = 0;
        for settlement in settlements.iter().filter(|settlement| !lost.contains(&settlement.lease.id)) {
            let found = settlement.outlinks.as_ref().map_or(0, |found| found.links.len());
            if n_links > 0 && n_links + found > MAX_LINKS {
                self.close(&mut state, &mut drafts, &mut messages);
                n_links = 0;
            }
            n_links += found;
            let paid = self.add_links(&mut state, &mut drafts, settlement);
            let id = settlement.lease.id;
            let (ends, record) = describe(&settlement.settled, paid);
            let partition = partition_in(id);
            draft(&mut drafts, partition).leases.push([fence_bytes(id), key_bytes(id), ends, record]);
        }
        draft(&mut drafts, home);
        self.close(&mut state, &mut drafts, &mut messages);
        // The position of the sink counts when all that stands before it is settled.
        if let Some(last) = messages.iter_mut().rfind(|message| message.partition == home) {
            last.arguments[2] = worker.as_str().as_bytes().to_vec();
            last.arguments[3] = sink_position.to_vec();
            last.arguments[4] = state.policy.state();
        }
        let name = format!("{}/{}/{}", worker.as_str(), self.session, state.n_batches).into_bytes();
        let ids = settlements.iter().map(|settlement| settlement.lease.id).collect();
        Batch { ids, lost, name: (messages.len() > 1).then_some(name), messages }
    }

    /// Adds the links of a page; gives what it has paid of its score.
    fn add_links(&self, state: &mut State, drafts: &mut Vec<(u16, Draft)>, settlement: &Settlement) -> f32 {
        let Some(found) = &settlement.outlinks else { return 0.0 };
        let from = &settlement.lease.link;
        let mut distinct: HashSet<&Url> = found.links.iter().map(|link| &link.url).collect();
        distinct.remove(&from.url);
        let before = state.scores.get(&settlement.lease.id).copied().unwrap_or(0.0);
        let mut score = before;
        let counts = HostCounts { pending: 0, fetched: 0, best: Priority::LAST };
        match found.is_redirect {
            true => state.policy.redirected(from, &counts, &mut score),
            false => {
                let page = FetchedPage { link: from, n_links: distinct.len(), body: &found.text };
                state.policy.page_fetched(&page, &counts, &mut score);
            }
        }
        for link in &found.links {
            if distinct.remove(&link.url) && !state.known.contains(fingerprint(&link.url)) {
                self.add_link(state, drafts, link);
            }
        }
        (before - score).max(0.0)
    }

    fn add_link(&self, state: &mut State, drafts: &mut Vec<(u16, Draft)>, link: &Link) {
        let scored = super::score(&mut *state.policy, link);
        let partition = self.partition_of(&link.host());
        draft(drafts, partition).links.add(&scored, self.order.scores);
    }

    /// Makes messages of the drafts.
    fn close(&self, state: &mut State, drafts: &mut Vec<(u16, Draft)>, messages: &mut Vec<Message>) {
        for (partition, draft) in drafts.drain(..) {
            state.n_batches += 1;
            let mut arguments = vec![self.session.clone().into_bytes(), state.n_batches.to_string().into_bytes()];
            arguments.extend([Vec::new(), Vec::new(), Vec::new(), draft.leases.len().to_string().into_bytes()]);
            arguments.extend(draft.leases.into_iter().flatten());
            draft.links.write(&mut arguments);
            messages.push(Message { partition, arguments, fingerprints: draft.links.fingerprints() });
        }
    }

    /// Delivers batches that a worker has written down and left.
    pub(super) async fn deliver_left_batches(&self) -> Result<(), FrontierError> {
        {
            let mut state = self.lock();
            if state.left_at.is_some_and(|at| at.elapsed() < LOOK_EVERY) {
                return Ok(());
            }
            state.left_at = Some(Instant::now());
        }
        for partition in 0..self.n_partitions {
            let key = self.prefix(partition) + "outbox";
            let names: Vec<Vec<u8>> = self.server.command(cmd("HKEYS").arg(&key)).await?;
            for name in names {
                let since = *self.lock().left.entry(name.clone()).or_insert_with(Instant::now);
                if since.elapsed() >= LEFT_AFTER {
                    self.deliver_left(&key, &name).await?;
                }
            }
        }
        self.lock().left.retain(|_, since| since.elapsed() < 4 * LEFT_AFTER);
        Ok(())
    }

    /// Delivers what an earlier run of this worker has written down.
    pub(super) async fn deliver_own(&self) -> Result<(), FrontierError> {
        let key = self.prefix(partition_of(&self.worker, self.n_partitions)) + "outbox";
        let names: Vec<Vec<u8>> = self.server.command(cmd("HKEYS").arg(&key)).await?;
        let own = format!("{}/", self.worker).into_bytes();
        for name in names.iter().filter(|name| name.starts_with(&own)) {
            self.deliver_left(&key, name).await?;
        }
        Ok(())
    }

    async fn deliver_left(&self, key: &str, name: &[u8]) -> Result<(), FrontierError> {
        let blob: Option<Vec<u8>> = self.server.command(cmd("HGET").arg(key).arg(name)).await?;
        for message in blob.and_then(|blob| read_messages(&blob)).unwrap_or_default() {
            self.deliver(&message).await?;
        }
        let _: i64 = self.server.command(cmd("HDEL").arg(key).arg(name)).await?;
        Ok(())
    }
}

fn draft(drafts: &mut Vec<(u16, Draft)>, partition: u16) -> &mut Draft {
    let index = drafts.iter().position(|(number, _)| *number == partition).unwrap_or_else(|| {
        drafts.push((partition, Draft::default()));
        drafts.len() - 1
    });
    &mut drafts[index].1
}

/// How a lease ends, in a word that says what is kept of its claim, and its record.
fn describe(settled: &Settled, paid: f32) -> (Vec<u8>, Vec<u8>) {
    let Settled::Done(record) = settled else { return (b"retry".to_vec(), Vec::new()) };
    let ends = match record.outcome {
        Outcome::UnwantedType => "unwanted",
        Outcome::TooManyRedirects | Outcome::NoSitemap => "kept",
        Outcome::Stored | Outcome::NotModified | Outcome::NoIndex => "leads",
        Outcome::Redirected | Outcome::OutOfScope => "leads",
        _ => "ended",
    };
    let mut bytes = vec![record.outcome.code()];
    bytes.extend(record.bytes.to_be_bytes());
    bytes.extend(record.milliseconds.to_be_bytes());
    bytes.extend(paid.to_be_bytes());
    bytes.extend(record.digest.to_string().into_bytes());
    (ends.as_bytes().to_vec(), bytes)
}

fn write_messages(messages: &[Message]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for message in messages {
        bytes.extend(message.partition.to_be_bytes());
        bytes.extend((message.arguments.len() as u32).to_be_bytes());
        for argument in &message.arguments {
            bytes.extend((argument.len() as u32).to_be_bytes());
            bytes.extend(argument);
        }
    }
    bytes
}

fn read_messages(mut bytes: &[u8]) -> Option<Vec<Message>> {
    fn take<'b>(bytes: &mut &'b [u8], n: usize) -> Option<&'b [u8]> {
        let (taken, rest) = bytes.split_at_checked(n)?;
        *bytes = rest;
        Some(taken)
    }
    fn length(bytes: &mut &[u8]) -> Option<usize> {
        Some(u32::from_be_bytes(take(bytes, 4)?.try_into().ok()?) as usize)
    }
    let mut messages = Vec::new();
    while !bytes.is_empty() {
        let partition = u16::from_be_bytes(take(&mut bytes, 2)?.try_into().ok()?);
        let n_arguments = length(&mut bytes)?;
        let mut arguments = Vec::new();
        for _ in 0..n_arguments {
            let n = length(&mut bytes)?;
            arguments.push(take(&mut bytes, n)?.to_vec());
        }
        messages.push(Message { partition, arguments, fingerprints: Vec::new() });
    }
    Some(messages)
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn messages_that_were_written_down_are_read_again() {
        let message = Message { partition: 7, arguments: vec![b"a".to_vec(), Vec::new()], fingerprints: Vec::new() };
        let bytes = write_messages(&[message.clone(), message]);
        let read = read_messages(&bytes).unwrap();
        assert_eq!((read.len(), read[1].partition, &read[1].arguments[0][..]), (2, 7, &b"a"[..]));
        assert!((1..bytes.len()).all(|n| read_messages(&bytes[..n]).is_none_or(|read| read.len() < 2)));
    }
}
