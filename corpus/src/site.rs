//! The site of an address: what splits and statistics group by.

/// The registrable domain of an address (`news.bbc.co.uk` and `bbc.co.uk` are one site), the host where it has
/// none, the empty text where there is no host.
pub(crate) fn site(address: &str) -> String {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    let host = match host.starts_with('[') {
        true => host.split_inclusive(']').next().unwrap_or_default(),
        false => host.split(':').next().unwrap_or_default(),
    };
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    match psl::domain_str(&host) {
        Some(domain) if !host.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') => domain.to_owned(),
        _ => host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subdomains_share_their_site_and_addresses_stay_whole() {
        assert_eq!(site("https://news.bbc.co.uk:443/a?b"), "bbc.co.uk");
        assert_eq!(site("http://user@www.Folha.uol.com.br/"), "uol.com.br");
        assert_eq!(site("http://127.0.0.1:8080/a"), "127.0.0.1");
        assert_eq!(site("http://[::1]:80/"), "[::1]");
        assert_eq!(site("localhost/x"), "localhost");
        assert_eq!(site(""), "");
    }
}
