//! Many page shards into document shards, on all cores.
//!
//! Every input becomes one document shard, written beside and renamed, and noted in the manifest when it is durable.
//! A page is read, extracted and written by different threads; the documents keep the order of the pages, so that the
//! bytes do not depend on the number of threads. No more pages are in flight than the window allows.

mod document;
mod input;
mod workers;

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded, unbounded};
use pith_corpus::jsonl::{self, Writer};
use pith_corpus::manifest::{Counts, Earlier, Manifest, Output, Source, Step};
use pith_corpus::warc::Page;
use pith_corpus::{Error, Watch};
use serde_json::Value;

pub use document::{Scope, Settings, explain_page, extract_page, line};
use input::{Item, Pages};
pub use input::{find, is_html};
use workers::{Task, Workers};

use crate::progress::Progress;

/// What became of one page.
#[derive(Debug)]
pub enum Outcome {
    /// A document: one line of JSON.
    Extracted(Vec<u8>),
    /// Not a page we want, and why.
    Skipped(String),
    /// A page we wanted and could not have, and why.
    Failed(&'static str),
}

/// Turns a page of a shard into its outcome. Shared with threads that may be left behind by the time limit.
pub type Extract = dyn Fn(&Page, &str) -> Outcome + Send + Sync;

/// How a batch runs; nothing here but `settings` changes its result.
pub struct Batch<'b> {
    /// The folder to fill.
    pub out: &'b Path,
    /// The command, for the manifest.
    pub command: String,
    /// Every setting that changes the documents.
    pub settings: Value,
    /// What to do with the result of other settings in that folder.
    pub earlier: Earlier,
    /// Threads that extract.
    pub jobs: NonZeroUsize,
    /// A page that takes longer is given up.
    pub time_limit: Duration,
    /// Who looks on.
    pub progress: &'b Progress,
}

/// What a batch hands back.
pub struct Extracted {
    /// The manifest of the folder, complete.
    pub manifest: Manifest,
    /// The first damaged places that this run met.
    pub damage: Vec<String>,
    /// Whether this run had anything to do.
    pub was_done: bool,
}

/// Extracts every input that is not done yet.
pub fn run(inputs: &[PathBuf], batch: &Batch, extract: Arc<Extract>) -> Result<Extracted, Error> {
    let version = env!("CARGO_PKG_VERSION").into();
    let settings = batch.settings.clone();
    let step = Step { command: batch.command.clone(), version, settings, counts: Counts::new() };
    let output = Output::open(batch.out, step, Vec::new(), batch.earlier)?;
    let plan = plan(inputs, &output)?;
    if plan.is_empty() && output.manifest().complete {
        return Ok(Extracted { manifest: output.manifest().clone(), damage: Vec::new(), was_done: true });
    }
    batch.progress.begin("extracting", plan.iter().map(|shard| shard.source.bytes).sum());
    let workers = Workers::start(batch.jobs, batch.time_limit, extract);
    let output = Mutex::new(output);
    let damage = Mutex::new(Vec::new());
    let failure = Mutex::new(None);
    let next = AtomicUsize::new(0);
    // Two shards at a time, so that the cores have work while the last pages of one are written.
    let at_once = (batch.jobs.get() / 4).max(2).min(plan.len()).min(batch.jobs.get().max(1));
    std::thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(|| {
                while let Some(shard) = plan.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let result = extract_shard(shard, batch, &workers, &output, &damage);
                    if let Err(error) = result {
                        next.store(plan.len(), Ordering::Relaxed);
                        failure.lock().expect("only set here").get_or_insert(error);
                    }
                }
            });
        }
    });
    if let Some(error) = failure.into_inner().expect("only set above") {
        return Err(error);
    }
    let mut output = output.into_inner().expect("nobody panics with the manifest");
    let manifest = output.complete(Counts::new())?.clone();
    let mut damage = damage.into_inner().expect("nobody panics while describing damage");
    damage.sort();
    Ok(Extracted { manifest, damage, was_done: false })
}

/// One input and the name of what it becomes.
struct Shard {
    path: PathBuf,
    source: Source,
    name: String,
}

