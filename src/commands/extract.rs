//! `pith extract`: pages become documents.

use std::io::Read;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use pith_corpus::manifest::{Counts, ExistingOutput};
use pith_corpus::warc::Page;
#[cfg(feature = "rules")]
use pith_extractor::Rules;
use pith_extractor::{Comments, Favor, Method, Options, Scope};
use url::Url;

mod explain;

use super::corpus::{command_line, describe_counts, failure, jobs, print_counts};
use crate::batch::{self, Batch, DocumentForm, FIELD_NAMES, FileFormat, NameOf, Outcome, Settings};
use crate::exit::{Exit, Failure};
use crate::print;
use crate::progress::{self, Progress};

/// The arguments of `pith extract`.
#[derive(clap::Args, Debug)]
#[command(before_help = "Examples:
  pith extract crawl --out docs          every page of a crawl, as JSON lines
  pith extract a.warc.gz --out - | jq -r .title
  pith extract crawl --out site --format markdown
  pith extract page.html                 the main text of a saved page
  pith extract page.html --explain       why its summary is what it is")]
pub struct Args {
    /// Crawl folders, archives (.warc, .warc.gz, .warc.zst, WET, ARC, WACZ) or .html, .txt and .md files; `-`
    /// reads a page from stdin
    #[arg(value_name = "INPUT", required = true)]
    inputs: Vec<PathBuf>,

    /// The folder to write document shards to; running again goes on where the last run stopped. With `-`, JSON lines
    /// go to stdout. A single page is printed without it
    #[arg(long, value_name = "DOCS")]
    out: Option<PathBuf>,

    /// What the folder gets: document shards, or a file for every URL, `HOST/PATH.md` or `HOST/PATH.txt`
    #[arg(long, value_enum, default_value_t = FormatArg::Jsonl)]
    format: FormatArg,

    /// Of a URL with several versions take the newest alone
    #[arg(long)]
    latest: bool,

    /// The address that the files of a saved folder stood below [default: their `file://` addresses]
    #[arg(long, value_name = "URL")]
    base: Option<Url>,

    /// The ranking that makes the summary
    #[arg(long, value_name = "NAME", default_value = "pith", value_parser = method)]
    method: Method,

    /// Which text of a page is taken
    #[arg(long, value_enum, default_value_t = ScopeArg::Main)]
    scope: ScopeArg,

    /// What is more important where it is in doubt what belongs to the main content
    #[arg(long, value_enum, default_value_t = FavorArg::Balance)]
    favor: FavorArg,

    /// What becomes of readers' comments
    #[arg(long, value_enum, default_value_t = CommentsArg::Auto)]
    comments: CommentsArg,

    /// Write the main content as Markdown too; a single page is printed as Markdown
    #[arg(long)]
    markdown: bool,

    /// Leave the addresses of links out of the Markdown
    #[arg(long, requires = "markdown")]
    no_links: bool,

    /// Leave images out of the Markdown
    #[arg(long, requires = "markdown")]
    no_images: bool,

    /// Print a single page as plain text (the default)
    #[arg(long, conflicts_with_all = ["markdown", "json"])]
    text: bool,

    /// A TOML file with CSS selectors for the sites that need them: a table per domain with `content`, `drop`, `title`,
    /// `author` and `date`
    #[cfg(feature = "rules")]
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,

    /// Sentences in a summary; 0 leaves it out
    #[arg(long, value_name = "N", default_value_t = Options::PROGRAM_SENTENCES)]
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
    #[arg(long, value_name = "SECONDS", default_value_t = batch::TIME_LIMIT.as_secs_f64())]
    time_limit: f64,

    /// Threads [default: one per core]
    #[arg(long, short, value_name = "N")]
    jobs: Option<NonZeroUsize>,

    /// Replace the output in the folder when it was written with other settings
    #[arg(long)]
    redo: bool,

    /// Print a single page as one JSON object; with `--out`, the counts
    #[arg(long)]
    json: bool,

