//! `/.well-known/tdmrep.json`: what an origin says about text and data mining.

use serde_json::Value;

use crate::pattern::{Pattern, normalize_path};
use crate::statement::{Signal, Source, Statement, clean};

/// Where the file is.
pub const TDMREP_PATH: &str = "/.well-known/tdmrep.json";
/// Larger files are not read.
pub const MAX_TDMREP_BYTES: usize = 512 << 10;
/// Rules that are kept of one file. The first that matches counts, so that what is behind these would rarely have.
const MAX_RULES: usize = 256;

/// The rules of one `tdmrep.json`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TdmRep {
    rules: Vec<Rule>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Rule {
    pattern: Pattern,
    statements: Vec<Statement>,
}

impl TdmRep {
    /// Reads the file. What is no JSON, or no rule, states nothing; a single rule without the brackets, which the
    /// specification asks for and many forget, is read as well.
    pub fn parse(bytes: &[u8]) -> TdmRep {
        let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        if bytes.len() > MAX_TDMREP_BYTES {
            return TdmRep::default();
        }
        let rules = match serde_json::from_slice(bytes) {
            Ok(Value::Array(rules)) => rules,
            Ok(rule @ Value::Object(_)) => vec![rule],
            _ => Vec::new(),
        };
        TdmRep { rules: rules.iter().filter_map(rule).take(MAX_RULES).collect() }
    }

    /// What it says about a path, with its query: the first rule that matches counts.
    pub fn statements(&self, path: &str) -> &[Statement] {
        if self.rules.is_empty() {
            return &[];
        }
        let path = normalize_path(path);
        let found = self.rules.iter().find(|rule| rule.pattern.matches(&path));
        found.map_or(&[], |rule| &rule.statements)
    }

    /// The bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        let rules = self.rules.iter().map(|rule| {
            let statements = rule.statements.iter().map(|said| said.heap_bytes() + size_of::<Statement>());
            rule.pattern.heap_bytes() + statements.sum::<usize>()
        });
        rules.sum::<usize>() + self.rules.capacity() * size_of::<Rule>()
    }
}

fn rule(rule: &Value) -> Option<Rule> {
    let location = match rule.get("location") {
        Some(location) => location.as_str()?,
        None => "/",
    };
    let reservation = match rule.get("tdm-reservation")? {
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.trim().to_owned(),
        _ => return None,
    };
    if !matches!(reservation.as_str(), "0" | "1") {
        return None;
    }
    let scope = clean(location);
    let said = |signal: Signal, value: &str| Statement {
        signal,
        source: Source::TdmRep,
        agent: "*".into(),
        scope: scope.clone(),
        value: clean(value),
    };
    let policy = rule.get("tdm-policy").and_then(Value::as_str).filter(|policy| !policy.trim().is_empty());
    let statements = std::iter::once(said(Signal::TdmReservation, &reservation))
        .chain(policy.map(|policy| said(Signal::TdmPolicy, policy)))
        .collect();
    Some(Rule { pattern: Pattern::new(location.as_bytes()), statements })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(file: &str, path: &str, expected: &[&str]) {
        let tdmrep = TdmRep::parse(file.as_bytes());
        let said: Vec<&str> = tdmrep.statements(path).iter().map(|said| said.value.as_str()).collect();
        assert_eq!(said, expected, "{path}");
    }

    #[test]
    fn the_examples_of_the_specification_are_understood() {
        check(r#"[{"location": "/", "tdm-reservation": 1}]"#, "/any/file", &["1"]);
        let three = r#"[{"location": "/directory-a/", "tdm-reservation": 1},
            {"location": "/directory-b/html/", "tdm-reservation": 1,
             "tdm-policy":"https://provider.com/policies/policy.json"},
            {"location": "/directory-b/images/*.jpg", "tdm-reservation": 0}]"#;
        check(three, "/directory-a/x.pdf", &["1"]);
        check(three, "/directory-b/html/x", &["1", "https://provider.com/policies/policy.json"]);
        check(three, "/directory-b/images/a/b.jpg", &["0"]);
        check(three, "/directory-b/images/b.png", &[]);
        check(three, "/", &[]);
    }

    #[test]
    fn the_first_rule_that_matches_counts() {
        let file = r#"[{"location": "/open/", "tdm-reservation": 0}, {"location": "/", "tdm-reservation": 1}]"#;
        check(file, "/open/x", &["0"]);
        check(file, "/x", &["1"]);
        let shadowed = r#"[{"location": "/", "tdm-reservation": 1}, {"location": "/open/", "tdm-reservation": 0}]"#;
        check(shadowed, "/open/x", &["1"]);
    }

    #[test]
    fn what_breaks_the_protocol_states_nothing() {
        for file in [
            "",
            "<html>Not found</html>",
            "[1, null, [], {}]",
            r#"[{"location": "/", "tdm-reservation": 2}]"#,
            r#"[{"location": "/", "tdm-reservation": true}]"#,
            r#"[{"location": 7, "tdm-reservation": 1}]"#,
            r#"[{"location": "/"}]"#,
        ] {
            check(file, "/", &[]);
        }
        check(r#"{"location": "/", "tdm-reservation": "1"}"#, "/", &["1"]);
        check(r#"{"tdm-reservation": 1}"#, "/x", &["1"]);
        check(r#"[{"location": "/", "tdm-reservation": 9}, {"location": "/", "tdm-reservation": 1}]"#, "/", &["1"]);
    }

    #[test]
    fn a_megabyte_of_nonsense_takes_no_time() {
        let rules = r#"{"location":"/*a*a*a*b","tdm-reservation":1},"#.repeat(10_000);
        let texts = ["[".repeat(1 << 20), "{\"a\":".repeat(100_000), format!("[{}1]", &rules), "\"".repeat(1 << 20)];
        for text in texts {
            let started = std::time::Instant::now();
            TdmRep::parse(text.as_bytes()).statements(&"/a".repeat(1_000));
            assert!(started.elapsed().as_millis() < 2_000, "{:?}", started.elapsed());
        }
    }
}
