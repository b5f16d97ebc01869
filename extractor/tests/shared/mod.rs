//! Reading test data: our own, in `tests/data`, and the shared data, which is not part of the project.

#![allow(dead_code, reason = "each test target uses its part")]

pub mod abuse;
pub mod growth;

use std::path::PathBuf;

use serde_json::Value;

/// The folder of the shared data: `PITH_SHARED`, or the one beside the project.
pub fn folder() -> Option<PathBuf> {
    let beside = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared"));
    let folder = std::env::var_os("PITH_SHARED").map_or_else(beside, PathBuf::from);
    if !folder.is_dir() {
        println!("skipped: no shared data at {} (set PITH_SHARED)", folder.display());
        return None;
    }
    Some(folder)
}

/// The text of a file of our own in `tests/data`.
pub fn own(name: &str) -> String {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data")).join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Our own cases, from a file in the layout of a suite.
pub fn own_cases(name: &str) -> Vec<Value> {
    list(&own(&format!("{name}.json")))
}

/// The cases of one suite.
pub fn cases(suite: &str) -> Option<Vec<Value>> {
    let path = folder()?.join("fixtures").join(format!("{suite}.json"));
    let Ok(text) = std::fs::read_to_string(&path) else {
        println!("skipped: no {}", path.display());
        return None;
    };
    Some(list(&text))
}

fn list(text: &str) -> Vec<Value> {
    let mut suite: Value = serde_json::from_str(text).expect("a suite is JSON");
    suite["cases"].as_array_mut().map(std::mem::take).expect("a suite has cases")
}

/// Bytes written in base64.
pub fn base64(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len() * 3 / 4);
    let (mut bits, mut n_bits) = (0u32, 0);
    for byte in text.bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => continue,
        };
        bits = bits << 6 | u32::from(value);
        n_bits += 6;
        if n_bits >= 8 {
            n_bits -= 8;
            bytes.push((bits >> n_bits) as u8);
        }
    }
    bytes
}
