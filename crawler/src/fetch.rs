//! One URL, one answer: never more bytes, time or patience than the plan gives, and never a redirect followed.
//!
//! A redirect is an answer like any other. Its target goes through the frontier, so that it is checked against scope
//! and robots.txt, paced and fetched once like every other URL.

use std::error::Error as _;
use std::net::IpAddr;
use std::time::{Duration, Instant, SystemTime};

use bytes::Bytes;
use reqwest::header::{
    ACCEPT, ACCEPT_ENCODING, ACCEPT_LANGUAGE, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue,
    IF_MODIFIED_SINCE, IF_NONE_MATCH, LOCATION, RETRY_AFTER,
};
use reqwest::{Client, Response, Version};
use url::Url;

use crate::decode::{Body, Fed};
use crate::error::Error;
use crate::frontier::host_of;
use crate::media_type::{MediaType, is_text, sniff};
use crate::outcome::Outcome;
use crate::page::{Cut, Page};
use crate::plan::Plan;
use crate::resolve::{NoAddress, Resolver};
use crate::validators::Validators;

/// The first seconds of a body, in which its rate is not judged.
const RATE_GRACE: Duration = Duration::from_secs(5);
/// Room made for a body that does not say how long it is, or lies.
const MAX_EXPECTED_BYTES: usize = 1 << 20;
/// Smaller bodies are copied: they would hold on to a read buffer that is many times their size.
const MIN_WHOLE_BYTES: usize = 1 << 15;

/// What came back.
pub(crate) enum Answer {
    /// A body that was asked for.
    Page(Box<Page>),
    /// Look elsewhere.
    Redirect(String),
    /// Nothing new: a page without a body that says since when.
    NotModified(Box<Page>),
    /// A body that nobody wants; it was not read.
    Unwanted,
    /// Any other status, and how long the server wants to be left alone.
    Status(u16, Option<Duration>),
}

/// Which bodies are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Pages, as the plan says.
    Pages,
    /// Whatever comes, up to this many bytes.
    Anything(usize),
}

/// The HTTP client of one crawl.
pub(crate) struct Fetcher {
    client: Client,
    resolver: Resolver,
    has_proxy: bool,
    max_bytes: usize,
    min_rate: u64,
    any_type: bool,
    credentials: std::collections::HashMap<String, (String, String)>,
}

impl Fetcher {
    pub(crate) fn new(plan: &Plan, resolver: Resolver) -> Result<Fetcher, Error> {
        let mut headers = HeaderMap::new();
        let accept = "text/html,application/xhtml+xml,application/xml;q=0.9,text/plain;q=0.8,*/*;q=0.1";
        headers.insert(ACCEPT, HeaderValue::from_static(accept));
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip, br, zstd, deflate"));
        headers.insert(ACCEPT_LANGUAGE, HeaderValue::from_static("*"));
        let mut client = Client::builder()
            .user_agent(&plan.identity.user_agent)
            .default_headers(headers)
            .redirect(reqwest::redirect::Policy::none())
            .referer(false)
            .dns_resolver(std::sync::Arc::new(resolver.clone()))
            .connect_timeout(plan.answers.connect_time)
            .read_timeout(plan.answers.silence)
            .timeout(plan.answers.max_time)
            .pool_max_idle_per_host(1)
            .pool_idle_timeout(Duration::from_secs(60))
            .tcp_nodelay(true)
            .http1_ignore_invalid_headers_in_responses(true)
            .http1_allow_spaces_after_header_name_in_responses(true)
            .http1_allow_obsolete_multiline_headers_in_responses(true);
        client = match &plan.network.proxy {
            Some(proxy) => client.proxy(reqwest::Proxy::all(proxy).map_err(Error::Client)?),
            None => client.no_proxy(),
        };
        Ok(Fetcher {
            client: client.build().map_err(Error::Client)?,
            resolver,
            has_proxy: plan.network.proxy.is_some(),
            max_bytes: plan.answers.max_bytes,
            min_rate: plan.answers.min_rate,
            any_type: plan.answers.any_type,
            credentials: plan.network.credentials.clone(),
        })
    }

