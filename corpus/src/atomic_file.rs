//! Atomic file writes: a file appears under its name complete, or not at all.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::Error;

/// The ending of a file that is still being written. No other program gives it, so that a file with it is ours.
pub const TEMPORARY_SUFFIX: &str = ".pith-tmp";

/// A file that is written under a temporary name next to its final one.
///
/// [`AtomicFile::seal`] makes it durable and gives it its name; a file that is dropped leaves nothing behind.
pub struct AtomicFile {
    file: Option<BufWriter<File>>,
    temporary: PathBuf,
    path: PathBuf,
    hasher: Sha256,
    bytes: u64,
    is_sealed: bool,
}

/// What was sealed: the size and the digest of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SealedFile {
    /// Bytes in the file.
    pub bytes: u64,
    /// `sha256:` and the digest in hexadecimal.
    pub digest: String,
}

impl AtomicFile {
    /// Starts the file, and the folder it goes to where that is missing.
    pub fn create(path: impl Into<PathBuf>) -> Result<AtomicFile, Error> {
        let path = path.into();
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(Error::at(folder))?;
        }
        let temporary = temporary_name(&path);
        let file = create_new(&temporary)?;
        let file = Some(BufWriter::with_capacity(1 << 17, file));
        Ok(AtomicFile { file, temporary, path, hasher: Sha256::new(), bytes: 0, is_sealed: false })
    }

    /// The name that the file will have.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes the bytes durable, then gives the file its name.
    pub fn seal(mut self) -> Result<SealedFile, Error> {
        let writer = self.file.take().expect("a file is sealed once");
        let file = writer.into_inner().map_err(|error| Error::at(&self.temporary)(error.into_error()))?;
        file.sync_all().map_err(Error::at(&self.temporary))?;
        drop(file);
        fs::rename(&self.temporary, &self.path).map_err(Error::at(&self.path))?;
        self.is_sealed = true;
        sync_folder(&self.path)?;
        let digest = format!("sha256:{:x}", std::mem::take(&mut self.hasher).finalize());
        Ok(SealedFile { bytes: self.bytes, digest })
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let file = self.file.as_mut().expect("a sealed file is gone");
        let written = file.write(bytes)?;
        self.hasher.update(&bytes[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_mut().expect("a sealed file is gone").flush()
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        // Sealed files were renamed; an unsealed file exists only under its temporary name and is removed.
        if !self.is_sealed {
            drop(self.file.take().map(BufWriter::into_parts));
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

/// Writes a whole small file: durable and under its name, or not at all.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<SealedFile, Error> {
    let mut file = AtomicFile::create(path)?;
    file.write_all(bytes).map_err(Error::at(path))?;
    file.seal()
}

/// Writes a file that a user named. One that is there is replaced only if it begins like what is written, in its first
/// [`ALIKE_BYTES`], or is empty: a name given by mistake does not cost a file of another kind.
///
/// # Errors
///
/// [`Error::ForeignFile`] for a file of another kind, [`Error::NotRegular`] for folders, links and devices.
pub fn replace_named_file(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    check_named_file(path, bytes)?;
    write_atomically(path, bytes).map(drop)
}

/// How many bytes tell the kind of a file.
pub const ALIKE_BYTES: usize = 8;

fn check_named_file(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(Error::at(path)(error)),
        Ok(data) if !data.is_file() => return Err(Error::NotRegular { path: path.to_owned() }),
        Ok(_) => {}
    }
    let mut start = Vec::new();
    let opened = File::open(path).map_err(Error::at(path))?;
    opened.take(ALIKE_BYTES as u64).read_to_end(&mut start).map_err(Error::at(path))?;
    if start.is_empty() || bytes.get(..ALIKE_BYTES.min(bytes.len())) == Some(&start[..]) {
        return Ok(());
    }
    Err(Error::ForeignFile { path: path.to_owned() })
}

/// Makes a temporary file. One that a killed run left is removed first; a link is never followed.
fn create_new(temporary: &Path) -> Result<File, Error> {
    let create = || OpenOptions::new().write(true).create_new(true).open(temporary);
    match create() {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            if !fs::symlink_metadata(temporary).is_ok_and(|data| data.is_file()) {
                return Err(Error::NotRegular { path: temporary.to_owned() });
            }
            fs::remove_file(temporary).and_then(|()| create()).map_err(Error::at(temporary))
        }
        made => made.map_err(Error::at(temporary)),
    }
}

/// The name under which a file is written.
pub(crate) fn temporary_name(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(TEMPORARY_SUFFIX);
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
        let mut file = AtomicFile::create(folder.path().join("a.txt")).unwrap();
        file.write_all(b"half").unwrap();
        assert!(folder.path().join("a.txt.pith-tmp").exists());
        drop(file);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_sealed_draft_has_its_name_size_and_digest() {
        let folder = tempfile::tempdir().unwrap();
        let sealed = write_atomically(&folder.path().join("deep/a.txt"), b"abc").unwrap();
        assert_eq!(fs::read(folder.path().join("deep/a.txt")).unwrap(), b"abc");
        assert_eq!(sealed.bytes, 3);
        assert_eq!(sealed.digest, "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }

    #[test]
    fn a_named_file_is_replaced_by_its_like_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("page.html");
        replace_named_file(&path, b"<!doctype html>first").unwrap();
        replace_named_file(&path, b"<!doctype html>second").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"<!doctype html>second");
        for other in ["{\"id\": 1}", "<!", "notes of a day"] {
            fs::write(&path, other).unwrap();
            let refused = replace_named_file(&path, b"<!doctype html>third");
            assert!(matches!(refused, Err(Error::ForeignFile { .. })), "{refused:?}");
            assert_eq!(fs::read_to_string(&path).unwrap(), other);
        }
        let refused = replace_named_file(folder.path(), b"<!doctype html>");
        assert!(matches!(refused, Err(Error::NotRegular { .. })), "{refused:?}");
        let refused = replace_named_file(Path::new("/dev/null"), b"<!doctype html>");
        assert!(matches!(refused, Err(Error::NotRegular { .. })), "{refused:?}");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_under_the_temporary_name_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let precious = folder.path().join("precious");
        fs::write(&precious, "kept").unwrap();
        std::os::unix::fs::symlink(&precious, folder.path().join("a.txt.pith-tmp")).unwrap();
        assert!(write_atomically(&folder.path().join("a.txt"), b"abc").is_err());
        assert_eq!(fs::read_to_string(&precious).unwrap(), "kept");
    }
}
