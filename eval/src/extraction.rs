//! Main content against gold pages: every method by set, page type and language.

mod compare;
pub mod fidelity;
mod metadata;
mod page;
mod sets;

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::Path;

use pith_extractor::{Document, Options, extract};
use serde::{Deserialize, Serialize};
use url::Url;

use crate::Error;
use crate::bootstrap::{Bootstrap, Interval};
use crate::gold::{GoldPage, Truth};
use crate::peer::{ANSWER_TIMEOUT, Peer};
use crate::score::{PageScore, SnippetScore, TextScore, score, shingle_f1};

use fidelity::{Fidelity, Miss, Output, Reference};
pub use metadata::{FIELDS, FieldScore, MetadataScore};
pub use page::{WorstPages, page};
pub use sets::PageSet;

/// What is compared.
#[derive(Clone, Debug)]
pub struct EvaluationConfig {
    /// Other programs beside our own extractor.
    pub peers: Vec<Peer>,
    /// One page of so many is read.
    pub every: NonZeroUsize,
    /// Also compare code, tables, lists, headings and marks with the page; ours and those peers that write Markdown
    /// are asked for it.
    pub fidelity: bool,
}

impl Default for EvaluationConfig {
    /// The words of our own extractor on all pages.
    fn default() -> Self {
        EvaluationConfig { peers: Vec::new(), every: NonZeroUsize::MIN, fidelity: false }
    }
}

/// The name of our own extractor in tables.
pub const OURS: &str = "pith";

/// What a group of pages scores.
#[derive(Clone, Debug, Default, Serialize)]
pub struct GroupScore {
    /// Pages.
    pub pages: usize,
    /// Mean bag-of-words F1.
    pub bow_f1: Option<f64>,
    /// Its 95 % interval.
    pub bow_f1_interval: Option<Interval>,
    /// The mean share of the gold's words that are kept.
    pub bow_recall: Option<f64>,
    /// The mean share of kept words that are the gold's.
    pub bow_precision: Option<f64>,
    /// F1 of mean shingle precision and recall.
    pub shingle_f1: Option<f64>,
    /// Mean ROUGE-L.
    pub rouge_l: Option<f64>,
    /// Its 95 % interval.
    pub rouge_l_interval: Option<Interval>,
    /// F1 over snippets, where the gold has them.
    pub snippet_f1: Option<f64>,
    /// By how much our bag-of-words F1 is ahead of this method's on the same pages; nothing for our own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub behind_ours: Option<Interval>,
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
    /// Titles, authors, dates and products by field, of methods that give them and where the gold has them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, FieldScore>,
    /// Elements of the pages against the output, where that was asked for.
    #[serde(skip_serializing_if = "Fidelity::is_empty")]
    pub fidelity: Fidelity,
}

/// What one method scores.
#[derive(Clone, Debug, Serialize)]
pub struct MethodScore {
    /// Our own name, or the peer's.
    pub name: String,
    /// By set.
    pub sets: BTreeMap<String, SetScore>,
}

/// One page and what every method made of it.
#[derive(Debug)]
pub struct ScoredPage {
    /// The page.
    pub page: GoldPage,
    /// What a careful reader would keep.
    pub truth: Truth,
    /// One text per method, ours first, then the peers in their order.
    pub texts: Vec<String>,
    /// Their scores.
    pub scores: Vec<PageScore>,
    /// What else is as on the page, and what is not; empty unless it was asked for.
    pub fidelity: Vec<(Fidelity, Vec<Miss>)>,
}

/// What the extractor itself says about a gold page.
pub fn read(page: &GoldPage) -> String {
    read_document(page, &Options::default()).text
}

/// The document of a gold page.
pub fn read_document(page: &GoldPage, options: &Options) -> Document {
    let url = page.url.as_deref().and_then(|url| Url::parse(url).ok());
    // The gold is UTF-8 whatever its pages declare.
    let options = Options { content_type: Some("text/html; charset=utf-8".into()), ..options.clone() };
    extract(page.html.as_bytes(), url.as_ref(), &options)
}

/// Reads the pages of every set with every method and scores them, ours first; `seen` gets each page with its set.
///
/// # Errors
/// When a set cannot be read, a peer fails or `seen` does.
pub fn evaluate(
    folder: &Path,
    config: &EvaluationConfig,
    seen: impl FnMut(&str, &ScoredPage) -> Result<(), Error>,
) -> Result<Vec<MethodScore>, Error> {
    evaluate_sets(&PageSet::all_gold(folder)?, config, seen)
}

