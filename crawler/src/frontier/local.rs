//! The embedded frontier: one folder, one process.
//!
//! The journal is the truth. Queues, the set of known URLs and the checkpoint are made from it; after a crash the
//! frontier is the last checkpoint plus the whole batches of the journal behind it.

mod refresh;

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use hashbrown::{HashMap, HashSet};
use url::Url;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use self::refresh::Refreshing;
use super::checkpoint::{self, Picture};
use super::files::at;
use super::hosts::{Hosts, State};
use super::journal::{Event, Journal};
use super::places::Places;
use super::queue::Blocks;
use super::scores::{Score, Scores};
use super::seen::Seen;
use super::visits::Visits;
use super::{
    Claim, Frontier, Gauges, HostTally, Kind, Lease, Link, Next, Offered, Pause, Receipt, Settled, Ticket, Totals,
    write_host,
};
use crate::error::Error;
use crate::order::{Class, Draw, Explore, Order, Visit};
use crate::outcome::Outcome;
use crate::recrawl::Refresh;
use crate::validators::Validators;

/// Bytes of journal after which opening would take longer than a checkpoint is worth.
const CHECKPOINT_BYTES: u64 = 128 << 20;

/// How long settled URLs wait at most until the disk has them.
const SYNC_AFTER: Duration = Duration::from_secs(1);
/// So many links of a host are looked at again, for a policy that learns, before one is fetched in any case.
const MAX_REVIEWS: usize = 64;

/// How an embedded frontier behaves.
pub struct LocalOptions {
    /// The ordering policy.
    pub order: Box<dyn Order>,
    /// Requests that one host answers at most.
    pub host_budget: u64,
    /// The rest that every host with waiting URLs gets when a frontier is opened again: a request may have been on
    /// its way when the process before this one ended.
    pub first_rest: Duration,
    /// Memory for the Bloom filter.
    pub bloom_bytes: usize,
    /// The pages that are chosen by lot.
    pub explore: Explore,
    /// How pages that are kept are asked for again, if they are.
    pub refresh: Option<Refresh>,
}

impl LocalOptions {
    /// No budget, no rest, nothing by lot, and a filter that serves about twenty million URLs well.
    pub fn new(order: Box<dyn Order>) -> LocalOptions {
        LocalOptions {
            order,
            host_budget: u64::MAX,
            first_rest: Duration::ZERO,
            bloom_bytes: 16 << 20,
            explore: Explore::NOTHING,
            refresh: None,
        }
    }
}

/// The embedded frontier.
pub struct LocalFrontier {
    inner: Mutex<Inner>,
}

impl LocalFrontier {
    /// Opens the frontier in a folder, or starts one.
    ///
    /// # Errors
    /// When a file cannot be read or written, or holds what no crash can have left there.
    pub fn open(folder: &Path, options: LocalOptions) -> Result<LocalFrontier, Error> {
        Ok(LocalFrontier { inner: Mutex::new(Inner::open(folder, options)?) })
    }

    /// What was last given to [`Frontier::settle`] as the place of the sink; empty at the start.
    pub fn mark(&self) -> Vec<u8> {
        self.lock().mark.clone()
    }

    /// How many pages this run asked for again, and how many of them had changed.
    pub fn refreshed(&self) -> (u64, u64) {
        self.lock().refresh.as_ref().map_or((0, 0), |refresh| (refresh.n_asked, refresh.n_changed))
    }

    /// Writes a checkpoint, so that the next opening is quick.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn checkpoint(&self) -> Result<(), Error> {
        self.lock().checkpoint()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().expect("nothing panics while it holds the frontier")
    }
}

impl Frontier for LocalFrontier {
    fn offer(&self, page: Option<Visit<'_>>, links: &[Link]) -> Result<Offered, Error> {
        self.lock().offer(page, links)
    }

    fn lease(&self) -> Result<Next, Error> {
        self.lock().lease()
    }

    fn rest(&self, lease: &Lease, pause: Pause) -> Result<(), Error> {
        let mut inner = self.lock();
        if lease.link.kind == Kind::Page && matches!(pause, Pause::Answered(_)) {
            inner.hosts.get_mut(lease.ticket.host).pages += 1;
        }
        inner.rest(lease.ticket.host, pause)
    }

    fn give_back(&self, lease: Lease, pause: Pause) -> Result<(), Error> {
        self.lock().give_back(lease.ticket, pause)
    }

