//! `pith corpus filter`: drops documents that fail a rule.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use pith_corpus::filter::{self, DroppedDocuments, Settings};
use pith_corpus::jsonl;
use pith_preferences::Purpose;
use serde_json::{Map, Value};

use super::{Common, failure};
use crate::exit::{Exit, Failure};

/// The arguments of `pith corpus filter`.
#[derive(clap::Args, Debug)]
#[command(before_help = "Examples:
  pith corpus filter unique --out clean --rules gopher-repetition,gopher-quality,fineweb
  pith corpus filter unique --out clean --languages pt,zh --rules c4 --set c4.min_sentences=5 --keep-dropped
  pith corpus filter --show-rules")]
// What is needed is asked for below: `--show-rules` needs nothing.
#[command(mut_arg("inputs", |arg| arg.required(false)), mut_arg("out", |arg| arg.required(false)))]
pub struct Args {
    #[command(flatten)]
    common: Common,

    /// Published rule sets, by name
    #[arg(long, value_enum, value_delimiter = ',', value_name = "SETS")]
    rules: Vec<RuleSet>,

    /// Another threshold for a rule, such as `gopher_quality.min_words=20`; `--show-rules` prints them all
    #[arg(long = "set", value_name = "RULE=VALUE")]
    thresholds: Vec<String>,

    /// Print the rules with their thresholds as JSON and stop; without `--rules`, all sets
    #[arg(long)]
    show_rules: bool,

    /// Keep these languages; `zh` keeps `zh-Hant` too
    #[arg(long, value_delimiter = ',', value_name = "TAGS")]
    languages: Vec<String>,

    /// At least this confidence, the F1 that the extractor expects of the text; documents without one are kept
    #[arg(long, value_name = "F1", value_parser = share)]
    min_confidence: Option<f64>,

    /// Keep what owners do not reserve for this purpose: train, search or archive. Documents that were not judged are
    /// dropped
    #[arg(long, value_name = "PURPOSE")]
    allowed_for: Option<Purpose>,

    /// At least this many characters
    #[arg(long, value_name = "N")]
    min_characters: Option<u64>,

    /// At most this many characters
    #[arg(long, value_name = "N")]
    max_characters: Option<u64>,

    /// At least this many words
    #[arg(long, value_name = "N")]
    min_words: Option<u64>,

    /// At most this many words
    #[arg(long, value_name = "N")]
    max_words: Option<u64>,

    /// A list of hosts and beginnings of addresses that are not wanted, one per line
    #[arg(long, value_name = "FILE")]
    block_urls: Vec<PathBuf>,

    /// A list of hosts and beginnings of addresses that alone are wanted
    #[arg(long, value_name = "FILE")]
    allow_urls: Vec<PathBuf>,

    /// A list of words that are not wanted, one per line
    #[arg(long, value_name = "FILE")]
    block_words: Vec<PathBuf>,

    /// Allow this many of those words per document
    #[arg(long, value_name = "N", default_value_t = 0)]
    max_blocked_words: u64,

    /// Write what is dropped to `dropped/`, each document with the rule, its value and the threshold
    #[arg(long)]
    keep_dropped: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum RuleSet {
    C4,
    GopherQuality,
    GopherRepetition,
    Fineweb,
}

fn share(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| (0.0..=1.0).contains(number));
    number.ok_or_else(|| "a number from 0 to 1".to_owned())
}

/// Drops what fails a rule.
pub fn run(args: Args) -> Result<Exit, Failure> {
    let settings = settings(&args)?;
    if args.show_rules {
        outln!("{}", serde_json::to_string_pretty(&settings)?);
        return Ok(Exit::Done);
    }
    if args.common.inputs.is_empty() {
        return Err(Failure::usage("documents and `--out DIR` are needed")
            .hint("`pith corpus filter unique --out clean --rules c4`"));
    }
    let shards = jsonl::shards(&args.common.inputs).map_err(failure)?;
    let dropped = if args.keep_dropped { DroppedDocuments::Keep } else { DroppedDocuments::Count };
    args.common.run(|run| filter::filter(&shards, &settings, dropped, run))
}

