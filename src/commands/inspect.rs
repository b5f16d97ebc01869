//! `pith inspect`: what is in archives, and one record of them.

use std::io::{self, IsTerminal};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use pith_corpus::warc::{self, Reader, ReaderOptions, Reason, Summary};

use crate::exit::{Exit, Failure};

mod outcomes;
mod record;
mod report;

/// The arguments of `pith inspect`.
#[derive(clap::Args, Debug)]
#[command(
    before_help = "Examples:\n  pith inspect crawl                                    count what a crawl holds\n  \
                   pith inspect x.warc.gz --url http://example.com/ --headers  show the headers of one page\n  \
                   pith inspect crawl --outcomes not-found               list the URLs that were not found",
    after_help = "Reads .warc, .warc.gz, .warc.zst, .warc.lz4, WET, WAT, ARC and WACZ. Exit code 3: something was damaged, \
                  and is counted."
)]
pub struct Args {
    /// Archives, folders of them, or `-` for standard input
    #[arg(required = true, value_name = "FILE|DIR")]
    pub inputs: Vec<PathBuf>,

    /// Show the record of this URL
    #[arg(long, value_name = "URL", conflicts_with = "record")]
    pub url: Option<String>,

    /// Show the record of this number, counted from 1
    #[arg(long, value_name = "N")]
    pub record: Option<NonZeroUsize>,

    /// Show the record as it is stored (the default)
    #[arg(long, group = "view")]
    pub raw: bool,

    /// Show only its headers
    #[arg(long, group = "view")]
    pub headers: bool,

    /// Show only its text: of HTML the main content, of anything else the body
    #[arg(long, group = "view")]
    pub text: bool,

    /// List what became of the URLs of a crawl, from its log: all of them, those with an outcome such as `not-found`, or
    /// with a status such as 404
    #[arg(long, value_name = "OUTCOME", num_args = 0..=1, default_missing_value = "all", conflicts_with_all = ["url", "record", "view"])]
    pub outcomes: Option<String>,

    /// Print one JSON object, or one for each URL with `--outcomes`
    #[arg(long)]
    pub json: bool,

    /// How many threads read
    #[arg(long, value_name = "N")]
    pub threads: Option<NonZeroUsize>,
}

/// Counts what is there, or shows one record.
pub fn run(args: Args) -> Result<Exit, Failure> {
    if args.url.is_none() && args.record.is_none() && (args.raw || args.headers || args.text) {
        return Err(Failure::usage("`--raw`, `--headers` and `--text` show one record")
            .hint("choose it with `--record N` or `--url URL`"));
    }
    if let Some(wanted) = &args.outcomes {
        return outcomes::list(&args, wanted);
    }
    let files = files(&args.inputs)?;
    if args.url.is_some() || args.record.is_some() {
        return record::show(&args, &files);
    }
    let threads = args.threads.or_else(|| std::thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get);
    let inspected = count(&files, threads)?;
    if args.json {
        outln!("{}", report::json(&inspected));
    } else {
        out!("{}", report::table(&inspected));
    }
    if inspected.summary.damage.any() {
        sayln!("{} damaged places were stepped over", inspected.summary.damage.n_damaged);
        return Ok(Exit::Losses);
    }
    Ok(Exit::Done)
}

/// What was found in all files.
pub struct Inspected {
    files: usize,
    bytes: u64,
    /// Open shards that end inside a record: their crawl is running or was stopped, and no committed page is lost.
    unfinished: u64,
    summary: Summary,
    /// The first damaged places with their files.
    damage_entries: Vec<(PathBuf, u64, Reason)>,
}

/// The archives among the inputs: files as they are, folders searched.
fn files(inputs: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    for input in inputs {
        if input.is_dir() {
            let before = files.len();
            search(input, &mut files)?;
            if files.len() == before {
                return Err(Failure::new(format!("{}: no archives in this folder", input.display()))
                    .hint("archives are named .warc, .warc.gz, .warc.zst, .warc.lz4, .arc, .arc.gz or .wacz"));
            }
        } else {
            files.push(input.clone());
        }
    }
    Ok(files)
}