/// What is left to do. An input that is done keeps its name; the others take the lowest free numbers in order, which
/// gives a run that goes on the names that an undisturbed run gives.
fn plan(inputs: &[PathBuf], output: &Output) -> Result<Vec<Shard>, Error> {
    let sources = inputs.iter().map(|path| Source::of(path)).collect::<Result<Vec<_>, _>>()?;
    let done = |source: &Source| {
        let shards = output.manifest().shards.iter().filter(|shard| shard.input == *source);
        shards.filter(|shard| output.done(&shard.name, source).is_some()).map(|shard| shard.name.clone()).next()
    };
    let taken: Vec<String> = sources.iter().filter_map(&done).collect();
    let mut free = (0..).map(jsonl::shard_name).filter(|name| !taken.contains(name));
    let mut plan = Vec::new();
    for (path, source) in inputs.iter().zip(sources) {
        if done(&source).is_none() {
            let name = free.next().expect("the numbers do not end");
            plan.push(Shard { path: path.clone(), source, name });
        }
    }
    Ok(plan)
}

/// Extracts one shard: a thread reads, the workers extract, this one writes.
fn extract_shard(
    shard: &Shard,
    batch: &Batch,
    workers: &Workers,
    output: &Mutex<Output>,
    described: &Mutex<Vec<String>>,
) -> Result<(), Error> {
    let mut pages = Pages::open(&shard.path)?;
    let mut writer = Writer::create(batch.out.join(&shard.name))?;
    let window = batch.jobs.get() * 8;
    let (permits, permit) = bounded::<()>(window);
    let (replies, reply) = unbounded();
    let given_up = AtomicBool::new(false);
    let name: Arc<str> = shard.source.name.as_str().into();
    let mut tally = Tally::default();
    std::thread::scope(|scope| {
        let reading = scope.spawn(|| read(&mut pages, workers, &name, replies, permits, &given_up));
        let written = write(&mut writer, &mut tally, reply, permit, batch.progress);
        if written.is_err() {
            given_up.store(true, Ordering::Relaxed);
        }
        let read = reading.join().expect("reading does not panic");
        written.and(read)
    })?;
    if batch.progress.stopped() {
        return Err(Error::Stopped);
    }
    tally.add("records", pages.n_records());
    tally.add("damaged", pages.n_damaged());
    let sealed = writer.seal()?;
    described.lock().expect("nobody panics while describing damage").extend(pages.describe_damage());
    let mut output = output.lock().expect("nobody panics with the manifest");
    output.settle(shard.name.clone(), shard.source.clone(), sealed, tally.counts)
}

/// Hands the pages of a shard to the workers, no more than the window at a time.
fn read(
    pages: &mut Pages,
    workers: &Workers,
    name: &Arc<str>,
    replies: Sender<Reply>,
    permits: Sender<()>,
    given_up: &AtomicBool,
) -> Result<(), Error> {
    let mut number = 0;
    while let Some(item) = pages.next()? {
        // The channel is as long as the window: a page waits here until an earlier one was written.
        if permits.send(()).is_err() || given_up.load(Ordering::Relaxed) {
            break;
        }
        let bytes = pages.bytes_since();
        match item {
            Item::Page(page) => {
                let reply = replies.clone();
                workers.give(Task { number, page, shard: name.clone(), reply, bytes });
            }
            Item::Skip(reason) => {
                let _ = replies.send(Reply { number, outcome: Outcome::Skipped(reason), bytes });
            }
        }
        number += 1;
    }
    Ok(())
}

/// An outcome on its way to the writer.
struct Reply {
    number: u64,
    outcome: Outcome,
    bytes: u64,
}

/// Writes the documents in the order of their pages and counts every outcome.
fn write(
    writer: &mut Writer,
    tally: &mut Tally,
    replies: Receiver<Reply>,
    permits: Receiver<()>,
    progress: &Progress,
) -> Result<(), Error> {
    let mut waiting = BTreeMap::new();
    let mut next = 0;
    for reply in replies {
        progress.advance(reply.bytes, 1);
        waiting.insert(reply.number, reply.outcome);
        while let Some(outcome) = waiting.remove(&next) {
            next += 1;
            let _ = permits.recv();
            tally.add("read", 1);
            match outcome {
                Outcome::Extracted(line) => {
                    writer.put(&line)?;
                    tally.add("extracted", 1);
                }
                Outcome::Skipped(reason) => tally.add(&format!("skipped.{reason}"), 1),
                Outcome::Failed(reason) => tally.add(&format!("failed.{reason}"), 1),
            }
        }
        if progress.stopped() {
            return Err(Error::Stopped);
        }
    }
    Ok(())
}

#[derive(Default)]
struct Tally {
    counts: Counts,
}

impl Tally {
    fn add(&mut self, name: &str, n: u64) {
        match self.counts.get_mut(name) {
            Some(count) => *count += n,
            None => drop(self.counts.insert(name.to_owned(), n)),
        }
    }
}