/// As [`evaluate`], for sets of pages of any kind.
///
/// # Errors
/// When a page cannot be read, a peer fails or `seen` does.
pub fn evaluate_sets(
    sets: &[PageSet],
    config: &EvaluationConfig,
    mut seen: impl FnMut(&str, &ScoredPage) -> Result<(), Error>,
) -> Result<Vec<MethodScore>, Error> {
    let mut methods: Vec<MethodScore> = std::iter::once(OURS)
        .chain(config.peers.iter().map(|peer| peer.name.as_str()))
        .map(|name| MethodScore { name: name.to_owned(), sets: BTreeMap::new() })
        .collect();
    for set in sets {
        let mut truths: Vec<Truth> = Vec::new();
        let mut scores: Vec<Vec<PageScore>> = vec![Vec::new(); methods.len()];
        let mut fidelity = vec![Fidelity::default(); methods.len()];
        let mut metadata = vec![MetadataScore::default(); methods.len()];
        let mut pairs = set.sample(config.every)?.peekable();
        while pairs.peek().is_some() {
            let mut chunk = Vec::new();
            let mut n_bytes = 0;
            while n_bytes < CHUNK_BYTES
                && let Some(pair) = pairs.next()
            {
                let pair = pair?;
                n_bytes += pair.0.html.len();
                chunk.push(pair);
            }
            for scored in score_chunk(chunk, config, &mut metadata)? {
                seen(set.name(), &scored)?;
                fidelity.iter_mut().zip(&scored.fidelity).for_each(|(all, (page, _))| all.add(page));
                for (all, score) in scores.iter_mut().zip(scored.scores) {
                    all.push(score);
                }
                truths.push(Truth { text: None, with: Vec::new(), without: Vec::new(), ..scored.truth });
            }
        }
        let ours = &scores[0];
        for (index, method) in methods.iter_mut().enumerate() {
            let against = (index > 0).then_some(ours.as_slice());
            let mut score = set_score(&truths, &scores[index], against);
            score.metadata = metadata[index].fields();
            score.fidelity = std::mem::take(&mut fidelity[index]);
            method.sets.insert(set.name().to_owned(), score);
        }
    }
    Ok(methods)
}

/// So much HTML is held at a time: peers are started once for each.
const CHUNK_BYTES: usize = 64 << 20;

/// What a peer is asked.
#[derive(Serialize)]
pub(crate) struct Question<'p> {
    pub(crate) id: &'p str,
    pub(crate) url: Option<&'p str>,
    pub(crate) html: &'p str,
}

#[derive(Deserialize)]
struct Answer {
    text: Option<String>,
    markdown: Option<String>,
    title: Option<String>,
    author: Option<String>,
    published: Option<String>,
}

impl Answer {
    /// The metadata as that of a document; nothing where the peer gives none.
    fn metadata(&mut self) -> Option<Document> {
        let (title, author, published) = (self.title.take(), self.author.take(), self.published.take());
        let is_given = title.is_some() || author.is_some() || published.is_some();
        is_given.then(|| Document { title, author, published, ..Document::default() })
    }
}

/// What a method made of a page.
struct Made {
    text: String,
    markdown: Option<String>,
}

