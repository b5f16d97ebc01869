//! `pith text`: from a page to its text, in one command.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use pith_corpus::warc::Page;
use pith_crawler::{Identity, Network, Override, canonicalize, parse_seed};
use pith_extractor::Options;
use url::Url;

use super::corpus::{failure, jobs};
use super::crawl::{duration, user_agent};
use super::extract::{CommentsArg, batch_stdout, check_fields, exit_for, page_of_file};
use crate::batch::{self, Outcome, Settings, Source};
use crate::exit::{Exit, Failure};
use crate::fetch::{FetchOptions, fetch};
use crate::print;
use crate::progress::Progress;

/// The arguments of `pith text`.
#[derive(clap::Args, Debug)]
#[command(before_help = "Examples:
  pith text https://example.org/story
  pith text page.html saved-site/ a.warc.gz --markdown
  pith text https://example.org/ --json | jq -r .title")]
pub struct Args {
    /// URLs, saved pages, folders of them, archives, crawls; `-` reads a page from stdin
    #[arg(value_name = "URL|FILE", required = true)]
    inputs: Vec<String>,

    /// Print Markdown: headings, lists, tables and code as such
    #[arg(long, short, conflicts_with = "json")]
    markdown: bool,
    /// Leave the addresses of links out of the Markdown
    #[arg(long)]
    no_links: bool,
    /// Leave images out of the Markdown
    #[arg(long)]
    no_images: bool,
    /// Print whole documents as JSON lines
    #[arg(long)]
    json: bool,
    /// Keep only these fields of a document, with `--json`
    #[arg(long, value_name = "NAMES", value_delimiter = ',', requires = "json")]
    fields: Vec<String>,
    /// What becomes of readers' comments
    #[arg(long, value_enum, default_value_t = CommentsArg::Auto)]
    comments: CommentsArg,
    /// A TOML file with CSS selectors for the sites that need them
    #[cfg(feature = "rules")]
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,
    /// The address of the page on stdin, or that the files of a saved folder stood below
    #[arg(long, value_name = "URL")]
    base: Option<Url>,

    /// The name that the program goes by
    #[arg(long, value_name = "NAME", default_value = user_agent())]
    user_agent: String,
    /// How to reach you, for the User-Agent header: a URL or a mail address
    #[arg(long, value_name = "URL")]
    contact: Option<String>,
    /// Fetch what robots.txt forbids; only for your own hosts
    #[arg(long)]
    ignore_robots: bool,
    /// Give an answer up after this long
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = duration)]
    timeout: Duration,
    /// How often a URL is tried
    #[arg(long, default_value_t = 1, value_name = "N")]
    attempts: u8,
    /// Connect to an address for a host, or for every host with *: HOST=ADDRESS:PORT
    #[arg(long, value_name = "HOST=ADDRESS:PORT")]
    resolve: Vec<Override>,
    /// Connect to addresses that are not public
    #[arg(long)]
    allow_private: bool,
    /// Send everything through a proxy: http://, https:// or socks5://
    #[arg(long, value_name = "URL")]
    proxy: Option<String>,

    /// Threads [default: one per core]
    #[arg(long, short, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Say nothing but errors
    #[arg(long, short)]
    quiet: bool,
}

/// What is printed between two texts, as `pdftotext` does between pages.
const FORM_FEED: &[u8] = b"\x0c";

/// Prints the text of everything that was named: pages of URLs first, then those of files.
pub fn run(args: Args) -> Result<Exit, Failure> {
    check_fields(&args.fields)?;
    let settings = Arc::new(settings(&args)?);
    let mut printer = Printer { n_printed: 0, parts: !args.json };
    let mut exit = Exit::Done;
    let (urls, files): (Vec<&String>, Vec<&String>) = args.inputs.iter().partition(|input| is_url(input));
    if !urls.is_empty() {
        exit = exit.worse(print_urls(&urls, &args, &settings, &mut printer)?);
    }
    if !files.is_empty() {
        exit = exit.worse(print_files(&files, &args, settings, &mut printer)?);
    }
    Ok(exit)
}

fn is_url(input: &str) -> bool {
    let scheme = input.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
    matches!(scheme.as_deref(), Some("http" | "https"))
}

fn settings(args: &Args) -> Result<Settings, Failure> {
    let options = Options {
        comments: args.comments.into(),
        markdown: args.markdown || args.fields.iter().any(|field| field == "markdown"),
        omit_links: args.no_links,
        omit_images: args.no_images,
        #[cfg(feature = "rules")]
        rules: args.rules.as_deref().map(super::extract::read_rules).transpose()?,
        sentences: if args.json { Options::PROGRAM_SENTENCES } else { 0 },
        ..Options::default()
    };
    Ok(Settings { options, fields: args.fields.clone(), languages: Vec::new() })
}

