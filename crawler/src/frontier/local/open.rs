//! Opening a frontier: load the last checkpoint, then replay the journal after it.

use std::collections::BinaryHeap;
use std::fs;
use std::num::NonZeroU64;
use std::path::Path;
use std::time::Duration;

use hashbrown::{HashMap, HashSet};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::super::Kind;
use super::super::checkpoint::{self, Snapshot};
use super::super::claims::Claims;
use super::super::files::io_error;
use super::super::journal::{self, Event, Journal};
use super::super::queue::Blocks;
use super::super::records::Records;
use super::super::robots_file::RobotsFile;
use super::super::scores::Scores;
use super::super::seen::Seen;
use super::lanes::Lanes;
use super::refresh::RefreshScheduler;
use super::{Inner, LocalOptions, is_set};
use crate::error::Error;
use crate::robots_cache::ROBOTS_TTL;

impl Inner {
    pub(super) fn open(folder: &Path, options: LocalOptions) -> Result<Inner, Error> {
        fs::create_dir_all(folder).map_err(io_error(folder, "create"))?;
        let journal_path = folder.join("journal");
        if folder.join("checkpoint").exists() && !journal::exists(&journal_path) {
            let what = "the journal is missing or cut short, and its checkpoint is here";
            return Err(Error::Damaged { path: journal_path, offset: 0, what });
        }
        let (snapshot, hosts) = checkpoint::load(&folder.join("checkpoint")).unwrap_or_default();
        let journal = Journal::open(&journal_path)?;
        let seen = Seen::open(folder, &snapshot.runs, snapshot.bloom, options.bloom_bytes)?;
        let content_folder = folder.join("contents");
        fs::create_dir_all(&content_folder).map_err(io_error(&content_folder, "create"))?;
        let content_bytes = (options.bloom_bytes / 4).max(1);
        let content_digests =
            Seen::open(&content_folder, &snapshot.content_runs, snapshot.content_bloom, content_bytes)?;
        let blocks = Blocks::open(&folder.join("queues"), snapshot.blocks)?;
        let mut inner = Inner {
            folder: folder.to_owned(),
            policy: options.policy,
            host_budget: options.host_budget,
            journal,
            checkpointed: snapshot.journal,
            seen,
            content_digests,
            pending_digests: HashMap::new(),
            blocks,
            hosts,
            claims: Claims::open(&folder.join("claims"), snapshot.n_urls, options.tracks_depth)?,
            late_claims: HashMap::new(),
            validators: Records::open(&folder.join("validators"))?,
            scores: None,
            visits: Records::open(&folder.join("visits"))?,
            robots: RobotsFile::open(&folder.join("robots"), ROBOTS_TTL)?,
            refresh: options.refresh.map(|refresh| RefreshScheduler::new(refresh, &options.clock)),
            explore: options.explore,
            n_handed_out: 0,
            interrupted: HashMap::new(),
            lanes: Lanes::new(options.slots),
            resting: BinaryHeap::new(),
            done: snapshot.done,
            attempts: snapshot.attempts.into_iter().collect(),
            leased: HashMap::new(),
            leased_urls: HashSet::new(),
            url_offsets: None,
            n_hosts_written: 0,
            first_rest: options.first_rest,
            n_urls: snapshot.n_urls,
            may_have_stale_entries: false,
            pending: 0,
            totals: snapshot.totals,
            sink_position: snapshot.sink_position,
            scope_extensions: snapshot.scope_extensions,
            ranked_waits: (false, Duration::ZERO),
            synced: options.clock.elapsed(),
            clock: options.clock,
            host_name: String::new(),
            distinct_links: HashSet::new(),
        };
        for (host, priority, offset) in snapshot.leased {
            if inner.hosts.contains(host) {
                let host = inner.hosts.get_mut(host);
                host.queues.push_front(priority, offset, &mut inner.blocks)?;
                host.pending += 1;
            }
        }
        inner.replay(snapshot.journal)?;
        inner.n_hosts_written = inner.hosts.len() as u32;
        // A journal that lost its end knows fewer URLs than these files, and their numbers will be given out again.
        inner.visits.truncate(inner.n_urls)?;
        inner.validators.truncate(inner.n_urls)?;
        inner.claims.write()?;
        inner.n_handed_out = inner.totals.settled();
        if inner.policy.keeps_scores() {
            inner.open_scores()?;
        }
        inner.may_have_stale_entries = inner.scores.is_some() || inner.n_urls > 0;
        let n_hosts = inner.hosts.len() as u32;
        for number in 0..n_hosts {
            inner.drop_stale(number)?;
        }
        inner.rest_all_hosts();
        Ok(inner)
    }

    fn replay(&mut self, from: u64) -> Result<(), Error> {
        // The journal is taken out so that its events can change everything else.
        let path = self.folder.join("journal");
        let mut journal = Journal::open(&path)?;
        journal.replay(from, |offset, event| {
            self.apply(offset, event)?.ok_or(Error::Damaged {
                path: path.clone(),
                offset,
                what: "the record refers to an unknown host or URL",
            })
        })?;
        self.journal = journal;
        Ok(())
    }

