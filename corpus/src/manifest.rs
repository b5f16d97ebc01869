//! The manifest of a folder: which command wrote it, with which settings, which shards are done, what was counted.
//!
//! It holds no clock and no machine: the same work gives the same manifest, byte for byte.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use xxhash_rust::xxh3::Xxh3;

use crate::Error;
use crate::draft::{self, Sealed};

/// The name of the manifest in a folder that pith wrote.
pub const MANIFEST_NAME: &str = "manifest.json";

/// What was counted, by name, in the order of the names.
pub type Counts = BTreeMap<String, u64>;

/// The record of one run over a folder.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Manifest {
    /// The version of this layout.
    pub format: u32,
    /// What wrote the folder, and with what.
    #[serde(flatten)]
    pub step: Step,
    /// Whether every shard is there.
    pub complete: bool,
    /// The shards that are done, in the order of their names.
    pub shards: Vec<Shard>,
    /// The steps that led to the inputs, oldest first.
    #[serde(default)]
    pub history: Vec<Step>,
}

/// One command of the chain from pages to a dataset.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// The command as it was given, without the flags that do not change the result.
    pub command: String,
    /// The version of pith.
    pub version: String,
    /// Every setting that changes the result.
    pub settings: Value,
    /// The sums over the shards.
    pub counts: Counts,
}

/// One finished output file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shard {
    /// Its path below the folder.
    pub name: String,
    /// What it was made from.
    pub input: Source,
    /// Its size.
    pub bytes: u64,
    /// Its digest.
    pub digest: String,
    /// What was counted while it was made.
    pub counts: Counts,
}

/// An input file, recognised again without reading all of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// The name of the file, without folders.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// A hash of its size, its first and its last 64 KiB.
    pub edges: String,
}

impl Source {
    /// Looks at a file.
    pub fn of(path: &Path) -> Result<Source, Error> {
        const EDGE: u64 = 64 << 10;
        let mut file = File::open(path).map_err(Error::at(path))?;
        let bytes = file.metadata().map_err(Error::at(path))?.len();
        let mut hasher = Xxh3::new();
        hasher.update(&bytes.to_le_bytes());
        let mut edge = Vec::new();
        file.by_ref().take(EDGE).read_to_end(&mut edge).map_err(Error::at(path))?;
        hasher.update(&edge);
        if bytes > EDGE {
            edge.clear();
            file.seek(SeekFrom::Start(EDGE.max(bytes - EDGE.min(bytes)))).map_err(Error::at(path))?;
            file.take(EDGE).read_to_end(&mut edge).map_err(Error::at(path))?;
            hasher.update(&edge);
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Source { name, bytes, edges: format!("xxh3:{:016x}", hasher.digest()) })
    }
}

impl Manifest {
    /// The manifest of a folder, if it has one.
    pub fn read(folder: &Path) -> Result<Option<Manifest>, Error> {
        let path = folder.join(MANIFEST_NAME);
        match fs::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|source| Error::Manifest { path, source }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::at(path)(error)),
        }
    }

    /// Writes it to its folder.
    pub(crate) fn write(&self, folder: &Path) -> Result<(), Error> {
        let mut bytes = serde_json::to_vec_pretty(self).expect("a manifest is plain data");
        bytes.push(b'\n');
        draft::write_whole(&folder.join(MANIFEST_NAME), &bytes).map(drop)
    }

    /// The steps that led to these inputs: the longest history among their folders, with the folder's own step.
    pub fn history_of(inputs: &[PathBuf]) -> Vec<Step> {
        let folders = inputs.iter().map(|path| match path.is_dir() {
            true => path.clone(),
            false => path.parent().map(Path::to_path_buf).unwrap_or_default(),
        });
        let histories = folders.filter_map(|folder| Manifest::read(&folder).ok().flatten()).map(|manifest| {
            let mut history = manifest.history;
            history.push(manifest.step);
            history
        });
        histories.fold(Vec::new(), |longest, history| if history.len() > longest.len() { history } else { longest })
    }
}

/// A folder that one run, or several runs of the same command, fill shard by shard.
pub struct Output {
    folder: PathBuf,
    manifest: Manifest,
}

/// What to do with a folder that holds the result of other settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Earlier {
    /// Leave it alone and say so.
    Refuse,
    /// Throw it away and begin again.
    Redo,
}

