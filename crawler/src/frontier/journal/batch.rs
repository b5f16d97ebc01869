//! The header in front of each batch of the journal.
//!
//! A header can be found without knowing where the batch before it ends, and says where in the file it stands: so a
//! damaged batch with good ones behind it is told from one that a crash left incomplete, and bytes that are missing are
//! noticed. Its checksum depends on the secret key of the journal, so that no text from the web can look like a header.

use std::fs::File;
use std::os::unix::fs::FileExt;

use memchr::memmem;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// Marker, length of the payload, offset of the header, checksum of the payload, checksum of the header.
pub(super) const HEADER_BYTES: usize = 32;
/// How a header begins. Two of the bytes never occur in UTF-8.
const MARKER: [u8; 4] = [0xF5, 0xB7, 0x1C, 0xFE];
/// Bytes that are searched at once.
const WINDOW_BYTES: usize = 1 << 18;

/// A header whose checksum is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BatchHeader {
    /// Bytes of the payload.
    pub(super) length: u32,
    /// Where the header stands in the journal.
    pub(super) offset: u64,
    checksum: u64,
}

impl BatchHeader {
    /// The header at the start of some bytes; `None` when there is none.
    pub(super) fn parse(bytes: &[u8], key: u64) -> Option<BatchHeader> {
        let bytes: &[u8; HEADER_BYTES] = bytes.get(..HEADER_BYTES)?.try_into().ok()?;
        let long = |start: usize| u64::from_le_bytes(bytes[start..start + 8].try_into().expect("eight bytes"));
        if bytes[..4] != MARKER || xxh3_64_with_seed(&bytes[..24], key) != long(24) {
            return None;
        }
        let length = u32::from_le_bytes(bytes[4..8].try_into().expect("four bytes"));
        Some(BatchHeader { length, offset: long(8), checksum: long(16) })
    }

    /// Whether this is the payload that the header was made for.
    pub(super) fn matches(&self, payload: &[u8]) -> bool {
        payload.len() == self.length as usize && xxh3_64(payload) == self.checksum
    }
}

/// Fills in the header of a batch, whose first bytes are kept free for it.
pub(super) fn seal(batch: &mut [u8], offset: u64, key: u64) {
    let (header, payload) = batch.split_at_mut(HEADER_BYTES);
    header[..4].copy_from_slice(&MARKER);
    header[4..8].copy_from_slice(&(payload.len() as u32).to_le_bytes());
    header[8..16].copy_from_slice(&offset.to_le_bytes());
    header[16..24].copy_from_slice(&xxh3_64(payload).to_le_bytes());
    let checksum = xxh3_64_with_seed(&header[..24], key);
    header[24..].copy_from_slice(&checksum.to_le_bytes());
}

/// The offset of the first header in a range of the file, whatever stands around it.
pub(super) fn find(file: &File, from: u64, end: u64, key: u64) -> std::io::Result<Option<u64>> {
    let mut window = vec![0; WINDOW_BYTES];
    let mut start = from;
    while start + HEADER_BYTES as u64 <= end {
        let bytes = &mut window[..(end - start).min(WINDOW_BYTES as u64) as usize];
        file.read_exact_at(bytes, start)?;
        let is_header = |&at: &usize| BatchHeader::parse(&bytes[at..], key).is_some();
        if let Some(at) = memmem::find_iter(bytes, &MARKER).find(is_header) {
            return Ok(Some(start + at as u64));
        }
        // A header may lie across the end of this window.
        start += (bytes.len() - (HEADER_BYTES - 1)) as u64;
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_header_is_found_wherever_it_stands_and_only_with_its_key() {
        let mut batch = vec![0; HEADER_BYTES];
        batch.extend(b"payload");
        seal(&mut batch, 99, 7);
        let header = BatchHeader::parse(&batch, 7).unwrap();
        assert_eq!((header.length, header.offset), (7, 99));
        assert!(header.matches(b"payload") && !header.matches(b"paYload") && !header.matches(b"pay"));
        for before in [0, 1, WINDOW_BYTES - 40, WINDOW_BYTES - 31, WINDOW_BYTES - 1, WINDOW_BYTES + 5] {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(&MARKER.repeat(before / 4 + 1)[..before]).unwrap();
            file.write_all(&batch).unwrap();
            let end = (before + batch.len()) as u64;
            assert_eq!(find(&file, 0, end, 7).unwrap(), Some(before as u64));
            assert_eq!(find(&file, before as u64 + 1, end, 7).unwrap(), None);
            assert_eq!(find(&file, 0, end, 8).unwrap(), None, "another key");
        }
    }
}
