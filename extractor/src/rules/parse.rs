//! Reads the rules of sites and checks every selector.

use std::collections::BTreeMap;
use std::fmt;

use scraper::Selector;
use scraper::error::SelectorErrorKind;
use serde::Deserialize;
use toml::Spanned;
use url::Url;

/// Rules by domain, checked when they were read.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    source: String,
    sites: BTreeMap<String, Site>,
}

/// The rules of one site.
#[derive(Clone, Debug, Default)]
pub(crate) struct Site {
    pub(super) content: Vec<Selector>,
    pub(super) drop: Vec<Selector>,
    pub(super) title: Option<Selector>,
    pub(super) author: Option<Selector>,
    pub(super) date: Option<Selector>,
}

/// A rule that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleError {
    /// Its line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub problem: String,
}

impl fmt::Display for RuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.problem)
    }
}

impl std::error::Error for RuleError {}

/// The rules of a site as they are written in the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSite {
    #[serde(default)]
    content: Vec<Spanned<String>>,
    #[serde(default)]
    drop: Vec<Spanned<String>>,
    title: Option<Spanned<String>>,
    author: Option<Spanned<String>>,
    date: Option<Spanned<String>>,
}

impl Rules {
    /// Reads a TOML file: one table per domain, with lists of selectors `content` and `drop`, and single selectors
    /// `title`, `author` and `date`.
    ///
    /// # Errors
    /// When it is not TOML, a name is unknown, a domain or a selector is invalid; the error names the line.
    pub fn parse(text: &str) -> Result<Rules, RuleError> {
        let bad = |at: usize, problem: String| {
            let line = 1 + text.as_bytes()[..at.min(text.len())].iter().filter(|byte| **byte == b'\n').count();
            RuleError { line, problem }
        };
        let raw: BTreeMap<Spanned<String>, RawSite> = toml::from_str(text)
            .map_err(|error| bad(error.span().map_or(0, |span| span.start), error.message().to_owned()))?;
        let selector = |raw: Spanned<String>| {
            let at = raw.span().start;
            Selector::parse(raw.as_ref())
                .map_err(|error| bad(at, format!("`{}` is no CSS selector: {}", raw.as_ref(), reason(&error))))
        };
        let mut sites = BTreeMap::new();
        for (name, site) in raw {
            let problem = || format!("`{}` is no domain: write it as `example.com`", name.as_ref());
            let domain = domain(name.as_ref()).ok_or_else(|| bad(name.span().start, problem()))?;
            let site = Site {
                content: site.content.into_iter().map(selector).collect::<Result<_, _>>()?,
                drop: site.drop.into_iter().map(selector).collect::<Result<_, _>>()?,
                title: site.title.map(selector).transpose()?,
                author: site.author.map(selector).transpose()?,
                date: site.date.map(selector).transpose()?,
            };
            if sites.insert(domain, site).is_some() {
                return Err(bad(name.span().start, format!("`{}` stands here twice", name.as_ref())));
            }
        }
        Ok(Rules { source: text.to_owned(), sites })
    }

    /// The text that the rules were read from.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// How many sites have rules.
    pub fn n_sites(&self) -> usize {
        self.sites.len()
    }

    /// The rules for an address: those of its host, or of the nearest domain above it.
    pub(crate) fn site(&self, url: &Url) -> Option<&Site> {
        let mut host = url.host_str()?;
        loop {
            if let Some(site) = self.sites.get(host) {
                return Some(site);
            }
            host = host.split_once('.')?.1;
        }
    }
}

/// What is wrong with a selector, on one line. For unexpected errors the name of the variant.
fn reason(error: &SelectorErrorKind) -> String {
    match error {
        SelectorErrorKind::UnexpectedSelectorParseError(kind) => format!("{kind:?}"),
        other => other.to_string(),
    }
}

/// A domain as URLs spell it.
fn domain(name: &str) -> Option<String> {
    if name.is_empty() || name.contains(['/', ':', '@', '?', '#', '\\', '*', ' ']) {
        return None;
    }
    let url = Url::parse(&format!("http://{name}/")).ok()?;
    url.host_str().map(|host| host.trim_start_matches("www.").to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_bad(text: &str, line: usize, problem: &str) {
        let bad = Rules::parse(text).unwrap_err();
        assert!(bad.line == line && bad.problem.contains(problem), "{bad}");
    }

    #[test]
    fn a_bad_rule_is_named_with_its_line() {
        check_bad("[\"a.com\"]\ncontent = [\n  \"#ok\",\n  \"p[\",\n]\n", 4, "`p[` is no CSS selector");
        check_bad("[\"a.com\"]\ntitle = \"a[[\"\n", 2, "`a[[` is no CSS selector: NoQualifiedName");
        check_bad("[\"a.com\"]\n\ntitle = \"h1 >\"\n", 3, "`h1 >`");
        check_bad("[\"a.com\"]\nheading = \"h1\"\n", 2, "heading");
        check_bad("[\"a.com\"]\ncontent = \"article\"\n", 2, "sequence");
        check_bad("\n[\"https://a.com/\"]\ntitle = \"h1\"\n", 2, "is no domain");
        check_bad("[\"a.com\"]\ntitle = \"h1\"\n[\"www.a.com\"]\ntitle = \"h1\"\n", 3, "twice");
        check_bad("[\"a.com\"\n", 1, "");
    }

    #[test]
    fn the_nearest_domain_counts() {
        let rules = "[\"example.co.uk\"]\ntitle = \"h1\"\n[\"news.example.co.uk\"]\ntitle = \"h2\"\n[\"bücher.de\"]\n";
        let rules = Rules::parse(rules).unwrap();
        let title = |url: &str| rules.site(&Url::parse(url).unwrap()).map(|site| site.title.is_some());
        assert_eq!(title("https://www.example.co.uk/a"), Some(true));
        assert_eq!(title("https://a.news.example.co.uk/"), Some(true));
        assert_eq!(title("https://www.bücher.de/x"), Some(false));
        assert_eq!(title("https://notexample.co.uk/"), None);
        assert_eq!((title("file:///x"), rules.n_sites()), (None, 3));
    }
}
