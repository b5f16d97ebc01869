//! Shards as tasks of an engine: one process opens the folder and lists what is to do, any others extract a shard each,
//! and the first records what they hand back. The folder becomes what `pith extract` makes of the same inputs.
//!
//! A task may run twice, also at the same time: every attempt writes under a name of its own and ends with a rename, and
//! all attempts write the same bytes.

use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use pith_corpus::atomic_file::{SealedFile, TEMPORARY_SUFFIX};
use pith_corpus::jsonl::Writer;
use pith_corpus::manifest::{Counts, ExistingOutput, InputFile, Manifest, Output, Step};
use pith_corpus::warc::Page;
use pith_corpus::{Error, check_apart};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::preferences::left_out_by_crawls;
use super::workers::Workers;
use super::{DocumentForm, Outcome, Selection, Settings, ShardCounts, Source, extract_source, line, plan};
use crate::progress::Progress;

/// One input that becomes one document shard.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ShardTask {
    /// Where the pages are.
    pub source: Source,
    /// What tells that the input is the same as in an earlier run.
    pub input: InputFile,
    /// The folder that the shard goes to.
    pub out: PathBuf,
    /// The name of the shard.
    pub name: String,
}

/// A shard that is written.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ShardResult {
    /// The name of the shard.
    pub name: String,
    /// What it was made from.
    pub input: InputFile,
    /// Its size.
    pub bytes: u64,
    /// Its digest.
    pub digest: String,
    /// Pages by outcome.
    pub counts: Counts,
    /// The first damaged places.
    pub damage: Vec<String>,
}

/// A folder of documents that an engine fills. Nobody else can fill it while this value lives.
pub struct Job {
    output: Output,
    /// Pages that the crawls of the inputs left out.
    left_out: Counts,
    tasks: Vec<ShardTask>,
}

impl Job {
    /// Opens the folder and finds what is left to do.
    ///
    /// # Errors
    ///
    /// If an input cannot be read, or the folder holds anything else than an earlier run with these settings.
    pub fn open(sources: &[Source], out: &Path, command: String, settings: &Settings) -> Result<Job, Error> {
        let inputs = sources.iter().map(Source::fingerprint).collect::<Result<Vec<_>, _>>()?;
        let paths: Vec<_> = sources.iter().flat_map(Source::paths).collect();
        check_apart(&paths, out)?;
        let version = env!("CARGO_PKG_VERSION").into();
        let step = Step { command, version, settings: settings.describe(), counts: Counts::new() };
        let mut output = Output::open(out, step, Vec::new(), ExistingOutput::Refuse)?;
        let plan = plan(inputs, DocumentForm::Lines, &output);
        output.claim(plan.iter().map(|shard| shard.name.as_str()))?;
        let task = |shard: super::Shard| ShardTask {
            source: sources[shard.number].clone(),
            input: shard.source,
            out: out.to_owned(),
            name: shard.name,
        };
        let tasks = plan.into_iter().map(task).collect();
        Ok(Job { output, left_out: left_out_by_crawls(sources), tasks })
    }

    /// What was left to do when the folder was opened.
    pub fn tasks(&self) -> &[ShardTask] {
        &self.tasks
    }

    /// Records a shard that is written; it is done when this returns.
    ///
    /// # Errors
    ///
    /// If the manifest cannot be written.
    pub fn record(&mut self, result: ShardResult) -> Result<(), Error> {
        let sealed = SealedFile { bytes: result.bytes, digest: result.digest };
        self.output.record_shard(result.name, result.input, sealed, result.counts)
    }

    /// Marks the folder as complete and removes what attempts that were killed left in it.
    ///
    /// # Errors
    ///
    /// If a shard is missing or the manifest cannot be written.
    pub fn finish(mut self) -> Result<Manifest, Error> {
        if let Some(missing) = self.tasks.iter().find(|task| !self.is_done(task)) {
            return Err(Error::Unfinished { path: missing.out.join(&missing.name) });
        }
        self.remove_attempts()?;
        self.output.complete(self.left_out).cloned()
    }

    fn is_done(&self, task: &ShardTask) -> bool {
        self.output.finished_shard(&task.name, &task.input).is_some()
    }

    fn remove_attempts(&self) -> Result<(), Error> {
        let folder = self.output.folder();
        let at = |source| Error::Io { path: folder.to_owned(), action: "list", source };
        for entry in fs::read_dir(folder).map_err(at)? {
            let entry = entry.map_err(at)?;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let is_attempt = |task: &ShardTask| name.starts_with(&task.name) && name.ends_with(TEMPORARY_SUFFIX);
            if entry.file_type().is_ok_and(|kind| kind.is_file()) && self.tasks.iter().any(is_attempt) {
                let path = entry.path();
                fs::remove_file(&path).map_err(|source| Error::Io { path, action: "remove", source })?;
            }
        }
        Ok(())
    }
}

