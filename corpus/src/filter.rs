//! Which documents are worth keeping: language, length, lists, and the published rules by name.
//!
//! A rule measures one value of a document and compares it with one threshold; the first that fails drops the
//! document and is named, with value and threshold. Thresholds are settings. In scripts without spaces the rules
//! count characters where they count words elsewhere (three characters for two words), know their punctuation,
//! and leave out what has no meaning there (the mean length of a word).

mod c4;
mod fineweb;
mod gopher;
mod lists;
mod measured;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub use c4::C4;
pub use fineweb::FineWeb;
pub use gopher::{GopherQuality, GopherRepetition};
pub use lists::{Urls, Words};

use crate::jsonl::{self, View, Writer};
use crate::manifest::Counts;
use crate::step::{Damage, Finished, Made, Run, counts, for_each_document};
use crate::{Error, Watch};
use measured::Measured;

/// Which rules apply, with their thresholds. The rules run in the order of the fields.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Addresses and sites that are not wanted, or the only ones that are.
    pub urls: Urls,
    /// The languages to keep: `zh` keeps `zh-Hant` too. Empty keeps all.
    pub languages: Vec<String>,
    /// How long a text must and may be.
    pub length: Length,
    /// Words that are not wanted.
    pub words: Words,
    /// Rae and others 2021, table A1: repetition.
    pub gopher_repetition: Option<GopherRepetition>,
    /// Rae and others 2021, section A.1.1: quality.
    pub gopher_quality: Option<GopherQuality>,
    /// Raffel and others 2020, section 2.2.
    pub c4: Option<C4>,
    /// Penedo and others 2024, section 3.6.
    pub fineweb: Option<FineWeb>,
}

/// The bounds of a text; the default bounds nothing but the empty text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Length {
    /// At least so many characters.
    pub min_characters: u64,
    /// At most so many characters.
    pub max_characters: u64,
    /// At least so many words.
    pub min_words: u64,
    /// At most so many words.
    pub max_words: u64,
}

impl Default for Length {
    fn default() -> Self {
        Length { min_characters: 1, max_characters: u64::MAX, min_words: 0, max_words: u64::MAX }
    }
}

/// Why a document was dropped.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Dropped {
    /// The rule, such as `gopher-quality.mean-word-length`.
    pub rule: &'static str,
    /// What the document has.
    pub value: Value,
    /// What the rule allows.
    pub threshold: Value,
}

impl Dropped {
    fn new(rule: &'static str, value: impl Into<Value>, threshold: impl Into<Value>) -> Box<Dropped> {
        let rounded = |value: Value| match value.as_f64() {
            Some(number) if !value.is_u64() => json!((number * 1e4).round() / 1e4),
            _ => value,
        };
        Box::new(Dropped { rule, value: rounded(value.into()), threshold: threshold.into() })
    }
}

/// Fails a rule unless `value` is at least `least`.
fn at_least(rule: &'static str, value: f64, least: f64) -> Result<(), Box<Dropped>> {
    if value < least { Err(Dropped::new(rule, value, least)) } else { Ok(()) }
}

/// Fails a rule unless `value` is at most `most`.
fn at_most(rule: &'static str, value: f64, most: f64) -> Result<(), Box<Dropped>> {
    if value > most { Err(Dropped::new(rule, value, most)) } else { Ok(()) }
}

/// What the rules say about one document.
#[derive(Debug, PartialEq)]
pub enum Verdict {
    /// It stays as it is.
    Keep,
    /// It stays with this text: a rule for lines took so many of them.
    Shorten {
        /// What is left.
        text: String,
        /// How many lines went.
        n_lines: u64,
    },
    /// It goes.
    Drop(Box<Dropped>),
}

impl Settings {
    /// Applies the rules to a document.
    pub fn judge(&self, document: &View) -> Verdict {
        match self.check(document) {
            Ok(None) => Verdict::Keep,
            Ok(Some((text, n_lines))) => Verdict::Shorten { text, n_lines },
            Err(dropped) => Verdict::Drop(dropped),
        }
    }

    fn check(&self, document: &View) -> Result<Option<(String, u64)>, Box<Dropped>> {
        self.urls.check(document.address())?;
        self.check_language(&document.language)?;
        let measured = Measured::of(document);
        self.length.check(&measured)?;
        self.words.check(&measured)?;
        if let Some(rules) = &self.gopher_repetition {
            rules.check(&measured)?;
        }
        if let Some(rules) = &self.gopher_quality {
            rules.check(&measured)?;
        }
        let shortened = match &self.c4 {
            Some(rules) => rules.check(&measured)?,
            None => None,
        };
        if let Some(rules) = &self.fineweb {
            rules.check(&measured)?;
        }
        Ok(shortened)
    }

