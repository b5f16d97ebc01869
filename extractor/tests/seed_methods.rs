//! The seed's methods against numbers worked out by hand, and against recorded outputs: units, scores and picks of every
//! page, and the numbers of the slides.

use std::collections::BTreeMap;
use std::path::PathBuf;

use pith_extractor::tree::Tree;
use pith_extractor::{Analysis, Budget, Method, explain, seed_words, summarize_analysis, walk_page};
use serde_json::Value;

const PAGES: [&str; 6] = ["ptt", "msn", "gamer", "stackoverflow", "test", "test3"];

/// The folder of recorded pages, or nothing, with a word about it, where the shared data is not at hand.
fn folder() -> Option<PathBuf> {
    let shared = std::env::var_os("PITH_SHARED")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared")), PathBuf::from);
    let folder = shared.join("data/seed-methods");
    if !folder.is_dir() {
        println!("skipped: {} is not there; set PITH_SHARED to the shared data", folder.display());
        return None;
    }
    Some(folder)
}

struct Golden {
    html: String,
    recorded: Value,
    units: Vec<String>,
    tokens: Vec<Vec<String>>,
}

fn golden(folder: &std::path::Path, page: &str) -> Golden {
    let html = std::fs::read(folder.join(format!("pages/{page}.html"))).expect("the page is there");
    let recorded = std::fs::read_to_string(folder.join(format!("golden/{page}.json"))).expect("the golden is there");
    let recorded: Value = serde_json::from_str(&recorded).expect("the golden is JSON");
    let units = serde_json::from_value(recorded["units"].clone()).expect("units are texts");
    let tokens = serde_json::from_value(recorded["tokens"].clone()).expect("tokens are lists of texts");
    Golden { html: String::from_utf8_lossy(&html).into_owned(), recorded, units, tokens }
}

#[test]
fn the_walk_gives_the_units_of_a_page_made_by_hand() {
    let page = "<p>One  <b>two</b> three</p><script>no</script><p>Four <a href=/five>five</a></p>";
    let walk = walk_page(&Tree::parse(page));
    assert_eq!(walk.units, ["One ", "two three", "Four ", "five"]);
    assert_eq!(walk.links, ["/five"]);
}

/// Three sentences of the words a (three times), b, c and d: their mean frequency is 6/4, the upper median 1.
#[test]
fn scores_are_those_worked_out_by_hand() {
    let text = Analysis::of_tokens(vec!["a a b", "a c", "d"], |unit, take| unit.split(' ').for_each(take));
    let check = |method, expected: [f64; 3], picked: [usize; 2]| {
        let explained = explain(&text, method, Budget::Sentences(2));
        for (found, expected) in explained.sentences.iter().zip(expected) {
            assert!((found.score - expected).abs() < 1e-12, "{method:?}: {} instead of {expected}", found.score);
        }
        let picks = summarize_analysis(&text, method, Budget::Sentences(2));
        let mut picks: Vec<usize> = picks.iter().map(|picked| picked.position).collect();
        picks.sort_unstable();
        assert_eq!(picks, picked, "{method:?}");
    };
    // a is above the mean of 1.5 and weighs 1.5 · 1.5 / 3 = 0.75.
    check(Method::Naive, [2.5, 1.75, 1.0], [0, 1]);
    // Every frequency is cut off at 1.
    check(Method::NaiveMedian, [3.0, 2.0, 1.0], [0, 1]);
    // a is in two of three sentences, the others in one.
    let (a, other) = (1.5f64.ln(), 3f64.ln());
    check(Method::TfIdf, [(2.0 * a + other) / 3.0, (a + other) / 2.0, other], [1, 2]);
}

#[test]
fn the_walk_gives_the_recorded_units() {
    let Some(folder) = folder() else { return };
    for page in PAGES {
        let golden = golden(&folder, page);
        let walk = walk_page(&Tree::parse(&golden.html));
        for (index, (found, expected)) in walk.units.iter().zip(&golden.units).enumerate() {
            assert_eq!(found, expected, "{page}, unit {index}");
        }
        assert_eq!(walk.units.len(), golden.units.len(), "{page}");
        assert_eq!(walk.links.is_empty(), page == "msn", "{page}");
    }
}

