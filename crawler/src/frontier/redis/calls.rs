//! The calls of a frontier, as scripts on its partitions.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use redis::cmd;
use url::Url;

use super::super::{
    Claim, ContentMatch, Frontier, FrontierError, Gauges, HostRest, HostTally, Lease, LeaseId, Leases, Link, Offered,
    SettledBatch, Settlement, StoredRobots, Totals, WorkerId, host_of,
};
use super::message::{Entry, fingerprint, partition_of};
use super::scripts::{bytes, list, number, signed, text, totals, unexpected};
use super::{HOST_KEY, RedisFrontier, fence_bytes, key_bytes, partition_in, rest_arguments};

/// How old totals of partitions that others settle may be.
const TOTALS_AGE: Duration = Duration::from_millis(500);
/// How long a robots.txt may be used.
const ROBOTS_SECONDS: u64 = 86_400;

/// What the partitions say together.
enum Asked {
    Leases(Leases),
    /// Nothing waits in any of them, and nothing is leased; their versions.
    Empty(Vec<(u16, u64)>),
}

impl Frontier for RedisFrontier {
    async fn offer(&self, links: &[Link]) -> Result<Offered, FrontierError> {
        let mut offered = Offered::default();
        for (partition, message) in self.group(links) {
            let mut arguments = Vec::new();
            message.write(&mut arguments);
            let answers = text(self.run(&self.scripts.offer, partition, arguments).await?)?;
            offered.new += answers.chars().filter(|answer| matches!(answer, 'n' | 'N')).count() as u64;
            self.remember(&message.fingerprints(), &answers);
        }
        offered.known = links.len() as u64 - offered.new;
        Ok(offered)
    }

    async fn expedite(&self, links: &[Link]) -> Result<(), FrontierError> {
        let messages = {
            let mut state = self.lock();
            state.policy.no_source_page();
            let mut messages = Vec::new();
            for link in links {
                let found = super::score(&mut *state.policy, link);
                self.add(&mut messages, &found);
            }
            messages
        };
        for (partition, message) in messages {
            let mut arguments = Vec::new();
            message.write(&mut arguments);
            self.run(&self.scripts.expedite, partition, arguments).await?;
        }
        Ok(())
    }

    async fn lease(&self, worker: &WorkerId, most: usize) -> Result<Leases, FrontierError> {
        self.deliver_left_batches().await?;
        let versions = match self.ask(worker, most).await? {
            Asked::Leases(leases) => return Ok(leases),
            Asked::Empty(_) if self.n_partitions == 1 => return Ok(Leases::Empty),
            Asked::Empty(versions) => versions,
        };
        // Links may have moved from a partition that was looked at later to one that was looked at before.
        match self.ask(worker, most).await? {
            Asked::Leases(leases) => Ok(leases),
            Asked::Empty(again) if again == versions => Ok(Leases::Empty),
            Asked::Empty(_) => Ok(Leases::Wait(Duration::from_millis(100))),
        }
    }

    fn lease_time(&self) -> Option<Duration> {
        self.lease_time
    }

    async fn renew(&self, worker: &WorkerId, leases: &[LeaseId]) -> Result<(), FrontierError> {
        match self.lost(worker, leases).await?.is_empty() {
            true => Ok(()),
            false => Err(FrontierError::Fenced),
        }
    }

    async fn rest(&self, lease: &Lease, rest: HostRest) -> Result<(), FrontierError> {
        self.end_request("rest", lease.id, rest).await
    }

    async fn give_back(&self, lease: &Lease, rest: HostRest) -> Result<(), FrontierError> {
        self.end_request("back", lease.id, rest).await?;
        self.lock().scores.remove(&lease.id);
        Ok(())
    }

    async fn claim(&self, worker: &WorkerId, host: &str) -> Result<Claim, FrontierError> {
        let partition = self.partition_of(host);
        let arguments = vec![worker.as_str().as_bytes().to_vec(), host.as_bytes().to_vec(), b"host".to_vec()];
        let mut answer = list(self.run(&self.scripts.claim, partition, arguments).await?)?.into_iter();
        let mut next = || answer.next().ok_or_else(unexpected);
        match text(next()?)?.as_str() {
            "busy" => Ok(Claim::Busy),
            "wait" => Ok(Claim::RetryAfter(Duration::from_millis(number(next()?)?))),
            _ => Ok(Claim::Granted(LeaseId::new(HOST_KEY | u128::from(partition) << 64, number(next()?)?))),
        }
    }

    async fn release(&self, claim: LeaseId, rest: HostRest) -> Result<(), FrontierError> {
        self.end_request("release", claim, rest).await
    }

