//! Which registrable domain a host belongs to, by the public suffix list.

use url::{Host, Url};

/// The registrable domain of a host name: `www.example.co.uk` belongs to `example.co.uk`. `None` for a public suffix
/// itself, for an address and for what is no host name.
pub fn registrable_domain(host: &str) -> Option<&str> {
    let host = host.strip_suffix('.').unwrap_or(host);
    if host.is_empty() || host.starts_with('.') || host.contains("..") || host.parse::<std::net::IpAddr>().is_ok() {
        return None;
    }
    psl::domain_str(host)
}

/// The site of a URL: its registrable domain or, where there is none (an address, `localhost`), the host itself.
pub fn site(url: &Url) -> &str {
    let host = url.host_str().unwrap_or("");
    match url.host() {
        Some(Host::Domain(name)) => registrable_domain(name).unwrap_or(host),
        _ => host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sites_are_registrable_domains_or_the_host() {
        let site_of = |text: &str| site(&Url::parse(text).unwrap()).to_owned();
        assert_eq!(site_of("http://www.example.co.uk/a"), "example.co.uk");
        assert_eq!(site_of("http://127.0.0.1:80/"), "127.0.0.1");
        assert_eq!(site_of("http://localhost/"), "localhost");
        assert_eq!(site_of("http://com.br/"), "com.br");
    }
}