fn print_urls(texts: &[&String], args: &Args, settings: &Settings, printer: &mut Printer) -> Result<Exit, Failure> {
    let parse = |text: &&String| {
        parse_seed(text)
            .and_then(canonicalize)
            .ok_or_else(|| Failure::usage(format!("{text:?} is not an http or https URL")))
    };
    let urls = texts.iter().map(parse).collect::<Result<Vec<Url>, _>>()?;
    let network = Network {
        overrides: args.resolve.clone(),
        allow_private: args.allow_private,
        proxy: args.proxy.clone(),
        ..Network::default()
    };
    let options = FetchOptions {
        identity: Identity::new(&args.user_agent, args.contact.as_deref()),
        network,
        robots: !args.ignore_robots,
        timeout: args.timeout,
        attempts: args.attempts.max(1),
    };
    let (pages, report) = fetch(&urls, options)?;
    for page in &pages {
        match document(page, "", args, settings) {
            Outcome::Extracted(text) => printer.put(&text).map_err(|error| Failure::stdout(&error))?,
            Outcome::Skipped(reason) => sayln!("{}: skipped: {reason}", page.url),
            Outcome::Failed(reason) => sayln!("{}: failed: {reason}", page.url),
            Outcome::File(_) => {}
        }
    }
    if pages.len() >= urls.len() {
        return Ok(Exit::Done);
    }
    let left_out = report.outcomes.iter().filter(|(name, _)| !matches!(**name, "stored" | "redirected"));
    let reasons: Vec<String> = left_out.map(|(name, count)| format!("{count} {name}")).collect();
    let reasons = reasons.join(", ");
    if pages.is_empty() {
        let what = if urls.len() == 1 { urls[0].to_string() } else { format!("{} URLs", urls.len()) };
        return Err(with_hint(Failure::new(format!("{what}: no page ({reasons})")), &reasons));
    }
    sayln!("{} of {} URLs gave no page ({reasons})", urls.len() - pages.len(), urls.len());
    Ok(Exit::Losses)
}

fn with_hint(failure: Failure, reasons: &str) -> Failure {
    if reasons.contains("blocked-address") {
        failure.hint("`--allow-private` reaches addresses that are not public")
    } else if reasons.contains("disallowed") {
        failure.hint("its robots.txt forbids it; `--ignore-robots` is for your own hosts")
    } else {
        failure.hint("check that the URL opens in a browser")
    }
}

fn print_files(
    names: &[&String],
    args: &Args,
    settings: Arc<Settings>,
    printer: &mut Printer,
) -> Result<Exit, Failure> {
    let mut paths = Vec::new();
    for name in names {
        if *name == "-" {
            let page = page_of_file(Path::new("-"), args.base.as_ref().map_or(String::new(), Url::to_string))?;
            if let Outcome::Extracted(text) = document(&page, "-", args, &settings) {
                printer.put(&text).map_err(|error| Failure::stdout(&error))?;
            }
            continue;
        }
        if !Path::new(name).exists() {
            return Err(
                Failure::new(format!("{name}: no such file or folder")).hint("a URL begins with http:// or https://")
            );
        }
        paths.push(PathBuf::from(name));
    }
    if paths.is_empty() {
        return Ok(Exit::Done);
    }
    let sources: Vec<Source> = batch::find(&paths, args.base.as_ref())?;
    // Text goes to the terminal: progress would stand between its lines.
    let progress = Progress::new("pages", true);
    let (json, markdown) = (args.json, args.markdown);
    let extract = move |page: &Page, shard: &str| document_as(page, shard, json, markdown, &settings);
    let put = |text: &[u8]| printer.put(text).map_err(batch_stdout);
    let streamed = batch::stream(&sources, jobs(args.jobs), batch::TIME_LIMIT, None, &progress, Arc::new(extract), put);
    let streamed = streamed.map_err(failure)?;
    if !args.quiet {
        streamed.damage.iter().take(20).for_each(|line| sayln!("damaged: {line}"));
    }
    if printer.n_printed == 0 {
        let counts = super::corpus::describe_counts(&streamed.counts);
        return Err(Failure::new(format!("no page has text ({counts})")));
    }
    Ok(exit_for(&streamed.counts))
}

fn document(page: &Page, shard: &str, args: &Args, settings: &Settings) -> Outcome {
    document_as(page, shard, args.json, args.markdown, settings)
}

/// A page as it is printed.
fn document_as(page: &Page, shard: &str, json: bool, markdown: bool, settings: &Settings) -> Outcome {
    if json {
        return batch::line(page, shard, settings);
    }
    let document = batch::extract_page(page, settings).0.document;
    if document.error_page {
        return Outcome::Skipped("error-page".into());
    }
    Outcome::Extracted(if markdown { document.markdown.into_bytes() } else { document.text.into_bytes() })
}

/// Prints one text after the other.
struct Printer {
    n_printed: u64,
    /// Whether a form feed stands between two texts.
    parts: bool,
}

impl Printer {
    fn put(&mut self, text: &[u8]) -> std::io::Result<()> {
        if self.parts && self.n_printed > 0 {
            print::line(FORM_FEED)?;
        }
        self.n_printed += 1;
        print::line(text)
    }
}
