//! `pith eval answer`: pith as a peer of other harnesses, and of our own.

use std::io::BufRead;

use pith_eval::clock::{peak_rss_mb, thread_seconds};
use pith_extractor::{Options, extract};
use serde::Deserialize;
use url::Url;

use crate::commands::extract::FavorArg;
use crate::exit::{Exit, Failure};

/// Answer each {id, url, html} on stdin with {id, text, title, author, published, seconds, …} on stdout.
///
/// `seconds` is processor time around the reading of the page alone: charset, tree, main content, metadata and links.
#[derive(clap::Args, Debug)]
#[command(before_help = "Examples:
  pith eval answer < pages.jsonl > texts.jsonl
  zstdcat pages.jsonl.zst | pith eval answer | head -1")]
pub struct Args {
    /// What is more important where it is in doubt what belongs to the main content
    #[arg(long, value_enum, default_value_t = FavorArg::Balance)]
    favor: FavorArg,
}

#[derive(Deserialize)]
struct Question {
    id: String,
    url: Option<String>,
    html: String,
}

/// Reads lines until there are no more.
pub fn run(args: Args) -> Result<Exit, Failure> {
    let options = Options {
        content_type: Some("text/html; charset=utf-8".into()),
        favor: args.favor.into(),
        ..Options::default()
    };
    // The compiled tables are opened by the first page; peers open theirs when they start.
    extract(b"<p>A page before the first.", None, &options);
    for (index, line) in std::io::stdin().lock().lines().enumerate() {
        let line = line?;
        if line.trim().is_empty() {
            continue;
        }
        let question: Question =
            serde_json::from_str(&line).map_err(|error| Failure::new(format!("line {}: {error}", index + 1)))?;
        let begun = thread_seconds();
        let url = question.url.as_deref().and_then(|url| Url::parse(url).ok());
        let document = extract(question.html.as_bytes(), url.as_ref(), &options);
        let seconds = thread_seconds() - begun;
        let answer = serde_json::json!({
            "id": question.id, "text": document.text, "title": document.title, "author": document.author,
            "published": document.published, "language": document.language, "page_type": document.page_type,
            "confidence": document.confidence, "seconds": seconds, "peak_rss_mb": peak_rss_mb(),
        });
        outln!("{answer}");
        crate::print::flush()?;
    }
    Ok(Exit::Done)
}
