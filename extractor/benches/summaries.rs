//! How many documents a second each ranking summarizes on one core, and how that changes with their length.
//!
//! `cargo bench -p pith-extractor --bench summaries` reads the shared set bbc_en (news of about 20 sentences). Telling
//! the language, splitting, counting words and ranking are all inside the time, which is CPU time of this thread; the
//! rankings take turns and the median of the rounds counts.

use std::hint::black_box;
use std::path::PathBuf;

use pith_extractor::{Budget, Method, SummaryOptions, split_sentences, summarize, words};

const N_ROUNDS: usize = 5;
/// How many documents stand one behind the other in the longer texts.
const TIMES: [usize; 3] = [1, 10, 100];
/// The rankings whose time is shown for those: ours, the seed's, and one that compares sentences with each other.
const GROWING: [Method; 5] = [Method::Pith, Method::Naive, Method::NaiveMedian, Method::TfIdf, Method::TextRank];

fn main() {
    let begun = cpu_seconds();
    black_box(words("今天下雨", None));
    println!("first Chinese word: {:.0} ms (the dictionary is loaded)", 1e3 * (cpu_seconds() - begun));

    let Some(documents) = documents() else { return };
    let bytes: usize = documents.iter().map(|(_, text)| text.len()).sum();
    println!("bbc_en: {} documents, {:.1} KB each\n", documents.len(), bytes as f64 / 1e3 / documents.len() as f64);

    let split = || {
        for (_, text) in &documents {
            black_box(split_sentences(text, None).count());
        }
    };
    println!("{:14} {:>12}", "", "documents/s");
    println!("{:14} {:12.0}", "split only", documents.len() as f64 / median(&mut [Box::new(split)])[0]);
    let run = |method: Method| -> Box<dyn Fn() + '_> {
        let documents = &documents;
        Box::new(move || documents.iter().for_each(|(title, text)| one(text, Some(title), method)))
    };
    let mut all: Vec<Box<dyn Fn() + '_>> = Method::ALL.into_iter().map(run).collect();
    for (method, seconds) in Method::ALL.into_iter().zip(median(&mut all)) {
        println!("{:14} {:12.0}", method.name(), documents.len() as f64 / seconds);
    }

    println!("\nMB/s as texts grow {:>28} {:>8} {:>8}", "1 document", "10", "100");
    for method in GROWING {
        let mut runs: Vec<Box<dyn Fn()>> = Vec::new();
        for times in TIMES {
            let texts: Vec<String> =
                documents.chunks(times).map(|chunk| chunk.iter().map(|(_, text)| text.as_str()).collect()).collect();
            runs.push(Box::new(move || texts.iter().for_each(|text| one(text, None, method))));
        }
        let seconds = median(&mut runs);
        let [a, b, c] = [0, 1, 2].map(|index| bytes as f64 / 1e6 / seconds[index]);
        println!("{:36} {a:10.1} {b:8.1} {c:8.1}", method.name());
    }
}

fn one(text: &str, title: Option<&str>, method: Method) {
    let options = SummaryOptions { title, language: None, method, budget: Budget::Sentences(3) };
    black_box(summarize(text, &options));
}

/// The median seconds of each, taken in turns.
fn median(runs: &mut [Box<dyn Fn() + '_>]) -> Vec<f64> {
    let mut seconds = vec![Vec::new(); runs.len()];
    for _ in 0..N_ROUNDS {
        for (run, seconds) in runs.iter().zip(&mut seconds) {
            let begun = cpu_seconds();
            run();
            seconds.push(cpu_seconds() - begun);
        }
    }
    let middle = |mut of_one: Vec<f64>| {
        of_one.sort_unstable_by(f64::total_cmp);
        of_one[of_one.len() / 2]
    };
    seconds.into_iter().map(middle).collect()
}

/// The title and text of every document, or nothing, with a word about it, where the shared data is not at hand.
fn documents() -> Option<Vec<(String, String)>> {
    let beside = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared"));
    let folder = std::env::var_os("PITH_SHARED").map_or_else(beside, PathBuf::from);
    let path = folder.join("data/summaries/bbc_en.jsonl.zst");
    let Ok(file) = std::fs::File::open(&path) else {
        println!("skipped: no {} (set PITH_SHARED)", path.display());
        return None;
    };
    let lines = zstd::stream::decode_all(file).expect("the set is compressed with zstd");
    let lines = String::from_utf8(lines).expect("the set is UTF-8");
    let document = |line: &str| {
        let row: serde_json::Value = serde_json::from_str(line).expect("a line is JSON");
        let field = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
        (field("title"), field("text"))
    };
    Some(lines.lines().map(document).collect())
}

/// Seconds of this thread on a processor, so that a busy machine does not count.
fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|field| field.parse::<f64>().ok()).unwrap_or_default() / 1e9
}