    async fn match_content(&self, lease: &Lease, digest: u64) -> Result<ContentMatch, FrontierError> {
        let mut without_query = Vec::new();
        if lease.link.url.query().is_some() {
            let mut url = lease.link.url.clone();
            url.set_query(None);
            without_query = fingerprint(&url).to_be_bytes().to_vec();
        }
        let arguments =
            vec![fence_bytes(lease.id), key_bytes(lease.id), digest.to_string().into_bytes(), without_query];
        let answer = self.run(&self.scripts.content, partition_in(lease.id), arguments).await?;
        match text(answer)?.as_str() {
            "new" => Ok(ContentMatch::New),
            "unchanged" => Ok(ContentMatch::Unchanged),
            "duplicate" => Ok(ContentMatch::Duplicate),
            _ => Err(FrontierError::Fenced),
        }
    }

    async fn settle(
        &self,
        worker: &WorkerId,
        batch: &[Settlement],
        sink_position: &[u8],
    ) -> Result<SettledBatch, FrontierError> {
        self.settle_batch(worker, batch, sink_position).await
    }

    async fn set_host_budget(&self, budget: u64) -> Result<(), FrontierError> {
        let budget = i64::try_from(budget).unwrap_or(-1);
        for partition in 0..self.n_partitions {
            self.run(&self.scripts.budget, partition, vec![budget.to_string().into_bytes()]).await?;
        }
        Ok(())
    }

    async fn extend_scope(&self, url: &Url) -> Result<(), FrontierError> {
        let _: i64 = self.server.command(cmd("SADD").arg(self.prefix(0) + "scope").arg(url.as_str())).await?;
        Ok(())
    }

    async fn scope_extensions(&self) -> Result<Vec<Url>, FrontierError> {
        let urls: Vec<String> = self.server.command(cmd("SMEMBERS").arg(self.prefix(0) + "scope")).await?;
        Ok(urls.iter().filter_map(|url| url.parse().ok()).collect())
    }

    async fn store_robots(&self, origin: &str, robots: &StoredRobots) -> Result<(), FrontierError> {
        let seconds = robots.fetched_at.duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
        let value = [&seconds.to_be_bytes()[..], &robots.body].concat();
        let set = cmd("SET").arg(self.robots_key(origin)).arg(value).arg("EX").arg(ROBOTS_SECONDS).to_owned();
        let _: String = self.server.command(&set).await?;
        Ok(())
    }

    async fn stored_robots(&self, origin: &str) -> Result<Option<StoredRobots>, FrontierError> {
        let kept: Option<Vec<u8>> = self.server.command(cmd("GET").arg(self.robots_key(origin))).await?;
        let Some((seconds, body)) = kept.as_deref().and_then(<[u8]>::split_first_chunk::<8>) else { return Ok(None) };
        let fetched_at = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(u64::from_be_bytes(*seconds)));
        Ok(fetched_at.map(|fetched_at| StoredRobots { body: body.to_vec(), fetched_at }))
    }

    async fn hosts(&self, each: &mut dyn FnMut(HostTally<'_>)) -> Result<(), FrontierError> {
        for partition in 0..self.n_partitions {
            let mut cursor = b"0".to_vec();
            loop {
                let answer = self.run(&self.scripts.hosts, partition, vec![cursor]).await?;
                let mut answer = list(answer)?.into_iter();
                let mut next = || answer.next().ok_or_else(unexpected);
                cursor = bytes(next()?)?;
                for host in list(next()?)? {
                    let mut values = list(host)?.into_iter();
                    let mut next = || values.next().ok_or_else(unexpected);
                    let name = text(next()?)?;
                    let (pending, fetched, stored) = (number(next()?)?, number(next()?)?, number(next()?)?);
                    let (bytes, milliseconds) = (number(next()?)?, number(next()?)?);
                    each(HostTally { name: &name, pending, fetched, stored, bytes, milliseconds });
                }
                if cursor == b"0" {
                    break;
                }
            }
        }
        Ok(())
    }

    fn reads_text(&self) -> bool {
        self.reads_text
    }

    fn gauges(&self) -> Gauges {
        self.lock().gauges.iter().fold(Gauges::default(), |sum, part| Gauges {
            pending: sum.pending + part.pending,
            known: sum.known + part.known,
            leased: sum.leased + part.leased,
            ready_hosts: sum.ready_hosts + part.ready_hosts,
            hosts: sum.hosts + part.hosts,
            postponed: 0,
        })
    }

    fn totals(&self) -> Totals {
        let mut sum = Totals::default();
        for part in &self.lock().totals {
            sum.outcomes.resize(sum.outcomes.len().max(part.outcomes.len()), 0);
            sum.outcomes.iter_mut().zip(&part.outcomes).for_each(|(sum, count)| *sum += count);
            sum.bytes += part.bytes;
            sum.milliseconds += part.milliseconds;
        }
        sum
    }
}

