//! The head of a response: what is read from its headers, and how it is stored.

use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, HeaderMap, RETRY_AFTER};
use reqwest::{Response, Version};
use url::Url;

use super::clients::{ACCEPTED, ACCEPTED_ENCODINGS};
use crate::media_type::MediaType;
use crate::validators::Validators;

/// The request for a URL as HTTP/1.1 spells it, without cookies, passwords and the user's own headers.
pub(super) fn format_request(url: &Url, user_agent: &str, validators: Option<&Validators>) -> Vec<u8> {
    let path = &url[url::Position::BeforePath..url::Position::AfterQuery];
    let host = &url[url::Position::BeforeHost..url::Position::AfterPort];
    let mut head = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: {user_agent}\r\n").into_bytes();
    let mut add = |name: &str, value: &str| head.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
    add("Accept", ACCEPTED);
    add("Accept-Encoding", ACCEPTED_ENCODINGS);
    add("Accept-Language", "*");
    if let Some(Validators { etag, last_modified, .. }) = validators {
        etag.iter().for_each(|etag| add("If-None-Match", etag));
        last_modified.iter().for_each(|date| add("If-Modified-Since", date));
    }
    head
}

pub(super) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let value = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = value.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let at = jiff::fmt::rfc2822::parse(value).ok()?.timestamp();
    Duration::try_from(at.duration_since(jiff::Timestamp::now())).ok()
}

/// The media type in the headers: the last valid one.
pub(super) fn declared_type(headers: &HeaderMap) -> Option<MediaType> {
    headers.get_all(CONTENT_TYPE).iter().rev().find_map(|value| MediaType::parse(&latin1_to_string(value.as_bytes())))
}

/// The charset that a head's Content-Type names.
pub(crate) fn charset(head: &[u8]) -> Option<String> {
    const NAME: &[u8] = b"content-type:";
    let mut lines = head.split(|&byte| byte == b'\n');
    let is_it = |line: &&[u8]| line.get(..NAME.len()).is_some_and(|name| name.eq_ignore_ascii_case(NAME));
    let line = lines.rfind(is_it)?;
    MediaType::parse(&latin1_to_string(&line[NAME.len()..]))?.parameter("charset").map(str::to_owned)
}

/// Decodes bytes as Latin-1.
fn latin1_to_string(bytes: &[u8]) -> String {
    bytes.iter().map(|&byte| char::from(byte)).collect()
}

/// The head as it is stored.
pub(super) fn format_head(response: &Response) -> Vec<u8> {
    let version = match response.version() {
        Version::HTTP_09 => "HTTP/0.9",
        Version::HTTP_10 => "HTTP/1.0",
        Version::HTTP_2 => "HTTP/2",
        Version::HTTP_3 => "HTTP/3",
        _ => "HTTP/1.1",
    };
    let status = response.status();
    let mut head = Vec::with_capacity(512);
    head.extend_from_slice(version.as_bytes());
    head.extend_from_slice(format!(" {} {}\r\n", status.as_u16(), status.canonical_reason().unwrap_or("")).as_bytes());
    for (name, value) in response.headers() {
        head.extend_from_slice(name.as_str().as_bytes());
        head.extend_from_slice(b": ");
        head.extend_from_slice(value.as_bytes());
        head.extend_from_slice(b"\r\n");
    }
    head
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
        let head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=\"big5\"\r\n";
        assert_eq!(charset(head).as_deref(), Some("big5"));
        assert_eq!(charset(b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n"), None);
    }
}
