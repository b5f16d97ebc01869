//! The scope of a crawl: hosts, domains, and URL patterns of the user.

use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;

use memchr::memmem;
use url::Url;

use crate::domain::site;
use crate::frontier::host_of;

/// How far from the seeds' hosts a crawl may go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// The hosts of the seeds only.
    #[default]
    Host,
    /// Their registrable domains: `www.example.org` includes `blog.example.org`.
    Domain,
    /// Every host below a top-level domain or any other suffix, such as `br` or `gov.br`.
    Suffix(String),
    /// Everywhere.
    Any,
}

/// A text that is no reach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownReach(String);

impl fmt::Display for UnknownReach {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:?} is not a scope: use host, domain, tld:NAME or any", self.0)
    }
}

impl std::error::Error for UnknownReach {}

impl FromStr for Reach {
    type Err = UnknownReach;

    fn from_str(text: &str) -> Result<Reach, UnknownReach> {
        match text {
            "host" => Ok(Reach::Host),
            "domain" => Ok(Reach::Domain),
            "any" => Ok(Reach::Any),
            _ => match text.strip_prefix("tld:").map(|name| name.trim_matches('.').to_ascii_lowercase()) {
                Some(name) if !name.is_empty() => Ok(Reach::Suffix(name)),
                _ => Err(UnknownReach(text.to_owned())),
            },
        }
    }
}

/// A pattern over whole URLs: `*` stands for anything; without one it is looked for anywhere in the URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern(String);

impl Pattern {
    /// A pattern as the user writes it.
    pub fn new(text: impl Into<String>) -> Pattern {
        Pattern(text.into())
    }

    /// Whether a URL fits, in time linear in its length.
    pub fn matches(&self, url: &str) -> bool {
        let mut pieces = self.0.split('*');
        let first = pieces.next().unwrap_or("");
        let Some(last) = pieces.next_back() else {
            return memmem::find(url.as_bytes(), first.as_bytes()).is_some();
        };
        let Some(mut rest) = url.as_bytes().strip_prefix(first.as_bytes()) else { return false };
        for piece in pieces {
            let Some(at) = memmem::find(rest, piece.as_bytes()) else { return false };
            rest = &rest[at + piece.len()..];
        }
        rest.ends_with(last.as_bytes())
    }
}

/// The scope of one crawl.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    reach: Reach,
    hosts: HashSet<String>,
    include: Vec<Pattern>,
    exclude: Vec<Pattern>,
}

impl Scope {
    /// The scope around these seeds. With `include` patterns a URL must fit one of them; with `exclude` it must fit
    /// none. Seeds are fetched without this check.
    pub fn new(reach: Reach, seeds: &[Url], include: Vec<Pattern>, exclude: Vec<Pattern>) -> Scope {
        let mut scope = Scope { reach, hosts: HashSet::new(), include, exclude };
        seeds.iter().for_each(|seed| scope.add_seed(seed));
        scope
    }

    /// Adds the host or domain of a seed, or of the target of a redirected seed.
    pub fn add_seed(&mut self, seed: &Url) {
        self.hosts.insert(match self.reach {
            Reach::Domain => site(seed).to_owned(),
            _ => host_of(seed),
        });
    }

    /// Whether a URL in canonical form is within the scope.
    pub fn contains(&self, url: &Url) -> bool {
        let within = match &self.reach {
            Reach::Any => true,
            Reach::Host => match url.port() {
                None => url.host_str().is_some_and(|host| self.hosts.contains(host)),
                Some(_) => self.hosts.contains(&host_of(url)),
            },
            Reach::Domain => self.hosts.contains(site(url)),
            Reach::Suffix(suffix) => url.domain().is_some_and(|host| {
                host.strip_suffix(suffix.as_str()).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
            }),
        };
        within
            && (self.include.is_empty() || self.include.iter().any(|pattern| pattern.matches(url.as_str())))
            && !self.exclude.iter().any(|pattern| pattern.matches(url.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(reach: &str, include: &[&str], exclude: &[&str]) -> Scope {
        let patterns = |texts: &[&str]| texts.iter().map(|text| Pattern::new(*text)).collect();
        let seeds =
            [Url::parse("http://www.example.com.br/start").unwrap(), Url::parse("http://127.0.0.1:81/").unwrap()];
        Scope::new(reach.parse().unwrap(), &seeds, patterns(include), patterns(exclude))
    }

    #[track_caller]
    fn check(scope: &Scope, url: &str, expected: bool) {
        assert_eq!(scope.contains(&Url::parse(url).unwrap()), expected, "{url}");
    }

    #[test]
    fn each_reach_goes_as_far_as_it_says() {
        check(&scope("host", &[], &[]), "http://www.example.com.br/x", true);
        check(&scope("host", &[], &[]), "https://www.example.com.br/x", true);
        check(&scope("host", &[], &[]), "http://blog.example.com.br/x", false);
        check(&scope("host", &[], &[]), "http://127.0.0.1:81/x", true);
        check(&scope("host", &[], &[]), "http://127.0.0.1:82/x", false);
        check(&scope("domain", &[], &[]), "http://blog.example.com.br/x", true);
        check(&scope("domain", &[], &[]), "http://other.com.br/x", false);
        check(&scope("tld:br", &[], &[]), "http://other.com.br/x", true);
        check(&scope("tld:br", &[], &[]), "http://notbr/x", false);
        check(&scope("any", &[], &[]), "http://other.net/x", true);
        assert!("planet".parse::<Reach>().is_err());
    }

    #[test]
    fn patterns_narrow_it() {
        let narrow = scope("any", &["http*://*/news/*", "archive"], &["*.pdf", "/private/"]);
        check(&narrow, "http://x.org/news/1", true);
        check(&narrow, "http://archive.org/", true);
        check(&narrow, "http://x.org/other", false);
        check(&narrow, "http://x.org/news/1.pdf", false);
        check(&narrow, "http://x.org/news/private/1", false);
    }
}