fn search(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let failure = |error| Failure::new(format!("{}: cannot list: {error}", folder.display()));
    let mut paths = std::fs::read_dir(folder)
        .and_then(|entries| entries.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<Vec<_>>>())
        .map_err(failure)?;
    paths.sort();
    for path in paths {
        if path.is_dir() {
            search(&path, files)?;
        } else if is_archive(&path) {
            files.push(path);
        }
    }
    Ok(())
}

fn is_archive(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let name = name.strip_suffix(".open").unwrap_or(&name);
    let name = [".gz", ".zst", ".lz4"].iter().find_map(|packed| name.strip_suffix(packed)).unwrap_or(name);
    [".warc", ".wet", ".wat", ".arc", ".wacz"].iter().any(|ending| name.ends_with(ending))
}

/// Opens a file, or standard input.
fn open(path: &Path) -> pith_corpus::Result<Reader> {
    if path == Path::new("-") {
        return Reader::from_stream(Box::new(io::stdin()), "standard input", ReaderOptions::default());
    }
    warc::read(path)
}

/// Counts all files, on several threads where files or their indexes allow it.
fn count(files: &[PathBuf], threads: usize) -> Result<Inspected, Failure> {
    let mut tasks = Vec::new();
    let mut bytes = 0;
    for path in files {
        if path == Path::new("-") {
            tasks.push((path, 0..u64::MAX));
            continue;
        }
        let size = std::fs::metadata(path).map_err(|error| Failure::new(format!("{}: {error}", path.display())))?.len();
        bytes += size;
        // Small files are not worth splitting.
        let parts = if size > 8_000_000 && threads > 1 { threads * 4 } else { 1 };
        tasks.extend(warc::parts(path, parts)?.into_iter().map(|part| (path, part)));
    }
    let next = std::sync::atomic::AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let index = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let Some((path, part)) = tasks.get(index) else { return done };
            done.push((index, count_part(path, part.clone())));
        }
    };
    let mut counted = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.min(tasks.len())).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("counting does not panic")).collect::<Vec<_>>()
    });
    counted.sort_by_key(|(index, _)| *index);
    let mut inspected =
        Inspected { files: files.len(), bytes, unfinished: 0, summary: Summary::default(), damage_entries: Vec::new() };
    for (index, summary) in counted {
        let (path, mut summary) = (tasks[index].0, summary?);
        let is_open = path.extension().is_some_and(|extension| extension == "open");
        if is_open && summary.damage.last_reason() == Some(Reason::Torn) {
            summary.damage.remove_last();
            inspected.unfinished += 1;
        }
        let damage_entries = summary.damage.first.iter().map(|entry| (path.clone(), entry.offset, entry.reason));
        inspected.damage_entries.extend(damage_entries.take(64_usize.saturating_sub(inspected.damage_entries.len())));
        inspected.summary.add(summary);
    }
    Ok(inspected)
}

fn count_part(path: &Path, part: std::ops::Range<u64>) -> pith_corpus::Result<Summary> {
    let mut reader = match part {
        std::ops::Range { start: 0, end: u64::MAX } => open(path)?,
        part => Reader::open_part(path, part, ReaderOptions::default())?,
    };
    let mut summary = Summary::default();
    while let Some(record) = reader.next()? {
        summary.count(&record);
    }
    summary.damage = reader.damage().clone();
    Ok(summary)
}

/// Writes bytes as they are to a pipe or file; on a terminal, control characters are shown instead of obeyed.
fn print(bytes: &[u8]) -> Result<(), Failure> {
    if !io::stdout().is_terminal() {
        return crate::print::bytes(bytes);
    }
    let text = String::from_utf8_lossy(bytes).replace("\r\n", "\n");
    let shown: String = text
        .chars()
        .flat_map(|letter| match letter {
            '\n' | '\t' => vec![letter],
            letter if letter.is_control() => letter.escape_default().collect(),
            letter => vec![letter],
        })
        .collect();
    crate::print::bytes(shown.as_bytes())
}
