//! The checkpoint: a picture of the frontier at one place of its journal, so that opening need not read all of it.

use std::fs;
use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

use super::Totals;
use super::files::replace;
use super::hosts::{Host, Hosts};
use super::journal::Fields;
use super::queue::{ClassQueue, End};
use crate::error::Error;
use crate::order::Class;

const MAGIC: &[u8; 8] = b"pithck03";

/// What a checkpoint says apart from the hosts.
#[derive(Debug, Default, Clone, PartialEq)]
pub(super) struct Picture {
    /// The journal up to here is in the picture.
    pub(super) journal: u64,
    /// Length of the file of queue blocks.
    pub(super) blocks: u64,
    /// Runs that make the set of known fingerprints.
    pub(super) runs: Vec<u64>,
    /// Digest of the saved Bloom filter.
    pub(super) bloom: u64,
    /// The same for the digests of kept pages.
    pub(super) content_runs: Vec<u64>,
    /// Digest of their saved Bloom filter.
    pub(super) content_bloom: u64,
    /// URLs ever taken in.
    pub(super) n_urls: u32,
    /// One bit per URL that is done.
    pub(super) done: Vec<u64>,
    /// Tries so far, of URLs that were tried and are not done.
    pub(super) attempts: Vec<(u32, u8)>,
    /// What was counted.
    pub(super) totals: Totals,
    /// How far the sink was.
    pub(super) mark: Vec<u8>,
    /// Where seeds led to.
    pub(super) admitted: Vec<String>,
    /// Host, class and record of what was handed out. Nobody holds it when the picture is read: it waits again.
    pub(super) leased: Vec<(u32, Class, u64)>,
}

/// Writes a checkpoint.
pub(super) fn save(path: &Path, picture: &Picture, hosts: &Hosts) -> Result<(), Error> {
    let mut out = Vec::with_capacity(hosts.iter().len() * 96 + picture.done.len() * 8 + 4096);
    out.extend(picture.journal.to_le_bytes());
    out.extend(picture.blocks.to_le_bytes());
    put_numbers(&picture.runs, &mut out);
    out.extend(picture.bloom.to_le_bytes());
    put_numbers(&picture.content_runs, &mut out);
    out.extend(picture.content_bloom.to_le_bytes());
    out.extend(picture.n_urls.to_le_bytes());
    put_numbers(&picture.done, &mut out);
    out.extend((picture.attempts.len() as u32).to_le_bytes());
    for (url, attempts) in &picture.attempts {
        out.extend(url.to_le_bytes());
        out.push(*attempts);
    }
    put_numbers(&picture.totals.outcomes, &mut out);
    out.extend(picture.totals.bytes.to_le_bytes());
    out.extend(picture.totals.milliseconds.to_le_bytes());
    out.extend((picture.mark.len() as u32).to_le_bytes());
    out.extend(&picture.mark);
    out.extend((picture.admitted.len() as u32).to_le_bytes());
    for url in &picture.admitted {
        out.extend((url.len() as u32).to_le_bytes());
        out.extend(url.as_bytes());
    }
    out.extend((picture.leased.len() as u32).to_le_bytes());
    for (host, class, record) in &picture.leased {
        out.extend(host.to_le_bytes());
        out.push(class.0);
        out.extend(record.to_le_bytes());
    }
    out.extend((hosts.iter().len() as u32).to_le_bytes());
    hosts.iter().for_each(|(_, host)| put_host(host, &mut out));
    let checksum = xxh3_64(&out).to_le_bytes();
    replace(path, &[MAGIC, &checksum, &out])
}

/// Reads a checkpoint; nothing when there is none that is whole.
pub(super) fn load(path: &Path) -> Option<(Picture, Hosts)> {
    let bytes = fs::read(path).ok()?;
    let (head, body) = bytes.split_at_checked(16)?;
    if head[..8] != *MAGIC || head[8..] != xxh3_64(body).to_le_bytes() {
        return None;
    }
    let mut fields = Fields { bytes: body, at: 0 };
    let mut picture = Picture { journal: fields.u64()?, blocks: fields.u64()?, ..Picture::default() };
    picture.runs = numbers(&mut fields)?;
    picture.bloom = fields.u64()?;
    picture.content_runs = numbers(&mut fields)?;
    picture.content_bloom = fields.u64()?;
    picture.n_urls = fields.u32()?;
    picture.done = numbers(&mut fields)?;
    for _ in 0..fields.u32()? {
        picture.attempts.push((fields.u32()?, fields.byte()?));
    }
    picture.totals.outcomes = numbers(&mut fields)?;
    picture.totals.bytes = fields.u64()?;
    picture.totals.milliseconds = fields.u64()?;
    picture.mark = fields.slice()?.to_vec();
    for _ in 0..fields.u32()? {
        picture.admitted.push(fields.text()?);
    }
    for _ in 0..fields.u32()? {
        picture.leased.push((fields.u32()?, Class(fields.byte()?), fields.u64()?));
    }
    let mut hosts = Hosts::default();
    for _ in 0..fields.u32()? {
        read_host(&mut fields, &mut hosts)?;
    }
    Some((picture, hosts))
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
        out.push(queue.class.0);
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
        let mut queue = ClassQueue::new(Class(fields.byte()?));
        queue.head = End::from_slice(&numbers(fields)?)?;
        queue.tail = End::from_slice(&numbers(fields)?)?;
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
