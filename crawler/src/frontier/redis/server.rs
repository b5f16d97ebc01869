//! The connection to Redis: one server or a cluster, over TCP, TLS or a socket. It is made again when it breaks.

use std::sync::Mutex;
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::cluster::ClusterClient;
use redis::cluster_async::ClusterConnection;
use redis::{AsyncConnectionConfig, Client, Cmd, FromRedisValue, RedisError, Script, Value};

use super::super::FrontierError;
use crate::error::Error;

/// The time to connect.
const CONNECT_TIME: Duration = Duration::from_secs(5);
/// The time for an answer; the caller of a frontier waits a little longer.
const ANSWER_TIME: Duration = Duration::from_secs(8);

/// Where a shared frontier is, from `redis://[USER:PASSWORD@]HOST[:PORT][/DB][#CRAWL]`; `rediss` for TLS, `unix` for a
/// socket, and `redis-cluster` or `rediss-cluster` with one or more `HOST:PORT`, separated by commas.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RedisAddress {
    nodes: Vec<String>,
    is_cluster: bool,
    crawl: String,
}

impl RedisAddress {
    /// Whether it is a cluster.
    pub fn is_cluster(&self) -> bool {
        self.is_cluster
    }

    /// The name of the crawl, which all its keys begin with.
    pub fn crawl(&self) -> &str {
        &self.crawl
    }
}

impl std::str::FromStr for RedisAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<RedisAddress, String> {
        let (address, crawl) = text.split_once('#').unwrap_or((text, "pith"));
        let is_word = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if crawl.is_empty() || crawl.len() > 100 || !crawl.chars().all(is_word) {
            return Err("the name of a crawl, behind #, is of letters, digits and -_.".to_owned());
        }
        let (scheme, rest) = address.split_once("://").ok_or("expected redis://HOST:PORT")?;
        let (is_cluster, scheme) = match scheme {
            "redis" | "rediss" | "unix" | "redis+unix" => (false, scheme),
            "redis-cluster" => (true, "redis"),
            "rediss-cluster" => (true, "rediss"),
            _ => return Err(format!("{scheme:?} is none of redis, rediss, unix and redis-cluster")),
        };
        let nodes: Vec<String> = match is_cluster {
            false => vec![format!("{scheme}://{rest}")],
            true => rest.split(',').map(|node| format!("{scheme}://{node}")).collect(),
        };
        for node in &nodes {
            redis::parse_redis_url(node).ok_or_else(|| format!("{node} is no address of a Redis server"))?;
        }
        Ok(RedisAddress { nodes, is_cluster, crawl: crawl.to_owned() })
    }
}

#[derive(Clone)]
enum Connection {
    One(MultiplexedConnection),
    Cluster(ClusterConnection),
}

/// A server or a cluster.
pub(super) struct Server {
    address: RedisAddress,
    connection: Mutex<Option<Connection>>,
}

impl Server {
    pub(super) fn new(address: RedisAddress) -> Server {
        Server { address, connection: Mutex::new(None) }
    }

    pub(super) fn address(&self) -> &RedisAddress {
        &self.address
    }

    async fn connection(&self) -> Result<Connection, FrontierError> {
        if let Some(connection) = self.current().clone() {
            return Ok(connection);
        }
        // A process has one provider; the crawl's own client takes the same.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let connection = match self.address.is_cluster {
            false => {
                let client = Client::open(self.address.nodes[0].as_str()).map_err(unavailable)?;
                let config = AsyncConnectionConfig::new()
                    .set_connection_timeout(Some(CONNECT_TIME))
                    .set_response_timeout(Some(ANSWER_TIME));
                let made = client.get_multiplexed_async_connection_with_config(&config).await;
                Connection::One(made.map_err(unavailable)?)
            }
            true => {
                let client = ClusterClient::builder(self.address.nodes.iter().map(String::as_str))
                    .connection_timeout(CONNECT_TIME)
                    .response_timeout(ANSWER_TIME)
                    .build()
                    .map_err(unavailable)?;
                Connection::Cluster(client.get_async_connection().await.map_err(unavailable)?)
            }
        };
        *self.current() = Some(connection.clone());
        Ok(connection)
    }

    fn current(&self) -> std::sync::MutexGuard<'_, Option<Connection>> {
        self.connection.lock().expect("nothing panics while it holds the connection")
    }

    /// Runs a script on the keys with a prefix.
    pub(super) async fn run(
        &self,
        script: &Script,
        prefix: &str,
        arguments: &[Vec<u8>],
    ) -> Result<Value, FrontierError> {
        let mut call = script.key(prefix);
        call.arg(arguments);
        let answer = match self.connection().await? {
            Connection::One(mut connection) => call.invoke_async(&mut connection).await,
            Connection::Cluster(mut connection) => call.invoke_async(&mut connection).await,
        };
        answer.map_err(|error| self.failed(error))
    }

    /// Runs one command.
    pub(super) async fn command<T: FromRedisValue>(&self, command: &Cmd) -> Result<T, FrontierError> {
        let answer = match self.connection().await? {
            Connection::One(mut connection) => command.query_async(&mut connection).await,
            Connection::Cluster(mut connection) => command.query_async(&mut connection).await,
        };
        answer.map_err(|error| self.failed(error))
    }

    fn failed(&self, error: RedisError) -> FrontierError {
        if error.is_io_error() || error.is_connection_dropped() || error.is_timeout() || error.is_unrecoverable_error()
        {
            *self.current() = None;
            return unavailable(error);
        }
        // The server is there and will do it later: when it has loaded its data, memory, a disk, or is a master again.
        const PASSING: [&str; 9] =
            ["OOM", "LOADING", "BUSY", "READONLY", "MISCONF", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN", "NOREPLICAS"];
        let text = error.to_string();
        let has_passing = |code: &str| PASSING.contains(&code);
        if error.code().is_some_and(has_passing) || error.is_cluster_error() || PASSING.iter().any(|p| text.contains(p))
        {
            if text.contains("READONLY") {
                // A replica now: the name may lead to another server.
                *self.current() = None;
            }
            return unavailable(error);
        }
        FrontierError::Damaged(Error::Setting(format!("the shared frontier: {text}")))
    }
}

fn unavailable(error: RedisError) -> FrontierError {
    FrontierError::Unavailable(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::RedisAddress;

    #[test]
    fn addresses_name_servers_and_the_crawl() {
        let parsed = |text: &str| text.parse::<RedisAddress>();
        let one = parsed("redis://h:1/2#news").unwrap();
        assert_eq!((one.crawl(), one.is_cluster(), one.nodes.len()), ("news", false, 1));
        let three = parsed("redis-cluster://a:1,b:2,c:3").unwrap();
        assert_eq!((three.crawl(), three.is_cluster(), three.nodes.len()), ("pith", true, 3));
        assert!(parsed("unix:///run/redis.sock").is_ok());
        for bad in ["redis://h#", "redis://h#a b", "http://h", "h:1", "redis://h#{x}"] {
            assert!(parsed(bad).is_err(), "{bad}");
        }
    }
}
