//! Lists that a user brings: sites and addresses, words.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::DropReason;
use super::text_stats::TextStats;

/// Sites and addresses. An entry with a `/` after the host is the beginning of an address, any other a host with
/// everything below it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct UrlLists {
    /// Documents from these go.
    pub block: BTreeSet<String>,
    /// Where not empty, documents from anywhere else go.
    pub allow: BTreeSet<String>,
}

impl UrlLists {
    pub(super) fn check(&self, address: &str) -> Result<(), Box<DropReason>> {
        if let Some(entry) = listed(&self.block, address) {
            return Err(DropReason::new("urls.block", address, entry));
        }
        if !self.allow.is_empty() && listed(&self.allow, address).is_none() {
            return Err(DropReason::new("urls.allow", address, "not listed"));
        }
        Ok(())
    }
}

/// The entry that an address falls under.
fn listed<'l>(list: &'l BTreeSet<String>, address: &str) -> Option<&'l str> {
    if list.is_empty() {
        return None;
    }
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest).to_ascii_lowercase();
    let host_end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let host = rest[..host_end].split(':').next().unwrap_or_default();
    let mut domain = host;
    loop {
        if let Some(entry) = list.get(domain) {
            return Some(entry);
        }
        match domain.split_once('.') {
            Some((_, parent)) => domain = parent,
            None => break,
        }
    }
    let path = &rest[host_end..];
    let ends = path.char_indices().map(|(position, character)| position + character.len_utf8());
    ends.filter_map(|end| list.get(&format!("{host}{}", &path[..end])).map(String::as_str)).next()
}

/// Words that are not wanted, in lower case.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BlockedWords {
    /// The words; in scripts without spaces an entry is found anywhere in the text.
    pub block: BTreeSet<String>,
    /// More occurrences than this drop a document.
    pub max: u64,
}

impl BlockedWords {
    pub(super) fn check(&self, stats: &TextStats) -> Result<(), Box<DropReason>> {
        if self.block.is_empty() {
            return Ok(());
        }
        let as_words = stats.tokens.iter().filter(|token| !token.is_spaceless);
        let mut n = as_words.filter(|token| self.block.contains(&token.text.to_lowercase())).count();
        let is_phrase = |entry: &&String| entry.chars().any(|c| c == ' ' || pith_notation::is_spaceless(c));
        let lower = stats.text.to_lowercase();
        n += self.block.iter().filter(is_phrase).map(|entry| lower.matches(entry.as_str()).count()).sum::<usize>();
        if n as u64 > self.max {
            return Err(DropReason::new("words.block", n as u64, self.max));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jsonl::{DocumentFields, TextField};

    #[track_caller]
    fn check(entry: &str, address: &str, expected: bool) {
        let urls = UrlLists { block: BTreeSet::from([entry.to_owned()]), ..UrlLists::default() };
        assert_eq!(urls.check(address).is_err(), expected, "{entry} {address}");
    }

    #[test]
    fn a_host_takes_everything_below_it_and_a_path_its_beginning() {
        check("example.com", "https://www.example.com/a", true);
        check("example.com", "http://EXAMPLE.com:8080", true);
        check("example.com", "https://notexample.com/", false);
        check("example.com/ads/", "https://example.com/ads/1", true);
        check("example.com/ads/", "https://example.com/news/ads/", false);
    }

    #[test]
    fn listed_words_are_found_as_words_and_chinese_ones_anywhere() {
        let words = BlockedWords { block: BTreeSet::from(["casino".to_owned(), "賭場".to_owned()]), max: 0 };
        let drops = |text: &str| {
            let view = DocumentFields { text: TextField(text.to_owned().into()), ..DocumentFields::default() };
            words.check(&TextStats::of(&view)).is_err()
        };
        assert!(drops("The Casino is open") && drops("線上賭場開張了"));
        assert!(!drops("casinos and occasion"));
    }
}