    fn claim(&self, host: &str) -> Result<Claim, Error> {
        self.lock().claim(host)
    }

    fn release(&self, host: u32, pause: Pause) -> Result<(), Error> {
        self.lock().rest(host, pause)
    }

    fn is_repeat(&self, lease: &Lease, digest: u64) -> Result<bool, Error> {
        self.lock().is_repeat(lease.ticket.url, digest)
    }

    fn settle(&self, leases: Vec<(Lease, Settled)>, mark: &[u8]) -> Result<(), Error> {
        self.lock().settle(leases, mark)
    }

    fn admit(&self, url: &Url) -> Result<(), Error> {
        let mut inner = self.lock();
        if !inner.admitted.iter().any(|known| known == url.as_str()) {
            inner.admitted.push(url.to_string());
            inner.journal.push(&Event::Admitted { url: url.to_string() })?;
        }
        Ok(())
    }

    fn admitted(&self) -> Vec<Url> {
        self.lock().admitted.iter().filter_map(|url| url.parse().ok()).collect()
    }

    fn reads_text(&self) -> bool {
        self.lock().order.reads_text()
    }

    fn gauges(&self) -> Gauges {
        let inner = self.lock();
        Gauges {
            pending: inner.pending,
            known: u64::from(inner.n_urls),
            leased: inner.leased.len() as u64,
            ready_hosts: inner.ready.len() as u64,
            hosts: inner.hosts.iter().len() as u64,
        }
    }

    fn totals(&self) -> Totals {
        self.lock().totals.clone()
    }

