//! What a caller must know when bytes on disk cannot be read or written.

use std::io;
use std::path::{Path, PathBuf};

/// Why a shard, a manifest or a report could not be read or written. Every variant says where.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The system refused: a missing file, a full disk, a broken pipe.
    #[error("{}: cannot {action}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What was being done, such as `read` or `create`.
        action: &'static str,
        /// The error of the system.
        source: io::Error,
    },
    /// A manifest that is not one.
    #[error("{}: not a manifest of pith", path.display())]
    Manifest {
        /// The manifest.
        path: PathBuf,
        /// Where it stops making sense.
        source: serde_json::Error,
    },
    /// The folder holds the work of another command, of other settings or of other inputs.
    #[error("{}: was written by `{command}` with other {what}", path.display())]
    OutputMismatch {
        /// The folder.
        path: PathBuf,
        /// The command that wrote it.
        command: String,
        /// What differs: `settings`, `inputs` or `command`.
        what: &'static str,
    },
    /// An input folder whose own run has not finished.
    #[error("{}: the run that writes it has not finished", path.display())]
    Unfinished {
        /// The folder.
        path: PathBuf,
    },
    /// A folder or a list without a single document shard.
    #[error("{}: no document shards (.jsonl, .jsonl.gz, .jsonl.zst) here", path.display())]
    NoDocuments {
        /// Where they were looked for.
        path: PathBuf,
    },
    /// A Parquet file could not be written.
    #[error("{}", path.display())]
    Parquet {
        /// The file.
        path: PathBuf,
        /// What the library said.
        source: parquet::errors::ParquetError,
    },
    /// The file is no archive, or none that can be read here.
    #[error("{}: {what}", path.display())]
    Archive {
        /// The file.
        path: PathBuf,
        /// What it is instead, and the way out.
        what: String,
    },
    /// A file is corrupt in a way that no crash explains.
    #[error("{} at byte {offset}: {what}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where.
        offset: u64,
        /// What was found.
        what: &'static str,
    },
    /// Another process is writing page shards to the same folder.
    #[error("{}: another process is writing here", path.display())]
    Locked {
        /// The open shard that is held.
        path: PathBuf,
    },
    /// A folder that holds what pith did not make.
    #[error("{}: holds {found:?}, which pith did not make", path.display())]
    ForeignFolder {
        /// The folder.
        path: PathBuf,
        /// The first thing in it.
        found: String,
    },
    /// A file that pith did not make stands where one would be written or removed.
    #[error("{}: pith did not make this file and leaves it as it is", path.display())]
    ForeignFile {
        /// The file.
        path: PathBuf,
    },
    /// Something else than a regular file stands where one would be written or removed.
    #[error("{}: a link, a folder or a device, where pith keeps a file or folder of its own", path.display())]
    NotRegular {
        /// The path.
        path: PathBuf,
    },
    /// A folder of another kind of work.
    #[error("{}: holds {found}, not {wanted}", path.display())]
    FolderKind {
        /// The folder.
        path: PathBuf,
        /// What it holds.
        found: &'static str,
        /// What would be written.
        wanted: &'static str,
    },
    /// A folder of a version of pith that this one does not know.
    #[error("{}: is of version {version}, which this version of pith does not know", path.display())]
    FolderVersion {
        /// The marker.
        path: PathBuf,
        /// Its version.
        version: u32,
    },
    /// A name in a marker or a manifest that leads out of its folder.
    #[error("{}: names {name:?}, which is not a file of its folder", path.display())]
    Name {
        /// The marker, the manifest or the folder.
        path: PathBuf,
        /// The name.
        name: String,
    },
    /// Another process uses the folder.
    #[error("{} is in use by another run of pith{}", path.display(), process.map_or(String::new(), |id| format!(" (process {id})")))]
    InUse {
        /// The folder.
        path: PathBuf,
        /// The number of that process, if it is known.
        process: Option<u32>,
    },
    /// An input lies in the folder that would be written to.
    #[error("{}: an input lies in the output folder", path.display())]
    InputInOutput {
        /// The input.
        path: PathBuf,
    },
    /// A setting is out of its range.
    #[error("{what}")]
    Setting {
        /// Which one, and its range.
        what: String,
    },
    /// The caller asked to stop; what is finished stays, and the next run goes on from there.
    #[error("stopped before the end")]
    Stopped,
}

impl Error {
    /// Wraps what the system said about a file or folder, for use in `map_err`.
    pub(crate) fn at(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Error {
        let path = path.into();
        move |source| Error::Io { path, action: "read or write", source }
    }

    /// The same with a word for what was being done, such as `open`.
    pub(crate) fn io(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> Error + use<> {
        let path = path.to_owned();
        move |source| Error::Io { path, action, source }
    }

    /// Whether the same call may succeed later, and nothing was lost: the disk is full, or too many files are open. What
    /// could not be synced may be lost, so that never passes.
    pub fn may_pass(&self) -> bool {
        match self {
            Error::Io { action: "sync", .. } => false,
            Error::Io { source, .. } => self.is_disk_full() || source.raw_os_error().is_some_and(is_short_of_files),
            _ => false,
        }
    }

    /// Whether the disk, or the quota, has no room left.
    pub fn is_disk_full(&self) -> bool {
        use io::ErrorKind::{QuotaExceeded, StorageFull, WriteZero};
        let full = |error: &io::Error| matches!(error.kind(), StorageFull | QuotaExceeded | WriteZero);
        match self {
            Error::Io { source, .. } => full(source),
            Error::Parquet { source, .. } => std::error::Error::source(source)
                .and_then(|source| source.downcast_ref::<io::Error>())
                .is_some_and(full),
            _ => false,
        }
    }
}

/// `ENFILE` and `EMFILE`, which have the same numbers on all Unix systems.
fn is_short_of_files(code: i32) -> bool {
    matches!(code, 23 | 24)
}

/// A result with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;
