//! From documents to a dataset with the real program: counts that add up, runs that go on, files that are whole.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::batch::archives;

fn pith(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_pith")).args(words).output().expect("the program starts")
}

#[track_caller]
fn succeed(words: &[&str]) -> Value {
    let output = pith(words);
    let talk = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words:?}: {talk}");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{words:?}: {error}: {talk}"))
}

fn number(counts: &Value, name: &str) -> u64 {
    counts["counts"][name].as_u64().unwrap_or(0)
}

/// in = kept + dropped(by rule), at every step.
#[track_caller]
fn check_sum(counts: &Value) {
    let dropped: u64 = counts["counts"]["dropped"]
        .as_object()
        .map_or(0, |rules| rules.values().map(|value| value.as_u64().expect("counts are numbers")).sum());
    assert_eq!(number(counts, "in"), number(counts, "kept") + dropped, "{counts}");
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }
}

const WORDS: [&str; 40] = [
    "the", "and", "of", "to", "with", "that", "have", "river", "town", "boat", "market", "evening", "lamp", "street",
    "harbour", "people", "bread", "window", "garden", "winter", "letter", "train", "music", "paper", "stone", "bridge",
    "morning", "island", "forest", "school", "doctor", "story", "kitchen", "summer", "village", "captain", "silver",
    "mirror", "paint", "engine",
];

fn prose(random: &mut Random, n_sentences: usize) -> String {
    let mut text = String::new();
    for sentence in 0..n_sentences {
        let n_words = 8 + random.below(8);
        for word in 0..n_words {
            let word_text = WORDS[random.below(WORDS.len() as u64) as usize];
            text.push_str(if word == 0 { "Now " } else { " " });
            text.push_str(word_text);
        }
        text.push_str(if sentence % 4 == 3 { ".\n\n" } else { ". " });
    }
    text.trim_end().to_owned()
}

/// Shards of documents: every tenth is an exact copy of an earlier one, every eleventh a near copy.
fn documents(folder: &Path, n_shards: usize, per_shard: usize) -> (u64, u64) {
    fs::create_dir_all(folder).unwrap();
    let mut random = Random(88172645463325252);
    let mut texts: Vec<String> = Vec::new();
    let (mut exact, mut near) = (0, 0);
    for shard in 0..n_shards {
        let mut lines = String::new();
        for line in 0..per_shard {
            let number = shard * per_shard + line;
            let text = match number {
                n if n % 10 == 9 => {
                    exact += 1;
                    texts[n - 7].clone()
                }
                n if n % 11 == 10 => {
                    near += 1;
                    format!("{} One more sentence stands at the end of it.", texts[n - 5])
                }
                _ => prose(&mut random, 30),
            };
            texts.push(text.clone());
            let document = json!({
                "id": format!("d{number}"), "url": format!("https://site{}.example/{number}", number % 13),
                "language": "en", "fetched_at": format!("2026-11-{:02}T00:00:00Z", 1 + number % 28),
                "text": text, "unknown": {"kept": number},
            });
            lines.push_str(&document.to_string());
            lines.push('\n');
        }
        fs::write(folder.join(format!("documents-{shard:05}.jsonl")), lines).unwrap();
    }
    (exact, near)
}

/// Every file below a folder with its bytes.
fn snapshot(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(below) = folders.pop() {
        for entry in fs::read_dir(&below).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.insert(path.strip_prefix(folder).unwrap().to_owned(), fs::read(&path).unwrap());
            }
        }
    }
    files
}

pub fn lines_of(folder: &Path) -> Vec<Value> {
    let mut lines = Vec::new();
    for path in pith_corpus::jsonl::shards(&[folder.to_owned()]).unwrap() {
        let mut reader = pith_corpus::jsonl::Reader::open(&path).unwrap();
        while let Some(line) = reader.next_line() {
            let pith_corpus::jsonl::Line::Good { bytes, .. } = line else { panic!("{line:?}") };
            lines.push(serde_json::from_slice(bytes).unwrap());
        }
    }
    lines
}

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        Place(tempfile::tempdir().unwrap())
    }

    fn at(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }
}

