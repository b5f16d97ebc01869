//! robots.txt rules for one crawler: RFC 9309, matched exactly as Google's published parser does.

mod rules;

use std::time::Duration;

use memchr::{memchr, memmem};
use pith_preferences::RobotsPreferences;

use rules::{Rule, RuleSet};

/// Nothing beyond this many bytes of a robots.txt is read. RFC 9309 asks for at least 500 KiB; the largest file of 4
/// 231 well-known sites is 1.4 MB, and truncating it would allow what it disallows.
pub const MAX_ROBOTS_BYTES: usize = 3 << 19;

/// Longer lines are cut here, as in Google's parser: eight times the longest URL a browser takes.
const MAX_LINE_BYTES: usize = 2083 * 8 - 1;

/// More `Sitemap:` lines than this are not kept.
const MAX_SITEMAPS: usize = 1_000;

/// The longest Crawl-delay that is believed: a day.
const MAX_CRAWL_DELAY: f64 = 86_400.0;

/// The rules of one robots.txt that concern one crawler.
///
/// Only the groups for that crawler are kept (or, without one, those for `*`). Of the rules that match a URL, the one
/// with the longest pattern decides. The time to match a URL hardly depends on their number and is bounded; a URL whose
/// path takes more work than that counts as disallowed.
///
/// ```
/// use pith_crawler::Robots;
///
/// let robots = Robots::parse(b"User-agent: *\nDisallow: /private\nAllow: /private/open\n", "pith");
/// assert!(!robots.allows("http://example.org/private/diary"));
/// assert!(robots.allows("http://example.org/private/open/house"));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Robots {
    rules: RuleSet,
    /// The same rules with `%7E` and the like decoded; `None` when that changes none.
    decoded: Option<RuleSet>,
    crawl_delay: Option<Duration>,
    sitemaps: Vec<String>,
    preferences: RobotsPreferences,
    digest: Option<String>,
}

impl Robots {
    /// Reads the first [`MAX_ROBOTS_BYTES`] of a robots.txt for the crawler whose product token is `agent` (`pith`, not
    /// `pith/1.0 (+…)`). Any bytes are accepted; lines that cannot be parsed are skipped.
    pub fn parse(bytes: &[u8], agent: &str) -> Robots {
        let bytes = &bytes[..bytes.len().min(MAX_ROBOTS_BYTES)];
        let mut groups = Groups::new(agent.as_bytes());
        for_each_line(bytes, |line| {
            if let Some((key, value)) = key_and_value(line) {
                groups.take(Key::of(key), value);
            }
        });
        Robots {
            preferences: RobotsPreferences::parse(bytes, agent),
            digest: (!bytes.is_empty()).then(|| pith_preferences::digest(bytes)),
            ..groups.finish()
        }
    }

    /// Allows everything: the meaning of a status from 400 to 499.
    pub fn allow_all() -> Robots {
        Robots::default()
    }

    /// Disallows everything: the meaning of a server error or no response.
    pub fn disallow_all() -> Robots {
        let rule = Rule { pattern: Box::from(&b"/"[..]), allow: false };
        Robots { rules: RuleSet::new(&[rule]), ..Robots::default() }
    }

    /// Whether the crawler may fetch `url`, by the rules of Google's matcher. The URL is expected percent-encoded; a
    /// bare path will do.
    pub fn allows(&self, url: &str) -> bool {
        self.rules.allows(&path_of(url))
    }

    /// Whether the crawler may fetch a URL in canonical form.
    ///
    /// Canonical URLs have `~` instead of `%7E`; a site that disallows `/%7Ejoe` means that page too, although Google's
    /// matcher compares byte by byte. Both forms are checked, and the stricter result counts.
    pub fn allows_canonical(&self, url: &str) -> bool {
        let path = path_of(url);
        self.rules.allows(&path) && self.decoded.as_ref().is_none_or(|decoded| decoded.allows(&path))
    }

    /// The `Crawl-delay` of the site, if it is valid.
    pub fn crawl_delay(&self) -> Option<Duration> {
        self.crawl_delay
    }

    /// The sitemaps named anywhere in the file, as written there.
    pub fn sitemaps(&self) -> &[String] {
        &self.sitemaps
    }

    /// What the site says about the use of its pages.
    pub fn preferences(&self) -> &RobotsPreferences {
        &self.preferences
    }

    /// The digest of the file; `None` where there is none.
    pub fn digest(&self) -> Option<&str> {
        self.digest.as_deref()
    }

