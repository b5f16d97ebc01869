//! How asking for a URL can end: exactly one of these, each counted.

use std::fmt;

macro_rules! outcomes {
    ($($(#[doc = $doc:literal])+ $variant:ident = $code:literal $name:literal),+ $(,)?) => {
        /// How asking for a URL ended.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Outcome {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl Outcome {
            /// Every outcome there is.
            pub const ALL: &[Outcome] = &[$(Outcome::$variant),+];

            /// The number that stands for it on disk; it never changes.
            pub fn code(self) -> u8 {
                match self { $(Outcome::$variant => $code,)+ }
            }

            /// The outcome that a number stands for.
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
    /// A page was kept.
    Stored = 0 "stored",
    /// The server says that it has not changed since it was kept.
    NotModified = 1 "not-modified",
    /// It led to another URL, which was offered in its place.
    Redirected = 2 "redirected",
    /// Its bytes are those of a page that was kept under another URL.
    Duplicate = 3 "duplicate",
    /// A sitemap was read.
    SitemapRead = 4 "sitemap-read",
    /// robots.txt forbids it.
    Disallowed = 5 "disallowed",
    /// robots.txt could not be had, so nothing of its host may be.
    RobotsUnreachable = 6 "robots-unreachable",
    /// 404 or 410.
    NotFound = 7 "not-found",
    /// Another answer from 400 to 499.
    Refused = 8 "refused",
    /// An answer from 500 on, as often as it was tried.
    ServerError = 9 "server-error",
    /// An answer that means nothing here, such as 204 or a redirect without a target.
    NoContent = 10 "no-content",
    /// The host has no address.
    NoAddress = 11 "no-address",
    /// The host's address is not public.
    BlockedAddress = 12 "blocked-address",
    /// No connection, as often as it was tried.
    NoConnection = 13 "no-connection",
    /// The certificate or the handshake was bad.
    TlsError = 14 "tls-error",
    /// The answer took too long or came too slowly.
    Timeout = 15 "timeout",
    /// The connection broke off, or the answer is not HTTP.
    BrokenAnswer = 16 "broken-answer",
    /// The body cannot be decoded.
    BadEncoding = 17 "bad-encoding",
    /// Not a kind of content that was asked for.
    UnwantedType = 18 "unwanted-type",
    /// Too many redirects led here.
    TooManyRedirects = 19 "too-many-redirects",
    /// Its host answers any address with the same page.
    SoftNotFound = 20 "soft-not-found",
    /// Its host only repeats another host.
    Mirror = 21 "mirror",
    /// The page asks not to be kept.
    NoIndex = 22 "noindex",
    /// The URL no longer lies within what this crawl may fetch.
    OutOfScope = 23 "out-of-scope",
    /// It was asked for only to learn how its host answers what is missing.
    Probed = 24 "probed",
    /// There is no sitemap where one could have been.
    NoSitemap = 25 "no-sitemap",
}

impl Outcome {
    /// Whether the URL was not wanted, by its host's rules or by ours.
    pub fn is_left_out(self) -> bool {
        matches!(self, Outcome::Disallowed | Outcome::NoIndex | Outcome::OutOfScope | Outcome::UnwantedType)
            || matches!(self, Outcome::Mirror | Outcome::SoftNotFound)
    }

    /// Whether the URL gave what was hoped for, or leads there by another one.
    pub fn is_good(self) -> bool {
        matches!(self, Outcome::Stored | Outcome::NotModified | Outcome::Redirected | Outcome::Duplicate)
            || matches!(self, Outcome::SitemapRead | Outcome::NoSitemap | Outcome::Probed)
    }
}

impl Outcome {
    /// Whether a page was asked for: not a sitemap or a probe, and not something that was settled without asking.
    pub(crate) fn is_of_a_page(self) -> bool {
        use Outcome::{Disallowed, Mirror, NoSitemap, Probed, RobotsUnreachable, SitemapRead};
        !matches!(self, SitemapRead | NoSitemap | Probed | Disallowed | RobotsUnreachable | Mirror)
    }

    /// Whether a sitemap or a probe was asked for.
    pub(crate) fn is_of_an_extra(self) -> bool {
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
