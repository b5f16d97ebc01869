//! What became of a URL, as the sink gets it for its log.

use std::time::{Duration, SystemTime};

use url::Url;

use crate::frontier::{FetchRecord, Lease};
use crate::outcome::Outcome;

/// What became of a URL: one for each time that it gets its outcome.
#[derive(Clone, Copy, Debug)]
pub struct SettledUrl<'l> {
    /// The URL.
    pub url: &'l Url,
    /// When it was requested or, without a request, when that was decided.
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
    /// The page or sitemap where it was found; `None` for a seed.
    pub found_on: Option<&'l Url>,
    /// Where it redirects to.
    pub redirect: Option<&'l Url>,
    /// The content digest (XXH3, 64 bits) of a page that was stored as new.
    pub digest: Option<u64>,
}

impl<'l> SettledUrl<'l> {
    pub(crate) fn of(lease: &'l Lease, record: &FetchRecord, time: SystemTime) -> SettledUrl<'l> {
        SettledUrl {
            url: &lease.link.url,
            time,
            outcome: record.outcome,
            status: (record.status != 0).then_some(record.status),
            bytes: record.bytes,
            milliseconds: record.milliseconds,
            depth: lease.link.depth,
            found_on: lease.found_on.as_ref(),
            redirect: lease.redirect.as_ref(),
            digest: (record.digest != 0).then_some(record.digest),
        }
    }
}

/// When a request was sent whose response has just ended.
pub(crate) fn requested_at(record: &FetchRecord) -> SystemTime {
    let elapsed = Duration::from_millis(u64::from(record.milliseconds));
    SystemTime::now().checked_sub(elapsed).unwrap_or(SystemTime::UNIX_EPOCH)
}