    /// Say nothing but errors
    #[arg(long, short)]
    quiet: bool,
}

/// What a folder gets.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum FormatArg {
    Jsonl,
    Markdown,
    Text,
}

impl FormatArg {
    fn file_format(self) -> Option<FileFormat> {
        match self {
            FormatArg::Jsonl => None,
            FormatArg::Markdown => Some(FileFormat::Markdown),
            FormatArg::Text => Some(FileFormat::Text),
        }
    }
}

/// What becomes of readers' comments.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CommentsArg {
    /// As the classifier judges them: mostly kept on forums, dropped elsewhere
    Auto,
    /// Kept everywhere
    Keep,
    /// Dropped everywhere
    Drop,
}

impl From<CommentsArg> for Comments {
    fn from(choice: CommentsArg) -> Comments {
        match choice {
            CommentsArg::Auto => Comments::ByPageType,
            CommentsArg::Keep => Comments::Keep,
            CommentsArg::Drop => Comments::Drop,
        }
    }
}

/// What is more important where the classifier is in doubt.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum FavorArg {
    /// That what is kept is content
    Precision,
    /// That all content is kept
    Recall,
    /// Both: the best expected F1
    Balance,
}

impl From<FavorArg> for Favor {
    fn from(choice: FavorArg) -> Favor {
        match choice {
            FavorArg::Precision => Favor::Precision,
            FavorArg::Recall => Favor::Recall,
            FavorArg::Balance => Favor::Balance,
        }
    }
}

/// Which text of a page is taken.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum ScopeArg {
    /// The main content
    Main,
    /// Everything that a walk over the page's tags finds: paragraphs, headings, links, spans and divisions
    Page,
}

impl From<ScopeArg> for Scope {
    fn from(choice: ScopeArg) -> Scope {
        match choice {
            ScopeArg::Main => Scope::Main,
            ScopeArg::Page => Scope::Page,
        }
    }
}

fn method(name: &str) -> Result<Method, String> {
    let names = Method::ALL.map(Method::name).join(", ");
    Method::ALL.into_iter().find(|method| method.name() == name).ok_or(format!("one of {names}"))
}

/// Extracts a page to stdout, or any number of inputs to a folder.
pub fn run(args: Args) -> Result<Exit, Failure> {
    check_fields(&args.fields)?;
    let options = Options {
        content_type: None,
        favor: args.favor.into(),
        comments: args.comments.into(),
        markdown: args.markdown || args.format == FormatArg::Markdown,
        omit_links: args.no_links,
        omit_images: args.no_images,
        #[cfg(feature = "rules")]
        rules: args.rules.as_deref().map(read_rules).transpose()?,
        #[cfg(not(feature = "rules"))]
        rules: None,
        scope: args.scope.into(),
        method: args.method,
        sentences: args.sentences,
    };
    let settings = Settings { options, fields: args.fields.clone(), languages: args.languages.clone() };
    if let Some(missing) = args.inputs.iter().find(|input| *input != Path::new("-") && !input.exists()) {
        return Err(not_there(missing));
    }
    if !(args.time_limit > 0.0 && args.time_limit < 1e6) {
        return Err(Failure::usage("--time-limit takes seconds above zero"));
    }
    match (&args.out, &args.inputs[..]) {
        (Some(out), inputs) if out == Path::new("-") => print_lines(inputs, &args, settings),
        (Some(out), inputs) => fill(out, inputs, &args, settings),
        (None, _) if args.format != FormatArg::Jsonl => {
            Err(Failure::usage("--format writes files to a folder").hint("name it with `--out DIR`"))
        }
        (None, [input]) if is_page(input) => print_page(input, &args, &settings),
        (None, _) => Err(Failure::usage("archives and folders need `--out DOCS`")
            .hint("`--out -` prints JSON lines, `pith text` prints text; a single .html file or `-` is printed")),
    }
}