#[test]
fn scores_and_picks_of_golden_tokens_are_the_recorded_ones() {
    let Some(folder) = folder() else { return };
    for page in PAGES {
        let golden = golden(&folder, page);
        let units: Vec<&str> = golden.units.iter().map(String::as_str).collect();
        let next = std::cell::Cell::new(0);
        let text = Analysis::of_tokens(units, |_, take| {
            golden.tokens[next.replace(next.get() + 1)].iter().for_each(|word| take(word));
        });
        for (method, key) in
            [(Method::Naive, "naive_mean"), (Method::NaiveMedian, "naive_median"), (Method::TfIdf, "tfidf")]
        {
            let recorded = &golden.recorded[key];
            let explained = explain(&text, method, Budget::Sentences(20));
            let scores: Vec<f64> = serde_json::from_value(recorded["scores"].clone()).expect("scores are numbers");
            assert_eq!(explained.sentences.len(), scores.len());
            for (index, (found, expected)) in explained.sentences.iter().zip(&scores).enumerate() {
                assert!((found.score - expected).abs() < 1e-9, "{page} {key} unit {index}: {} {expected}", found.score);
            }
            let picks: Vec<usize> =
                summarize_analysis(&text, method, Budget::Sentences(20)).iter().map(|picked| picked.position).collect();
            let recorded_picks = recorded.as_object().expect("an object").iter().find(|(key, _)| *key != "scores");
            let expected: Vec<usize> = serde_json::from_value(recorded_picks.expect("picks are recorded").1.clone())
                .expect("picks are numbers");
            assert_eq!(picks, expected, "{page} {key}");
        }
    }
}

#[test]
fn our_own_words_give_the_numbers_of_the_slides() {
    let Some(folder) = folder() else { return };
    let golden = golden(&folder, "test");
    let slides = std::fs::read_to_string(folder.join("golden/slide_numbers.json")).expect("the numbers are there");
    let slides: Value = serde_json::from_str(&slides).expect("the numbers are JSON");
    let walk = walk_page(&Tree::parse(&golden.html));
    let text = Analysis::of_units(walk.units.iter().map(String::as_str).collect());
    for (method, key) in [(Method::Naive, "naive_word_weights"), (Method::TfIdf, "idf")] {
        let explained = explain(&text, method, Budget::Sentences(20));
        let weights: BTreeMap<&str, f64> =
            explained.words.iter().map(|word| (word.word.as_str(), word.weight.expect("words are weighed"))).collect();
        let expected = slides[key]["expected"].as_object().expect("an object");
        assert!(expected.len() >= 8);
        for (word, expected) in expected {
            let expected = expected.as_f64().expect("a number");
            let found = weights.get(word.as_str()).copied().unwrap_or(f64::NAN);
            assert!((found - expected).abs() < 1e-9, "{key} {word}: {found} instead of {expected}");
        }
    }
}

/// The list names every place where jieba-rs differs from Python's jieba 0.42.1, and none of them is left: neither a new
/// difference nor one that comes back goes unnoticed.
#[test]
fn differences_from_pythons_jieba_are_listed_and_undone() {
    let Some(folder) = folder() else { return };
    for page in PAGES {
        let golden = golden(&folder, page);
        for (index, (unit, expected)) in golden.units.iter().zip(&golden.tokens).enumerate() {
            assert_eq!(cut(unit), *expected, "{page} {index}");
        }
    }
    let listed = include_str!("data/jieba-differences.txt").lines().filter(|line| !line.starts_with('#'));
    for line in listed {
        let (python, rest) = line.split_once('\t').expect("Python's words come first");
        let whole = rest.split('\t').next().expect("then jieba-rs's");
        assert_eq!(cut(whole), python.split(' ').collect::<Vec<_>>());
    }
}

fn cut(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    seed_words(text, |word| words.push(word));
    words
}
