//! Fingerprints of URLs about which no link can change anything any more: they need not be sent again.

use hashbrown::HashSet;

/// An exact memory of bounded size: what was asked for lately is kept.
pub(super) struct KnownUrls {
    recent: HashSet<u64>,
    older: HashSet<u64>,
    max: usize,
}

impl KnownUrls {
    /// A memory of at most so many URLs.
    pub(super) fn new(max: usize) -> KnownUrls {
        KnownUrls { recent: HashSet::new(), older: HashSet::new(), max }
    }

    /// Whether the URL was remembered.
    pub(super) fn contains(&mut self, fingerprint: u64) -> bool {
        if self.recent.contains(&fingerprint) {
            return true;
        }
        let is_older = self.older.contains(&fingerprint);
        if is_older {
            self.insert(fingerprint);
        }
        is_older
    }

    /// Remembers a URL.
    pub(super) fn insert(&mut self, fingerprint: u64) {
        if self.recent.len() >= self.max / 2 {
            self.older = std::mem::take(&mut self.recent);
        }
        self.recent.insert(fingerprint);
    }
}

#[cfg(test)]
mod tests {
    use super::KnownUrls;

    #[test]
    fn what_is_asked_for_stays_and_the_rest_is_forgotten() {
        let mut known = KnownUrls::new(100);
        for number in 0..1_000 {
            known.insert(number);
            assert!(known.contains(number) && known.contains(0));
            assert!(known.recent.len() + known.older.len() <= 100);
        }
        assert!(!known.contains(500) && !known.contains(5_000));
    }
}
