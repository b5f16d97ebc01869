//! Pages of our own in the manner of five generators of manuals: what is on them is in the output as it stands there.

use std::path::Path;

use pith_eval::extraction::fidelity::Measure;
use pith_eval::extraction::{EvaluationConfig, PageSet, evaluate_sets};
use pith_eval::saved::SavedPages;

/// For each measure how many elements must be kept, two of three, so that an extractor which drops them does not pass;
/// and the share of them that must be right.
const FLOORS: [(Measure, usize, f64); 18] = [
    (Measure::HighlightedCode, 2, 1.0),
    (Measure::PlainCode, 1, 1.0),
    (Measure::CodeMostLines, 3, 1.0),
    (Measure::FencedCode, 3, 1.0),
    (Measure::CodeLanguage, 2, 1.0),
    (Measure::CodeInLines, 2, 1.0),
    (Measure::InlineCode, 4, 1.0),
    (Measure::TextRows, 12, 1.0),
    (Measure::HardTextRows, 5, 1.0),
    (Measure::MarkdownRows, 12, 1.0),
    (Measure::HardMarkdownRows, 5, 1.0),
    (Measure::OrderedItems, 6, 1.0),
    (Measure::NestedItems, 3, 1.0),
    (Measure::Scripts, 2, 1.0),
    (Measure::InlineText, 10, 1.0),
    (Measure::PagesWithoutStraySpaces, 3, 1.0),
    (Measure::Headings, 8, 1.0),
    (Measure::HeadingsWithoutMark, 4, 1.0),
];

#[test]
fn what_is_on_our_pages_is_in_the_output() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/fidelity");
    let pages = SavedPages::open(&folder).expect("the pages are checked in");
    let config = EvaluationConfig { fidelity: true, ..EvaluationConfig::default() };
    let mut misses = Vec::new();
    let methods = evaluate_sets(&[PageSet::Saved(pages)], &config, |_, scored| {
        misses.extend(scored.fidelity[0].1.iter().map(|miss| format!("{}: {miss:?}", scored.page.id)));
        Ok(())
    })
    .expect("the pages can be read");
    let fidelity = &methods[0].sets.values().next().expect("a set").fidelity;
    let below: Vec<String> = FLOORS
        .iter()
        .filter_map(|(measure, least, floor)| {
            let tally = fidelity.tally(*measure).copied().unwrap_or_default();
            let is_below = tally.kept < *least || tally.share().unwrap_or(0.0) < *floor;
            is_below.then(|| format!("{measure:?}: {tally:?}, should be {floor} of {least}"))
        })
        .collect();
    assert!(below.is_empty(), "{below:#?}\n{misses:#?}");
}
