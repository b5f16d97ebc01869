//! What the crawler gives away: one fetched page.

use std::net::IpAddr;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use url::Url;

/// Why a body is not whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// It is longer than the crawl takes.
    Length,
    /// Its time was up.
    Time,
}

/// A page as it came from the server.
#[derive(Clone, Debug)]
pub struct Page {
    /// What was asked for.
    pub url: Url,
    /// The status, such as 200.
    pub status: u16,
    /// Status line and header lines as received, each ended by `\r\n`, without the empty line.
    pub head: Vec<u8>,
    /// The media type that the body has, by its header or by its first bytes.
    pub media_type: String,
    /// The body with every content encoding undone.
    pub body: Bytes,
    /// Where the body was cut, if it was.
    pub cut: Option<Cut>,
    /// The address that answered; not known behind a proxy.
    pub address: Option<IpAddr>,
    /// When it was asked for.
    pub fetched_at: SystemTime,
    /// From the request to the end of the answer.
    pub elapsed: Duration,
    /// The server says that the page is what it was at this time, when it was last kept; then there is no body.
    pub unchanged_since: Option<SystemTime>,
}

impl Page {
    /// A page of which nothing is known but its URL.
    pub(crate) fn empty(url: Url) -> Page {
        Page {
            url,
            status: 200,
            head: Vec::new(),
            media_type: String::new(),
            body: Bytes::new(),
            cut: None,
            address: None,
            fetched_at: SystemTime::UNIX_EPOCH,
            elapsed: Duration::ZERO,
            unchanged_since: None,
        }
    }
}
