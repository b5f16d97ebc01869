//! The settings file: `--config pith.toml` holds flags by command, and a flag on the command line wins.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use crate::exit::Failure;

/// Puts the flags of the settings file behind the words, unless the words already give them.
pub(super) fn fold_in(words: Vec<OsString>, cli: &clap::Command) -> Result<Vec<OsString>, Failure> {
    let Some(path) = config_path(&words) else { return Ok(words) };
    let settings = read(&path)?;
    check_tables(&path, &settings, cli, &mut Vec::new())?;
    let (commands, command) = chosen(&words, cli);
    let Some(table) = commands.iter().try_fold(&settings, |table, name| table.get(*name)?.as_table()) else {
        return Ok(words);
    };
    // Behind `--` everything is a file or a URL, so the flags go before it.
    let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
    let (given, operands) = words.split_at(end);
    let mut folded = given.to_vec();
    for (key, value) in table.iter().filter(|(_, value)| !value.is_table()) {
        let argument = find_flag(command, key).expect("the tables were checked");
        if !given.iter().filter_map(|word| word.to_str()).any(|word| names(word, argument)) {
            folded.extend(words_of(&format!("--{key}"), value));
        }
    }
    folded.extend_from_slice(operands);
    Ok(folded)
}

/// Every table must be a command and every key one of its flags, also for commands that do not run now: a misspelt
/// setting that is silently left out costs more than a stop.
fn check_tables(path: &Path, table: &Table, command: &clap::Command, names: &mut Vec<String>) -> Result<(), Failure> {
    for (key, value) in table {
        match (value.as_table(), command.find_subcommand(key)) {
            (Some(inner), Some(subcommand)) => {
                names.push(key.clone());
                check_tables(path, inner, subcommand, names)?;
                names.pop();
            }
            (None, _) if !names.is_empty() && find_flag(command, key).is_some() => {}
            (None, _) if names.is_empty() => {
                return Err(Failure::usage(format!("{}: {key:?} stands outside a table", path.display()))
                    .hint("flags stand below the command they belong to, such as `[crawl]`"));
            }
            (None, _) => {
                return Err(Failure::usage(format!("{}: [{}] has no flag {key:?}", path.display(), names.join(".")))
                    .hint(format!("`pith {} --help` lists the flags", names.join(" "))));
            }
            (Some(_), None) => {
                names.push(key.clone());
                return Err(Failure::usage(format!("{}: there is no command [{}]", path.display(), names.join(".")))
                    .hint("`pith --help` lists the commands"));
            }
        }
    }
    Ok(())
}

fn find_flag<'c>(command: &'c clap::Command, key: &str) -> Option<&'c clap::Arg> {
    command.get_arguments().find(|argument| argument.get_long() == Some(key))
}

/// Whether a word on the command line gives this flag, in its long or its short form.
fn names(word: &str, argument: &clap::Arg) -> bool {
    let long = argument.get_long().is_some_and(|long| {
        word.strip_prefix("--")
            .and_then(|word| word.strip_prefix(long))
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
    });
    let short = argument.get_short().is_some_and(|short| {
        !word.starts_with("--") && word.strip_prefix('-').is_some_and(|letters| letters.starts_with(short))
    });
    long || short
}

fn config_path(words: &[OsString]) -> Option<PathBuf> {
    let mut words = words.iter().skip(1);
    while let Some(word) = words.next() {
        let text = word.to_str().unwrap_or("");
        if text == "--config" {
            return words.next().map(PathBuf::from);
        }
        if let Some(path) = text.strip_prefix("--config=") {
            return Some(PathBuf::from(path));
        }
        if text == "--" {
            return None;
        }
    }
    None
}

fn read(path: &Path) -> Result<Table, Failure> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        Failure::usage(format!("{}: cannot read the settings file: {error}", path.display()))
            .hint("`--config` takes the path of a TOML file")
    })?;
    text.parse().map_err(|error: toml::de::Error| {
        Failure::usage(format!("{}: not valid TOML: {}", path.display(), error.to_string().trim_end()))
    })
}

/// The path of commands that the words choose, such as `corpus dedup`, and the last of them.
fn chosen<'c>(words: &[OsString], cli: &'c clap::Command) -> (Vec<&'c str>, &'c clap::Command) {
    let mut path = Vec::new();
    let mut command = cli;
    for word in words.iter().skip(1).filter_map(|word| word.to_str()) {
        if let Some(next) = command.find_subcommand(word) {
            path.push(next.get_name());
            command = next;
        } else if !path.is_empty() && !word.starts_with('-') {
            break;
        }
    }
    (path, command)
}

fn words_of(flag: &str, value: &Value) -> Vec<OsString> {
    let plain = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    match value {
        Value::Boolean(true) => vec![flag.into()],
        Value::Boolean(false) => Vec::new(),
        Value::Array(values) => values.iter().map(|value| format!("{flag}={}", plain(value)).into()).collect(),
        value => vec![format!("{flag}={}", plain(value)).into()],
    }
}
