//! What a response means: the outcome of its URL, a retry, or a page to store.

use std::time::Duration;

use super::{BodyReader, Processed, Processor, done, milliseconds, status_of};
use crate::canonical::{canonicalize, resolve as resolve_reference};
use crate::error::Error;
use crate::fetch::FetchResponse;
use crate::frontier::{FetchRecord, Frontier, Kind, Lease, Link, Settled};
use crate::order::FetchedPage;
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
        let status = status_of(&response);
        if lease.link.kind == Kind::Probe {
            let body = match &response {
                Ok(FetchResponse::Page(page)) => Some(&page.body[..]),
                _ => None,
            };
            self.soft404.borrow_mut().record_probe(&lease.link.host(), lease.link.url.path(), body);
            return Ok(Processed::Settle(lease, done(Outcome::Probed, status, elapsed)));
        }
        let outcome = match response {
            Ok(FetchResponse::Page(page)) => {
                return match reader {
                    BodyReader::Sitemap(body) => self.handle_sitemap(lease, page, body, elapsed).await,
                    BodyReader::Links(scanner) => self.store_and_read(lease, page, scanner, elapsed).await,
                };
            }
            Ok(FetchResponse::Redirect(_, target)) => self.offer_redirect(&mut lease, &target)?,
            Ok(FetchResponse::NotModified(page)) => {
                lease.validators = Validators::renewed(lease.validators.take(), &page);
                let record = FetchRecord {
                    outcome: Outcome::NotModified,
                    status,
                    bytes: 0,
                    milliseconds: milliseconds(elapsed),
                    digest: 0,
                };
                return Ok(Processed::Store(lease, page, record));
            }
            Ok(FetchResponse::Unwanted) => Outcome::UnwantedType,
            Ok(FetchResponse::NotNow(_)) => return Ok(Processed::Settle(lease, Settled::Retry)),
            Ok(FetchResponse::Status(429 | 500.., _)) => {
                return Ok(self.retry_or(lease, Outcome::ServerError, status, elapsed));
            }
            Ok(FetchResponse::Status(400..500, _)) if lease.link.kind == Kind::Sitemap => Outcome::NoSitemap,
            Ok(FetchResponse::Status(404 | 410, _)) => Outcome::NotFound,
            Ok(FetchResponse::Status(400..500, _)) => Outcome::Refused,
            Ok(FetchResponse::Status(..)) => Outcome::NoContent,
            Err(outcome @ (Outcome::BlockedAddress | Outcome::TlsError | Outcome::BadEncoding)) => outcome,
            Err(outcome) => return Ok(self.retry_or(lease, outcome, status, elapsed)),
        };
        Ok(Processed::Settle(lease, done(outcome, status, elapsed)))
    }

    /// Retries the URL, or gives it the outcome when its attempts are used up.
    fn retry_or(&self, lease: Lease, outcome: Outcome, status: u16, elapsed: Duration) -> Processed {
        let settled = match lease.attempts + 1 < self.plan.attempts {
            true => Settled::Retry,
            false => done(outcome, status, elapsed),
        };
        Processed::Settle(lease, settled)
    }

    fn offer_redirect(&self, lease: &mut Lease, target: &str) -> Result<Outcome, Error> {
        let Some(url) = resolve_reference(&lease.link.url, target).and_then(canonicalize) else {
            return Ok(Outcome::NoContent);
        };
        lease.redirect = Some(url.clone());
        let from = &lease.link;
        if from.hops >= MAX_HOPS {
            return Ok(Outcome::TooManyRedirects);
        }
        if url.host() != from.url.host() {
            self.mirrors.borrow_mut().record_pointer(&from.url, &url);
        }
        let is_seed = from.depth == 0 && from.kind == Kind::Page;
        if is_seed {
            self.mirrors.borrow_mut().keep(&url);
        }
        if !self.scope.borrow().contains(&url) {
            if !is_seed {
                return Ok(Outcome::OutOfScope);
            }
            // The target of a redirected seed is what the user meant, so it extends the scope.
            self.scope.borrow_mut().add_seed(&url);
            self.frontier.extend_scope(&url)?;
        }
        let found_on = lease.id.offset;
        let link = Link { hops: from.hops + 1, kind: from.kind, found_on, ..Link::page(url, from.depth) };
        self.frontier.offer(Some(FetchedPage { link: from, n_links: 1, body: b"" }), &[link])?;
        Ok(Outcome::Redirected)
    }
}
