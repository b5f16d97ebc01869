//! What is on a page is in the output as it stands there: on pages of our own in the manner of five generators of manuals,
//! and on those of two manuals as Debian packages them, where they are installed.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use pith_eval::extraction::fidelity::{Fidelity, Measure};
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
    let (fidelity, misses) = compare(&folder, NonZeroUsize::MIN);
    assert_eq!(below(&fidelity, &FLOORS), Vec::<String>::new(), "{misses:#?}");
}

/// The manuals whose pages are compared: a package, where it puts its pages, and one of how many is read. Both are small and made by different
/// generators, DocBook with its tables and AsciiDoc with its lists and examples.
/// Of PostgreSQL's pages forty are compared, of git's twelve.
const MANUALS: [(&str, &str, usize); 2] = [("postgresql-doc", "html", 29), ("git-doc", "", 20)];

/// On pages of others a few elements may be wrong, and what is dropped there is not this test's concern: a floor holds
/// for a measure with so many kept elements.
const MANUAL_FLOORS: [(Measure, usize, f64); 10] = [
    (Measure::PlainCode, 0, 0.97),
    (Measure::CodeMostLines, 0, 0.97),
    (Measure::FencedCode, 0, 0.97),
    (Measure::InlineCode, 0, 0.97),
    (Measure::TextRows, 0, 0.97),
    (Measure::MarkdownRows, 0, 0.97),
    (Measure::OrderedItems, 0, 0.97),
    (Measure::InlineText, 0, 0.97),
    (Measure::PagesWithoutStraySpaces, 0, 0.97),
    (Measure::Headings, 0, 0.97),
];

#[test]
fn what_is_on_the_pages_of_packaged_manuals_is_in_the_output() {
    for (package, below_it, every) in MANUALS {
        let Some(folder) = manual(package, below_it) else {
            println!("skipped: the pages of {package} are not installed (apt-get install {package})");
            continue;
        };
        let (fidelity, misses) = compare(&folder, NonZeroUsize::new(every).expect("not zero"));
        let kept = |measure| fidelity.tally(measure).map_or(0, |tally| tally.kept);
        assert!(kept(Measure::InlineText) > 50 && kept(Measure::Headings) > 20, "{package}: {fidelity:?}");
        let floors: Vec<_> = MANUAL_FLOORS.into_iter().filter(|(measure, ..)| kept(*measure) >= MIN_KEPT).collect();
        assert_eq!(below(&fidelity, &floors), Vec::<String>::new(), "{package}: {misses:#?}");
    }
}

/// Fewer elements say little about a method.
const MIN_KEPT: usize = 20;

/// The folder of a manual, whatever the version in its name; a package may be installed without its documentation.
fn manual(package: &str, below_it: &str) -> Option<PathBuf> {
    let installed = std::fs::read_dir("/usr/share/doc").ok()?.flatten();
    let mut folders: Vec<PathBuf> = installed
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(package))
        .map(|entry| entry.path().join(below_it))
        .filter(|folder| SavedPages::open(folder).is_ok())
        .collect();
    folders.sort();
    folders.pop()
}

/// Our output against the pages of a folder: the tallies, and what is wrong.
fn compare(folder: &Path, every: NonZeroUsize) -> (Fidelity, Vec<String>) {
    let pages = SavedPages::open(folder).expect("the pages can be read");
    let config = EvaluationConfig { fidelity: true, every, ..EvaluationConfig::default() };
    let mut misses = Vec::new();
    let methods = evaluate_sets(&[PageSet::Saved(pages)], &config, |_, scored| {
        misses.extend(scored.fidelity[0].1.iter().map(|miss| format!("{}: {miss:?}", scored.page.id)));
        Ok(())
    })
    .expect("the pages can be read");
    (methods[0].sets.values().next().expect("a set").fidelity.clone(), misses)
}

/// The measures below their floor, or with too few elements.
fn below(fidelity: &Fidelity, floors: &[(Measure, usize, f64)]) -> Vec<String> {
    let mut below = Vec::new();
    for (measure, least, floor) in floors {
        let tally = fidelity.tally(*measure).copied().unwrap_or_default();
        if tally.kept < *least || tally.share().unwrap_or(0.0) < *floor {
            below.push(format!("{measure:?}: {tally:?}, should be {floor} of {least}"));
        }
    }
    below
}
