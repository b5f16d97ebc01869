//! The visit history of each page: last request and number of changes, in 32 bytes per URL.

use std::time::Duration;

use super::records::{Record, Records};
use crate::recrawl::ChangeHistory;

const RECORD_BYTES: usize = 32;

/// The visit history of a page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct VisitRecord {
    /// Its host, by number.
    pub(super) host: u32,
    /// The offset of its URL record in the journal; 0 when it is not refreshed any more.
    pub(super) offset: u64,
    /// The time of the last request, in milliseconds since 1970.
    pub(super) at: u64,
    /// How often the visits found it changed.
    pub(super) history: ChangeHistory,
}

impl VisitRecord {
    /// The time since the last request.
    pub(super) fn age(&self, now: u64) -> Duration {
        Duration::from_millis(now.saturating_sub(self.at))
    }
}

impl Record<RECORD_BYTES> for VisitRecord {
    fn to_bytes(self) -> [u8; RECORD_BYTES] {
        let mut bytes = [0; RECORD_BYTES];
        bytes[..8].copy_from_slice(&self.offset.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.at.to_le_bytes());
        bytes[16..24].copy_from_slice(&(self.history.observed.as_millis() as u64).to_le_bytes());
        bytes[24..28].copy_from_slice(&self.host.to_le_bytes());
        // The counts saturate: more visits hardly change the estimate.
        bytes[28..30].copy_from_slice(&(self.history.n_visits.min(u32::from(u16::MAX)) as u16).to_le_bytes());
        bytes[30..].copy_from_slice(&(self.history.n_changes.min(u32::from(u16::MAX)) as u16).to_le_bytes());
        bytes
    }

    fn from_bytes(bytes: &[u8; RECORD_BYTES]) -> Option<VisitRecord> {
        let long = |start: usize| u64::from_le_bytes(bytes[start..start + 8].try_into().expect("eight bytes"));
        let short = |start: usize| u32::from(u16::from_le_bytes([bytes[start], bytes[start + 1]]));
        let history =
            ChangeHistory { n_visits: short(28), n_changes: short(30), observed: Duration::from_millis(long(16)) };
        let host = u32::from_le_bytes(bytes[24..28].try_into().expect("four bytes"));
        let visited = VisitRecord { host, offset: long(0), at: long(8), history };
        (visited.at != 0).then_some(visited)
    }
}

/// The visit histories of all pages.
pub(super) type Visits = Records<VisitRecord, RECORD_BYTES>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_seen_of_a_page_comes_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("visits");
        let mut visits = Visits::open(&path).unwrap();
        let history = ChangeHistory { n_visits: 9, n_changes: 4, observed: Duration::from_millis(123_456) };
        let visited = VisitRecord { host: 3, offset: 77, at: 1_767_225_600_123, history };
        visits.set(5000, visited).unwrap();
        let visits = Visits::open(&path).unwrap();
        assert_eq!(visits.get(5000).unwrap(), Some(visited));
        assert_eq!((visits.get(4999).unwrap(), visits.get(5001).unwrap()), (None, None));
        let mut all = Vec::new();
        visits.for_each(|url, visited| all.push((url, visited))).unwrap();
        assert_eq!(all, [(5000, visited)]);
    }
}
