//! The settings of a command as they stand in its report: every flag with its value, given or by default.

use clap::{ArgAction, ArgMatches};
use serde_json::{Map, Value};

/// Flags whose values hold secrets behind their first `=`.
const SECRET: [&str; 2] = ["auth", "header"];

/// The values of all flags of a command, by their names. What is secret is left out.
pub(super) fn by_flag(name: &str, matches: &ArgMatches, cli: &clap::Command) -> Map<String, Value> {
    let command = cli.find_subcommand(name).expect("the parser has found it");
    let arguments = command.get_arguments().filter(|argument| !argument.is_global_set());
    let named = arguments.filter_map(|argument| Some((argument.get_long()?, argument)));
    named.map(|(flag, argument)| (flag.to_owned(), value(flag, argument, matches))).collect()
}

fn value(flag: &str, argument: &clap::Arg, matches: &ArgMatches) -> Value {
    let raw = matches.get_raw(argument.get_id().as_str());
    let mut texts = raw.into_iter().flatten().map(|text| shown(flag, &text.to_string_lossy()));
    match argument.get_action() {
        ArgAction::SetTrue => Value::Bool(matches.get_flag(argument.get_id().as_str())),
        ArgAction::Append => texts.map(Value::String).collect(),
        _ => texts.next().map_or(Value::Null, Value::String),
    }
}

/// A value without its secrets: passwords, and the user of a proxy.
fn shown(flag: &str, text: &str) -> String {
    match text.split_once('=') {
        Some((host, _)) if SECRET.contains(&flag) => format!("{host}=…"),
        _ if flag == "proxy" => match (text.split_once("://"), text.rsplit_once('@')) {
            (Some((scheme, _)), Some((_, host))) => format!("{scheme}://…@{host}"),
            _ => text.to_owned(),
        },
        _ => text.to_owned(),
    }
}
