//! What a robots.txt says about use: `Content-Usage`, `Content-Signal` and `License` lines, for one crawler.

use memchr::memchr;

use crate::judgement::reserves_anything;
use crate::pattern::{Pattern, normalize_path};
use crate::statement::{Signal, Source, Statement, clean};
use crate::usage::{content_signal, content_usage};

/// Longer lines are cut here, as those of other rules are: eight times the longest URL that a browser takes.
const MAX_LINE_BYTES: usize = 2083 * 8 - 1;
/// Statements with a pattern that are kept of one file. What further ones refuse is refused for the whole host: a file
/// of many thousand lines must not cost that much at every page, nor be a way to say less.
const MAX_RULES: usize = 256;
/// `License` lines that are kept.
const MAX_LICENSES: usize = 8;

/// What one robots.txt says to one crawler about the use of pages.
///
/// The groups that name the crawler count or, without one, those for `*`; lines before the first group are for everybody.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RobotsPreferences {
    rules: Vec<Rule>,
    /// Statements about the whole host.
    everywhere: Vec<Statement>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Rule {
    pattern: Pattern,
    statement: Statement,
}

impl RobotsPreferences {
    /// Reads a robots.txt for the crawler whose product token is `agent`.
    pub fn parse(bytes: &[u8], agent: &str) -> RobotsPreferences {
        let mut groups = Groups::new(agent);
        let mut rest = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        while !rest.is_empty() {
            let end = memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
            groups.line(&rest[..end.min(MAX_LINE_BYTES)]);
            rest = &rest[(end + 1).min(rest.len())..];
        }
        groups.finish()
    }

    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty() && self.everywhere.is_empty()
    }

    /// What it says about a path, with its query. Of the lines with one signal that match, those with the longest
    /// pattern count.
    pub fn statements(&self, path: &str) -> Vec<Statement> {
        if self.is_empty() {
            return Vec::new();
        }
        let mut found = self.everywhere.clone();
        let path = normalize_path(path);
        for signal in [Signal::ContentUsage, Signal::ContentSignal] {
            let of_signal = self.rules.iter().filter(|rule| rule.statement.signal == signal);
            let matching: Vec<&Rule> = of_signal.filter(|rule| rule.pattern.matches(&path)).collect();
            let longest = matching.iter().map(|rule| rule.pattern.length).max();
            let best = matching.into_iter().filter(|rule| Some(rule.pattern.length) == longest);
            found.extend(best.map(|rule| rule.statement.clone()));
        }
        found
    }

    /// The bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        let rules = self.rules.iter().map(|rule| rule.statement.heap_bytes() + rule.pattern.heap_bytes());
        rules.sum::<usize>()
            + self.everywhere.iter().map(Statement::heap_bytes).sum::<usize>()
            + self.rules.capacity() * size_of::<Rule>()
            + self.everywhere.capacity() * size_of::<Statement>()
    }
}

/// Whom the current lines speak to.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Addressed {
    /// No group has begun: everybody.
    #[default]
    Everybody,
    Named,
    Star,
    Other,
}

/// The statements of a file by whom they speak to.
struct Groups<'a> {
    agent: &'a str,
    addressed: Addressed,
    /// A rule was read: the next `User-agent` line begins a new group.
    is_closed: bool,
    is_named: bool,
    named: RobotsPreferences,
    star: RobotsPreferences,
    everybody: RobotsPreferences,
}

impl<'a> Groups<'a> {
    fn new(agent: &'a str) -> Groups<'a> {
        Groups {
            agent,
            addressed: Addressed::Everybody,
            is_closed: true,
            is_named: false,
            named: RobotsPreferences::default(),
            star: RobotsPreferences::default(),
            everybody: RobotsPreferences::default(),
        }
    }

    fn line(&mut self, line: &[u8]) {
        let line = &line[..memchr(b'#', line).unwrap_or(line.len())];
        let Some(colon) = memchr(b':', line) else { return };
        let (key, value) = (line[..colon].trim_ascii(), line[colon + 1..].trim_ascii());
        let is = |name: &str| key.eq_ignore_ascii_case(name.as_bytes());
        if is("user-agent") || is("useragent") || is("user agent") {
            self.user_agent(value);
        } else if is("content-usage") {
            self.usage(Signal::ContentUsage, value);
        } else if is("content-signal") || is("content-signals") {
            self.usage(Signal::ContentSignal, value);
        } else if is("license") {
            self.license(value);
        } else if is("allow") || is("disallow") || is("crawl-delay") {
            self.is_closed = true;
        }
    }

    fn user_agent(&mut self, value: &[u8]) {
        if std::mem::take(&mut self.is_closed) {
            self.addressed = Addressed::Other;
        }
        let is_star = value.first() == Some(&b'*') && value.get(1).is_none_or(u8::is_ascii_whitespace);
        let token = value.iter().take_while(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'-' | b'_')).count();
        if !is_star && token > 0 && value[..token].eq_ignore_ascii_case(self.agent.as_bytes()) {
            self.addressed = Addressed::Named;
            self.is_named = true;
        } else if is_star && self.addressed != Addressed::Named {
            self.addressed = Addressed::Star;
        }
    }

