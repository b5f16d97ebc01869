//! Why a crawl stopped early.

use std::io;
use std::path::PathBuf;

/// What the caller must know. A page that could not be had is not an error but an outcome.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file of the frontier could not be read or written.
    #[error("{}: cannot {action}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// On which file.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// A file of the frontier holds something that it should not.
    #[error("{} at byte {offset}: {what}", path.display())]
    Damaged {
        /// Which file.
        path: PathBuf,
        /// Where.
        offset: u64,
        /// What was found.
        what: &'static str,
    },
    /// Pages could not be kept.
    #[error("the pages could not be stored")]
    Sink(#[source] io::Error),
    /// No HTTP client could be made from the settings.
    #[error("the HTTP client cannot start")]
    Client(#[source] reqwest::Error),
    /// A setting makes no sense.
    #[error("{0}")]
    Setting(String),
}
