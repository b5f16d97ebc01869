//! The texts that methods made, for other scorers: a folder of ours with a file for each method and set, a line for each
//! text.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use pith_corpus::atomic_file::AtomicFile;
use pith_corpus::folder::{FolderKind, OwnedFolder};
use pith_eval::Error;
use serde::Serialize;

use crate::commands::corpus::failure;
use crate::exit::Failure;

/// The files that are open; nothing is written where no folder was asked for.
pub struct Predictions {
    folder: Option<OwnedFolder>,
    files: BTreeMap<String, AtomicFile>,
}

impl Predictions {
    /// Opens the folder, before anything is computed.
    pub fn open(folder: Option<&Path>) -> Result<Predictions, Failure> {
        let folder = folder.map(|folder| OwnedFolder::open(folder, FolderKind::Evaluation)).transpose();
        Ok(Predictions { folder: folder.map_err(failure)?, files: BTreeMap::new() })
    }

    /// Whether the texts are wanted.
    pub fn are_wanted(&self) -> bool {
        self.folder.is_some()
    }

    /// Adds a line to a file of the folder.
    pub fn write(&mut self, name: &str, line: &impl Serialize) -> Result<(), Error> {
        let Some(folder) = &mut self.folder else { return Ok(()) };
        let path = folder.path().join(name);
        let failed = |source| Error::Write { path: path.clone(), source };
        if !self.files.contains_key(name) {
            folder.claim([name]).map_err(std::io::Error::other).map_err(failed)?;
            let file = AtomicFile::create(&path).map_err(std::io::Error::other).map_err(failed)?;
            self.files.insert(name.to_owned(), file);
        }
        let file = self.files.get_mut(name).expect("it was opened above");
        let line = serde_json::to_string(line).map_err(std::io::Error::from).map_err(failed)?;
        writeln!(file, "{line}").map_err(failed)
    }

    /// Makes the files durable and gives them their names.
    pub fn finish(self) -> Result<(), Failure> {
        for file in self.files.into_values() {
            file.seal().map_err(failure)?;
        }
        Ok(())
    }
}
