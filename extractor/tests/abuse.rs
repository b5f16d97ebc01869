//! Every abuse shape becomes a document in linear time and bounded memory, and no tree is deeper than twice the open
//! stack. `PITH_FULL=1` takes pages of 5 MB instead of 1 MB, and the largest pages that are read.

mod shared;

use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::{env, fs};

use pith_extractor::tree::{Kind, Step, Tree};
use pith_extractor::{Options, PageFormat, TextFormat, extract, extract_page};
use shared::abuse::{LARGE, SHAPES};

const MEGABYTE: usize = 1_000_000;
/// By the specification of the suite.
const MAX_SECONDS: f64 = 1.0;
const MAX_BYTES: usize = 256 * MEGABYTE;
/// For four times the page.
const MAX_GROWTH: f64 = 12.0;
/// Elements leave the stack of 512 while their children stay: twice that, and a little for what is implied.
const MAX_DEPTH: usize = 1100;

/// Shapes that go beyond a bound, and must report it.
const TRUNCATED: [&str; 8] = [
    "deep div",
    "deep ul li",
    "deep b",
    "deep tables",
    "misnested b and i with attributes",
    "attributes of one tag",
    "formatting over paragraphs",
    "formatting in tables",
];

/// Names the one shape that a process of its own measures, so that none is charged with what another left behind.
const SHAPE: &str = "PITH_SHAPE";

#[test]
fn every_shape_is_linear_in_time_and_bounded_in_memory() {
    if let Ok(name) = env::var(SHAPE) {
        return one_shape(&name);
    }
    println!(
        "{:36} {:>6} {:>9} {:>7} {:>9} {:>7} {:>9} {:>6} {:>9}",
        "shape", "MB", "tree s", "growth", "page s", "growth", "MB peak", "depth", "truncated"
    );
    for (name, _) in SHAPES {
        run_alone("every_shape_is_linear_in_time_and_bounded_in_memory", name);
    }
}

/// Summaries included, which `pith extract` makes of every page.
#[test]
fn the_largest_pages_take_no_longer_than_others() {
    if let Ok(name) = env::var(SHAPE) {
        return one_large(&name);
    }
    println!("{:36} {:>6} {:>9} {:>9} {:>9} {:>9}", "shape", "MB", "page s", "text s", "MB peak", "truncated");
    for (name, ..) in LARGE {
        run_alone("the_largest_pages_take_no_longer_than_others", name);
    }
}

/// Measures one shape in a process of its own, while no other is measured.
fn run_alone(test: &str, shape: &str) {
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let program = env::current_exe().expect("a test knows its program");
    let output = Command::new(program).args([test, "--exact", "--nocapture"]).env(SHAPE, shape).output();
    let output = output.expect("a test can start itself");
    let said = String::from_utf8_lossy(&output.stdout);
    said.lines().filter(|line| line.starts_with(shape)).for_each(|line| println!("{line}"));
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
}

fn one_large(name: &str) {
    let (_, n_megabytes, shape) = LARGE.iter().find(|(other, ..)| *other == name).expect("a shape of this name");
    let n_megabytes = if env::var_os("PITH_FULL").is_some() { *n_megabytes } else { n_megabytes.div_ceil(5) };
    let page = shape(n_megabytes * MEGABYTE);
    let options = Options { markdown: true, sentences: 3, ..Options::default() };
    let measure = |format| {
        // A neighbour can only make it slower.
        let times = (0..3).map(|_| {
            let start = cpu_seconds();
            let document = extract_page(&page, format, None, &options);
            (cpu_seconds() - start, document.truncated)
        });
        times.fold((f64::INFINITY, false), |best, next| if next.0 < best.0 { next } else { best })
    };
    let (seconds, truncated) = measure(PageFormat::Html);
    let (as_text, _) = measure(PageFormat::File(TextFormat::Plain));
    let held = peak_memory();
    println!(
        "{name:36} {n_megabytes:6} {seconds:9.4} {as_text:9.4} {:9.1} {truncated:>9}",
        held as f64 / MEGABYTE as f64
    );
    let max_seconds = MAX_SECONDS * allowance();
    assert!(seconds < max_seconds && as_text < max_seconds, "{name} takes {seconds} and {as_text} seconds");
    assert!(held < MAX_BYTES, "{name} holds {held} bytes");
    assert!(truncated || page.len() <= pith_extractor::MAX_PAGE_BYTES, "{name} does not say that it was cut short");
}

