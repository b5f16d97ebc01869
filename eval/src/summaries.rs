//! Summaries against references: every ranking, and any peer, on the same sentences, within the same budgets.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use pith_extractor::{Budget, Method, for_each_word};
use serde::{Deserialize, Serialize};

use crate::bootstrap::{Bootstrap, Interval, PairedDifference, mean_of_means};
use crate::error::Error;
use crate::peer::{ANSWER_TIMEOUT, Peer};
use crate::rouge::{Rouge, Tokenizer, best_rouge};
use item::Item;

mod fit;
mod item;
mod oracle;
mod reference_free;

pub use fit::{ComparedRanking, FitConfig, FitReport, LengthResult, fit_weights, weights_source};
pub use reference_free::{MainTextShare, in_gold};

/// Documents with fewer sentences say nothing about a ranking and are not scored.
pub const MIN_SENTENCES: usize = 4;

/// What is compared.
#[derive(Clone, Debug)]
pub struct EvaluationConfig {
    /// Rankings of ours.
    pub methods: Vec<Method>,
    /// Other programs.
    pub peers: Vec<Peer>,
    /// At most this many documents of each set, the first ones; all where it is nothing.
    pub limit: Option<usize>,
    /// Gold pages, whose articles with their descriptions make one more set.
    pub pages: Option<PathBuf>,
}

/// One length of summaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Length {
    /// So many sentences.
    Sentences(usize),
    /// So many words, half as many again in scripts without spaces, where a word is a character; the last sentence is cut.
    Words(usize),
}

impl Length {
    /// The lengths that are compared.
    pub const ALL: [Length; 4] =
        [Length::Sentences(1), Length::Sentences(3), Length::Words(100), Length::Sentences(20)];

    /// The name in tables and JSON.
    pub fn name(self) -> String {
        match self {
            Length::Sentences(1) => "1-sentence".to_owned(),
            Length::Sentences(n) => format!("{n}-sentences"),
            Length::Words(n) => format!("{n}-words"),
        }
    }

    fn budget(self, spaceless: bool) -> Budget {
        match self {
            Length::Sentences(n) => Budget::Sentences(n),
            Length::Words(n) => Budget::Words(if spaceless { n + n / 2 } else { n }),
        }
    }
}

/// What a peer is asked.
#[derive(Serialize)]
struct Question<'a> {
    id: &'a str,
    lang: &'a str,
    title: Option<&'a str>,
    sentences: &'a [String],
}

#[derive(Deserialize)]
struct Answer {
    ranking: Vec<usize>,
}

/// One summary that was scored.
#[derive(Clone, Debug, Serialize)]
pub struct Prediction {
    /// The document.
    pub id: String,
    /// Who made it.
    pub method: String,
    /// How long it was to be.
    pub budget: String,
    /// The sentences taken, by number.
    pub picks: Vec<usize>,
    /// The summary.
    pub text: String,
}

/// The outcome of one method at one length.
#[derive(Clone, Debug, Serialize)]
pub struct MethodReport {
    /// The ranking or peer.
    pub name: String,
    /// The mean over sets of the mean of ROUGE-1, -2 and -L, times 100.
    pub mean: f64,
    /// Where that mean lies, by bootstrap.
    pub interval: Interval,
    /// How far the first method is ahead of this one, by paired bootstrap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_ahead: Option<PairedDifference>,
    /// ROUGE-1, -2 and -L for each set, times 100.
    pub sets: BTreeMap<String, [f64; 3]>,
    /// Documents per second on one core, splitting and counting included; nothing for the oracle.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub documents_per_second: Option<f64>,
    /// The share of word pairs in a summary that it had before.
    pub redundancy: f64,
    /// The share of picks that stay when every tenth sentence is taken away; ours only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stability: Option<f64>,
}

/// The outcome of an evaluation.
#[derive(Clone, Debug, Serialize)]
pub struct SummariesReport {
    /// How many documents of each set were scored.
    pub documents: BTreeMap<String, usize>,
    /// The methods at every length, by its name.
    pub budgets: BTreeMap<String, LengthReport>,
}

