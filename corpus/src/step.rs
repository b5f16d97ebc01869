//! What every step over document shards shares: its output folder, its observer and its result.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use serde_json::Value;

use crate::atomic_file::SealedFile;
use crate::jsonl::{DocumentFields, Line, Reader};
use crate::manifest::{Counts, ExistingOutput, InputFile, Manifest, Output, Step};
use crate::{Error, Observer, parallel};

/// How a step runs; nothing here changes its result.
pub struct Run<'r> {
    /// The folder to fill.
    pub out: &'r Path,
    /// The command, for the manifest.
    pub command: String,
    /// What to do with output of other settings in that folder.
    pub existing: ExistingOutput,
    /// Threads.
    pub jobs: NonZeroUsize,
    /// Receives progress and may stop the step.
    pub observer: &'r dyn Observer,
}

/// The result of a step.
#[derive(Debug)]
pub struct Finished {
    /// The manifest of the folder, complete.
    pub manifest: Manifest,
    /// The first damaged lines that this run met, as `file:line: why`; their number is in the counts.
    pub damage: Vec<String>,
    /// Whether this run had anything to do.
    pub was_already_done: bool,
    /// What the user should know of the result.
    pub notes: Vec<String>,
}

/// No more damaged lines than this are described one by one.
const MAX_DESCRIBED: usize = 20;

impl Run<'_> {
    /// Opens the folder of this run for a step with these settings.
    pub(crate) fn open(&self, inputs: &[PathBuf], settings: Value) -> Result<Output, Error> {
        check_apart(inputs, self.out)?;
        let version = env!("CARGO_PKG_VERSION").into();
        let step = Step { command: self.command.clone(), version, settings, counts: Counts::new() };
        Output::open(self.out, step, Manifest::history_of(inputs), self.existing)
    }

    /// Makes every shard that is not there yet: `name` gives its name, `make` writes it.
    ///
    /// Shards are written `jobs` at a time and recorded in the manifest as they are sealed. Files that an earlier run made from inputs
    /// that are gone are removed.
    pub(crate) fn process_shards(
        &self,
        output: Output,
        title: &str,
        shards: &[PathBuf],
        name: impl Fn(usize) -> String + Sync,
        make: impl Fn(usize, &Path, &mut DamagedLines) -> Result<ShardOutput, Error> + Sync,
    ) -> Result<(Output, Vec<String>, bool), Error> {
        let sources = shards.iter().map(|path| InputFile::of(path)).collect::<Result<Vec<_>, _>>()?;
        let planned = sources.into_iter().enumerate().map(|(index, input)| PlannedFile { name: name(index), input });
        let planned: Vec<PlannedFile> = planned.collect();
        self.process_files(output, title, &planned, |index, damage| make(index, &shards[index], damage))
    }

    /// Makes every planned file that is not there yet, as [`Run::process_shards`] does.
    pub(crate) fn process_files(
        &self,
        mut output: Output,
        title: &str,
        planned: &[PlannedFile],
        make: impl Fn(usize, &mut DamagedLines) -> Result<ShardOutput, Error> + Sync,
    ) -> Result<(Output, Vec<String>, bool), Error> {
        output.claim(planned.iter().map(|file| file.name.as_str()))?;
        let is_done = |file: &PlannedFile| output.finished_shard(&file.name, &file.input).is_some();
        let todo: Vec<usize> = (0..planned.len()).filter(|&index| !is_done(&planned[index])).collect();
        self.observer.begin(title, todo.iter().map(|&index| planned[index].input.bytes).sum());
        let output = Mutex::new(output);
        let damage = parallel::run(self.jobs, todo.len(), |task| {
            let index = todo[task];
            let PlannedFile { name, input } = &planned[index];
            let mut damage = DamagedLines::default();
            let made = make(index, &mut damage)?;
            let mut output = output.lock().expect("no thread panics while it holds the manifest");
            for (name, sealed) in made.side_files {
                output.record_shard(name, input.clone(), sealed, Counts::new())?;
            }
            output.record_shard(name.clone(), input.clone(), made.sealed, made.counts)?;
            Ok(damage.described())
        })?;
        let mut output = output.into_inner().expect("no thread panics while it holds the manifest");
        output.retain(|shard| planned.iter().any(|file| file.input == shard.input))?;
        let damage = damage.into_iter().flatten().take(MAX_DESCRIBED).collect();
        Ok((output, damage, todo.is_empty()))
    }
}

