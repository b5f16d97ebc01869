//! What is claimed about URLs: kind, depth and hops, where a better claim may still come.
//!
//! Whoever names a URL first says what it is, how deep it lies and how many redirects led to it. That must not bind
//! those who name it later, so a URL has a record here for as long as a later claim could change how it is fetched. All
//! other URLs, which are nearly all of them, have none and cost one bit at most.

use std::path::Path;

use hashbrown::HashMap;

use super::records::{Record, Records};
use super::{Kind, Link};
use crate::error::Error;
use crate::outcome::Outcome;

const RECORD_BYTES: usize = 16;
/// With so many hops a URL may run out of them before it has led anywhere; with fewer there are enough left.
const MANY_HOPS: u8 = 4;
/// How often a URL that is done is put back because of a better claim.
const MAX_REVIVALS: u8 = 3;

/// The best claim about a URL so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Claim {
    /// The offset of its newest record in the journal.
    pub(super) offset: u64,
    pub(super) depth: u32,
    pub(super) hops: u8,
    pub(super) kind: Kind,
    /// Whether it ended by this claim.
    is_settled: bool,
    /// Whether it was fetched as a page and has a media type that no page has.
    is_unwanted: bool,
    n_revivals: u8,
}

impl Claim {
    /// A page about which nothing is known that a better claim could change.
    const NONE: Claim =
        Claim { offset: 0, depth: 0, hops: 0, kind: Kind::Page, is_settled: false, is_unwanted: false, n_revivals: 0 };

    pub(super) fn of(link: &Link, offset: u64) -> Claim {
        let Link { depth, hops, kind, .. } = *link;
        Claim { offset, depth, hops, kind, is_settled: false, is_unwanted: false, n_revivals: 0 }
    }

    /// The first claim about a URL, if a better one may come.
    pub(super) fn first(link: &Link, offset: u64, tracks_depth: bool) -> Option<Claim> {
        let is_weak = link.kind != Kind::Page || link.hops >= MANY_HOPS || (tracks_depth && link.depth > 0);
        is_weak.then(|| Claim::of(link, offset))
    }

    /// A better claim. `is_revival` when the URL was done.
    pub(super) fn better(before: Option<Claim>, link: &Link, offset: u64, is_revival: bool) -> Claim {
        let n_revivals = before.map_or(0, |claim| claim.n_revivals).saturating_add(u8::from(is_revival));
        Claim { n_revivals, ..Claim::of(link, offset) }
    }

    /// What is left of a claim when its URL has ended: only what a better claim would change.
    pub(super) fn after(claim: Option<Claim>, outcome: Outcome, tracks_depth: bool) -> Option<Claim> {
        let kept = match (claim, outcome) {
            (None, Outcome::UnwantedType) => Some(Claim { is_unwanted: true, ..Claim::NONE }),
            (None, _) => None,
            (Some(claim), Outcome::UnwantedType) => {
                Some(Claim { is_unwanted: true, ..claim }).filter(|claim| claim.kind == Kind::Page)
            }
            (Some(claim), Outcome::TooManyRedirects | Outcome::NoSitemap) => Some(claim),
            (Some(claim), outcome) if leads_on(outcome) && tracks_depth => {
                Some(Claim { hops: 0, kind: Kind::Page, ..claim }).filter(|claim| claim.depth > 0)
            }
            _ => None,
        };
        kept.map(|claim| Claim { is_settled: true, ..claim })
    }

    /// The link with the best of both claims, where it is better than this one.
    pub(super) fn improved_by(&self, link: &Link, tracks_depth: bool) -> Option<Link> {
        let is_better_kind = match (self.kind, link.kind) {
            (Kind::Probe, Kind::Page) => true,
            // What is asked for as a sitemap and is a page is stored as one, as deep as the entries of sitemaps.
            (Kind::Sitemap, Kind::Page) => self.is_settled || link.depth == 0,
            // As a page it may be refused, or lie too deep for the entries.
            (Kind::Page, Kind::Sitemap) => self.is_unwanted || (tracks_depth && self.depth > 0),
            (Kind::Page, Kind::Page) => false,
            _ => return None,
        };
        if is_better_kind {
            return Some(link.clone());
        }
        let depth = if tracks_depth { self.depth.min(link.depth) } else { self.depth };
        let hops = if self.hops >= MANY_HOPS { self.hops.min(link.hops) } else { self.hops };
        let is_better = self.kind == link.kind && (depth, hops) != (self.depth, self.hops);
        is_better.then(|| Link { depth, hops, ..link.clone() })
    }

