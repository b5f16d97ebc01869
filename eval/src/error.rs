//! What can stop an evaluation: a file that cannot be read, an invalid row, a peer that fails.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Why an evaluation stopped. Every variant says where.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file or folder could not be opened or read.
    #[error("{}: cannot read", path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// A file could not be written.
    #[error("{}: cannot write", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// A line of a JSON-lines file is not the row it should be.
    #[error("{}:{line}: not a row of this kind", path.display())]
    Row {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// The data is readable but cannot be used.
    #[error("{}: {problem}", path.display())]
    Data {
        /// The file or folder.
        path: PathBuf,
        /// What is missing or contradictory.
        problem: String,
    },
    /// A peer's command could not be started.
    #[error("peer {name}: cannot start {command:?}")]
    PeerStart {
        /// The name given to the peer.
        name: String,
        /// The command as given.
        command: String,
        /// The error of the system.
        source: io::Error,
    },
    /// A peer ended before it had answered everything.
    #[error("peer {name}: ended after {answered} of {asked} answers ({status}){stderr}")]
    PeerEnded {
        /// The name given to the peer.
        name: String,
        /// How many questions it answered.
        answered: usize,
        /// How many it was asked.
        asked: usize,
        /// How its process ended.
        status: String,
        /// The last lines it wrote to stderr, or nothing.
        stderr: String,
    },
    /// A peer gave no answer for too long and was ended.
    #[error("peer {name}: no answer for {} s after {answered} answers; it was ended{stderr}", waited.as_secs())]
    PeerTimeout {
        /// The name given to the peer.
        name: String,
        /// How many questions it answered before.
        answered: usize,
        /// How long nothing came.
        waited: Duration,
        /// The last lines it wrote to stderr, or nothing.
        stderr: String,
    },
    /// A peer's answer cannot be understood or belongs to no question.
    #[error("peer {name}: answer {line}: {problem}")]
    PeerAnswer {
        /// The name given to the peer.
        name: String,
        /// The line on its stdout, from 1.
        line: usize,
        /// What is wrong with it.
        problem: String,
    },
}
