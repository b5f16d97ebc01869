//! Many page shards into document shards, on all cores.
//!
//! Every input becomes one document shard, written under a temporary name, renamed, and recorded in the manifest when it is durable.
//! A page is read, extracted and written by different threads; the documents keep the order of the pages, so that the
//! bytes do not depend on the number of threads. No more pages are in flight than the window allows.

mod document;
mod files;
mod input;
mod preferences;
mod stream;
mod tasks;
mod versions;
mod workers;

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded, unbounded};
use pith_corpus::atomic_file::SealedFile;
use pith_corpus::jsonl::{self, Writer};
use pith_corpus::manifest::{Counts, ExistingOutput, InputFile, Manifest, Output, Step};
use pith_corpus::warc::Page;
use pith_corpus::{Error, Observer, check_apart};
use serde_json::Value;

pub use document::{FIELD_NAMES, PageDocument, Settings, document_file, extract_page, is_html, line};
use files::FilesWriter;
pub use files::{DocumentFile, FileFormat, file_name};
use input::{Item, Pages};
pub use input::{MAX_PAGE_BYTES, Source, file_media_type, find, page_at_hand, reason_to_skip};
pub use preferences::OriginFiles;
pub use stream::stream;
pub use tasks::{Job, ShardResult, ShardTask, extract_task};
pub use versions::NameOf;
use versions::Newest;
pub use workers::{Extract, GivenUp, Reply, Task, WINDOW_PER_JOB, Workers};

use crate::progress::Progress;

/// What became of one page.
#[derive(Debug)]
pub enum Outcome {
    /// A document: one line of JSON.
    Extracted(Vec<u8>),
    /// A document that becomes a file of its own.
    File(Box<DocumentFile>),
    /// A page that is not extracted, and why.
    Skipped(String),
    /// A page that could not be extracted, and why.
    Failed(&'static str),
}

impl From<GivenUp> for Outcome {
    fn from(reason: GivenUp) -> Outcome {
        Outcome::Failed(reason.name())
    }
}

/// A page that takes longer is given up, unless the caller says otherwise.
pub const TIME_LIMIT: Duration = Duration::from_secs(30);

/// How a batch runs; nothing here but `settings` changes its result.
pub struct Batch<'b> {
    /// The folder to fill.
    pub out: &'b Path,
    /// The command, for the manifest.
    pub command: String,
    /// Every setting that changes the documents.
    pub settings: Value,
    /// What to do with the result of other settings in that folder.
    pub existing: ExistingOutput,
    /// Threads that extract.
    pub jobs: NonZeroUsize,
    /// A page that takes longer is given up.
    pub time_limit: Duration,
    /// Whether documents are lines or files.
    pub form: DocumentForm,
    /// Of several pages that this gives one name the newest is taken; `None` takes all.
    pub one_page_per: Option<&'b NameOf>,
    /// Where progress is reported.
    pub progress: &'b Progress,
}

/// How documents rest in the folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocumentForm {
    /// Lines of document shards.
    Lines,
    /// Files of their own, named as the pages are: `one_page_per` gives the names.
    Files,
}

/// What a batch hands back.
pub struct Extracted {
    /// The manifest of the folder, complete.
    pub manifest: Manifest,
    /// The first damaged places that this run met.
    pub damage: Vec<String>,
    /// Whether this run had anything to do.
    pub was_already_done: bool,
}

