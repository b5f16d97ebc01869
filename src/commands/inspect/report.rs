//! The counts, as a table for people and as JSON for programs.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::Inspected;
use crate::commands::crawl::format_size;

/// How many hosts and media types are listed.
const LISTED: usize = 20;

/// One JSON object.
pub(super) fn json(inspected: &Inspected) -> Value {
    let summary = &inspected.summary;
    let counts = |pairs: Vec<(String, u64)>| -> Map<String, Value> {
        pairs.into_iter().map(|(name, count)| (name, json!(count))).collect()
    };
    let damage_entries: Vec<Value> = inspected
        .damage_entries
        .iter()
        .map(|(path, offset, reason)| json!({"file": path.display().to_string(), "offset": offset, "reason": reason.to_string()}))
        .collect();
    json!({
        "files": inspected.files,
        "bytes": inspected.bytes,
        "records": summary.records,
        "types": summary.types,
        "pages": summary.pages,
        "distinct_urls": summary.distinct_urls(),
        "distinct_hosts": summary.hosts.len(),
        "damaged": summary.damage.n_damaged,
        "damage": damage_entries,
        "unfinished": inspected.unfinished,
        "truncated": summary.truncated,
        "block_bytes": summary.block_bytes,
        "statuses": counts(summary.statuses.iter().map(|(status, count)| (status.to_string(), *count)).collect()),
        "media_types": counts(most(&summary.media_types)),
        "hosts": counts(most(&summary.hosts)),
        "first": summary.span.map(|(first, _)| first.to_string()),
        "last": summary.span.map(|(_, last)| last.to_string()),
    })
}

/// The names with the highest counts, highest first.
fn most<'a>(counts: impl IntoIterator<Item = (&'a String, &'a u64)>) -> Vec<(String, u64)> {
    let mut pairs: Vec<(String, u64)> = counts.into_iter().map(|(name, count)| (name.clone(), *count)).collect();
    pairs.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
    pairs.truncate(LISTED);
    pairs
}

/// Lines for people.
pub(super) fn table(inspected: &Inspected) -> String {
    let summary = &inspected.summary;
    let mut text = String::new();
    let mut line = |name: &str, value: String| writeln!(text, "{name:<16}{value}").expect("a string takes all");
    line("files", format!("{} ({})", inspected.files, format_size(inspected.bytes)));
    line("records", summary.records.to_string());
    for (name, count) in &summary.types {
        line("", format!("{count:>10}  {name}"));
    }
    line("pages", format!("{} of {} URLs on {} hosts", summary.pages, summary.distinct_urls(), summary.hosts.len()));
    for (status, count) in &summary.statuses {
        line("", format!("{count:>10}  status {status}"));
    }
    for (name, count) in most(&summary.media_types) {
        line("", format!("{count:>10}  {}", visible(&name)));
    }
    for (name, count) in most(&summary.hosts) {
        line("", format!("{count:>10}  {}", visible(&name)));
    }
    if summary.hosts.len() > LISTED {
        line("", format!("            … and {} more hosts", summary.hosts.len() - LISTED));
    }
    line("content", format_size(summary.block_bytes));
    if let Some((first, last)) = summary.span {
        line("time", format!("{first} to {last}"));
    }
    if summary.truncated > 0 {
        line("truncated", summary.truncated.to_string());
    }
    if inspected.unfinished > 0 {
        line("unfinished", format!("{} (repaired when the crawl goes on)", inspected.unfinished));
    }
    line("damaged", summary.damage.n_damaged.to_string());
    for (path, offset, reason) in &inspected.damage_entries {
        line("", format!("{} at byte {offset}: {reason}", path.display()));
    }
    text
}

/// Names come from the web: control characters in them are not obeyed.
fn visible(name: &str) -> String {
    name.chars().map(|letter| if letter.is_control() { '\u{FFFD}' } else { letter }).collect()
}
