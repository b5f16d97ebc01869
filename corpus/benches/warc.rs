//! Page shards against the Python package `fastwarc`: records per CPU second on the same files in the same run, writing
//! speed, and size against gzip -6 per record.
//!
//! `PITH_PYTHON=venv/bin/python cargo bench -p pith-corpus --bench warc [-- MEGABYTES]`. The pages are those of the gold sets
//! in `PITH_SHARED`; half of them train the dictionary and the other half is measured.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Command;

use jiff::Timestamp;
use pith_corpus::warc::{self, DictionaryUse, Format, Response, Revisit, ShardWriter, WriterOptions};

const ROUNDS: usize = 7;

fn main() {
    let megabytes: usize = std::env::args().skip(1).find_map(|word| word.parse().ok()).unwrap_or(300);
    let shared = std::env::var_os("PITH_SHARED")
        .map(PathBuf::from)
        .unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared"));
    let pages = pages(&shared.join("data/extraction"), megabytes * 1_000_000);
    if pages.is_empty() {
        println!("skipped: no pages below {}", shared.display());
        return;
    }
    let half = pages.len() / 2;
    let bytes: usize = pages[half..].iter().map(|(_, html)| html.len()).sum();
    println!(
        "{} pages of {} MB are measured; {half} others train the dictionary\n",
        pages.len() - half,
        bytes / 1_000_000
    );

    let folder = tempfile::tempdir().expect("a folder");
    let files = write_all(folder.path(), &pages, half, bytes);
    read_all(&files);
    let samples = shared.join("data/warc");
    let small = ["dolma-sample-0000.warc.gz", "derived/s-l3.warc.zst", "derived/s-dict-l3.warc.zst"];
    println!("\nthe same 48 records as other tools packed them, read 200 times");
    read_all(&small.iter().map(|name| (*name, samples.join(name))).collect::<Vec<_>>());
}

/// Pages of all sets in turn, so that both halves hold all of them.
fn pages(folder: &Path, max_bytes: usize) -> Vec<(String, Vec<u8>)> {
    let mut pages = Vec::new();
    let Ok(sets) = fs::read_dir(folder) else { return pages };
    let mut sets: Vec<PathBuf> = sets.map(|set| set.expect("listed").path().join("pages.jsonl.zst")).collect();
    sets.sort();
    for set in sets {
        let Ok(file) = File::open(&set) else { continue };
        let lines = BufReader::new(zstd::stream::read::Decoder::new(file).expect("zstd"));
        for line in lines.lines() {
            let row: serde_json::Value = serde_json::from_str(&line.expect("readable")).expect("a row");
            let text = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
            let url = format!("http://{}/{}", pages.len() % 97, text("id").replace(' ', "_"));
            pages.push((url, text("html").into_bytes()));
        }
    }
    // The same order every time, without regard to the set.
    pages.sort_by_key(|(url, html)| xxhash_rust::xxh3::xxh3_64_with_seed(url.as_bytes(), html.len() as u64));
    let mut total = 0;
    pages.retain(|(_, html)| {
        total += html.len();
        total <= max_bytes
    });
    pages
}