    /// Asks for a URL. `on_bytes` sees a page's decoded body as it arrives, with its media type and its head.
    pub(crate) async fn fetch(
        &self,
        url: &Url,
        wanted: Wanted,
        validators: Option<&Validators>,
        mut on_bytes: impl FnMut(&str, &[u8], &[u8]),
    ) -> Result<Answer, Outcome> {
        let (fetched_at, started) = (this_millisecond(), Instant::now());
        let response = self.request(url, validators).await?;
        let status = response.status().as_u16();
        if status == 304
            && let Some(validators) = validators
        {
            return Ok(Answer::NotModified(Box::new(Page {
                status,
                head: spell_head(&response),
                address: self.address(&response),
                fetched_at,
                elapsed: started.elapsed(),
                unchanged_since: Some(validators.kept_at),
                ..Page::empty(url.clone())
            })));
        }
        match status {
            200 => {}
            301 | 302 | 303 | 307 | 308 => {
                let location = response.headers().get(LOCATION).map(|value| latin1(value.as_bytes()));
                return Ok(location.map_or(Answer::Status(status, None), Answer::Redirect));
            }
            _ => return Ok(Answer::Status(status, retry_after(response.headers()))),
        }
        let declared = declared_type(response.headers()).map(|declared| declared.essence().to_owned());
        let max_bytes = match wanted {
            Wanted::Pages if !self.any_type && declared.as_deref().is_some_and(|name| !is_text(name)) => {
                return Ok(Answer::Unwanted);
            }
            Wanted::Pages => self.max_bytes,
            Wanted::Anything(max_bytes) => max_bytes,
        };
        let head = spell_head(&response);
        let address = self.address(&response);
        let mut media_type = declared.unwrap_or_default();
        let sniffs = wanted == Wanted::Pages && matches!(media_type.as_str(), "" | "application/octet-stream");
        let mut refused = false;
        let (body, cut) = self
            .read(response, max_bytes, started, |all, piece| {
                if all.len() == piece.len() && sniffs {
                    media_type = sniff(all).to_owned();
                    refused = !self.any_type && !is_text(&media_type);
                }
                if !refused {
                    on_bytes(&media_type, &head, piece);
                }
                !refused
            })
            .await?;
        if refused {
            return Ok(Answer::Unwanted);
        }
        let elapsed = started.elapsed();
        Ok(Answer::Page(Box::new(Page {
            url: url.clone(),
            status,
            head,
            media_type,
            body,
            cut,
            address,
            fetched_at,
            elapsed,
            unchanged_since: None,
        })))
    }

    /// The address that answered, where that is not a proxy's.
    fn address(&self, response: &Response) -> Option<IpAddr> {
        if self.has_proxy { None } else { response.remote_addr().map(|address| address.ip()) }
    }

    async fn request(&self, url: &Url, validators: Option<&Validators>) -> Result<Response, Outcome> {
        if !self.has_proxy {
            // Names are checked again on connecting; a literal address is checked only here.
            let host = url.host_str().ok_or(Outcome::NoAddress)?;
            self.resolver.locate(host).await.map_err(no_address)?;
        }
        let mut request = self.client.get(url.clone());
        if let Some(Validators { etag, last_modified, .. }) = validators {
            let both = [(IF_NONE_MATCH, etag), (IF_MODIFIED_SINCE, last_modified)];
            for (name, value) in both {
                if let Some(value) = value.as_deref().and_then(|value| HeaderValue::from_str(value).ok()) {
                    request = request.header(name, value);
                }
            }
        }
        if !self.credentials.is_empty()
            && let Some((user, password)) = self.credentials.get(&host_of(url))
        {
            request = request.basic_auth(user, Some(password));
        }
        request.send().await.map_err(|error| outcome_of(&error))
    }

    /// Reads a body; `on_bytes` gets all of it so far and its newest piece, and says whether to go on.
    async fn read(
        &self,
        mut response: Response,
        max_bytes: usize,
        started: Instant,
        mut on_bytes: impl FnMut(&[u8], &[u8]) -> bool,
    ) -> Result<(Bytes, Option<Cut>), Outcome> {
        let mut encodings = response.headers().get_all(CONTENT_ENCODING).iter().filter_map(|value| value.to_str().ok());
        let encodings = match (encodings.next(), encodings.next()) {
            (None, _) => String::new(),
            (Some(only), None) => only.to_owned(),
            (Some(first), Some(second)) => format!("{first}, {second}, {}", encodings.collect::<Vec<_>>().join(", ")),
        };
        let length = response.content_length();
        let mut next = response.chunk().await.map_err(|error| outcome_of(&error))?;
        // Many pages arrive at once: what came from the connection is kept as it is.
        let is_whole = |piece: &mut Bytes| {
            encodings.is_empty()
                && length == Some(piece.len() as u64)
                && (MIN_WHOLE_BYTES..=max_bytes).contains(&piece.len())
        };
        if let Some(whole) = next.take_if(is_whole) {
            on_bytes(&whole, &whole);
            end(response).await?;
            return Ok((whole, None));
        }
        let expected = length.map_or(0, |length| (length as usize).min(MAX_EXPECTED_BYTES));
        let mut body = Body::new(&encodings, max_bytes, expected).ok_or(Outcome::BadEncoding)?;
        let mut cut = None;
        let mut wire_bytes = 0;
        while let Some(piece) = next {
            let before = body.bytes().len();
            let fed = body.feed(&piece).map_err(|_| Outcome::BadEncoding)?;
            let all = body.bytes();
            if all.len() > before && !on_bytes(all, &all[before..]) {
                break;
            }
            if fed == Fed::Full {
                cut = Some(Cut::Length);
                break;
            }
            wire_bytes += piece.len() as u64;
            let elapsed = started.elapsed();
            if elapsed > RATE_GRACE && wire_bytes < self.min_rate.saturating_mul(elapsed.as_secs()) {
                return Err(Outcome::Timeout);
            }
            next = response.chunk().await.map_err(|error| outcome_of(&error))?;
        }
        drop(response);
        let_connection_rest().await;
        let before = body.bytes().len();
        let bytes = body.finish();
        if bytes.len() > before {
            on_bytes(&bytes, &bytes[before..]);
        }
        Ok((Bytes::from(bytes), cut))
    }
}

