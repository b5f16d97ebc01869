//! Adopting stored pages: the sink holds them, and the frontier has not settled their URLs, or does not know them.

use std::num::NonZeroU64;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use url::Url;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::super::files::io_error;
use super::super::hosts::HostState;
use super::super::records::Records;
use super::super::{Kind, Lease, Link};
use super::{ActiveLease, Inner, LeaseKey, is_set};
use crate::error::Error;

/// The lease of a URL whose page is stored.
pub(crate) struct StoredLease {
    pub(crate) lease: Lease,
    /// Whether the frontier did not know the URL.
    pub(crate) is_new: bool,
    /// Whether an earlier copy of the page is settled, so that this one is a refresh.
    pub(crate) is_refresh: bool,
}

/// The offsets of URL records by the numbers of the URLs, in a file that lives as long as the adoption.
pub(super) struct UrlOffsets {
    path: PathBuf,
    offsets: Records<NonZeroU64, 8>,
}

impl UrlOffsets {
    fn create(path: PathBuf) -> Result<UrlOffsets, Error> {
        let mut offsets = Records::open(&path)?;
        offsets.truncate(0)?;
        Ok(UrlOffsets { path, offsets })
    }

    pub(super) fn set(&mut self, url: u32, offset: u64) -> Result<(), Error> {
        match NonZeroU64::new(offset) {
            Some(offset) => self.offsets.set(url, offset),
            None => Ok(()),
        }
    }
}

impl Inner {
    pub(super) fn lease_stored(&mut self, url: &Url, fetched_at: SystemTime) -> Result<StoredLease, Error> {
        let fingerprint = xxh3_64_with_seed(url.as_str().as_bytes(), self.journal.key());
        let is_new = self.seen.get(fingerprint)?.is_none();
        if is_new {
            self.policy.no_source_page();
            self.enqueue(fingerprint, &Link::page(url.clone(), 0))?;
        }
        let number = self.seen.get(fingerprint)?.ok_or_else(|| self.no_record())?;
        let is_refresh = is_set(&self.done, number);
        let offset = self.url_offset(number)?;
        let (_, first_priority, link) = self.journal.link_at(offset)?;
        let host = self.host_number(&link)?;
        let priority = match &mut self.scores {
            Some(scores) => scores.get(number)?.map_or(first_priority, |kept| kept.priority),
            None => first_priority,
        };
        if !is_refresh && !self.leased_urls.contains(&number) {
            self.take_from_queue(host, link.kind);
        }
        self.rest_adopted_host(host);
        let id = LeaseKey { host, url: number, offset };
        let at = fetched_at.duration_since(UNIX_EPOCH).map_or(1, |time| (time.as_millis() as u64).max(1));
        let fence = self.next_fence();
        let held = ActiveLease {
            fence,
            has_rested: false,
            priority,
            attempts: 0,
            kind: Kind::Page,
            is_refresh,
            fetched_at: Some(at),
        };
        self.leased.insert(id, held);
        self.leased_urls.insert(number);
        self.drop_stale(host)?;
        self.update_host_priority(host);
        let lease =
            Lease { link, attempts: 0, validators: None, patience: None, trace: Box::default(), id: id.leased(fence) };
        Ok(StoredLease { lease, is_new, is_refresh })
    }

    /// How a known URL was found.
    pub(super) fn known_link(&mut self, url: &Url) -> Result<Option<Link>, Error> {
        let fingerprint = xxh3_64_with_seed(url.as_str().as_bytes(), self.journal.key());
        let Some(number) = self.seen.get(fingerprint)? else { return Ok(None) };
        let offset = self.url_offset(number)?;
        Ok(Some(self.journal.link_at(offset)?.2))
    }

    pub(super) fn finish_adoption(&mut self) -> Result<(), Error> {
        match self.url_offsets.take() {
            Some(UrlOffsets { path, .. }) => std::fs::remove_file(&path).map_err(io_error(&path, "remove")),
            None => Ok(()),
        }
    }

    /// Counts a waiting URL as handed out. Its queue entry stays and is skipped later.
    fn take_from_queue(&mut self, number: u32, kind: Kind) {
        self.may_have_stale_entries = true;
        let host = self.hosts.get_mut(number);
        if host.pending > 0 {
            host.pending -= 1;
            self.pending -= u64::from(host.state != HostState::Exhausted);
        }
        match kind {
            Kind::Page => self.n_handed_out += 1,
            Kind::Sitemap | Kind::Probe => host.n_auxiliary = host.n_auxiliary.saturating_sub(1),
        }
        host.fetched += 1;
        host.pages += 1;
    }

    /// The host was asked for the page a moment ago, perhaps: it rests.
    fn rest_adopted_host(&mut self, number: u32) {
        match self.hosts.get(number).state {
            HostState::Ready(_) | HostState::Idle => self.start_rest(number, self.first_rest),
            HostState::Resting | HostState::Busy | HostState::Exhausted => {}
        }
    }

    /// The offset of a URL's record. Only scores and visits hold it; without them the journal is read once for all URLs.
    pub(super) fn url_offset(&mut self, number: u32) -> Result<u64, Error> {
        if let Some(claim) = self.claims.get(number)?
            && self.claimed_link(number, claim.offset)?.is_some()
        {
            return Ok(claim.offset);
        }
        if let Some(scores) = &mut self.scores
            && let Some(kept) = scores.get(number)?
        {
            return Ok(kept.offset);
        }
        if self.url_offsets.is_none() {
            self.write()?;
            let mut offsets = UrlOffsets::create(self.folder.join("url-offsets"))?;
            self.journal.for_each_url(|url, offset| offsets.set(url, offset))?;
            self.url_offsets = Some(offsets);
        }
        let found = self.url_offsets.as_ref().map(|known| known.offsets.get(number)).transpose()?.flatten();
        found.map(NonZeroU64::get).ok_or_else(|| self.no_record())
    }

    fn no_record(&self) -> Error {
        let what = "the record of a known URL is missing";
        Error::Damaged { path: self.folder.join("journal"), offset: 0, what }
    }
}
