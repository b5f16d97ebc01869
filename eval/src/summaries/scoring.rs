//! Every method on one set: what it makes of each document at each length, scored.

use std::collections::BTreeMap;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::item::{Item, Summary};
use super::measures::{Measures, Source};
use super::{EvaluationConfig, Length, oracle, picks};
use crate::error::Error;
use crate::peer::{ANSWER_TIMEOUT, Peer};
use crate::rouge::{DetailedRouge, TokenizedText, Tokenizer, detailed_rouge};

/// What a peer is asked.
#[derive(Serialize)]
struct Question<'a> {
    id: &'a str,
    lang: &'a str,
    title: Option<&'a str>,
    sentences: &'a [String],
}

/// What a peer may answer.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum Answer {
    /// Numbers of sentences, best first: one answer serves every length.
    Ranking { ranking: Vec<usize> },
    /// A finished summary, which is scored as it is at every length.
    Summary { summary: String },
}

impl Answer {
    fn summary(&self, item: &Item, length: Length) -> Summary {
        match self {
            Answer::Ranking { ranking } => item.summary(ranking, length),
            Answer::Summary { summary } => item.written(summary),
        }
    }
}

/// What a metric of others is asked about one summary.
#[derive(Serialize)]
struct MetricQuestion<'a> {
    id: String,
    lang: &'a str,
    title: Option<&'a str>,
    source: String,
    references: &'a [String],
    summary: String,
}

#[derive(Deserialize)]
struct MetricAnswer {
    value: f64,
}

/// One document, ready to be compared with.
struct Prepared<'i> {
    item: &'i Item,
    source: Source,
    references: Vec<TokenizedText>,
}

/// One summary with its scores.
#[derive(Clone, Debug, Default)]
pub(super) struct ScoredSummary {
    pub summary: Summary,
    /// For each measure the best reference.
    pub rouge: DetailedRouge,
    /// The mean over references of the mean of ROUGE-1, -2 and -L.
    pub mean_of_references: f64,
    pub measures: Measures,
}

/// The summaries of one method at one length on one set, in the order of the documents.
#[derive(Default)]
pub(super) struct SetScores {
    pub summaries: Vec<ScoredSummary>,
    pub seconds: f64,
    pub stability: Option<f64>,
    /// The means of the metrics of others, by name.
    pub metrics: BTreeMap<String, f64>,
}

/// Scores by length and by the number of the method.
pub(super) type ScoresByMethod = BTreeMap<(Length, usize), SetScores>;

/// Scores every method on one set: rankings of ours, peers and, where there are references, the oracle.
pub(super) fn score_set(items: &[Item], config: &EvaluationConfig) -> Result<ScoresByMethod, Error> {
    let mut tokenizer = Tokenizer::default();
    let prepared: Vec<Prepared> = items.iter().map(|item| prepare(item, &mut tokenizer)).collect();
    let mut scores = ScoresByMethod::new();
    for length in Length::ALL {
        for (method, ranking) in config.methods.iter().enumerate() {
            let begun = cpu_seconds();
            let orders: Vec<Vec<usize>> = items.iter().map(|item| item.order(*ranking, length)).collect();
            let seconds = cpu_seconds() - begun;
            let summaries = items.iter().zip(&orders).map(|(item, order)| item.summary(order, length));
            let mut set = score(&prepared, summaries, &mut tokenizer);
            set.seconds = seconds;
            set.stability = (length == Length::Sentences(3)).then(|| picks::stability(items, &orders, *ranking));
            scores.insert((length, method), set);
        }
        if prepared.iter().all(|document| !document.references.is_empty()) {
            let summaries: Vec<Summary> =
                prepared.iter().map(|document| best_possible(document, &mut tokenizer, length)).collect();
            let oracle = config.methods.len() + config.peers.len();
            scores.insert((length, oracle), score(&prepared, summaries, &mut tokenizer));
        }
    }
    for (index, peer) in config.peers.iter().enumerate() {
        let (answers, seconds) = ask(peer, items)?;
        for length in Length::ALL {
            let summaries = items.iter().zip(&answers).map(|(item, answer)| answer.summary(item, length));
            let mut set = score(&prepared, summaries, &mut tokenizer);
            set.seconds = seconds;
            scores.insert((length, config.methods.len() + index), set);
        }
    }
    for metric in &config.metrics {
        measure_by(metric, items, &mut scores)?;
    }
    Ok(scores)
}

