//! Folders that pith writes: a marker says that a folder is ours and names what we made in it, a lock keeps others out.
//!
//! A folder is opened before anything in it is written or removed. One that is empty or new gets its marker; one that
//! holds anything else and has no marker is refused, unless an earlier version of pith made it, which its contents
//! tell. Every file is claimed, that is named in the marker, before it is written: a file that exists and was not
//! claimed is somebody else's and stays as it is.

mod earlier;
mod name;

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::atomic_file;
pub use name::is_plain_name;

/// The name of the marker in a folder of ours.
pub const MARKER_NAME: &str = "pith.json";

/// The name of the file that a run locks. It holds the number of the process while that runs and is empty afterwards.
pub const LOCK_NAME: &str = "pith.lock";

/// The version of the marker, and of the layout of the folders.
const VERSION: u32 = 1;

/// A marker that is longer is none.
const MAX_MARKER_BYTES: u64 = 256 << 20;

/// What a folder of ours holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FolderKind {
    /// A crawl: page shards and a frontier.
    Crawl,
    /// Documents, or a dataset, with their manifest.
    Documents,
    /// Tables and texts of an evaluation.
    Evaluation,
}

impl FolderKind {
    fn describe(self) -> &'static str {
        match self {
            FolderKind::Crawl => "a crawl",
            FolderKind::Documents => "documents",
            FolderKind::Evaluation => "an evaluation",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Marker {
    format: FolderKind,
    version: u32,
    /// The files that were made, or are about to be; the name of a folder ends with a slash.
    files: BTreeSet<String>,
}

/// A folder that is ours and that this process alone writes to, for as long as the value lives.
#[derive(Debug)]
pub struct OwnedFolder {
    path: PathBuf,
    marker: Marker,
    lock: File,
}

impl OwnedFolder {
    /// Opens a folder of ours, makes one, or adopts one of an earlier version. Nothing in it is changed but the marker.
    ///
    /// # Errors
    ///
    /// If the folder holds something that pith did not make, or another kind of work, or another process uses it.
    pub fn open(path: &Path, kind: FolderKind) -> Result<OwnedFolder, Error> {
        // Once without the lock, because not even a lock may be left in a folder that is not ours.
        if path.exists() {
            read_marker(path, kind)?;
        }
        fs::create_dir_all(path).map_err(Error::io(path, "create"))?;
        let lock = lock(path)?;
        // And once with it: another process may have been first to use an empty folder.
        let (marker, is_written) = match read_marker(path, kind)? {
            Found::Marker(marker) => (marker, true),
            Found::Earlier(files) => (Marker { format: kind, version: VERSION, files }, false),
        };
        let folder = OwnedFolder { path: path.to_owned(), marker, lock };
        if !is_written {
            folder.save()?;
        }
        folder.note_process()?;
        Ok(folder)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether a name was claimed by this run or an earlier one.
    pub fn has_claimed(&self, name: &str) -> bool {
        self.marker.files.contains(name)
    }

    /// Every name that was claimed by this run or an earlier one.
    pub fn claimed(&self) -> impl Iterator<Item = &str> {
        self.marker.files.iter().map(String::as_str)
    }

    /// Announces what will be written. Names lie in the folder or one folder deeper; that of a folder ends with a slash.
    ///
    /// # Errors
    ///
    /// If one of them exists and is not ours, is not a plain name, or is something else than a regular file or folder.
    /// Nothing is claimed then.
    pub fn claim<'n>(&mut self, names: impl IntoIterator<Item = &'n str>) -> Result<(), Error> {
        let mut files = self.marker.files.clone();
        for name in names {
            let exists = name::is_ours_to_write(&self.path, name)?;
            if files.insert(name.to_owned()) && exists {
                return Err(Error::ForeignFile { path: self.path.join(name) });
            }
        }
        if files != self.marker.files {
            self.marker.files = files;
            self.save()?;
        }
        Ok(())
    }

    /// Removes files that were claimed, those that are there. All names are checked before the first is removed.
    ///
    /// # Errors
    ///
    /// If a name was never claimed, or names something else than a regular file.
    pub fn remove<'n>(&mut self, names: impl IntoIterator<Item = &'n str> + Clone) -> Result<(), Error> {
        for name in names.clone() {
            if name::is_ours_to_write(&self.path, name)? && !self.has_claimed(name) {
                return Err(Error::ForeignFile { path: self.path.join(name) });
            }
        }
        let mut files = self.marker.files.clone();
        for name in names {
            remove_file(&self.path.join(name))?;
            files.remove(name);
        }
        if files != self.marker.files {
            self.marker.files = files;
            self.save()?;
        }
        Ok(())
    }

    /// Removes the temporary files of claimed names that a killed run left.
    pub fn remove_temporary_files(&self) -> Result<(), Error> {
        self.marker.files.iter().filter(|name| !name.ends_with('/')).try_for_each(|name| {
            name::is_ours_to_write(&self.path, name)?;
            remove_file(&atomic_file::temporary_name(&self.path.join(name)))
        })
    }

    /// Empties a folder that was claimed of the files that `is_ours` recognises, and removes it when nothing is left.
    /// Links and whatever else lies there stay.
    pub fn remove_below(&mut self, name: &str, is_ours: impl Fn(&str) -> bool) -> Result<(), Error> {
        if !name::is_ours_to_write(&self.path, name)? {
            return Ok(());
        }
        if !self.has_claimed(name) {
            return Err(Error::ForeignFile { path: self.path.join(name) });
        }
        let folder = self.path.join(name);
        for entry in fs::read_dir(&folder).map_err(Error::io(&folder, "list"))? {
            let entry = entry.map_err(Error::io(&folder, "list"))?;
            let is_file = entry.file_type().map_err(Error::io(&entry.path(), "look at"))?.is_file();
            if is_file && entry.file_name().to_str().is_some_and(&is_ours) {
                remove_file(&entry.path())?;
            }
        }
        remove_folder_if_empty(&folder)
    }

    fn save(&self) -> Result<(), Error> {
        let mut bytes = serde_json::to_vec(&self.marker).expect("a marker is plain data");
        bytes.push(b'\n');
        atomic_file::write_atomically(&self.path.join(MARKER_NAME), &bytes).map(drop)
    }

    fn note_process(&self) -> Result<(), Error> {
        let path = self.path.join(LOCK_NAME);
        let mut file = &self.lock;
        let noted =
            file.set_len(0).and_then(|()| file.rewind()).and_then(|()| writeln!(file, "{}", std::process::id()));
        noted.map_err(Error::io(&path, "write"))
    }
}

impl Drop for OwnedFolder {
    fn drop(&mut self) {
        // The lock goes with the file; without its number the file is the same after every run.
        let _ = self.lock.set_len(0);
    }
}

/// Removes a folder that holds nothing; one that holds something stays.
pub fn remove_folder_if_empty(folder: &Path) -> Result<(), Error> {
    match fs::remove_dir(folder) {
        Err(error) if !matches!(error.kind(), io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::NotFound) => {
            Err(Error::io(folder, "remove")(error))
        }
        _ => Ok(()),
    }
}

fn remove_file(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::io(path, "remove")(error)),
        _ => Ok(()),
    }
}

