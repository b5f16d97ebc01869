//! The checkpoint: a snapshot of the frontier at one offset of its journal, so that opening replays only the journal
//! after it.

use std::fs;
use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

use super::Totals;
use super::files::replace;
use super::hosts::{Host, Hosts};
use super::journal::Fields;
use super::queue::{EndBuffer, FifoQueue};
use crate::error::Error;
use crate::order::Priority;

const MAGIC: &[u8; 8] = b"pithck03";

/// The content of a checkpoint, without the hosts.
#[derive(Debug, Default, Clone, PartialEq)]
pub(super) struct Snapshot {
    /// The snapshot includes the journal up to this offset.
    pub(super) journal: u64,
    /// Length of the file of queue blocks.
    pub(super) blocks: u64,
    /// The runs of the set of known URL fingerprints.
    pub(super) runs: Vec<u64>,
    /// Digest of the saved Bloom filter.
    pub(super) bloom: u64,
    /// The runs of the set of content digests.
    pub(super) content_runs: Vec<u64>,
    /// Digest of the saved Bloom filter of content digests.
    pub(super) content_bloom: u64,
    /// URLs ever added.
    pub(super) n_urls: u32,
    /// One bit per URL that is done.
    pub(super) done: Vec<u64>,
    /// Failed attempts so far, of URLs that are not done.
    pub(super) attempts: Vec<(u32, u8)>,
    /// The totals of the crawl.
    pub(super) totals: Totals,
    /// The sink position that was last settled.
    pub(super) sink_position: Vec<u8>,
    /// Targets of redirected seeds.
    pub(super) scope_extensions: Vec<String>,
    /// Host, priority and record offset of leased URLs. They are queued again when the snapshot is loaded.
    pub(super) leased: Vec<(u32, Priority, u64)>,
}

/// Writes a checkpoint.
pub(super) fn save(path: &Path, snapshot: &Snapshot, hosts: &Hosts) -> Result<(), Error> {
    let mut out = Vec::with_capacity(hosts.len() * 96 + snapshot.done.len() * 8 + 4096);
    out.extend(snapshot.journal.to_le_bytes());
    out.extend(snapshot.blocks.to_le_bytes());
    put_numbers(&snapshot.runs, &mut out);
    out.extend(snapshot.bloom.to_le_bytes());
    put_numbers(&snapshot.content_runs, &mut out);
    out.extend(snapshot.content_bloom.to_le_bytes());
    out.extend(snapshot.n_urls.to_le_bytes());
    put_numbers(&snapshot.done, &mut out);
    out.extend((snapshot.attempts.len() as u32).to_le_bytes());
    for (url, attempts) in &snapshot.attempts {
        out.extend(url.to_le_bytes());
        out.push(*attempts);
    }
    put_numbers(&snapshot.totals.outcomes, &mut out);
    out.extend(snapshot.totals.bytes.to_le_bytes());
    out.extend(snapshot.totals.milliseconds.to_le_bytes());
    out.extend((snapshot.sink_position.len() as u32).to_le_bytes());
    out.extend(&snapshot.sink_position);
    out.extend((snapshot.scope_extensions.len() as u32).to_le_bytes());
    for url in &snapshot.scope_extensions {
        out.extend((url.len() as u32).to_le_bytes());
        out.extend(url.as_bytes());
    }
    out.extend((snapshot.leased.len() as u32).to_le_bytes());
    for (host, priority, record) in &snapshot.leased {
        out.extend(host.to_le_bytes());
        out.push(priority.0);
        out.extend(record.to_le_bytes());
    }
    out.extend((hosts.len() as u32).to_le_bytes());
    hosts.iter().for_each(|(_, host)| put_host(host, &mut out));
    out.extend((snapshot.totals.statuses.len() as u32).to_le_bytes());
    for ((outcome, status), count) in &snapshot.totals.statuses {
        out.push(*outcome);
        out.extend(status.to_le_bytes());
        out.extend(count.to_le_bytes());
    }
    write(path, &out)
}

/// Writes the bytes of a checkpoint with their checksum.
pub(super) fn write(path: &Path, body: &[u8]) -> Result<(), Error> {
    replace(path, &[MAGIC, &xxh3_64(body).to_le_bytes(), body])
}

