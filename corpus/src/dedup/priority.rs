//! Which of two duplicates stays.

use std::cmp::Ordering;

use super::signatures::Records;
use crate::Error;

/// Which document of a cluster stays. Documents of `--against` always do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Keep {
    /// The first in the order of the inputs.
    #[default]
    First,
    /// The one with the longest text; of equals the first.
    Longest,
}

/// A total order of the documents, the best first.
pub(super) struct Priority {
    n_older: u32,
    /// Empty where length does not matter.
    lengths: Vec<u32>,
}

impl Priority {
    pub(super) fn new(keep: Keep, n_older: u32, records: &Records) -> Result<Priority, Error> {
        let mut lengths = Vec::new();
        if keep == Keep::Longest {
            lengths.reserve(records.n_documents() as usize);
            records.for_each(|_, record, _| lengths.push(record.length))?;
        }
        Ok(Priority { n_older, lengths })
    }

    pub(super) fn compare(&self, left: u32, right: u32) -> Ordering {
        let older = |document: u32| document >= self.n_older;
        let length = |document: u32| self.lengths.get(document as usize).map(|&length| std::cmp::Reverse(length));
        older(left).cmp(&older(right)).then_with(|| length(left).cmp(&length(right))).then_with(|| left.cmp(&right))
    }

    /// Whether a document came with `--against` and is not up for removal.
    pub(super) fn is_older(&self, document: u32) -> bool {
        document < self.n_older
    }
}
