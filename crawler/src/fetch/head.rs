//! The head of a response: what is read from its headers, and how it is stored.

use std::time::Duration;

use pith_notation::Headers;
use reqwest::header::{HeaderMap, RETRY_AFTER};
use reqwest::{Response, Version};

use crate::media_type::MediaType;

pub(super) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let value = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = value.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let at = jiff::fmt::rfc2822::parse(value).ok()?.timestamp();
    Duration::try_from(at.duration_since(jiff::Timestamp::now())).ok()
}

/// The media type in the headers: the last valid one.
pub(crate) fn declared_type(headers: &Headers) -> Option<MediaType> {
    headers.all("content-type").rev().find_map(|value| MediaType::parse(&latin1_to_string(value)))
}

/// The charset that the headers name.
pub(crate) fn charset(headers: &Headers) -> Option<String> {
    declared_type(headers)?.parameter("charset").map(str::to_owned)
}

/// Decodes bytes as Latin-1.
fn latin1_to_string(bytes: &[u8]) -> String {
    bytes.iter().map(|&byte| char::from(byte)).collect()
}

/// The status line as it is stored.
pub(super) fn status_line(response: &Response) -> String {
    let version = match response.version() {
        Version::HTTP_09 => "HTTP/0.9",
        Version::HTTP_10 => "HTTP/1.0",
        Version::HTTP_2 => "HTTP/2",
        Version::HTTP_3 => "HTTP/3",
        _ => "HTTP/1.1",
    };
    let status = response.status();
    format!("{version} {} {}", status.as_u16(), status.canonical_reason().unwrap_or_default())
}

/// The headers as they are stored.
pub(super) fn headers(response: &Response) -> Headers {
    response.headers().iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect()
}

pub(super) fn utf8_or_latin1(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => latin1_to_string(bytes),
    }
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderValue;

    use super::*;

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let mut headers = HeaderMap::new();
        headers.insert(RETRY_AFTER, HeaderValue::from_static("120"));
        assert_eq!(retry_after(&headers), Some(Duration::from_secs(120)));
        headers.insert(RETRY_AFTER, HeaderValue::from_static("Wed, 21 Oct 2065 07:28:00 GMT"));
        assert!(retry_after(&headers).is_some_and(|wait| wait > Duration::from_secs(1 << 20)));
        headers.insert(RETRY_AFTER, HeaderValue::from_static("soon"));
        assert_eq!(retry_after(&headers), None);
    }

    #[test]
    fn the_charset_stands_in_the_content_type() {
        let charset_of = |lines: &[u8]| charset(&Headers::parse(lines));
        assert_eq!(charset_of(b"Content-Type: text/html; charset=\"big5\"\r\n").as_deref(), Some("big5"));
        assert_eq!(charset_of(b"content-type: text/html\r\n"), None);
    }
}