    fn usage(&mut self, signal: Signal, value: &[u8]) {
        self.is_closed = true;
        let (path, list) = match value.first() {
            Some(b'/' | b'*') => {
                let end = value.iter().position(u8::is_ascii_whitespace).unwrap_or(value.len());
                (&value[..end], value[end..].trim_ascii_start())
            }
            _ => (&b"/"[..], value),
        };
        let said = if signal == Signal::ContentUsage { content_usage(list) } else { content_signal(list) };
        let Some(said) = said else { return };
        let scope = clean(&String::from_utf8_lossy(path));
        let Some((agent, group)) = self.group() else { return };
        let statement = Statement { signal, source: Source::RobotsTxt, agent, scope, value: said };
        if group.rules.len() < MAX_RULES {
            group.rules.push(Rule { pattern: Pattern::new(path), statement });
        } else if reserves_anything(&statement) && group.everywhere.len() < MAX_LICENSES * 2 {
            let is_known = |known: &Statement| known.signal == signal && known.value == statement.value;
            if !group.everywhere.iter().any(is_known) {
                group.everywhere.push(Statement { scope: "/".into(), ..statement });
            }
        }
    }

    fn license(&mut self, value: &[u8]) {
        let value = clean(&String::from_utf8_lossy(value));
        let Some((agent, group)) = self.group() else { return };
        let n_licenses = group.everywhere.iter().filter(|known| known.signal == Signal::License).count();
        if !value.is_empty() && n_licenses < MAX_LICENSES {
            let (signal, source) = (Signal::License, Source::RobotsTxt);
            group.everywhere.push(Statement { signal, source, agent, scope: "/".into(), value });
        }
    }

    /// Whom the current line speaks to, and what was said to them; `None` for others.
    fn group(&mut self) -> Option<(String, &mut RobotsPreferences)> {
        match self.addressed {
            Addressed::Everybody => Some(("*".to_owned(), &mut self.everybody)),
            Addressed::Star => Some(("*".to_owned(), &mut self.star)),
            Addressed::Named => Some((self.agent.to_owned(), &mut self.named)),
            Addressed::Other => None,
        }
    }

