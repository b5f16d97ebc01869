//! What a reader could not give out, counted.

use std::fmt;

/// How many damaged places are listed one by one; all are counted.
const MAX_ENTRIES: usize = 64;

/// The damage a reader met and stepped over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Damage {
    /// Damaged places: each cost at most the record it is in, or the records of its frame where many share one.
    pub n_damaged: u64,
    /// The first of them, one by one.
    pub first: Vec<DamageEntry>,
}

/// One damaged place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DamageEntry {
    /// Where in the file.
    pub offset: u64,
    /// What is wrong there.
    pub reason: Reason,
}

/// What can be wrong with a stretch of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// The file ends inside a record.
    Torn,
    /// A compressed frame or member does not decode, or its checksum differs.
    Corrupt,
    /// Bytes that belong to no record.
    Junk,
    /// A record whose header makes no sense or never ends.
    Header,
    /// A record that is shorter or longer than it says.
    Length,
    /// The block digest in the header is not that of the block.
    Digest,
    /// The dictionary that the frames need cannot be read, or the frame needs another.
    Dictionary,
    /// A frame asks for more memory than the format allows.
    TooLarge,
}

impl fmt::Display for Reason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Reason::Torn => "the file ends inside a record",
            Reason::Corrupt => "compressed data is corrupt",
            Reason::Junk => "bytes that belong to no record",
            Reason::Header => "a record header makes no sense",
            Reason::Length => "a record is not as long as it says",
            Reason::Digest => "a block digest differs",
            Reason::Dictionary => "the dictionary is damaged or missing",
            Reason::TooLarge => "a frame asks for too much memory",
        })
    }
}

impl Damage {
    /// True if anything was lost.
    pub fn any(&self) -> bool {
        self.n_damaged > 0
    }

    /// Adds what another reader met.
    pub fn add(&mut self, other: &Damage) {
        self.n_damaged += other.n_damaged;
        self.first.extend(other.first.iter().take(MAX_ENTRIES.saturating_sub(self.first.len())).cloned());
    }

    /// What is wrong with the last damaged place, if it is among those listed.
    pub fn last_reason(&self) -> Option<Reason> {
        let all_remembered = self.first.len() as u64 == self.n_damaged;
        self.first.last().filter(|_| all_remembered).map(|place| place.reason)
    }

    /// Takes the last damaged place back, for a caller that knows why it had to be.
    pub fn remove_last(&mut self) {
        if self.first.len() as u64 == self.n_damaged && self.first.pop().is_some() {
            self.n_damaged -= 1;
        }
    }

    pub(super) fn count(&mut self, offset: u64, reason: Reason) {
        self.n_damaged += 1;
        if self.first.len() < MAX_ENTRIES {
            self.first.push(DamageEntry { offset, reason });
        }
    }
}
