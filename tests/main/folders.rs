//! No command writes to, or removes, what it did not make: foreign folders, tampered manifests, links, two runs at once.
//! And what is said when it cannot be said: a full stdout, a full stderr, a host that asks to be left alone.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use pith_web::{Web, WebConfig};
use serde_json::Value;
use tempfile::TempDir;

use super::batch::archives;
use super::crawl::crawl_command;
use super::program::{Run, pith_in, run};

/// A folder with two shards of documents (`docs`), archives (`pages`), a saved page and sets for evaluations.
fn place() -> TempDir {
    let place = tempfile::tempdir().expect("a temporary folder");
    let docs = place.path().join("docs");
    fs::create_dir(&docs).expect("a folder");
    for shard in 0..2 {
        let line = |n: u32| {
            let text =
                format!("Document {shard} {n} tells how the river rose, and how nobody slept before the morning.");
            serde_json::json!({"id": format!("{shard}-{n}"), "url": format!("https://s{n}.example/"), "language": "en",
                "text": text})
        };
        let lines: String = (0..5).map(|n| format!("{}\n", line(n))).collect();
        fs::write(docs.join(format!("documents-{shard:05}.jsonl")), lines).expect("a shard");
    }
    archives(&place.path().join("pages"), 2, 3);
    fs::write(place.path().join("page.html"), "<title>t</title><p>It rained all day.</p>").expect("a page");
    let graph = place.path().join("graph");
    fs::create_dir(&graph).expect("a folder");
    fs::write(graph.join("urls.txt"), "http://a.example/\nhttp://b.example/\nhttp://c.example/\n").expect("a graph");
    fs::write(graph.join("edges.tsv"), "0\t1\n1\t2\n2\t0\n").expect("a graph");
    let sets = place.path().join("sets");
    fs::create_dir(&sets).expect("a folder");
    let set = serde_json::json!({"id": "1", "lang": "en", "summary": "The river rose.",
        "sentences": ["The river rose.", "Nobody slept.", "It rained.", "Morning came."]});
    fs::write(sets.join("own.jsonl"), format!("{set}\n")).expect("a set");
    place
}

/// Every command that fills a folder, without the folder's name.
const FILLING: [&[&str]; 9] = [
    &["crawl", "http://127.0.0.1:9/", "--allow-private", "--out"],
    &["crawl", "http://127.0.0.1:9/", "--allow-private", "--fresh", "--out"],
    &["extract", "pages", "--out"],
    &["corpus", "dedup", "docs", "--out"],
    &["corpus", "filter", "docs", "--keep-dropped", "--out"],
    &["corpus", "split", "docs", "--out"],
    &["corpus", "export", "docs", "--out"],
    &["eval", "ordering", "--graph", "graph", "--seeds", "1", "--runs", "1", "--out"],
    &["eval", "summaries", "--data", "sets", "--methods", "lead", "--predictions"],
];

/// What lies below a folder: files with their bytes, links with where they lead.
fn snapshot(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(below) = folders.pop() {
        for entry in fs::read_dir(&below).expect("it is there") {
            let path = entry.expect("it is there").path();
            let kind = fs::symlink_metadata(&path).expect("it is there").file_type();
            let name = path.strip_prefix(folder).expect("it is below").to_owned();
            if kind.is_symlink() {
                found.insert(name, fs::read_link(&path).expect("a link").as_os_str().as_encoded_bytes().to_vec());
            } else if kind.is_dir() {
                found.insert(name, Vec::new());
                folders.push(path);
            } else {
                found.insert(name, fs::read(&path).expect("a file"));
            }
        }
    }
    found
}

#[track_caller]
fn assert_refused(run: &Run, said: &[&str]) {
    assert!(matches!(run.code, 1 | 2), "exit code {}: {}{}", run.code, run.stdout, run.stderr);
    for text in said {
        assert!(run.stderr.contains(text), "{text:?} is not in {}", run.stderr);
    }
    assert!(!run.stderr.contains("panicked"), "{}", run.stderr);
}

#[test]
fn a_folder_of_somebody_else_is_refused_and_stays_byte_for_byte() {
    let place = place();
    let foreign = [
        &["notes.txt"][..],
        &["lock"],
        &["report.json"],
        &["README.md"],
        &["manifest.json"],
        &["pith.json"],
        &["pith.lock"],
        &["documents-00000.jsonl.zst"],
        &["ordering.json", "own.jsonl"],
        &["draft.tmp", "below/draft.tmp"],
        &["pages/index.html", "frontier/plan.txt"],
        &["pages/index.html", "frontier/journal"],
        &[".hidden"],
    ];
    for (number, files) in foreign.iter().enumerate() {
        let out = place.path().join(format!("foreign-{number}"));
        for file in *files {
            let path = out.join(file);
            fs::create_dir_all(path.parent().expect("it has one")).expect("a folder");
            fs::write(path, "mine, and nobody else's").expect("a file");
        }
        let before = snapshot(&out);
        for words in FILLING {
            let run = pith_in(place.path(), &[words, &[out.to_str().expect("UTF-8")]].concat());
            assert_refused(&run, &["foreign-", "hint:"]);
            assert_eq!(snapshot(&out), before, "{words:?} changed {files:?}");
        }
    }
}

