//! DNS resolution: cached, and only public addresses unless the user allows others.
//!
//! The addresses that are passed to the connector are checked, so that a second look-up with another result (DNS
//! rebinding) cannot bypass the check.

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::pin::Pin;
use std::str::FromStr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use tokio::sync::Notify;

use crate::trouble::{has_network, is_in_trouble};

/// How long a look-up is cached.
const TTL: Duration = Duration::from_secs(300);
/// How long a failed look-up is cached.
const FAILED_TTL: Duration = Duration::from_secs(30);
/// Names kept at most.
const MAX_NAMES: usize = 100_000;
/// The time after which a name that was not resolved has no address.
const DEADLINE: Duration = Duration::from_secs(5);
/// Names that are looked up at once. Each look-up blocks a thread, also when its deadline has passed.
const MAX_LOOKUPS: usize = 128;

/// The pause before a look-up is repeated that failed because of trouble of this machine.
const TROUBLE_PAUSE: Duration = Duration::from_millis(500);

/// `HOST=ADDRESS:PORT`, where the host may be `*`: a fixed address for a host, instead of DNS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Override {
    host: String,
    address: SocketAddr,
}

impl FromStr for Override {
    type Err = String;

    fn from_str(text: &str) -> Result<Override, String> {
        let (host, address) = text.split_once('=').ok_or("expected HOST=ADDRESS:PORT")?;
        let address = match address.parse() {
            Ok(address) => address,
            Err(_) => SocketAddr::new(address.parse().map_err(|_| format!("{address:?} is not an address"))?, 0),
        };
        if host.is_empty() {
            return Err("expected a host name or * before the =".to_owned());
        }
        if host == "*" {
            return Ok(Override { host: host.to_owned(), address });
        }
        // As URLs spell it: lower case, and names in other scripts in their ASCII form.
        let host = url::Host::parse(host).map_err(|error| format!("{host:?} is not a host name: {error}"))?;
        Ok(Override { host: host.to_string(), address })
    }
}

/// Why a name has no usable address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoAddress {
    /// The name has no address.
    Unknown,
    /// It has none that is allowed.
    Blocked,
}

impl fmt::Display for NoAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            NoAddress::Unknown => "the name has no address",
            NoAddress::Blocked => "the address is not public",
        })
    }
}

impl std::error::Error for NoAddress {}

/// The addresses of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Resolved {
    pub(crate) addresses: Arc<[SocketAddr]>,
    /// From an override of the user: the per-address limits do not apply.
    pub(crate) by_override: bool,
}

/// The resolver of one crawl.
#[derive(Clone)]
pub(crate) struct Resolver(Arc<Shared>);

struct Shared {
    overrides: Vec<Override>,
    allow_private: bool,
    cache: Mutex<HashMap<String, Cached>>,
    /// Look-ups that have not ended, and when they began.
    running: Mutex<HashMap<String, Instant>>,
    /// Notified when a look-up has ended.
    has_ended: Notify,
    look_up: LookUp,
    had_network: bool,
}

/// Asks the system's resolver.
type LookUp = fn(String) -> Pin<Box<dyn Future<Output = io::Result<Vec<SocketAddr>>> + Send>>;

fn ask_system(host: String) -> Pin<Box<dyn Future<Output = io::Result<Vec<SocketAddr>>> + Send>> {
    Box::pin(async move { Ok(tokio::net::lookup_host((host, 0)).await?.collect()) })
}

/// The expiry of a cached look-up, and its result.
type Cached = (Instant, Result<Resolved, NoAddress>);

impl Resolver {
    pub(crate) fn new(overrides: Vec<Override>, allow_private: bool) -> Resolver {
        Resolver::with_look_up(overrides, allow_private, ask_system)
    }

    fn with_look_up(overrides: Vec<Override>, allow_private: bool, look_up: LookUp) -> Resolver {
        Resolver(Arc::new(Shared {
            overrides,
            allow_private,
            cache: Mutex::default(),
            running: Mutex::default(),
            has_ended: Notify::new(),
            look_up,
            had_network: has_network(),
        }))
    }

    /// Resolves a host by the overrides, the cache or the system's resolver, within five seconds.
    pub(crate) async fn lookup(&self, host: &str) -> Result<Resolved, NoAddress> {
        match tokio::time::timeout(DEADLINE, self.wait_for(host)).await {
            Ok(found) => found,
            Err(_) => Err(NoAddress::Unknown),
        }
    }

