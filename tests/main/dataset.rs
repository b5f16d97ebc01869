//! Datasets of mixed sources: files of a size, one schema, a card that tells every branch, parts, statistics.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::program::pith_in;

/// Writes a shard of so many documents, each made by `document`.
fn shard(folder: &Path, name: &str, n: usize, document: impl Fn(usize) -> Value) {
    fs::create_dir_all(folder).unwrap();
    let lines: Vec<String> = (0..n).map(|number| document(number).to_string()).collect();
    fs::write(folder.join(name), lines.join("\n") + "\n").unwrap();
}

fn full(number: usize) -> Value {
    json!({
        "id": format!("full{number}"), "url": format!("https://a.example/{number}"), "language": "pt",
        "fetched_at": "2026-11-18T00:00:00Z", "title": format!("Title {number}"), "author": "Ana",
        "published": format!("{}-05-01", 2001 + number % 30), "text": format!("O rio subiu {number} vezes."),
        "summary": [{"text": "O rio subiu.", "score": 1.5, "position": 0}],
        "links": [{"url": "https://b.example/", "text": "b", "main": true}],
        "counts": {"characters": 20, "words": 4, "sentences": 1},
    })
}

/// What another tool wrote: fewer fields, and one that we do not know.
fn bare(number: usize) -> Value {
    json!({"id": number, "url": format!("https://c.example/{number}"), "text": format!("Text {number}."), "extra": [number]})
}

#[track_caller]
fn succeed(folder: &Path, words: &[&str]) -> Value {
    let told = pith_in(folder, &[words, &["--json", "--quiet"]].concat());
    assert_eq!(told.code, 0, "{words:?}: {}", told.stderr);
    serde_json::from_str(&told.stdout).unwrap()
}

fn data_files(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder.join("data")).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn files_have_the_size_that_was_asked_for_and_none_is_empty() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path();
    for number in 0..20 {
        shard(&folder.join("docs"), &format!("d{number:02}.jsonl"), if number % 5 == 0 { 7 } else { 0 }, full);
    }
    let exported = succeed(folder, &["corpus", "export", "docs", "--out", "one"]);
    assert_eq!((&exported["counts"]["kept"], data_files(&folder.join("one")).len()), (&28.into(), 1));
    let exported = succeed(folder, &["corpus", "export", "docs", "--out", "ten", "--documents", "10"]);
    assert_eq!(exported["counts"]["kept"], 28);
    assert_eq!(data_files(&folder.join("ten")), ["train-00000.parquet", "train-00001.parquet", "train-00002.parquet"]);
    let words = ["corpus", "export", "docs", "--out", "small", "--shard-size", "2k", "--format", "jsonl"];
    assert_eq!(succeed(folder, &words)["counts"]["kept"], 28);
    let n_files = data_files(&folder.join("small")).len();
    assert!((4..=8).contains(&n_files), "28 documents of some 400 bytes are {n_files} files");
}

#[test]
fn mixed_sources_have_one_schema_that_datasets_and_duckdb_open() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path();
    // The first file has nulls where the second has values.
    shard(&folder.join("a"), "a.jsonl", 30, bare);
    shard(&folder.join("b"), "b.jsonl", 30, full);
    for format in ["jsonl", "parquet"] {
        succeed(folder, &["corpus", "export", "a", "b", "--out", format, "--format", format, "--documents", "30"]);
    }
    let mut columns = BTreeSet::new();
    for path in data_files(&folder.join("jsonl")) {
        let mut reader = pith_corpus::jsonl::Reader::open(&folder.join("jsonl/data").join(path)).unwrap();
        while let Some(pith_corpus::jsonl::Line::Good { bytes, .. }) = reader.next_line() {
            let row: Value = serde_json::from_slice(bytes).unwrap();
            columns.insert(row.as_object().unwrap().keys().cloned().collect::<Vec<_>>());
            assert!(row["metadata"].is_string() && row["summary"].is_array(), "{row}");
        }
    }
    assert_eq!(columns.len(), 1, "{columns:?}");
    let datasets = "import sys, datasets\n\
        rows = datasets.load_dataset('./' + sys.argv[1], split='train')\n\
        print(len(rows), rows[0]['author'], rows[59]['author'], rows[59]['summary'][0], rows[59]['words'])";
    let duckdb = "import sys, glob, duckdb\n\
        format = sys.argv[1]\n\
        read = f\"read_json('{format}/data/*.jsonl.zst')\" if format == 'jsonl' else f\"read_parquet('{format}/data/*')\"\n\
        print(*duckdb.sql(f'select count(*), min(author), max(author), max(summary[1]), max(words) from {read}').fetchall()[0])";
    let python = std::env::var("PITH_PYTHON").unwrap_or_else(|_| "python3".into());
    for (library, code, expected) in [
        ("datasets, zstandard", datasets, "60 None Ana O rio subiu. 4"),
        ("duckdb", duckdb, "60 Ana Ana O rio subiu. 4"),
    ] {
        let run = |code: &str, format: &str| {
            let home = folder.join("cache");
            let mut command = Command::new(&python);
            command.args(["-c", code, format]).current_dir(folder);
            command.env("HF_HOME", home).env("HF_HUB_OFFLINE", "1").output()
        };
        if !run(&format!("import {library}"), "").is_ok_and(|output| output.status.success()) {
            eprintln!("skipped: {python} has no {library}");
            continue;
        }
        for format in ["jsonl", "parquet"] {
            let output = run(code, format).unwrap();
            let said = String::from_utf8_lossy(&output.stdout);
            assert_eq!(said.trim(), expected, "{library}, {format}: {}", String::from_utf8_lossy(&output.stderr));
        }
    }
}