/// Reads a checkpoint; `None` when there is none or its checksum is wrong.
pub(super) fn load(path: &Path) -> Option<(Snapshot, Hosts)> {
    let bytes = fs::read(path).ok()?;
    let (head, body) = bytes.split_at_checked(16)?;
    if head[..8] != *MAGIC || head[8..] != xxh3_64(body).to_le_bytes() {
        return None;
    }
    let mut fields = Fields { bytes: body, at: 0 };
    let mut snapshot = Snapshot { journal: fields.u64()?, blocks: fields.u64()?, ..Snapshot::default() };
    snapshot.runs = numbers(&mut fields)?;
    snapshot.bloom = fields.u64()?;
    snapshot.content_runs = numbers(&mut fields)?;
    snapshot.content_bloom = fields.u64()?;
    snapshot.n_urls = fields.u32()?;
    snapshot.done = numbers(&mut fields)?;
    for _ in 0..fields.u32()? {
        snapshot.attempts.push((fields.u32()?, fields.byte()?));
    }
    snapshot.totals.outcomes = numbers(&mut fields)?;
    snapshot.totals.bytes = fields.u64()?;
    snapshot.totals.milliseconds = fields.u64()?;
    snapshot.sink_position = fields.slice()?.to_vec();
    for _ in 0..fields.u32()? {
        snapshot.scope_extensions.push(fields.text()?);
    }
    for _ in 0..fields.u32()? {
        snapshot.leased.push((fields.u32()?, Priority(fields.byte()?), fields.u64()?));
    }
    let mut hosts = Hosts::default();
    for _ in 0..fields.u32()? {
        read_host(&mut fields, &mut hosts)?;
    }
    // Checkpoints of before end here.
    for _ in 0..fields.u32().unwrap_or(0) {
        let key = (fields.byte()?, fields.u16()?);
        snapshot.totals.statuses.insert(key, fields.u64()?);
    }
    Some((snapshot, hosts))
}

fn put_host(host: &Host, out: &mut Vec<u8>) {
    out.extend((host.name.len() as u32).to_le_bytes());
    out.extend(host.name.as_bytes());
    for value in [host.pending, host.fetched, host.pages, host.stored, host.rest_milliseconds] {
        out.extend(value.to_le_bytes());
    }
    out.extend(host.bytes.to_le_bytes());
    out.extend(host.milliseconds.to_le_bytes());
    out.extend((host.queues.0.len() as u32).to_le_bytes());
    for queue in &host.queues.0 {
        out.push(queue.priority.0);
        put_numbers(queue.head.as_slice(), out);
        put_numbers(queue.tail.as_slice(), out);
        out.extend(queue.n_blocks.to_le_bytes());
        out.extend(queue.first.to_le_bytes());
        out.extend(queue.reserved.to_le_bytes());
    }
}

fn read_host(fields: &mut Fields<'_>, hosts: &mut Hosts) -> Option<()> {
    let number = hosts.add(std::str::from_utf8(fields.slice()?).ok()?);
    let host = hosts.get_mut(number);
    host.pending = fields.u32()?;
    host.fetched = fields.u32()?;
    host.pages = fields.u32()?;
    host.stored = fields.u32()?;
    host.rest_milliseconds = fields.u32()?;
    host.bytes = fields.u64()?;
    host.milliseconds = fields.u64()?;
    let n_queues = fields.u32()?;
    host.queues.0.reserve_exact(n_queues.min(256) as usize);
    for _ in 0..n_queues {
        let mut queue = FifoQueue::new(Priority(fields.byte()?));
        queue.head = EndBuffer::from_slice(&numbers(fields)?)?;
        queue.tail = EndBuffer::from_slice(&numbers(fields)?)?;
        queue.n_blocks = fields.u32()?;
        queue.first = fields.u64()?;
        queue.reserved = fields.u64()?;
        host.queues.0.push(queue);
    }
    Some(())
}

fn put_numbers(values: &[u64], out: &mut Vec<u8>) {
    out.extend((values.len() as u32).to_le_bytes());
    values.iter().for_each(|value| out.extend(value.to_le_bytes()));
}

fn numbers(fields: &mut Fields<'_>) -> Option<Vec<u64>> {
    let length = fields.u32()?;
    (0..length).map(|_| fields.u64()).collect()
}
