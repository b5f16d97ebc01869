//! [`summarize`]: an extractive summary, the best-ranked sentences of a text within a budget, in the order of the text.

use std::collections::HashSet;

use serde::Serialize;

use crate::document::SummarySentence;
use crate::language::Language;
use crate::rank::{Analysis, Budget, Method, Picks};
use crate::sentence::split_sentences;

/// The settings of a summary.
#[derive(Clone, Copy, Debug, Default)]
pub struct SummaryOptions<'a> {
    /// The title of the text, where it has one.
    pub title: Option<&'a str>,
    /// The language of the text; detected from the text where it is not given.
    pub language: Option<Language>,
    /// The ranking.
    pub method: Method,
    /// How long the summary may be.
    pub budget: Budget,
}

/// Splits a text into sentences, ranks them and gives the best, in the order of the text.
///
/// ```
/// use pith_extractor::{Budget, SummaryOptions, summarize};
///
/// let text = "It rained in May. The rain in May filled every river. Ducks were pleased.";
/// let options = SummaryOptions { budget: Budget::Sentences(1), ..SummaryOptions::default() };
/// let summary = summarize(text, &options);
/// assert_eq!(summary.len(), 1);
/// assert!(text.contains(&summary[0].text));
/// ```
pub fn summarize(text: &str, options: &SummaryOptions<'_>) -> Vec<SummarySentence> {
    let language = options.language.or_else(|| Language::of(text));
    let sentences: Vec<&str> = sentences_of(text, language);
    summarize_analysis(&Analysis::of(sentences, options.title, language), options.method, options.budget)
}

/// The sentences of a text without the space around them; blank ones left out.
pub fn sentences_of(text: &str, language: Option<Language>) -> Vec<&str> {
    split_sentences(text, language).map(str::trim).filter(|sentence| !sentence.is_empty()).collect()
}

/// The units of a whole page ([`crate::walk_page`]), ready to be ranked. The seed's methods get them unchanged,
/// blank ones included, because those count in its formulas; every other ranking gets each text once, without the
/// space around it, and words without punctuation.
pub fn analyze_units(units: &[String], method: Method) -> Analysis<'_> {
    if matches!(method, Method::Naive | Method::NaiveMedian | Method::TfIdf) {
        return Analysis::of_units(units.iter().map(String::as_str).collect());
    }
    let mut seen = HashSet::new();
    let texts: Vec<&str> =
        units.iter().map(|unit| unit.trim()).filter(|unit| !unit.is_empty() && seen.insert(*unit)).collect();
    let language = texts.iter().max_by_key(|text| text.len()).and_then(|longest| Language::of(longest));
    Analysis::of(texts, None, language)
}

/// The best of sentences that have been cut and counted already: units of a page ([`Analysis::of_units`]), or the
/// sentences of several texts.
pub fn summarize_analysis(text: &Analysis<'_>, method: Method, budget: Budget) -> Vec<SummarySentence> {
    let mut picks = Picks::new(text, budget);
    let scores = method.ranking().rank(text, &mut picks);
    let sentence = |position: usize| SummarySentence {
        text: text.sentences()[position].to_owned(),
        score: scores[position],
        position,
    };
    picks.in_order().into_iter().map(sentence).collect()
}

/// The words and scores behind a summary: the tables of the seed's slides, for any ranking.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explanation {
    /// The ranking.
    pub method: &'static str,
    /// Every different word in the order of its first appearance.
    pub words: Vec<ExplainedWord>,
    /// Every sentence in the order of the text.
    pub sentences: Vec<ExplainedSentence>,
}

/// One word of an [`Explanation`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExplainedWord {
    /// The word as it is compared.
    pub word: String,
    /// How often it occurs in the text.
    pub count: u32,
    /// Its weight in the ranking; nothing for rankings that do not weigh words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
}

/// One sentence of an [`Explanation`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExplainedSentence {
    /// The sentence.
    pub text: String,
    /// Its words, as numbers into [`Explanation::words`].
    pub words: Vec<u32>,
    /// Its score.
    pub score: f64,
    /// The rank at which it was picked, from 1; nothing where it was not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank: Option<usize>,
}

/// Explains what [`summarize_analysis`] picks.
pub fn explain(text: &Analysis<'_>, method: Method, budget: Budget) -> Explanation {
    let mut picks = Picks::new(text, budget);
    let scores = method.ranking().rank(text, &mut picks);
    let mut ranks = vec![None; text.n_sentences()];
    for (position, sentence) in picks.best_first().into_iter().enumerate() {
        ranks[sentence] = Some(position + 1);
    }
    let weights = method.ranking().word_weights(text);
    let word = |number: u32| ExplainedWord {
        word: text.word(number).to_owned(),
        count: text.count(number),
        weight: weights.as_ref().map(|weights| weights[number as usize]),
    };
    let sentence = |index: usize| ExplainedSentence {
        text: text.sentences()[index].to_owned(),
        words: text.tokens(index).to_vec(),
        score: scores[index],
        rank: ranks[index],
    };
    Explanation {
        method: method.name(),
        words: (0..text.n_words() as u32).map(word).collect(),
        sentences: (0..text.n_sentences()).map(sentence).collect(),
    }
}