/// A path that leads nowhere; what looks like a URL is for other commands.
fn not_there(path: &Path) -> Failure {
    let text = path.to_string_lossy();
    let hint = match text.starts_with("http://") || text.starts_with("https://") {
        true => "`pith text URL` fetches a page, `pith crawl URL --out crawl` many",
        false => "give page shards, a crawl folder, archives or saved pages",
    };
    Failure::new(format!("{text}: no such file or folder")).hint(hint)
}

/// A name that no document has would give empty documents.
pub(super) fn check_fields(fields: &[String]) -> Result<(), Failure> {
    match fields.iter().find(|field| !FIELD_NAMES.contains(field)) {
        Some(unknown) => Err(Failure::usage(format!("--fields: documents have no field {unknown:?}"))
            .hint(format!("the fields are {}", FIELD_NAMES.join(", ")))),
        None => Ok(()),
    }
}

/// Which pages are versions of one another, where only the newest is wanted.
fn version_name(args: &Args) -> Option<Box<NameOf>> {
    match args.format.file_format() {
        Some(format) => Some(Box::new(move |page: &Page| batch::file_name(&page.url, format))),
        None if args.latest => Some(Box::new(|page: &Page| page.url.clone())),
        None => None,
    }
}

/// Prints the documents of any inputs as JSON lines.
fn print_lines(inputs: &[PathBuf], args: &Args, settings: Settings) -> Result<Exit, Failure> {
    if args.format != FormatArg::Jsonl {
        return Err(Failure::usage("--format needs a folder").hint("`pith text` prints text or Markdown"));
    }
    let sources = batch::find(inputs, args.base.as_ref())?;
    let progress = Progress::new("pages", args.quiet);
    let extract = move |page: &Page, shard: &str| batch::line(page, shard, &settings);
    let one_page_per = version_name(args);
    let streamed = batch::stream(
        &sources,
        jobs(args.jobs),
        Duration::from_secs_f64(args.time_limit),
        one_page_per.as_deref(),
        &progress,
        Arc::new(extract),
        |line| print::line(line).map_err(batch_stdout),
    );
    progress.finish();
    let streamed = streamed.map_err(failure)?;
    streamed.damage.iter().take(20).for_each(|line| progress.warn(format!("damaged: {line}")));
    progress.say(describe_counts(&streamed.counts));
    Ok(exit_for(&streamed.counts))
}

/// The error of a stdout that cannot be written.
pub(super) fn batch_stdout(source: std::io::Error) -> pith_corpus::Error {
    pith_corpus::Error::Io { path: "standard output".into(), action: "write", source }
}

/// Whether pages were lost that could have been documents.
pub(super) fn exit_for(counts: &Counts) -> Exit {
    let lost = counts.iter().any(|(name, count)| *count > 0 && (name == "damaged" || name.starts_with("failed.")));
    if lost { Exit::Losses } else { Exit::Done }
}

