//! What owners say about the use of their pages: asked for, honoured, counted, and kept with the pages.
//!
//! robots.txt and `/.well-known/tdmrep.json` are known before a page is requested: what they reserve is not fetched.
//! Headers and HTML come with the page: what they reserve is not stored.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use pith_preferences::{
    Judgement, KnownBefore, MAX_TDMREP_BYTES, Purpose, Signal, Statement, TDMREP_PATH, TdmRep, Verdict, judge,
};
use url::{Position, Url};

use super::{Processed, Processor, health_of};
use crate::canonical::resolve as resolve_reference;
use crate::error::Error;
use crate::fetch::{FetchResponse, Need, Wanted};
use crate::frontier::{Frontier, HostRest, Lease, StoredRobots};
use crate::generations::Generations;
use crate::outcome::Outcome;
use crate::page::Page;
use crate::plan::{OwnerPreferences, Plan};
use crate::robots::Robots;
use crate::robots_cache::{ROBOTS_TTL, Rules, origin as origin_of};

/// The part of the memory that is for tdmrep.json files: one in so many.
const TDMREP_SHARE: usize = 32;
/// Redirects followed from one tdmrep.json, within its origin.
const MAX_HOPS: u8 = 5;
/// How long a file that could not be had counts as missing.
const MISSING_TTL: Duration = Duration::from_secs(3600);

/// What owners have said, as far as a crawl keeps it.
pub(super) struct Owners {
    tdmreps: RefCell<Generations<Entry>>,
    /// URLs found reserved, by signal.
    reserved: RefCell<BTreeMap<&'static str, u64>>,
}

/// The tdmrep.json of an origin.
enum Entry {
    Known(Arc<TdmRep>, Instant),
    /// It is to be looked for at this URL, so many redirects on.
    At(Url, u8),
}

/// Whether a URL may be requested.
pub(super) enum Permission {
    Granted,
    Reserved,
    /// The tdmrep.json of its origin must be requested first.
    Unknown(TdmRepUrl),
}

/// Where a tdmrep.json is looked for.
pub(super) struct TdmRepUrl {
    url: Url,
    n_hops: u8,
}

impl TdmRepUrl {
    /// The usual place at the origin of a URL.
    fn of(url: &Url) -> TdmRepUrl {
        let mut url = url.clone();
        url.set_path(TDMREP_PATH);
        url.set_query(None);
        TdmRepUrl { url, n_hops: 0 }
    }
}

impl Owners {
    pub(super) fn new(plan: &Plan) -> Owners {
        Owners { tdmreps: RefCell::new(Generations::new(plan.memory / TDMREP_SHARE)), reserved: RefCell::default() }
    }

    /// Counts a URL that is reserved for a purpose.
    fn is_reserved(&self, statements: &[Statement], purpose: Purpose) -> bool {
        let Judgement { verdict: Verdict::Reserved, by } = judge(statements, purpose) else { return false };
        *self.reserved.borrow_mut().entry(by.map_or("", Signal::name)).or_default() += 1;
        true
    }
}

