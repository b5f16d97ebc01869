//! Documents against the truth of the test web.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

use pith_corpus::jsonl::{Line, Reader, shards};
use pith_eval::rouge::{Tokenizer, rouge};
use pith_eval::score::bag_f1;
use pith_web::{PageTruth, Truth};
use serde_json::Value;

use crate::exit::Failure;

/// One document of a document shard, as far as the scores need it.
pub struct Document {
    pub url: String,
    pub text: String,
    pub summary: Vec<String>,
}

/// Every document of a folder.
pub fn documents(folder: PathBuf) -> Result<Vec<Document>, Failure> {
    let mut documents = Vec::new();
    for shard in shards(&[folder])? {
        let mut reader = Reader::open(&shard)?;
        while let Some(line) = reader.next_line() {
            let Line::Good { bytes, .. } = line else {
                return Err(Failure::new(format!("{}: a damaged line", shard.display())));
            };
            let value: Value = serde_json::from_slice(bytes)?;
            let text = |name: &str| value[name].as_str().unwrap_or("").to_owned();
            let summary = value["summary"].as_array().into_iter().flatten();
            documents.push(Document {
                url: text("url"),
                text: text("text"),
                summary: summary.filter_map(|sentence| sentence["text"].as_str()).map(str::to_owned).collect(),
            });
        }
    }
    Ok(documents)
}

/// A mean that knows how many it is of.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mean {
    sum: f64,
    pub count: usize,
}

impl Mean {
    pub fn add(&mut self, value: f64) {
        self.sum += value;
        self.count += 1;
    }

    pub fn value(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum / self.count as f64 }
    }
}

/// How well the main text was found, by page type and by language; a page that repeats another counts as well.
pub fn main_text(documents: &[Document], truth: &Truth) -> BTreeMap<String, Mean> {
    let mut means: BTreeMap<String, Mean> = BTreeMap::new();
    for (document, page) in with_truth(documents, truth) {
        let f1 = bag_f1(&page.text, &document.text, page.language.tag());
        for name in [page.page_type.name(), page.language.tag()] {
            means.entry(name.to_owned()).or_default().add(f1);
        }
    }
    means
}

/// How much of the sentences that an article was built around its summary holds, by language.
pub fn summaries(documents: &[Document], truth: &Truth) -> BTreeMap<String, Mean> {
    let mut means: BTreeMap<String, Mean> = BTreeMap::new();
    let mut tokenizer = Tokenizer::default();
    for (document, page) in with_truth(documents, truth) {
        if page.summary.is_empty() {
            continue;
        }
        let language = page.language.tag();
        let reference = tokenizer.tokens(&page.summary.join(" "), language);
        let summary = tokenizer.tokens(&document.summary.join(" "), language);
        means.entry(language.to_owned()).or_default().add(rouge(&reference, &summary).mean());
    }
    means
}

/// Documents whose URL is a page of the web, with what is true about it.
pub fn with_truth<'d>(documents: &'d [Document], truth: &Truth) -> Vec<(&'d Document, PageTruth)> {
    let mut known: HashMap<&str, Option<PageTruth>> = HashMap::new();
    documents
        .iter()
        .filter_map(|document| {
            let page = known.entry(&document.url).or_insert_with(|| truth.page(&document.url));
            Some((document, page.clone()?))
        })
        .collect()
}
