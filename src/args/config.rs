//! The settings file: `pith.toml` in the current folder, or what `--config` names, holds flags by command; a flag on the
//! command line wins.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use crate::exit::Failure;

/// The file that is read without being named.
const USUAL_NAME: &str = "pith.toml";

/// Puts the flags of the settings file behind the arguments, unless these already give them.
pub(super) fn merge_config_file(args: Vec<OsString>, cli: &clap::Command) -> Result<Vec<OsString>, Failure> {
    let (path, is_asked_for) = match config_path(&args) {
        Some(path) => (path, true),
        None if is_without_config(&args) => return Ok(args),
        None => (PathBuf::from(USUAL_NAME), false),
    };
    if !is_asked_for && !path.is_file() {
        return Ok(args);
    }
    let settings = read(&path)?;
    check_tables(&path, &settings, cli, &mut Vec::new())?;
    let (commands, command) = find_subcommand_path(&args, cli);
    let Some(table) = commands.iter().try_fold(&settings, |table, name| table.get(*name)?.as_table()) else {
        return Ok(args);
    };
    // Behind `--` everything is a file or a URL, so the flags go before it.
    let end = args.iter().position(|arg| arg == "--").unwrap_or(args.len());
    let (given, operands) = args.split_at(end);
    let mut merged = given.to_vec();
    let n_given = merged.len();
    for (key, value) in table.iter().filter(|(_, value)| !value.is_table()) {
        let argument = find_flag(command, key).expect("the tables were checked");
        if !given.iter().filter_map(|arg| arg.to_str()).any(|arg| names(arg, argument)) {
            merged.extend(to_args(&format!("--{key}"), value));
        }
    }
    if !is_asked_for && merged.len() > n_given {
        let flags: Vec<_> = merged[n_given..].iter().map(|flag| flag.to_string_lossy()).collect();
        sayln!("{}: {} (`--no-config` leaves it unread)", path.display(), flags.join(" "));
    }
    merged.extend_from_slice(operands);
    Ok(merged)
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

/// Whether an argument on the command line gives this flag, in its long or its short form.
fn names(arg: &str, argument: &clap::Arg) -> bool {
    let long = argument.get_long().is_some_and(|long| {
        arg.strip_prefix("--")
            .and_then(|arg| arg.strip_prefix(long))
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
    });
    let short = argument.get_short().is_some_and(|short| {
        !arg.starts_with("--") && arg.strip_prefix('-').is_some_and(|letters| letters.starts_with(short))
    });
    long || short
}

/// Whether the file in the current folder is not to be read. Help and versions need no file either.
fn is_without_config(args: &[OsString]) -> bool {
    let before_operands = args.iter().skip(1).take_while(|arg| *arg != "--");
    before_operands
        .filter_map(|arg| arg.to_str())
        .any(|arg| matches!(arg, "--no-config" | "--help" | "-h" | "--version"))
}

fn config_path(args: &[OsString]) -> Option<PathBuf> {
    let mut args = args.iter().skip(1);
    while let Some(arg) = args.next() {
        let text = arg.to_str().unwrap_or("");
        if text == "--config" {
            return args.next().map(PathBuf::from);
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

/// The path of commands that the arguments choose, such as `corpus dedup`, and the last of them.
fn find_subcommand_path<'c>(args: &[OsString], cli: &'c clap::Command) -> (Vec<&'c str>, &'c clap::Command) {
    let mut path = Vec::new();
    let mut command = cli;
    for arg in args.iter().skip(1).filter_map(|arg| arg.to_str()) {
        if let Some(next) = command.find_subcommand(arg) {
            path.push(next.get_name());
            command = next;
        } else if !path.is_empty() && !arg.starts_with('-') {
            break;
        }
    }
    (path, command)
}

fn to_args(flag: &str, value: &Value) -> Vec<OsString> {
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