    fn finish(self) -> RobotsPreferences {
        let mut chosen = if self.is_named { self.named } else { self.star };
        chosen.everywhere.extend(self.everybody.everywhere);
        chosen.rules.extend(self.everybody.rules);
        chosen.rules.shrink_to_fit();
        chosen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `signal value` of every statement about a path.
    fn said(file: &str, agent: &str, path: &str) -> Vec<String> {
        let statements = RobotsPreferences::parse(file.as_bytes(), agent).statements(path);
        statements.iter().map(|said| format!("{} {}", said.signal.name(), said.value)).collect()
    }

    #[track_caller]
    fn check(file: &str, agent: &str, path: &str, expected: &[&str]) {
        assert_eq!(said(file, agent, path), expected, "{path} for {agent}");
    }

    /// The example of draft-ietf-aipref-attach.
    const AIPREF: &str = "User-Agent: *\nAllow: /\nDisallow: /never/\nContent-Usage: / train-ai=n\n\
        Content-Usage: /ai-ok/ train-ai=y\n\nUser-Agent: ExampleBot\nAllow: /\nContent-Usage: / train-ai=y\n";

    #[test]
    fn the_example_of_the_draft_gives_its_table() {
        check(AIPREF, "pith", "/test", &["content-usage train-ai=n"]);
        check(AIPREF, "pith", "/ai-ok/test", &["content-usage train-ai=y"]);
        check(AIPREF, "ExampleBot", "/test", &["content-usage train-ai=y"]);
        check(AIPREF, "examplebot", "/ai-ok/test", &["content-usage train-ai=y"]);
    }

    #[test]
    fn a_group_with_our_name_is_read_instead_of_the_one_for_all() {
        let file = "User-agent: *\nContent-Signal: ai-train=no\n\nUser-agent: pith\nContent-Signal: ai-train=yes\n";
        check(file, "pith", "/", &["content-signal ai-train=yes"]);
        check(file, "other", "/", &["content-signal ai-train=no"]);
        let silent = "User-agent: *\nContent-Signal: ai-train=no\nUser-agent: Pith/2.0\nDisallow: /x\n";
        check(silent, "pith", "/", &[]);
        let shared = "User-agent: other\nUser-agent: pith\nContent-Usage: train-ai=n\n";
        check(shared, "pith", "/", &["content-usage train-ai=n"]);
        check("User-agent: pithy\nContent-Usage: train-ai=n\n", "pith", "/", &[]);
    }

    #[test]
    fn the_file_of_a_large_network_is_understood() {
        let file = "# As a condition of accessing this website, you agree to abide by the following\n\
            # content signals:\n\nUser-Agent: *\nContent-signal: search=yes,ai-train=no\nAllow: /\n\n\
            User-agent: Amazonbot\nDisallow: /\n\nUser-agent: GPTBot\nDisallow: /\n";
        check(file, "pith", "/a", &["content-signal search=yes, ai-train=no"]);
    }

    #[test]
    fn what_stands_before_every_group_is_for_everybody() {
        let file = "Content-Signal: ai-train=no\nLicense: https://a.test/license.xml\nUser-agent: pith\nAllow: /\n\
            User-agent: *\nContent-Signal: ai-train=yes\n";
        let expected = ["license https://a.test/license.xml", "content-signal ai-train=no"];
        check(file, "pith", "/", &expected);
        let for_others = [expected[0], "content-signal ai-train=yes", expected[1]];
        check(file, "other", "/", &for_others);
    }

    #[test]
    fn the_longest_path_counts_and_equal_ones_count_together() {
        let file = "User-agent: *\nContent-Usage: /a/*.html train-ai=y\nContent-Usage: /a/ train-ai=n\n\
            Content-Usage: /b/ train-ai=y\nContent-Usage: /b/ train-ai=n, search=n\nContent-Usage: /c/$ search=n\n";
        check(file, "pith", "/a/x.html", &["content-usage train-ai=y"]);
        check(file, "pith", "/a/x", &["content-usage train-ai=n"]);
        check(file, "pith", "/b/x", &["content-usage train-ai=y", "content-usage train-ai=n, search=n"]);
        check(file, "pith", "/c/", &["content-usage search=n"]);
        check(file, "pith", "/c/d", &[]);
    }

    #[test]
    fn what_cannot_be_read_says_nothing() {
        for line in ["Content-Usage: / TRAIN-AI=n", "Content-Usage:", "Content-Usage: /", "Content-Usage train-ai=n"] {
            check(&format!("User-agent: *\n{line}\n"), "pith", "/", &[]);
        }
        check("\u{feff}User-agent: *\rContent-Usage: train-ai=n # no\r", "pith", "/", &["content-usage train-ai=n"]);
        check("User-agent:\nContent-Usage: train-ai=n\n", "pith", "/", &[]);
    }

    #[test]
    fn what_thousands_of_lines_refuse_is_refused_everywhere() {
        let mut file = "User-agent: *\n".to_owned();
        (0..40_000).for_each(|number| file += &format!("Content-Usage: /{number}/ train-ai=n\n"));
        let robots = RobotsPreferences::parse(file.as_bytes(), "pith");
        assert_eq!(robots.statements("/elsewhere").len(), 1);
        assert!(robots.heap_bytes() < 200_000, "{}", robots.heap_bytes());
    }

    #[test]
    fn a_megabyte_of_nonsense_takes_no_time() {
        let lines =
            ["User-agent: *\n", "Content-Usage: /*a*b*c*d train-ai=n\n", "Content-Signal: a=b=c;,,=\n", ":::#\n"];
        let mut texts: Vec<String> = lines.iter().map(|line| line.repeat((1 << 20) / line.len())).collect();
        texts.push(lines.concat().repeat((1 << 20) / lines.concat().len()));
        texts.push(format!("User-agent: *\nContent-Usage: /{} train-ai=n\n", "*a".repeat(1 << 19)));
        texts.push(format!("User-agent: *\nContent-Usage: {}\n", "a=(".repeat(1 << 19)));
        for text in texts {
            let started = std::time::Instant::now();
            let robots = RobotsPreferences::parse(text.as_bytes(), "pith");
            robots.statements(&"/a".repeat(1_000));
            assert!(started.elapsed().as_millis() < 2_000, "{:?} for {}", started.elapsed(), &text[..60]);
        }
    }
}