/// A file to be made, and what it is made of.
pub(crate) struct PlannedFile {
    /// Its path below the folder.
    pub name: String,
    /// What it is made of.
    pub input: InputFile,
}

/// Refuses an output folder that holds an input: `--redo` would remove what it is to read.
///
/// # Errors
///
/// [`Error::InputInOutput`] with the first such input.
pub fn check_apart(inputs: &[PathBuf], out: &Path) -> Result<(), Error> {
    let Ok(out) = out.canonicalize() else { return Ok(()) };
    let is_inside = |input: &&PathBuf| input.canonicalize().is_ok_and(|input| input.starts_with(&out));
    match inputs.iter().find(is_inside) {
        Some(input) => Err(Error::InputInOutput { path: input.clone() }),
        None => Ok(()),
    }
}

/// The files that were written for one input.
pub(crate) struct ShardOutput {
    /// The file whose presence says that the input is done; it is sealed last.
    pub sealed: SealedFile,
    /// What was counted.
    pub counts: Counts,
    /// Further files of the same input, by name.
    pub side_files: Vec<(String, SealedFile)>,
}

/// The damaged lines of one shard.
#[derive(Default)]
pub(crate) struct DamagedLines {
    /// How many there are.
    pub n_lines: u64,
    described: Vec<String>,
}

impl DamagedLines {
    /// The first of them, as `file:line: why`.
    pub(crate) fn described(self) -> Vec<String> {
        self.described
    }

    pub(crate) fn add(&mut self, path: &Path, line: u64, why: impl std::fmt::Display) {
        self.n_lines += 1;
        if self.described.len() < MAX_DESCRIBED {
            self.described.push(format!("{}:{line}: {why}", path.display()));
        }
    }
}

/// Gives every document of a shard, with its line, and counts the lines that are none.
pub(crate) fn for_each_document(
    path: &Path,
    observer: &dyn Observer,
    damage: &mut DamagedLines,
    mut visit: impl FnMut(&[u8], &DocumentFields) -> Result<(), Error>,
) -> Result<(), Error> {
    for_each_line(path, observer, |line| visit_document(path, line, damage, &mut visit))
}

/// Gives the document of a line, or counts it as damaged.
pub(crate) fn visit_document(
    path: &Path,
    line: Line,
    damage: &mut DamagedLines,
    visit: &mut impl FnMut(&[u8], &DocumentFields) -> Result<(), Error>,
) -> Result<(), Error> {
    match line {
        Line::Good { number, bytes } => match DocumentFields::of(bytes) {
            Ok(view) => visit(bytes, &view)?,
            Err(error) => damage.add(path, number, format!("not a document: {error}")),
        },
        Line::Damaged { number, why } => damage.add(path, number, why),
    }
    Ok(())
}

/// Gives every line of a shard and reports progress to the observer.
pub(crate) fn for_each_line(
    path: &Path,
    observer: &dyn Observer,
    mut visit: impl FnMut(Line) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut reader = Reader::open(path)?;
    let mut n_lines = 0;
    while let Some(line) = reader.next_line() {
        visit(line)?;
        n_lines += 1;
        if n_lines == 64 {
            observer.advance(reader.bytes_since(), n_lines);
            n_lines = 0;
            if observer.is_stopped() {
                return Err(Error::Stopped);
            }
        }
    }
    observer.advance(reader.bytes_since(), n_lines);
    Ok(())
}

/// Counts from pairs of names and numbers.
pub(crate) fn counts<const N: usize>(pairs: [(&str, u64); N]) -> Counts {
    pairs.into_iter().map(|(name, count)| (name.to_owned(), count)).collect()
}