#[test]
fn wrong_flags_cost_nothing() {
    let place = place();
    assert_eq!(pith_in(place.path(), &["corpus", "dedup", "docs", "--out", "out"]).code, 0);
    let before = snapshot(&place.path().join("out"));
    for words in [
        &["crawl", "not a url", "--fresh", "--out", "out"][..],
        &["crawl", "http://127.0.0.1:9/", "--fresh", "--out", "out"],
        &["corpus", "dedup", "docs", "--redo", "--bands", "7", "--out", "out"],
        &["extract", "pages", "--redo", "--time-limit", "0", "--out", "out"],
    ] {
        assert_refused(&pith_in(place.path(), words), &["error: "]);
        assert_eq!(snapshot(&place.path().join("out")), before, "{words:?}");
    }
}

#[test]
fn a_file_of_the_user_in_a_folder_of_ours_is_never_replaced() {
    let place = place();
    let cases = [
        (&["corpus", "dedup", "docs"][..], "documents-00000.jsonl.zst"),
        (&["corpus", "dedup", "docs"], "report/clusters.jsonl"),
        (&["corpus", "dedup", "docs"], ".work/names-00000.jsonl"),
        (&["corpus", "filter", "docs", "--keep-dropped"], "dropped/documents-00000.jsonl.zst"),
        (&["corpus", "split", "docs"], "test/documents-00001.jsonl.zst"),
        (&["corpus", "split", "docs"], "validation/manifest.json"),
        (&["corpus", "export", "docs"], "README.md"),
        (&["corpus", "export", "docs"], "data/train-00000.parquet"),
        (&["extract", "pages"], "documents-00001.jsonl.zst"),
        (&["crawl", "http://127.0.0.1:9/", "--allow-private"], "report.json"),
        (&["crawl", "http://127.0.0.1:9/", "--allow-private", "--fresh"], "report.json"),
        (&["crawl", "http://127.0.0.1:9/", "--allow-private", "--fresh"], "pages/notes.txt"),
    ];
    for (number, (words, file)) in cases.iter().enumerate() {
        let out = place.path().join(format!("out-{number}"));
        let format = if words[0] == "crawl" { "crawl" } else { "documents" };
        let path = out.join(file);
        fs::create_dir_all(path.parent().expect("it has one")).expect("a folder");
        let marker = format!("{{\"format\":\"{format}\",\"version\":1,\"files\":[]}}\n");
        fs::write(out.join("pith.json"), marker).expect("a marker");
        fs::write(&path, "mine, and nobody else's").expect("a file");
        let run = pith_in(place.path(), &[words, &["--out", out.to_str().expect("UTF-8")][..]].concat());
        assert_refused(&run, &["did not make", "hint:"]);
        assert_eq!(
            fs::read_to_string(&path).expect("it is still there"),
            "mine, and nobody else's",
            "{words:?} {file}"
        );
    }
}

#[test]
fn strangers_temporary_files_stay() {
    let place = place();
    let words = ["corpus", "split", "docs", "--out", "out"];
    assert_eq!(pith_in(place.path(), &words).code, 0);
    for name in ["a.tmp", "train/b.tmp", "manifest.json.tmp", "c.pith-tmp"] {
        fs::write(place.path().join("out").join(name), "mine").expect("a file");
    }
    let ours = place.path().join("out/train/documents-00000.jsonl.zst.pith-tmp");
    fs::write(&ours, "half").expect("a file");
    let again = pith_in(place.path(), &[&words[..], &["--redo"]].concat());
    assert_eq!(again.code, 0, "{}", again.stderr);
    for name in ["a.tmp", "train/b.tmp", "manifest.json.tmp", "c.pith-tmp"] {
        assert_eq!(fs::read_to_string(place.path().join("out").join(name)).expect("it is there"), "mine");
    }
    assert!(!ours.exists());
}

