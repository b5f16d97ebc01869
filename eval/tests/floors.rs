//! Main content is as good as it was: the scores of now against those pinned in `floors.json`.
//!
//! After a change that is meant to move them: `PITH_PIN=1 cargo test -p pith-eval --test floors`, or
//! `pith eval extraction --data SETS --floors eval/floors.json --pin`.

use std::path::{Path, PathBuf};

use pith_eval::floor::Floors;

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
