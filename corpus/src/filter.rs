//! Quality filters: language, length, URL and word lists, and published rule sets by name.
//!
//! A rule measures one value of a document and compares it with one threshold; the first that fails drops the
//! document and is recorded with value and threshold. Thresholds are settings. In scripts without spaces the rules
//! count characters where they count words elsewhere (three characters for two words), know their punctuation,
//! and leave out what has no meaning there (the mean length of a word).

mod c4;
mod fineweb;
mod gopher;
mod lists;
mod text_stats;

use std::path::{Path, PathBuf};

use pith_preferences::{Purpose, Verdict as OwnerVerdict};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub use c4::C4;
pub use fineweb::FineWeb;
pub use gopher::{GopherQuality, GopherRepetition};
pub use lists::{BlockedWords, UrlLists};

use crate::jsonl::{self, DocumentFields, Writer};
use crate::manifest::Counts;
use crate::step::{DamagedLines, Finished, Run, ShardOutput, counts, for_each_document};
use crate::{Error, Observer};
use text_stats::TextStats;

/// Which rules apply, with their thresholds. The rules run in the order of the fields.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Addresses and sites that are not wanted, or the only ones that are.
    pub urls: UrlLists,
    /// The languages to keep: `zh` keeps `zh-Hant` too. Empty keeps all.
    pub languages: Vec<String>,
    /// The least confidence; documents that have none, such as text files, are kept.
    pub min_confidence: f64,
    /// Keep what owners do not reserve for this purpose, of the documents that were judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowed_for: Option<Purpose>,
    /// How long a text must and may be.
    pub length: Length,
    /// Words that are not wanted.
    pub words: BlockedWords,
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
    /// At least this many characters.
    pub min_characters: u64,
    /// At most this many characters.
    pub max_characters: u64,
    /// At least this many words.
    pub min_words: u64,
    /// At most this many words.
    pub max_words: u64,
}

impl Default for Length {
    fn default() -> Self {
        Length { min_characters: 1, max_characters: u64::MAX, min_words: 0, max_words: u64::MAX }
    }
}

/// Why a document was dropped.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DropReason {
    /// The rule, such as `gopher-quality.mean-word-length`.
    pub rule: &'static str,
    /// What the document has.
    pub value: Value,
    /// What the rule allows.
    pub threshold: Value,
}

impl DropReason {
    fn new(rule: &'static str, value: impl Into<Value>, threshold: impl Into<Value>) -> Box<DropReason> {
        let rounded = |value: Value| match value.as_f64() {
            Some(number) if !value.is_u64() => json!((number * 1e4).round() / 1e4),
            _ => value,
        };
        Box::new(DropReason { rule, value: rounded(value.into()), threshold: threshold.into() })
    }
}

/// Fails a rule unless `value` is at least `least`.
fn at_least(rule: &'static str, value: f64, least: f64) -> Result<(), Box<DropReason>> {
    if value < least { Err(DropReason::new(rule, value, least)) } else { Ok(()) }
}

/// Fails a rule unless `value` is at most `most`.
fn at_most(rule: &'static str, value: f64, most: f64) -> Result<(), Box<DropReason>> {
    if value > most { Err(DropReason::new(rule, value, most)) } else { Ok(()) }
}

/// The result of the rules for one document.
#[derive(Debug, PartialEq)]
pub enum Verdict {
    /// It is kept unchanged.
    Keep,
    /// It is kept with this text: C4 removed lines of it.
    Shorten {
        /// What is left.
        text: String,
        /// How many lines went.
        n_lines: u64,
    },
    /// It is dropped.
    Drop(Box<DropReason>),
}

impl Settings {
    /// Applies the rules to a document.
    pub fn apply(&self, document: &DocumentFields) -> Verdict {
        match self.check(document) {
            Ok(None) => Verdict::Keep,
            Ok(Some((text, n_lines))) => Verdict::Shorten { text, n_lines },
            Err(dropped) => Verdict::Drop(dropped),
        }
    }

