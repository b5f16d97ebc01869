//! When each page was last asked for and how often it had changed: 32 bytes per URL.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::records::{Record, Records};
use crate::recrawl::ChangeHistory;

const RECORD_BYTES: usize = 32;

/// What is known of the visits to a page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Visited {
    /// Its host, by number.
    pub(super) host: u32,
    /// Where its record stands in the journal; 0 when it is not to be asked for again.
    pub(super) offset: u64,
    /// When it was last asked for, in milliseconds since 1970.
    pub(super) at: u64,
    /// What the visits have shown.
    pub(super) history: ChangeHistory,
}

impl Visited {
    /// How long ago that was.
    pub(super) fn age(&self, now: u64) -> Duration {
        Duration::from_millis(now.saturating_sub(self.at))
    }
}

impl Record<RECORD_BYTES> for Visited {
    fn to_bytes(self) -> [u8; RECORD_BYTES] {
        let mut bytes = [0; RECORD_BYTES];
        bytes[..8].copy_from_slice(&self.offset.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.at.to_le_bytes());
        bytes[16..24].copy_from_slice(&(self.history.watched.as_millis() as u64).to_le_bytes());
        bytes[24..28].copy_from_slice(&self.host.to_le_bytes());
        // A page that was visited more often than that is known well enough.
        bytes[28..30].copy_from_slice(&(self.history.n_visits.min(u32::from(u16::MAX)) as u16).to_le_bytes());
        bytes[30..].copy_from_slice(&(self.history.n_changes.min(u32::from(u16::MAX)) as u16).to_le_bytes());
        bytes
    }

    fn from_bytes(bytes: &[u8; RECORD_BYTES]) -> Option<Visited> {
        let long = |start: usize| u64::from_le_bytes(bytes[start..start + 8].try_into().expect("eight bytes"));
        let short = |start: usize| u32::from(u16::from_le_bytes([bytes[start], bytes[start + 1]]));
        let history =
            ChangeHistory { n_visits: short(28), n_changes: short(30), watched: Duration::from_millis(long(16)) };
        let host = u32::from_le_bytes(bytes[24..28].try_into().expect("four bytes"));
        let visited = Visited { host, offset: long(0), at: long(8), history };
        (visited.at != 0).then_some(visited)
    }
}

/// The visits to all pages.
pub(super) type Visits = Records<Visited, RECORD_BYTES>;

/// The time in milliseconds since 1970.
pub(super) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |time| time.as_millis() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_seen_of_a_page_comes_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("visits");
        let mut visits = Visits::open(&path).unwrap();
        let history = ChangeHistory { n_visits: 9, n_changes: 4, watched: Duration::from_millis(123_456) };
        let visited = Visited { host: 3, offset: 77, at: 1_767_225_600_123, history };
        visits.set(5000, visited).unwrap();
        let visits = Visits::open(&path).unwrap();
        assert_eq!(visits.get(5000).unwrap(), Some(visited));
        assert_eq!((visits.get(4999).unwrap(), visits.get(5001).unwrap()), (None, None));
        let mut all = Vec::new();
        visits.for_each(|url, visited| all.push((url, visited))).unwrap();
        assert_eq!(all, [(5000, visited)]);
    }
}
