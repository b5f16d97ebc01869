//! One fetched page, as the sink gets it.

use std::net::IpAddr;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use pith_notation::Headers;
use url::Url;

/// Why a body is truncated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Truncation {
    /// It is longer than the limit.
    Length,
    /// It took longer than the limit.
    Time,
}

/// A page as it came from the server.
#[derive(Clone, Debug)]
pub struct Page {
    /// The requested URL.
    pub url: Url,
    /// The status, such as 200.
    pub status: u16,
    /// The status line, such as `HTTP/1.1 200 OK`.
    pub status_line: String,
    /// The headers as received.
    pub headers: Headers,
    /// The media type that the body has, by its header or by its first bytes.
    pub media_type: String,
    /// The body with every content encoding undone.
    pub body: Bytes,
    /// Why the body was truncated, if it was.
    pub truncation: Option<Truncation>,
    /// The IP address of the server; unknown behind a proxy.
    pub address: Option<IpAddr>,
    /// When the request was sent.
    pub fetched_at: SystemTime,
    /// From the request to the end of the response.
    pub elapsed: Duration,
    /// Set when the server answered 304: the page has not changed since it was stored at this time, and there is no
    /// body.
    pub unchanged_since: Option<SystemTime>,
    /// What was known before of its owner's wishes, as a line of JSON (`pith_preferences::KnownBefore`).
    pub preferences: Option<String>,
}

impl Page {
    /// A page with nothing but its URL.
    pub(crate) fn empty(url: Url) -> Page {
        Page {
            url,
            status: 200,
            status_line: String::new(),
            headers: Headers::default(),
            media_type: String::new(),
            body: Bytes::new(),
            truncation: None,
            address: None,
            fetched_at: SystemTime::UNIX_EPOCH,
            elapsed: Duration::ZERO,
            unchanged_since: None,
            preferences: None,
        }
    }
}
