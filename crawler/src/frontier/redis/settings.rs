//! Opening a shared frontier: what the server must promise, and what all workers must agree on.

use std::collections::BTreeMap;
use std::sync::Mutex;

use hashbrown::HashMap;
use redis::{Script, cmd};

use super::super::{Frontier, Gauges, Totals};
use super::known::KnownUrls;
use super::message::partition_of;
use super::scripts::Scripts;
use super::server::Server;
use super::{CLUSTER_PARTITIONS, MAX_REMEMBERED, RedisFrontier, RedisOptions, State, needs_one_machine};
use crate::error::Error;
use crate::order::OrderingPolicy;

/// The version of what stands in Redis.
const FORMAT: &str = "1";

/// The settings that belong to the crawl, by the names of the flags: every worker must have the same.
pub type CrawlSettings = BTreeMap<String, String>;

impl RedisFrontier {
    /// Joins a crawl, or begins it.
    ///
    /// # Errors
    /// When the server cannot be reached, keeps nothing on disk or may drop what it was told, when the policy needs one
    /// machine, and when the crawl has other settings.
    pub async fn open(options: RedisOptions, settings: &CrawlSettings) -> Result<RedisFrontier, Error> {
        let order = options.policy.shared().ok_or_else(|| needs_one_machine(&*options.policy))?;
        let server = Server::new(options.address);
        check_persistence(&server, options.allow_volatile).await?;
        let default = if server.address().is_cluster() { CLUSTER_PARTITIONS } else { 1 };
        let n_partitions = options.partitions.unwrap_or(default).max(1);
        let n_partitions = agree(&server, &*options.policy, n_partitions, settings).await?;
        let session = session();
        let count = usize::from(n_partitions);
        let mut policy = options.policy;
        let prefix = format!("pith:{}:{{{}}}:", server.address().crawl(), partition_of(&options.worker, n_partitions));
        let key = prefix + "w:" + &options.worker;
        let before: Option<Vec<u8>> = server.command(cmd("HGET").arg(&key).arg("policy")).await?;
        policy.resume(before.as_deref().unwrap_or_default());
        let mut frontier = RedisFrontier {
            reads_text: policy.reads_text(),
            server,
            scripts: Scripts::default(),
            worker: options.worker,
            session,
            n_partitions,
            order,
            tracks_depth: options.tracks_depth,
            lease_time: options.lease_time,
            first_rest: options.first_rest,
            clock: options.clock,
            position: Vec::new(),
            state: Mutex::new(State {
                policy,
                known: KnownUrls::new(MAX_REMEMBERED),
                gauges: vec![Gauges::default(); count],
                totals: vec![Totals::default(); count],
                totals_at: None,
                scores: HashMap::new(),
                turn: 0,
                n_batches: 0,
                unfinished: None,
                left: HashMap::new(),
                left_at: None,
            }),
        };
        frontier.deliver_own().await?;
        let position: Option<Vec<u8>> = frontier.server.command(cmd("HGET").arg(&key).arg("position")).await?;
        frontier.position = position.unwrap_or_default();
        frontier.set_host_budget(options.host_budget).await?;
        for partition in 0..n_partitions {
            let kept = cmd("HGETALL").arg(frontier.prefix(partition) + "totals").to_owned();
            let flat: Vec<redis::Value> = frontier.server.command(&kept).await?;
            frontier.note_totals(partition, super::scripts::totals(redis::Value::Array(flat))?);
        }
        Ok(frontier)
    }
}

/// A name that no other run of a worker has.
fn session() -> String {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    format!("{:x}-{:x}", since.as_nanos(), std::process::id())
}

/// Refuses a server that forgets.
async fn check_persistence(server: &Server, allow_volatile: bool) -> Result<(), Error> {
    if allow_volatile {
        return Ok(());
    }
    // Servers of others may not let their settings be read, but all tell this.
    let persistence: String = server.command(cmd("INFO").arg("persistence")).await?;
    if !persistence.contains("aof_enabled:1") {
        return Err(Error::Setting(
            "the Redis server has no append-only file: when it ends, the crawl would be lost; \
             set `appendonly yes` there, or take the risk with `--allow-volatile`"
                .to_owned(),
        ));
    }
    let memory: String = server.command(cmd("INFO").arg("memory")).await?;
    let policy = memory.lines().find_map(|line| line.strip_prefix("maxmemory_policy:")).unwrap_or("noeviction").trim();
    if policy.starts_with("allkeys") && !memory.contains("maxmemory:0\r") {
        return Err(Error::Setting(format!(
            "the Redis server drops keys when it is full (`maxmemory-policy {policy}`): set `noeviction` there, \
             or take the risk with `--allow-volatile`"
        )));
    }
    Ok(())
}

/// Writes down what the crawl is, or compares it with what was written down; gives the number of partitions.
async fn agree(
    server: &Server,
    policy: &dyn OrderingPolicy,
    n_partitions: u16,
    settings: &CrawlSettings,
) -> Result<u16, Error> {
    let key = format!("pith:{}:{{0}}:", server.address().crawl());
    let script = Script::new(
        "if redis.call('EXISTS', KEYS[1] .. 'settings') == 0 then
           redis.call('HSET', KEYS[1] .. 'settings', unpack(ARGV))
         end
         return redis.call('HGETALL', KEYS[1] .. 'settings')",
    );
    let mut ours = settings.clone();
    ours.insert("--order".to_owned(), policy.name().to_owned());
    ours.insert("format".to_owned(), FORMAT.to_owned());
    let mut arguments: Vec<Vec<u8>> = Vec::new();
    let partitions = ("partitions".to_owned(), n_partitions.to_string());
    for (name, value) in ours.iter().chain([(&partitions.0, &partitions.1)]) {
        arguments.extend([name.clone().into_bytes(), value.clone().into_bytes()]);
    }
    let answer = server.run(&script, &key, &arguments).await?;
    let mut values = super::scripts::list(answer)?.into_iter();
    let mut theirs = CrawlSettings::new();
    while let (Some(name), Some(value)) = (values.next(), values.next()) {
        theirs.insert(super::scripts::text(name)?, super::scripts::text(value)?);
    }
    let n_partitions = theirs.remove("partitions").and_then(|number| number.parse().ok());
    let mut differences = Vec::new();
    let names: std::collections::BTreeSet<&String> = ours.keys().chain(theirs.keys()).collect();
    for name in names {
        let (mine, kept) = (ours.get(name), theirs.get(name));
        if mine != kept {
            let shown = |value: Option<&String>| value.map_or("not set".to_owned(), |value| format!("{value:?}"));
            differences.push(format!("{name} is {} there and {} here", shown(kept), shown(mine)));
        }
    }
    match (differences.is_empty(), n_partitions) {
        (true, Some(n_partitions)) => Ok(n_partitions),
        (true, None) => Err(super::scripts::unexpected().into()),
        (false, _) => Err(Error::Setting(format!(
            "the crawl {:?} has other settings: {}",
            server.address().crawl(),
            differences.join("; ")
        ))),
    }
}
