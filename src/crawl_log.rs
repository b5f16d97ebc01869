//! Joins crawler and corpus: what became of each URL of a crawl becomes a line of its log.

use std::path::Path;

use pith_corpus::log::{LogLine, LogWriter, format_time};
use pith_crawler::SettledUrl;

/// The log of a crawl.
pub struct CrawlLog {
    writer: LogWriter,
    /// This process, by machine and number.
    worker: String,
}

impl CrawlLog {
    /// Opens the log in a folder.
    pub fn open(folder: &Path, max_bytes: u64) -> Result<CrawlLog, pith_corpus::Error> {
        let machine = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let machine = if machine.trim().is_empty() { "local" } else { machine.trim() };
        let worker = format!("{machine}-{}", std::process::id());
        Ok(CrawlLog { writer: LogWriter::open(folder, max_bytes)?, worker })
    }

    /// Adds a line, which is written by the next [`CrawlLog::flush`].
    pub fn put(&mut self, url: &SettledUrl<'_>) {
        self.writer.put(&LogLine {
            url: url.url.as_str().into(),
            time: format_time(url.time).into(),
            outcome: url.outcome.name().into(),
            status: url.status,
            bytes: url.bytes.into(),
            milliseconds: url.milliseconds.into(),
            depth: url.depth,
            found_on: url.found_on.map(|url| url.as_str().into()),
            redirect: url.redirect.map(|url| url.as_str().into()),
            worker: Some(self.worker.as_str().into()),
            digest: url.digest.map(|digest| format!("xxh3:{digest:016x}").into()),
        });
    }

    /// Hands the lines to the system.
    pub fn flush(&mut self) -> Result<(), pith_corpus::Error> {
        self.writer.flush()
    }
}
