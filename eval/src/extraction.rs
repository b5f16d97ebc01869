//! Main content against gold pages: every method by set, page type and language.

mod compare;
mod page;

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::Path;

use pith_extractor::{Options, extract};
use serde::{Deserialize, Serialize};
use url::Url;

use crate::Error;
use crate::bootstrap::{Interval, Resampling};
use crate::gold::{GoldPage, GoldSet, Truth};
use crate::peer::{PATIENCE, Peer};
use crate::score::{PageScore, SnippetScore, TextScore, score, shingle_f1};

pub use page::{Worst, page};

/// What is compared.
#[derive(Clone, Debug)]
pub struct Study {
    /// Other programs beside our own extractor.
    pub peers: Vec<Peer>,
    /// One page of so many is read.
    pub every: NonZeroUsize,
}

impl Default for Study {
    /// Our own extractor on all pages.
    fn default() -> Self {
        Study { peers: Vec::new(), every: NonZeroUsize::MIN }
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
pub struct Judged {
    /// The page.
    pub page: GoldPage,
    /// What a careful reader would keep.
    pub truth: Truth,
    /// One text per method, ours first, then the peers in their order.
    pub texts: Vec<String>,
    /// Their scores.
    pub scores: Vec<PageScore>,
}

/// What the extractor itself says about a gold page.
pub fn read(page: &GoldPage) -> String {
    let url = page.url.as_deref().and_then(|url| Url::parse(url).ok());
    // The gold is UTF-8 whatever its pages declare.
    let options = Options { content_type: Some("text/html; charset=utf-8".into()), ..Options::default() };
    extract(page.html.as_bytes(), url.as_ref(), &options).text
}

/// Reads the pages of every set with every method and scores them, ours first; `seen` gets each page with its set.
///
/// # Errors
/// When a set cannot be read, a peer fails or `seen` does.
pub fn evaluate(
    folder: &Path,
    study: &Study,
    mut seen: impl FnMut(&str, &Judged) -> Result<(), Error>,
) -> Result<Vec<MethodScore>, Error> {
    let mut methods: Vec<MethodScore> = std::iter::once(OURS)
        .chain(study.peers.iter().map(|peer| peer.name.as_str()))
        .map(|name| MethodScore { name: name.to_owned(), sets: BTreeMap::new() })
        .collect();
    for set in GoldSet::all(folder)? {
        let mut truths: Vec<Truth> = Vec::new();
        let mut scores: Vec<Vec<PageScore>> = vec![Vec::new(); methods.len()];
        let mut pairs = set.sample(study.every)?.peekable();
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
            for judged in judge(chunk, study)? {
                seen(&set.name, &judged)?;
                for (all, score) in scores.iter_mut().zip(judged.scores) {
                    all.push(score);
                }
                truths.push(Truth { text: None, with: Vec::new(), without: Vec::new(), ..judged.truth });
            }
        }
        let ours = &scores[0];
        for (index, method) in methods.iter_mut().enumerate() {
            let against = (index > 0).then_some(ours.as_slice());
            method.sets.insert(set.name.clone(), set_score(&truths, &scores[index], against));
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
}

fn judge(chunk: Vec<(GoldPage, Truth)>, study: &Study) -> Result<Vec<Judged>, Error> {
    let mut texts: Vec<Vec<String>> = chunk.iter().map(|(page, _)| vec![read(page)]).collect();
    let questions: Vec<(String, Question<'_>)> = chunk
        .iter()
        .map(|(page, _)| (page.id.clone(), Question { id: &page.id, url: page.url.as_deref(), html: &page.html }))
        .collect();
    for peer in &study.peers {
        let replies = peer.ask::<_, Answer>(&questions, PATIENCE)?;
        for (texts, answer) in texts.iter_mut().zip(replies.answers) {
            texts.push(answer.text.unwrap_or_default());
        }
    }
    drop(questions);
    let judged = chunk.into_iter().zip(texts).map(|((page, truth), texts)| {
        let scores = texts.iter().map(|text| score(&truth, text)).collect();
        Judged { page, truth, texts, scores }
    });
    Ok(judged.collect())
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
    }
}

/// By how much our bag-of-words F1 is ahead on the same pages.
fn ahead(members: &[usize], ours: &[PageScore], theirs: &[PageScore]) -> Option<Interval> {
    let bags = |scores: &[PageScore]| -> Vec<f64> {
        members.iter().filter_map(|index| scores[*index].text.as_ref()).map(|text| text.bag.f1).collect()
    };
    let (ours, theirs) = (bags(ours), bags(theirs));
    (!ours.is_empty()).then(|| {
        let lead = Resampling::new(&[ours.len()]).lead(&[ours], &[theirs]);
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
        let sampling = Resampling::new(&[texts.len()]);
        let mean = |values: &[Vec<f64>]| values[0].iter().sum::<f64>() / values[0].len() as f64;
        group.bow_f1 = Some(mean(&bags));
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
