//! How fast the tree and the whole document are, and how much memory they take, beside `scraper` on the same pages in
//! the same run.
//!
//! `cargo bench -p pith-extractor --bench tree -- [EVERY] [ROUTE]` reads every EVERYth page (default 16) of the shared
//! extraction sets, by all routes or once by the one of that name, as a profiler wants it. Time is CPU time of this thread, the parsers take turns, and the median of the rounds counts.

use std::alloc::{GlobalAlloc, Layout, System};
use std::hint::black_box;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use pith_extractor::model::MODEL;
use pith_extractor::tree::{Kind, Step, Tree};
use pith_extractor::{Favor, Options, ParsedPage, extract};

const N_ROUNDS: usize = 7;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);
static N_ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

/// The system's allocator, counting.
struct Counting;

#[expect(unsafe_code, reason = "an allocator cannot be written without")]
// SAFETY: every call goes to the system's allocator unchanged; only numbers are kept beside it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        N_ALLOCATIONS.fetch_add(1, Relaxed);
        PEAK.fetch_max(LIVE.fetch_add(layout.size(), Relaxed) + layout.size(), Relaxed);
        // SAFETY: the caller's layout, as it came.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller's pointer and layout, as they came.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        N_ALLOCATIONS.fetch_add(1, Relaxed);
        let live = LIVE.fetch_add(size, Relaxed) + size - layout.size();
        LIVE.fetch_sub(layout.size(), Relaxed);
        PEAK.fetch_max(live, Relaxed);
        // SAFETY: the caller's pointer, layout and size, as they came.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

type Route = (&'static str, fn(&str));

const ROUTES: [Route; 6] = [
    ("tree", |page| {
        black_box(Tree::parse(page));
    }),
    ("tree, all text and every class read", |page| read_everything(&Tree::parse(page))),
    ("tree, head and blocks", |page| {
        black_box(ParsedPage::parse(page, ""));
    }),
    ("judged: features and prediction too", |page| {
        black_box(ParsedPage::parse(page, "").classify(&MODEL, Favor::Balance));
    }),
    ("document", |page| {
        black_box(extract(page.as_bytes(), None, &Options::default()));
    }),
    ("scraper", |page| {
        black_box(scraper::Html::parse_document(page));
    }),
];

fn main() {
    let every = std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(16);
    let pages = pages(every);
    let n_bytes: usize = pages.iter().map(String::len).sum();
    if pages.is_empty() {
        println!("skipped: no shared data (set PITH_SHARED)");
        return;
    }
    println!("{} pages, {:.1} MB, {N_ROUNDS} rounds", pages.len(), n_bytes as f64 / 1e6);
    let only = std::env::args().skip(1).find_map(|name| ROUTES.iter().find(|route| route.0 == name));
    if let Some((_, run)) = only {
        return pages.iter().for_each(|page| run(page));
    }
    let mut seconds = vec![Vec::new(); ROUTES.len()];
    for _ in 0..N_ROUNDS {
        for (route, times) in ROUTES.iter().zip(&mut seconds) {
            let start = cpu_seconds();
            pages.iter().for_each(|page| route.1(page));
            times.push(cpu_seconds() - start);
        }
    }
    println!(
        "{:38} {:>8} {:>17} {:>9} {:>11} {:>17}",
        "", "MB/s", "min to max", "÷ scraper", "allocs/page", "heap/byte (worst)"
    );
    let rates: Vec<[f64; 3]> = seconds
        .iter_mut()
        .map(|times| {
            times.sort_by(f64::total_cmp);
            [times[times.len() / 2], times[times.len() - 1], times[0]].map(|time| n_bytes as f64 / 1e6 / time)
        })
        .collect();
    let scraper = rates[ROUTES.len() - 1][0];
    for ((name, run), [median, least, most]) in ROUTES.iter().zip(rates) {
        let (allocations, heap, worst) = memory(*run, &pages);
        println!(
            "{name:38} {median:8.0} {least:8.0}-{most:8.0} {:9.1} {allocations:11.0} {heap:9.2} ({worst:5.1})",
            median / scraper
        );
    }
}

/// Allocations per page, and the highest heap in bytes per byte of input: mean and worst page.
fn memory(run: fn(&str), pages: &[String]) -> (f64, f64, f64) {
    let (mut allocations, mut heap, mut n_bytes, mut worst) = (0, 0, 0, 0f64);
    for page in pages {
        let (live, count) = (LIVE.load(Relaxed), N_ALLOCATIONS.load(Relaxed));
        PEAK.store(live, Relaxed);
        run(page);
        let used = PEAK.load(Relaxed) - live;
        allocations += N_ALLOCATIONS.load(Relaxed) - count;
        heap += used;
        n_bytes += page.len();
        if page.len() > 10_000 {
            worst = worst.max(used as f64 / page.len() as f64);
        }
    }
    (allocations as f64 / pages.len() as f64, heap as f64 / n_bytes as f64, worst)
}

fn read_everything(tree: &Tree<'_>) {
    for step in tree.walk() {
        match step {
            Step::Open(node) => {
                black_box(tree.attribute(node, "class"));
            }
            Step::Leaf(node) if tree.kind(node) == Kind::Text => {
                black_box(tree.text(node));
            }
            _ => {}
        }
    }
}

fn pages(every: usize) -> Vec<String> {
    let beside = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared"));
    let folder = std::env::var_os("PITH_SHARED").map_or_else(beside, PathBuf::from).join("data/extraction");
    let mut sets: Vec<PathBuf> =
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    sets.sort();
    let mut pages = Vec::new();
    for set in sets {
        let Ok(file) = std::fs::File::open(set.join("pages.jsonl.zst")) else { continue };
        for line in BufReader::new(zstd::Decoder::new(file).expect("zstd")).lines().step_by(every) {
            let row: serde_json::Value = serde_json::from_str(&line.expect("a line")).expect("a page");
            pages.push(row["html"].as_str().expect("html").to_owned());
        }
    }
    pages
}

/// The time this thread has run, by the scheduler's count.
fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux");
    let nanoseconds: u64 = text.split(' ').next().and_then(|field| field.parse().ok()).expect("a number");
    nanoseconds as f64 / 1e9
}