    /// Resolves a host if that takes no longer than `patience`; otherwise gives the time after which to ask again.
    pub(crate) async fn lookup_within(
        &self,
        host: &str,
        patience: Duration,
    ) -> Result<Result<Resolved, NoAddress>, Duration> {
        match tokio::time::timeout(patience, self.wait_for(host)).await {
            Ok(found) => Ok(found),
            Err(_) => {
                let running = self.0.running.lock().expect("no panic while it is held");
                let elapsed = running.get(host).map_or(patience, Instant::elapsed);
                Err(elapsed.clamp(Duration::from_millis(200), Duration::from_secs(2)))
            }
        }
    }

    async fn wait_for(&self, host: &str) -> Result<Resolved, NoAddress> {
        loop {
            let has_ended = self.0.has_ended.notified();
            tokio::pin!(has_ended);
            has_ended.as_mut().enable();
            match self.look_up(host) {
                Some(found) => return found,
                None => has_ended.await,
            }
        }
    }

    /// The addresses of a host, if they are known; otherwise its look-up is started, when not too many are running.
    fn look_up(&self, host: &str) -> Option<Result<Resolved, NoAddress>> {
        // The connector does not resolve literal addresses, so overrides do not apply to them.
        let literal = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
        if let Ok(address) = literal {
            return Some(self.permitted(vec![SocketAddr::new(address, 0)]));
        }
        if let Some(by_override) = self.overridden(host) {
            return Some(Ok(by_override));
        }
        if let Some(known) = self.known(host) {
            return Some(known);
        }
        let mut running = self.0.running.lock().expect("no panic while it is held");
        match running.get(host) {
            Some(started) if started.elapsed() >= DEADLINE => Some(Err(NoAddress::Unknown)),
            None if running.len() < MAX_LOOKUPS => {
                running.insert(host.to_owned(), Instant::now());
                tokio::spawn(self.clone().finish_look_up(host.to_owned()));
                None
            }
            _ => None,
        }
    }

    async fn finish_look_up(self, host: String) {
        let found = match (self.0.look_up)(host.clone()).await {
            Ok(addresses) => self.permitted(addresses),
            Err(_) if is_in_trouble(self.0.had_network) => return self.give_up(&host).await,
            Err(_) => Err(NoAddress::Unknown),
        };
        let ttl = if found.is_ok() { TTL } else { FAILED_TTL };
        let mut cache = self.0.cache.lock().expect("no panic while it is held");
        if cache.len() >= MAX_NAMES {
            cache.clear();
        }
        cache.insert(host.clone(), (Instant::now() + ttl, found));
        drop(cache);
        self.0.running.lock().expect("no panic while it is held").remove(&host);
        self.0.has_ended.notify_waiters();
    }

    /// Nothing was learnt about a name, because this machine is in trouble: whoever waits for it starts another look-up
    /// after a pause.
    async fn give_up(&self, host: &str) {
        tokio::time::sleep(TROUBLE_PAUSE).await;
        self.0.running.lock().expect("no panic while it is held").remove(host);
        self.0.has_ended.notify_waiters();
    }

    fn overridden(&self, host: &str) -> Option<Resolved> {
        let matching = |entry: &&Override| entry.host == host;
        let any = |entry: &&Override| entry.host == "*";
        let entry = self.0.overrides.iter().find(matching).or_else(|| self.0.overrides.iter().find(any))?;
        Some(Resolved { addresses: Arc::new([entry.address]), by_override: true })
    }

    fn known(&self, host: &str) -> Option<Result<Resolved, NoAddress>> {
        let cache = self.0.cache.lock().expect("no panic while it is held");
        cache.get(host).filter(|(until, _)| *until > Instant::now()).map(|(_, found)| found.clone())
    }

    /// Removes the addresses that are not allowed.
    fn permitted(&self, mut addresses: Vec<SocketAddr>) -> Result<Resolved, NoAddress> {
        if addresses.is_empty() {
            return Err(NoAddress::Unknown);
        }
        if !self.0.allow_private {
            addresses.retain(|address| is_public(address.ip()));
        }
        if addresses.is_empty() {
            return Err(NoAddress::Blocked);
        }
        Ok(Resolved { addresses: addresses.into(), by_override: false })
    }
}

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let resolver = self.clone();
        Box::pin(async move {
            let resolved = resolver.lookup(name.as_str()).await?;
            let addresses: Vec<SocketAddr> = resolved.addresses.to_vec();
            Ok(Box::new(addresses.into_iter()) as Addrs)
        })
    }
}