    fn hosts(&self, each: &mut dyn FnMut(HostTally<'_>)) {
        for (_, host) in self.lock().hosts.iter() {
            each(HostTally {
                name: &host.name,
                pending: u64::from(host.pending),
                fetched: u64::from(host.fetched),
                stored: u64::from(host.stored),
                bytes: host.bytes,
                milliseconds: host.milliseconds,
            });
        }
    }
}

struct Held {
    class: Class,
    attempts: u8,
    kind: Kind,
    /// Whether the page was kept before and is asked for again.
    is_refresh: bool,
}

struct Inner {
    folder: PathBuf,
    order: Box<dyn Order>,
    host_budget: u64,
    journal: Journal,
    checkpointed: u64,
    seen: Seen,
    /// Digests of kept pages, each with the URL that it was kept under.
    contents: Seen,
    /// Digests of pages that are on their way to the sink.
    coming: HashMap<u64, u32>,
    blocks: Blocks,
    hosts: Hosts,
    /// Where the validators of kept pages stand in the journal.
    validators: Places,
    scores: Option<Scores>,
    visits: Visits,
    refresh: Option<Refreshing>,
    explore: Explore,
    /// Pages handed out, for the lot.
    n_handed_out: u64,
    /// Pages that had paid their links and were not settled when the process before this one was killed, by host:
    /// they are asked for first, so that everything is as it was.
    unfinished: HashMap<u32, Vec<u64>>,
    /// Hosts that may be asked now, by precedence.
    ready: BTreeSet<(u64, u32)>,
    /// Hosts that rest, by the microsecond at which they have rested enough.
    resting: BinaryHeap<Reverse<(u64, u32)>>,
    done: Vec<u64>,
    attempts: HashMap<u32, u8>,
    leased: HashMap<Ticket, Held>,
    leased_urls: HashMap<u32, ()>,
    n_urls: u32,
    pending: u64,
    totals: Totals,
    mark: Vec<u8>,
    admitted: Vec<String>,
    started: Instant,
    /// When the journal was last known to be on the disk.
    synced: Instant,
    host_name: String,
    /// Links of one page, each once.
    once: HashSet<u64>,
}

impl Inner {
    fn open(folder: &Path, options: LocalOptions) -> Result<Inner, Error> {
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
            validators: Places::open(&folder.join("validators"))?,
            scores: None,
            visits: Visits::open(&folder.join("visits"))?,
            refresh: options.refresh.map(Refreshing::new),
            explore: options.explore,
            n_handed_out: 0,
            unfinished: HashMap::new(),
            ready: BTreeSet::new(),
            resting: BinaryHeap::new(),
            done: picture.done,
            attempts: picture.attempts.into_iter().collect(),
            leased: HashMap::new(),
            leased_urls: HashMap::new(),
            n_urls: picture.n_urls,
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
            Event::Validators { url, validators } => {
                self.validators.set(url, if validators.is_some() { offset } else { 0 })?;
            }
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

    fn now(&self) -> u64 {
        self.started.elapsed().as_micros() as u64
    }

    fn offer(&mut self, page: Option<Visit<'_>>, links: &[Link]) -> Result<Offered, Error> {
        let key = self.journal.key();
        let fingerprint = |url: &Url| xxh3_64_with_seed(url.as_str().as_bytes(), key);
        let fingerprints: Vec<u64> = links.iter().map(|link| fingerprint(&link.url)).collect();
        let is_page = page.is_some();
        let mut pays = true;
        match page {
            None => self.order.unlinked(),
            Some(page) => {
                // However often a page links to another, and to itself, it counts once, or not at all.
                let own = fingerprint(&page.link.url);
                self.once.clear();
                self.once.extend(&fingerprints);
                self.once.remove(&own);
                let page = Visit { n_links: self.once.len(), ..page };
                let is_redirect = links.first().is_some_and(|link| link.hops > page.link.hops);
                pays = self.visit(own, &page, is_redirect)?;
            }
        }
        self.seen.prepare(&fingerprints);
        let mut offered = Offered::default();
        for (link, fingerprint) in links.iter().zip(fingerprints) {
            if is_page && !self.once.remove(&fingerprint) {
                offered.known += 1;
                continue;
            }
            match self.seen.get(fingerprint)? {
                Some(url) => {
                    offered.known += 1;
                    if pays {
                        self.offer_again(url, link)?;
                    }
                }
                None => {
                    offered.new += 1;
                    self.take_in(fingerprint, link)?;
                }
            }
            if !is_page && self.journal.is_full() {
                self.write()?;
            }
        }
        if is_page && self.order.reranks() {
            self.rerank()?;
        }
        let is_due = self.seen.wants_checkpoint() || self.contents.wants_checkpoint();
        if is_due || self.journal.end() - self.checkpointed > CHECKPOINT_BYTES {
            self.checkpoint()?;
        } else if self.journal.is_full() {
            self.write()?;
        }
        Ok(offered)
    }

    /// Places every waiting URL where the policy would place it now.
    fn rerank(&mut self) -> Result<(), Error> {
        for url in 0..self.n_urls {
            let Some(scores) = &mut self.scores else { return Ok(()) };
            if is_set(&self.done, url) || self.leased_urls.contains_key(&url) {
                continue;
            }
            let Some(kept) = scores.get(url)? else { continue };
            let (_, _, link) = self.journal.link_at(kept.offset)?;
            if link.kind != Kind::Page {
                continue;
            }
            let number = self.host_number(&link)?;
            let class = self.order.review(&link, &self.hosts.get(number).counts());
            if class < kept.class {
                self.raise(number, url, Score { class, ..kept })?;
            }
        }
        Ok(())
    }

    /// Moves a waiting URL ahead.
    fn raise(&mut self, number: u32, url: u32, kept: Score) -> Result<(), Error> {
        self.hosts.get_mut(number).queues.push(kept.class, kept.offset, &mut self.blocks)?;
        self.journal.push(&Event::Raised { host: number, offset: kept.offset, class: kept.class })?;
        if let Some(scores) = &mut self.scores {
            scores.set(url, kept)?;
        }
        self.renew_precedence(number);
        Ok(())
    }

    /// Writes everything that happened so far; a killed process loses nothing of it.
    fn write(&mut self) -> Result<(), Error> {
        let Some(scores) = &mut self.scores else { return self.journal.write() };
        let (end, state) = (self.journal.end_when_written(), self.order.state());
        scores.log(end, &state)?;
        self.journal.write()?;
        scores.journal_is_written(end, &state)
    }

    fn host_number(&mut self, link: &Link) -> Result<u32, Error> {
        self.host_name.clear();
        write_host(&link.url, &mut self.host_name);
        if let Some(number) = self.hosts.find(&self.host_name) {
            return Ok(number);
        }
        self.journal.push(&Event::Host { name: self.host_name.clone() })?;
        Ok(self.hosts.add(&self.host_name))
    }

    fn take_in(&mut self, fingerprint: u64, link: &Link) -> Result<(), Error> {
        let number = self.host_number(link)?;
        let url = self.n_urls;
        self.n_urls += 1;
        let mut score = 0.0;
        let class = match link.kind {
            Kind::Page => self.order.place(link, &self.hosts.get(number).counts(), &mut score),
            Kind::Sitemap | Kind::Probe => Class::FIRST,
        };
        let offset = self.journal.push_new(number, url, class, link)?;
        if let Some(scores) = &mut self.scores {
            scores.set(url, Score { score, class, offset })?;
        }
        self.seen.insert(fingerprint, url)?;
        let host = self.hosts.get_mut(number);
        host.extras += u32::from(link.kind != Kind::Page);
        host.queues.push(class, offset, &mut self.blocks)?;
        self.one_more(number);
        Ok(())
    }

    /// A known URL was found again: the policy may move it ahead while it waits.
    fn offer_again(&mut self, url: u32, link: &Link) -> Result<(), Error> {
        let Some(scores) = &mut self.scores else { return Ok(()) };
        let Some(mut kept) = scores.get(url)? else { return Ok(()) };
        let number = self.host_number(link)?;
        let class = self.order.place_again(link, &self.hosts.get(number).counts(), &mut kept.score);
        if class < kept.class && !is_set(&self.done, url) && !self.leased_urls.contains_key(&url) {
            return self.raise(number, url, Score { class, ..kept });
        }
        match &mut self.scores {
            Some(scores) => scores.set(url, kept),
            None => Ok(()),
        }
    }

    /// Tells the policy of a page, unless it was told before the last kill; whether the page pays its links.
    fn visit(&mut self, fingerprint: u64, page: &Visit<'_>, is_redirect: bool) -> Result<bool, Error> {
        let number = self.host_number(page.link)?;
        let counts = self.hosts.get(number).counts();
        let url = self.seen.get(fingerprint)?;
        let mut kept = None;
        if let (Some(scores), Some(url)) = (&mut self.scores, url) {
            if !scores.is_first_visit(url) {
                self.order.unlinked();
                return Ok(false);
            }
            kept = scores.get(url)?.map(|kept| (url, kept));
        }
        let mut score = kept.map_or(0.0, |(_, kept)| kept.score);
        match is_redirect {
            true => self.order.redirect(page.link, &counts, &mut score),
            false => self.order.visit(page, &counts, &mut score),
        }
        if let (Some(scores), Some((url, kept))) = (&mut self.scores, kept) {
            scores.set(url, Score { score, ..kept })?;
        }
        Ok(true)
    }

    /// A URL more waits at a host.
    fn one_more(&mut self, number: u32) {
        let host = self.hosts.get_mut(number);
        host.pending += 1;
        if host.state != State::Exhausted {
            self.pending += 1;
        }
        match self.hosts.get(number).state {
            State::Idle => self.make_ready(number),
            State::Ready(_) => self.renew_precedence(number),
            State::Resting | State::Busy | State::Exhausted => {}
        }
    }

    fn make_ready(&mut self, number: u32) {
        let host = self.hosts.get_mut(number);
        if host.pending == 0 {
            host.state = State::Idle;
            return;
        }
        if u64::from(host.fetched) >= self.host_budget {
            host.state = State::Exhausted;
            self.pending -= u64::from(host.pending);
            return;
        }
        let precedence = self.precedence(number);
        self.hosts.get_mut(number).state = State::Ready(precedence);
        self.ready.insert((precedence, number));
    }

    /// Sitemaps, probes and what a kill left unfinished come before everything that the policy places.
    fn precedence(&self, number: u32) -> u64 {
        match self.has_something_first(number) {
            true => 0,
            false => self.order.precedence(&self.hosts.get(number).counts()).saturating_add(1),
        }
    }

    fn has_something_first(&self, number: u32) -> bool {
        self.hosts.get(number).extras > 0 || self.unfinished.contains_key(&number)
    }

    fn renew_precedence(&mut self, number: u32) {
        let State::Ready(old) = self.hosts.get(number).state else { return };
        let new = self.precedence(number);
        if new != old {
            self.hosts.get_mut(number).state = State::Ready(new);
            self.ready.remove(&(old, number));
            self.ready.insert((new, number));
        }
    }

    fn put_to_rest(&mut self, number: u32, rest: Duration) {
        if rest.is_zero() {
            self.make_ready(number);
            return;
        }
        // One microsecond more than asked for: the clock's own reading was cut off below.
        let until = self.now() + rest.as_micros() as u64 + 1;
        let host = self.hosts.get_mut(number);
        host.state = State::Resting;
        host.due = until;
        self.resting.push(Reverse((until, number)));
    }

    fn lease(&mut self) -> Result<Next, Error> {
        let now = self.now();
        while let Some(&Reverse((until, number))) = self.resting.peek()
            && until <= now
        {
            self.resting.pop();
            self.make_ready(number);
        }
        if self.is_time_to_refresh()
            && let Some(lease) = self.lease_again()?
        {
            return Ok(Next::Fetch(lease));
        }
        let next = self.lease_new()?;
        if next.is_some()
            && let Some(refresh) = &mut self.refresh
        {
            refresh.earn();
        }
        if let Some(lease) = next.map_or_else(|| self.lease_again(), |lease| Ok(Some(lease)))? {
            return Ok(Next::Fetch(lease));
        }
        if let Some(Reverse((until, _))) = self.resting.peek()
            && (self.pending > 0 || self.has_due())
        {
            return Ok(Next::Wait(Duration::from_micros(until.saturating_sub(now).max(1))));
        }
        if self.pending > 0 || !self.leased.is_empty() {
            return Ok(Next::Wait(Duration::from_secs(1)));
        }
        if let Some(time) = self.next_ranking() {
            return Ok(Next::Wait(time.max(Duration::from_millis(1))));
        }
        Ok(Next::Empty)
    }

    /// A page that was never asked for, by lot or by the policy.
    fn lease_new(&mut self) -> Result<Option<Lease>, Error> {
        if let Some(mut draw) = self.explore.draw(self.n_handed_out)
            && let Some(number) = self.any_ready(&mut draw)
            && let Some(lease) = self.lease_any(number, &mut draw)?
        {
            return Ok(Some(lease));
        }
        while let Some((_, number)) = self.ready.pop_first() {
            if let Some(lease) = self.lease_from(number)? {
                return Ok(Some(lease));
            }
        }
        Ok(None)
    }

    /// A ready host by lot, unless it has something to do before that. Where few are ready none may be found.
    fn any_ready(&self, draw: &mut Draw) -> Option<u32> {
        (0..16).map(|_| draw.below(self.hosts.iter().len().max(1)) as u32).find(|&number| {
            self.hosts.contains(number)
                && matches!(self.hosts.get(number).state, State::Ready(_))
                && !self.has_something_first(number)
        })
    }

    /// The first page of a class by lot.
    fn lease_any(&mut self, number: u32, draw: &mut Draw) -> Result<Option<Lease>, Error> {
        let index = draw.below(self.hosts.get(number).queues.n_classes().max(1));
        let class = self.hosts.get(number).queues.0.get(index).map(|queue| queue.class);
        while self.hosts.get(number).queues.0.get(index).map(|queue| queue.class) == class
            && let Some((class, offset)) = self.hosts.get_mut(number).queues.pop_at(index, &self.blocks)?
        {
            if !self.is_stale(offset)? {
                if let State::Ready(precedence) = self.hosts.get(number).state {
                    self.ready.remove(&(precedence, number));
                }
                return self.hand_out(number, class, offset).map(Some);
            }
        }
        Ok(None)
    }

    fn lease_from(&mut self, number: u32) -> Result<Option<Lease>, Error> {
        if let Some(offset) = self.next_unfinished(number)
            && !self.is_stale(offset)?
        {
            let url = self.journal.number_at(offset)?;
            let kept = self.scores.as_mut().map(|scores| scores.get(url)).transpose()?.flatten();
            return self.hand_out(number, kept.map_or(Class::FIRST, |kept| kept.class), offset).map(Some);
        }
        let mut n_reviews = 0;
        while let Some((class, offset)) = self.hosts.get_mut(number).queues.pop(&self.blocks)? {
            if self.is_stale(offset)? {
                continue;
            }
            if n_reviews < MAX_REVIEWS && self.order.reviews() {
                n_reviews += 1;
                let (url, _, link) = self.journal.link_at(offset)?;
                let host = self.hosts.get_mut(number);
                let now = if link.kind == Kind::Page { self.order.review(&link, &host.counts()) } else { class };
                if now > class {
                    host.queues.push(now, offset, &mut self.blocks)?;
                    if let Some(scores) = &mut self.scores
                        && let Some(kept) = scores.get(url)?
                    {
                        scores.set(url, Score { class: now, ..kept })?;
                    }
                    continue;
                }
            }
            return self.hand_out(number, class, offset).map(Some);
        }
        // Nothing but URLs that are leased or done.
        let host = self.hosts.get_mut(number);
        self.pending -= u64::from(host.pending);
        host.pending = 0;
        host.extras = 0;
        host.state = State::Idle;
        Ok(None)
    }

    fn next_unfinished(&mut self, number: u32) -> Option<u64> {
        let offset = self.unfinished.get_mut(&number)?.pop();
        if self.unfinished.get(&number).is_some_and(Vec::is_empty) {
            self.unfinished.remove(&number);
        }
        offset
    }

    fn hand_out(&mut self, number: u32, class: Class, offset: u64) -> Result<Lease, Error> {
        let (url, _, link) = self.journal.link_at(offset)?;
        let host = self.hosts.get_mut(number);
        host.state = State::Busy;
        host.pending -= 1;
        self.pending -= 1;
        match link.kind {
            Kind::Page => self.n_handed_out += 1,
            Kind::Sitemap | Kind::Probe => host.extras = host.extras.saturating_sub(1),
        }
        let attempts = self.attempts.get(&url).copied().unwrap_or(0);
        let ticket = Ticket { host: number, url, offset };
        self.leased.insert(ticket, Held { class, attempts, kind: link.kind, is_refresh: false });
        self.leased_urls.insert(url, ());
        self.drop_stale(number)?;
        let validators = match self.validators.get(url)? {
            Some(place) => self.journal.validators_at(place, url)?.map(Box::new),
            None => None,
        };
        Ok(Lease { link, attempts, validators, ticket })
    }

    /// Whether a queue's entry leads nowhere any more: a URL that was moved ahead stands in two queues, and the second
    /// time it is met it is leased or done.
    fn is_stale(&self, offset: u64) -> Result<bool, Error> {
        let url = self.journal.number_at(offset)?;
        Ok(is_set(&self.done, url) || self.leased_urls.contains_key(&url))
    }

    /// Takes stale entries from the front, so that the best class of a host is that of a URL to be had.
    fn drop_stale(&mut self, number: u32) -> Result<(), Error> {
        while let Some((class, offset)) = self.hosts.get_mut(number).queues.pop(&self.blocks)? {
            if !self.is_stale(offset)? {
                self.hosts.get_mut(number).queues.push_front(class, offset, &mut self.blocks)?;
                break;
            }
        }
        Ok(())
    }

    fn rest(&mut self, number: u32, pause: Pause) -> Result<(), Error> {
        let rest = match pause {
            Pause::Unasked(rest) => rest,
            Pause::Answered(rest) => {
                let milliseconds = u32::try_from(rest.as_millis()).unwrap_or(u32::MAX);
                let host = self.hosts.get_mut(number);
                host.fetched += 1;
                // Adaptive rests change a little with every answer; only what matters after a crash is written down.
                if milliseconds > host.rest_milliseconds || milliseconds < host.rest_milliseconds / 2 {
                    host.rest_milliseconds = milliseconds;
                    self.journal.push(&Event::Rest { host: number, milliseconds })?;
                }
                rest
            }
        };
        self.put_to_rest(number, rest);
        Ok(())
    }

    fn give_back(&mut self, ticket: Ticket, pause: Pause) -> Result<(), Error> {
        let Some(held) = self.leased.remove(&ticket) else { return Ok(()) };
        self.leased_urls.remove(&ticket.url);
        if held.is_refresh {
            self.due_again(ticket);
            return self.rest(ticket.host, pause);
        }
        let host = self.hosts.get_mut(ticket.host);
        host.queues.push_front(held.class, ticket.offset, &mut self.blocks)?;
        host.pending += 1;
        self.pending += 1;
        match held.kind {
            Kind::Page => self.n_handed_out -= 1,
            Kind::Sitemap | Kind::Probe => host.extras += 1,
        }
        if self.scores.as_ref().is_some_and(|scores| scores.has_paid(ticket.url)) {
            self.unfinished.entry(ticket.host).or_default().push(ticket.offset);
        }
        self.rest(ticket.host, pause)
    }

    fn claim(&mut self, name: &str) -> Result<Claim, Error> {
        let number = match self.hosts.find(name) {
            Some(number) => number,
            None => {
                self.journal.push(&Event::Host { name: name.to_owned() })?;
                self.hosts.add(name)
            }
        };
        let now = self.now();
        let host = self.hosts.get_mut(number);
        match host.state {
            State::Busy => return Ok(Claim::Later(Duration::from_millis(200))),
            State::Resting if host.due > now => return Ok(Claim::Later(Duration::from_micros(host.due - now))),
            State::Resting => return Ok(Claim::Later(Duration::from_millis(1))),
            State::Ready(precedence) => {
                self.ready.remove(&(precedence, number));
            }
            State::Exhausted => self.pending += u64::from(host.pending),
            State::Idle => {}
        }
        host.state = State::Busy;
        Ok(Claim::Yours(number))
    }

    fn is_repeat(&mut self, url: u32, digest: u64) -> Result<bool, Error> {
        if let Some(first) = self.contents.get(digest)? {
            return Ok(first != url);
        }
        Ok(*self.coming.entry(digest).or_insert(url) != url)
    }

    fn settle(&mut self, leases: Vec<(Lease, Settled)>, mark: &[u8]) -> Result<(), Error> {
        for (lease, settled) in leases {
            let ticket = lease.ticket;
            let Some(held) = self.leased.remove(&ticket) else { continue };
            self.leased_urls.remove(&ticket.url);
            match settled {
                Settled::Done(receipt) => {
                    let receipt = match held.kind {
                        Kind::Page => self.note_visit(ticket, &held, receipt)?,
                        Kind::Sitemap | Kind::Probe => receipt,
                    };
                    self.journal.push(&Event::Done { host: ticket.host, url: ticket.url, receipt })?;
                    self.count(ticket.host, ticket.url, receipt)?;
                    if let Some(scores) = &mut self.scores {
                        scores.settle(ticket.url);
                    }
                    if matches!(receipt.outcome, Outcome::Stored | Outcome::Duplicate) {
                        self.remember(ticket.url, lease.validators.map(|known| *known))?;
                    }
                }
                Settled::Again if held.is_refresh => {
                    let failed = Receipt { outcome: Outcome::NoContent, bytes: 0, milliseconds: 0, digest: 0 };
                    self.note_visit(ticket, &held, failed)?;
                }
                Settled::Again => {
                    let attempts = held.attempts.saturating_add(1);
                    let Ticket { host, url, offset } = ticket;
                    self.journal.push(&Event::Again { host, url, offset, attempts, class: held.class })?;
                    self.attempts.insert(url, attempts);
                    let its_host = self.hosts.get_mut(host);
                    its_host.queues.push(held.class, offset, &mut self.blocks)?;
                    its_host.extras += u32::from(held.kind != Kind::Page);
                    self.one_more(host);
                }
            }
        }
        if mark != self.mark {
            self.mark = mark.to_vec();
            self.journal.push(&Event::Mark { mark: mark.to_vec() })?;
        }
        // Written, it survives the process; the disk is only waited for once a second. What a power cut takes away
        // then is the settling of the last second: the sink goes back to its mark and those pages are fetched again.
        self.write()?;
        if self.synced.elapsed() >= SYNC_AFTER {
            self.journal.sync()?;
            self.synced = Instant::now();
        }
        Ok(())
    }

    /// Writes down what the server told about a page, or that it tells nothing any more.
    fn remember(&mut self, url: u32, validators: Option<Validators>) -> Result<(), Error> {
        if validators.is_none() && self.validators.get(url)?.is_none() {
            return Ok(());
        }
        let is_any = validators.is_some();
        let place = self.journal.push(&Event::Validators { url, validators })?;
        self.validators.set(url, if is_any { place } else { 0 })
    }

    fn count(&mut self, host: u32, url: u32, receipt: Receipt) -> Result<(), Error> {
        set(&mut self.done, url);
        self.attempts.remove(&url);
        if receipt.digest != 0 {
            self.coming.remove(&receipt.digest);
            self.contents.insert(receipt.digest, url)?;
        }
        self.totals.count(receipt);
        let host = self.hosts.get_mut(host);
        host.milliseconds += u64::from(receipt.milliseconds);
        if receipt.outcome == Outcome::Stored {
            host.stored += 1;
            host.bytes += u64::from(receipt.bytes);
        }
        Ok(())
    }

    fn checkpoint(&mut self) -> Result<(), Error> {
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

fn is_set(bits: &[u64], index: u32) -> bool {
    bits.get(index as usize / 64).is_some_and(|word| word >> (index % 64) & 1 == 1)
}

fn set(bits: &mut Vec<u64>, index: u32) {
    let word = index as usize / 64;
    if word >= bits.len() {
        bits.resize(word + 1, 0);
    }
    bits[word] |= 1 << (index % 64);
}