fn settings(args: &Args) -> Result<Settings, Failure> {
    let shows_all = args.show_rules && args.rules.is_empty();
    let on = |set: RuleSet| shows_all || args.rules.contains(&set);
    let mut settings = Settings {
        languages: args.languages.clone(),
        min_confidence: args.min_confidence.unwrap_or_default(),
        allowed_for: args.allowed_for,
        c4: on(RuleSet::C4).then(Default::default),
        gopher_quality: on(RuleSet::GopherQuality).then(Default::default),
        gopher_repetition: on(RuleSet::GopherRepetition).then(Default::default),
        fineweb: on(RuleSet::Fineweb).then(Default::default),
        ..Settings::default()
    };
    let length = &mut settings.length;
    length.min_characters = args.min_characters.unwrap_or(length.min_characters);
    length.max_characters = args.max_characters.unwrap_or(length.max_characters);
    length.min_words = args.min_words.unwrap_or(length.min_words);
    length.max_words = args.max_words.unwrap_or(length.max_words);
    settings.urls.block = lists(&args.block_urls)?;
    settings.urls.allow = lists(&args.allow_urls)?;
    settings.words.block = lists(&args.block_words)?;
    settings.words.max = args.max_blocked_words;
    with_thresholds(settings, &args.thresholds)
}

/// The entries of list files: one per line, `#` begins a comment, addresses without their scheme.
fn lists(paths: &[PathBuf]) -> Result<BTreeSet<String>, Failure> {
    let mut entries = BTreeSet::new();
    for path in paths {
        let text = read(path)?;
        let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim().to_lowercase());
        let bare = lines.map(|line| line.split_once("://").map_or(line.clone(), |(_, rest)| rest.to_owned()));
        entries.extend(bare.filter(|line| !line.is_empty()));
    }
    Ok(entries)
}

fn read(path: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(path)
        .map_err(|error| Failure::usage(format!("{}: cannot read the list: {error}", path.display())))
}

fn with_thresholds(settings: Settings, thresholds: &[String]) -> Result<Settings, Failure> {
    let mut value = serde_json::to_value(&settings)?;
    for threshold in thresholds {
        let Some((path, number)) = threshold.split_once('=') else {
            return Err(Failure::usage(format!("--set {threshold}: not of the form RULE=VALUE")));
        };
        let (set, rule) = path.split_once('.').unwrap_or((path, ""));
        let number: Value = serde_json::from_str(number)
            .map_err(|_| Failure::usage(format!("--set {threshold}: {number:?} is not a number, true or false")))?;
        let set_name = set.replace('-', "_");
        match value.get_mut(&set_name) {
            Some(Value::Object(rules)) => replace(rules, &rule.replace('-', "_"), number, threshold)?,
            Some(Value::Null) => {
                return Err(Failure::usage(format!("--set {threshold}: {set} is not among --rules")));
            }
            _ => return Err(unknown(threshold)),
        }
    }
    serde_json::from_value(value).map_err(|error| Failure::usage(format!("--set: {error}")))
}

/// Sets a rule, or the n-th number of one that has several: `gopher_repetition.max_top_n_gram.0`.
fn replace(rules: &mut Map<String, Value>, rule: &str, number: Value, threshold: &str) -> Result<(), Failure> {
    let (name, index) = rule.split_once('.').map_or((rule, None), |(name, index)| (name, index.parse::<usize>().ok()));
    let target = match (rules.get_mut(name), index) {
        (Some(Value::Array(numbers)), Some(index)) => numbers.get_mut(index),
        (target, None) => target,
        _ => None,
    };
    *target.ok_or_else(|| unknown(threshold))? = number;
    Ok(())
}

fn unknown(threshold: &str) -> Failure {
    Failure::usage(format!("--set {threshold}: there is no such rule"))
        .hint("`pith corpus filter --show-rules` prints every rule with its threshold")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_are_set_by_name_and_unknown_ones_refused() {
        let settings = Settings { c4: Some(Default::default()), ..Settings::default() };
        let changed = with_thresholds(settings.clone(), &["c4.min-sentences=5".into()]).unwrap();
        assert_eq!(changed.c4.unwrap().min_sentences, 5.0);
        assert!(with_thresholds(settings.clone(), &["c4.min=5".into()]).is_err());
        assert!(with_thresholds(settings, &["fineweb.short_line=5".into()]).is_err());
    }
}
