//! How the URLs of a run were answered: responses by status, and the first URLs of each kind of failure.

use std::collections::BTreeMap;

use serde::Serialize;
use url::Url;

use crate::outcome::Outcome;

/// URLs that are named of each kind of failure.
const MAX_NAMED: usize = 3;
/// Bytes of a URL that are named.
const MAX_NAME_BYTES: usize = 300;

/// URLs that failed in the same way.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FailureRow {
    /// How they ended.
    pub outcome: &'static str,
    /// The status of their responses, where there was one.
    pub status: Option<u16>,
    /// How many there are.
    pub urls: u64,
    /// The first few of them.
    pub first: Vec<String>,
}

/// Counts the URLs that are settled.
#[derive(Default)]
pub(crate) struct Failures {
    statuses: BTreeMap<u16, u64>,
    by_kind: BTreeMap<(u8, Option<u16>), FailureRow>,
}

impl Failures {
    /// Counts a URL that is done.
    pub(crate) fn count(&mut self, url: &Url, outcome: Outcome, status: Option<u16>) {
        if let Some(status) = status {
            *self.statuses.entry(status).or_default() += 1;
        }
        if !outcome.is_error() {
            return;
        }
        let none = || FailureRow { outcome: outcome.name(), status, urls: 0, first: Vec::new() };
        let row = self.by_kind.entry((outcome.code(), status)).or_insert_with(none);
        row.urls += 1;
        if row.first.len() < MAX_NAMED {
            // A URL is ASCII, so that it can be cut anywhere.
            let name = url.as_str();
            row.first.push(match name.get(..MAX_NAME_BYTES) {
                Some(start) if name.len() > MAX_NAME_BYTES => format!("{start}…"),
                _ => name.to_owned(),
            });
        }
    }

    /// Responses by status.
    pub(crate) fn statuses(&self) -> BTreeMap<u16, u64> {
        self.statuses.clone()
    }

    /// The kinds of failure, the most frequent one first.
    pub(crate) fn rows(&self) -> Vec<FailureRow> {
        let mut rows: Vec<FailureRow> = self.by_kind.values().cloned().collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.urls));
        rows
    }
}
