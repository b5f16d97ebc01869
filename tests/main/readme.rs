//! The script of the README, as it stands there, on the test web and on archives by others.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use pith_web::{PageTruth, RunningWeb, Web, WebConfig};
use serde_json::Value;

const MARK: &str = "<!-- The next block is run by tests/main/readme.rs. -->";

/// The first block of code behind the mark.
fn script() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let readme = fs::read_to_string(path).expect("there is a README");
    let (_, behind) = readme.split_once(MARK).expect("the README has the mark");
    let (_, block) = behind.split_once("```bash\n").expect("a block follows it");
    block.split_once("```").expect("the block ends").0.to_owned()
}

/// The archives of others that stand beside the project, if they do.
fn archives() -> Vec<PathBuf> {
    let shared = std::env::var("PITH_SHARED").unwrap_or_else(|_| "../shared".into());
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(shared).join("data/warc");
    let Ok(entries) = fs::read_dir(&folder) else {
        eprintln!("skipped: the archives part, there are none in {}", folder.display());
        return Vec::new();
    };
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> = paths.filter(|path| path.to_string_lossy().contains(".warc")).collect();
    paths.sort();
    paths
}

fn counts(folder: &Path) -> BTreeMap<String, u64> {
    let manifest: Value = serde_json::from_slice(&fs::read(folder.join("manifest.json")).unwrap()).unwrap();
    assert_eq!(manifest["complete"], true, "{}", folder.display());
    let counts = manifest["counts"].as_object().unwrap();
    counts.iter().map(|(name, count)| (name.clone(), count.as_u64().unwrap())).collect()
}

fn sum_of(counts: &BTreeMap<String, u64>, prefix: &str) -> u64 {
    counts.iter().filter(|(name, _)| name.starts_with(prefix)).map(|(_, count)| count).sum()
}

#[test]
fn the_script_of_the_readme_gives_counts_that_add_up_and_finds_the_planted_duplicates() {
    let config = WebConfig { exact_duplicates: 0.1, near_duplicates: 0.1, hosts: 16, ..WebConfig::default() };
    let web = Web::start(config).unwrap();
    let place = tempfile::tempdir().unwrap();
    let folder = place.path();
    fs::write(folder.join("build.sh"), script()).unwrap();
    fs::write(folder.join("seeds.txt"), web.seeds().join("\n") + "\n").unwrap();
    // Where the test web is, and that it need not be spared: what a crawl of the real web does without.
    let settings = format!("[crawl]\nresolve = [{:?}]\ndelay = \"0s\"\n", web.resolve());
    fs::write(folder.join("pith.toml"), settings).unwrap();
    fs::create_dir(folder.join("bin")).unwrap();
    symlink(env!("CARGO_BIN_EXE_pith"), folder.join("bin/pith")).unwrap();
    let path = format!("{}:{}", folder.join("bin").display(), std::env::var("PATH").unwrap());
    let archives = archives();
    let output =
        Command::new("bash").arg("build.sh").args(&archives).env("PATH", path).current_dir(folder).output().unwrap();
    let talk = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{talk}");

    let [docs, unique, clean, dataset] = ["docs", "unique", "clean", "dataset"].map(|name| counts(&folder.join(name)));
    assert_eq!(docs["read"], docs["extracted"] + sum_of(&docs, "skipped.") + sum_of(&docs, "failed."), "{docs:?}");
    for (step, before) in [(&unique, docs["extracted"]), (&clean, unique["kept"]), (&dataset, clean["kept"])] {
        assert_eq!(step["in"], before, "{step:?}");
        assert_eq!(step["in"], step["kept"] + sum_of(step, "dropped."), "{step:?}");
    }
    let stats: Value = serde_json::from_slice(&fs::read(folder.join("stats.json")).unwrap()).unwrap();
    assert_eq!(stats["documents"].as_u64(), Some(clean["kept"]), "{stats}");
    assert!(folder.join("stats.html").exists() && folder.join("dataset/README.md").exists());
    println!(
        "{} archives and {} hosts: {} pages read, {} extracted, {} unique, {} clean, {} exported",
        archives.len(),
        web.hosts().len(),
        docs["read"],
        docs["extracted"],
        unique["kept"],
        clean["kept"],
        dataset["kept"]
    );
    check_duplicates(&web, folder);
}

