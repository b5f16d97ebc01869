//! Pages that are asked for again, and what the shards then say of them.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, SystemTime};

use pith_corpus::warc::{self, RecordType};
use pith_web::{Web, WebConfig};

use crate::crawl::{crawl_command, report};

/// One page record of a crawl: what it is, its URL and date, and for a `revisit` its profile and the date it refers to.
#[derive(Debug)]
struct Stored {
    kind: RecordType,
    url: String,
    date: String,
    /// The same date, to be compared: its text has no fixed width.
    time: SystemTime,
    profile: Option<String>,
    refers_to: Option<String>,
    refers_to_url: Option<String>,
    block: Vec<u8>,
}

fn records(out: &Path) -> Vec<Stored> {
    let mut shards: Vec<_> = std::fs::read_dir(out.join("pages")).unwrap().map(|entry| entry.unwrap().path()).collect();
    shards.retain(|path| path.to_str().is_some_and(|name| name.ends_with(".warc.zst")));
    shards.sort();
    let mut records = Vec::new();
    for shard in shards {
        let mut reader = warc::read(&shard).unwrap();
        while let Some(record) = reader.next().unwrap() {
            if !matches!(record.kind, RecordType::Response | RecordType::Revisit) {
                continue;
            }
            let field = |name: &str| record.text(name).map(|value| value.into_owned());
            records.push(Stored {
                kind: record.kind,
                url: record.url().unwrap().into_owned(),
                date: field("WARC-Date").unwrap(),
                time: record.date().unwrap().into(),
                profile: field("WARC-Profile"),
                refers_to: field("WARC-Refers-To-Date"),
                refers_to_url: field("WARC-Refers-To-Target-URI"),
                block: record.block.to_vec(),
            });
        }
        assert!(!reader.damage().any(), "{} is damaged", shard.display());
    }
    records
}

#[test]
fn a_page_that_has_not_changed_becomes_a_revisit_record_of_the_copy_at_hand() {
    let config = WebConfig { hosts: 5, pages_per_host: 12, sitemaps: false, ..WebConfig::default() };
    let web = Web::start(config).unwrap();
    let out = tempfile::tempdir().unwrap();
    let run = |words: &[&str]| {
        let words = [&["--delay", "0s", "--scope", "any"], words].concat();
        let output = crawl_command(&web, out.path(), &words).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    };
    run(&[]);
    let n_first = records(out.path()).len();
    let n_requests = web.log().len();
    // WARC dates of the second run must differ from those of the first.
    std::thread::sleep(Duration::from_millis(5));
    run(&["--recrawl", "--refresh-after", "0s", "--refreshes", &n_first.to_string()]);
    let all = records(out.path());
    let (first, second) = all.split_at(n_first);
    let n_spared = web.log()[n_requests..].iter().filter(|request| request.status == 304).count();
    let is_spared = |one: &&Stored| one.profile.as_deref().is_some_and(|name| name.ends_with("server-not-modified"));
    let spared: Vec<&Stored> = second.iter().filter(is_spared).collect();
    println!("{n_first} pages, then {} records, {n_spared} answers 304", second.len());
    assert!(n_spared > n_first / 2, "{n_spared} of {n_first} pages have validators");
    assert_eq!(spared.len(), n_spared, "each answer of 304 is one record");
    let before: BTreeMap<&str, &Stored> = first.iter().map(|one| (one.url.as_str(), one)).collect();
    for one in &spared {
        let copy = before[one.url.as_str()];
        assert_eq!(one.kind, RecordType::Revisit, "{}", one.url);
        assert_eq!(one.refers_to.as_ref(), Some(&copy.date), "{} refers to the copy at hand", one.url);
        assert_eq!(one.refers_to_url.as_ref(), Some(&one.url));
        assert!(one.time > copy.time, "{} was asked for later", one.url);
        let head = String::from_utf8_lossy(&one.block);
        assert!(head.starts_with("HTTP/1.1 304") && head.trim_end().lines().count() > 1, "{head}");
    }
    // Pages without validators came again with the same bytes: no body is stored twice.
    assert!(second.iter().all(|one| one.kind == RecordType::Revisit), "nothing has changed");
    let refresh = &report(out.path())["refresh"];
    assert_eq!((&refresh["asked"], &refresh["changed"]), (&n_first.into(), &0.into()), "{refresh}");
}