/// Makes a folder with dedup, changes its manifest, and looks that another run takes nothing from outside or inside.
#[track_caller]
fn check_tampered(keeps_marker: bool, words: &[&str], tamper: impl Fn(&Path, &mut Value)) {
    let place = place();
    let out = place.path().join("out");
    assert_eq!(pith_in(place.path(), &["corpus", "dedup", "docs", "--out", "out"]).code, 0);
    fs::write(place.path().join("x"), "mine").expect("a file");
    fs::write(out.join("notes.txt"), "mine").expect("a file");
    let path = out.join("manifest.json");
    let mut manifest: Value = serde_json::from_slice(&fs::read(&path).expect("a manifest")).expect("JSON");
    tamper(place.path(), &mut manifest);
    fs::write(&path, manifest.to_string()).expect("a manifest");
    if !keeps_marker {
        fs::remove_file(out.join("pith.json")).expect("a marker");
    }
    let before = snapshot(place.path());
    let run = pith_in(place.path(), words);
    assert_refused(&run, &["error: "]);
    let mut after = snapshot(place.path());
    if let Some(marker) = after.remove(Path::new("out/pith.json"))
        && keeps_marker
    {
        assert_eq!(before.get(Path::new("out/pith.json")), Some(&marker));
    }
    let mut before = before;
    before.remove(Path::new("out/pith.json"));
    assert_eq!(after, before, "{words:?}");
}

#[test]
fn names_in_a_tampered_manifest_lead_nowhere() {
    let redo = ["corpus", "dedup", "docs", "--exact", "--redo", "--out", "out"];
    for keeps_marker in [true, false] {
        for name in ["../x", "/etc/hostname-of-nobody", "a/../../x", "notes.txt", "..", "", "a/b/c"] {
            check_tampered(keeps_marker, &redo, |_, manifest| manifest["shards"][1]["name"] = name.into());
        }
        check_tampered(keeps_marker, &redo, |place, manifest| {
            manifest["shards"][1]["name"] = place.join("x").to_str().expect("UTF-8").into();
        });
        // A link under the name of a shard, and a folder.
        check_tampered(keeps_marker, &redo, |place, _| {
            let shard = place.join("out/documents-00001.jsonl.zst");
            fs::remove_file(&shard).expect("a shard");
            std::os::unix::fs::symlink(place.join("x"), shard).expect("a link");
        });
        check_tampered(keeps_marker, &redo, |place, _| {
            let shard = place.join("out/documents-00001.jsonl.zst");
            fs::remove_file(&shard).expect("a shard");
            fs::create_dir(&shard).expect("a folder");
            fs::write(shard.join("x"), "mine").expect("a file");
        });
    }
    // A run whose inputs are gone drops what was made from them.
    let rerun = ["corpus", "filter", "docs", "--out", "out"];
    for name in ["../x", "notes.txt"] {
        let place = place();
        assert_eq!(pith_in(place.path(), &rerun).code, 0);
        fs::write(place.path().join("x"), "mine").expect("a file");
        fs::write(place.path().join("out/notes.txt"), "mine").expect("a file");
        let path = place.path().join("out/manifest.json");
        let mut manifest: Value = serde_json::from_slice(&fs::read(&path).expect("a manifest")).expect("JSON");
        let mut gone = manifest["shards"][0].clone();
        gone["name"] = name.into();
        gone["input"]["name"] = "gone.jsonl".into();
        manifest["shards"].as_array_mut().expect("shards").push(gone);
        fs::write(&path, manifest.to_string()).expect("a manifest");
        assert_refused(&pith_in(place.path(), &rerun), &["error: "]);
        assert_eq!(fs::read_to_string(place.path().join("x")).expect("it is there"), "mine");
        assert_eq!(fs::read_to_string(place.path().join("out/notes.txt")).expect("it is there"), "mine");
    }
}

#[test]
fn an_input_inside_the_output_folder_is_refused() {
    let place = place();
    assert_eq!(pith_in(place.path(), &["corpus", "dedup", "docs", "--out", "unique"]).code, 0);
    let before = snapshot(&place.path().join("unique"));
    for words in [
        &["corpus", "filter", "unique", "--redo", "--out", "unique"][..],
        &["corpus", "dedup", "unique/documents-00000.jsonl.zst", "--redo", "--out", "unique/."],
    ] {
        assert_refused(&pith_in(place.path(), words), &["an input lies in the output folder", "hint:"]);
        assert_eq!(snapshot(&place.path().join("unique")), before);
    }
}

/// Holds a folder's lock as a running command does: `flock` on the same file.
fn hold(folder: &Path) -> fs::File {
    let file = fs::OpenOptions::new().write(true).open(folder.join("pith.lock")).expect("a lock");
    file.try_lock().expect("nobody holds it");
    fs::write(folder.join("pith.lock"), "4711\n").expect("a lock");
    file
}

