//! One record, raw, as headers, or as text.

use std::path::{Path, PathBuf};

use pith_corpus::warc::{self, HttpHead, Page, Reader, ReaderOptions, Record};
use pith_extractor::{Options, charset, extract};
use serde_json::{Map, Value, json};
use url::Url;

use super::{Args, open, print};
use crate::batch;
use crate::exit::{Exit, Failure};

/// Decoded bodies are cut here.
const BODY_MAX: usize = 64 * 1024 * 1024;

/// Looks for the record and prints it. Damage on the way is told by the exit code.
pub(super) fn show(args: &Args, files: &[PathBuf]) -> Result<Exit, Failure> {
    let mut left = args.record.map_or(0, |number| number.get());
    let mut damaged = 0;
    for path in files {
        let mut reader = match &args.url {
            Some(url) => match indexed(path, url)? {
                Some(reader) => reader,
                None => open(path)?,
            },
            None => open(path)?,
        };
        while let Some(record) = reader.next()? {
            let found = match &args.url {
                Some(url) => record.url().is_some_and(|found| found == *url) && is_page(&record),
                None => {
                    left -= 1;
                    left == 0
                }
            };
            if found {
                let shown = present(args, path, &record);
                damaged += reader.damage().n_damaged;
                print(&shown)?;
                return Ok(exit(damaged));
            }
        }
        damaged += reader.damage().n_damaged;
    }
    let wanted = match (&args.url, args.record) {
        (Some(url), _) => format!("no page with the URL {url}"),
        (None, Some(number)) => format!("no record {number}: there are {}", number.get() - left),
        (None, None) => unreachable!("one of both was asked for"),
    };
    let failure = Failure::new(wanted);
    Err(if damaged > 0 { failure.hint(format!("{damaged} damaged places were stepped over")) } else { failure })
}

fn exit(damaged: u64) -> Exit {
    if damaged > 0 { Exit::Losses } else { Exit::Done }
}

fn is_page(record: &Record<'_>) -> bool {
    use warc::RecordType::{Conversion, Resource, Response, Revisit};
    matches!(record.kind, Response | Resource | Conversion | Revisit)
}

/// A reader that stands at the record of a URL, if an index knows it.
fn indexed(path: &Path, url: &str) -> Result<Option<Reader>, Failure> {
    if path == Path::new("-") {
        return Ok(None);
    }
    let Some(offset) = warc::find(path, url)? else { return Ok(None) };
    Ok(Some(Reader::open_part(path, offset..u64::MAX, ReaderOptions::default())?))
}

/// What is printed of a record.
fn present(args: &Args, path: &Path, record: &Record<'_>) -> Vec<u8> {
    let head_bytes = HttpHead::parse(record.block).map_or(0, |(_, body)| record.block.len() - body.len());
    if args.json {
        let mut shown = json(args, path, record).to_string().into_bytes();
        shown.push(b'\n');
        return shown;
    }
    if args.text {
        return text(record).into_bytes();
    }
    let block = if args.headers { &record.block[..head_bytes] } else { record.block };
    [record.header, block].concat()
}

/// The text of a page: the main content of HTML, any other body decoded to UTF-8.
fn text(record: &Record<'_>) -> String {
    let Some(page) = Page::from_record(record, BODY_MAX) else {
        return String::from_utf8_lossy(record.block).into_owned();
    };
    let content_type = page.header("Content-Type").map(|value| String::from_utf8_lossy(value).into_owned());
    if !batch::is_html(&page) {
        return charset::decode(&page.body, content_type.as_deref()).text.into_owned();
    }
    let options = Options { content_type, ..Options::default() };
    let mut text = extract(&page.body, Url::parse(&page.url).ok().as_ref(), &options).text;
    text.push('\n');
    text
}

fn json(args: &Args, path: &Path, record: &Record<'_>) -> Value {
    let pair = |name: &[u8], value: &[u8]| {
        (String::from_utf8_lossy(name).into_owned(), Value::from(String::from_utf8_lossy(value)))
    };
    let fields: Map<String, Value> = record.fields().map(|(name, value)| pair(name, value)).collect();
    let mut shown = json!({
        "file": path.display().to_string(),
        "offset": record.offset,
        "type": record.kind.name(),
        "url": record.url(),
        "length": record.length,
        "fields": fields,
    });
    if let Some((head, _)) = HttpHead::parse(record.block) {
        let headers: Vec<Value> = head
            .headers
            .iter()
            .map(|(name, value)| {
                let (name, value) = pair(name, value);
                json!([name, value])
            })
            .collect();
        shown["status"] = json!(head.status);
        shown["headers"] = Value::Array(headers);
    }
    if !args.headers {
        shown["text"] = Value::from(text(record));
    }
    shown
}