/// The planted copies against the clusters that were found.
fn check_duplicates(web: &RunningWeb, folder: &Path) {
    let stored: BTreeSet<String> = urls(&folder.join("docs")).into_iter().collect();
    let pages: Vec<PageTruth> = web.truth().pages().filter(|page| stored.contains(&page.url)).collect();
    let by_id: BTreeMap<&str, &PageTruth> = pages.iter().map(|page| (page.id.as_str(), page)).collect();
    let original = |page: &PageTruth| -> String {
        let copied = page.duplicate_of.as_ref().or(page.near_duplicate_of.as_ref());
        copied.unwrap_or(&page.id).clone()
    };
    let origins: BTreeMap<&str, String> = pages.iter().map(|page| (page.url.as_str(), original(page))).collect();
    let removed = removals(&folder.join("unique"));
    let representative = |url: &str| removed.get(url).cloned().unwrap_or_else(|| url.to_owned());
    let found = |copy_of: fn(&PageTruth) -> Option<&String>| {
        let pairs = pages.iter().filter_map(|page| Some((page, *by_id.get(copy_of(page)?.as_str())?)));
        let pairs: Vec<_> = pairs.collect();
        let is_found =
            |(copy, base): &&(&PageTruth, &PageTruth)| representative(&copy.url) == representative(&base.url);
        (pairs.iter().filter(is_found).count(), pairs.len())
    };
    let exact = found(|page| page.duplicate_of.as_ref());
    let near = found(|page| page.near_duplicate_of.as_ref());
    let judged = removed
        .iter()
        .filter_map(|(url, kept)| Some((url, kept, origins.get(url.as_str())?, origins.get(kept.as_str())?)));
    let (right, others): (Vec<_>, Vec<_>) = judged.partition(|(_, _, origin, kept_origin)| origin == kept_origin);
    // Lists of one site share entries, so some pages are similar without being planted copies; none may be unlike.
    let text = |url: &str| web.truth().page(url).expect("it was judged").text;
    let alike: Vec<f64> = others.iter().map(|(url, kept, ..)| similarity(&text(url), &text(kept))).collect();
    let least = alike.iter().copied().fold(1.0, f64::min);
    println!(
        "planted duplicates: exact {} of {}; near {} of {} (recall {:.3}); {} of {} removals planted \
         (precision {:.3}); the texts of the other {} agree in {least:.2} or more",
        exact.0,
        exact.1,
        near.0,
        near.1,
        near.0 as f64 / near.1 as f64,
        right.len(),
        right.len() + others.len(),
        right.len() as f64 / (right.len() + others.len()) as f64,
        others.len()
    );
    assert!(exact.1 >= 10 && near.1 >= 10, "too few were planted: {exact:?}, {near:?}");
    assert_eq!(exact.0, exact.1, "an exact copy was not found");
    assert!(near.0 * 10 >= near.1 * 9, "near copies were not found: {near:?}");
    assert!(least >= 0.25, "a page was removed for one that it does not resemble: {alike:?}");
}

/// The Jaccard similarity of the sets of word 5-grams (of characters, in Chinese) of two texts.
fn similarity(left: &str, right: &str) -> f64 {
    let grams = |text: &str| -> BTreeSet<Vec<String>> {
        let is_han = |letter: char| ('\u{3400}'..='\u{9fff}').contains(&letter);
        let mut spaced = String::new();
        for letter in text.to_lowercase().chars() {
            match letter {
                letter if is_han(letter) => spaced.extend([' ', letter, ' ']),
                letter if letter.is_alphanumeric() => spaced.push(letter),
                _ => spaced.push(' '),
            }
        }
        let words: Vec<String> = spaced.split_whitespace().map(str::to_owned).collect();
        words.windows(5).map(<[String]>::to_vec).collect()
    };
    let (left, right) = (grams(left), grams(right));
    left.intersection(&right).count() as f64 / left.union(&right).count().max(1) as f64
}

fn urls(documents: &Path) -> Vec<String> {
    let mut urls = Vec::new();
    for shard in pith_corpus::jsonl::shards(&[documents.to_owned()]).unwrap() {
        let mut reader = pith_corpus::jsonl::Reader::open(&shard).unwrap();
        while let Some(line) = reader.next_line() {
            let pith_corpus::jsonl::Line::Good { bytes, .. } = line else { panic!("{line:?}") };
            let document: Value = serde_json::from_slice(bytes).unwrap();
            urls.push(document["url"].as_str().unwrap().to_owned());
        }
    }
    urls
}

/// The URL of every document that went, with that of the one that stays in its place.
fn removals(unique: &Path) -> BTreeMap<String, String> {
    let report = fs::read_to_string(unique.join("report/clusters.jsonl")).unwrap();
    let mut removals = BTreeMap::new();
    for cluster in report.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
        for removed in cluster["removed"].as_array().unwrap() {
            let url = |member: &Value| member["url"].as_str().unwrap().to_owned();
            removals.insert(url(removed), url(&cluster["kept"]));
        }
    }
    removals
}
