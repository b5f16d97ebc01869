//! Main content against gold pages: one table per method, by set, page type and language.

use std::collections::BTreeMap;
use std::path::Path;

use pith_extractor::{Options, extract};
use serde::Serialize;
use url::Url;

use crate::Error;
use crate::bootstrap::Resampling;
use crate::gold::{GoldPage, GoldSet, Truth};
use crate::score::{PageScore, SnippetScore, TextScore, score, shingle_f1};

/// What a group of pages scores.
#[derive(Clone, Debug, Default, Serialize)]
pub struct GroupScore {
    /// Pages.
    pub pages: usize,
    /// Mean bag-of-words F1.
    pub bow_f1: Option<f64>,
    /// Its 95 % interval.
    pub bow_f1_interval: Option<(f64, f64)>,
    /// F1 of mean shingle precision and recall.
    pub shingle_f1: Option<f64>,
    /// Mean ROUGE-L.
    pub rouge_l: Option<f64>,
    /// F1 over snippets, where the gold has them.
    pub snippet_f1: Option<f64>,
}

/// One set: all of it, and by page type and language.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SetScore {
    /// All pages.
    #[serde(flatten)]
    pub all: GroupScore,
    /// By page type.
    pub page_types: BTreeMap<String, GroupScore>,
    /// By language.
    pub languages: BTreeMap<String, GroupScore>,
}

/// What the extractor itself says about a gold page.
pub fn read(page: &GoldPage) -> String {
    let url = page.url.as_deref().and_then(|url| Url::parse(url).ok());
    // The gold is UTF-8 whatever its pages declare.
    let options = Options { content_type: Some("text/html; charset=utf-8".into()), ..Options::default() };
    extract(page.html.as_bytes(), url.as_ref(), &options).text
}

/// Reads every page of every set with `method` and scores it; `seen` gets each page's set, id and text.
///
/// # Errors
/// When a set cannot be read or `seen` fails.
pub fn evaluate(
    folder: &Path,
    method: impl Fn(&GoldPage) -> String,
    mut seen: impl FnMut(&str, &GoldPage, &str) -> Result<(), Error>,
) -> Result<BTreeMap<String, SetScore>, Error> {
    let mut scores = BTreeMap::new();
    for set in GoldSet::all(folder)? {
        let mut pages: Vec<(Truth, PageScore)> = Vec::new();
        for pair in set.pairs()? {
            let (page, truth) = pair?;
            let text = method(&page);
            seen(&set.name, &page, &text)?;
            let page_score = score(&truth, &text);
            pages.push((truth, page_score));
        }
        scores.insert(set.name.clone(), set_score(&pages));
    }
    Ok(scores)
}

fn set_score(pages: &[(Truth, PageScore)]) -> SetScore {
    let by = |name: &dyn Fn(&Truth) -> Option<String>| {
        let mut groups: BTreeMap<String, Vec<&PageScore>> = BTreeMap::new();
        for (truth, page) in pages {
            groups.entry(name(truth).unwrap_or_else(|| "unknown".into())).or_default().push(page);
        }
        groups.into_iter().map(|(name, pages)| (name, group_score(&pages))).collect()
    };
    SetScore {
        all: group_score(&pages.iter().map(|(_, page)| page).collect::<Vec<_>>()),
        page_types: by(&|truth| truth.page_type.clone()),
        languages: by(&|truth| truth.lang.clone()),
    }
}

/// What pages score together.
pub fn group_score(pages: &[&PageScore]) -> GroupScore {
    let texts: Vec<&TextScore> = pages.iter().filter_map(|page| page.text.as_ref()).collect();
    let mut snippets = SnippetScore::default();
    pages.iter().filter_map(|page| page.snippets).for_each(|page| snippets.add(page));
    let has_snippets = pages.iter().any(|page| page.snippets.is_some());
    let mut group = GroupScore {
        pages: pages.len(),
        snippet_f1: has_snippets.then(|| snippets.precision_recall().f1),
        ..GroupScore::default()
    };
    if !texts.is_empty() {
        let bags: Vec<f64> = texts.iter().map(|text| text.bag.f1).collect();
        let interval = Resampling::new(&[bags.len()]).interval(std::slice::from_ref(&bags));
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        group.bow_f1 = Some(mean(&bags));
        group.bow_f1_interval = Some((interval.low, interval.high));
        group.shingle_f1 = Some(shingle_f1(texts.iter().copied()).f1);
        group.rouge_l = Some(mean(&texts.iter().map(|text| text.rouge_l).collect::<Vec<_>>()));
    }
    group
}
