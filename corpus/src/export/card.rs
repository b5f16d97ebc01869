//! The dataset card: what is inside, where it comes from, and the commands that made it.

use std::fmt::Write;

use serde::Serialize;

use super::Format;
use crate::manifest::{CRAWL_RESERVED, Manifest, Step};
use crate::row::{NUMBERS, TEXTS};
use crate::stats::Stats;

/// What only the user knows about the dataset.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Card {
    /// The title of the card.
    pub title: String,
    /// A licence identifier of the hub, such as `odc-by`; the texts remain their authors'.
    pub licence: String,
}

impl Card {
    /// The card as Markdown with its YAML header.
    pub(super) fn write(&self, stats: &Stats, manifest: &Manifest, format: Format, parts: &[(String, u64)]) -> String {
        let mut card = String::from("---\n");
        let _ = writeln!(card, "license: {}", quoted(&self.licence));
        let languages: Vec<&str> = stats.languages.iter().map(|share| share.name.as_str()).collect();
        let languages: Vec<&&str> = languages.iter().filter(|name| is_language(name)).take(50).collect();
        if !languages.is_empty() {
            card.push_str("language:\n");
            for language in languages {
                let _ = writeln!(card, "- {language}");
            }
        }
        let _ = writeln!(card, "size_categories:\n- {}", size_category(stats.documents));
        let _ = writeln!(card, "pretty_name: {}", quoted(&self.title));
        if format != Format::Wet {
            card.push_str("configs:\n- config_name: default\n  data_files:\n");
            for (part, _) in parts {
                let _ = writeln!(card, "  - split: {part}\n    path: \"data/{part}-*\"");
            }
            features(&mut card);
        }
        card.push_str("---\n\n");
        self.body(&mut card, stats, manifest, parts);
        card
    }

    fn body(&self, card: &mut String, stats: &Stats, manifest: &Manifest, parts: &[(String, u64)]) {
        let _ = writeln!(card, "# {}\n", one_line(&self.title));
        let _ = writeln!(
            card,
            "{} documents from {} sites, {} characters of text ({} MB), {} files.\n",
            stats.documents,
            stats.sites,
            stats.characters,
            stats.text_bytes / 1_000_000,
            manifest.shards.len(),
        );
        match &stats.fetched {
            Some((earliest, latest)) => {
                let _ = writeln!(card, "Fetched from {} to {}.\n", one_line(earliest), one_line(latest));
            }
            None => card.push_str("The documents do not say when they were fetched.\n\n"),
        }
        if parts.len() > 1 {
            card.push_str("## Parts\n\nNo site is in two of them.\n\n| part | documents |\n| --- | ---: |\n");
            for (part, documents) in parts {
                let _ = writeln!(card, "| {part} | {documents} |");
            }
            card.push('\n');
        }
        let _ = writeln!(
            card,
            "## Licence\n\n`{}`. The texts belong to their authors; check the terms of each source before you publish.\n",
            one_line(&self.licence)
        );
        card.push_str("## Sources\n\n| site | documents | characters |\n| --- | ---: | ---: |\n");
        for share in stats.top_sites.iter().take(20) {
            let _ = writeln!(card, "| {} | {} | {} |", cell(&share.name), share.documents, share.characters);
        }
        card.push_str("\n## Languages\n\n| language | documents | characters |\n| --- | ---: | ---: |\n");
        for share in stats.languages.iter().take(30) {
            let _ = writeln!(card, "| {} | {} | {} |", cell(&share.name), share.documents, share.characters);
        }
        owners(card, stats, manifest);
        card.push_str("\n## How it was made\n\nEvery step with what it counted, in the order they ran.\n");
        for step in manifest.history.iter().chain([&manifest.step]) {
            describe(card, step);
        }
        card.push_str("\n`manifest.json` holds the settings of this step and the digest of every file.\n");
    }
}

