//! File operations that all parts of the embedded frontier share. Everything that it writes goes through here, so that a
//! simulation can end it at any write.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::error::Error;

/// Adds the action and the path to an I/O error, for `map_err`.
pub(super) fn io_error<'p>(path: &'p Path, action: &'static str) -> impl FnOnce(std::io::Error) -> Error + 'p {
    move |source| Error::Io { action, path: path.to_owned(), source }
}

/// Opens a file for reading and appending, creating it when it does not exist.
pub(super) fn open_append(path: &Path) -> Result<File, Error> {
    open_noatime(OpenOptions::new().read(true).append(true).create(true), path).map_err(io_error(path, "open"))
}

/// Opens a file without access-time updates, where the system allows that: they are a tenth of the cost of reading a
/// few hundred bytes, and these files are read thousands of times a second.
pub(super) fn open_noatime(options: &mut OpenOptions, path: &Path) -> std::io::Result<File> {
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::fs::OpenOptionsExt;
        // Only the owner of a file may set this flag.
        if let Ok(file) = options.custom_flags(libc::O_NOATIME).open(path) {
            return Ok(file);
        }
        options.custom_flags(0);
    }
    options.open(path)
}

/// Appends bytes to a file that was opened for appending.
pub(super) fn append(mut file: &File, path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let (part, result) = written_part(bytes);
    file.write_all(part).and(result).map_err(io_error(path, "write"))
}

/// Writes bytes at an offset.
pub(super) fn write_at(file: &File, path: &Path, bytes: &[u8], offset: u64) -> Result<(), Error> {
    let (part, result) = written_part(bytes);
    file.write_all_at(part, offset).and(result).map_err(io_error(path, "write"))
}

/// Cuts a file, or extends it with zeros.
pub(super) fn set_length(file: &File, path: &Path, length: u64) -> Result<(), Error> {
    written_part(&[]).1.and_then(|()| file.set_len(length)).map_err(io_error(path, "truncate"))
}

/// Makes the bytes of a file durable.
pub(super) fn sync(file: &File, path: &Path) -> Result<(), Error> {
    #[cfg(test)]
    if let Some(synced) = super::simulated_disk::sync(path) {
        return synced.map_err(io_error(path, "sync"));
    }
    file.sync_data().map_err(io_error(path, "sync"))
}

/// What is written of these bytes, and how that ends: all of them, unless a simulated crash comes in between.
fn written_part(bytes: &[u8]) -> (&[u8], io::Result<()>) {
    #[cfg(test)]
    let (bytes, result) = super::simulated_disk::written_part(bytes);
    #[cfg(not(test))]
    let result = Ok(());
    (bytes, result)
}

/// Replaces a file atomically: after a crash it holds either the old bytes or the new ones.
pub(super) fn replace(path: &Path, parts: &[&[u8]]) -> Result<(), Error> {
    let temporary = path.with_extension("new");
    let file = File::create(&temporary).map_err(io_error(&temporary, "create"))?;
    for part in parts {
        append(&file, &temporary, part)?;
    }
    sync(&file, &temporary)?;
    written_part(&[]).1.and_then(|()| fs::rename(&temporary, path)).map_err(io_error(path, "rename"))?;
    #[cfg(test)]
    super::simulated_disk::renamed(&temporary, path);
    sync_folder(path)
}

/// Makes the names in a file's folder durable.
pub(super) fn sync_folder(path: &Path) -> Result<(), Error> {
    #[cfg(test)]
    if super::simulated_disk::is_active() {
        return Ok(());
    }
    let folder = path.parent().unwrap_or(Path::new("."));
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(io_error(folder, "sync"))
}