impl<F: Frontier> Processor<'_, F> {
    /// The URLs that were found reserved, by the signal that said so.
    pub(crate) fn reserved(&self) -> BTreeMap<&'static str, u64> {
        self.owners.reserved.borrow().clone()
    }

    /// Whether a URL may be requested, by all that is known before.
    pub(super) async fn permission(&self, url: &Url) -> Result<Permission, Error> {
        let OwnerPreferences::Honour(purpose) = self.plan.politeness.preferences else {
            return Ok(Permission::Granted);
        };
        let robots = self.known_robots(url).await?;
        let path = &url[Position::BeforePath..Position::AfterQuery];
        let mut statements = robots.as_ref().map(|robots| robots.preferences().statements(path)).unwrap_or_default();
        if self.owners.is_reserved(&statements, purpose) {
            return Ok(Permission::Reserved);
        }
        match self.tdmrep(url, robots.as_deref()).await? {
            Ok(tdmrep) => {
                let said = tdmrep.statements(path);
                statements.extend_from_slice(said);
                let is_reserved = !said.is_empty() && self.owners.is_reserved(&statements, purpose);
                Ok(if is_reserved { Permission::Reserved } else { Permission::Granted })
            }
            Err(at) => Ok(Permission::Unknown(at)),
        }
    }

    /// What is known of a URL before it is requested.
    pub(super) async fn known_before(&self, url: &Url) -> Result<KnownBefore, Error> {
        let robots = self.known_robots(url).await?;
        let path = &url[Position::BeforePath..Position::AfterQuery];
        let mut statements = robots.as_ref().map(|robots| robots.preferences().statements(path)).unwrap_or_default();
        if self.plan.politeness.preferences != OwnerPreferences::Ignore
            && let Ok(tdmrep) = self.tdmrep(url, robots.as_deref()).await?
        {
            statements.extend_from_slice(tdmrep.statements(path));
        }
        let robots = robots.and_then(|robots| robots.digest().map(str::to_owned));
        Ok(KnownBefore { agent: self.plan.identity.product.clone(), robots, statements })
    }

    /// Whether a page may not be stored. What was known before is kept with it.
    pub(super) async fn is_page_reserved(&self, page: &mut Page, is_html: bool) -> Result<bool, Error> {
        let known = self.known_before(&page.url).await?;
        page.preferences = Some(known.to_json());
        let OwnerPreferences::Honour(purpose) = self.plan.politeness.preferences else { return Ok(false) };
        let html = is_html.then_some(&page.body[..]);
        let headers = page.headers.iter().map(|(name, value)| (name.as_bytes(), value));
        let statements = known.with_page(headers, html, &self.plan.identity.product);
        Ok(!statements.is_empty() && self.owners.is_reserved(&statements, purpose))
    }

    /// Requests the tdmrep.json of an origin instead of the leased URL, which is given back.
    pub(super) async fn process_tdmrep(
        &self,
        lease: Lease,
        host: &str,
        at: TdmRepUrl,
        crawl_delay: Option<Duration>,
    ) -> Result<Processed, Error> {
        let origin = lease.link.url.clone();
        let slot = match self.acquire_address(&origin).await {
            Ok(slot) => slot,
            Err(wait) => return self.give_back(lease, HostRest::NotRequested(wait)).await,
        };
        let started = Instant::now();
        let wanted = Wanted::Anything(MAX_TDMREP_BYTES);
        let request = self.fetcher.fetch(&at.url, wanted, None, |_, _, _| Need::Body);
        let response = self.unless_others_wait(lease.patience, request).await;
        let elapsed = started.elapsed();
        drop(slot);
        let Some(response) = response else { return self.abort(lease, elapsed).await };
        if self.is_postponed(&response) {
            return self.give_back(lease, HostRest::AfterResponse(self.plan.politeness.delay.after(elapsed))).await;
        }
        let rest = self.rest_after(host, elapsed, health_of(&response), crawl_delay);
        self.take_tdmrep(&origin, at, response).await?;
        self.give_back(lease, HostRest::AfterResponse(rest)).await
    }

    /// Keeps the answer to a request for a tdmrep.json. A server that does not give one does not speak this protocol.
    async fn take_tdmrep(
        &self,
        origin: &Url,
        at: TdmRepUrl,
        response: Result<FetchResponse, Outcome>,
    ) -> Result<(), Error> {
        let body = match response {
            Ok(FetchResponse::Page(page)) if page.truncation.is_none() => page.body.to_vec(),
            Ok(FetchResponse::Redirect(_, target)) => {
                let next = resolve_reference(&at.url, &target).filter(|next| next.origin() == origin.origin());
                if let Some(next) = next.filter(|_| at.n_hops < MAX_HOPS) {
                    let bytes = next.as_str().len();
                    let entry = Entry::At(next, at.n_hops + 1);
                    self.owners.tdmreps.borrow_mut().insert(origin_of(origin), bytes, entry);
                    return Ok(());
                }
                Vec::new()
            }
            Ok(FetchResponse::Status(429 | 500.., _) | FetchResponse::NotNow(_)) | Err(_) => {
                self.keep_tdmrep(origin, TdmRep::default(), MISSING_TTL);
                return Ok(());
            }
            Ok(_) => Vec::new(),
        };
        self.keep_tdmrep(origin, TdmRep::parse(&body), ROBOTS_TTL);
        let stored = StoredRobots { body, fetched_at: SystemTime::now() };
        self.frontier.store_robots(&stored_name(origin), &stored).await
    }

    /// The robots.txt of an origin, where it is known.
    async fn known_robots(&self, url: &Url) -> Result<Option<Arc<Robots>>, Error> {
        if !self.plan.politeness.robots {
            return Ok(None);
        }
        match self.rules(url).await? {
            Rules::Known(robots) => Ok(Some(robots)),
            Rules::Unknown | Rules::Unreachable => Ok(None),
        }
    }

    /// The tdmrep.json of an origin, from this run or from an earlier one; or where to look for it.
    async fn tdmrep(&self, url: &Url, robots: Option<&Robots>) -> Result<Result<Arc<TdmRep>, TdmRepUrl>, Error> {
        let at = match self.owners.tdmreps.borrow_mut().get(&origin_of(url)) {
            Some(Entry::Known(tdmrep, until)) if *until > Instant::now() => return Ok(Ok(Arc::clone(tdmrep))),
            Some(Entry::At(url, n_hops)) => TdmRepUrl { url: url.clone(), n_hops: *n_hops },
            _ => TdmRepUrl::of(url),
        };
        if robots.is_some_and(|robots| !robots.allows_canonical(at.url.as_str())) {
            return Ok(Ok(self.keep_tdmrep(url, TdmRep::default(), ROBOTS_TTL)));
        }
        if at.n_hops == 0
            && let Some(stored) = self.frontier.stored_robots(&stored_name(url)).await?
            && let Ok(age) = stored.fetched_at.elapsed()
            && let Some(left) = ROBOTS_TTL.checked_sub(age)
        {
            return Ok(Ok(self.keep_tdmrep(url, TdmRep::parse(&stored.body), left)));
        }
        Ok(Err(at))
    }

    fn keep_tdmrep(&self, url: &Url, tdmrep: TdmRep, time: Duration) -> Arc<TdmRep> {
        let (bytes, tdmrep) = (tdmrep.heap_bytes(), Arc::new(tdmrep));
        let entry = Entry::Known(Arc::clone(&tdmrep), Instant::now() + time);
        self.owners.tdmreps.borrow_mut().insert(origin_of(url), bytes, entry);
        tdmrep
    }
}

/// The name under which the tdmrep.json of an origin is kept beside its robots.txt.
fn stored_name(url: &Url) -> String {
    origin_of(url) + TDMREP_PATH
}