/// Extracts one input into its shard, in any process that sees the same files. [`Progress::stop`] ends it.
///
/// # Errors
///
/// If the input cannot be read or the shard cannot be written; [`Error::Stopped`] if it was stopped.
pub fn extract_task(
    task: &ShardTask,
    settings: &Settings,
    jobs: NonZeroUsize,
    time_limit: Duration,
    progress: &Progress,
) -> Result<ShardResult, Error> {
    let attempt = task.out.join(format!("{}.{}{TEMPORARY_SUFFIX}", task.name, attempt_name()));
    let mut writer = Writer::create(&attempt)?;
    let settings = settings.clone();
    let extract = move |page: &Page, shard: &str| line(page, shard, &settings);
    let workers = Workers::start(jobs, time_limit, Arc::new(extract));
    let selected = Selection { sources: std::slice::from_ref(&task.source), newest: None, name_of: None };
    let mut counts = ShardCounts::default();
    let put = |outcome: &Outcome| match outcome {
        Outcome::Extracted(line) => writer.put(line),
        _ => Ok(()),
    };
    let damage = extract_source(&selected, 0, jobs, &workers, progress, &mut counts, put)?;
    let SealedFile { bytes, digest } = writer.seal()?;
    let path = task.out.join(&task.name);
    fs::rename(&attempt, &path).map_err(|source| Error::Io { path, action: "rename", source })?;
    let counts = counts.counts;
    Ok(ShardResult { name: task.name.clone(), input: task.input.clone(), bytes, digest, counts, damage })
}

/// A name that no other attempt has, on this machine or another.
fn attempt_name() -> String {
    let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    // The address of a value on this thread's stack tells threads apart that ask in the same moment.
    let key = format!("{} {time} {:p}", process::id(), &time);
    format!("{:016x}", xxh3_64(key.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use pith_extractor::Options;

    #[test]
    fn shards_extracted_one_by_one_twice_and_out_of_order_make_the_same_folder() {
        let folder = tempfile::tempdir().unwrap();
        let page = "<title>Rain</title><article><p>It rained all day in the old town, and nobody went out.</article>";
        let sources: Vec<Source> = (0..3)
            .map(|number| {
                let path = folder.path().join(format!("{number}.html"));
                fs::write(&path, page).unwrap();
                super::super::find(&[path], None).unwrap().remove(0)
            })
            .collect();
        let settings = Settings { options: Options::default(), fields: Vec::new(), languages: Vec::new() };
        let progress = Progress::silent();
        let extract =
            |task: &ShardTask| extract_task(task, &settings, NonZeroUsize::MIN, super::super::TIME_LIMIT, &progress);
        let out = folder.path().join("docs");
        let open = || Job::open(&sources, &out, "pith extract".into(), &settings).unwrap();

        let mut job = open();
        let tasks = job.tasks().to_vec();
        assert_eq!(tasks.len(), 3);
        job.record(extract(&tasks[2]).unwrap()).unwrap();
        drop(job);

        let mut job = open();
        let tasks = job.tasks().to_vec();
        let names: Vec<&str> = tasks.iter().map(|task| task.name.as_str()).collect();
        assert_eq!(names, ["documents-00000.jsonl.zst", "documents-00001.jsonl.zst"]);
        fs::write(out.join("documents-00001.jsonl.zst.77.pith-tmp"), "left by a killed attempt").unwrap();
        for task in tasks.iter().rev() {
            let once = extract(task).unwrap();
            assert_eq!(once.digest, extract(task).unwrap().digest);
            job.record(once).unwrap();
        }
        let manifest = job.finish().unwrap();
        assert!(manifest.complete);
        assert_eq!(manifest.step.counts["extracted"], 3);
        assert!(!out.join("documents-00001.jsonl.zst.77.pith-tmp").exists());
        assert!(open().tasks().is_empty());
    }

    #[test]
    fn a_job_with_a_missing_shard_does_not_finish() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.html");
        fs::write(&path, "<p>Rain").unwrap();
        let sources = super::super::find(&[path], None).unwrap();
        let settings = Settings { options: Options::default(), fields: Vec::new(), languages: Vec::new() };
        let job = Job::open(&sources, &folder.path().join("docs"), "pith extract".into(), &settings).unwrap();
        assert!(matches!(job.finish(), Err(Error::Unfinished { .. })));
    }
}
