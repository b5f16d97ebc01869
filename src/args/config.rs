//! The settings file: `--config pith.toml` holds flags by command, and a flag on the command line wins.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use crate::exit::Failure;

/// Puts the flags of the settings file behind the words, unless the words already give them.
pub(super) fn fold_in(words: Vec<OsString>, cli: &clap::Command) -> Result<Vec<OsString>, Failure> {
    let Some(path) = config_path(&words) else { return Ok(words) };
    let settings = read(&path)?;
    let (commands, command) = chosen(&words, cli);
    let Some(table) = commands.iter().try_fold(&settings, |table, name| table.get(*name)?.as_table()) else {
        return Ok(words);
    };
    let given: Vec<&str> = words.iter().filter_map(|word| word.to_str()).collect();
    let mut folded = words.clone();
    for (key, value) in table {
        if value.is_table() {
            continue;
        }
        if !command.get_arguments().any(|argument| argument.get_long() == Some(key)) {
            return Err(Failure::usage(format!("{}: [{}] has no flag {key:?}", path.display(), commands.join(".")))
                .hint(format!("`pith {} --help` lists the flags", commands.join(" "))));
        }
        let flag = format!("--{key}");
        if given.iter().any(|word| *word == flag || word.starts_with(&format!("{flag}="))) {
            continue;
        }
        folded.extend(words_of(&flag, value));
    }
    Ok(folded)
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
