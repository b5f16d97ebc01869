//! A file that appears under its name whole, or not at all.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::Error;

/// The ending of a file that is still being written.
pub const DRAFT_SUFFIX: &str = ".tmp";

/// A file in the making, under a temporary name beside its final one.
///
/// [`Draft::seal`] makes it durable and gives it its name; a draft that is dropped leaves nothing behind.
pub struct Draft {
    file: Option<BufWriter<File>>,
    temporary: PathBuf,
    path: PathBuf,
    hasher: Sha256,
    bytes: u64,
    is_sealed: bool,
}

/// What was sealed: the size and the digest of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sealed {
    /// Bytes in the file.
    pub bytes: u64,
    /// `sha256:` and the digest in hexadecimal.
    pub digest: String,
}

impl Draft {
    /// Starts the file, and the folder it goes to where that is missing.
    pub fn create(path: impl Into<PathBuf>) -> Result<Draft, Error> {
        let path = path.into();
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(Error::at(folder))?;
        }
        let temporary = temporary_name(&path);
        let file = File::create(&temporary).map_err(Error::at(&temporary))?;
        let file = Some(BufWriter::with_capacity(1 << 17, file));
        Ok(Draft { file, temporary, path, hasher: Sha256::new(), bytes: 0, is_sealed: false })
    }

    /// The name that the file will have.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes the bytes durable, then gives the file its name.
    pub fn seal(mut self) -> Result<Sealed, Error> {
        let writer = self.file.take().expect("a draft is sealed once");
        let file = writer.into_inner().map_err(|error| Error::at(&self.temporary)(error.into_error()))?;
        file.sync_all().map_err(Error::at(&self.temporary))?;
        drop(file);
        fs::rename(&self.temporary, &self.path).map_err(Error::at(&self.path))?;
        self.is_sealed = true;
        sync_folder(&self.path)?;
        let digest = format!("sha256:{:x}", std::mem::take(&mut self.hasher).finalize());
        Ok(Sealed { bytes: self.bytes, digest })
    }
}

impl Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let file = self.file.as_mut().expect("a sealed draft is gone");
        let written = file.write(bytes)?;
        self.hasher.update(&bytes[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_mut().expect("a sealed draft is gone").flush()
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // Sealed files were renamed; of the others only the temporary name exists, and nobody needs it.
        if !self.is_sealed {
            drop(self.file.take().map(BufWriter::into_parts));
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

/// Writes a whole small file: durable and under its name, or not at all.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<Sealed, Error> {
    let mut draft = Draft::create(path)?;
    draft.write_all(bytes).map_err(Error::at(path))?;
    draft.seal()
}

/// Removes the drafts that a killed run left in a folder and in the folders right below it.
pub fn sweep(folder: &Path) -> Result<(), Error> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(()) };
    for entry in entries {
        let path = entry.map_err(Error::at(folder))?.path();
        if path.is_dir() {
            for entry in fs::read_dir(&path).map_err(Error::at(&path))? {
                remove_if_draft(&entry.map_err(Error::at(&path))?.path())?;
            }
        } else {
            remove_if_draft(&path)?;
        }
    }
    Ok(())
}

fn remove_if_draft(path: &Path) -> Result<(), Error> {
    if path.is_file() && path.to_string_lossy().ends_with(DRAFT_SUFFIX) {
        fs::remove_file(path).map_err(Error::at(path))?;
    }
    Ok(())
}

fn temporary_name(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(DRAFT_SUFFIX);
    name.into()
}

/// A rename is durable only once the folder is.
fn sync_folder(path: &Path) -> Result<(), Error> {
    match path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        Some(folder) => File::open(folder).and_then(|folder| folder.sync_all()).map_err(Error::at(folder)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dropped_draft_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let mut draft = Draft::create(folder.path().join("a.txt")).unwrap();
        draft.write_all(b"half").unwrap();
        assert!(folder.path().join("a.txt.tmp").exists());
        drop(draft);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_sealed_draft_has_its_name_size_and_digest() {
        let folder = tempfile::tempdir().unwrap();
        let sealed = write_whole(&folder.path().join("deep/a.txt"), b"abc").unwrap();
        assert_eq!(fs::read(folder.path().join("deep/a.txt")).unwrap(), b"abc");
        assert_eq!(sealed.bytes, 3);
        assert_eq!(sealed.digest, "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }

    #[test]
    fn a_sweep_takes_drafts_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("below")).unwrap();
        for name in ["a.jsonl.tmp", "a.jsonl", "below/b.tmp", "below/b"] {
            fs::write(folder.path().join(name), "x").unwrap();
        }
        sweep(folder.path()).unwrap();
        assert!(!folder.path().join("a.jsonl.tmp").exists() && !folder.path().join("below/b.tmp").exists());
        assert!(folder.path().join("a.jsonl").exists() && folder.path().join("below/b").exists());
    }
}
