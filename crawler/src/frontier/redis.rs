//! A frontier on Redis, which any number of workers share: all that a crawl knows is there, and a worker may die at any
//! time.
//!
//! Hosts are divided over partitions, whose keys share one hash tag, so that a cluster can hold them. Whatever changes a
//! partition is one script that runs as a whole, by the clock of the server. URLs are known by 64-bit fingerprints in
//! small sets; those that wait stand in a list per host and priority. A lease ends at a time unless it is renewed, and
//! what is asked for by its old fence is refused.

mod calls;
mod known;
mod message;
mod scripts;
mod server;
mod settings;
mod settling;
#[cfg(test)]
pub(super) mod tests;

use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use hashbrown::HashMap;
use redis::{Script, Value};

use self::known::KnownUrls;
use self::message::{LinkMessage, ScoredLink, fingerprint, partition_of};
use self::scripts::{Scripts, split_figures};
pub use self::server::RedisAddress;
use self::server::Server;
pub use self::settings::CrawlSettings;
use self::settling::Batch;
use super::{FrontierError, Gauges, HostRest, Kind, LeaseId, Link, Totals};
use crate::clock::Clock;
use crate::error::Error;
use crate::order::{HostCounts, HostOrder, OrderingPolicy, Priority, ScoreOrder, SharedOrder};

/// URLs that a worker remembers as known: sixteen bytes each, about.
const MAX_REMEMBERED: usize = 2_000_000;
/// The partitions of a crawl in a cluster, unless told otherwise.
const CLUSTER_PARTITIONS: u16 = 32;
/// The bit of a lease's key that tells a claimed host from a leased URL.
const HOST_KEY: u128 = 1 << 127;

/// How a shared frontier behaves.
pub struct RedisOptions {
    /// Where it is.
    pub address: RedisAddress,
    /// The name of this worker, which no other has.
    pub worker: String,
    /// The ordering policy; one that needs all of a crawl in one place is refused.
    pub policy: Box<dyn OrderingPolicy>,
    /// The largest number of requests to one host.
    pub host_budget: u64,
    /// Whether the depth of the crawl is limited.
    pub tracks_depth: bool,
    /// How long a lease lasts unless it is renewed: longer than a request may take.
    pub lease_time: Option<Duration>,
    /// How long a host rests whose lease has ended without a word.
    pub first_rest: Duration,
    /// The partitions of a crawl that begins; `None` for one, or several in a cluster.
    pub partitions: Option<u16>,
    /// Whether a server may be used that keeps nothing on disk.
    pub allow_volatile: bool,
    /// Tells the time; `None` for the server's.
    pub clock: Option<Clock>,
}

impl RedisOptions {
    /// No host budget, no limit of depth, leases of two minutes.
    pub fn new(address: RedisAddress, worker: &str, policy: Box<dyn OrderingPolicy>) -> RedisOptions {
        RedisOptions {
            address,
            worker: worker.to_owned(),
            policy,
            host_budget: u64::MAX,
            tracks_depth: false,
            lease_time: Some(Duration::from_secs(120)),
            first_rest: Duration::ZERO,
            partitions: None,
            allow_volatile: false,
            clock: None,
        }
    }
}

/// The frontier on Redis, as one worker sees it.
pub struct RedisFrontier {
    server: Server,
    scripts: Scripts,
    worker: String,
    /// This run of the worker: what an earlier one has sent is not taken for its own.
    session: String,
    n_partitions: u16,
    order: SharedOrder,
    tracks_depth: bool,
    lease_time: Option<Duration>,
    first_rest: Duration,
    clock: Option<Clock>,
    reads_text: bool,
    position: Vec<u8>,
    state: Mutex<State>,
}

/// What a worker keeps between calls: nothing that a crawl would miss.
struct State {
    policy: Box<dyn OrderingPolicy>,
    known: KnownUrls,
    gauges: Vec<Gauges>,
    totals: Vec<Totals>,
    totals_at: Option<Instant>,
    /// The scores that leased URLs had.
    scores: HashMap<LeaseId, f32>,
    /// The partition that is asked first.
    turn: u16,
    n_batches: u64,
    /// A batch of which it is not known that all of it arrived.
    unfinished: Option<Batch>,
    /// Batches of others that seem to be left behind, and since when.
    left: HashMap<Vec<u8>, Instant>,
    left_at: Option<Instant>,
}