    fn check(&self, document: &DocumentFields) -> Result<Option<(String, u64)>, Box<DropReason>> {
        self.urls.check(document.address())?;
        self.check_language(&document.language)?;
        if let Some(confidence) = document.confidence {
            at_least("confidence", confidence, self.min_confidence)?;
        }
        self.check_owner(document)?;
        let stats = TextStats::of(document);
        self.length.check(&stats)?;
        self.words.check(&stats)?;
        if let Some(rules) = &self.gopher_repetition {
            rules.check(&stats)?;
        }
        if let Some(rules) = &self.gopher_quality {
            rules.check(&stats)?;
        }
        let shortened = match &self.c4 {
            Some(rules) => rules.check(&stats)?,
            None => None,
        };
        if let Some(rules) = &self.fineweb {
            // FineWeb measures the text that C4 leaves, as in its published pipeline.
            match &shortened {
                Some((text, _)) => rules.check(&TextStats::of_text(text, stats.language))?,
                None => rules.check(&stats)?,
            }
        }
        Ok(shortened)
    }

    fn check_owner(&self, document: &DocumentFields) -> Result<(), Box<DropReason>> {
        let Some(purpose) = self.allowed_for else { return Ok(()) };
        let verdict = document.preferences.as_ref().map(|wishes| wishes.verdict_on(purpose));
        match verdict {
            Some(OwnerVerdict::Allowed | OwnerVerdict::Unstated) => Ok(()),
            Some(OwnerVerdict::Reserved) => Err(DropReason::new("preferences.reserved", "reserved", purpose.name())),
            None => Err(DropReason::new("preferences.unjudged", Value::Null, purpose.name())),
        }
    }

    fn check_language(&self, language: &str) -> Result<(), Box<DropReason>> {
        let matches = |wanted: &String| {
            language == wanted || language.strip_prefix(wanted.as_str()).is_some_and(|rest| rest.starts_with('-'))
        };
        if self.languages.is_empty() || self.languages.iter().any(matches) {
            return Ok(());
        }
        Err(DropReason::new("language", language, self.languages.join(",")))
    }
}