fn score_chunk(
    chunk: Vec<(GoldPage, Truth)>,
    config: &EvaluationConfig,
    metadata: &mut [MetadataScore],
) -> Result<Vec<ScoredPage>, Error> {
    let options = Options { markdown: config.fidelity, ..Options::default() };
    let ours = chunk.iter().map(|(page, truth)| {
        let document = read_document(page, &options);
        metadata[0].add(truth, &document);
        vec![Made { text: document.text, markdown: Some(document.markdown) }]
    });
    let mut made: Vec<Vec<Made>> = ours.collect();
    let questions: Vec<(String, Question<'_>)> = chunk
        .iter()
        .map(|(page, _)| (page.id.clone(), Question { id: &page.id, url: page.url.as_deref(), html: &page.html }))
        .collect();
    for (peer, metadata) in config.peers.iter().zip(&mut metadata[1..]) {
        let mut replies = peer.ask::<_, Answer>(&questions, ANSWER_TIMEOUT)?;
        let given: Vec<Option<Document>> = replies.answers.iter_mut().map(Answer::metadata).collect();
        if given.iter().any(Option::is_some) {
            for ((_, truth), document) in chunk.iter().zip(given) {
                metadata.add(truth, &document.unwrap_or_default());
            }
        }
        for (made, answer) in made.iter_mut().zip(replies.answers) {
            made.push(Made { text: answer.text.unwrap_or_default(), markdown: answer.markdown });
        }
    }
    drop(questions);
    let scored = chunk.into_iter().zip(made).map(|((page, truth), made)| {
        let scores = made.iter().map(|made| score(&truth, &made.text)).collect();
        let fidelity = if config.fidelity { compare_with_page(&page, &truth, &made) } else { Vec::new() };
        ScoredPage { page, truth, texts: made.into_iter().map(|made| made.text).collect(), scores, fidelity }
    });
    Ok(scored.collect())
}

/// The elements of a page against what every method made of it.
fn compare_with_page(page: &GoldPage, truth: &Truth, made: &[Made]) -> Vec<(Fidelity, Vec<Miss>)> {
    let reference = Reference::read(&page.html, truth.text.as_deref());
    made.iter().map(|made| reference.compare(&Output::new(&made.text, made.markdown.as_deref()))).collect()
}

fn set_score(truths: &[Truth], scores: &[PageScore], ours: Option<&[PageScore]>) -> SetScore {
    let group = |members: &[usize]| {
        let score = group_score(&members.iter().map(|index| &scores[*index]).collect::<Vec<_>>());
        match ours {
            Some(ours) => GroupScore { behind_ours: ahead(members, ours, scores), ..score },
            None => score,
        }
    };
    let by = |name: fn(&Truth) -> Option<&String>| {
        let mut groups: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (index, truth) in truths.iter().enumerate() {
            groups.entry(name(truth).cloned().unwrap_or_else(|| "unknown".into())).or_default().push(index);
        }
        groups.into_iter().map(|(name, members)| (name, group(&members))).collect()
    };
    SetScore {
        all: group(&(0..truths.len()).collect::<Vec<_>>()),
        page_types: by(|truth| truth.page_type.as_ref()),
        languages: by(|truth| truth.lang.as_ref()),
        ..SetScore::default()
    }
}

/// By how much our bag-of-words F1 is ahead on the same pages.
fn ahead(members: &[usize], ours: &[PageScore], theirs: &[PageScore]) -> Option<Interval> {
    let bags = |scores: &[PageScore]| -> Vec<f64> {
        members.iter().filter_map(|index| scores[*index].text.as_ref()).map(|text| text.bag.f1).collect()
    };
    let (ours, theirs) = (bags(ours), bags(theirs));
    (!ours.is_empty()).then(|| {
        let lead = Bootstrap::new(&[ours.len()]).paired_difference(&[ours], &[theirs]);
        Interval { low: lead.low, high: lead.high }
    })
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
        let bags = [texts.iter().map(|text| text.bag.f1).collect::<Vec<f64>>()];
        let rouge = [texts.iter().map(|text| text.rouge_l).collect::<Vec<f64>>()];
        let sampling = Bootstrap::new(&[texts.len()]);
        let mean = |values: &[Vec<f64>]| values[0].iter().sum::<f64>() / values[0].len() as f64;
        group.bow_f1 = Some(mean(&bags));
        group.bow_recall = Some(mean(&[texts.iter().map(|text| text.bag.recall).collect()]));
        group.bow_precision = Some(mean(&[texts.iter().map(|text| text.bag.precision).collect()]));
        group.bow_f1_interval = Some(sampling.interval(&bags));
        group.shingle_f1 = Some(shingle_f1(texts.iter().copied()).f1);
        group.rouge_l = Some(mean(&rouge));
        group.rouge_l_interval = Some(sampling.interval(&rouge));
    }
    group
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_scored_apart_and_against_ours() {
        let truth = |kind: &str| Truth { page_type: Some(kind.into()), lang: Some("en".into()), ..Truth::default() };
        let gold = |text: &str| Truth { text: Some(text.into()), lang: Some("en".into()), ..Truth::default() };
        let page = |text: &str| score(&gold("a b c d"), text);
        let truths = [truth("forum"), truth("forum"), truth("article")];
        let ours = [page("a b c d"), page("a b c d"), page("a b")];
        let theirs = [page("a b c d"), page(""), page("a b")];
        let set = set_score(&truths, &theirs, Some(&ours));
        assert_eq!(set.page_types["forum"].bow_f1, Some(0.5));
        assert_eq!(set.languages["en"].pages, 3);
        let ahead = set.page_types["forum"].behind_ours.expect("a peer is compared");
        assert!(ahead.low >= 0.0 && ahead.high > 0.4, "{ahead:?}");
        assert!(set_score(&truths, &ours, None).all.behind_ours.is_none());
    }
}