    /// Applies one event of the journal; `None` when it refers to an unknown host or URL.
    fn apply(&mut self, offset: u64, event: Event) -> Result<Option<()>, Error> {
        match event {
            Event::Host { name } => {
                self.hosts.add(&name);
            }
            Event::New { host, url, priority, link } => {
                if !self.hosts.contains(host) || url != self.n_urls {
                    return Ok(None);
                }
                self.n_urls += 1;
                self.claims.add(url, &link, offset);
                self.seen.insert(xxh3_64_with_seed(link.url.as_str().as_bytes(), self.journal.key()), url)?;
                let host = self.hosts.get_mut(host);
                host.pending += 1;
                host.n_auxiliary += u32::from(link.kind != Kind::Page);
                host.queues.push(priority, offset, &mut self.blocks)?;
            }
            Event::Promoted { host, offset, priority } => {
                if !self.hosts.contains(host) {
                    return Ok(None);
                }
                self.hosts.get_mut(host).queues.push(priority, offset, &mut self.blocks)?;
            }
            Event::Improved { host, url, priority, link } => {
                if !self.hosts.contains(host) || url >= self.n_urls {
                    return Ok(None);
                }
                let is_revival = self.apply_claim(host, url, priority, offset, &link)?;
                self.hosts.get_mut(host).pending += u32::from(is_revival);
            }
            Event::Done { host, url, record } => {
                if !self.hosts.contains(host) || url >= self.n_urls {
                    return Ok(None);
                }
                let was_done = is_set(&self.done, url);
                let was_auxiliary = self.claims.get(url)?.is_some_and(|claim| claim.kind != Kind::Page);
                self.count(host, url, record)?;
                let host = self.hosts.get_mut(host);
                host.fetched += 1;
                host.pages += u32::from(record.outcome.is_page_request());
                if record.outcome.is_auxiliary_request() || was_auxiliary {
                    host.n_auxiliary = host.n_auxiliary.saturating_sub(1);
                }
                // A refreshed page was not in a queue.
                host.pending = host.pending.saturating_sub(u32::from(!was_done));
            }
            // The URL is still in its queue: the journal does not record leases.
            Event::Retry { host, url, attempts, .. } => {
                if !self.hosts.contains(host) || url >= self.n_urls {
                    return Ok(None);
                }
                self.attempts.insert(url, attempts);
                let host = self.hosts.get_mut(host);
                host.fetched += 1;
                host.pages += 1;
            }
            Event::Validators { url, .. } | Event::Visited { url, .. } if url >= self.n_urls => return Ok(None),
            Event::Validators { url, validators } => match NonZeroU64::new(offset).filter(|_| validators.is_some()) {
                Some(offset) => self.validators.set(url, offset)?,
                None => self.validators.clear(url)?,
            },
            Event::Visited { url, visit } => self.visits.set(url, visit)?,
            Event::Rest { host, milliseconds } => {
                if !self.hosts.contains(host) {
                    return Ok(None);
                }
                self.hosts.get_mut(host).rest_milliseconds = milliseconds;
            }
            Event::ScopeExtended { url } => self.scope_extensions.push(url),
            Event::SinkPosition { sink_position } => self.sink_position = sink_position,
        }
        Ok(Some(()))
    }

    fn open_scores(&mut self) -> Result<(), Error> {
        let (mut scores, replayed) = Scores::open(&self.folder, self.journal.written())?;
        self.policy.resume(&replayed.state);
        for url in replayed.distributed {
            match scores.get(url)? {
                Some(kept) if url < self.n_urls && !is_set(&self.done, url) => {
                    let (_, _, link) = self.journal.link_at(kept.offset)?;
                    let number = self.host_number(&link)?;
                    self.interrupted.entry(number).or_default().push(kept.offset);
                }
                _ => scores.settle(url),
            }
        }
        self.scores = Some(scores);
        Ok(())
    }

    /// After opening, every known host rests once before its first request: also one without waiting URLs may have been
    /// asked a moment ago, and a link to it may be found at once.
    fn rest_all_hosts(&mut self) {
        let n_hosts = self.hosts.len() as u32;
        for number in 0..n_hosts {
            let host = self.hosts.get(number);
            self.pending += u64::from(host.pending);
            let rest = Duration::from_millis(u64::from(host.rest_milliseconds)).max(self.first_rest);
            self.start_rest(number, rest);
        }
    }

    pub(super) fn checkpoint(&mut self) -> Result<(), Error> {
        self.write()?;
        self.journal.sync()?;
        if let Some(scores) = &mut self.scores {
            scores.empty_log(self.journal.written(), &self.policy.state())?;
        }
        let (runs, bloom) = self.seen.save()?;
        let (content_runs, content_bloom) = self.content_digests.save()?;
        let snapshot = Snapshot {
            journal: self.journal.written(),
            blocks: self.blocks.sync()?,
            runs,
            bloom,
            content_runs,
            content_bloom,
            n_urls: self.n_urls,
            done: self.done.clone(),
            attempts: self.attempts.iter().map(|(url, attempts)| (*url, *attempts)).collect(),
            totals: self.totals.clone(),
            sink_position: self.sink_position.clone(),
            scope_extensions: self.scope_extensions.clone(),
            leased: self.leased.iter().map(|(id, held)| (id.host, held.priority, id.offset)).collect(),
        };
        checkpoint::save(&self.folder.join("checkpoint"), &snapshot, &self.hosts)?;
        self.seen.remove_replaced_files();
        self.content_digests.remove_replaced_files();
        self.checkpointed = snapshot.journal;
        Ok(())
    }
}