impl RedisFrontier {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nothing panics while it holds the state")
    }

    fn prefix(&self, partition: u16) -> String {
        format!("pith:{}:{{{partition}}}:", self.server.address().crawl())
    }

    fn partition_of(&self, host: &str) -> u16 {
        partition_of(host, self.n_partitions)
    }

    /// The position of this worker's sink that was last recorded, when it was opened.
    pub fn sink_position(&self) -> Vec<u8> {
        self.position.clone()
    }

    /// What every script is told first.
    fn arguments(&self) -> Vec<Vec<u8>> {
        let now = self.clock.as_ref().map_or(-1, |clock| clock.elapsed().as_millis() as i64);
        let (host_order, host_steps) = match self.order.hosts {
            HostOrder::Best => ("best", 0.0),
            HostOrder::Damped(steps) => ("damped", steps),
            HostOrder::Largest => ("largest", 0.0),
            HostOrder::LeastVisited => ("least", 0.0),
        };
        let (scores, steps) = match self.order.scores {
            ScoreOrder::None => ("none", 0.0),
            ScoreOrder::Halvings(steps) => ("halvings", steps),
            ScoreOrder::Count(first) => ("count", f32::from(first)),
            ScoreOrder::Given => ("given", 0.0),
        };
        let tracks_depth = u8::from(self.tracks_depth);
        let lease_time = self.lease_time.map_or(0, |time| time.as_millis());
        let first_rest = self.first_rest.as_millis();
        let texts = [
            now.to_string(),
            host_order.to_owned(),
            host_steps.to_string(),
            scores.to_owned(),
            steps.to_string(),
            tracks_depth.to_string(),
            lease_time.to_string(),
            first_rest.to_string(),
        ];
        texts.map(String::into_bytes).to_vec()
    }

    /// Runs a script on a partition and notes its figures.
    async fn run(&self, script: &Script, partition: u16, more: Vec<Vec<u8>>) -> Result<Value, FrontierError> {
        let mut arguments = self.arguments();
        arguments.extend(more);
        let answer = self.server.run(script, &self.prefix(partition), &arguments).await?;
        let (gauges, rest) = split_figures(answer)?;
        if let Some(kept) = self.lock().gauges.get_mut(usize::from(partition)) {
            *kept = gauges;
        }
        Ok(rest)
    }

    /// Notes the totals of a partition, which never go back, though a server that has lost its memory may.
    fn note_totals(&self, partition: u16, new: Totals) {
        let mut state = self.lock();
        let Some(kept) = state.totals.get_mut(usize::from(partition)) else { return };
        if kept.outcomes.len() < new.outcomes.len() {
            kept.outcomes.resize(new.outcomes.len(), 0);
        }
        kept.outcomes.iter_mut().zip(&new.outcomes).for_each(|(kept, new)| *kept = (*kept).max(*new));
        kept.bytes = kept.bytes.max(new.bytes);
        kept.milliseconds = kept.milliseconds.max(new.milliseconds);
    }

    /// Links that no page is settled with, by partition, without those about which nothing can change.
    fn group(&self, links: &[Link]) -> Vec<(u16, LinkMessage)> {
        let mut state = self.lock();
        let mut messages: Vec<(u16, LinkMessage)> = Vec::new();
        state.policy.no_source_page();
        for link in links {
            if !state.known.contains(fingerprint(&link.url)) {
                let found = score(&mut *state.policy, link);
                self.add(&mut messages, &found);
            }
        }
        messages
    }

    /// Adds a link to the message of its partition.
    fn add(&self, messages: &mut Vec<(u16, LinkMessage)>, found: &ScoredLink<'_>) {
        let partition = self.partition_of(&found.link.host());
        let open = |(number, message): &(u16, LinkMessage)| *number == partition && message.has_room();
        let index = messages.iter().position(open).unwrap_or_else(|| {
            messages.push((partition, LinkMessage::default()));
            messages.len() - 1
        });
        messages[index].1.add(found, self.order.scores);
    }

    /// Remembers the links about which nothing can change any more.
    fn remember(&self, fingerprints: &[u64], answers: &str) {
        let mut state = self.lock();
        for (&fingerprint, answer) in fingerprints.iter().zip(answers.chars()) {
            if matches!(answer, 'N' | 'f') {
                state.known.insert(fingerprint);
            }
        }
    }
}

/// What the policy says of a link that is new, and of the same link if it is known.
fn score<'l>(policy: &mut dyn OrderingPolicy, link: &'l Link) -> ScoredLink<'l> {
    let host = HostCounts { pending: 0, fetched: 0, best: Priority::LAST };
    let (mut first, mut more) = (0.0, 0.0);
    let priority = match link.kind {
        Kind::Page => policy.prioritize(link, &host, &mut first),
        Kind::Sitemap | Kind::Probe => Priority::FIRST,
    };
    if policy.keeps_scores() {
        policy.reprioritize(link, &host, &mut more);
    }
    ScoredLink { link, priority, first, more }
}

/// How long a host rests, and whether it was sent a request.
fn rest_arguments(rest: HostRest) -> [Vec<u8>; 2] {
    let (time, has_requested) = match rest {
        HostRest::AfterResponse(time) | HostRest::Aborted(time) => (time, "1"),
        HostRest::NotRequested(time) => (time, "0"),
    };
    // Rounded up: a host is never asked sooner than it was told.
    let milliseconds = time.as_micros().div_ceil(1000);
    [milliseconds.to_string().into_bytes(), has_requested.as_bytes().to_vec()]
}

/// The key of a lease as the scripts know it.
fn key_bytes(id: LeaseId) -> Vec<u8> {
    match id.key() & HOST_KEY {
        0 => (id.key() as u64).to_be_bytes().to_vec(),
        _ => b"host".to_vec(),
    }
}

fn partition_in(id: LeaseId) -> u16 {
    (id.key() >> 64) as u16
}

fn fence_bytes(id: LeaseId) -> Vec<u8> {
    id.fence().to_string().into_bytes()
}

/// A policy that cannot be shared.
fn needs_one_machine(policy: &dyn OrderingPolicy) -> Error {
    Error::Setting(format!(
        "the order `{}` needs one machine: it ranks all pages at once; a shared frontier takes {}",
        policy.name(),
        "opic, breadth, level, largest, least-visited, backlink and topic"
    ))
}
