//! Links: what to fetch, and how it was found.

use std::fmt::Write;

use url::Url;

/// What a link leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Kind {
    /// A page, to be stored.
    #[default]
    Page,
    /// A sitemap, to be read for links.
    Sitemap,
    /// A random URL that cannot exist, requested to learn how its host answers missing pages (soft-404 detection).
    Probe,
}

impl Kind {
    pub(super) fn code(self) -> u8 {
        match self {
            Kind::Page => 0,
            Kind::Sitemap => 1,
            Kind::Probe => 2,
        }
    }

    pub(super) fn from_code(code: u8) -> Option<Kind> {
        [Kind::Page, Kind::Sitemap, Kind::Probe].into_iter().find(|kind| kind.code() == code)
    }
}

/// A link to fetch, with its URL in canonical form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Where it leads.
    pub url: Url,
    /// How many clicks from a seed.
    pub depth: u32,
    /// How many redirects led here.
    pub hops: u8,
    /// What is expected there.
    pub kind: Kind,
    /// The anchor text; empty unless the ordering policy reads it.
    pub anchor: String,
    /// The words around the anchor; empty unless the ordering policy reads them.
    pub context: String,
    /// The page where it was found, in the terms of the backend, which sets it; zero for none.
    pub found_on: u64,
}

impl Link {
    /// A page that the user named.
    pub fn seed(url: Url) -> Link {
        Link::page(url, 0)
    }

    /// A page found at a distance from the seeds.
    pub fn page(url: Url, depth: u32) -> Link {
        Link { url, depth, hops: 0, kind: Kind::Page, anchor: String::new(), context: String::new(), found_on: 0 }
    }

    /// The host name that pacing uses: with the port where that is not the default of the scheme.
    pub fn host(&self) -> String {
        host_of(&self.url)
    }
}

/// The host name that pacing uses: with the port where that is not the default of the scheme.
pub fn host_of(url: &Url) -> String {
    let mut name = String::new();
    write_host(url, &mut name);
    name
}

pub(super) fn write_host(url: &Url, name: &mut String) {
    name.push_str(url.host_str().unwrap_or(""));
    if let Some(port) = url.port() {
        let _ = write!(name, ":{port}");
    }
}
