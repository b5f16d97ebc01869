//! How commands end: by a signal, and by going on with wider settings.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use pith_web::{RunningWeb, Web, WebConfig};
use serde_json::Value;

use super::crawl::{report, stored};

fn command(web: &RunningWeb, out: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pith"));
    command.args(["crawl", &web.seeds()[0], "--resolve", &web.resolve(), "--out"]).arg(out).args(words);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn crawl(web: &RunningWeb, out: &Path, words: &[&str]) -> Output {
    command(web, out, &[&["--delay", "0s"], words].concat()).output().unwrap()
}

fn said(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_signal_ends_a_crawl_with_its_code_and_says_what_is_safe() {
    let web = Web::start(WebConfig { hosts: 1, pages_per_host: 40, ..WebConfig::default() }).unwrap();
    for (signal, code, name) in [("INT", 130, "Ctrl-C"), ("TERM", 143, "SIGTERM")] {
        let place = tempfile::tempdir().unwrap();
        let out = place.path().join("crawl");
        // A rest of ten seconds between two requests: the crawl is still at it when the signal comes.
        let before = web.log().len();
        let child = command(&web, &out, &["--delay", "10s"]).spawn().unwrap();
        while web.log().len() == before {
            std::thread::sleep(Duration::from_millis(5));
        }
        let killed = Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status().unwrap();
        assert!(killed.success());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{}", said(&output.stderr));
        let talk = said(&output.stderr);
        assert!(talk.contains(&format!("stopped by {name}")) && talk.contains("the same command goes on"), "{talk}");
        assert_eq!(report(&out)["stopped"], "interrupted");
    }
}

/// What one run with this depth stores.
fn within(web: &RunningWeb, depth: &str) -> BTreeSet<String> {
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("crawl");
    assert!(crawl(web, &out, &["--scope", "any", "--depth", depth]).status.success());
    stored(&out).into_iter().collect()
}

#[test]
fn a_wider_run_takes_up_what_was_left_out_and_says_so() {
    let config = WebConfig { hosts: 4, pages_per_host: 15, sitemaps: false, ..WebConfig::default() };
    let web = Web::start(config).unwrap();
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("crawl");
    let distinct = |out: &Path| -> BTreeSet<String> {
        let urls = stored(out);
        let distinct: BTreeSet<String> = urls.iter().cloned().collect();
        assert_eq!(distinct.len(), urls.len(), "nothing is stored twice");
        distinct
    };
    let output = crawl(&web, &out, &["--scope", "any", "--depth", "1"]);
    assert!(output.status.success(), "{}", said(&output.stderr));
    assert_eq!(distinct(&out), within(&web, "1"));
    assert!(!said(&output.stdout).contains("this run"), "one run needs no second line: {}", said(&output.stdout));

    let output = crawl(&web, &out, &["--scope", "any", "--depth", "2"]);
    assert!(output.status.success(), "{}", said(&output.stderr));
    let talk = said(&output.stderr);
    assert!(talk.contains("--depth changed") && talk.contains("stored pages were read again"), "{talk}");
    assert_eq!(distinct(&out), within(&web, "2"));
    let table = said(&output.stdout);
    assert!(table.contains("this run: ") && table.contains("all runs: "), "{table}");
    let counts: Value = report(&out);
    assert!(counts["outcomes_this_run"]["stored"].as_u64() < counts["outcomes"]["stored"].as_u64(), "{counts}");

    let output = crawl(&web, &out, &["--scope", "any"]);
    assert!(output.status.success(), "{}", said(&output.stderr));
    assert_eq!(distinct(&out), web.truth().reachable(&web.seeds()[..1]));
    let before = web.log().len();
    let again = said(&crawl(&web, &out, &["--scope", "any"]).stderr);
    assert!(!again.contains("changed") && web.log().len() == before, "{again}");
}

#[test]
fn a_wider_scope_and_a_larger_share_are_taken_up_and_the_sums_agree() {
    let config = WebConfig { hosts: 3, pages_per_host: 12, sitemaps: false, ..WebConfig::default() };
    let web = Web::start(config).unwrap();
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("crawl");
    let output = crawl(&web, &out, &["--per-host", "5"]);
    let table = said(&output.stdout);
    assert!(!table.contains("; 0 URLs wait"), "the table says that some wait: {table}");
    assert!(table.contains("of them on hosts that have had their `--per-host` share"), "{table}");
    crawl(&web, &out, &[]);
    let host = web.hosts()[0].clone();
    assert!(stored(&out).iter().all(|url| url.contains(&host)), "the scope is one host");
    let output = crawl(&web, &out, &["--scope", "any"]);
    assert!(said(&output.stderr).contains("--scope changed"), "{}", said(&output.stderr));
    let urls: BTreeSet<String> = stored(&out).into_iter().collect();
    assert_eq!(urls, web.truth().reachable(&web.seeds()[..1]));
}
