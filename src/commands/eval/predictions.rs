//! What methods said about pages, for other scorers to read: a file for each method and set, {id, text} on each line.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use pith_eval::Error;

/// The files that are open.
#[derive(Default)]
pub struct Predictions {
    files: BTreeMap<PathBuf, BufWriter<File>>,
}

impl Predictions {
    /// Adds a text to the file of a set in a folder.
    pub fn write(&mut self, folder: &Path, set: &str, id: &str, text: &str) -> Result<(), Error> {
        let path = folder.join(format!("{set}.jsonl"));
        let failed = |source| Error::Write { path: path.clone(), source };
        if !self.files.contains_key(&path) {
            std::fs::create_dir_all(folder).map_err(failed)?;
            self.files.insert(path.clone(), BufWriter::new(File::create(&path).map_err(failed)?));
        }
        let file = self.files.get_mut(&path).expect("it was opened above");
        writeln!(file, "{}", serde_json::json!({ "id": id, "text": text })).map_err(failed)
    }

    /// Writes what is still in memory.
    pub fn finish(self) -> Result<(), Error> {
        for (path, mut file) in self.files {
            file.flush().map_err(|source| Error::Write { path, source })?;
        }
        Ok(())
    }
}