impl RedisFrontier {
    /// Asks the partitions in turn, until there is enough.
    async fn ask(&self, worker: &WorkerId, most: usize) -> Result<Asked, FrontierError> {
        let (turn, wants_totals) = {
            let mut state = self.lock();
            let wants_totals = state.totals_at.is_none_or(|at| at.elapsed() > TOTALS_AGE);
            if wants_totals {
                state.totals_at = Some(Instant::now());
            }
            state.turn = (state.turn + 1) % self.n_partitions;
            (state.turn, wants_totals)
        };
        let home = partition_of(worker.as_str(), self.n_partitions);
        let mut granted = Vec::new();
        let (mut wait, mut versions, mut is_empty) = (None::<u64>, Vec::new(), true);
        for offset in 0..self.n_partitions {
            let partition = (turn + offset) % self.n_partitions;
            let left = most.max(1) - granted.len();
            let flag = |is_set: bool| if is_set { b"1".to_vec() } else { b"0".to_vec() };
            let arguments = vec![
                worker.as_str().as_bytes().to_vec(),
                left.to_string().into_bytes(),
                flag(wants_totals),
                flag(wants_totals && partition == home),
            ];
            let mut answer = list(self.run(&self.scripts.lease, partition, arguments).await?)?.into_iter();
            let mut next = || answer.next().ok_or_else(unexpected);
            let (leases, time, counted, version, n_left) = (next()?, next()?, next()?, next()?, next()?);
            for lease in list(leases)? {
                granted.push(self.read_lease(partition, list(lease)?)?);
            }
            if wants_totals {
                self.note_totals(partition, totals(counted)?);
            }
            versions.push((partition, number(version)?));
            match signed(time)? {
                time @ 0.. => wait = Some(wait.map_or(time as u64, |wait| wait.min(time as u64))),
                _ => is_empty &= number(n_left)? == 0,
            }
            if granted.len() >= most.max(1) {
                break;
            }
        }
        if !granted.is_empty() {
            return Ok(Asked::Leases(Leases::Granted(granted)));
        }
        versions.sort_unstable();
        match wait {
            Some(milliseconds) => Ok(Asked::Leases(Leases::Wait(Duration::from_millis(milliseconds.max(1))))),
            None if is_empty => Ok(Asked::Empty(versions)),
            None => Ok(Asked::Leases(Leases::Wait(Duration::from_millis(100)))),
        }
    }

    fn robots_key(&self, origin: &str) -> String {
        let host = origin.parse::<Url>().map_or_else(|_| origin.to_owned(), |url| host_of(&url));
        format!("{}robots:{origin}", self.prefix(self.partition_of(&host)))
    }

    fn read_lease(&self, partition: u16, values: Vec<redis::Value>) -> Result<Lease, FrontierError> {
        let mut values = values.into_iter();
        let mut next = || values.next().ok_or_else(unexpected);
        let (fence, host, entry) = (number(next()?)?, text(next()?)?, bytes(next()?)?);
        let score: f32 = text(next()?)?.parse().map_err(|_| unexpected())?;
        let Entry { fingerprint, link, attempts } = Entry::read(&entry, &host).ok_or_else(unexpected)?;
        let id = LeaseId::new(u128::from(partition) << 64 | u128::from(fingerprint), fence);
        self.lock().scores.insert(id, score);
        Ok(Lease { link, attempts, validators: None, patience: None, id })
    }

    /// Renews leases; gives those that have ended.
    pub(super) async fn lost(&self, worker: &WorkerId, leases: &[LeaseId]) -> Result<Vec<LeaseId>, FrontierError> {
        let mut lost = Vec::new();
        for partition in 0..self.n_partitions {
            let ours: Vec<LeaseId> = leases.iter().copied().filter(|id| partition_in(*id) == partition).collect();
            if ours.is_empty() {
                continue;
            }
            let mut arguments = vec![worker.as_str().as_bytes().to_vec()];
            ours.iter().for_each(|id| arguments.extend([fence_bytes(*id), key_bytes(*id)]));
            let answer = self.run(&self.scripts.renew, partition, arguments).await?;
            for fence in list(answer)? {
                let fence = number(fence)?;
                lost.extend(ours.iter().copied().filter(|id| id.fence() == fence));
            }
        }
        Ok(lost)
    }

    async fn end_request(&self, what: &str, id: LeaseId, rest: HostRest) -> Result<(), FrontierError> {
        let mut arguments = vec![what.as_bytes().to_vec(), fence_bytes(id), key_bytes(id)];
        arguments.extend(rest_arguments(rest));
        match number(self.run(&self.scripts.rest, partition_in(id), arguments).await?)? {
            0 => Err(FrontierError::Fenced),
            _ => Ok(()),
        }
    }
}
