//! Joins crawler and corpus: what became of each URL of a crawl becomes a line of its log.

use std::path::Path;

use pith_corpus::log::{LogLine, LogWriter, format_time};
use pith_crawler::LogEntry;

/// Bytes of lines that wait to be written, at most.
const MAX_WAITING_BYTES: usize = 1 << 20;

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
    pub fn put(&mut self, entry: &LogEntry) {
        self.writer.put(&LogLine {
            url: entry.url.as_str().into(),
            time: format_time(entry.time).into(),
            outcome: entry.outcome.name().into(),
            status: entry.status,
            bytes: entry.bytes.into(),
            milliseconds: entry.milliseconds.into(),
            depth: entry.depth,
            found_on: entry.found_on.as_ref().map(|url| url.as_str().into()),
            redirect: entry.redirect.as_ref().map(|url| url.as_str().into()),
            worker: Some(self.worker.as_str().into()),
            digest: entry.digest.map(|digest| format!("xxh3:{digest:016x}").into()),
        });
    }

    /// Whether so much waits that it is time to write it.
    pub fn is_full(&self) -> bool {
        self.writer.n_waiting_bytes() >= MAX_WAITING_BYTES
    }

    /// Hands the lines to the system.
    pub fn flush(&mut self) -> Result<(), pith_corpus::Error> {
        self.writer.flush()
    }
}
