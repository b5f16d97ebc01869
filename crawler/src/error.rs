//! Why a crawl stopped early.

use std::io;
use std::path::PathBuf;

/// An error that ends the crawl. A page that could not be fetched is no error but an outcome.
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
    /// A file of the frontier is corrupt.
    #[error("{} at byte {offset}: {what}", path.display())]
    Damaged {
        /// Which file.
        path: PathBuf,
        /// Where.
        offset: u64,
        /// What was found.
        what: &'static str,
    },
    /// Pages could not be stored.
    #[error("the pages could not be stored")]
    Sink(#[source] io::Error),
    /// No HTTP client could be made from the settings.
    #[error("the HTTP client cannot start")]
    Client(#[source] reqwest::Error),
    /// A lease was not the caller's any more.
    #[error("the lease has ended")]
    Fenced,
    /// The frontier could not be reached.
    #[error("the frontier cannot be reached: {0}")]
    Unavailable(String),
    /// A setting is invalid.
    #[error("{0}")]
    Setting(String),
}
