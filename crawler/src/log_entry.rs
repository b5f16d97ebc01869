//! What became of a URL, as the sink gets it for its log.

use std::time::SystemTime;

use url::Url;

use crate::frontier::{FetchRecord, Lease};
use crate::outcome::Outcome;

/// What became of a URL: one for each time that it gets its outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogEntry {
    /// The URL.
    pub url: Url,
    /// When it was requested or, without a request, when it was settled.
    pub time: SystemTime,
    /// How it ended.
    pub outcome: Outcome,
    /// The status of the response, if there was one.
    pub status: Option<u16>,
    /// Bytes of the stored body, decoded.
    pub bytes: u32,
    /// From the request to the end of the response; zero without a request.
    pub milliseconds: u32,
    /// How many clicks from a seed.
    pub depth: u32,
    /// The page where it was found; `None` for a seed or an entry of a sitemap.
    pub found_on: Option<Url>,
    /// Where it redirects to.
    pub redirect: Option<Url>,
    /// The content digest (XXH3, 64 bits) of a page that was stored as new.
    pub digest: Option<u64>,
}

impl LogEntry {
    /// The entry of a lease that has ended.
    pub(crate) fn of(lease: Lease, record: &FetchRecord) -> LogEntry {
        let trace = *lease.trace;
        LogEntry {
            time: trace.requested_at.unwrap_or_else(SystemTime::now),
            outcome: record.outcome,
            status: trace.status,
            bytes: record.bytes,
            milliseconds: record.milliseconds,
            depth: lease.link.depth,
            found_on: trace.found_on,
            redirect: trace.redirect,
            digest: (record.digest != 0).then_some(record.digest),
            url: lease.link.url,
        }
    }
}