/// Extracts every input that is not done yet.
pub fn run(sources: &[Source], batch: &Batch, extract: Arc<Extract<Outcome>>) -> Result<Extracted, Error> {
    let version = env!("CARGO_PKG_VERSION").into();
    let mut settings = batch.settings.clone();
    let inputs = sources.iter().map(Source::fingerprint).collect::<Result<Vec<_>, _>>()?;
    if batch.one_page_per.is_some() {
        // What is the newest depends on all inputs.
        settings["inputs"] = serde_json::to_value(&inputs).expect("plain data");
    }
    let step = Step { command: batch.command.clone(), version, settings, counts: Counts::new() };
    let paths: Vec<_> = sources.iter().flat_map(Source::paths).collect();
    check_apart(&paths, batch.out)?;
    let mut output = Output::open(batch.out, step, Vec::new(), batch.existing)?;
    if batch.existing == ExistingOutput::Replace {
        output.remove_claimed(files::is_ours)?;
    }
    let plan = plan(inputs, batch.form, &output);
    output.claim(plan.iter().map(|shard| shard.name.as_str()))?;
    if plan.is_empty() && output.manifest().complete {
        return Ok(Extracted { manifest: output.manifest().clone(), damage: Vec::new(), was_already_done: true });
    }
    let newest = match batch.one_page_per {
        Some(name_of) => Some(Newest::find(sources, batch.jobs, name_of, batch.progress)?),
        None => None,
    };
    if let (DocumentForm::Files, Some(newest)) = (batch.form, &newest) {
        output.claim(newest.names())?;
    }
    let selected = Selection { sources, newest: newest.as_ref(), name_of: batch.one_page_per };
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
                    let result = extract_shard(shard, &selected, batch, &workers, &output, &damage);
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
    let mut output = output.into_inner().expect("no thread panics while it holds the manifest");
    let manifest = output.complete(preferences::left_out_by_crawls(sources))?.clone();
    let mut damage = damage.into_inner().expect("no thread panics while it describes damage");
    damage.sort();
    Ok(Extracted { manifest, damage, was_already_done: false })
}

/// One input and the name of what it becomes.
#[derive(Clone)]
struct Shard {
    number: usize,
    source: InputFile,
    name: String,
}

/// What is left to do. An input that is done keeps its name; the others take the lowest free numbers in order, which
/// gives a run that goes on the names that an undisturbed run gives.
fn plan(inputs: Vec<InputFile>, form: DocumentForm, output: &Output) -> Vec<Shard> {
    let done = |source: &InputFile| {
        let shards = output.manifest().shards.iter().filter(|shard| shard.input == *source);
        shards
            .filter(|shard| output.finished_shard(&shard.name, source).is_some())
            .map(|shard| shard.name.clone())
            .next()
    };
    let name_of = match form {
        DocumentForm::Lines => jsonl::shard_name,
        DocumentForm::Files => files::list_name,
    };
    let taken: Vec<String> = inputs.iter().filter_map(&done).collect();
    let mut free = (0..).map(name_of).filter(|name| !taken.contains(name));
    let mut plan = Vec::new();
    for (number, source) in inputs.into_iter().enumerate() {
        if done(&source).is_none() {
            let name = free.next().expect("the numbers do not end");
            plan.push(Shard { number, source, name });
        }
    }
    plan
}

/// The inputs, and which of their pages are wanted.
struct Selection<'s> {
    sources: &'s [Source],
    newest: Option<&'s Newest>,
    name_of: Option<&'s NameOf>,
}

impl Selection<'_> {
    /// Whether a page is the newest of its name, where that is asked for.
    fn takes(&self, page: &Page, source: usize, number: u64) -> bool {
        let Some((newest, name_of)) = self.newest.zip(self.name_of) else { return true };
        newest.is_newest(&name_of(page), source, number)
    }
}

/// What the documents of one input are written to.
enum ShardWriter {
    Lines(Writer),
    Files(FilesWriter),
}

impl ShardWriter {
    fn create(shard: &Shard, batch: &Batch) -> Result<ShardWriter, Error> {
        Ok(match batch.form {
            DocumentForm::Lines => ShardWriter::Lines(Writer::create(batch.out.join(&shard.name))?),
            DocumentForm::Files => ShardWriter::Files(FilesWriter::create(batch.out.to_owned(), &shard.name)?),
        })
    }

    fn put(&mut self, outcome: &Outcome) -> Result<(), Error> {
        match (self, outcome) {
            (ShardWriter::Lines(writer), Outcome::Extracted(line)) => writer.put(line),
            (ShardWriter::Files(writer), Outcome::File(document)) => writer.put(document),
            _ => Ok(()),
        }
    }