    fn check_language(&self, language: &str) -> Result<(), Box<Dropped>> {
        let matches = |wanted: &String| {
            language == wanted || language.strip_prefix(wanted.as_str()).is_some_and(|rest| rest.starts_with('-'))
        };
        if self.languages.is_empty() || self.languages.iter().any(matches) {
            return Ok(());
        }
        Err(Dropped::new("language", language, self.languages.join(",")))
    }
}

impl Length {
    fn check(&self, measured: &Measured) -> Result<(), Box<Dropped>> {
        let (characters, words) = (measured.n_characters, measured.n_words() as u64);
        let bounds = [
            ("length.min-characters", characters < self.min_characters, characters, self.min_characters),
            ("length.max-characters", characters > self.max_characters, characters, self.max_characters),
            ("length.min-words", words < self.min_words, words, self.min_words),
            ("length.max-words", words > self.max_words, words, self.max_words),
        ];
        match bounds.into_iter().find(|(_, broken, ..)| *broken) {
            Some((rule, _, value, threshold)) => Err(Dropped::new(rule, value, threshold)),
            None => Ok(()),
        }
    }
}

/// What happens to the documents that are dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum DroppedDocuments {
    /// They are counted.
    Count,
    /// They are written to `dropped/`, each with a field `dropped` that holds rule, value and threshold.
    Keep,
}

/// Applies the rules to every document of the shards.
pub fn filter(
    shards: &[PathBuf],
    settings: &Settings,
    dropped: DroppedDocuments,
    run: &Run,
) -> Result<Finished, Error> {
    let described = json!({"step": "filter", "rules": settings, "dropped": dropped});
    let output = run.open(shards, described)?;
    let make = |index: usize, path: &Path, damage: &mut Damage| {
        let name = jsonl::shard_name(index);
        filter_shard(path, run.out, &name, settings, dropped, run.watch, damage)
    };
    let (mut output, damage, was_done) = run.fill(output, "filtering", shards, jsonl::shard_name, make)?;
    let manifest = output.complete(Counts::new())?.clone();
    Ok(Finished { manifest, damage, was_done })
}

fn filter_shard(
    path: &Path,
    out: &Path,
    name: &str,
    settings: &Settings,
    dropped: DroppedDocuments,
    watch: &dyn Watch,
    damage: &mut Damage,
) -> Result<Made, Error> {
    let mut kept = Writer::create(out.join(name))?;
    let mut aside = match dropped {
        DroppedDocuments::Keep => Some(Writer::create(out.join("dropped").join(name))?),
        DroppedDocuments::Count => None,
    };
    let mut counted = counts([("in", 0), ("kept", 0), ("dropped.damaged", 0)]);
    let mut count = |name: &str, n: u64| *counted.entry(name.to_owned()).or_default() += n;
    for_each_document(path, watch, damage, |line, document| {
        count("in", 1);
        match settings.judge(document) {
            Verdict::Keep => {
                count("kept", 1);
                kept.put(line)
            }
            Verdict::Shorten { text, n_lines } => {
                count("kept", 1);
                count("lines.removed", n_lines);
                kept.put(&jsonl::with_text(line, text, ("removed_lines", n_lines)))
            }
            Verdict::Drop(why) => {
                count(&format!("dropped.{}", why.rule), 1);
                match &mut aside {
                    Some(aside) => aside.put(&jsonl::with_field(line, "dropped", &why)),
                    None => Ok(()),
                }
            }
        }
    })?;
    count("in", damage.n_lines);
    count("dropped.damaged", damage.n_lines);
    let mut beside = Vec::new();
    if let Some(aside) = aside {
        beside.push((format!("dropped/{name}"), aside.seal()?));
    }
    Ok(Made { sealed: kept.seal()?, counts: counted, beside })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_match_whole_subtags() {
        let settings = Settings { languages: vec!["zh".into()], ..Settings::default() };
        assert!(settings.check_language("zh-Hant").is_ok() && settings.check_language("zh").is_ok());
        assert_eq!(settings.check_language("zhx").unwrap_err().rule, "language");
    }

    #[test]
    fn an_empty_text_is_dropped_by_length_and_says_so() {
        let view = View::of(br#"{"text":""}"#).unwrap();
        let Verdict::Drop(dropped) = Settings::default().judge(&view) else { panic!("it was kept") };
        let expected = json!({"rule": "length.min-characters", "value": 0, "threshold": 1});
        assert_eq!(serde_json::to_value(dropped).unwrap(), expected);
    }

    #[test]
    fn settings_refuse_a_threshold_that_does_not_exist() {
        assert!(serde_json::from_value::<Settings>(json!({"c4": {"min_sentences": 5.0}})).is_ok());
        assert!(serde_json::from_value::<Settings>(json!({"c4": {"min_sentencs": 5.0}})).is_err());
    }
}
