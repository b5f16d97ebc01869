//! `pith extract`: pages become documents.

use std::io::{Read, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use pith_corpus::manifest::Earlier;
use pith_corpus::warc::{Page, PageKind};
use pith_extractor::Method;

use super::corpus::{command_line, failure, jobs, print_counts};
use crate::batch::{self, Batch, Outcome, Scope, Settings};
use crate::exit::{Exit, Failure};
use crate::progress::{self, Progress};

/// The words of `pith extract`.
#[derive(clap::Args, Debug)]
#[command(before_help = "Examples:
  pith extract crawl --out docs
  pith extract page.html --sentences 3 --fields title,summary")]
pub struct Args {
    /// Crawl folders, archives (.warc, .warc.gz, .warc.zst, WET, ARC, WACZ) or .html files; `-` reads a page from stdin
    #[arg(value_name = "INPUT", required = true)]
    inputs: Vec<PathBuf>,

    /// The folder to write document shards to; running again goes on where the last run stopped. A single page is
    /// printed without it
    #[arg(long, value_name = "DOCS")]
    out: Option<PathBuf>,

    /// The ranking that makes the summary
    #[arg(long, value_name = "NAME", default_value = "pith", value_parser = method)]
    method: Method,

    /// Which text of a page is taken: everything that the seed's walk over its tags finds
    #[arg(long, value_enum, default_value_t = Scope::Page)]
    scope: Scope,

    /// Sentences in a summary; 0 leaves it out
    #[arg(long, value_name = "N", default_value_t = 3)]
    sentences: usize,

    /// Keep only these fields of a document
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    fields: Vec<String>,

    /// Keep only documents in these languages; `zh` keeps `zh-Hant` too
    #[arg(long, value_name = "TAGS", value_delimiter = ',')]
    languages: Vec<String>,

    /// The address of the page, for a single page
    #[arg(long, value_name = "URL", default_value = "")]
    url: String,

    /// Seconds after which a page is given up
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0)]
    time_limit: f64,

    /// Threads [default: one per core]
    #[arg(long, short, value_name = "N")]
    jobs: Option<NonZeroUsize>,

    /// Throw away what is in the folder when it was made with other settings
    #[arg(long)]
    redo: bool,

    /// Print the counts as JSON
    #[arg(long)]
    json: bool,

    /// Say nothing but errors
    #[arg(long, short)]
    quiet: bool,
}

fn method(name: &str) -> Result<Method, String> {
    let names = Method::ALL.map(Method::name).join(", ");
    Method::ALL.into_iter().find(|method| method.name() == name).ok_or(format!("one of {names}"))
}

/// Extracts a page to stdout, or any number of inputs to a folder.
pub fn run(args: Args) -> Result<Exit, Failure> {
    let settings = Settings {
        method: args.method,
        scope: args.scope,
        sentences: args.sentences,
        fields: args.fields.clone(),
        languages: args.languages.clone(),
    };
    match (&args.out, &args.inputs[..]) {
        (Some(out), inputs) => fill(out, inputs, &args, settings),
        (None, [input]) if is_page(input) => print_page(input, &args, &settings),
        (None, _) => {
            Err(Failure::usage("archives and folders need `--out DOCS`").hint("a single .html file or `-` is printed"))
        }
    }
}

fn fill(out: &Path, inputs: &[PathBuf], args: &Args, settings: Settings) -> Result<Exit, Failure> {
    progress::stop_on_interrupt()?;
    if !(args.time_limit > 0.0 && args.time_limit < 1e6) {
        return Err(Failure::usage("--time-limit takes seconds above zero"));
    }
    let inputs = batch::find(inputs)?;
    let progress = Progress::new("pages", args.quiet);
    let batch = Batch {
        out,
        command: command_line(),
        settings: settings.describe(),
        earlier: if args.redo { Earlier::Redo } else { Earlier::Refuse },
        jobs: jobs(args.jobs),
        time_limit: Duration::from_secs_f64(args.time_limit),
        progress: &progress,
    };
    let extract = move |page: &Page, shard: &str| batch::line(page, shard, &settings);
    let extracted = batch::run(&inputs, &batch, Arc::new(extract));
    progress.finish();
    let extracted = extracted.map_err(failure)?;
    for place in extracted.damage.iter().take(20) {
        progress.warn(format!("damaged: {place}"));
    }
    if extracted.was_done {
        progress.say(format!("{}: already done", out.display()));
    }
    print_counts(&extracted.manifest, args.json);
    let counts = &extracted.manifest.step.counts;
    let lost = counts.iter().any(|(name, count)| *count > 0 && (name == "damaged" || name.starts_with("failed.")));
    Ok(if lost { Exit::Losses } else { Exit::Done })
}

fn is_page(input: &Path) -> bool {
    input == Path::new("-") || input.extension().is_some_and(|ending| ending == "html" || ending == "htm")
}

fn print_page(input: &Path, args: &Args, settings: &Settings) -> Result<Exit, Failure> {
    let mut body = Vec::new();
    match input == Path::new("-") {
        true => std::io::stdin().lock().read_to_end(&mut body),
        false => std::fs::File::open(input).and_then(|mut file| file.read_to_end(&mut body)),
    }
    .map_err(|error| Failure::new(format!("{}: {error}", input.display())))?;
    let page = Page {
        kind: PageKind::Resource,
        url: args.url.clone(),
        fetched_at: None,
        status: None,
        headers: Vec::new(),
        body,
        is_whole: true,
        digest: None,
        offset: 0,
    };
    let name = input.file_name().unwrap_or_default().to_string_lossy();
    match batch::line(&page, &name, settings) {
        Outcome::Extracted(mut line) => {
            line.push(b'\n');
            match std::io::stdout().write_all(&line) {
                Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
                _ => Ok(Exit::Done),
            }
        }
        Outcome::Skipped(reason) => Err(Failure::new(format!("{}: skipped: {reason}", input.display()))),
        Outcome::Failed(reason) => Err(Failure::new(format!("{}: failed: {reason}", input.display()))),
    }
}
