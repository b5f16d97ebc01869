//! Small steps on files that every part of the embedded frontier takes in the same way.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::Path;

use crate::error::Error;

/// Names the action and the file on an I/O error.
pub(super) fn at<'p>(path: &'p Path, action: &'static str) -> impl FnOnce(std::io::Error) -> Error + 'p {
    move |source| Error::Io { action, path: path.to_owned(), source }
}

/// Opens a file for reading and appending, creating it when it is not there.
pub(super) fn open_append(path: &Path) -> Result<File, Error> {
    open_quietly(OpenOptions::new().read(true).append(true).create(true), path).map_err(at(path, "open"))
}

/// Opens a file without having the system note when it was last read: that note is a tenth of what reading a few
/// hundred bytes costs, and these files are read thousands of times a second.
pub(super) fn open_quietly(options: &mut OpenOptions, path: &Path) -> std::io::Result<File> {
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::fs::OpenOptionsExt;
        // Only the owner of a file may ask for that.
        if let Ok(file) = options.custom_flags(libc::O_NOATIME).open(path) {
            return Ok(file);
        }
        options.custom_flags(0);
    }
    options.open(path)
}

/// Replaces a file in one step: after a crash it holds either the old bytes or the new ones.
pub(super) fn replace(path: &Path, parts: &[&[u8]]) -> Result<(), Error> {
    let temporary = path.with_extension("new");
    let mut file = File::create(&temporary).map_err(at(&temporary, "create"))?;
    for part in parts {
        file.write_all(part).map_err(at(&temporary, "write"))?;
    }
    file.sync_all().map_err(at(&temporary, "sync"))?;
    fs::rename(&temporary, path).map_err(at(path, "rename"))?;
    sync_folder(path)
}

/// Makes the names in a file's folder durable.
pub(super) fn sync_folder(path: &Path) -> Result<(), Error> {
    let folder = path.parent().unwrap_or(Path::new("."));
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(at(folder, "sync"))
}