/// CPU seconds of this thread.
fn cpu_seconds() -> f64 {
    let text = fs::read_to_string("/proc/thread-self/schedstat").expect("Linux");
    text.split(' ').next().expect("a number").parse::<f64>().expect("a number") / 1e9
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Writes the pages from `half` on in each way, several times, and keeps one file of each.
fn write_all(folder: &Path, pages: &[(String, Vec<u8>)], half: usize, bytes: usize) -> Vec<(&'static str, PathBuf)> {
    let zstd = |level, dictionary| WriterOptions { level, dictionary, ..WriterOptions::new(Format::Zstd) };
    let kinds = [
        ("gz-6", WriterOptions::new(Format::Gzip)),
        ("zst-3", zstd(3, DictionaryUse::Never)),
        ("zst-3 + dictionary 110 K", zstd(3, DictionaryUse::Train(110 * 1024))),
        ("zst-3 + dictionary 256 K", zstd(3, DictionaryUse::Train(256 * 1024))),
        ("zst-3 + dictionary 512 K", zstd(3, DictionaryUse::Train(512 * 1024))),
    ];
    let mut written: Vec<Written> =
        kinds.map(|(name, options)| Written::prepare(folder, name, options, &pages[..half])).into();
    for _ in 0..ROUNDS {
        for kind in &mut written {
            kind.write(&pages[half..], bytes);
        }
    }
    let reference = gzip_size(&written[0].path).unwrap_or_else(|| written[0].size());
    println!("{:<28}{:>12}{:>14}{:>16}", "writing", "MB/s (CPU)", "bytes", "÷ gzip -6");
    for kind in &written {
        let share = kind.size() as f64 / reference as f64;
        println!("{:<28}{:>12.0}{:>14}{share:>16.3}", kind.name, median(kind.speeds.clone()), kind.size());
    }
    println!("gzip -6 per record (zlib): {reference}");
    written.into_iter().map(|kind| (kind.name, kind.path)).collect()
}

/// One way of writing, and how fast it was in each round.
struct Written {
    name: &'static str,
    options: WriterOptions,
    folder: PathBuf,
    path: PathBuf,
    speeds: Vec<f64>,
}

impl Written {
    /// Where there is a dictionary, the pages for training make the first shard, so that the second one has it.
    fn prepare(folder: &Path, name: &'static str, options: WriterOptions, training: &[(String, Vec<u8>)]) -> Written {
        let options = WriterOptions { shard_bytes: u64::MAX, ..options };
        let folder = folder.join(name.replace(' ', "-"));
        let trains = options.dictionary != DictionaryUse::Never && options.format == Format::Zstd;
        let mut writer = ShardWriter::open(&folder, options.clone()).expect("opens");
        if trains {
            put_all(&mut writer, training);
        }
        writer.finish().expect("closes");
        let path = folder.join(format!("pages-0000{}.{}", u8::from(trains), options.format.extension()));
        Written { name, options, folder, path, speeds: Vec::new() }
    }

    /// Writes the pages to a shard, in the place of the last round's.
    fn write(&mut self, pages: &[(String, Vec<u8>)], bytes: usize) {
        if self.path.exists() {
            fs::remove_file(&self.path).expect("removed");
        }
        let mut writer = ShardWriter::open(&self.folder, self.options.clone()).expect("opens");
        let before = cpu_seconds();
        put_all(&mut writer, pages);
        writer.finish().expect("closes");
        self.speeds.push(bytes as f64 / 1e6 / (cpu_seconds() - before));
    }

    fn size(&self) -> u64 {
        fs::metadata(&self.path).expect("written").len()
    }
}

fn put_all(writer: &mut ShardWriter, pages: &[(String, Vec<u8>)]) {
    for (number, (url, html)) in pages.iter().enumerate() {
        let response = Response {
            url,
            fetched_at: Timestamp::from_millisecond(1_700_000_000_000 + number as i64 * 977).expect("in range"),
            ip: Some([192, 0, 2, 7].into()),
            status_line: "HTTP/1.1 200 OK",
            headers: &[
                ("Content-Type", b"text/html; charset=utf-8"),
                ("Server", b"nginx"),
                ("Content-Encoding", b"gzip"),
            ],
            body: html,
            truncated: None,
            revisit: Revisit::Never,
            preferences: None,
        };
        writer.put(&response).expect("written");
        if number % 64 == 63 {
            writer.commit().expect("durable");
        }
    }
}

fn python(script: &str, path: &Path) -> Option<f64> {
    let python = std::env::var_os("PITH_PYTHON").map(PathBuf::from);
    let output =
        Command::new(python.unwrap_or_else(|| "python3".into())).args(["-c", script]).arg(path).output().ok()?;
    if !output.status.success() {
        println!("skipped: {}", String::from_utf8_lossy(&output.stderr).lines().last().unwrap_or_default());
    }
    String::from_utf8_lossy(&output.stdout).trim().parse().ok()
}

/// How many bytes gzip -6 makes of the records of a file, one member each.
fn gzip_size(path: &Path) -> Option<u64> {
    let script = "
import sys, zlib, gzip
total = 0
data = gzip.open(sys.argv[1]).read()
starts = []
at = 0
while at < len(data):
    head = data.index(b'\\r\\n\\r\\n', at) + 4
    length = int(data[at:head].split(b'Content-Length: ')[1].split(b'\\r')[0])
    end = head + length + 4
    compressor = zlib.compressobj(6, zlib.DEFLATED, 31)
    total += len(compressor.compress(data[at:end])) + len(compressor.flush())
    at = end
print(total)";
    python(script, path).map(|size| size as u64)
}

/// Records per CPU second of FastWARC at its fastest: no HTTP parsing, no digests, payloads not touched.
const FASTWARC: &str = "
import sys, time, os
from fastwarc.warc import ArchiveIterator
path = sys.argv[1]
rounds = max(1, 20_000_000 // os.path.getsize(path)) if os.path.getsize(path) < 1_000_000 else 1
rounds = min(rounds, 200)
start = time.process_time()
records = 0
for _ in range(rounds):
    with open(path, 'rb') as stream:
        for record in ArchiveIterator(stream, parse_http=False):
            records += 1
print(records / (time.process_time() - start))";

fn ours(path: &Path) -> f64 {
    let size = fs::metadata(path).expect("there").len();
    let rounds = if size < 1_000_000 { (20_000_000 / size).clamp(1, 200) } else { 1 };
    let before = cpu_seconds();
    let mut records = 0;
    for _ in 0..rounds {
        let mut reader = warc::read(path).expect("opens");
        while reader.next().expect("readable").is_some() {
            records += 1;
        }
        assert!(!reader.damage().any());
    }
    f64::from(records) / (cpu_seconds() - before)
}

/// Both read every file once per round, one right after the other; the ratio is the median of the rounds' ratios, so
/// that what else the machine does weighs on both.
fn read_all(files: &[(&str, PathBuf)]) {
    println!(
        "\n{:<28}{:>12}{:>12}{:>10}{:>18}",
        "reading, records/CPU s", "pith", "fastwarc", "ratio", "least .. most"
    );
    let mut rounds = vec![(Vec::new(), Vec::new()); files.len()];
    for _ in 0..ROUNDS {
        for ((_, path), (mine, theirs)) in files.iter().zip(&mut rounds) {
            mine.push(ours(path));
            theirs.extend(python(FASTWARC, path));
        }
    }
    for ((name, _), (mine, theirs)) in files.iter().zip(rounds) {
        let mut ratios: Vec<f64> = mine.iter().zip(&theirs).map(|(mine, theirs)| mine / theirs).collect();
        let mine = median(mine);
        if ratios.len() < ROUNDS {
            println!("{name:<28}{mine:>12.0}{:>12}{:>10}{:>18}", "-", "-", "-");
            continue;
        }
        ratios.sort_by(f64::total_cmp);
        let spread = format!("{:.2} .. {:.2}", ratios[0], ratios[ROUNDS - 1]);
        println!("{name:<28}{mine:>12.0}{:>12.0}{:>10.2}{spread:>18}", median(theirs), median(ratios));
    }
}
