//! What the user adds to requests, each bound to its hosts: headers, passwords, cookies.
//!
//! Redirects are answers and their targets requests of their own, so that nothing travels to another host with one.

use reqwest::RequestBuilder;
use reqwest::header::{COOKIE, HeaderName, HeaderValue};
use url::Url;

use crate::cookies::Cookies;
use crate::host_name::HostName;

/// Headers that the crawler sets itself, because what it does with the response depends on them.
const RESERVED: [&str; 12] = [
    "accept-encoding",
    "connection",
    "content-length",
    "expect",
    "host",
    "if-modified-since",
    "if-none-match",
    "range",
    "te",
    "transfer-encoding",
    "upgrade",
    "user-agent",
];

/// What is added to requests. Nothing of it is sent to any other host.
#[derive(Clone, Debug, Default)]
pub struct RequestHeaders {
    /// Headers, and the host that gets each.
    pub headers: Vec<(HostName, CustomHeader)>,
    /// Users and passwords for HTTP basic authentication, by host.
    pub credentials: Vec<(HostName, (String, String))>,
    /// Cookies, which have their hosts in them.
    pub cookies: Cookies,
}

/// A header that the user adds. Its value does not show when it is printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CustomHeader {
    name: HeaderName,
    value: HeaderValue,
}

impl CustomHeader {
    /// A header, if it is one that may be added.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn new(name: &str, value: &str) -> Result<CustomHeader, String> {
        let lower = name.to_ascii_lowercase();
        if RESERVED.contains(&lower.as_str()) {
            let instead = if lower == "user-agent" { "; `--user-agent` sets this one" } else { "" };
            return Err(format!("the crawler sets {name} itself{instead}"));
        }
        let name = HeaderName::try_from(name).map_err(|_| format!("{name:?} is not the name of a header"))?;
        let mut value =
            HeaderValue::from_str(value).map_err(|_| format!("the value of {name} has control characters"))?;
        value.set_sensitive(true);
        Ok(CustomHeader { name, value })
    }
}

impl RequestHeaders {
    /// Adds to a request what its host is to get.
    pub(crate) fn add_to(&self, mut request: RequestBuilder, url: &Url) -> RequestBuilder {
        for (_, header) in self.headers.iter().filter(|(host, _)| host.matches(url)) {
            request = request.header(&header.name, &header.value);
        }
        if let Some((_, (user, password))) = self.credentials.iter().rfind(|(host, _)| host.matches(url)) {
            request = request.basic_auth(user, Some(password));
        }
        match self.cookies.header_for(url).and_then(|cookie| HeaderValue::from_str(&cookie).ok()) {
            Some(mut cookie) => {
                cookie.set_sensitive(true);
                request.header(COOKIE, cookie)
            }
            None => request,
        }
    }
}