#[cfg(feature = "rules")]
pub(super) fn read_rules(path: &Path) -> Result<Arc<Rules>, Failure> {
    let named = |problem: String| Failure::usage(format!("{}: {problem}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| named(error.to_string()))?;
    let hint = "a site is written `[\"example.com\"]`, then `content = [\"article .body\"]`, `title = \"h1\"`";
    Rules::parse(&text).map(Arc::new).map_err(|bad| named(in_words(&bad.to_string())).hint(hint))
}

/// A message with the names of a library's variants as words: `NoQualifiedName(…)` is `no qualified name`.
#[cfg(feature = "rules")]
fn in_words(message: &str) -> String {
    let is_name = |word: &str| {
        word.starts_with(char::is_uppercase)
            && word.chars().all(char::is_alphanumeric)
            && word.chars().filter(|letter| letter.is_uppercase()).count() > 1
    };
    let Some((before, kind)) = message.rsplit_once(": ") else { return message.to_owned() };
    let name = kind.split('(').next().unwrap_or_default();
    if !is_name(name) {
        return message.to_owned();
    }
    let mut words = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.extend(letter.to_lowercase());
    }
    format!("{before}: {words}")
}

fn fill(out: &Path, inputs: &[PathBuf], args: &Args, settings: Settings) -> Result<Exit, Failure> {
    progress::stop_on_interrupt()?;
    let sources = batch::find(inputs, args.base.as_ref())?;
    let progress = Progress::new("pages", args.quiet);
    let one_page_per = version_name(args);
    let mut described = settings.describe();
    let file_format = args.format.file_format();
    if let Some(format) = file_format {
        described["format"] = format.ending().into();
    }
    if args.latest {
        described["latest"] = true.into();
    }
    let batch = Batch {
        out,
        command: command_line(),
        settings: described,
        existing: if args.redo { ExistingOutput::Replace } else { ExistingOutput::Refuse },
        jobs: jobs(args.jobs),
        time_limit: Duration::from_secs_f64(args.time_limit),
        form: if file_format.is_some() { DocumentForm::Files } else { DocumentForm::Lines },
        one_page_per: one_page_per.as_deref(),
        progress: &progress,
    };
    let extract = move |page: &Page, shard: &str| match file_format {
        Some(format) => batch::document_file(page, &settings, format),
        None => batch::line(page, shard, &settings),
    };
    let extracted = batch::run(&sources, &batch, Arc::new(extract));
    progress.finish();
    let extracted = extracted.map_err(failure)?;
    for line in extracted.damage.iter().take(20) {
        progress.warn(format!("damaged: {line}"));
    }
    if extracted.was_already_done {
        progress.say(format!("{}: already done", out.display()));
    }
    print_counts(&extracted.manifest, args.json)?;
    Ok(exit_for(&extracted.manifest.step.counts))
}

fn is_page(input: &Path) -> bool {
    input == Path::new("-") || batch::file_media_type(input).is_some()
}

fn print_page(input: &Path, args: &Args, settings: &Settings) -> Result<Exit, Failure> {
    let page = page_of_file(input, args.url.clone())?;
    let printed = if args.explain {
        let (extraction, options) = batch::extract_page(&page, settings);
        let explained = extraction.explain(&options);
        if args.json { serde_json::to_vec(&explained)? } else { explain::tables(&explained).into_bytes() }
    } else if args.json || !args.fields.is_empty() {
        let name = input.file_name().unwrap_or_default().to_string_lossy();
        match batch::line(&page, &name, settings) {
            Outcome::Skipped(reason) => {
                return Err(Failure::new(format!("{}: skipped: {reason}", input.display())));
            }
            Outcome::Failed(reason) => return Err(Failure::new(format!("{}: failed: {reason}", input.display()))),
            Outcome::Extracted(line) => line,
            Outcome::File(document) => document.content,
        }
    } else {
        let document = batch::extract_page(&page, settings).0.document;
        if args.markdown { document.markdown.into_bytes() } else { document.text.into_bytes() }
    };
    print::bytes(&printed)?;
    outln!();
    Ok(Exit::Done)
}

/// A page from a file, or from stdin for `-`.
pub(super) fn page_of_file(input: &Path, url: String) -> Result<Page, Failure> {
    let mut body = Vec::new();
    match input == Path::new("-") {
        true => std::io::stdin().lock().read_to_end(&mut body),
        false => std::fs::File::open(input).and_then(|mut file| file.read_to_end(&mut body)),
    }
    .map_err(|error| Failure::new(format!("{}: {error}", input.display())))?;
    // The encoding of a page of HTML is in its text; of stdin nothing is known.
    let media_type = batch::file_media_type(input).filter(|media_type| *media_type != "text/html");
    let headers = media_type.map(|media_type| ("Content-Type".into(), media_type.as_bytes().to_vec()));
    Ok(batch::page_at_hand(url, headers.into_iter().collect(), body))
}
