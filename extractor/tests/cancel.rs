//! A page that is given up stops soon, wherever its extraction is.

mod shared;

use std::fs;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use pith_extractor::{Cancellation, Options, extract};
use shared::abuse::{LARGE, SHAPES};

const PAGE_BYTES: usize = 1_000_000;

/// The most of the processor's time that goes on after a page was given up.
const MAX_SECONDS: f64 = 0.1;

/// Pages that keep every stage busy: charset, tree, blocks, tables, metadata, features, selection, Markdown, sentences, ranks.
const PAGES: [&str; 8] = [
    "paragraphs",
    "one letter between tags",
    "wide rows",
    "long tables",
    "emphasis",
    "sentences",
    "structured data in lists",
    "links",
];

#[test]
fn a_page_stops_soon_after_it_was_given_up() {
    let shapes = SHAPES.iter().filter(|(name, _)| PAGES.contains(name));
    let pages = shapes.map(|(name, shape)| (*name, shape(PAGE_BYTES).into_bytes()));
    for (name, page) in pages.chain(LARGE.iter().map(|(name, _, shape)| (*name, shape(PAGE_BYTES)))) {
        let whole = measure(&page, f64::INFINITY).seconds;
        for share in [0.02, 0.1, 0.3, 0.5, 0.7, 0.9] {
            let allowance = if cfg!(debug_assertions) { 4.0 } else { 1.0 };
            let is_soon = || measure(&page, share * whole).late < MAX_SECONDS * allowance;
            // A neighbour can only make it slower.
            assert!((0..4).any(|_| is_soon()), "{name}, given up after {share} of {whole} s, goes on");
        }
    }
}

struct Measured {
    /// The time that the extraction took.
    seconds: f64,
    /// What of it came after it was given up; nothing where it ended before.
    late: f64,
}

/// Extracts a page on a thread of its own and gives it up after some seconds of that thread.
fn measure(page: &[u8], give_up_after: f64) -> Measured {
    let cancellation = Cancellation::default();
    thread::scope(|scope| {
        let (ready, started) = mpsc::channel();
        let flag = cancellation.clone();
        let worker = scope.spawn(move || {
            let path = fs::read_link("/proc/thread-self").expect("Linux knows its threads");
            let path = std::path::Path::new("/proc").join(path).join("schedstat");
            let start = seconds(&path);
            ready.send((path.clone(), start)).expect("somebody waits");
            let options = Options { markdown: true, sentences: 3, ..Options::default() };
            flag.run(|| extract(page, None, &options));
            (start, seconds(&path))
        });
        let (path, start) = started.recv().expect("the thread starts");
        let mut given_up_at = f64::INFINITY;
        while !worker.is_finished() {
            let now = seconds(&path);
            if now - start >= give_up_after {
                cancellation.cancel();
                given_up_at = now;
                break;
            }
            thread::sleep(Duration::from_micros(200));
        }
        let (start, end) = worker.join().expect("it does not panic");
        Measured { seconds: end - start, late: (end - given_up_at).max(0.0) }
    })
}

/// The time that a thread has run.
fn seconds(path: &std::path::Path) -> f64 {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.split(' ').next().and_then(|field| field.parse::<f64>().ok()).unwrap_or(f64::INFINITY) / 1e9
}
