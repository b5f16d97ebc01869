//! A host as the user names it, with or without a port: what a password, a header or a delay is bound to.

use std::fmt;
use std::str::FromStr;

use url::Url;

/// A host, and its port if the user named one; without one, every port.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostName {
    name: String,
    port: Option<u16>,
}

impl HostName {
    /// The host of a URL, with its port.
    pub fn of(url: &Url) -> Option<HostName> {
        Some(HostName { name: url.host_str()?.to_owned(), port: url.port_or_known_default() })
    }

    /// Whether a URL is on this host. Hosts below it are other hosts.
    pub fn matches(&self, url: &Url) -> bool {
        url.host_str() == Some(&self.name) && self.port.is_none_or(|port| url.port_or_known_default() == Some(port))
    }

    /// Whether a host is this one, by the name that pacing uses: with its port where that is no default.
    pub(crate) fn matches_name(&self, host: &str) -> bool {
        let is_default = |port: u16| matches!(port, 80 | 443);
        match (host.strip_prefix(self.name.as_str()), self.port) {
            (Some(""), port) => port.is_none_or(is_default),
            (Some(rest), port) => match rest.strip_prefix(':').and_then(|text| text.parse::<u16>().ok()) {
                Some(other) => port.is_none_or(|port| port == other),
                None => false,
            },
            (None, _) => false,
        }
    }
}

impl FromStr for HostName {
    type Err = String;

    fn from_str(text: &str) -> Result<HostName, String> {
        let (name, port) = match text.rsplit_once(':') {
            Some((name, digits)) if !digits.ends_with(']') => {
                (name, Some(digits.parse().map_err(|_| format!("{digits:?} is not a port"))?))
            }
            _ => (text, None),
        };
        // As URLs spell it: lower case, and names in other scripts in their ASCII form.
        let name = url::Host::parse(name).map_err(|error| format!("{name:?} is not a host name: {error}"))?;
        Ok(HostName { name: name.to_string(), port })
    }
}

impl fmt::Display for HostName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.name)?;
        self.port.map_or(Ok(()), |port| write!(formatter, ":{port}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_without_a_port_is_the_host_on_every_port_and_nothing_below_it() {
        let check = |host: &str, url: &str, expected: bool| {
            let (host, url): (HostName, Url) = (host.parse().unwrap(), url.parse().unwrap());
            assert_eq!(host.matches(&url), expected, "{host} {url}");
            assert_eq!(host.matches_name(&crate::frontier::host_of(&url)), expected, "{host} {url}, by name");
        };
        check("a.example", "http://a.example/", true);
        check("A.Example", "https://a.example:8443/", true);
        check("a.example:8443", "https://a.example:8443/", true);
        check("a.example:8443", "https://a.example/", false);
        check("a.example:443", "https://a.example/", true);
        check("a.example", "http://b.a.example/", false);
        check("a.example", "http://a.example.net/", false);
        check("bücher.example", "http://xn--bcher-kva.example/", true);
        check("[::1]", "http://[::1]:81/", true);
        check("[::1]:82", "http://[::1]:81/", false);
        assert!("a b".parse::<HostName>().is_err() && "a.example:port".parse::<HostName>().is_err());
    }
}