    /// The bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        let own = self.preferences.heap_bytes() + self.digest.as_ref().map_or(0, String::capacity);
        let sitemaps = self.sitemaps.iter().map(|sitemap| sitemap.capacity() + size_of::<String>());
        own + self.rules.heap_bytes() + self.decoded.as_ref().map_or(0, RuleSet::heap_bytes) + sitemaps.sum::<usize>()
    }
}

/// Path, parameters and query of a URL that may lack its scheme or its host, without the fragment.
fn path_of(url: &str) -> std::borrow::Cow<'_, [u8]> {
    let bytes = url.as_bytes();
    let find =
        |from: usize, wanted: &[u8]| bytes[from..].iter().position(|byte| wanted.contains(byte)).map(|at| at + from);
    let start = if bytes.starts_with(b"//") { 2 } else { 0 };
    let early_path = find(start, b"/?;").unwrap_or(usize::MAX);
    let scheme_end = memmem::find(&bytes[start..], b"://").map(|at| at + start);
    let authority = match scheme_end {
        Some(end) if early_path >= end => end + 3,
        _ => start,
    };
    let Some(path_start) = find(authority, b"/?;") else { return b"/"[..].into() };
    let path_end = find(start, b"#").unwrap_or(bytes.len());
    if path_end < path_start {
        return b"/"[..].into();
    }
    let path = &bytes[path_start..path_end];
    if path.first() == Some(&b'/') { path.into() } else { [b"/", path].concat().into() }
}

/// Calls back with each line, without its ending, cut at [`MAX_LINE_BYTES`] and at a NUL.
fn for_each_line(bytes: &[u8], mut line: impl FnMut(&[u8])) {
    // Even a partial byte order mark is skipped.
    let mark = bytes.iter().zip(b"\xEF\xBB\xBF").take_while(|(a, b)| a == b).count();
    let mut rest = &bytes[mark..];
    while !rest.is_empty() {
        let end = memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
        let cut = &rest[..end.min(MAX_LINE_BYTES)];
        line(&cut[..memchr(0, cut).unwrap_or(cut.len())]);
        rest = &rest[(end + 1).min(rest.len())..];
    }
}