#[test]
fn the_card_tells_every_branch_and_its_parts() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path();
    shard(&folder.join("a"), "a.jsonl", 40, |number| {
        let mut document = full(number);
        document["url"] = format!("https://site{number}.example/").into();
        document
    });
    shard(&folder.join("b"), "b.jsonl", 10, bare);
    succeed(folder, &["corpus", "dedup", "a", "--out", "unique", "--exact"]);
    succeed(folder, &["corpus", "filter", "b", "--out", "clean", "--min-characters", "3"]);
    succeed(folder, &["corpus", "split", "unique", "clean", "--out", "parts", "--parts", "train=3,dev=2"]);
    succeed(folder, &["corpus", "export", "parts", "--out", "dataset"]);
    let card = fs::read_to_string(folder.join("dataset/README.md")).unwrap();
    for step in ["corpus dedup a", "corpus filter b", "corpus split unique clean", "corpus export parts"] {
        assert_eq!(card.matches(&format!("$ pith {step}")).count(), 1, "{step}: {card}");
    }
    assert!(card.contains("- split: train") && card.contains("- split: dev") && card.contains("| dev | "), "{card}");
    assert!(data_files(&folder.join("dataset")).contains(&"dev-00000.parquet".to_owned()));
}

#[test]
fn a_site_that_is_larger_than_a_part_is_named() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path();
    shard(&folder.join("docs"), "a.jsonl", 50, full);
    shard(
        &folder.join("docs"),
        "b.jsonl",
        50,
        |number| json!({"url": format!("https://s{number}.example/"), "text": "x"}),
    );
    let told = pith_in(folder, &["corpus", "split", "docs", "--out", "parts"]);
    assert_eq!(told.code, 0, "{}", told.stderr);
    assert!(told.stderr.contains("note: a.example alone has 50 of 100 documents"), "{}", told.stderr);
}

#[test]
fn dates_are_counted_by_decade_the_newest_first() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path();
    shard(&folder.join("docs"), "a.jsonl", 30, full);
    shard(&folder.join("docs"), "b.jsonl", 5, bare);
    let stats = succeed(folder, &["corpus", "stats", "docs"]);
    let names = |group: &str| -> Vec<String> {
        let group = stats[group].as_array().unwrap();
        group.iter().map(|share| share["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names("decades"), ["2030s", "2020s", "2010s", "2000s", "unknown"]);
    assert_eq!((names("years")[0].as_str(), names("years").last().unwrap().as_str()), ("2030", "unknown"));
    let table = pith_in(folder, &["corpus", "stats", "docs"]).stdout;
    assert!(table.contains("2020s"), "{table}");
}

#[test]
fn rules_are_shown_without_documents() {
    let place = tempfile::tempdir().unwrap();
    let told = pith_in(place.path(), &["corpus", "filter", "--show-rules"]);
    assert_eq!(told.code, 0, "{}", told.stderr);
    let rules: Value = serde_json::from_str(&told.stdout).unwrap();
    for set in ["c4", "gopher_quality", "gopher_repetition", "fineweb"] {
        assert!(rules[set].is_object(), "{set}: {rules}");
    }
    let told = pith_in(place.path(), &["corpus", "filter", "--rules", "c4"]);
    assert!(told.code == 2 && told.stderr.contains("--out"), "{}", told.stderr);
}
