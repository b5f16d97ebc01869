//! Joins crawler and corpus: pages of a crawl become records of page shards.

use std::io;
use std::path::Path;

use pith_corpus::warc::{
    self, PageKind, Response, Revisit, ShardPosition, ShardWriter, Truncated, WriterOptions, pages_after,
};
use pith_crawler::{LogEntry, Page, Sink, StoredBody, StoredPage, Truncation};

use crate::crawl_log::CrawlLog;

/// Page shards, and a log beside them, as a sink.
pub struct Shards {
    writer: Option<ShardWriter>,
    log: Option<CrawlLog>,
}

impl Shards {
    /// Opens a folder of shards whose pages the frontier knows up to a position.
    pub fn open(
        folder: &Path,
        options: WriterOptions,
        position: &[u8],
        log: Option<CrawlLog>,
    ) -> Result<Shards, pith_corpus::Error> {
        let writer = ShardWriter::resume(folder, options, ShardPosition::from_bytes(position))?;
        Ok(Shards { writer: Some(writer), log })
    }

    /// Writes the lines of the log. One that can no longer be written is given up: it must not cost the crawl.
    fn write_log(&mut self) -> io::Result<()> {
        match self.log.as_mut().map_or(Ok(()), CrawlLog::flush) {
            Err(error) if !error.may_pass() => {
                sayln!("the log ends here, the crawl goes on: {error}");
                self.log = None;
                Ok(())
            }
            flushed => flushed.map_err(sink_error),
        }
    }

    fn writer(&mut self) -> io::Result<&mut ShardWriter> {
        self.writer.as_mut().ok_or_else(|| io::Error::other("the shards are closed"))
    }
}

impl Sink for Shards {
    fn put(&mut self, page: &Page) -> io::Result<()> {
        let headers: Vec<(&str, &[u8])> = page.headers.iter().collect();
        let response = Response {
            url: page.url.as_str(),
            fetched_at: page.fetched_at.try_into().map_err(io::Error::other)?,
            ip: page.address,
            status_line: &page.status_line,
            headers: &headers,
            body: &page.body,
            truncated: page.truncation.map(|cut| match cut {
                Truncation::Length => Truncated::Length,
                Truncation::Time => Truncated::Time,
            }),
            revisit: match page.unchanged_since {
                Some(since) => Revisit::NotModified { since: since.try_into().map_err(io::Error::other)? },
                None => Revisit::Detect,
            },
            preferences: page.preferences.as_deref(),
        };
        self.writer()?.put(&response).map_err(sink_error)
    }

    fn log(&mut self, entry: &LogEntry) -> io::Result<()> {
        if self.log.as_ref().is_some_and(CrawlLog::is_full) {
            self.write_log()?;
        }
        if let Some(log) = &mut self.log {
            log.put(entry);
        }
        Ok(())
    }

    fn flush_log(&mut self) -> io::Result<()> {
        self.write_log()
    }

    fn commit(&mut self) -> io::Result<Vec<u8>> {
        self.write_log()?;
        let writer = self.writer()?;
        writer.commit().map_err(sink_error)?;
        Ok(writer.position().to_bytes())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.write_log()?;
        let finished = self.writer.as_mut().map_or(Ok(()), |writer| writer.finish().map_err(sink_error));
        if finished.is_ok() {
            self.writer = None;
        }
        finished
    }
}

/// An error of the shards; its kind tells the crawl whether to try again.
fn sink_error(error: pith_corpus::Error) -> io::Error {
    let kind = match error.may_pass() {
        true if error.is_disk_full() => io::ErrorKind::StorageFull,
        true => io::ErrorKind::ResourceBusy,
        false => io::ErrorKind::Other,
    };
    io::Error::new(kind, error)
}

/// The pages of a folder of shards behind a position.
pub fn stored_pages(
    folder: &Path,
    position: ShardPosition,
) -> Result<impl Iterator<Item = io::Result<StoredPage>>, pith_corpus::Error> {
    let pages = pages_after(folder, position)?;
    Ok(pages.filter_map(|found| match found {
        Ok((page, behind)) => stored_page(page, behind).map(Ok),
        Err(error) => Some(Err(io::Error::other(error))),
    }))
}

/// A page of a shard as the crawler put it there; `None` for records that the crawler does not write.
fn stored_page(page: warc::Page, behind: ShardPosition) -> Option<StoredPage> {
    let body = match (page.kind, page.status) {
        (PageKind::Response, _) => StoredBody::Here,
        (PageKind::Revisit, Some(304)) => StoredBody::NotModified,
        (PageKind::Revisit, _) if page.body.is_empty() => StoredBody::Repeat,
        (PageKind::Revisit, _) => StoredBody::Here,
        _ => return None,
    };
    let status = page.status.unwrap_or(200);
    let page = Page {
        url: page.url.parse().ok()?,
        status,
        status_line: format!("HTTP/1.1 {status}"),
        headers: page.headers.iter().map(|(name, value)| (name.as_str(), value.as_slice())).collect(),
        media_type: String::new(),
        body: page.body.into(),
        truncation: None,
        address: None,
        fetched_at: page.fetched_at.map_or(std::time::UNIX_EPOCH, Into::into),
        elapsed: std::time::Duration::ZERO,
        unchanged_since: None,
        preferences: page.preferences,
    };
    Some(StoredPage { page, body, sink_position: behind.to_bytes() })
}
