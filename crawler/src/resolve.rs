//! Names become addresses: cached, and only public ones unless the user says otherwise.
//!
//! The check is made on the addresses that are handed to the connector, so that the address that was checked is the
//! address that is connected, whatever a second look-up would have said.

use std::collections::HashMap;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::str::FromStr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

/// How long an answer of the system's resolver is believed.
const TTL: Duration = Duration::from_secs(300);
/// How long a failed look-up is believed.
const FAILED_TTL: Duration = Duration::from_secs(30);
/// Names kept at most.
const MAX_NAMES: usize = 100_000;

/// `HOST=ADDRESS:PORT`, where the host may be `*`: where connections to a host go, whatever its name says.
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
        Ok(Override { host: host.to_ascii_lowercase(), address })
    }
}

/// Why a name leads nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoAddress {
    /// The name has no address.
    Unknown,
    /// It has none that may be connected.
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

/// Where a host is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Located {
    pub(crate) addresses: Arc<[SocketAddr]>,
    /// The user said so: the address does not count as one that hosts share.
    pub(crate) by_override: bool,
}

/// The resolver of one crawl.
#[derive(Clone)]
pub(crate) struct Resolver(Arc<Shared>);

struct Shared {
    overrides: Vec<Override>,
    allow_private: bool,
    cache: Mutex<HashMap<String, Cached>>,
}

/// An answer, and until when it is believed.
type Cached = (Instant, Result<Located, NoAddress>);

impl Resolver {
    pub(crate) fn new(overrides: Vec<Override>, allow_private: bool) -> Resolver {
        Resolver(Arc::new(Shared { overrides, allow_private, cache: Mutex::new(HashMap::new()) }))
    }

    /// Where a host is, by the cache, the overrides or the system's resolver.
    pub(crate) async fn locate(&self, host: &str) -> Result<Located, NoAddress> {
        // The connector never asks about a literal address, so an override could not lead it elsewhere.
        let literal = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
        if let Ok(address) = literal {
            return self.checked(vec![SocketAddr::new(address, 0)]);
        }
        if let Some(by_override) = self.overridden(host) {
            return Ok(by_override);
        }
        if let Some(known) = self.known(host) {
            return known;
        }
        let found = match tokio::net::lookup_host((host, 0)).await {
            Ok(addresses) => self.checked(addresses.collect()),
            Err(_) => Err(NoAddress::Unknown),
        };
        let ttl = if found.is_ok() { TTL } else { FAILED_TTL };
        let mut cache = self.0.cache.lock().expect("no panic while it is held");
        if cache.len() >= MAX_NAMES {
            cache.clear();
        }
        cache.insert(host.to_owned(), (Instant::now() + ttl, found.clone()));
        found
    }

    fn overridden(&self, host: &str) -> Option<Located> {
        let matching = |entry: &&Override| entry.host == host;
        let any = |entry: &&Override| entry.host == "*";
        let entry = self.0.overrides.iter().find(matching).or_else(|| self.0.overrides.iter().find(any))?;
        Some(Located { addresses: Arc::new([entry.address]), by_override: true })
    }

    fn known(&self, host: &str) -> Option<Result<Located, NoAddress>> {
        let cache = self.0.cache.lock().expect("no panic while it is held");
        cache.get(host).filter(|(until, _)| *until > Instant::now()).map(|(_, found)| found.clone())
    }

    /// Leaves the addresses that may be connected.
    fn checked(&self, mut addresses: Vec<SocketAddr>) -> Result<Located, NoAddress> {
        if addresses.is_empty() {
            return Err(NoAddress::Unknown);
        }
        if !self.0.allow_private {
            addresses.retain(|address| is_public(address.ip()));
        }
        if addresses.is_empty() {
            return Err(NoAddress::Blocked);
        }
        Ok(Located { addresses: addresses.into(), by_override: false })
    }
}

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let resolver = self.clone();
        Box::pin(async move {
            let located = resolver.locate(name.as_str()).await?;
            let addresses: Vec<SocketAddr> = located.addresses.to_vec();
            Ok(Box::new(addresses.into_iter()) as Addrs)
        })
    }
}

/// Whether an address belongs to the public Internet.
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
        // An IPv4 address in another coat: mapped, translated by NAT64, or 6to4.
        [0, 0, 0, 0, 0, 0xffff, high, low] => embedded(high, low),
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => embedded(high, low),
        [0x2002, high, low, ..] => embedded(high, low),
        [0x2001, 0x0db8, ..] => false,                    // documentation
        [0x2001, second, ..] if second < 0x0200 => false, // protocol assignments, Teredo
        [first, ..] => (0x2000..0x4000).contains(&first), // global unicast
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_public_addresses_are_public() {
        for text in ["1.1.1.1", "93.184.216.34", "192.0.1.1", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"] {
            assert!(is_public(text.parse().unwrap()), "{text}");
        }
        let others = "0.0.0.0 10.1.2.3 100.64.0.1 127.0.0.1 169.254.169.254 172.16.0.1 192.168.1.1 198.18.0.1 224.0.0.1 \
                      255.255.255.255 ::1 :: fe80::1 fc00::1 fd00:ec2::254 ff02::1 ::ffff:10.0.0.1 ::ffff:127.0.0.1 \
                      64:ff9b::a9fe:a9fe 2002:7f00:1:: ::127.0.0.1 2001:db8::1";
        for text in others.split_whitespace() {
            assert!(!is_public(text.parse().unwrap()), "{text}");
        }
    }

    #[tokio::test]
    async fn a_literal_is_checked_like_a_name() {
        let resolver = Resolver::new(Vec::new(), false);
        assert_eq!(resolver.locate("169.254.169.254").await, Err(NoAddress::Blocked));
        assert_eq!(resolver.locate("[::1]").await, Err(NoAddress::Blocked));
        assert_eq!(resolver.locate("localhost").await, Err(NoAddress::Blocked));
        assert!(Resolver::new(Vec::new(), true).locate("127.0.0.1").await.is_ok());
    }

    #[tokio::test]
    async fn an_override_wins_and_its_own_name_wins_over_any() {
        let overrides = ["*=127.0.0.1:81", "a.test=127.0.0.2:82"].map(|text| text.parse().unwrap()).to_vec();
        let resolver = Resolver::new(overrides, false);
        assert_eq!(resolver.locate("a.test").await.unwrap().addresses[0].port(), 82);
        let other = resolver.locate("b.test").await.unwrap();
        assert_eq!((other.addresses[0].port(), other.by_override), (81, true));
        assert_eq!(resolver.locate("10.0.0.1").await, Err(NoAddress::Blocked), "but not for a literal");
        assert!("=1.2.3.4:5".parse::<Override>().is_err());
        assert!("a.test=here".parse::<Override>().is_err());
    }
}