    /// Whether the URL may be put back once more.
    pub(super) fn may_revive(&self) -> bool {
        self.n_revivals < MAX_REVIVALS
    }
}

impl Record<RECORD_BYTES> for Claim {
    fn to_bytes(self) -> [u8; RECORD_BYTES] {
        let mut bytes = [0; RECORD_BYTES];
        bytes[..8].copy_from_slice(&self.offset.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.depth.to_le_bytes());
        bytes[12] = self.hops;
        bytes[13] = 1 + self.kind.code();
        bytes[14] = u8::from(self.is_settled) | u8::from(self.is_unwanted) << 1;
        bytes[15] = self.n_revivals;
        bytes
    }

    fn from_bytes(bytes: &[u8; RECORD_BYTES]) -> Option<Claim> {
        Some(Claim {
            offset: u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes")),
            depth: u32::from_le_bytes(bytes[8..12].try_into().expect("four bytes")),
            hops: bytes[12],
            kind: Kind::from_code(bytes[13].checked_sub(1)?)?,
            is_settled: bytes[14] & 1 != 0,
            is_unwanted: bytes[14] & 2 != 0,
            n_revivals: bytes[15],
        })
    }
}

/// The claims about all URLs that have a record.
pub(super) struct Claims {
    /// Whether a smaller depth matters: where the depth of a crawl is limited.
    tracks_depth: bool,
    records: Records<Claim, RECORD_BYTES>,
    /// One bit per URL with a record.
    present: Vec<u64>,
    /// Changes that are not in the file: it must not be ahead of the journal.
    changed: HashMap<u32, Option<Claim>>,
    /// Whether the journal behind the last checkpoint is being replayed: the file may have its claims already.
    is_replay: bool,
}

impl Claims {
    /// Opens the file as it was with so many URLs; the journal behind that is applied by the caller, who calls
    /// [`Claims::write`] then.
    pub(super) fn open(path: &Path, n_urls: u32, tracks_depth: bool) -> Result<Claims, Error> {
        let records = Records::open(path)?;
        let mut present = Vec::new();
        records.for_each(|url, _: Claim| {
            if url < n_urls {
                super::local::set(&mut present, url);
            }
        })?;
        Ok(Claims { tracks_depth, records, present, changed: HashMap::new(), is_replay: true })
    }

    pub(super) fn tracks_depth(&self) -> bool {
        self.tracks_depth
    }

    /// Whether a URL has a record.
    pub(super) fn contains(&self, url: u32) -> bool {
        super::local::is_set(&self.present, url)
    }

    /// The best claim about a URL, if a better one may come.
    pub(super) fn get(&self, url: u32) -> Result<Option<Claim>, Error> {
        if !self.contains(url) {
            return Ok(None);
        }
        match self.changed.get(&url) {
            Some(changed) => Ok(*changed),
            None => self.records.get(url),
        }
    }

    fn set(&mut self, url: u32, claim: Option<Claim>) {
        match claim {
            Some(_) => super::local::set(&mut self.present, url),
            None => super::local::unset(&mut self.present, url),
        }
        self.changed.insert(url, claim);
    }

    /// Writes the changes to the file; to be called when the journal is written.
    pub(super) fn write(&mut self) -> Result<(), Error> {
        self.is_replay = false;
        for (url, claim) in self.changed.drain() {
            match claim {
                Some(claim) => self.records.set(url, claim)?,
                None => self.records.clear(url)?,
            }
        }
        Ok(())
    }

    /// Records the first claim about a URL, if a better one may come.
    pub(super) fn add(&mut self, url: u32, link: &Link, offset: u64) {
        let claim = Claim::first(link, offset, self.tracks_depth);
        // A number may have had a record that the journal has lost.
        if claim.is_some() || self.records.has_room_for(url) {
            self.set(url, claim);
        }
    }

    /// Records a better claim. `is_revival` when the URL was done.
    pub(super) fn improve(&mut self, url: u32, link: &Link, offset: u64, is_revival: bool) -> Result<(), Error> {
        let before = self.get(url)?;
        if self.is_replay && before.is_some_and(|claim| claim.offset >= offset) {
            return Ok(());
        }
        self.set(url, Some(Claim::better(before, link, offset, is_revival)));
        Ok(())
    }

    /// Records how a URL ended: only what a better claim would change keeps its record.
    pub(super) fn settle(&mut self, url: u32, outcome: Outcome) -> Result<(), Error> {
        let claim = self.get(url)?;
        let kept = Claim::after(claim, outcome, self.tracks_depth);
        if claim.is_some() || kept.is_some() {
            self.set(url, kept);
        }
        Ok(())
    }
}

