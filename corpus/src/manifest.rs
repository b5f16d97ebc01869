//! The manifest of a folder: which command wrote it, with which settings, which shards are done, what was counted.
//!
//! It holds no times and no host names: the same work gives the same manifest, byte for byte.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use xxhash_rust::xxh3::Xxh3;

use crate::Error;
use crate::atomic_file::{self, SealedFile};
use crate::folder::{FolderKind, OwnedFolder, is_plain_name};

/// The name of the manifest in a folder that pith wrote.
pub const MANIFEST_NAME: &str = "manifest.json";

/// The count of URLs that a crawl has left out because their owners reserve them, in the step that reads its pages.
pub const CRAWL_RESERVED: &str = "crawl.reserved";

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
    pub input: InputFile,
    /// Its size.
    pub bytes: u64,
    /// Its digest.
    pub digest: String,
    /// What was counted while it was made.
    pub counts: Counts,
}

/// An input file, identified without reading all of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputFile {
    /// The name of the file, without folders.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// A hash of its size, its first and its last 64 KiB.
    #[serde(rename = "edges")]
    pub edge_hash: String,
}

impl InputFile {
    /// Fingerprints a file.
    pub fn of(path: &Path) -> Result<InputFile, Error> {
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
        Ok(InputFile { name, bytes, edge_hash: format!("xxh3:{:016x}", hasher.digest()) })
    }

    /// Several files, or parts of them, that one output is made of.
    pub fn of_several(files: &[InputFile]) -> InputFile {
        if let [only] = files {
            return only.clone();
        }
        let mut hasher = Xxh3::new();
        for file in files {
            hasher.update(format!("{}\n{}\n{}\n", file.name, file.bytes, file.edge_hash).as_bytes());
        }
        let ends = files.first().zip(files.last()).map_or(String::new(), |(a, b)| format!("{} to {}", a.name, b.name));
        let bytes = files.iter().map(|file| file.bytes).sum();
        InputFile { name: ends, bytes, edge_hash: format!("xxh3:{:016x}", hasher.digest()) }
    }
}

impl Manifest {
    /// The manifest of a folder, if it has one.
    pub fn read(folder: &Path) -> Result<Option<Manifest>, Error> {
        let path = folder.join(MANIFEST_NAME);
        match fs::read(&path) {
            Ok(bytes) => Manifest::parse(&bytes, &path).map(Some),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::at(path)(error)),
        }
    }

    /// A manifest from its bytes; `path` is for messages.
    ///
    /// # Errors
    ///
    /// If it is none, or names a shard that does not lie in its folder.
    pub fn parse(bytes: &[u8], path: &Path) -> Result<Manifest, Error> {
        let parsed: Result<Manifest, _> = serde_json::from_slice(bytes);
        let manifest = parsed.map_err(|source| Error::Manifest { path: path.to_owned(), source })?;
        let is_shard_name = |name: &str| is_plain_name(name) && !name.ends_with('/');
        match manifest.shards.iter().find(|shard| !is_shard_name(&shard.name)) {
            Some(shard) => Err(Error::Name { path: path.to_owned(), name: shard.name.clone() }),
            None => Ok(manifest),
        }
    }

    /// Writes it to its folder.
    pub(crate) fn write(&self, folder: &Path) -> Result<(), Error> {
        let mut bytes = serde_json::to_vec_pretty(self).expect("a manifest is plain data");
        bytes.push(b'\n');
        atomic_file::write_atomically(&folder.join(MANIFEST_NAME), &bytes).map(drop)
    }

    /// The steps that led to these inputs, of every folder that they lie in, each step once and behind those it used.
    pub fn history_of(inputs: &[PathBuf]) -> Vec<Step> {
        let mut folders: Vec<PathBuf> = Vec::new();
        for path in inputs {
            let folder = match path.is_dir() {
                true => path.clone(),
                false => path.parent().map(Path::to_path_buf).unwrap_or_default(),
            };
            if !folders.contains(&folder) {
                folders.push(folder);
            }
        }
        let mut history: Vec<Step> = Vec::new();
        for manifest in folders.iter().filter_map(|folder| Manifest::read(folder).ok().flatten()) {
            for step in manifest.history.into_iter().chain([manifest.step]) {
                if !history.contains(&step) {
                    history.push(step);
                }
            }
        }
        history
    }
}

/// A folder that one run, or several runs of the same command, fill shard by shard.
///
/// Nobody else can write to the folder while this value lives.
pub struct Output {
    folder: OwnedFolder,
    manifest: Manifest,
}

/// What to do with a folder that holds the output of other settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExistingOutput {
    /// Fail and leave it unchanged.
    Refuse,
    /// Remove it and start over.
    Replace,
}

