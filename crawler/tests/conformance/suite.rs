//! Reading a suite, and counting it.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::PathBuf;

use serde_json::Value;

/// Our own cases of a kind, which are always there, and after them those of a suite by others where it is.
pub fn own_and(own: &str, name: &str) -> Vec<Value> {
    let mut all = own_cases(own);
    say(&format!("{name}: {} cases of our own are counted with it", all.len()));
    all.extend(cases(name).unwrap_or_default());
    all
}

/// Our own cases of a kind, from `tests/data`.
pub fn own_cases(kind: &str) -> Vec<Value> {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data")).join(format!("{kind}.json"));
    let text = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    list(&text)
}

/// The cases of one suite; `None`, with a line that says so, when the folder is not there.
pub fn cases(name: &str) -> Option<Vec<Value>> {
    let folder = std::env::var_os("PITH_SHARED")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared")), PathBuf::from);
    let plain = folder.join("fixtures").join(format!("{name}.json"));
    let packed = folder.join("fixtures").join(format!("{name}.json.zst"));
    let text = match (std::fs::read(&plain), std::fs::read(&packed)) {
        (Ok(bytes), _) => bytes,
        (_, Ok(bytes)) => zstd::decode_all(&bytes[..]).expect("a zstd file"),
        _ => {
            say(&format!("skipped: {name}: no {} (set PITH_SHARED)", plain.display()));
            return None;
        }
    };
    Some(list(&text))
}

fn list(text: &[u8]) -> Vec<Value> {
    let mut suite: Value = serde_json::from_slice(text).expect("a JSON file");
    suite["cases"].as_array_mut().map(std::mem::take).expect("a list of cases")
}

/// Counts cases, remembers the differences, and says at the end whether each was expected.
pub struct Tally {
    suite: &'static str,
    passed: usize,
    explained: BTreeMap<&'static str, Vec<String>>,
    unexplained: Vec<String>,
}

impl Tally {
    pub fn new(suite: &'static str) -> Tally {
        Tally { suite, passed: 0, explained: BTreeMap::new(), unexplained: Vec::new() }
    }

    /// Counts one case. `reason` is asked only when it differs.
    pub fn count(
        &mut self,
        passed: bool,
        reason: impl FnOnce() -> Option<&'static str>,
        what: impl FnOnce() -> String,
    ) {
        if passed {
            self.passed += 1;
        } else if let Some(reason) = reason() {
            self.explained.entry(reason).or_default().push(what());
        } else {
            self.unexplained.push(what());
        }
    }

    /// Prints the figures and fails on a difference without a reason.
    pub fn finish(self) {
        let explained: usize = self.explained.values().map(Vec::len).sum();
        let total = self.passed + explained + self.unexplained.len();
        let mut lines = format!("{}: {}/{} passed, {} differ with a reason", self.suite, self.passed, total, explained);
        for (reason, cases) in &self.explained {
            lines.push_str(&format!("\n    {:4} {reason}", cases.len()));
            if std::env::var_os("PITH_SHOW_DIFFERENCES").is_some() {
                cases.iter().for_each(|case| lines.push_str(&format!("\n         {case}")));
            }
        }
        say(&lines);
        for case in self.unexplained.iter().take(40) {
            eprintln!("    unexplained: {case}");
        }
        assert!(self.unexplained.is_empty(), "{}: {} differences without a reason", self.suite, self.unexplained.len());
    }
}

/// Prints past the test harness, which keeps the output of tests that pass to itself.
pub fn say(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// The bytes of a field given as text or, with `_base64` behind its name, encoded.
pub fn bytes(case: &Value, field: &str) -> Vec<u8> {
    match case[field].as_str() {
        Some(text) => text.as_bytes().to_vec(),
        None => base64(case[format!("{field}_base64")].as_str().unwrap_or("")),
    }
}

/// Text given as it is or as `{"hex": …}`, as bytes.
pub fn text_or_hex(value: &Value) -> Option<Vec<u8>> {
    if let Some(text) = value.as_str() {
        return Some(text.as_bytes().to_vec());
    }
    let hex = value["hex"].as_str()?;
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).ok()).collect()
}

fn base64(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let (mut bits, mut held) = (0u32, 0);
    for letter in text.bytes() {
        let value = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => continue,
        };
        bits = bits << 6 | u32::from(value);
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
        }
    }
    bytes
}