#[test]
fn a_folder_in_use_is_refused_whatever_the_flags() {
    let place = place();
    for (number, words) in FILLING.into_iter().enumerate().skip(2) {
        let out = format!("out-{number}");
        let words = [words, &[out.as_str()]].concat();
        let first = pith_in(place.path(), &words);
        assert_eq!(first.code, 0, "{words:?}: {}", first.stderr);
        let held = hold(&place.path().join(&out));
        let before = snapshot(&place.path().join(&out));
        for redo in [&[][..], &["--redo"]] {
            let run = pith_in(place.path(), &[&words[..], if words[0] == "eval" { &[] } else { redo }].concat());
            assert_refused(&run, &["in use by another run of pith (process 4711)", "hint:"]);
            assert_eq!(snapshot(&place.path().join(&out)), before, "{words:?}");
        }
        drop(held);
        let again = pith_in(place.path(), &words);
        assert_eq!(again.code, 0, "{words:?}: {}", again.stderr);
        assert_eq!(fs::read(place.path().join(&out).join("pith.lock")).expect("a lock"), b"");
    }
}

#[test]
fn fresh_waits_for_nobody_and_takes_only_what_a_crawl_made() {
    let web = Web::start(WebConfig { hosts: 2, pages_per_host: 30, ..WebConfig::default() }).expect("a web");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("crawl");
    // A crawl is running: another with `--fresh` is refused, and the first one loses nothing.
    let mut first = crawl_command(&web, &out, &["--delay", "150ms"]).stdout(Stdio::null()).spawn().expect("it starts");
    let deadline = Instant::now() + Duration::from_secs(60);
    while web.log().len() < 8 && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(20));
    }
    let second = run(&mut crawl_command(&web, &out, &["--delay", "0s", "--fresh"]));
    let is_running = first.try_wait().expect("it can be asked").is_none();
    assert!(is_running, "the first crawl was too quick for this test");
    assert_refused(&second, &["in use by another run of pith (process ", "hint:"]);
    assert!(second.stderr.contains(&format!("process {}", first.id())), "{}", second.stderr);
    assert!(matches!(first.wait().expect("it ends").code(), Some(0 | 3)));
    let pages = super::crawl::stored(&out).len();
    assert!(pages > 20, "{pages}");

    // What the user put beside and between is still there after `--fresh`.
    for name in ["notes.txt", "pages/notes.txt", "frontier/notes.txt", "pages/pages-1.txt"] {
        fs::write(out.join(name), "mine").expect("a file");
    }
    let fresh = run(&mut crawl_command(&web, &out, &["--delay", "0s", "--fresh"]));
    assert!(matches!(fresh.code, 0 | 3), "{}", fresh.stderr);
    assert_eq!(super::crawl::stored(&out).len(), pages, "a fresh crawl begins anew");
    for name in ["notes.txt", "pages/notes.txt", "frontier/notes.txt", "pages/pages-1.txt"] {
        assert_eq!(fs::read_to_string(out.join(name)).expect("it is there"), "mine");
    }
    // Without its marker, as an earlier version left it, the folder is known by its contents.
    fs::remove_file(out.join("pith.json")).expect("a marker");
    let resumed = run(&mut crawl_command(&web, &out, &["--delay", "0s"]));
    assert!(matches!(resumed.code, 0 | 3), "{}", resumed.stderr);
    assert_eq!(super::crawl::stored(&out).len(), pages);
    assert!(out.join("pith.json").exists());
    // And a folder of documents as well.
    let docs = folder.path().join("docs");
    let extract = || run(super::crawl::pith().arg("extract").arg(&out).arg("--out").arg(&docs).arg("--quiet"));
    assert!(matches!(extract().code, 0 | 3));
    fs::remove_file(docs.join("pith.json")).expect("a marker");
    let again = extract();
    assert!(matches!(again.code, 0 | 3), "{}", again.stderr);
    assert!(docs.join("pith.json").exists());
}

#[test]
fn files_given_by_name_are_replaced_by_their_like_alone() {
    let place = place();
    let cases = [
        &["corpus", "stats", "docs", "--html"][..],
        &["eval", "summaries", "--data", "sets", "--methods", "lead", "--page"],
    ];
    for words in cases {
        for (target, is_replaced) in [("docs/documents-00000.jsonl", false), ("docs", false), ("new.html", true)] {
            let before = snapshot(&place.path().join("docs"));
            let words = [words, &[target]].concat();
            for _ in 0..2 {
                let run = pith_in(place.path(), &words);
                assert_eq!(run.code == 0, is_replaced, "{words:?}: {}", run.stderr);
                assert_eq!(snapshot(&place.path().join("docs")), before, "{words:?}");
            }
        }
        fs::remove_file(place.path().join("new.html")).expect("a page");
        std::os::unix::fs::symlink("docs/documents-00000.jsonl", place.path().join("link.html")).expect("a link");
        assert_refused(&pith_in(place.path(), &[words, &["link.html"]].concat()), &["link.html"]);
        fs::remove_file(place.path().join("link.html")).expect("a link");
    }
}

