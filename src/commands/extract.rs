//! `pith extract`: pages become documents.

use std::io::{IsTerminal, Read, Write};
use std::path::PathBuf;

use pith_extractor::{Comments, Document, Options, extract};
use url::Url;

use crate::exit::{Exit, Failure};

/// The words of `pith extract`.
#[derive(clap::Args, Debug)]
#[command(
    before_help = "Examples:\n  pith extract page.html                  the main text of a saved page\n  curl -s https://example.org/ | pith extract - --url https://example.org/ --json"
)]
pub struct Args {
    /// A saved page, or `-` for standard input
    #[arg(value_name = "INPUT", required = true)]
    pub input: PathBuf,

    /// Where the page came from; makes its links absolute
    #[arg(long, value_name = "URL")]
    pub url: Option<Url>,

    /// Print the whole document as one JSON object
    #[arg(long, conflicts_with_all = ["markdown", "text"])]
    pub json: bool,

    /// Print the main content as Markdown
    #[arg(long, conflicts_with = "text")]
    pub markdown: bool,

    /// Print the main content as plain text (the default)
    #[arg(long)]
    pub text: bool,

    /// What becomes of readers' comments
    #[arg(long, value_enum, default_value_t = CommentsChoice::Auto)]
    pub comments: CommentsChoice,
}

/// What becomes of readers' comments.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommentsChoice {
    /// Kept on forums, dropped elsewhere
    Auto,
    /// Kept everywhere
    Keep,
    /// Dropped everywhere
    Drop,
}

/// Reads one page and prints it.
pub fn run(args: Args) -> Result<Exit, Failure> {
    let bytes = read(&args.input)?;
    let options = Options {
        comments: match args.comments {
            CommentsChoice::Auto => Comments::ByPageType,
            CommentsChoice::Keep => Comments::Keep,
            CommentsChoice::Drop => Comments::Drop,
        },
        markdown: args.markdown,
        ..Options::default()
    };
    let document = extract(&bytes, args.url.as_ref(), &options);
    print(&args, &document)?;
    Ok(Exit::Done)
}

fn read(input: &PathBuf) -> Result<Vec<u8>, Failure> {
    if input.as_os_str() == "-" {
        if std::io::stdin().is_terminal() {
            eprintln!("reading a page from the terminal; end it with Ctrl-D");
        }
        let mut bytes = Vec::new();
        std::io::stdin().read_to_end(&mut bytes).map_err(|error| Failure::new(format!("standard input: {error}")))?;
        return Ok(bytes);
    }
    std::fs::read(input).map_err(|error| {
        Failure::new(format!("{}: {error}", input.display())).hint("give a saved page, or `-` to read one from a pipe")
    })
}

fn print(args: &Args, document: &Document) -> Result<(), Failure> {
    let mut text = match (args.json, args.markdown) {
        (true, _) => serde_json::to_string(document)?,
        (_, true) => document.markdown.clone(),
        _ => document.text.clone(),
    };
    text.push('\n');
    match std::io::stdout().write_all(text.as_bytes()) {
        // A reader that has seen enough closes the pipe; that is not an error.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other?),
    }
}