#[test]
fn the_counts_add_up_from_documents_to_dataset() {
    let place = Place::new();
    let (docs, unique, clean) = (place.at("docs"), place.at("unique"), place.at("clean"));
    let (parts, dataset) = (place.at("parts"), place.at("dataset"));
    let (exact, near) = documents(Path::new(&docs), 3, 110);

    let deduplicated = succeed(&["corpus", "dedup", &docs, "--out", &unique, "--json", "--quiet"]);
    check_sum(&deduplicated);
    assert_eq!(number(&deduplicated, "in"), 330);
    // A near copy of a text whose exact copy came first is near that one: both sums hold together.
    assert_eq!(
        deduplicated["counts"]["dropped"]["exact"].as_u64().unwrap()
            + deduplicated["counts"]["dropped"]["near"].as_u64().unwrap(),
        exact + near
    );
    let kept = lines_of(Path::new(&unique));
    assert_eq!(kept.len() as u64, number(&deduplicated, "kept"));
    assert!(kept.iter().all(|document| document["unknown"]["kept"].is_u64()), "unknown fields pass through");

    let words = ["--rules", "gopher-repetition,gopher-quality,c4,fineweb", "--keep-dropped", "--json", "--quiet"];
    let mut command = vec!["corpus", "filter", &unique, "--out", &clean];
    command.extend(words);
    command.extend(["--set", "gopher-quality.min_words=375"]);
    let filtered = succeed(&command);
    check_sum(&filtered);
    assert_eq!(number(&filtered, "in"), number(&deduplicated, "kept"));
    assert!(number(&filtered, "kept") > 0 && number(&filtered, "kept") < number(&filtered, "in"), "{filtered}");
    let dropped = lines_of(&Path::new(&clean).join("dropped"));
    assert_eq!(dropped.len() as u64, number(&filtered, "in") - number(&filtered, "kept"));
    for document in &dropped {
        assert!(document["dropped"]["rule"].is_string() && document["dropped"]["value"].is_number(), "{document}");
    }

    let split =
        succeed(&["corpus", "split", &clean, "--out", &parts, "--parts", "train=2,test=1", "--json", "--quiet"]);
    check_sum(&split);
    let sites = |part: &str| -> std::collections::BTreeSet<String> {
        let documents = lines_of(&Path::new(&parts).join(part));
        documents
            .iter()
            .map(|document| document["url"].as_str().unwrap().split('/').nth(2).unwrap().to_owned())
            .collect()
    };
    assert!(sites("train").is_disjoint(&sites("test")) && !sites("test").is_empty(), "parts share no site");

    let stats = succeed(&["corpus", "stats", &parts, "--json", "--quiet", "--html", &place.at("stats.html")]);
    assert_eq!(stats["documents"], split["counts"]["kept"]);
    assert!(fs::read_to_string(place.at("stats.html")).unwrap().contains("<svg"));

    let (train, test) = (format!("{parts}/train"), format!("{parts}/test"));
    let exported = succeed(&["corpus", "export", &train, &test, "--out", &dataset, "--json", "--quiet"]);
    check_sum(&exported);
    assert_eq!(number(&exported, "kept"), number(&split, "kept"));
    let card = fs::read_to_string(format!("{dataset}/README.md")).unwrap();
    assert!(card.starts_with("---\nlicense: ") && card.contains("- split: test"), "{card}");
    for step in ["pith corpus dedup", "pith corpus filter", "pith corpus split", "pith corpus export"] {
        assert!(card.contains(step), "the card names {step}: {card}");
    }
}

#[test]
fn a_second_run_does_nothing_and_other_flags_are_refused() {
    let place = Place::new();
    let (docs, out) = (place.at("docs"), place.at("out"));
    documents(Path::new(&docs), 2, 60);
    succeed(&["corpus", "dedup", &docs, "--out", &out, "--json"]);
    let before = snapshot(Path::new(&out));
    let again = pith(&["corpus", "dedup", &docs, "--out", &out, "--json", "--jobs", "1"]);
    assert!(again.status.success() && String::from_utf8_lossy(&again.stderr).contains("already done"));
    assert_eq!(snapshot(Path::new(&out)), before);

    let refused = pith(&["corpus", "dedup", &docs, "--out", &out, "--exact"]);
    assert_eq!(refused.status.code(), Some(1));
    let talk = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(talk.contains("other settings") && talk.contains("--redo"), "{talk}");
    assert_eq!(snapshot(Path::new(&out)), before);

    let redone = succeed(&["corpus", "dedup", &docs, "--out", &out, "--exact", "--redo", "--json", "--quiet"]);
    assert_eq!(redone["counts"]["dropped"]["near"], 0);
}

#[test]
fn the_bytes_do_not_depend_on_the_threads_nor_on_the_memory() {
    let place = Place::new();
    let docs = place.at("docs");
    documents(Path::new(&docs), 4, 80);
    let mut results = Vec::new();
    for (jobs, memory) in [("1", "256"), ("4", "256"), ("3", "1")] {
        let out = place.at("out");
        succeed(&[
            "corpus",
            "dedup",
            &docs,
            "--out",
            &out,
            "--paragraphs",
            "--jobs",
            jobs,
            "--memory",
            memory,
            "--json",
            "--quiet",
        ]);
        let mut files = snapshot(Path::new(&out));
        // The command that was given differs in its flags; everything else is the same.
        files.remove(Path::new("manifest.json"));
        results.push(files);
        fs::remove_dir_all(&out).unwrap();
    }
    assert!(results[0] == results[1] && results[0] == results[2]);
}

