//! `pith extract`: pages become documents.

use std::io::{Read, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use pith_corpus::manifest::Earlier;
use pith_corpus::warc::{Page, PageKind};
use pith_extractor::{Comments, Method, Rules};

mod explain;

use super::corpus::{command_line, failure, jobs, print_counts};
use crate::batch::{self, Batch, Outcome, Scope, Settings};
use crate::exit::{Exit, Failure};
use crate::progress::{self, Progress};

/// The words of `pith extract`.
#[derive(clap::Args, Debug)]
#[command(before_help = "Examples:
  pith extract crawl --out docs          every page of a crawl, as JSON lines
  pith extract page.html                 the main text of a saved page
  pith extract page.html --explain       why its summary is what it is")]
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

    /// Which text of a page is taken
    #[arg(long, value_enum, default_value_t = Scope::Main)]
    scope: Scope,

    /// What becomes of readers' comments
    #[arg(long, value_enum, default_value_t = CommentsChoice::Auto)]
    comments: CommentsChoice,

    /// Write the main content as Markdown too; a single page is printed as Markdown
    #[arg(long)]
    markdown: bool,

    /// Print a single page as plain text (the default)
    #[arg(long, conflicts_with_all = ["markdown", "json"])]
    text: bool,

    /// A TOML file with CSS selectors for the sites that need them: a table per domain with `content`, `drop`, `title`,
    /// `author` and `date`
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,

    /// Sentences in a summary; 0 leaves it out
    #[arg(long, value_name = "N", default_value_t = 3)]
    sentences: usize,

    /// Print how the summary of a single page came about: word weights, sentence scores, picks; with `--json`, as JSON
    #[arg(long, conflicts_with_all = ["out", "markdown", "text", "fields"])]
    explain: bool,

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

    /// Print a single page as one JSON object; with `--out`, the counts
    #[arg(long)]
    json: bool,

    /// Say nothing but errors
    #[arg(long, short)]
    quiet: bool,
}

/// What becomes of readers' comments.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum CommentsChoice {
    /// As the classifier judges them: mostly kept on forums, dropped elsewhere
    Auto,
    /// Kept everywhere
    Keep,
    /// Dropped everywhere
    Drop,
}

impl From<CommentsChoice> for Comments {
    fn from(choice: CommentsChoice) -> Comments {
        match choice {
            CommentsChoice::Auto => Comments::ByPageType,
            CommentsChoice::Keep => Comments::Keep,
            CommentsChoice::Drop => Comments::Drop,
        }
    }
}

fn method(name: &str) -> Result<Method, String> {
    let names = Method::ALL.map(Method::name).join(", ");
    Method::ALL.into_iter().find(|method| method.name() == name).ok_or(format!("one of {names}"))
}

/// Extracts a page to stdout, or any number of inputs to a folder.
pub fn run(args: Args) -> Result<Exit, Failure> {
    let settings = Settings {
        comments: args.comments.into(),
        markdown: args.markdown,
        method: args.method,
        scope: args.scope,
        sentences: args.sentences,
        fields: args.fields.clone(),
        languages: args.languages.clone(),
        rules: args.rules.as_deref().map(read_rules).transpose()?,
    };
    if let Some(missing) = args.inputs.iter().find(|input| *input != Path::new("-") && !input.exists()) {
        return Err(Failure::new(format!("{}: no such file or folder", missing.display()))
            .hint("give page shards, a crawl folder, archives or saved pages"));
    }
    match (&args.out, &args.inputs[..]) {
        (Some(out), inputs) => fill(out, inputs, &args, settings),
        (None, [input]) if is_page(input) => print_page(input, &args, &settings),
        (None, _) => {
            Err(Failure::usage("archives and folders need `--out DOCS`").hint("a single .html file or `-` is printed"))
        }
    }
}

fn read_rules(path: &Path) -> Result<Arc<Rules>, Failure> {
    let named = |problem: String| Failure::usage(format!("{}: {problem}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| named(error.to_string()))?;
    let hint = "a site is written `[\"example.com\"]`, then `content = [\"article .body\"]`, `title = \"h1\"`";
    Rules::parse(&text).map(Arc::new).map_err(|bad| named(bad.to_string()).hint(hint))
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
    let printed = if args.explain {
        let explained = batch::explain_page(&page, settings);
        if args.json { serde_json::to_vec(&explained)? } else { explain::tables(&explained).into_bytes() }
    } else if args.json || !args.fields.is_empty() {
        let name = input.file_name().unwrap_or_default().to_string_lossy();
        match batch::line(&page, &name, settings) {
            Outcome::Extracted(line) => line,
            Outcome::Skipped(reason) => {
                return Err(Failure::new(format!("{}: skipped: {reason}", input.display())));
            }
            Outcome::Failed(reason) => return Err(Failure::new(format!("{}: failed: {reason}", input.display()))),
        }
    } else {
        let document = batch::extract_page(&page, settings);
        if args.markdown { document.markdown.into_bytes() } else { document.text.into_bytes() }
    };
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(&printed).and_then(|()| stdout.write_all(b"\n")) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(Exit::Done),
    }
}