/// Whether a URL with this outcome has led to others, whose depth is counted from its own. The links of a duplicate are
/// not followed, however near it is.
fn leads_on(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::Stored | Outcome::NotModified | Outcome::NoIndex)
        || matches!(outcome, Outcome::Redirected | Outcome::OutOfScope)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(kind: Kind, depth: u32, hops: u8) -> Link {
        Link { kind, hops, ..Link::page("http://a.test/".parse().unwrap(), depth) }
    }

    #[track_caller]
    fn check(known: Link, offered: Link, expected: Option<(Kind, u32, u8)>) {
        let better = Claim::of(&known, 9).improved_by(&offered, true);
        assert_eq!(better.map(|link| (link.kind, link.depth, link.hops)), expected);
    }

    #[test]
    fn the_best_of_two_claims_counts() {
        check(link(Kind::Page, 3, 9), link(Kind::Page, 2, 0), Some((Kind::Page, 2, 0)));
        check(link(Kind::Page, 3, 9), link(Kind::Page, 4, 1), Some((Kind::Page, 3, 1)));
        check(link(Kind::Page, 3, 0), link(Kind::Page, 2, 7), Some((Kind::Page, 2, 0)));
        check(link(Kind::Page, 3, 0), link(Kind::Page, 3, 0), None);
        check(link(Kind::Page, 3, 0), link(Kind::Sitemap, 0, 0), Some((Kind::Sitemap, 0, 0)));
        check(link(Kind::Page, 0, 0), link(Kind::Sitemap, 0, 0), None);
        check(link(Kind::Sitemap, 0, 0), link(Kind::Page, 5, 2), None);
        check(link(Kind::Sitemap, 0, 0), link(Kind::Page, 0, 0), Some((Kind::Page, 0, 0)));
        check(link(Kind::Probe, 0, 0), link(Kind::Page, 5, 2), Some((Kind::Page, 5, 2)));
        check(link(Kind::Sitemap, 0, 0), link(Kind::Sitemap, 0, 0), None);
    }

    #[test]
    fn claims_come_back_and_what_was_not_written_does_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("claims");
        let mut claims = Claims::open(&path, 0, true).unwrap();
        claims.add(0, &link(Kind::Page, 0, 0), 50);
        claims.add(1, &link(Kind::Page, 2, 0), 60);
        claims.add(2, &link(Kind::Sitemap, 0, 0), 70);
        claims.write().unwrap();
        claims.settle(2, Outcome::SitemapRead).unwrap();
        claims.improve(1, &link(Kind::Page, 1, 0), 80, true).unwrap();
        assert_eq!((claims.contains(0), claims.contains(1), claims.contains(2)), (false, true, false));
        let reopened = Claims::open(&path, 3, true).unwrap();
        assert_eq!(reopened.get(1).unwrap().map(|claim| (claim.depth, claim.offset)), Some((2, 60)));
        assert!(reopened.contains(2));
        claims.write().unwrap();
        let reopened = Claims::open(&path, 3, true).unwrap();
        assert_eq!(reopened.get(1).unwrap().map(|claim| (claim.depth, claim.n_revivals)), Some((1, 1)));
        assert!(!reopened.contains(2) && !Claims::open(&path, 1, true).unwrap().contains(1));
    }

    #[test]
    fn a_revival_that_is_replayed_counts_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("claims");
        let mut claims = Claims::open(&path, 0, true).unwrap();
        claims.add(0, &link(Kind::Page, 9, 0), 50);
        claims.write().unwrap();
        let revive = |claims: &mut Claims, depth: u32| {
            claims.settle(0, Outcome::Stored).unwrap();
            claims.improve(0, &link(Kind::Page, depth, 0), 100 - u64::from(depth), true).unwrap();
        };
        for depth in [5, 4, 3] {
            revive(&mut claims, depth);
            claims.settle(0, Outcome::Stored).unwrap();
            claims.write().unwrap();
            // All of it again, as after a kill, in a file that has it already.
            let mut replayed = Claims::open(&path, 1, true).unwrap();
            (depth..=5).rev().for_each(|depth| revive(&mut replayed, depth));
            replayed.settle(0, Outcome::Stored).unwrap();
            let claim = replayed.get(0).unwrap().unwrap();
            assert_eq!((claim.depth, u32::from(claim.n_revivals)), (depth, 6 - depth));
            assert_eq!(claim.may_revive(), depth > 3);
        }
    }
}
