//! Fetches one URL within the limits of the plan on bytes and time, without following redirects.
//!
//! The target of a redirect goes through the frontier, so that it is checked against scope and robots.txt, paced and
//! fetched once like every other URL.

mod clients;
mod failure;
mod head;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use bytes::Bytes;
use pith_notation::{Body, Fed, Headers};
use reqwest::Response;
use reqwest::header::{CONTENT_ENCODING, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH, LOCATION};
use url::Url;

use self::clients::Clients;
use self::failure::{Failure, no_address, outcome_of};
use self::head::{headers, retry_after, status_line, utf8_or_latin1};
use crate::error::Error;
use crate::media_type::{is_text, sniff};
use crate::memory::{Budget, NoMemory, Share};
use crate::outcome::Outcome;
use crate::page::{Page, Truncation};
use crate::plan::Plan;
use crate::request_headers::RequestHeaders;
use crate::resolve::Resolver;
use crate::signature::SigningKey;
use crate::trouble::has_network;
use crate::validators::Validators;

pub(crate) use self::failure::NotNow;
pub(crate) use self::head::{charset, declared_type};

/// The time before the minimum rate of a body is enforced.
const RATE_GRACE: Duration = Duration::from_secs(5);
/// The largest initial capacity for a body, whatever its Content-Length.
const MAX_EXPECTED_BYTES: usize = 1 << 20;
/// Smaller bodies are copied: they would keep a read buffer alive that is many times their size.
const MIN_WHOLE_BYTES: usize = 1 << 15;

/// Bytes that are scanned for links or entries at once.
const SLICE_BYTES: usize = 32 << 10;

/// The part of the memory that is for bodies: one in so many. A body takes up to twice its size while it grows, and
/// connections and the sink have buffers of their own: with a half, 200 pages of 10 MB passed a budget of 256 MB by 6 %.
const BODY_SHARE: usize = 3;

/// The response to a request.
pub(crate) enum FetchResponse {
    /// Status 200 with a wanted body.
    Page(Box<Page>),
    /// A redirect: its status and its `Location`.
    Redirect(u16, String),
    /// Status 304: a page without a body that has the time of the stored copy.
    NotModified(Box<Page>),
    /// A body of an unwanted media type; it was not read.
    Unwanted,
    /// Any other status, with the `Retry-After`.
    Status(u16, Option<Duration>),
    /// None, through no fault of the host: the URL is to be fetched again later.
    NotNow(NotNow),
}

/// Which bodies are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Pages, by the media types and limits of the plan.
    Pages,
    /// Any body, up to this many bytes.
    Anything(usize),
    /// Any body, up to this many bytes, taken out of its gzip file if it is one.
    Sitemap(usize),
}

/// What whoever reads a body needs of it after a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// All of it: the body is held.
    Body,
    /// The next pieces only: the body is dropped, and the reader holds so many bytes instead.
    Pieces(usize),
    /// Nothing more: the rest is not read.
    Nothing,
}

/// The HTTP client of one crawl.
pub(crate) struct Fetcher {
    clients: Clients,
    budget: Budget,
    had_network: bool,
    resolver: Resolver,
    has_proxy: bool,
    max_bytes: usize,
    min_rate: u64,
    any_type: bool,
    headers: RequestHeaders,
    signing_key: Option<Arc<SigningKey>>,
}

impl Fetcher {
    pub(crate) fn new(plan: &Plan, resolver: Resolver) -> Result<Fetcher, Error> {
        Ok(Fetcher {
            clients: Clients::new(plan, &resolver)?,
            budget: Budget::new(plan.memory / BODY_SHARE, plan.slots),
            had_network: has_network(),
            resolver,
            has_proxy: plan.network.proxy.is_some(),
            max_bytes: plan.response_limits.max_bytes,
            min_rate: plan.response_limits.min_rate,
            any_type: plan.response_limits.any_type,
            headers: plan.network.headers.clone(),
            signing_key: plan.identity.signing_key.clone(),
        })
    }

    /// Fetches a URL. `on_bytes` gets the decoded body as it arrives, in small pieces, with media type and headers.
    pub(crate) async fn fetch(
        &self,
        url: &Url,
        wanted: Wanted,
        validators: Option<&Validators>,
        on_bytes: impl FnMut(&str, &Headers, &[u8]) -> Need,
    ) -> Result<FetchResponse, Outcome> {
        match self.try_fetch(url, wanted, validators, on_bytes).await {
            Ok(response) => Ok(response),
            Err(Failure::NotNow(why)) => Ok(FetchResponse::NotNow(why)),
            Err(Failure::Outcome(outcome)) => Err(outcome),
        }
    }

