//! Our scores against scores worked out by hand, and against those of the reference scorer, page by page, on real texts.
//!
//! The second asks `tools/score.py` of the shared data through the Python named by `PITH_PYTHON` (default `python3`), which needs
//! the package `rapidfuzz`; without any of them that test says that it was skipped.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::Command;

use pith_eval::extraction::{EvaluationConfig, ScoredPage, evaluate};
use pith_eval::gold::Truth;
use pith_eval::score::score;
use serde_json::{Value, json};

/// Pages and sets enough: about three hundred pages in every language of the gold.
const EVERY: NonZeroUsize = NonZeroUsize::new(16).unwrap();

fn shared() -> PathBuf {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared");
    std::env::var_os("PITH_SHARED").map_or_else(beside, PathBuf::from)
}

fn python() -> Option<String> {
    let python = std::env::var("PITH_PYTHON").unwrap_or_else(|_| "python3".into());
    let found = Command::new(&python).args(["-c", "import rapidfuzz"]).output();
    found.is_ok_and(|output| output.status.success()).then_some(python)
}

/// A text that is wrong in its own way on every page: too short, too long, in another order.
fn spoil(text: &str, index: usize) -> String {
    let lines: Vec<&str> = text.lines().collect();
    match index % 5 {
        0 => text.to_owned(),
        1 => lines[..lines.len() / 2].join("\n"),
        2 => lines.iter().rev().copied().collect::<Vec<_>>().join("\n"),
        3 => format!("{text}\n{text}\nMenu İstanbul ΣΊΣΥΦΟΣ ①② ½ ज़िन्दगी"),
        _ => String::new(),
    }
}

/// `bag` is precision and recall; `shingles` are shared, surplus and missing.
#[track_caller]
fn check(lang: &str, gold: &str, text: &str, bag: [f64; 2], shingles: [f64; 3], rouge_l: f64) {
    let truth = Truth { lang: Some(lang.into()), text: Some(gold.into()), ..Truth::default() };
    let found = score(&truth, text).text.expect("the gold has a text");
    same(text, "precision", Some(found.bag.precision), Some(bag[0]));
    same(text, "recall", Some(found.bag.recall), Some(bag[1]));
    for ((name, found), expected) in ["shared", "surplus", "missing"].into_iter().zip(found.shingles).zip(shingles) {
        same(text, name, Some(found), Some(expected));
    }
    same(text, "ROUGE-L", Some(found.rouge_l), Some(rouge_l));
}

#[test]
fn scores_are_those_worked_out_by_hand() {
    // Three of four words are right, three of five are there; shingles `abcd` and `bcde` against `abcx`.
    check("en", "a b c d e", "a b c x", [0.75, 0.6], [0.0, 1.0 / 3.0, 2.0 / 3.0], 6.0 / 9.0);
    // The same words in another order, of which the longest common subsequence is `one two three`; no shingle is shared.
    check("en", "one two three four five", "FOUR five one two three", [1.0, 1.0], [0.0, 0.5, 0.5], 6.0 / 10.0);
    // A word counts as often as it stands in both; a text too short for a shingle is one.
    check("en", "rain", "Rain, rain!", [0.5, 1.0], [0.0, 0.5, 0.5], 2.0 / 3.0);
    // One of the two shingles of the answer is that of the gold.
    check("en", "the old mill stands", "the old mill stands empty", [0.8, 1.0], [0.5, 0.5, 0.0], 8.0 / 9.0);
    // Chinese is counted by characters. A letter with an accent is another letter.
    check("zh", "下雨了", "雨了，下", [1.0, 1.0], [0.0, 0.5, 0.5], 4.0 / 6.0);
    check("fr", "déjà vu", "deja vu", [0.5, 0.5], [0.0, 0.5, 0.5], 0.5);
    check("en", "nothing was found", "", [0.0, 0.0], [0.0, 0.0, 1.0], 0.0);
}

#[test]
fn snippets_are_counted_by_hand() {
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    let truth = Truth {
        with: texts(&["the ferry", "in winter", "a bus ride"]),
        without: texts(&["Share", "cookies"]),
        ..Truth::default()
    };
    let found = score(&truth, "Share: the ferry also runs in winter.").snippets.expect("there are snippets");
    let counts = [found.true_positives, found.false_negatives, found.false_positives, found.true_negatives];
    assert_eq!(counts, [2, 1, 1, 1]);
    same("snippets", "F1", Some(found.precision_recall().f1), Some(2.0 / 3.0));
}

