//! Main content is as good as it was: pages written for this test against a stated floor, and, where they are at hand,
//! the shared gold sets against the scores pinned in `floors.json`.
//!
//! After a change that is meant to move the pinned scores: `PITH_PIN=1 cargo test -p pith-eval --test floors`, or
//! `pith eval extraction --data SETS --floors eval/floors.json --pin`.

use std::path::{Path, PathBuf};

use pith_eval::extraction::{EvaluationConfig, evaluate};
use pith_eval::floor::Floors;
use pith_eval::score::bag_f1;
use pith_extractor::tree::{Kind, Step, Tree};
use serde_json::json;

/// The pages of `data/gold/small` by name, each with its language. `NAME.txt` is what a careful reader keeps of `NAME.html`.
const SMALL: [(&str, &str); 8] = [
    ("blog", "en"),
    ("chinese", "zh"),
    ("forum", "en"),
    ("german", "de"),
    ("manual", "en"),
    ("news", "en"),
    ("recipe", "en"),
    ("table", "en"),
];
/// Bag-of-words F1 of the mean and of the worst page: 0.992 and 0.964 when this was written.
const MEAN_FLOOR: f64 = 0.98;
const PAGE_FLOOR: f64 = 0.945;

fn small(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/gold/small").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn the_small_set_is_above_its_floor() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (mut pages, mut truths) = (String::new(), String::new());
    for (id, lang) in SMALL {
        pages += &format!("{}\n", json!({ "id": id, "html": small(&format!("{id}.html")) }));
        truths += &format!("{}\n", json!({ "id": id, "lang": lang, "text": small(&format!("{id}.txt")) }));
    }
    // Compressed or not: the first bytes of the file decide how it is read.
    std::fs::write(folder.path().join("pages.jsonl.zst"), pages).expect("pages are written");
    std::fs::write(folder.path().join("truth.jsonl"), truths).expect("truths are written");
    let mut scores = Vec::new();
    evaluate(folder.path(), &EvaluationConfig::default(), |_, scored| {
        let score = scored.scores[0].text.expect("the truth has a text");
        scores.push((scored.page.id.clone(), score.bag.f1));
        Ok(())
    })
    .expect("the set can be read");
    assert_eq!(scores.len(), SMALL.len());
    let below: Vec<_> = scores.iter().filter(|(_, f1)| *f1 < PAGE_FLOOR).collect();
    assert!(below.is_empty(), "below {PAGE_FLOOR}: {below:?}");
    let mean = scores.iter().map(|(_, f1)| f1).sum::<f64>() / scores.len() as f64;
    assert!(mean >= MEAN_FLOOR, "{mean:.4} is below {MEAN_FLOOR}");
}

/// Otherwise an extractor that chooses nothing would pass.
#[test]
fn the_whole_text_of_a_page_is_below_the_floor() {
    for (id, lang) in SMALL {
        let html = small(&format!("{id}.html"));
        let tree = Tree::parse(&html);
        let mut text = String::new();
        for step in tree.walk() {
            if let Step::Leaf(node) = step
                && tree.kind(node) == Kind::Text
            {
                text.push_str(&tree.text(node));
                text.push('\n');
            }
        }
        let f1 = bag_f1(&small(&format!("{id}.txt")), &text, lang);
        assert!(f1 < PAGE_FLOOR, "{id}: {f1:.4}");
    }
}

#[test]
fn no_set_is_below_its_floor() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let shared = std::env::var_os("PITH_SHARED").map_or_else(|| here.join("../../shared"), PathBuf::from);
    let gold = shared.join("data/extraction");
    if !gold.is_dir() {
        println!("skipped: {} is not there; set PITH_SHARED to the shared data", gold.display());
        return;
    }
    let path = here.join("floors.json");
    if std::env::var_os("PITH_PIN").is_some() {
        let now = Floors::measure(&gold, Floors::SAMPLE).expect("the gold can be read");
        now.write(&path).expect("the floors can be written");
        println!("pinned: {}", path.display());
        return;
    }
    let pinned = Floors::read(&path).expect("the pinned floors can be read");
    let comparison = pinned.compare(&Floors::measure(&gold, pinned.every).expect("the gold can be read"));
    comparison.skipped.iter().for_each(|reason| println!("skipped: {reason}"));
    println!("{} sets compared", comparison.compared.len());
    assert!(comparison.below.is_empty(), "below the floor:\n{}", comparison.below.join("\n"));
}
