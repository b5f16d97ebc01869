//! The interface to the storage of pages, which the caller implements.

use std::io;

use crate::log_entry::LogEntry;
use crate::page::Page;

/// Stores pages. It runs on a thread of its own, so it may block while it compresses and writes.
///
/// After an error that may pass the crawl pauses and repeats the call; after any other it stops. Errors that may pass
/// have the kind [`StorageFull`](io::ErrorKind::StorageFull), [`QuotaExceeded`](io::ErrorKind::QuotaExceeded) or
/// [`ResourceBusy`](io::ErrorKind::ResourceBusy), or the system's code for too many open files. A sink that returns one
/// must be as if the call had not been made.
pub trait Sink: Send {
    /// Stores a page; it need not be durable before [`Sink::commit`].
    ///
    /// # Errors
    /// When it cannot be stored.
    fn put(&mut self, page: &Page) -> io::Result<()>;

    /// Notes what became of a URL, once it is settled. The line may wait for [`Sink::flush_log`] or the next
    /// [`Sink::commit`].
    ///
    /// # Errors
    /// When it cannot be noted.
    fn log(&mut self, _entry: &LogEntry) -> io::Result<()> {
        Ok(())
    }

    /// Writes what was noted; called when there is nothing else to write.
    ///
    /// # Errors
    /// When it cannot be written.
    fn flush_log(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Makes every page so far durable; gives the sink position, in a format of the sink's own. The frontier journals
    /// that position with the URLs that it settles: after a crash the sink can drop everything after it, because those
    /// pages will be fetched again.
    ///
    /// # Errors
    /// When they cannot be made durable; their URLs stay unsettled.
    fn commit(&mut self) -> io::Result<Vec<u8>>;

    /// Closes the sink; no other call follows, unless this one is repeated.
    ///
    /// # Errors
    /// When that cannot be done.
    fn finish(&mut self) -> io::Result<()>;
}
