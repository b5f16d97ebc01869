//! What a response means: the outcome of its URL, a retry, or a page to store.

use std::time::{Duration, SystemTime};

use bytes::Bytes;

use super::{BodyReader, Processed, Processor, done, milliseconds, settle};
use crate::canonical::{canonicalize, resolve as resolve_reference};
use crate::error::Error;
use crate::fetch::FetchResponse;
use crate::frontier::{FetchRecord, Frontier, Kind, Lease, Link, Outlinks, Settled, Settlement};
use crate::outcome::Outcome;
use crate::validators::Validators;

/// Redirects, refreshes and canonical links followed from one link.
pub(super) const MAX_HOPS: u8 = 10;

impl<F: Frontier> Processor<'_, F> {
    pub(super) async fn handle_response(
        &self,
        mut lease: Lease,
        response: Result<FetchResponse, Outcome>,
        reader: BodyReader,
        elapsed: Duration,
    ) -> Result<Processed, Error> {
        lease.trace.status = status_of(&response);
        lease.trace.requested_at = SystemTime::now().checked_sub(elapsed);
        if lease.link.kind == Kind::Probe {
            let body = match &response {
                Ok(FetchResponse::Page(page)) => Some(&page.body[..]),
                _ => None,
            };
            self.soft404.borrow_mut().record_probe(&lease.link.host(), lease.link.url.path(), body);
            return Ok(settle(lease, done(Outcome::Probed, 0, elapsed)));
        }
        let outcome = match response {
            Ok(FetchResponse::Page(page)) => {
                return match reader {
                    BodyReader::Sitemap(body) => self.handle_sitemap(lease, page, body, elapsed).await,
                    BodyReader::Links(scanner) => self.store_and_read(lease, page, scanner, elapsed).await,
                };
            }
            Ok(FetchResponse::Redirect(_, target)) => return self.redirect(lease, &target, elapsed).await,
            Ok(FetchResponse::NotModified(mut page)) => {
                page.preferences = Some(self.known_before(&page.url).await?.to_json());
                lease.validators = Validators::renewed(lease.validators.take(), &page);
                let record = FetchRecord {
                    outcome: Outcome::NotModified,
                    bytes: 0,
                    milliseconds: milliseconds(elapsed),
                    digest: 0,
                };
                return Ok(Processed::Store(Settlement::new(lease, Settled::Done(record)), page));
            }
            Ok(FetchResponse::Unwanted) => Outcome::UnwantedType,
            Ok(FetchResponse::NotNow(_)) => return Ok(settle(lease, Settled::Retry)),
            Ok(FetchResponse::Status(429 | 500.., _)) => {
                return Ok(self.retry_or(lease, Outcome::ServerError, elapsed));
            }
            Ok(FetchResponse::Status(400..500, _)) if lease.link.kind == Kind::Sitemap => Outcome::NoSitemap,
            Ok(FetchResponse::Status(402, _)) => Outcome::PaymentRequired,
            Ok(FetchResponse::Status(404 | 410, _)) => Outcome::NotFound,
            Ok(FetchResponse::Status(400..500, _)) => Outcome::Refused,
            Ok(FetchResponse::Status(..)) => Outcome::NoContent,
            Err(outcome @ (Outcome::BlockedAddress | Outcome::TlsError | Outcome::BadEncoding)) => outcome,
            Err(outcome) => return Ok(self.retry_or(lease, outcome, elapsed)),
        };
        Ok(settle(lease, done(outcome, 0, elapsed)))
    }

    /// Retries the URL, or gives it the outcome when its attempts are used up.
    fn retry_or(&self, lease: Lease, outcome: Outcome, elapsed: Duration) -> Processed {
        let settled = match lease.attempts + 1 < self.plan.attempts {
            true => Settled::Retry,
            false => done(outcome, 0, elapsed),
        };
        settle(lease, settled)
    }

    /// A redirect is settled with its target, which goes through the frontier like any link.
    async fn redirect(&self, mut lease: Lease, target: &str, elapsed: Duration) -> Result<Processed, Error> {
        let url = resolve_reference(&lease.link.url, target).and_then(canonicalize);
        lease.trace.redirect = url.clone();
        let from = &lease.link;
        if from.hops >= MAX_HOPS {
            return Ok(settle(lease, done(Outcome::TooManyRedirects, 0, elapsed)));
        }
        let Some(url) = url else { return Ok(settle(lease, done(Outcome::NoContent, 0, elapsed))) };
        if url.host() != from.url.host() {
            self.mirrors.borrow_mut().record_pointer(&from.url, &url);
        }
        let is_seed = from.depth == 0 && from.kind == Kind::Page;
        if is_seed {
            self.mirrors.borrow_mut().keep(&url);
        }
        if !self.scope.borrow().contains(&url) {
            if !is_seed {
                return Ok(settle(lease, done(Outcome::OutOfScope, 0, elapsed)));
            }
            // The target of a redirected seed is what the user meant, so it extends the scope.
            self.scope.borrow_mut().add_seed(&url);
            self.frontier.extend_scope(&url).await?;
        }
        let link = Link { hops: from.hops + 1, kind: from.kind, ..Link::page(url, from.depth) };
        let outlinks = Some(Outlinks { links: vec![link], is_redirect: true, text: Bytes::new() });
        let settled = done(Outcome::Redirected, 0, elapsed);
        Ok(Processed::Settle(Settlement { lease, settled, outlinks }))
    }
}

/// The status of a response, if there was one.
fn status_of(response: &Result<FetchResponse, Outcome>) -> Option<u16> {
    match response {
        Ok(FetchResponse::Page(page) | FetchResponse::NotModified(page)) => Some(page.status),
        Ok(FetchResponse::Redirect(status, _) | FetchResponse::Status(status, _)) => Some(*status),
        Ok(FetchResponse::Unwanted) => Some(200),
        Ok(FetchResponse::NotNow(_)) | Err(_) => None,
    }
}