#[test]
fn what_an_older_corpus_has_is_removed_and_named() {
    let place = Place::new();
    let (old, new, out) = (place.at("old"), place.at("new"), place.at("out"));
    documents(Path::new(&old), 1, 40);
    fs::create_dir(&new).unwrap();
    let old_line = fs::read_to_string(format!("{old}/documents-00000.jsonl")).unwrap();
    let mut document: Value = serde_json::from_str(old_line.lines().nth(3).unwrap()).unwrap();
    document["id"] = json!("copy");
    let fresh = json!({"id": "fresh", "url": "https://x.example/", "text": prose(&mut Random(7), 20)});
    fs::write(format!("{new}/a.jsonl"), format!("{document}\n{fresh}\n")).unwrap();
    let counts = succeed(&["corpus", "dedup", &new, "--against", &old, "--out", &out, "--json", "--quiet"]);
    check_sum(&counts);
    assert_eq!((number(&counts, "in"), number(&counts, "kept")), (2, 1));
    let report = fs::read_to_string(format!("{out}/report/clusters.jsonl")).unwrap();
    let cluster: Value = serde_json::from_str(report.trim()).unwrap();
    assert_eq!((&cluster["kept"]["id"], &cluster["why"]), (&json!("d3"), &json!("older")));
    assert_eq!((&cluster["removed"][0]["id"], &cluster["removed"][0]["kind"]), (&json!("copy"), &json!("exact")));
}

#[test]
fn damaged_lines_are_named_counted_and_cost_nothing_else() {
    let place = Place::new();
    let (docs, out) = (place.at("docs"), place.at("out"));
    documents(Path::new(&docs), 1, 20);
    let path = format!("{docs}/documents-00000.jsonl");
    let mut lines: Vec<String> = fs::read_to_string(&path).unwrap().lines().map(str::to_owned).collect();
    lines[4].truncate(30);
    lines.insert(9, "not json at all".into());
    fs::write(&path, lines.join("\n")).unwrap();
    for step in ["dedup", "filter", "export"] {
        let output = pith(&["corpus", step, &docs, "--out", &format!("{out}-{step}"), "--json", "--quiet"]);
        let talk = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{step}: {talk}");
        assert!(talk.contains("documents-00000.jsonl:5:") && talk.contains("documents-00000.jsonl:10:"), "{talk}");
        let counts: Value = serde_json::from_slice(&output.stdout).unwrap();
        check_sum(&counts);
        assert_eq!(counts["counts"]["dropped"]["damaged"], 2, "{step}");
        assert_eq!(number(&counts, "in"), 21, "{step}");
    }
}

/// How often each command is killed, at a random moment of its work.
pub const KILLS: usize = 50;

