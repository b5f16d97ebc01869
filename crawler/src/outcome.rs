//! The outcomes of a URL: every URL ends with exactly one, and each is counted.

use std::fmt;

macro_rules! outcomes {
    ($($(#[doc = $doc:literal])+ $variant:ident = $code:literal $name:literal),+ $(,)?) => {
        /// The outcome of a URL.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Outcome {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl Outcome {
            /// Every outcome there is.
            pub const ALL: &[Outcome] = &[$(Outcome::$variant),+];

            /// Its code on disk; it never changes.
            pub fn code(self) -> u8 {
                match self { $(Outcome::$variant => $code,)+ }
            }

            /// The outcome with this code.
            pub fn from_code(code: u8) -> Option<Outcome> {
                match code { $($code => Some(Outcome::$variant),)+ _ => None }
            }

            /// The name in reports.
            pub fn name(self) -> &'static str {
                match self { $(Outcome::$variant => $name,)+ }
            }
        }
    };
}

outcomes! {
    /// The page was stored.
    Stored = 0 "stored",
    /// The page has not changed since it was stored.
    NotModified = 1 "not-modified",
    /// It redirects to another URL, which was offered to the frontier.
    Redirected = 2 "redirected",
    /// Its body is identical to that of a page stored under another URL of its host.
    Duplicate = 3 "duplicate",
    /// A sitemap was read.
    SitemapRead = 4 "sitemap-read",
    /// robots.txt disallows it.
    Disallowed = 5 "disallowed",
    /// robots.txt could not be fetched, so nothing of its host may be.
    RobotsUnreachable = 6 "robots-unreachable",
    /// 404 or 410.
    NotFound = 7 "not-found",
    /// Another status from 400 to 499.
    Refused = 8 "refused",
    /// A status of 429, or of 500 and above, on every attempt.
    ServerError = 9 "server-error",
    /// A response without content, such as 204 or a redirect without a target.
    NoContent = 10 "no-content",
    /// The host has no address.
    NoAddress = 11 "no-address",
    /// The host's address is not public.
    BlockedAddress = 12 "blocked-address",
    /// No connection on any attempt.
    NoConnection = 13 "no-connection",
    /// The certificate or the handshake was bad.
    TlsError = 14 "tls-error",
    /// The response took too long or came too slowly.
    Timeout = 15 "timeout",
    /// The connection broke, or the response is not HTTP.
    BrokenAnswer = 16 "broken-answer",
    /// The body cannot be decoded.
    BadEncoding = 17 "bad-encoding",
    /// Its media type is not wanted.
    UnwantedType = 18 "unwanted-type",
    /// Too many redirects led here.
    TooManyRedirects = 19 "too-many-redirects",
    /// It is the soft-404 page of its host.
    SoftNotFound = 20 "soft-not-found",
    /// Its host is a mirror of another host.
    Mirror = 21 "mirror",
    /// The page asks not to be stored (`noindex`).
    NoIndex = 22 "noindex",
    /// It redirects to a URL outside the scope of the crawl.
    OutOfScope = 23 "out-of-scope",
    /// It was a probe for soft-404 detection.
    Probed = 24 "probed",
    /// There is no sitemap at this URL.
    NoSitemap = 25 "no-sitemap",
    /// The page is of low quality: gibberish, stuffed with repeats, a link farm, a parked domain.
    LowQuality = 27 "low-quality",
}

impl Outcome {
    /// Whether the URL was left out on purpose, by its host's rules or by ours.
    pub fn is_left_out(self) -> bool {
        matches!(self, Outcome::Disallowed | Outcome::NoIndex | Outcome::OutOfScope | Outcome::UnwantedType)
            || matches!(self, Outcome::Mirror | Outcome::SoftNotFound)
    }

    /// Whether the fetch succeeded.
    pub fn is_good(self) -> bool {
        matches!(self, Outcome::Stored | Outcome::NotModified | Outcome::Redirected | Outcome::Duplicate)
            || matches!(self, Outcome::SitemapRead | Outcome::NoSitemap | Outcome::Probed | Outcome::LowQuality)
    }
}

impl Outcome {
    /// Whether a page was requested: not a sitemap or probe, and not settled without a request.
    pub(crate) fn is_page_request(self) -> bool {
        use Outcome::{Disallowed, Mirror, NoSitemap, Probed, RobotsUnreachable, SitemapRead};
        !matches!(self, SitemapRead | NoSitemap | Probed | Disallowed | RobotsUnreachable | Mirror)
    }

    /// Whether a sitemap or a probe was requested.
    pub(crate) fn is_auxiliary_request(self) -> bool {
        matches!(self, Outcome::SitemapRead | Outcome::NoSitemap | Outcome::Probed)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::Outcome;

    #[test]
    fn every_code_leads_back_to_its_outcome() {
        for &outcome in Outcome::ALL {
            assert_eq!(Outcome::from_code(outcome.code()), Some(outcome));
        }
        assert_eq!(Outcome::from_code(250), None);
    }
}