/// Whether an address is globally routable.
pub(crate) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let special = address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_multicast()
        || address.is_broadcast()
        || address.is_documentation()
        || a == 0
        || a >= 240
        || (a == 100 && (64..128).contains(&b)) // carrier-grade NAT
        || (a == 192 && b == 0 && c == 0) // protocol assignments
        || (a == 192 && b == 88 && c == 99) // 6to4 relays
        || (a == 198 && (18..20).contains(&b)); // benchmarks
    !special
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    let embedded = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        is_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    match segments {
        // Embedded IPv4 addresses: mapped, NAT64 and 6to4.
        [0, 0, 0, 0, 0, 0xffff, high, low] => embedded(high, low),
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => embedded(high, low),
        [0x2002, high, low, ..] => embedded(high, low),
        [0x2001, 0x0db8, ..] => false,                    // documentation
        [0x3fff, second, ..] if second < 0x1000 => false, // documentation, RFC 9637
        [0x2001, second, ..] if second < 0x0200 => false, // protocol assignments, Teredo
        [first, ..] => (0x2000..0x4000).contains(&first), // global unicast
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_public_addresses_are_public() {
        for text in [
            "1.1.1.1",
            "93.184.216.34",
            "192.0.1.1",
            "2606:4700::1111",
            "::ffff:8.8.8.8",
            "64:ff9b::808:808",
            "3fff:1000::1",
        ] {
            assert!(is_public(text.parse().unwrap()), "{text}");
        }
        let others = "0.0.0.0 10.1.2.3 100.64.0.1 127.0.0.1 169.254.169.254 172.16.0.1 192.168.1.1 198.18.0.1 224.0.0.1 \
                      255.255.255.255 ::1 :: fe80::1 fc00::1 fd00:ec2::254 ff02::1 ::ffff:10.0.0.1 ::ffff:127.0.0.1 \
                      64:ff9b::a9fe:a9fe 2002:7f00:1:: ::127.0.0.1 2001:db8::1 3fff::1 3fff:fff:ffff::1";
        for text in others.split_whitespace() {
            assert!(!is_public(text.parse().unwrap()), "{text}");
        }
    }

    #[tokio::test]
    async fn a_literal_is_checked_like_a_name() {
        let resolver = Resolver::new(Vec::new(), false);
        assert_eq!(resolver.lookup("169.254.169.254").await, Err(NoAddress::Blocked));
        assert_eq!(resolver.lookup("[::1]").await, Err(NoAddress::Blocked));
        assert_eq!(resolver.lookup("localhost").await, Err(NoAddress::Blocked));
        assert!(Resolver::new(Vec::new(), true).lookup("127.0.0.1").await.is_ok());
    }

    /// Names that begin with `mute` never get an answer.
    fn half_mute(host: String) -> Pin<Box<dyn Future<Output = io::Result<Vec<SocketAddr>>> + Send>> {
        Box::pin(async move {
            if host.starts_with("mute") {
                std::future::pending::<()>().await;
            }
            Ok(vec!["192.0.2.1:0".parse().unwrap()])
        })
    }

    #[tokio::test]
    async fn mute_names_hold_nobody_up_and_have_no_address_in_the_end() {
        let resolver = Resolver::with_look_up(Vec::new(), true, half_mute);
        let patience = Duration::from_millis(2);
        for number in 0..MAX_LOOKUPS / 2 {
            assert!(resolver.lookup_within(&format!("mute{number}.test"), patience).await.is_err());
        }
        assert!(matches!(resolver.lookup_within("a.test", Duration::from_secs(5)).await, Ok(Ok(_))));
        let long_ago = Instant::now().checked_sub(DEADLINE).unwrap();
        resolver.0.running.lock().unwrap().insert("mute0.test".to_owned(), long_ago);
        assert_eq!(resolver.lookup_within("mute0.test", patience).await, Ok(Err(NoAddress::Unknown)));
        for number in 0..MAX_LOOKUPS {
            let _ = resolver.lookup_within(&format!("mute{number}.test"), patience).await;
        }
        assert_eq!(resolver.0.running.lock().unwrap().len(), MAX_LOOKUPS, "their threads are bounded");
        assert!(matches!(resolver.lookup_within("a.test", patience).await, Ok(Ok(_))), "what is known stays so");
    }

    #[tokio::test]
    async fn an_override_wins_and_its_own_name_wins_over_any() {
        let overrides = ["*=127.0.0.1:81", "a.test=127.0.0.2:82"].map(|text| text.parse().unwrap()).to_vec();
        let resolver = Resolver::new(overrides, false);
        assert_eq!(resolver.lookup("a.test").await.unwrap().addresses[0].port(), 82);
        let other = resolver.lookup("b.test").await.unwrap();
        assert_eq!((other.addresses[0].port(), other.by_override), (81, true));
        assert_eq!(resolver.lookup("10.0.0.1").await, Err(NoAddress::Blocked), "but not for a literal");
        assert!("=1.2.3.4:5".parse::<Override>().is_err());
        assert!("a.test=here".parse::<Override>().is_err());
    }
}