/// Kills a command at random moments; the run that follows must leave the files of an uninterrupted run.
///
/// Four of five kills are followed by such a run; the fifth is followed by another kill, of the run that goes on.
#[track_caller]
pub fn survives_kills(words: &[&str], out: &Path) {
    let finish = || {
        let output = pith(words);
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        snapshot(out)
    };
    let started = Instant::now();
    let expected = finish();
    let undisturbed = started.elapsed();
    assert!(!expected.is_empty());
    fs::remove_dir_all(out).unwrap();
    let mut random = Random(0x9E37_79B9);
    let (mut n_kills, mut n_late) = (0, 0);
    while n_kills < KILLS {
        let mut child = Command::new(env!("CARGO_BIN_EXE_pith"))
            .args(words)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        std::thread::sleep(Duration::from_micros(random.below(undisturbed.as_micros() as u64)));
        if child.try_wait().unwrap().is_some() {
            // It was faster than the clock: that was no kill.
            n_late += 1;
            assert!(n_late < 10 * KILLS, "{words:?} ends too soon to be killed");
            fs::remove_dir_all(out).unwrap();
            continue;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        n_kills += 1;
        if n_kills % 5 != 4 {
            let files = finish();
            let names = |files: &BTreeMap<PathBuf, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
            assert_eq!(names(&files), names(&expected), "after kill {n_kills} of {words:?}");
            assert!(files == expected, "other bytes after kill {n_kills} of {words:?}");
            fs::remove_dir_all(out).unwrap();
        }
    }
    println!("{words:?}: {n_kills} kills, {n_late} came too late, {undisturbed:?} undisturbed");
}

#[test]
fn dedup_goes_on_after_kill_9_and_gives_the_same_bytes() {
    let place = Place::new();
    let (docs, out) = (place.at("docs"), place.at("out"));
    documents(Path::new(&docs), 6, 150);
    survives_kills(&["corpus", "dedup", &docs, "--out", &out, "--paragraphs", "--quiet"], Path::new(&out));
}

#[test]
fn export_goes_on_after_kill_9_and_gives_the_same_bytes() {
    let place = Place::new();
    let (docs, out) = (place.at("docs"), place.at("out"));
    documents(Path::new(&docs), 6, 150);
    survives_kills(&["corpus", "export", &docs, "--out", &out, "--quiet"], Path::new(&out));
}

/// A file system of a few kilobytes, gone when dropped.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn mount(at: &str, kilobytes: u32) -> Option<SmallDisk> {
        fs::create_dir_all(at).unwrap();
        let size = format!("size={kilobytes}k");
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs", at]).output();
        match mounted {
            Ok(output) if output.status.success() => Some(SmallDisk(at.into())),
            _ => None,
        }
    }

    fn grow(&self, kilobytes: u32) {
        let size = format!("remount,size={kilobytes}k");
        let grown = Command::new("mount").args(["-o", &size]).arg(&self.0).status().unwrap();
        assert!(grown.success());
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn a_full_disk_is_a_clear_error_and_the_run_goes_on_when_there_is_room() {
    let place = Place::new();
    let (docs, pages, disk) = (place.at("docs"), place.at("pages"), place.at("disk"));
    documents(Path::new(&docs), 4, 200);
    archives(Path::new(&pages), 4, 200);
    let Some(small) = SmallDisk::mount(&disk, 160) else {
        eprintln!("skipped: a small tmpfs can only be mounted by root");
        return;
    };
    let steps = [
        ("extract", vec!["extract", &pages], 40),
        ("dedup", vec!["corpus", "dedup", &docs], 160),
        ("export", vec!["corpus", "export", &docs], 160),
    ];
    for (step, words, kilobytes) in steps {
        let (out, wanted) = (format!("{disk}/{step}"), place.at(&format!("expected-{step}")));
        let run = |out: &str| pith(&[&words[..], &["--out", out, "--quiet"]].concat());
        assert!(run(&wanted).status.success());
        let mut whole = snapshot(Path::new(&wanted));
        small.grow(kilobytes);
        let output = run(&out);
        let talk = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{step}: {talk}");
        assert!(talk.contains("No space left on device") && talk.contains("make room"), "{step}: {talk}");
        for (name, bytes) in snapshot(Path::new(&out)) {
            assert!(!name.to_string_lossy().ends_with("tmp"), "{step} left {}", name.display());
            if !name.starts_with(".work") && name != Path::new("manifest.json") {
                assert_eq!(Some(&bytes), whole.get(&name), "{step}: {} is half-written", name.display());
            }
        }
        small.grow(20_000);
        assert!(run(&out).status.success());
        let mut files = snapshot(Path::new(&out));
        // The manifests and the card name their own folders.
        for name in ["manifest.json", "README.md"] {
            files.remove(Path::new(name));
            whole.remove(Path::new(name));
        }
        assert!(files == whole, "{step}: other bytes after a full disk");
        fs::remove_dir_all(&out).unwrap();
    }
}

#[test]
fn pandas_and_datasets_open_the_parquet_files() {
    let place = Place::new();
    let (docs, out) = (place.at("docs"), place.at("out"));
    documents(Path::new(&docs), 2, 50);
    succeed(&["corpus", "export", &docs, "--out", &out, "--json", "--quiet"]);
    let python = std::env::var("PITH_PYTHON").unwrap_or_else(|_| "python3".into());
    let run = |code: &str| Command::new(&python).args(["-c", code, &out]).output();
    let pandas = "import sys, glob, pandas\n\
        frame = pandas.concat(pandas.read_parquet(path) for path in sorted(glob.glob(sys.argv[1] + '/data/*.parquet')))\n\
        print(len(frame), frame['id'].iloc[0], frame['language'].iloc[-1])";
    let datasets = "import sys, datasets\n\
        rows = datasets.load_dataset('parquet', data_files=sys.argv[1] + '/data/*.parquet', split='train', streaming=True)\n\
        rows = list(rows); print(len(rows), rows[0]['id'], rows[-1]['language'])";
    for (library, code) in [("pandas, pyarrow", pandas), ("datasets", datasets)] {
        let imports = format!("import {library}");
        if !run(&imports).is_ok_and(|output| output.status.success()) {
            eprintln!("skipped: {python} has no {library}");
            continue;
        }
        let output = run(code).unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert_eq!(said.trim(), "100 d0 en", "{library}: {}", String::from_utf8_lossy(&output.stderr));
    }
}