impl Output {
    /// Opens and locks a folder for a step, removes temporary files of a killed run, and finds the finished shards.
    ///
    /// # Errors
    ///
    /// What [`OwnedFolder::open`] refuses; [`Error::OutputMismatch`] when the folder holds the result of another command or of other settings,
    /// unless `existing` is [`ExistingOutput::Replace`].
    pub fn open(folder: &Path, step: Step, history: Vec<Step>, existing: ExistingOutput) -> Result<Output, Error> {
        let mut folder = OwnedFolder::open(folder, FolderKind::Documents)?;
        folder.claim([MANIFEST_NAME])?;
        let fresh = Manifest { format: 1, step, complete: false, shards: Vec::new(), history };
        let manifest = match Manifest::read(folder.path())? {
            None => fresh,
            Some(old) => match (difference(&old.step, &fresh.step), existing) {
                (None, ExistingOutput::Refuse) => {
                    folder.remove_temporary_files()?;
                    return Ok(Output { folder, manifest: old });
                }
                (Some(what), ExistingOutput::Refuse) => {
                    let path = folder.path().to_owned();
                    return Err(Error::OutputMismatch { path, command: old.step.command, what });
                }
                (_, ExistingOutput::Replace) => {
                    folder.remove(old.shards.iter().map(|shard| shard.name.as_str()))?;
                    fresh
                }
            },
        };
        folder.remove_temporary_files()?;
        let output = Output { folder, manifest };
        output.save()?;
        Ok(output)
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Announces the files that will be written, so that one that is there and was not made by pith is noticed before.
    ///
    /// # Errors
    ///
    /// What [`OwnedFolder::claim`] refuses.
    pub fn claim<'n>(&mut self, names: impl IntoIterator<Item = &'n str>) -> Result<(), Error> {
        self.folder.claim(names)
    }

    /// Removes every file of this name that was claimed by this run or an earlier one.
    pub fn remove_claimed(&mut self, is_unwanted: impl Fn(&str) -> bool) -> Result<(), Error> {
        let names: Vec<String> = self.folder.claimed().filter(|name| is_unwanted(name)).map(str::to_owned).collect();
        self.folder.remove(names.iter().map(String::as_str))
    }

    /// The folder with its marker.
    pub(crate) fn owned_folder(&mut self) -> &mut OwnedFolder {
        &mut self.folder
    }

    /// What the manifest says now.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The finished shard that was made from this input under this name, if its file is still there whole.
    pub fn finished_shard(&self, name: &str, input: &InputFile) -> Option<&Shard> {
        let shard = self.manifest.shards.iter().find(|shard| shard.name == name && shard.input == *input)?;
        let data = fs::symlink_metadata(self.folder().join(name)).ok()?;
        (data.is_file() && data.len() == shard.bytes).then_some(shard)
    }

    /// Records a sealed shard in the manifest; it is done when this returns.
    pub fn record_shard(
        &mut self,
        name: String,
        input: InputFile,
        sealed: SealedFile,
        counts: Counts,
    ) -> Result<(), Error> {
        let shard = Shard { name, input, bytes: sealed.bytes, digest: sealed.digest, counts };
        match self.manifest.shards.binary_search_by(|old| old.name.cmp(&shard.name)) {
            Ok(index) => self.manifest.shards[index] = shard,
            Err(index) => self.manifest.shards.insert(index, shard),
        }
        self.manifest.complete = false;
        self.sum();
        self.save()
    }

    /// Marks the output as complete. `counts` are those that belong to no shard.
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
        self.folder.remove(gone.iter().map(|shard| shard.name.as_str()))
    }

    fn sum(&mut self) {
        let mut counts = Counts::new();
        for shard in &self.manifest.shards {
            add(&mut counts, &shard.counts);
        }
        self.manifest.step.counts = counts;
    }

    fn save(&self) -> Result<(), Error> {
        self.manifest.write(self.folder())
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
        let input = InputFile::of(&input_path).unwrap();
        let settings = serde_json::json!({"step": "test", "n": 5});
        let mut output = Output::open(&out, step(settings.clone()), vec![], ExistingOutput::Refuse).unwrap();
        assert!(output.finished_shard("a", &input).is_none());
        output.claim(["a", "b"]).unwrap();
        let sealed = atomic_file::write_atomically(&out.join("a"), b"abc").unwrap();
        let counts = Counts::from([("in".into(), 3)]);
        output.record_shard("a".into(), input.clone(), sealed, counts.clone()).unwrap();
        fs::write(out.join("b.pith-tmp"), "left by a killed run").unwrap();
        fs::write(out.join("c.tmp"), "somebody else's").unwrap();
        drop(output);

        let again = Output::open(&out, step(settings.clone()), vec![], ExistingOutput::Refuse).unwrap();
        assert_eq!(again.finished_shard("a", &input).unwrap().counts, counts);
        assert!(!out.join("b.pith-tmp").exists() && out.join("c.tmp").exists());
        drop(again);

        let other = step(serde_json::json!({"step": "test", "n": 6}));
        let refused = Output::open(&out, other.clone(), vec![], ExistingOutput::Refuse).map(drop);
        assert!(matches!(refused, Err(Error::OutputMismatch { what: "settings", .. })), "{refused:?}");
        let redone = Output::open(&out, other, vec![], ExistingOutput::Replace).unwrap();
        assert!(redone.finished_shard("a", &input).is_none() && !out.join("a").exists());
    }

    #[test]
    fn a_shard_that_was_cut_is_not_done() {
        let folder = tempfile::tempdir().unwrap();
        let input_path = folder.path().join("in.jsonl");
        fs::write(&input_path, "{}").unwrap();
        let input = InputFile::of(&input_path).unwrap();
        let out = folder.path().join("out");
        let mut output = Output::open(&out, step(Value::Null), vec![], ExistingOutput::Refuse).unwrap();
        let sealed = atomic_file::write_atomically(&out.join("a"), b"abc").unwrap();
        output.record_shard("a".into(), input.clone(), sealed, Counts::new()).unwrap();
        assert!(output.finished_shard("a", &input).is_some());
        fs::write(out.join("a"), "ab").unwrap();
        assert!(output.finished_shard("a", &input).is_none());
        fs::write(&input_path, "{ }").unwrap();
        assert_ne!(InputFile::of(&input_path).unwrap(), input);
    }
}
