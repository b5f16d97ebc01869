//! Low quality while crawling: a link farm and a host of gibberish beside honest hosts.

use std::collections::BTreeSet;

use pith_web::{RunningWeb, Traps, Web, WebConfig};

use crate::crawl::{crawl_command, report, stored};
use crate::log::lines;

fn is_low(host: &str) -> bool {
    host.starts_with("farm-") || host.starts_with("gibberish-")
}

fn web() -> RunningWeb {
    let traps = Traps { gibberish: true, farm_hosts: 12, ..Traps::default() };
    Web::start(WebConfig { hosts: 20, pages_per_host: 60, traps, ..WebConfig::default() }).unwrap()
}

#[test]
fn farms_and_gibberish_get_a_twentieth_of_the_requests_at_most() {
    let web = web();
    let folder = tempfile::tempdir().unwrap();
    let words = ["--scope", "any", "--delay", "10ms", "--pages", "1300"];
    let status = crawl_command(&web, folder.path(), &words).status().unwrap();
    assert!(status.success());
    let requests = web.log();
    let n_low = requests.iter().filter(|request| is_low(&request.host)).count();
    println!("{n_low} of {} requests went to a farm of 12 hosts and a host of gibberish", requests.len());
    assert!(n_low > 0 && n_low * 20 < requests.len(), "{n_low} of {}", requests.len());
    let outcomes = &report(folder.path())["outcomes"];
    let lines = lines(folder.path());
    let is_of_low = |line: &serde_json::Value| is_low(line["url"].as_str().unwrap().trim_start_matches("http://"));
    let marked = lines.iter().filter(|line| line["outcome"] == "low-quality");
    assert!(marked.clone().all(is_of_low), "no honest page is marked");
    assert!(
        marked.count() as u64 == outcomes["low-quality"].as_u64().unwrap() && outcomes["stored"] == 1300,
        "{outcomes}"
    );
}

#[test]
fn pages_of_low_quality_are_stored_unless_they_are_dropped() {
    let web = web();
    let seed = "http://gibberish-trap.test/".to_owned();
    for (words, is_stored) in
        [(&["--per-host", "6"][..], true), (&["--per-host", "6", "--drop-low-quality"][..], false)]
    {
        let folder = tempfile::tempdir().unwrap();
        let mut command = crate::crawl::pith();
        command
            .args(["crawl", &seed, "--delay", "0s", "--quiet", "--resolve", &web.resolve(), "--out"])
            .arg(folder.path());
        command.args(words).status().unwrap();
        let marked: BTreeSet<String> = lines(folder.path())
            .iter()
            .filter(|line| line["outcome"] == "low-quality")
            .map(|line| line["url"].as_str().unwrap().to_owned())
            .collect();
        assert!(marked.contains(&seed) && marked.len() > 2, "{marked:?}");
        let stored: BTreeSet<String> = stored(folder.path()).into_iter().collect();
        assert_eq!(stored, if is_stored { marked } else { BTreeSet::new() }, "{words:?}");
    }
}