impl SummariesReport {
    /// The lengths by name, in the order in which they are shown.
    pub fn in_order(&self) -> impl Iterator<Item = (String, &LengthReport)> {
        Length::ALL.into_iter().filter_map(|length| Some((length.name(), self.budgets.get(&length.name())?)))
    }
}

/// All methods at one length.
#[derive(Clone, Debug, Serialize)]
pub struct LengthReport {
    /// In the order of the configuration, then peers, then the oracle.
    pub methods: Vec<MethodReport>,
}

/// The scores of one method at one length on one set.
#[derive(Default)]
struct SetScores {
    rouge: Vec<Rouge>,
    seconds: f64,
    redundancy: f64,
    stability: Option<f64>,
}

impl SetScores {
    fn means(&self) -> Vec<f64> {
        self.rouge.iter().map(|rouge| 100.0 * rouge.mean()).collect()
    }
}

/// Scores every method on every set of a folder, and gives each summary to `keep` with the name of its set.
///
/// # Errors
/// When a set cannot be read or a peer fails.
pub fn evaluate(
    folder: &Path,
    config: &EvaluationConfig,
    keep: &mut dyn FnMut(&str, Prediction) -> Result<(), Error>,
) -> Result<SummariesReport, Error> {
    // The dictionary of Chinese words is loaded before any clock runs.
    for_each_word("中文", None, |_| ());
    let mut scores: Vec<BTreeMap<(Length, usize), SetScores>> = Vec::new();
    let mut documents = BTreeMap::new();
    let mut names: Vec<String> = config.methods.iter().map(|method| method.name().to_owned()).collect();
    names.extend(config.peers.iter().map(|peer| peer.name.clone()));
    names.push("oracle".to_owned());
    for (name, items) in item::load(folder, config.pages.as_deref(), config.limit)? {
        documents.insert(name.clone(), items.len());
        let mut keep_here = |prediction| keep(&name, prediction);
        scores.push(score_set(&items, config, &names, &mut keep_here)?);
    }
    let set_names: Vec<&String> = documents.keys().collect();
    let sampling = Bootstrap::new(&documents.values().copied().collect::<Vec<_>>());
    let mut budgets = BTreeMap::new();
    for length in Length::ALL {
        let values =
            |method: usize| -> Vec<Vec<f64>> { scores.iter().map(|set| set[&(length, method)].means()).collect() };
        let first = values(0);
        let methods = (0..names.len()).map(|method| {
            let values = values(method);
            let of_sets: Vec<&SetScores> = scores.iter().map(|set| &set[&(length, method)]).collect();
            let seconds: f64 = of_sets.iter().map(|set| set.seconds).sum();
            let n: usize = of_sets.iter().map(|set| set.rouge.len()).sum();
            let average = |value: &dyn Fn(&SetScores) -> f64| {
                of_sets.iter().map(|set| value(set)).sum::<f64>() / of_sets.len() as f64
            };
            MethodReport {
                name: names[method].clone(),
                mean: mean_of_means(&values),
                interval: sampling.interval(&values),
                first_ahead: (method > 0).then(|| sampling.paired_difference(&first, &values)),
                sets: set_names.iter().zip(&of_sets).map(|(name, set)| ((*name).clone(), three(&set.rouge))).collect(),
                documents_per_second: (seconds > 0.0).then(|| n as f64 / seconds),
                redundancy: average(&|set| set.redundancy),
                stability: of_sets[0].stability.map(|_| average(&|set| set.stability.unwrap_or(0.0))),
            }
        });
        budgets.insert(length.name(), LengthReport { methods: methods.collect() });
    }
    Ok(SummariesReport { documents, budgets })
}

fn three(scores: &[Rouge]) -> [f64; 3] {
    let mean = |part: fn(&Rouge) -> f64| 100.0 * scores.iter().map(part).sum::<f64>() / scores.len().max(1) as f64;
    [mean(|rouge| rouge.one), mean(|rouge| rouge.two), mean(|rouge| rouge.l)]
}