#[test]
fn scores_are_those_of_the_reference() {
    let (gold, tool) = (shared().join("data/extraction"), shared().join("tools/score.py"));
    let Some(python) = python().filter(|_| gold.is_dir() && tool.is_file()) else {
        println!("skipped: needs {} and a Python with rapidfuzz (PITH_PYTHON)", tool.display());
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut sets: BTreeMap<String, Vec<(ScoredPage, String)>> = BTreeMap::new();
    let study = EvaluationConfig { every: EVERY, ..EvaluationConfig::default() };
    evaluate(&gold, &study, |set, judged| {
        let pages = sets.entry(set.to_owned()).or_default();
        let text = spoil(&judged.texts[0], pages.len());
        let (page, truth) = (judged.page.clone(), judged.truth.clone());
        let scores = vec![score(&truth, &text)];
        pages.push((ScoredPage { page, truth, texts: Vec::new(), scores, fidelity: Vec::new() }, text));
        Ok(())
    })
    .expect("the gold can be read");
    let mut n_pages = 0;
    for (set, pages) in &sets {
        let report = ask(&python, &tool, folder.path(), set, pages);
        let of_reference = report["pages"].as_array().expect("pages");
        assert_eq!(of_reference.len(), pages.len());
        for ((judged, _), theirs) in pages.iter().zip(of_reference) {
            compare_page(set, judged, theirs);
            n_pages += 1;
        }
        let scores: Vec<_> = pages.iter().map(|(judged, _)| &judged.scores[0]).collect();
        let ours = pith_eval::extraction::group_score(&scores);
        let names = ["bow_f1", "aeb_f1", "rl_mean", "snip_f1"];
        for (name, value) in names.into_iter().zip([ours.bow_f1, ours.shingle_f1, ours.rouge_l, ours.snippet_f1]) {
            same(set, name, value, report["all"][name].as_f64());
        }
    }
    println!("{n_pages} pages of {} sets: the same scores", sets.len());
    assert!(n_pages >= 200, "only {n_pages} pages");
}

/// What the reference says about these pages.
fn ask(python: &str, tool: &Path, folder: &Path, set: &str, pages: &[(ScoredPage, String)]) -> Value {
    let lines = |line: &dyn Fn(&(ScoredPage, String)) -> Value| -> String {
        pages.iter().map(|page| format!("{}\n", line(page))).collect()
    };
    let truths = lines(&|(judged, _)| {
        let truth = &judged.truth;
        let mut line = json!({ "id": truth.id, "text": truth.text, "lang": truth.lang, "page_type": truth.page_type });
        if truth.has_snippets() {
            line["with"] = json!(truth.with);
            line["without"] = json!(truth.without);
        }
        line
    });
    let texts = lines(&|(judged, text)| json!({ "id": judged.truth.id, "text": text }));
    std::fs::create_dir_all(folder.join(set)).expect("a folder");
    std::fs::write(folder.join(set).join("truth.jsonl"), truths).expect("truths are written");
    std::fs::write(folder.join("texts.jsonl"), texts).expect("texts are written");
    let output = Command::new(python)
        .arg(tool)
        .args([set, "texts.jsonl", "--json", "report.json", "--boot", "0"])
        .env("EXTRACTION_DATA", folder)
        .current_dir(folder)
        .output()
        .expect("Python runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report = std::fs::read(folder.join("report.json")).expect("a report");
    serde_json::from_slice(&report).expect("the report is JSON")
}

#[track_caller]
fn compare_page(set: &str, judged: &ScoredPage, theirs: &Value) {
    let name = format!("{set}/{}", judged.truth.id);
    let Some(ours) = judged.scores[0].text else {
        assert!(theirs["bow"].is_null(), "{name}");
        return;
    };
    let numbers = [
        ("precision", ours.bag.precision, &theirs["bow"][0]),
        ("recall", ours.bag.recall, &theirs["bow"][1]),
        ("F1", ours.bag.f1, &theirs["bow"][2]),
        ("shared shingles", ours.shingles[0], &theirs["aeb"][0]),
        ("surplus shingles", ours.shingles[1], &theirs["aeb"][1]),
        ("missing shingles", ours.shingles[2], &theirs["aeb"][2]),
        ("ROUGE-L", ours.rouge_l, &theirs["rl"]),
        ("gold words", ours.n_gold_words as f64, &theirs["glen"]),
        ("words", ours.n_words as f64, &theirs["plen"]),
    ];
    for (what, ours, theirs) in numbers {
        same(&name, what, Some(ours), theirs.as_f64());
    }
}

#[track_caller]
fn same(name: &str, what: &str, ours: Option<f64>, theirs: Option<f64>) {
    let near = match (ours, theirs) {
        (Some(ours), Some(theirs)) => (ours - theirs).abs() < 1e-9,
        (ours, theirs) => ours == theirs,
    };
    assert!(near, "{name}: {what} {ours:?}, should be {theirs:?}");
}