impl Length {
    fn check(&self, stats: &TextStats) -> Result<(), Box<DropReason>> {
        let (characters, words) = (stats.n_characters, stats.n_words() as u64);
        let bounds = [
            ("length.min-characters", characters < self.min_characters, characters, self.min_characters),
            ("length.max-characters", characters > self.max_characters, characters, self.max_characters),
            ("length.min-words", words < self.min_words, words, self.min_words),
            ("length.max-words", words > self.max_words, words, self.max_words),
        ];
        match bounds.into_iter().find(|(_, broken, ..)| *broken) {
            Some((rule, _, value, threshold)) => Err(DropReason::new(rule, value, threshold)),
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
    let mut output = run.open(shards, described)?;
    if matches!(dropped, DroppedDocuments::Keep) {
        let names: Vec<String> = (0..shards.len()).map(dropped_name).collect();
        output.claim(names.iter().map(String::as_str))?;
    }
    let make = |index: usize, path: &Path, damage: &mut DamagedLines| {
        let name = jsonl::shard_name(index);
        filter_shard(path, run.out, &name, settings, dropped, run.observer, damage)
    };
    let (mut output, damage, was_already_done) =
        run.process_shards(output, "filtering", shards, jsonl::shard_name, make)?;
    let manifest = output.complete(Counts::new())?.clone();
    Ok(Finished { manifest, damage, was_already_done, notes: Vec::new() })
}

/// Where the dropped documents of a shard go.
fn dropped_name(index: usize) -> String {
    format!("dropped/{}", jsonl::shard_name(index))
}

fn filter_shard(
    path: &Path,
    out: &Path,
    name: &str,
    settings: &Settings,
    dropped: DroppedDocuments,
    observer: &dyn Observer,
    damage: &mut DamagedLines,
) -> Result<ShardOutput, Error> {
    let mut kept = Writer::create(out.join(name))?;
    let mut dropped_writer = match dropped {
        DroppedDocuments::Keep => Some(Writer::create(out.join("dropped").join(name))?),
        DroppedDocuments::Count => None,
    };
    let mut counted = counts([("in", 0), ("kept", 0), ("dropped.damaged", 0)]);
    let mut count = |name: &str, n: u64| *counted.entry(name.to_owned()).or_default() += n;
    for_each_document(path, observer, damage, |line, document| {
        count("in", 1);
        match settings.apply(document) {
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
                match &mut dropped_writer {
                    Some(dropped_writer) => dropped_writer.put(&jsonl::with_field(line, "dropped", &why)),
                    None => Ok(()),
                }
            }
        }
    })?;
    count("in", damage.n_lines);
    count("dropped.damaged", damage.n_lines);
    let mut side_files = Vec::new();
    if let Some(dropped_writer) = dropped_writer {
        side_files.push((format!("dropped/{name}"), dropped_writer.seal()?));
    }
    Ok(ShardOutput { sealed: kept.seal()?, counts: counted, side_files })
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
    fn a_document_below_the_confidence_is_dropped_and_one_without_is_kept() {
        let settings = Settings { min_confidence: 0.8, ..Settings::default() };
        let check = |line: &[u8]| settings.apply(&DocumentFields::of(line).unwrap());
        assert_eq!(check(br#"{"text":"a","confidence":0.8}"#), Verdict::Keep);
        assert_eq!(check(br#"{"text":"a","confidence":null}"#), Verdict::Keep);
        assert_eq!(check(br#"{"text":"a"}"#), Verdict::Keep);
        let Verdict::Drop(dropped) = check(br#"{"text":"a","confidence":0.79}"#) else { panic!("it was kept") };
        let expected = json!({"rule": "confidence", "value": 0.79, "threshold": 0.8});
        assert_eq!(serde_json::to_value(dropped).unwrap(), expected);
    }

    #[test]
    fn what_is_reserved_or_was_not_judged_is_dropped_for_a_purpose() {
        let check = |verdict: &str, purpose: Purpose| {
            let settings = Settings { allowed_for: Some(purpose), ..Settings::default() };
            let line = format!(r#"{{"text":"a","preferences":{verdict}}}"#);
            match settings.apply(&DocumentFields::of(line.as_bytes()).unwrap()) {
                Verdict::Drop(reason) => reason.rule,
                _ => "kept",
            }
        };
        let judged = r#"{"verdict":{"train":"reserved","search":"allowed","archive":"unstated"},"statements":[]}"#;
        assert_eq!(check(judged, Purpose::Train), "preferences.reserved");
        assert_eq!(check(judged, Purpose::Search), "kept");
        assert_eq!(check(judged, Purpose::Archive), "kept");
        assert_eq!(check("null", Purpose::Train), "preferences.unjudged");
        let settings = serde_json::to_value(Settings::default()).unwrap();
        assert!(settings.get("allowed_for").is_none(), "folders of earlier versions are still complete");
    }

    #[test]
    fn an_empty_text_is_dropped_by_length_and_says_so() {
        let view = DocumentFields::of(br#"{"text":""}"#).unwrap();
        let Verdict::Drop(dropped) = Settings::default().apply(&view) else { panic!("it was kept") };
        let expected = json!({"rule": "length.min-characters", "value": 0, "threshold": 1});
        assert_eq!(serde_json::to_value(dropped).unwrap(), expected);
    }

    #[test]
    fn fineweb_measures_the_text_that_c4_has_shortened() {
        let check = |text: &str, settings: &Settings| {
            let line = json!({"text": text}).to_string();
            match settings.apply(&DocumentFields::of(line.as_bytes()).unwrap()) {
                Verdict::Keep => "keep",
                Verdict::Shorten { .. } => "shorten",
                Verdict::Drop(reason) => reason.rule,
            }
        };
        let fineweb = Settings { fineweb: Some(FineWeb::default()), ..Settings::default() };
        let both = Settings { c4: Some(C4::default()), ..fineweb.clone() };
        let sentences = "The first long sentence tells what happened in the town.\n\
                         The second long sentence tells why the mayor was late.\n\
                         The third long sentence tells how the story has ended.\n";
        let menu = "an entry of the menu without any full stop\n";
        let with_menu: String = (0..30).map(|n| format!("{n} {menu}")).collect::<String>() + sentences;
        assert_eq!(check(&with_menu, &fineweb), "fineweb.sentence-lines");
        assert_eq!(check(&with_menu, &both), "shorten");

        let repeated = "This sentence is repeated below the story.\n";
        let long_menu: String = (0..9).map(|n| format!("{n} {menu}")).collect();
        let text = format!("{long_menu}{sentences}{repeated}{repeated}");
        assert_eq!(check(&text, &fineweb), "keep");
        assert_eq!(check(&text, &both), "fineweb.duplicate-line-characters");
    }

    #[test]
    fn settings_refuse_a_threshold_that_does_not_exist() {
        assert!(serde_json::from_value::<Settings>(json!({"c4": {"min_sentences": 5.0}})).is_ok());
        assert!(serde_json::from_value::<Settings>(json!({"c4": {"min_sentencs": 5.0}})).is_err());
    }
}