/// What the owners of the pages said about their use, and what was left out for it.
fn owners(card: &mut String, stats: &Stats, manifest: &Manifest) {
    card.push_str("\n## What the owners say\n\n");
    let unjudged = stats.verdicts.iter().find(|share| share.name == "not judged").map_or(0, |share| share.documents);
    let reserved =
        stats.verdicts.iter().find(|share| share.name == "train: reserved").map_or(0, |share| share.documents);
    let judged = stats.documents - unjudged;
    let _ = writeln!(
        card,
        "{judged} of {} documents were judged by what their owners say about their use (`preferences`); {reserved} of them are\n\
         reserved for training. Left out before: {} URLs by the crawl, {} documents by a filter.\n",
        stats.documents,
        counted(manifest, |name| name == CRAWL_RESERVED),
        counted(manifest, |name| name.starts_with("dropped.preferences.")),
    );
    if stats.statements.is_empty() {
        return;
    }
    card.push_str("| statement | documents | characters |\n| --- | ---: | ---: |\n");
    for share in stats.statements.iter().take(30) {
        let _ = writeln!(card, "| {} | {} | {} |", cell(&share.name), share.documents, share.characters);
    }
}

/// The sum of counts over all steps.
fn counted(manifest: &Manifest, is_wanted: impl Fn(&str) -> bool) -> u64 {
    let steps = manifest.history.iter().chain([&manifest.step]);
    let counts = steps.flat_map(|step| &step.counts).filter(|(name, _)| is_wanted(name));
    counts.map(|(_, count)| *count).sum()
}

/// The columns with their types: a column that is null in a whole file tells no type by itself.
fn features(card: &mut String) {
    card.push_str("dataset_info:\n  config_name: default\n  features:\n");
    for name in TEXTS {
        let _ = writeln!(card, "  - name: {name}\n    dtype: string");
    }
    card.push_str("  - name: summary\n    sequence: string\n");
    for name in NUMBERS {
        let _ = writeln!(card, "  - name: {name}\n    dtype: int64");
    }
    card.push_str("  - name: confidence\n    dtype: float64\n  - name: metadata\n    dtype: string\n");
}

fn describe(card: &mut String, step: &Step) {
    let _ = writeln!(card, "\n```console\n$ {}\n```\n", one_line(&step.command).replace('`', "'"));
    let counts: Vec<String> = step.counts.iter().map(|(name, count)| format!("{} {count}", cell(name))).collect();
    let _ = writeln!(card, "pith {}: {}", step.version, counts.join(", "));
}

/// Whether a name can stand in the list of languages: `pt`, `zh-Hant`.
fn is_language(name: &str) -> bool {
    let primary = name.split('-').next().unwrap_or_default();
    (2..=3).contains(&primary.len())
        && name.len() <= 12
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

fn size_category(documents: u64) -> &'static str {
    match documents {
        0..1_000 => "n<1K",
        1_000..10_000 => "1K<n<10K",
        10_000..100_000 => "10K<n<100K",
        100_000..1_000_000 => "100K<n<1M",
        1_000_000..10_000_000 => "1M<n<10M",
        10_000_000..100_000_000 => "10M<n<100M",
        100_000_000..1_000_000_000 => "100M<n<1B",
        _ => "n>1B",
    }
}

fn one_line(text: &str) -> String {
    text.chars().map(|character| if character.is_control() { ' ' } else { character }).collect()
}

/// A text inside a table of Markdown: nothing in it ends the cell or begins markup.
fn cell(text: &str) -> String {
    let safe = |character: char| match character {
        '|' | '<' | '>' | '`' | '[' | ']' | '*' | '\\' => format!("&#{};", character as u32),
        other => other.to_string(),
    };
    one_line(text).chars().map(safe).collect()
}

/// A text as YAML: JSON strings are YAML strings.
fn quoted(text: &str) -> String {
    serde_json::to_string(&one_line(text)).expect("a text is JSON")
}