/// Whose folder it is.
enum Found {
    Marker(Marker),
    /// No marker yet: an empty folder, or one of an earlier version with what that made.
    Earlier(BTreeSet<String>),
}

fn read_marker(folder: &Path, kind: FolderKind) -> Result<Found, Error> {
    let path = folder.join(MARKER_NAME);
    let foreign = |found: &str| Error::ForeignFolder { path: folder.to_owned(), found: found.to_owned() };
    match fs::symlink_metadata(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return earlier_files(folder, kind),
        Err(error) => return Err(Error::io(&path, "read")(error)),
        Ok(data) if !data.is_file() || data.len() > MAX_MARKER_BYTES => return Err(foreign(MARKER_NAME)),
        Ok(_) => {}
    }
    let bytes = fs::read(&path).map_err(Error::io(&path, "read"))?;
    let marker: Marker = serde_json::from_slice(&bytes).map_err(|_| foreign(MARKER_NAME))?;
    if marker.version != VERSION {
        return Err(Error::FolderVersion { path, version: marker.version });
    }
    if marker.format != kind {
        let (found, wanted) = (marker.format.describe(), kind.describe());
        return Err(Error::FolderKind { path: folder.to_owned(), found, wanted });
    }
    match marker.files.iter().find(|name| !is_plain_name(name)) {
        Some(name) => Err(Error::Name { path, name: name.clone() }),
        None => Ok(Found::Marker(marker)),
    }
}

fn earlier_files(folder: &Path, kind: FolderKind) -> Result<Found, Error> {
    let mut others = Vec::new();
    for entry in fs::read_dir(folder).map_err(Error::io(folder, "list"))? {
        let entry = entry.map_err(Error::io(folder, "list"))?;
        let name = entry.file_name();
        // A process that was killed while it made the folder leaves its lock, and the marker under its temporary name.
        let is_draft = name.to_str() == Some(&*format!("{MARKER_NAME}{}", atomic_file::TEMPORARY_SUFFIX));
        let is_our_lock = name.to_str() == Some(LOCK_NAME) && is_lock(&entry.path());
        if !is_draft && !is_our_lock {
            others.push(name.to_string_lossy().into_owned());
        }
    }
    let Some(found) = others.iter().min() else { return Ok(Found::Earlier(BTreeSet::new())) };
    match earlier::files(folder, kind)? {
        Some(files) => Ok(Found::Earlier(files)),
        None => Err(Error::ForeignFolder { path: folder.to_owned(), found: found.clone() }),
    }
}

/// Locks the folder. The file is opened as it is: it may be somebody else's.
fn lock(folder: &Path) -> Result<File, Error> {
    let path = folder.join(LOCK_NAME);
    if fs::symlink_metadata(&path).is_ok() && !is_lock(&path) {
        return Err(Error::ForeignFile { path });
    }
    let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
    let mut file = opened.map_err(Error::io(&path, "open"))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            let mut text = String::new();
            let _ = Read::take(&mut file, 32).read_to_string(&mut text);
            Err(Error::InUse { path: folder.to_owned(), process: text.trim().parse().ok() })
        }
        Err(TryLockError::Error(source)) => Err(Error::io(&path, "lock")(source)),
    }
}

/// A lock is a regular file that is empty or holds the number of a process.
fn is_lock(path: &Path) -> bool {
    let Ok(data) = fs::symlink_metadata(path) else { return false };
    let holds_number = || fs::read_to_string(path).is_ok_and(|text| text.trim().parse::<u32>().is_ok());
    data.is_file() && (data.len() == 0 || (data.len() <= 16 && holds_number()))
}

#[cfg(test)]
mod tests;