fn prepare<'i>(item: &'i Item, tokenizer: &mut Tokenizer) -> Prepared<'i> {
    let sentences: Vec<&str> = item.sentences.iter().map(String::as_str).collect();
    let source = TokenizedText::of(&sentences, &item.tag, tokenizer);
    let references = item.references.iter().map(|reference| {
        let reference = item.written(reference);
        tokenize(&reference, &item.tag, tokenizer)
    });
    let references = references.collect();
    Prepared { item, source: Source::of(&source.tokens, sentences.len()), references }
}

fn tokenize(summary: &Summary, tag: &str, tokenizer: &mut Tokenizer) -> TokenizedText {
    let sentences: Vec<&str> = summary.sentences.iter().map(String::as_str).collect();
    TokenizedText::of(&sentences, tag, tokenizer)
}

fn best_possible(document: &Prepared, tokenizer: &mut Tokenizer, length: Length) -> Summary {
    let references: Vec<Vec<u32>> = document.references.iter().map(|reference| reference.tokens.clone()).collect();
    let item = document.item;
    item.summary(&oracle::order(&item.sentences, &item.tag, &references, tokenizer, length), length)
}

fn score(documents: &[Prepared], summaries: impl IntoIterator<Item = Summary>, tokenizer: &mut Tokenizer) -> SetScores {
    let scored = documents.iter().zip(summaries).map(|(document, summary)| {
        let text = tokenize(&summary, &document.item.tag, tokenizer);
        let found: Vec<DetailedRouge> =
            document.references.iter().map(|reference| detailed_rouge(reference, &text)).collect();
        ScoredSummary {
            rouge: found.iter().fold(DetailedRouge::default(), |best, next| best.best(*next)),
            mean_of_references: found.iter().map(DetailedRouge::mean).sum::<f64>() / found.len().max(1) as f64,
            measures: document.source.measure(&text.tokens, summary.picks.as_deref()),
            summary,
        }
    });
    SetScores { summaries: scored.collect(), ..SetScores::default() }
}

/// A peer's answer for every document, and the seconds it took for all of them.
fn ask(peer: &Peer, items: &[Item]) -> Result<(Vec<Answer>, f64), Error> {
    let question = |item: &'_ Item| -> (String, serde_json::Value) {
        let question =
            Question { id: &item.id, lang: &item.tag, title: item.title.as_deref(), sentences: &item.sentences };
        (item.id.clone(), serde_json::to_value(question).expect("texts become JSON"))
    };
    let questions: Vec<(String, serde_json::Value)> = items.iter().map(question).collect();
    let replies = peer.ask::<_, Answer>(&questions, ANSWER_TIMEOUT)?;
    let seconds = replies.per_second().map_or(0.0, |rate| items.len() as f64 / rate);
    for (line, (answer, item)) in replies.answers.iter().zip(items).enumerate() {
        let Answer::Ranking { ranking } = answer else { continue };
        let mut seen = vec![false; item.sentences.len()];
        for index in ranking {
            if seen.get(*index) != Some(&false) {
                let problem = format!("{}: {index} is no sentence's number, or stands there twice", item.id);
                return Err(Error::PeerAnswer { name: peer.name.clone(), line: line + 1, problem });
            }
            seen[*index] = true;
        }
    }
    Ok((replies.answers, seconds))
}

/// Asks a metric of others about every summary of a set, in one run of its program.
fn measure_by(metric: &Peer, items: &[Item], scores: &mut ScoresByMethod) -> Result<(), Error> {
    let questions: Vec<(String, MetricQuestion)> = scores
        .iter()
        .flat_map(|((length, method), set)| {
            items.iter().zip(&set.summaries).map(move |(item, scored)| {
                let id = format!("{}/{method}/{}", length.name(), item.id);
                let question = MetricQuestion {
                    id: id.clone(),
                    lang: &item.tag,
                    title: item.title.as_deref(),
                    source: item.sentences.join(" "),
                    references: &item.references,
                    summary: scored.summary.text(),
                };
                (id, question)
            })
        })
        .collect();
    let mut answers = metric.ask::<_, MetricAnswer>(&questions, ANSWER_TIMEOUT)?.answers.into_iter();
    for set in scores.values_mut() {
        let sum: f64 = answers.by_ref().take(set.summaries.len()).map(|answer| answer.value).sum();
        set.metrics.insert(metric.name.clone(), sum / set.summaries.len().max(1) as f64);
    }
    Ok(())
}

/// The time that this thread has had on a processor; where the system does not tell, the time that has passed.
pub(super) fn cpu_seconds() -> f64 {
    use std::sync::LazyLock;
    static BEGUN: LazyLock<Instant> = LazyLock::new(Instant::now);
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = told.and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(|| BEGUN.elapsed().as_secs_f64(), |nanoseconds| nanoseconds / 1e9)
}