    fn seal(self) -> Result<SealedFile, Error> {
        match self {
            ShardWriter::Lines(writer) => writer.seal(),
            ShardWriter::Files(writer) => writer.seal(),
        }
    }
}

/// Extracts one shard: a thread reads, the workers extract, this one writes.
fn extract_shard(
    shard: &Shard,
    selected: &Selection,
    batch: &Batch,
    workers: &Workers<Outcome>,
    output: &Mutex<Output>,
    described: &Mutex<Vec<String>>,
) -> Result<(), Error> {
    let mut writer = ShardWriter::create(shard, batch)?;
    let mut counts = ShardCounts::default();
    let damage = extract_source(selected, shard.number, batch.jobs, workers, batch.progress, &mut counts, |outcome| {
        writer.put(outcome)
    })?;
    let sealed = writer.seal()?;
    described.lock().expect("no thread panics while it describes damage").extend(damage);
    let mut output = output.lock().expect("no thread panics while it holds the manifest");
    output.record_shard(shard.name.clone(), shard.source.clone(), sealed, counts.counts)
}

/// Extracts the pages of one input and gives their outcomes to `put`, in the order of the pages. Gives the first
/// damaged places.
fn extract_source(
    selected: &Selection,
    number: usize,
    jobs: NonZeroUsize,
    workers: &Workers<Outcome>,
    progress: &Progress,
    counts: &mut ShardCounts,
    put: impl FnMut(&Outcome) -> Result<(), Error>,
) -> Result<Vec<String>, Error> {
    let mut pages = Pages::open(&selected.sources[number])?;
    let (permits, permit) = bounded::<()>(jobs.get() * WINDOW_PER_JOB);
    let (replies, reply) = unbounded();
    let given_up = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let reading = scope.spawn(|| read(&mut pages, selected, number, workers, replies, permits, &given_up));
        let written = write(put, counts, reply, permit, progress);
        if written.is_err() {
            given_up.store(true, Ordering::Relaxed);
        }
        let read = reading.join().expect("reading does not panic");
        written.and(read)
    })?;
    if progress.is_stopped() {
        return Err(Error::Stopped);
    }
    counts.add("records", pages.n_records());
    counts.add("damaged", pages.n_damaged());
    Ok(pages.describe_damage())
}

/// Hands the pages of a shard to the workers, no more than the window at a time.
fn read(
    pages: &mut Pages,
    selected: &Selection,
    source: usize,
    workers: &Workers<Outcome>,
    replies: Sender<Reply<Outcome>>,
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
        let reason = match item {
            Item::Page(page) if selected.takes(&page, source, number) => {
                let reply = replies.clone();
                workers.submit(Task { number, page, shard: pages.name().into(), reply, bytes });
                None
            }
            Item::Page(_) => Some("older-version".to_owned()),
            Item::Skip(reason) => Some(reason),
        };
        if let Some(reason) = reason {
            let _ = replies.send(Reply { number, outcome: Outcome::Skipped(reason), bytes });
        }
        number += 1;
    }
    Ok(())
}

/// Writes the documents in the order of their pages and counts every outcome.
fn write(
    mut put: impl FnMut(&Outcome) -> Result<(), Error>,
    counts: &mut ShardCounts,
    replies: Receiver<Reply<Outcome>>,
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
            counts.add("read", 1);
            match outcome {
                Outcome::Extracted(_) | Outcome::File(_) => {
                    put(&outcome)?;
                    counts.add("extracted", 1);
                }
                Outcome::Skipped(reason) => counts.add(&format!("skipped.{reason}"), 1),
                Outcome::Failed(reason) => counts.add(&format!("failed.{reason}"), 1),
            }
        }
        if progress.is_stopped() {
            return Err(Error::Stopped);
        }
    }
    Ok(())
}

#[derive(Default)]
struct ShardCounts {
    counts: Counts,
}

impl ShardCounts {
    fn add(&mut self, name: &str, n: u64) {
        match self.counts.get_mut(name) {
            Some(count) => *count += n,
            None => drop(self.counts.insert(name.to_owned(), n)),
        }
    }
}
