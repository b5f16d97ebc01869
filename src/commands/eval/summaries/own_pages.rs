//! The texts of a user's own pages or documents, to compare methods on.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pith_corpus::jsonl::{Line, Reader, shards};
use pith_corpus::warc::Page;
use pith_eval::summaries::OwnDocument;
use serde_json::Value;

use crate::batch::{self, Settings};
use crate::commands::crawl::duration;
use crate::commands::extract::DEFAULT_TIME_LIMIT;
use crate::exit::Failure;
use crate::progress::Progress;

/// So many documents are compared where `--limit` does not say.
const DEFAULT_LIMIT: usize = 1_000;

/// The documents of the inputs: lines of document shards as they are, pages through the extractor. At most `limit` of
/// each input.
pub fn read(inputs: &[PathBuf], limit: Option<usize>) -> Result<Vec<OwnDocument>, Failure> {
    let limit = limit.unwrap_or(DEFAULT_LIMIT);
    let mut documents = Vec::new();
    for input in inputs {
        let of_input = if holds_documents(input) { read_documents(input, limit)? } else { extract(input, limit)? };
        documents.extend(of_input);
    }
    Ok(documents)
}

fn holds_documents(input: &Path) -> bool {
    let name = input.to_string_lossy();
    input.join("manifest.json").is_file() || name.ends_with(".jsonl.zst") || name.ends_with(".jsonl")
}

fn read_documents(input: &Path, limit: usize) -> Result<Vec<OwnDocument>, Failure> {
    let mut documents = Vec::new();
    for shard in shards(&[input.to_owned()])? {
        let mut reader = Reader::open(&shard)?;
        while let Some(line) = reader.next_line() {
            let Line::Good { bytes, .. } = line else { continue };
            documents.push(document(&serde_json::from_slice(bytes)?));
            if documents.len() == limit {
                return Ok(documents);
            }
        }
    }
    Ok(documents)
}

fn extract(input: &Path, limit: usize) -> Result<Vec<OwnDocument>, Failure> {
    let sources = batch::find(&[input.to_owned()], None)?;
    let settings = Settings::default();
    let line = move |page: &Page, shard: &str| batch::line(page, shard, &settings);
    let jobs = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let time_limit = duration(DEFAULT_TIME_LIMIT).expect("the default of a flag can be read");
    let progress = Progress::new("pages", false);
    let mut documents = Vec::new();
    batch::stream(&sources, jobs, time_limit, None, &progress, Arc::new(line), |line| {
        if documents.len() < limit
            && let Ok(value) = serde_json::from_slice(line)
        {
            documents.push(document(&value));
        }
        Ok(())
    })?;
    progress.finish();
    Ok(documents)
}

fn document(line: &Value) -> OwnDocument {
    let text = |name: &str| line[name].as_str().map(str::to_owned);
    OwnDocument {
        id: text("url").or_else(|| text("id")).unwrap_or_default(),
        language: text("language"),
        title: text("title"),
        text: text("text").unwrap_or_default(),
    }
}
