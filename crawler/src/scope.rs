//! The scope of a crawl: hosts, domains, and URL patterns of the user.

use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;

use memchr::memmem;
use regex::bytes::{Regex, RegexBuilder};
use url::Url;

use crate::domain::site;
use crate::frontier::host_of;

/// A compiled regular expression takes at most this much memory.
const MAX_EXPRESSION_BYTES: usize = 1 << 20;

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

/// A pattern over whole URLs: `*` stands for anything; without one it is looked for anywhere in the URL. Behind `re:` it
/// is a regular expression, looked for anywhere unless it has `^` and `$`; URLs are ASCII in their canonical spelling.
#[derive(Clone, Debug)]
pub struct Pattern(Matcher);

#[derive(Clone, Debug)]
enum Matcher {
    Wildcards(String),
    Expression(Regex),
}

/// A regular expression that is none.
#[derive(Clone, Debug)]
pub struct BadPattern {
    text: String,
    what: String,
}

impl fmt::Display for BadPattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:?} is not a regular expression: {}", self.text, self.what)
    }
}

impl std::error::Error for BadPattern {}

impl FromStr for Pattern {
    type Err = BadPattern;

    fn from_str(text: &str) -> Result<Pattern, BadPattern> {
        let Some(expression) = text.strip_prefix("re:") else {
            return Ok(Pattern(Matcher::Wildcards(text.to_owned())));
        };
        let built = RegexBuilder::new(expression).unicode(false).size_limit(MAX_EXPRESSION_BYTES).build();
        built.map(|regex| Pattern(Matcher::Expression(regex))).map_err(|error| {
            // The last line says what is wrong; those before it show the place.
            let what = error.to_string();
            let what = what.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
            BadPattern { text: expression.to_owned(), what }
        })
    }
}

impl Pattern {
    /// Whether a URL fits, in time linear in its length.
    pub fn matches(&self, url: &str) -> bool {
        match &self.0 {
            Matcher::Wildcards(text) => matches_wildcards(text, url),
            Matcher::Expression(regex) => regex.is_match(url.as_bytes()),
        }
    }
}

fn matches_wildcards(text: &str, url: &str) -> bool {
    let mut pieces = text.split('*');
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
        let patterns = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect();
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

    #[test]
    fn expressions_narrow_it_as_well() {
        let narrow = scope("any", &["re:^https?://[^/]+/20[0-9]{2}/", "*/keep"], &["re:(?i)[?&]print="]);
        check(&narrow, "http://x.org/2024/a", true);
        check(&narrow, "http://x.org/a/2024/", false);
        check(&narrow, "http://x.org/a/keep", true);
        check(&narrow, "http://x.org/2024/a?x=1&Print=1", false);
        assert!("re:(".parse::<Pattern>().unwrap_err().to_string().contains("unclosed group"));
        assert!("re:(a{1000}){1000}".parse::<Pattern>().is_err(), "its memory is bounded");
    }
}