fn score_set(
    items: &[Item],
    config: &EvaluationConfig,
    names: &[String],
    keep: &mut dyn FnMut(Prediction) -> Result<(), Error>,
) -> Result<BTreeMap<(Length, usize), SetScores>, Error> {
    let mut scores: BTreeMap<(Length, usize), SetScores> = BTreeMap::new();
    let mut tokenizer = Tokenizer::default();
    let references: Vec<Vec<Vec<u32>>> = items
        .iter()
        .map(|item| item.references.iter().map(|text| tokenizer.tokens(text, &item.tag)).collect())
        .collect();
    // A peer is not told how long the summary will be, so that one answer serves every length.
    let asked = config.peers.iter().map(|peer| ask(peer, items)).collect::<Result<Vec<_>, Error>>()?;
    for length in Length::ALL {
        for (method, name) in names.iter().enumerate() {
            let begun = cpu_seconds();
            let (orders, seconds) = if let Some(ranking) = config.methods.get(method) {
                let orders = items.iter().map(|item| item.order(*ranking, length)).collect();
                (orders, Some(cpu_seconds() - begun))
            } else if let Some((orders, seconds)) = asked.get(method - config.methods.len()) {
                (orders.clone(), Some(*seconds))
            } else {
                let order = |(item, references): (&Item, &Vec<Vec<u32>>)| {
                    oracle::order(&item.sentences, &item.tag, references, &mut tokenizer, length)
                };
                (items.iter().zip(&references).map(order).collect(), None)
            };
            let mut set = SetScores { seconds: seconds.unwrap_or(0.0), ..SetScores::default() };
            for ((item, order), references) in items.iter().zip(&orders).zip(&references) {
                let (picks, text) = item.summary(order, length);
                let tokens = tokenizer.tokens(&text, &item.tag);
                set.rouge.push(best_rouge(references.iter().map(Vec::as_slice), &tokens));
                set.redundancy += reference_free::redundancy(&tokens) / items.len() as f64;
                keep(Prediction { id: item.id.clone(), method: name.clone(), budget: length.name(), picks, text })?;
            }
            if let (Some(ranking), Length::Sentences(3)) = (config.methods.get(method), length) {
                set.stability = Some(reference_free::stability(items, &orders, *ranking));
            }
            scores.insert((length, method), set);
        }
    }
    Ok(scores)
}

/// A peer's order for every document, and the seconds it took for all of them.
fn ask(peer: &Peer, items: &[Item]) -> Result<(Vec<Vec<usize>>, f64), Error> {
    let question = |item: &'_ Item| -> (String, serde_json::Value) {
        let question =
            Question { id: &item.id, lang: &item.tag, title: item.title.as_deref(), sentences: &item.sentences };
        (item.id.clone(), serde_json::to_value(question).expect("texts become JSON"))
    };
    let questions: Vec<(String, serde_json::Value)> = items.iter().map(question).collect();
    let replies = peer.ask::<_, Answer>(&questions, ANSWER_TIMEOUT)?;
    let seconds = replies.per_second().map_or(0.0, |rate| items.len() as f64 / rate);
    let mut orders = Vec::with_capacity(items.len());
    for (line, (answer, item)) in replies.answers.into_iter().zip(items).enumerate() {
        let mut seen = vec![false; item.sentences.len()];
        for index in &answer.ranking {
            if seen.get(*index) != Some(&false) {
                let problem = format!("{}: {index} is no sentence's number, or stands there twice", item.id);
                return Err(Error::PeerAnswer { name: peer.name.clone(), line: line + 1, problem });
            }
            seen[*index] = true;
        }
        orders.push(answer.ranking);
    }
    Ok((orders, seconds))
}

/// The time that this thread has had on a processor; where the system does not tell, the time that has passed.
pub fn cpu_seconds() -> f64 {
    use std::sync::LazyLock;
    static BEGUN: LazyLock<Instant> = LazyLock::new(Instant::now);
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = told.and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(|| BEGUN.elapsed().as_secs_f64(), |nanoseconds| nanoseconds / 1e9)
}