/// Optimised less, the same work takes longer; release builds are held to the documented bound.
fn allowance() -> f64 {
    if cfg!(debug_assertions) { 4.0 } else { 1.0 }
}

fn one_shape(name: &str) {
    let (_, shape) = SHAPES.iter().find(|(other, _)| *other == name).expect("a shape of this name");
    let allowance = allowance();
    let n_bytes = if env::var_os("PITH_FULL").is_some() { 5 * MEGABYTE } else { MEGABYTE };
    let (small, page) = (shape(n_bytes / 4), shape(n_bytes));
    let mut measured = Measured::of(&small, &page);
    // A neighbour can only make it slower: what is slow once and fast again was not us.
    for _ in 0..2 {
        if measured.is_slow(allowance) {
            measured = Measured::of(&small, &page);
        }
    }
    let Measured { seconds, depth, read, truncated, growth } = measured;
    let held = peak_memory();
    println!(
        "{name:36} {:6.1} {seconds:9.4} {:7.1} {read:9.4} {:7.1} {:9.1} {depth:6} {truncated:>9}",
        page.len() as f64 / MEGABYTE as f64,
        growth[0],
        growth[1],
        held as f64 / MEGABYTE as f64,
    );
    assert!(seconds < MAX_SECONDS * allowance, "the tree of {name} takes {seconds} seconds");
    assert!(read < MAX_SECONDS * allowance, "{name} takes {read} seconds");
    assert!(growth.iter().all(|growth| *growth < MAX_GROWTH), "{name} is not linear: {growth:?}");
    assert!(held < MAX_BYTES, "{name} holds {held} bytes");
    assert!(depth < MAX_DEPTH, "{name} is {depth} deep");
    assert!(truncated || !TRUNCATED.contains(&name), "{name} does not say that it was cut short");
}

/// What a page took, and what it became.
struct Measured {
    seconds: f64,
    depth: usize,
    read: f64,
    truncated: bool,
    /// Of the tree and of the document. Four times the page may take four times the time; the rest is noise.
    growth: [f64; 2],
}

impl Measured {
    fn of(small: &str, page: &str) -> Measured {
        let (small_seconds, ..) = measure(small);
        let (small_read, _) = measure_document(small);
        let (seconds, depth) = measure(page);
        let (read, truncated) = measure_document(page);
        let growth = [seconds / small_seconds.max(0.002), read / small_read.max(0.005)];
        Measured { seconds, depth, read, truncated, growth }
    }

    fn is_slow(&self, allowance: f64) -> bool {
        self.growth.iter().any(|growth| *growth >= MAX_GROWTH) || self.seconds.max(self.read) >= MAX_SECONDS * allowance
    }
}

/// Seconds for the whole document, and whether it reports truncation.
fn measure_document(page: &str) -> (f64, bool) {
    let url = url::Url::parse("https://example.com/a/").expect("an address");
    let options = Options { markdown: true, ..Options::default() };
    let start = cpu_seconds();
    let document = extract(page.as_bytes(), Some(&url), &options);
    let seconds = cpu_seconds() - start;
    assert!(document.text.len() <= 2 * page.len() + 64, "a page does not grow");
    (seconds, document.truncated)
}

/// Seconds and depth of the tree. All text is read, too.
fn measure(page: &str) -> (f64, usize) {
    let start = cpu_seconds();
    let tree = Tree::parse(page);
    let mut n_bytes = 0;
    let (mut depth, mut deepest) = (0, 0);
    for step in tree.walk() {
        match step {
            Step::Open(node) => {
                depth += 1;
                deepest = deepest.max(depth);
                n_bytes += tree.attributes(node).count();
            }
            Step::Close(_) => depth -= 1,
            Step::Leaf(node) if tree.kind(node) == Kind::Text => n_bytes += tree.text(node).len(),
            Step::Leaf(_) => {}
        }
    }
    let seconds = cpu_seconds() - start;
    assert!(n_bytes <= 2 * page.len() + 64, "a page does not grow");
    (seconds, deepest)
}

/// The most memory that the process ever held, page and all.
fn peak_memory() -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap_or_default() * 1024
}

fn cpu_seconds() -> f64 {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|field| field.parse::<f64>().ok()).unwrap_or_default() / 1e9
}
