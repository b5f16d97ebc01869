//! A frontier is opened: the last checkpoint, and what the journal says behind it.

use std::collections::{BTreeSet, BinaryHeap};
use std::fs;
use std::num::NonZeroU64;
use std::path::Path;
use std::time::{Duration, Instant};

use hashbrown::{HashMap, HashSet};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::super::Kind;
use super::super::checkpoint::{self, Picture};
use super::super::files::at;
use super::super::journal::{Event, Journal};
use super::super::queue::Blocks;
use super::super::records::Records;
use super::super::scores::Scores;
use super::super::seen::Seen;
use super::refresh::Refreshing;
use super::{Inner, LocalOptions, is_set};
use crate::error::Error;

impl Inner {
    pub(super) fn open(folder: &Path, options: LocalOptions) -> Result<Inner, Error> {
        fs::create_dir_all(folder).map_err(at(folder, "create"))?;
        let (picture, hosts) = checkpoint::load(&folder.join("checkpoint")).unwrap_or_default();
        let journal = Journal::open(&folder.join("journal"))?;
        let seen = Seen::open(folder, &picture.runs, picture.bloom, options.bloom_bytes)?;
        let content_folder = folder.join("contents");
        fs::create_dir_all(&content_folder).map_err(at(&content_folder, "create"))?;
        let content_bytes = (options.bloom_bytes / 4).max(1);
        let contents = Seen::open(&content_folder, &picture.content_runs, picture.content_bloom, content_bytes)?;
        let blocks = Blocks::open(&folder.join("queues"), picture.blocks)?;
        let mut inner = Inner {
            folder: folder.to_owned(),
            order: options.order,
            host_budget: options.host_budget,
            journal,
            checkpointed: picture.journal,
            seen,
            contents,
            coming: HashMap::new(),
            blocks,
            hosts,
            validators: Records::open(&folder.join("validators"))?,
            scores: None,
            visits: Records::open(&folder.join("visits"))?,
            refresh: options.refresh.map(Refreshing::new),
            explore: options.explore,
            n_handed_out: 0,
            unfinished: HashMap::new(),
            ready: BTreeSet::new(),
            resting: BinaryHeap::new(),
            done: picture.done,
            attempts: picture.attempts.into_iter().collect(),
            leased: HashMap::new(),
            leased_urls: HashSet::new(),
            n_urls: picture.n_urls,
            has_doubles: false,
            pending: 0,
            totals: picture.totals,
            mark: picture.mark,
            admitted: picture.admitted,
            started: Instant::now(),
            synced: Instant::now(),
            host_name: String::new(),
            once: HashSet::new(),
        };
        for (host, class, offset) in picture.leased {
            if inner.hosts.contains(host) {
                let host = inner.hosts.get_mut(host);
                host.queues.push_front(class, offset, &mut inner.blocks)?;
                host.pending += 1;
            }
        }
        inner.replay(picture.journal)?;
        inner.n_handed_out = inner.totals.settled();
        if inner.order.keeps_scores() {
            inner.open_scores()?;
        }
        inner.has_doubles = inner.scores.is_some() || inner.n_urls > 0;
        let n_hosts = inner.hosts.iter().len() as u32;
        for number in 0..n_hosts {
            inner.drop_stale(number)?;
        }
        inner.wake_hosts(options.first_rest);
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
                what: "a record speaks of a host or URL that no record before it names",
            })
        })?;
        self.journal = journal;
        Ok(())
    }

    /// Makes one change of the journal again; nothing when it makes no sense.
    fn apply(&mut self, offset: u64, event: Event) -> Result<Option<()>, Error> {
        match event {
            Event::Host { name } => {
                self.hosts.add(&name);
            }
            Event::New { host, url, class, link } => {
                if !self.hosts.contains(host) || url != self.n_urls {
                    return Ok(None);
                }
                self.n_urls += 1;
                self.seen.insert(xxh3_64_with_seed(link.url.as_str().as_bytes(), self.journal.key()), url)?;
                let host = self.hosts.get_mut(host);
                host.pending += 1;
                host.extras += u32::from(link.kind != Kind::Page);
                host.queues.push(class, offset, &mut self.blocks)?;
            }
            Event::Raised { host, offset, class } => {
                if !self.hosts.contains(host) {
                    return Ok(None);
                }
                self.hosts.get_mut(host).queues.push(class, offset, &mut self.blocks)?;
            }
            Event::Done { host, url, receipt } => {
                if !self.hosts.contains(host) || url >= self.n_urls {
                    return Ok(None);
                }
                let was_done = is_set(&self.done, url);
                self.count(host, url, receipt)?;
                let host = self.hosts.get_mut(host);
                host.fetched += 1;
                host.pages += u32::from(receipt.outcome.is_of_a_page());
                if receipt.outcome.is_of_an_extra() {
                    host.extras = host.extras.saturating_sub(1);
                }
                // A page that was asked for again did not wait.
                host.pending = host.pending.saturating_sub(u32::from(!was_done));
            }
            // The URL still stands in its queue: taking it out was never written down.
            Event::Again { host, url, attempts, .. } => {
                if !self.hosts.contains(host) || url >= self.n_urls {
                    return Ok(None);
                }
                self.attempts.insert(url, attempts);
                let host = self.hosts.get_mut(host);
                host.fetched += 1;
                host.pages += 1;
            }
            Event::Validators { url, validators } => match NonZeroU64::new(offset).filter(|_| validators.is_some()) {
                Some(place) => self.validators.set(url, place)?,
                None => self.validators.clear(url)?,
            },
            Event::Visited { url, visited } => self.visits.set(url, visited)?,
            Event::Rest { host, milliseconds } => {
                if !self.hosts.contains(host) {
                    return Ok(None);
                }
                self.hosts.get_mut(host).rest_milliseconds = milliseconds;
            }
            Event::Admitted { url } => self.admitted.push(url),
            Event::Mark { mark } => self.mark = mark,
        }
        Ok(Some(()))
    }

    fn open_scores(&mut self) -> Result<(), Error> {
        let (mut scores, remembered) = Scores::open(&self.folder, self.journal.written())?;
        self.order.resume(&remembered.state);
        for url in remembered.visited {
            match scores.get(url)? {
                Some(kept) if url < self.n_urls && !is_set(&self.done, url) => {
                    let (_, _, link) = self.journal.link_at(kept.offset)?;
                    let number = self.host_number(&link)?;
                    self.unfinished.entry(number).or_default().push(kept.offset);
                }
                _ => scores.settle(url),
            }
        }
        self.scores = Some(scores);
        Ok(())
    }

    /// After opening: every host with waiting URLs rests once before it is asked.
    fn wake_hosts(&mut self, first_rest: Duration) {
        let waiting: Vec<u32> =
            self.hosts.iter().filter(|(_, host)| host.pending > 0).map(|(number, _)| number).collect();
        for number in waiting {
            self.pending += u64::from(self.hosts.get(number).pending);
            let rest = Duration::from_millis(u64::from(self.hosts.get(number).rest_milliseconds)).max(first_rest);
            self.put_to_rest(number, rest);
        }
    }

    pub(super) fn checkpoint(&mut self) -> Result<(), Error> {
        self.write()?;
        self.journal.sync()?;
        if let Some(scores) = &mut self.scores {
            scores.empty_log(self.journal.written(), &self.order.state())?;
        }
        let (runs, bloom) = self.seen.save()?;
        let (content_runs, content_bloom) = self.contents.save()?;
        let picture = Picture {
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
            mark: self.mark.clone(),
            admitted: self.admitted.clone(),
            leased: self.leased.iter().map(|(ticket, held)| (ticket.host, held.class, ticket.offset)).collect(),
        };
        checkpoint::save(&self.folder.join("checkpoint"), &picture, &self.hosts)?;
        self.seen.forget_replaced();
        self.contents.forget_replaced();
        self.checkpointed = picture.journal;
        Ok(())
    }
}
