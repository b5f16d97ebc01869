//! Where pages go: the caller's business.

use std::io;

use crate::page::Page;

/// Keeps pages. It lives on a thread of its own, so it may take its time to compress and to write.
pub trait Sink: Send {
    /// Takes a page.
    ///
    /// # Errors
    /// When it cannot be kept; the crawl then stops.
    fn put(&mut self, page: Page) -> io::Result<()>;

    /// Makes every page taken so far durable, and says how far the sink has come. The frontier keeps that mark with
    /// the URLs that it settles: after a crash the sink can drop what lies behind the mark, for those pages will be
    /// fetched again.
    ///
    /// # Errors
    /// When they cannot be made durable; the crawl then stops, and their URLs stay unsettled.
    fn commit(&mut self) -> io::Result<Vec<u8>>;

    /// Closes what is open; nothing comes after it.
    ///
    /// # Errors
    /// When that cannot be done.
    fn finish(&mut self) -> io::Result<()>;
}