/// Reads the end of an answer whose body is here.
async fn end(mut response: Response) -> Result<(), Outcome> {
    response.chunk().await.map_err(|error| outcome_of(&error))?;
    drop(response);
    let_connection_rest().await;
    Ok(())
}

/// The connection is told that its answer has ended before its host may be asked again: otherwise the next request would
/// not find it and open another.
async fn let_connection_rest() {
    tokio::task::yield_now().await;
}

/// The time, without what is finer than a millisecond: a `revisit` record must name the date of the record that it
/// refers to exactly, and the frontier keeps milliseconds.
fn this_millisecond() -> SystemTime {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    SystemTime::UNIX_EPOCH + Duration::from_millis(since.as_millis() as u64)
}

fn no_address(why: NoAddress) -> Outcome {
    match why {
        NoAddress::Unknown => Outcome::NoAddress,
        NoAddress::Blocked => Outcome::BlockedAddress,
    }
}

/// What a failure of the client means for the URL.
fn outcome_of(error: &reqwest::Error) -> Outcome {
    let mut source = error.source();
    while let Some(cause) = source {
        if let Some(why) = cause.downcast_ref::<NoAddress>() {
            return no_address(*why);
        }
        // The TLS library hides its error inside an I/O error, whose own source is skipped by `source`.
        let inner = cause.downcast_ref::<std::io::Error>().and_then(|error| error.get_ref());
        if let Some(inner) = inner {
            if let Some(why) = inner.downcast_ref::<NoAddress>() {
                return no_address(*why);
            }
            if format!("{inner:?}").contains("Certificate") || inner.to_string().contains("certificate") {
                return Outcome::TlsError;
            }
        }
        source = cause.source();
    }
    if error.is_timeout() {
        Outcome::Timeout
    } else if error.is_connect() {
        Outcome::NoConnection
    } else {
        Outcome::BrokenAnswer
    }
}

fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let value = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = value.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let at = jiff::fmt::rfc2822::parse(value).ok()?.timestamp();
    Duration::try_from(at.duration_since(jiff::Timestamp::now())).ok()
}

/// The media type in the headers: the last one that is one.
fn declared_type(headers: &HeaderMap) -> Option<MediaType> {
    headers.get_all(CONTENT_TYPE).iter().rev().find_map(|value| MediaType::parse(&characters(value.as_bytes())))
}

/// The charset that a head's Content-Type names.
pub(crate) fn charset(head: &[u8]) -> Option<String> {
    const NAME: &[u8] = b"content-type:";
    let mut lines = head.split(|&byte| byte == b'\n');
    let is_it = |line: &&[u8]| line.get(..NAME.len()).is_some_and(|name| name.eq_ignore_ascii_case(NAME));
    let line = lines.rfind(is_it)?;
    MediaType::parse(&characters(&line[NAME.len()..]))?.parameter("charset").map(str::to_owned)
}

/// Every byte as the character with its number.
fn characters(bytes: &[u8]) -> String {
    bytes.iter().map(|&byte| char::from(byte)).collect()
}

fn spell_head(response: &Response) -> Vec<u8> {
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

fn latin1(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => characters(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_page_that_has_not_changed_comes_without_a_body() {
        let web = pith_web::Web::start(pith_web::WebConfig::default()).unwrap();
        let mut plan = Plan::new(Vec::new(), crate::scope::Scope::new(crate::scope::Reach::Any, &[], vec![], vec![]));
        plan.network.overrides = vec![web.resolve().parse().unwrap()];
        let resolver = Resolver::new(plan.network.overrides.clone(), false);
        let fetcher = Fetcher::new(&plan, resolver).unwrap();
        let (mut n_validated, mut n_plain) = (0, 0);
        for url in web.truth().reachable(web.seeds()).iter().take(40) {
            let url: Url = url.parse().unwrap();
            let first = fetcher.fetch(&url, Wanted::Pages, None, |_, _, _| {}).await;
            let Ok(Answer::Page(page)) = first else { panic!("{url} is a page") };
            let Some(validators) = Validators::of(&page) else {
                n_plain += 1;
                continue;
            };
            n_validated += 1;
            match fetcher.fetch(&url, Wanted::Pages, Some(&validators), |_, _, _| {}).await {
                Ok(Answer::NotModified(again)) => {
                    assert_eq!((again.status, again.body.len()), (304, 0));
                    assert_eq!(again.unchanged_since, Some(page.fetched_at));
                }
                _ => panic!("{url} has not changed"),
            }
            let stale = Validators { etag: Some("\"other\"".into()), last_modified: None, ..validators };
            let changed = fetcher.fetch(&url, Wanted::Pages, Some(&stale), |_, _, _| {}).await;
            assert!(matches!(changed, Ok(Answer::Page(_))), "{url} has another tag");
        }
        assert!(n_validated > 10 && n_plain > 0, "{n_validated} with validators, {n_plain} without");
    }

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
