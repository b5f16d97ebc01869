//! Cookies that the user brings, in the format of Netscape's `cookies.txt`. What servers set is never kept.

use std::time::{SystemTime, UNIX_EPOCH};

use url::Url;

use crate::domain::registrable_domain;

/// Cookies, each bound to its domain and path.
#[derive(Clone, Default)]
pub struct Cookies(Vec<Cookie>);

#[derive(Clone)]
struct Cookie {
    domain: String,
    /// Whether hosts below the domain get it as well.
    has_subdomains: bool,
    path: String,
    is_secure: bool,
    /// Seconds since 1970; zero for a cookie without an end.
    expires: u64,
    name: String,
    value: String,
}

impl Cookies {
    /// Reads the text of a file: one cookie per line, seven fields with a tab between them. Empty lines and comments are
    /// passed over.
    ///
    /// # Errors
    /// The number of the first line that is no cookie, and what is wrong with it.
    pub fn parse(text: &str) -> Result<Cookies, (usize, &'static str)> {
        let mut cookies = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let line = line.strip_prefix('\u{feff}').unwrap_or(line);
            let line = line.strip_prefix("#HttpOnly_").unwrap_or(line).trim_end_matches('\r');
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            cookies.push(Cookie::parse(line).map_err(|what| (number + 1, what))?);
        }
        // Longer paths come first, as RFC 6265 asks; of equal ones the order of the file stays.
        cookies.sort_by_key(|cookie: &Cookie| std::cmp::Reverse(cookie.path.len()));
        Ok(Cookies(cookies))
    }

    /// The `Cookie` header for a URL, if there is one.
    pub(crate) fn header_for(&self, url: &Url) -> Option<String> {
        if self.0.is_empty() {
            return None;
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let pairs = self.0.iter().filter(|cookie| cookie.is_for(url, now));
        let pairs: Vec<String> = pairs.map(|cookie| format!("{}={}", cookie.name, cookie.value)).collect();
        (!pairs.is_empty()).then(|| pairs.join("; "))
    }
}

/// The values are secrets.
impl std::fmt::Debug for Cookies {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} cookies", self.0.len())
    }
}

impl Cookie {
    fn parse(line: &str) -> Result<Cookie, &'static str> {
        let fields: Vec<&str> = line.splitn(7, '\t').collect();
        let [domain, subdomains, path, secure, expires, name, value] = fields[..] else {
            return Err("expected seven fields with a tab between them");
        };
        let is_text = |text: &str| text.bytes().all(|byte| byte > b' ' && byte != 0x7f && byte != b';');
        if !is_text(name) || !value.bytes().all(|byte| byte >= b' ' && byte != 0x7f && byte != b';') {
            return Err("a name or a value with characters that no cookie has");
        }
        let domain = url::Host::parse(domain.trim_start_matches('.')).map_err(|_| "the domain is no host name")?;
        let domain = domain.to_string();
        // A cookie for a whole top-level domain would go to hosts of anybody.
        let has_subdomains = subdomains.eq_ignore_ascii_case("TRUE") && registrable_domain(&domain).is_some();
        Ok(Cookie {
            domain,
            has_subdomains,
            path: if path.starts_with('/') { path.to_owned() } else { "/".to_owned() },
            is_secure: secure.eq_ignore_ascii_case("TRUE"),
            expires: expires.parse().map_err(|_| "the fifth field is no time in seconds")?,
            name: name.to_owned(),
            value: value.to_owned(),
        })
    }

    fn is_for(&self, url: &Url, now: u64) -> bool {
        let host = url.host_str().unwrap_or("");
        let below = host.strip_suffix(self.domain.as_str()).and_then(|rest| rest.strip_suffix('.'));
        let is_host = host == self.domain || (self.has_subdomains && below.is_some() && url.domain().is_some());
        let rest = url.path().strip_prefix(self.path.as_str());
        let is_path = rest.is_some_and(|rest| rest.is_empty() || self.path.ends_with('/') || rest.starts_with('/'));
        is_host && is_path && (!self.is_secure || url.scheme() == "https") && (self.expires == 0 || self.expires > now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "# Netscape HTTP Cookie File\r\n\
        .a.example\tTRUE\t/\tFALSE\t0\tid\t1\r\n\
        #HttpOnly_a.example\tFALSE\t/deep\tTRUE\t4102444800\tdeep\t2\r\n\
        a.example\tFALSE\t/\tFALSE\t1000\told\t3\n\n\
        example\tTRUE\t/\tFALSE\t0\twide\t4\n";

    #[test]
    fn a_cookie_goes_to_its_hosts_and_paths_while_it_lasts_and_nowhere_else() {
        let cookies = Cookies::parse(FILE).unwrap();
        let check = |url: &str, expected: Option<&str>| {
            assert_eq!(cookies.header_for(&url.parse().unwrap()).as_deref(), expected, "{url}");
        };
        check("https://a.example/deep/er", Some("deep=2; id=1"));
        check("https://a.example/deeper", Some("id=1"));
        check("http://a.example/deep", Some("id=1"));
        check("http://b.a.example:81/deep", Some("id=1"));
        check("http://ba.example/", None);
        check("http://a.example.net/", None);
        check("http://b.example/", None);
    }

    #[test]
    fn a_bad_line_is_named() {
        assert_eq!(Cookies::parse("# fine\na.example\tTRUE\t/").unwrap_err().0, 2);
        assert_eq!(Cookies::parse("a.example\tTRUE\t/\tFALSE\tsoon\tid\t1").unwrap_err().0, 1);
        assert_eq!(Cookies::parse("a.example\tTRUE\t/\tFALSE\t0\tid\t1\u{7f}").unwrap_err().0, 1);
        assert!(!format!("{:?}", Cookies::parse(FILE).unwrap()).contains("deep"), "values are secrets");
    }
}