impl Output {
    /// Opens a folder for a step, removes the drafts of a killed run, and finds what is done already.
    ///
    /// # Errors
    ///
    /// [`Error::OtherWork`] when the folder holds the result of another command or of other settings,
    /// unless `earlier` says to begin again.
    pub fn open(folder: &Path, step: Step, history: Vec<Step>, earlier: Earlier) -> Result<Output, Error> {
        fs::create_dir_all(folder).map_err(Error::at(folder))?;
        draft::sweep(folder)?;
        let fresh = Manifest { format: 1, step, complete: false, shards: Vec::new(), history };
        let manifest = match Manifest::read(folder)? {
            None => fresh,
            Some(old) => match (difference(&old.step, &fresh.step), earlier) {
                (None, Earlier::Refuse) => return Ok(Output { folder: folder.into(), manifest: old }),
                (Some(what), Earlier::Refuse) => {
                    return Err(Error::OtherWork { path: folder.into(), command: old.step.command, what });
                }
                (_, Earlier::Redo) => {
                    discard(folder, &old.shards)?;
                    fresh
                }
            },
        };
        let output = Output { folder: folder.into(), manifest };
        output.save()?;
        Ok(output)
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What the manifest says now.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The finished shard that was made from this input under this name, if its file is still there whole.
    pub fn done(&self, name: &str, input: &Source) -> Option<&Shard> {
        let shard = self.manifest.shards.iter().find(|shard| shard.name == name && shard.input == *input)?;
        let bytes = fs::metadata(self.folder.join(name)).ok()?.len();
        (bytes == shard.bytes).then_some(shard)
    }

    /// Notes a sealed shard; it is done when this returns.
    pub fn settle(&mut self, name: String, input: Source, sealed: Sealed, counts: Counts) -> Result<(), Error> {
        let shard = Shard { name, input, bytes: sealed.bytes, digest: sealed.digest, counts };
        match self.manifest.shards.binary_search_by(|old| old.name.cmp(&shard.name)) {
            Ok(index) => self.manifest.shards[index] = shard,
            Err(index) => self.manifest.shards.insert(index, shard),
        }
        self.manifest.complete = false;
        self.sum();
        self.save()
    }

    /// Says that every shard is there. `counts` are those that belong to no shard.
    pub fn complete(&mut self, counts: Counts) -> Result<&Manifest, Error> {
        self.sum();
        self.manifest.step.counts.extend(counts);
        self.manifest.complete = true;
        self.save()?;
        Ok(&self.manifest)
    }

    /// Removes the shards, and their files, that the caller does not want any more.
    pub fn retain(&mut self, wanted: impl Fn(&Shard) -> bool) -> Result<(), Error> {
        let (kept, gone): (Vec<_>, Vec<_>) = std::mem::take(&mut self.manifest.shards).into_iter().partition(wanted);
        self.manifest.shards = kept;
        discard(&self.folder, &gone)
    }

    fn sum(&mut self) {
        let mut counts = Counts::new();
        for shard in &self.manifest.shards {
            add(&mut counts, &shard.counts);
        }
        self.manifest.step.counts = counts;
    }

    fn save(&self) -> Result<(), Error> {
        self.manifest.write(&self.folder)
    }
}

/// Adds counts to counts.
pub fn add(sum: &mut Counts, more: &Counts) {
    for (name, count) in more {
        *sum.entry(name.clone()).or_default() += count;
    }
}

fn difference(old: &Step, new: &Step) -> Option<&'static str> {
    let verb = |step: &Step| step.settings.get("step").cloned();
    if verb(old) != verb(new) {
        Some("work")
    } else if old.settings.get("inputs") != new.settings.get("inputs") {
        Some("inputs")
    } else if old.settings != new.settings {
        Some("settings")
    } else if old.version != new.version {
        Some("version")
    } else {
        None
    }
}

/// Removes what an earlier run wrote, and only that: the files its manifest names.
fn discard(folder: &Path, shards: &[Shard]) -> Result<(), Error> {
    for shard in shards {
        let path = folder.join(&shard.name);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(Error::at(path)(error)),
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(settings: Value) -> Step {
        Step { command: "pith corpus test".into(), version: "1".into(), settings, counts: Counts::new() }
    }

    #[test]
    fn a_second_run_finds_what_the_first_settled() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out");
        let input_path = folder.path().join("in.jsonl");
        fs::write(&input_path, "{}").unwrap();
        let input = Source::of(&input_path).unwrap();
        let settings = serde_json::json!({"step": "test", "n": 5});
        let mut output = Output::open(&out, step(settings.clone()), vec![], Earlier::Refuse).unwrap();
        assert!(output.done("a", &input).is_none());
        let sealed = draft::write_whole(&out.join("a"), b"abc").unwrap();
        let counts = Counts::from([("in".into(), 3)]);
        output.settle("a".into(), input.clone(), sealed, counts.clone()).unwrap();
        fs::write(out.join("b.tmp"), "left by a killed run").unwrap();

        let again = Output::open(&out, step(settings.clone()), vec![], Earlier::Refuse).unwrap();
        assert_eq!(again.done("a", &input).unwrap().counts, counts);
        assert!(!out.join("b.tmp").exists());

        let other = step(serde_json::json!({"step": "test", "n": 6}));
        let refused = Output::open(&out, other.clone(), vec![], Earlier::Refuse).map(drop);
        assert!(matches!(refused, Err(Error::OtherWork { what: "settings", .. })), "{refused:?}");
        let redone = Output::open(&out, other, vec![], Earlier::Redo).unwrap();
        assert!(redone.done("a", &input).is_none() && !out.join("a").exists());
    }

    #[test]
    fn a_shard_that_was_cut_is_not_done() {
        let folder = tempfile::tempdir().unwrap();
        let input_path = folder.path().join("in.jsonl");
        fs::write(&input_path, "{}").unwrap();
        let input = Source::of(&input_path).unwrap();
        let out = folder.path().join("out");
        let mut output = Output::open(&out, step(Value::Null), vec![], Earlier::Refuse).unwrap();
        let sealed = draft::write_whole(&out.join("a"), b"abc").unwrap();
        output.settle("a".into(), input.clone(), sealed, Counts::new()).unwrap();
        assert!(output.done("a", &input).is_some());
        fs::write(out.join("a"), "ab").unwrap();
        assert!(output.done("a", &input).is_none());
        fs::write(&input_path, "{ }").unwrap();
        assert_ne!(Source::of(&input_path).unwrap(), input);
    }
}
