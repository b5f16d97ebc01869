//! The interface to the storage of pages, which the caller implements.

use std::io;

use crate::page::Page;
use crate::settled_url::SettledUrl;

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

    /// Stores a response that is no page, of a crawl that keeps everything ([`Keep::All`](crate::Keep)): a redirect, an
    /// error, a robots.txt. It need not be durable before [`Sink::commit`].
    ///
    /// # Errors
    /// When it cannot be stored.
    fn keep(&mut self, _response: &Page) -> io::Result<()> {
        Ok(())
    }

    /// Notes what became of a URL. It is called once for each URL that is about to be settled, also for those without a
    /// page, before the [`Sink::commit`] that their settling waits for.
    ///
    /// # Errors
    /// When it cannot be noted.
    fn log(&mut self, _url: &SettledUrl<'_>) -> io::Result<()> {
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