    async fn try_fetch(
        &self,
        url: &Url,
        wanted: Wanted,
        validators: Option<&Validators>,
        mut on_bytes: impl FnMut(&str, &Headers, &[u8]) -> Need,
    ) -> Result<FetchResponse, Failure> {
        let (fetched_at, started) = (now_to_the_millisecond(), Instant::now());
        let response = self.request(url, validators).await?;
        let status = response.status().as_u16();
        if status == 304
            && let Some(validators) = validators
        {
            return Ok(FetchResponse::NotModified(Box::new(Page {
                status,
                status_line: status_line(&response),
                headers: headers(&response),
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
                let location = response.headers().get(LOCATION).map(|value| utf8_or_latin1(value.as_bytes()));
                return Ok(match location {
                    Some(location) => FetchResponse::Redirect(status, location),
                    None => FetchResponse::Status(status, None),
                });
            }
            _ => return Ok(FetchResponse::Status(status, retry_after(response.headers()))),
        }
        let (status_line, headers) = (status_line(&response), headers(&response));
        let declared = declared_type(&headers).map(|declared| declared.essence().to_owned());
        let max_bytes = match wanted {
            Wanted::Pages if !self.any_type && declared.as_deref().is_some_and(|name| !is_text(name)) => {
                return Ok(FetchResponse::Unwanted);
            }
            Wanted::Pages => self.max_bytes,
            Wanted::Anything(max_bytes) | Wanted::Sitemap(max_bytes) => max_bytes,
        };
        let address = self.address(&response);
        let mut media_type = declared.unwrap_or_default();
        let sniffs = wanted == Wanted::Pages && matches!(media_type.as_str(), "" | "application/octet-stream");
        let (mut is_first, mut refused) = (true, false);
        let (body, truncation) = self
            .read(response, wanted, max_bytes, started, |piece| {
                if std::mem::take(&mut is_first) && sniffs {
                    media_type = sniff(piece).to_owned();
                    refused = !self.any_type && !is_text(&media_type);
                }
                if refused { Need::Nothing } else { on_bytes(&media_type, &headers, piece) }
            })
            .await?;
        if refused {
            return Ok(FetchResponse::Unwanted);
        }
        let elapsed = started.elapsed();
        Ok(FetchResponse::Page(Box::new(Page {
            url: url.clone(),
            status,
            status_line,
            headers,
            media_type,
            body,
            truncation,
            address,
            fetched_at,
            elapsed,
            unchanged_since: None,
            preferences: None,
        })))
    }

    /// The IP address of the server; `None` behind a proxy.
    fn address(&self, response: &Response) -> Option<IpAddr> {
        if self.has_proxy { None } else { response.remote_addr().map(|address| address.ip()) }
    }

    async fn request(&self, url: &Url, validators: Option<&Validators>) -> Result<Response, Failure> {
        // Names are checked on connecting; literal addresses only here, also those that a proxy would be asked for.
        if !self.has_proxy || is_literal(url) {
            let host = url.host_str().ok_or(Outcome::NoAddress)?;
            self.resolver.lookup(host).await.map_err(no_address)?;
        }
        let mut request = self.clients.client_for(url).get(url.clone());
        if let Some(Validators { etag, last_modified, .. }) = validators {
            let both = [(IF_NONE_MATCH, etag), (IF_MODIFIED_SINCE, last_modified)];
            for (name, value) in both {
                if let Some(value) = value.as_deref().and_then(|value| HeaderValue::from_str(value).ok()) {
                    request = request.header(name, value);
                }
            }
        }
        request = self.headers.add_to(request, url);
        if let Some(key) = &self.signing_key {
            request = key.headers(url).into_iter().fold(request, |request, (name, value)| request.header(name, value));
        }
        request.send().await.map_err(|error| self.failure_of(&error))
    }

    fn failure_of(&self, error: &reqwest::Error) -> Failure {
        Failure::of(error, self.had_network)
    }

    /// Reads a body; `on_bytes` gets it piece by piece.
    async fn read(
        &self,
        mut response: Response,
        wanted: Wanted,
        max_bytes: usize,
        started: Instant,
        mut on_bytes: impl FnMut(&[u8]) -> Need,
    ) -> Result<(Bytes, Option<Truncation>), Failure> {
        let mut encodings = response.headers().get_all(CONTENT_ENCODING).iter().filter_map(|value| value.to_str().ok());
        let encodings = match (encodings.next(), encodings.next()) {
            (None, _) => String::new(),
            (Some(only), None) => only.to_owned(),
            (Some(first), Some(second)) => format!("{first}, {second}, {}", encodings.collect::<Vec<_>>().join(", ")),
        };
        let is_sitemap = matches!(wanted, Wanted::Sitemap(_));
        let length = response.content_length();
        let mut next = response.chunk().await.map_err(|error| self.failure_of(&error))?;
        // Many pages arrive in one piece, which is used without a copy.
        let is_whole = |piece: &mut Bytes| {
            encodings.is_empty()
                && !is_sitemap
                && length == Some(piece.len() as u64)
                && (MIN_WHOLE_BYTES..=max_bytes).contains(&piece.len())
        };
        if let Some(whole) = next.take_if(is_whole) {
            read_in_slices(&whole, &mut on_bytes).await;
            finish_response(response).await?;
            return Ok((whole, None));
        }
        let expected = length.map_or(0, |length| (length as usize).min(MAX_EXPECTED_BYTES));
        let mut body = Body::new(&encodings, max_bytes, expected).ok_or(Outcome::BadEncoding)?;
        if is_sitemap {
            body = body.or_gzip_file();
        }
        let mut truncation = None;
        let mut wire_bytes = 0;
        let mut share = self.budget.share();
        while let Some(piece) = next {
            wire_bytes += piece.len() as u64;
            body.feed(piece);
            let fed = decode_piece(&mut body, &mut share, &mut on_bytes).await?;
            if fed == Fed::Full {
                truncation = Some(Truncation::Length);
            }
            if fed != Fed::More {
                break;
            }
            let elapsed = started.elapsed();
            if elapsed > RATE_GRACE && wire_bytes < self.min_rate.saturating_mul(elapsed.as_secs()) {
                return Err(Outcome::Timeout.into());
            }
            next = response.chunk().await.map_err(|error| self.failure_of(&error))?;
        }
        drop(response);
        return_connection_to_pool().await;
        Ok((share.keep_with(body.finish()), truncation))
    }
}

/// Decodes the last piece of a body in short steps. Between them others may go on: everything but the sink shares one
/// thread, and a kilobyte on the wire can be megabytes of body.
async fn decode_piece(
    body: &mut Body,
    share: &mut Share,
    on_bytes: &mut impl FnMut(&[u8]) -> Need,
) -> Result<Fed, Failure> {
    loop {
        let before = body.bytes().len();
        let fed = body.step().map_err(|_| Outcome::BadEncoding)?;
        let need = read_in_slices(&body.bytes()[before..], on_bytes).await;
        let held = match need {
            // The links of a page take about as much as the page.
            Need::Body => body.bytes().len() * 2,
            Need::Pieces(held) => {
                body.drop_bytes();
                held
            }
            Need::Nothing => return Ok(Fed::Ended),
        };
        share.grow_to(held).await.map_err(|NoMemory| Failure::NotNow(NotNow::Memory))?;
        if fed != Fed::Busy {
            return Ok(fed);
        }
        tokio::task::yield_now().await;
    }
}

/// Gives bytes to their reader in slices; others may go on between two of them.
async fn read_in_slices(bytes: &[u8], on_bytes: &mut impl FnMut(&[u8]) -> Need) -> Need {
    let mut need = Need::Body;
    for (index, slice) in bytes.chunks(SLICE_BYTES).enumerate() {
        if index > 0 {
            tokio::task::yield_now().await;
        }
        need = on_bytes(slice);
        if need == Need::Nothing {
            break;
        }
    }
    need
}

/// Reads the end of a response whose body is complete.
async fn finish_response(mut response: Response) -> Result<(), Outcome> {
    response.chunk().await.map_err(|error| outcome_of(&error))?;
    drop(response);
    return_connection_to_pool().await;
    Ok(())
}

/// Lets the connection return to the pool before its host gets the next request, which would otherwise open another
/// connection.
async fn return_connection_to_pool() {
    tokio::task::yield_now().await;
}

/// The current time in whole milliseconds: a WARC `revisit` record must repeat the exact date of the record that it
/// refers to, and the frontier stores milliseconds.
fn now_to_the_millisecond() -> SystemTime {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    SystemTime::UNIX_EPOCH + Duration::from_millis(since.as_millis() as u64)
}

/// Whether the host of a URL is an address, or the name that always means this machine.
fn is_literal(url: &Url) -> bool {
    match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        _ => true,
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
            let first = fetcher.fetch(&url, Wanted::Pages, None, |_, _, _| Need::Body).await;
            let Ok(FetchResponse::Page(page)) = first else { panic!("{url} is a page") };
            let Some(validators) = Validators::of(&page) else {
                n_plain += 1;
                continue;
            };
            n_validated += 1;
            match fetcher.fetch(&url, Wanted::Pages, Some(&validators), |_, _, _| Need::Body).await {
                Ok(FetchResponse::NotModified(again)) => {
                    assert_eq!((again.status, again.body.len()), (304, 0));
                    assert_eq!(again.unchanged_since, Some(page.fetched_at));
                }
                _ => panic!("{url} has not changed"),
            }
            let stale = Validators { etag: Some("\"other\"".into()), last_modified: None, ..validators };
            let changed = fetcher.fetch(&url, Wanted::Pages, Some(&stale), |_, _, _| Need::Body).await;
            assert!(matches!(changed, Ok(FetchResponse::Page(_))), "{url} has another tag");
        }
        assert!(n_validated > 10 && n_plain > 0, "{n_validated} with validators, {n_plain} without");
    }
}