/// `key: value`, or `key value` without the colon.
fn key_and_value(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let line = strip(&line[..memchr(b'#', line).unwrap_or(line.len())]);
    let separator = match memchr(b':', line) {
        Some(at) => at,
        None => {
            let at = memchr::memchr2(b' ', b'\t', line)?;
            let blanks = line[at..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
            // Without the colon only two words in all are taken for a rule.
            if memchr::memchr2(b' ', b'\t', &line[at + blanks..]).is_some() {
                return None;
            }
            at
        }
    };
    let key = strip(&line[..separator]);
    (!key.is_empty()).then(|| (key, strip(&line[separator + 1..])))
}

fn strip(mut text: &[u8]) -> &[u8] {
    let white = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\x0B' | b'\x0C' | b'\r');
    while let Some((first, rest)) = text.split_first()
        && white(first)
    {
        text = rest;
    }
    while let Some((last, rest)) = text.split_last()
        && white(last)
    {
        text = rest;
    }
    text
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Key {
    UserAgent,
    Allow,
    Disallow,
    Sitemap,
    CrawlDelay,
    Other,
}

impl Key {
    /// Keys are compared by their beginning, without case, and with the misspellings that are common enough.
    fn of(key: &[u8]) -> Key {
        const KEYS: &[(&str, Key)] = &[
            ("user-agent", Key::UserAgent),
            ("useragent", Key::UserAgent),
            ("user agent", Key::UserAgent),
            ("allow", Key::Allow),
            ("disallow", Key::Disallow),
            ("dissallow", Key::Disallow),
            ("dissalow", Key::Disallow),
            ("disalow", Key::Disallow),
            ("diasllow", Key::Disallow),
            ("disallaw", Key::Disallow),
            ("sitemap", Key::Sitemap),
            ("site-map", Key::Sitemap),
            ("crawl-delay", Key::CrawlDelay),
            ("crawldelay", Key::CrawlDelay),
            ("crawl delay", Key::CrawlDelay),
        ];
        let begins = |name: &str| key.len() >= name.len() && key[..name.len()].eq_ignore_ascii_case(name.as_bytes());
        KEYS.iter().find(|(name, _)| begins(name)).map_or(Key::Other, |(_, key)| *key)
    }
}

/// Which user agents the current group is for.
#[derive(Clone, Copy, Default)]
struct Addressed {
    specific: bool,
    global: bool,
    /// A rule has been seen: the next `User-agent` line begins a new group.
    closed: bool,
}

impl Addressed {
    fn user_agent(&mut self, is_global: bool, is_specific: bool) {
        if self.closed {
            *self = Addressed::default();
        }
        self.global |= is_global;
        self.specific |= is_specific;
    }
}

/// The rules collected while parsing, for this crawler and for `*`.
struct Groups<'a> {
    agent: &'a [u8],
    ever_specific: bool,
    /// Only `Allow` and `Disallow` close a group for the rules.
    addressed: Addressed,
    /// For the delay a `Crawl-delay` closes it as well: two groups that hold nothing else are still two.
    addressed_delay: Addressed,
    specific: Vec<Rule>,
    global: Vec<Rule>,
    specific_delay: Option<Duration>,
    global_delay: Option<Duration>,
    sitemaps: Vec<String>,
}

impl<'a> Groups<'a> {
    fn new(agent: &'a [u8]) -> Self {
        Groups {
            agent,
            ever_specific: false,
            addressed: Addressed::default(),
            addressed_delay: Addressed::default(),
            specific: Vec::new(),
            global: Vec::new(),
            specific_delay: None,
            global_delay: None,
            sitemaps: Vec::new(),
        }
    }

    fn take(&mut self, key: Key, value: &[u8]) {
        match key {
            Key::UserAgent => self.user_agent(value),
            Key::Allow | Key::Disallow => self.rule(value, key == Key::Allow),
            Key::CrawlDelay => self.delay(value),
            Key::Sitemap => {
                let sitemap = String::from_utf8_lossy(value);
                // The bound keeps the linear search for duplicates short.
                if self.sitemaps.len() < MAX_SITEMAPS
                    && !value.is_empty()
                    && !self.sitemaps.iter().any(|known| *known == sitemap)
                {
                    self.sitemaps.push(sitemap.into_owned());
                }
            }
            Key::Other => {}
        }
    }

    fn user_agent(&mut self, value: &[u8]) {
        let is_global = value.first() == Some(&b'*') && value.get(1).is_none_or(|byte| byte.is_ascii_whitespace());
        let token = value.iter().take_while(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'-' | b'_')).count();
        let is_specific = !is_global && value[..token].eq_ignore_ascii_case(self.agent);
        self.ever_specific |= is_specific;
        self.addressed.user_agent(is_global, is_specific);
        self.addressed_delay.user_agent(is_global, is_specific);
    }

    fn rule(&mut self, value: &[u8], allow: bool) {
        self.addressed_delay.closed |= self.addressed_delay.specific || self.addressed_delay.global;
        let Addressed { specific, global, .. } = self.addressed;
        if !specific && !global {
            return;
        }
        self.addressed.closed = true;
        let rules = if specific { &mut self.specific } else { &mut self.global };
        // An empty pattern has the lowest precedence, which is the same as no rule.
        if value.is_empty() {
            return;
        }
        let pattern = escape(value);
        // `Allow: /dir/index.html` allows `/dir/` as well.
        if allow
            && let Some(slash) = memchr::memrchr(b'/', &pattern)
            && pattern[slash..].starts_with(b"/index.htm")
        {
            rules.push(Rule { pattern: [&pattern[..=slash], b"$"].concat().into(), allow });
        }
        rules.push(Rule { pattern: pattern.into(), allow });
    }

    fn delay(&mut self, value: &[u8]) {
        let Addressed { specific, global, .. } = self.addressed_delay;
        if !specific && !global {
            return;
        }
        self.addressed_delay.closed = true;
        // `10`, `0.5`, and `10<BR>` or `10 seconds` as well.
        let digits = value.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count();
        let seconds: Option<f64> = std::str::from_utf8(&value[..digits]).ok().and_then(|text| text.parse().ok());
        let Some(seconds) = seconds.filter(|seconds| (0.0..=MAX_CRAWL_DELAY).contains(seconds)) else { return };
        let slot = if specific { &mut self.specific_delay } else { &mut self.global_delay };
        // Of several, the longest is kept.
        *slot = (*slot).max(Some(Duration::from_secs_f64(seconds)));
    }

    fn finish(self) -> Robots {
        let (mut rules, crawl_delay) =
            if self.ever_specific { (self.specific, self.specific_delay) } else { (self.global, self.global_delay) };
        rules.sort();
        rules.dedup();
        let is_escaped = rules.iter().any(|rule| memchr(b'%', &rule.pattern).is_some());
        let decoded: Vec<Rule> = match is_escaped {
            true => rules.iter().map(|rule| Rule { pattern: decode(&rule.pattern).into(), ..*rule }).collect(),
            false => Vec::new(),
        };
        let decoded = (is_escaped && decoded != rules).then(|| RuleSet::new(&decoded));
        let (rules, sitemaps) = (RuleSet::new(&rules), self.sitemaps);
        Robots { rules, decoded, crawl_delay, sitemaps, ..Robots::default() }
    }
}

