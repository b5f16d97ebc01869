//! Any bytes are what an owner says: a robots.txt, a tdmrep.json, headers or a page.

#![no_main]

use libfuzzer_sys::fuzz_target;
use pith_preferences::{KnownBefore, Purpose, RobotsPreferences, TdmRep, Verdict, judge};

fuzz_target!(|input: (&[u8], &str, &[u8], &[u8])| {
    let (file, path, name, value) = input;
    let robots = RobotsPreferences::parse(file, "pith");
    assert!(robots.heap_bytes() <= 64 * file.len() + 4096);
    let mut statements = robots.statements(path);
    statements.extend_from_slice(TdmRep::parse(file).statements(path));
    let known = KnownBefore { agent: "pith".into(), robots: None, statements };
    let line = known.to_json();
    assert!(line.is_ascii() && !line.contains(['\r', '\n']));
    assert_eq!(KnownBefore::from_json(&line).as_ref(), Some(&known));
    let headers = [(name, value), (b"Content-Usage", value), (b"X-Robots-Tag", value), (b"Link", value)];
    let judged = known.judge_page(headers, Some(file), "pith");
    // What was said before is not unsaid by the page, but for the nearer word of TDMRep.
    let before = judge(&known.statements, Purpose::Search).verdict;
    assert!(before != Verdict::Reserved || judged.verdict.search == Verdict::Reserved);
});
