//! What every step over document shards shares: where it writes, who watches, what it hands back.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use serde_json::Value;

use crate::draft::Sealed;
use crate::jsonl::{Line, Reader, View};
use crate::manifest::{Counts, Earlier, Manifest, Output, Source, Step};
use crate::{Error, Watch, parallel};

/// How a step runs; nothing here changes its result.
pub struct Run<'r> {
    /// The folder to fill.
    pub out: &'r Path,
    /// The command, for the manifest.
    pub command: String,
    /// What to do with the result of other settings in that folder.
    pub earlier: Earlier,
    /// Threads.
    pub jobs: NonZeroUsize,
    /// Who looks on.
    pub watch: &'r dyn Watch,
}

/// What a step hands back.
#[derive(Debug)]
pub struct Finished {
    /// The manifest of the folder, complete.
    pub manifest: Manifest,
    /// The first damaged lines that this run met, as `file:line: why`; their number is in the counts.
    pub damage: Vec<String>,
    /// Whether this run had anything to do.
    pub was_done: bool,
}

/// No more damaged lines than this are described one by one.
const MAX_DESCRIBED: usize = 20;

impl Run<'_> {
    /// Opens the folder of this run for a step with these settings.
    pub(crate) fn open(&self, inputs: &[PathBuf], settings: Value) -> Result<Output, Error> {
        let version = env!("CARGO_PKG_VERSION").into();
        let step = Step { command: self.command.clone(), version, settings, counts: Counts::new() };
        Output::open(self.out, step, Manifest::history_of(inputs), self.earlier)
    }

    /// Makes every shard that is not there yet: `name` gives its name, `make` writes it.
    ///
    /// Shards are made `jobs` at a time and settled as they are sealed. Files that an earlier run made from inputs
    /// that are gone are removed.
    pub(crate) fn fill(
        &self,
        output: Output,
        title: &str,
        shards: &[PathBuf],
        name: impl Fn(usize) -> String + Sync,
        make: impl Fn(usize, &Path, &mut Damage) -> Result<Made, Error> + Sync,
    ) -> Result<(Output, Vec<String>, bool), Error> {
        let sources = shards.iter().map(|path| Source::of(path)).collect::<Result<Vec<_>, _>>()?;
        let todo: Vec<usize> =
            (0..shards.len()).filter(|&index| output.done(&name(index), &sources[index]).is_none()).collect();
        self.watch.begin(title, todo.iter().map(|&index| sources[index].bytes).sum());
        let output = Mutex::new(output);
        let damage = parallel::run(self.jobs, todo.len(), |task| {
            let index = todo[task];
            let mut damage = Damage::default();
            let made = make(index, &shards[index], &mut damage)?;
            let mut output = output.lock().expect("nobody panics with the manifest");
            for (name, sealed) in made.beside {
                output.settle(name, sources[index].clone(), sealed, Counts::new())?;
            }
            output.settle(name(index), sources[index].clone(), made.sealed, made.counts)?;
            Ok(damage.described())
        })?;
        let mut output = output.into_inner().expect("nobody panics with the manifest");
        output.retain(|shard| sources.contains(&shard.input))?;
        let damage = damage.into_iter().flatten().take(MAX_DESCRIBED).collect();
        Ok((output, damage, todo.is_empty()))
    }
}

/// What was made of one input.
pub(crate) struct Made {
    /// The file whose presence says that the input is done; it is sealed last.
    pub sealed: Sealed,
    /// What was counted.
    pub counts: Counts,
    /// Other files of the same input, by name.
    pub beside: Vec<(String, Sealed)>,
}

/// The damaged lines of one shard.
#[derive(Default)]
pub(crate) struct Damage {
    /// How many there are.
    pub n_lines: u64,
    described: Vec<String>,
}

impl Damage {
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
    watch: &dyn Watch,
    damage: &mut Damage,
    mut give: impl FnMut(&[u8], &View) -> Result<(), Error>,
) -> Result<(), Error> {
    for_each_line(path, watch, |line| {
        match line {
            Line::Good { number, bytes } => match View::of(bytes) {
                Ok(view) => give(bytes, &view)?,
                Err(error) => damage.add(path, number, format!("not a document: {error}")),
            },
            Line::Damaged { number, why } => damage.add(path, number, why),
        }
        Ok(())
    })
}

/// Gives every line of a shard and tells the watch.
pub(crate) fn for_each_line(
    path: &Path,
    watch: &dyn Watch,
    mut give: impl FnMut(Line) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut reader = Reader::open(path)?;
    let mut n_lines = 0;
    while let Some(line) = reader.next_line() {
        give(line)?;
        n_lines += 1;
        if n_lines == 64 {
            watch.advance(reader.bytes_since(), n_lines);
            n_lines = 0;
            if watch.stopped() {
                return Err(Error::Stopped);
            }
        }
    }
    watch.advance(reader.bytes_since(), n_lines);
    Ok(())
}

/// Counts from pairs of names and numbers.
pub(crate) fn counts<const N: usize>(pairs: [(&str, u64); N]) -> Counts {
    pairs.into_iter().map(|(name, count)| (name.to_owned(), count)).collect()
}