/// Commands that print something, each in a place of its own.
const PRINTING: [&[&str]; 14] = [
    &["--help"],
    &["--version"],
    &["crawl", "--help"],
    &["crawl", "http://127.0.0.1:9/", "--allow-private", "--time", "2s", "--out", "crawl", "--json"],
    &["extract", "page.html"],
    &["extract", "page.html", "--json"],
    &["extract", "page.html", "--explain"],
    &["extract", "pages", "--out", "out"],
    &["corpus", "dedup", "docs", "--out", "out"],
    &["corpus", "filter", "docs", "--show-rules", "--out", "out"],
    &["corpus", "stats", "docs"],
    &["inspect", "pages"],
    &["eval", "freshness", "--pages", "10"],
    &["eval", "ordering", "--graph", "graph", "--seeds", "1", "--runs", "1"],
];

fn full() -> fs::File {
    fs::OpenOptions::new().write(true).open("/dev/full").expect("a full device")
}

#[test]
fn a_full_stdout_fails_the_command_and_a_full_stderr_does_not() {
    for words in PRINTING {
        let pith = |place: &TempDir| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_pith"));
            command.current_dir(place.path()).args(words);
            command
        };
        let usual = run(&mut pith(&place())).code;
        let full_stdout = run(pith(&place()).stdout(full()));
        assert_eq!(full_stdout.code, 1, "{words:?}: {}", full_stdout.stderr);
        assert!(full_stdout.stderr.contains("error: cannot write to standard output"), "{}", full_stdout.stderr);
        assert!(!full_stdout.stderr.contains("panicked"), "{}", full_stdout.stderr);
        let full_stderr = run(pith(&place()).stderr(full()));
        assert_eq!(full_stderr.code, usual, "{words:?}: {}", full_stderr.stdout);
        let both = run(pith(&place()).stdout(full()).stderr(full()));
        assert_eq!(both.code, 1, "{words:?}");
        // A reader that went away is no failure, and nothing is said.
        let place = place();
        let mut child = pith(&place).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
        drop(child.stdout.take());
        let closed = child.wait_with_output().expect("it ends");
        let talk = String::from_utf8_lossy(&closed.stderr);
        assert!(!talk.contains("panicked") && !talk.contains("error: cannot write"), "{words:?}: {talk}");
        assert!(closed.status.code().is_some_and(|code| code == 0 || code == usual), "{words:?}: {talk}");
    }
}

/// Answers the home page, and everything else with 429 and `Retry-After: 3600`.
fn serve_retry_after() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let mut reader = BufReader::new(&stream).take(1 << 16);
                let mut request = String::new();
                let _ = reader.read_line(&mut request);
                let mut line = String::new();
                while reader.read_line(&mut line).is_ok_and(|n| n > 2) {
                    line.clear();
                }
                let body = "<a href=/later>Later</a> It rained all day.";
                let answer = match request.split(' ').nth(1) {
                    Some("/") => {
                        format!("200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\n\r\n{body}", body.len())
                    }
                    Some("/robots.txt") => "404 Not Found\r\nContent-Length: 0\r\n\r\n".to_owned(),
                    _ => "429 Too Many Requests\r\nRetry-After: 3600\r\nContent-Length: 0\r\n\r\n".to_owned(),
                };
                let _ = write!(&stream, "HTTP/1.1 {}", answer.replacen("\r\n", "\r\nConnection: close\r\n", 1));
            });
        }
    });
    address
}

#[test]
fn a_crawl_that_only_waits_says_for_whom_and_until_when() {
    let address = serve_retry_after();
    let place = tempfile::tempdir().expect("a temporary folder");
    let url = format!("http://{address}/");
    let run = pith_in(
        place.path(),
        &["crawl", &url, "--allow-private", "--delay", "0s", "--time", "4s", "--no-sitemaps", "--out", "crawl"],
    );
    for said in [&run.stderr, &run.stdout] {
        assert!(said.contains("for 127.0.0.1") || said.contains(&address), "{}{}", run.stdout, run.stderr);
        assert!(said.contains(" UTC") && said.contains("59 min"), "{}{}", run.stdout, run.stderr);
    }
}
