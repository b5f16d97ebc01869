//! Every abuse shape is parsed in linear time and bounded memory, and no tree is deeper than twice the open stack.

mod shared;

use std::fs;

use pith_extractor::tree::{Kind, Step, Tree};
use shared::abuse::SHAPES;

const MEGABYTE: usize = 1_000_000;
/// By the specification of the suite.
const MAX_SECONDS: f64 = 1.0;
const MAX_BYTES: usize = 256 * MEGABYTE;
/// Elements leave the stack of 512 while their children stay: twice that, and a little for what is implied.
const MAX_DEPTH: usize = 1100;

/// One test, so that nothing else runs in the process while it is measured.
#[test]
fn every_shape_is_linear_in_time_and_bounded_in_memory() {
    // Optimised less, the same work takes longer; release builds are held to the promise itself.
    let allowance = if cfg!(debug_assertions) { 4.0 } else { 1.0 };
    let full = std::env::var_os("PITH_FULL").is_some();
    let n_bytes = if full { 5 * MEGABYTE } else { MEGABYTE };
    println!(
        "{:36} {:>6} {:>9} {:>7} {:>9} {:>6} {:>9}",
        "shape", "MB", "seconds", "growth", "MB peak", "depth", "truncated"
    );
    for (name, shape) in SHAPES {
        let small = shape(n_bytes / 4);
        let (small_seconds, ..) = measure(&small);
        let page = shape(n_bytes);
        let (seconds, held, depth, truncated) = measure(&page);
        // Four times the page may take four times the time; the rest is noise of a busy machine.
        let growth = seconds / small_seconds.max(0.002);
        println!(
            "{name:36} {:6.1} {seconds:9.4} {growth:7.1} {:9.1} {depth:6} {truncated:>9}",
            page.len() as f64 / MEGABYTE as f64,
            held as f64 / MEGABYTE as f64,
        );
        assert!(seconds < MAX_SECONDS * allowance, "{name} takes {seconds} seconds");
        assert!(growth < 12.0, "{name} is not linear: {small_seconds} then {seconds} seconds");
        assert!(held < MAX_BYTES, "{name} holds {held} bytes");
        assert!(depth < MAX_DEPTH, "{name} is {depth} deep");
    }
}

/// Seconds, the most memory so far, depth and whether the tree was truncated. All text is read, too.
fn measure(page: &str) -> (f64, usize, usize, bool) {
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
    (seconds, peak_memory(), deepest, tree.truncated())
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