/// `%aa` as `%AA`, and bytes beyond ASCII percent-encoded.
fn escape(pattern: &[u8]) -> Vec<u8> {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    let mut escaped = Vec::with_capacity(pattern.len());
    let mut at = 0;
    while at < pattern.len() {
        match pattern[at..] {
            [b'%', high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                escaped.extend([b'%', high.to_ascii_uppercase(), low.to_ascii_uppercase()]);
                at += 2;
            }
            [byte, ..] if !byte.is_ascii() => {
                escaped.extend([b'%', HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
            }
            [byte, ..] => escaped.push(byte),
            [] => {}
        }
        at += 1;
    }
    escaped
}

/// `%7E` as `~`, for the letters, digits and signs that need no encoding.
fn decode(pattern: &[u8]) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(pattern.len());
    let mut at = 0;
    while at < pattern.len() {
        match crate::canonical::unreserved(&pattern[at..]) {
            Some(byte) => {
                decoded.push(byte);
                at += 3;
            }
            None => {
                decoded.push(pattern[at]);
                at += 1;
            }
        }
    }
    decoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(robots: &str, url: &str, allowed: bool) {
        assert_eq!(Robots::parse(robots.as_bytes(), "pith").allows(url), allowed, "{robots:?} {url}");
    }

    #[test]
    fn the_longest_pattern_decides_and_allow_wins_a_tie() {
        check("user-agent: *\ndisallow: /a\nallow: /a/b\n", "http://x/a/b/c", true);
        check("user-agent: *\ndisallow: /a\nallow: /a\n", "http://x/a", true);
        check("user-agent: *\ndisallow: /a/*c\nallow: /a/b\n", "http://x/a/b/c", false);
    }

    #[test]
    fn stars_and_the_end_sign_match_without_going_back() {
        check("user-agent: *\ndisallow: /*.gif$\n", "http://x/a.gif", false);
        check("user-agent: *\ndisallow: /*.gif$\n", "http://x/a.gif?b", true);
        check("user-agent: *\ndisallow: *a*b*c$\n", "http://x/axbxxcc", false);
        let stars = format!("user-agent: *\ndisallow: /{}$\n", "*a".repeat(2000));
        check(&stars, &format!("http://x/{}b", "a".repeat(4000)), true);
        check(&stars, &format!("http://x/{}", "a".repeat(4000)), false);
    }

    #[test]
    fn a_group_of_our_own_hides_the_one_for_all() {
        check("user-agent: *\ndisallow: /\n\nuser-agent: Pith/2.0\ndisallow: /a\n", "http://x/b", true);
        check("user-agent: *\ndisallow: /\n\nuser-agent: pithy\ndisallow: /a\n", "http://x/b", false);
        check("user-agent: *\ndisallow: /\n\nuser-agent: pith\n", "http://x/b", true);
    }

    #[test]
    fn a_canonical_url_is_kept_out_in_either_spelling() {
        let robots = Robots::parse(b"user-agent: *\ndisallow: /%7ejoe/\n", "pith");
        assert!(robots.allows("http://x/~joe/"), "Google's matcher compares bytes");
        assert!(!robots.allows_canonical("http://x/~joe/"));
    }

    #[test]
    fn delays_and_sitemaps_are_read() {
        let robots = Robots::parse(
            b"Sitemap: http://x/s.xml\nuser-agent: a\ncrawl-delay: 3\nuser-agent: *\ncrawl-delay: 1.5\ndisallow:\n",
            "pith",
        );
        assert_eq!(robots.crawl_delay(), Some(Duration::from_millis(1500)));
        assert_eq!(robots.sitemaps(), ["http://x/s.xml"]);
        let odd = Robots::parse(b"user-agent: *\ncrawl-delay: -1\ncrawl-delay: inf\ncrawl-delay: NaN\n", "pith");
        assert_eq!(odd.crawl_delay(), None);
    }

    #[test]
    fn no_response_disallows_everything_and_a_missing_file_nothing() {
        assert!(!Robots::disallow_all().allows("http://x/"));
        assert!(Robots::allow_all().allows("http://x/"));
    }
}
