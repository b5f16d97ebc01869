//! Simhash: a locality-sensitive fingerprint for near-duplicate detection.

use xxhash_rust::xxh3::xxh3_64;

/// Fingerprints that differ in at most this many bits are near-duplicates (Manku and others, 2007).
const NEAR_BITS: u32 = 3;

/// The 64-bit simhash of a page's words, in pairs, without tags and without the words of the requested path, which many
/// soft-404 pages repeat.
pub(crate) fn simhash(html: &[u8], path: &str) -> u64 {
    let left_out: Vec<&[u8]> = path.as_bytes().split(|byte| !byte.is_ascii_alphanumeric()).take(64).collect();
    let mut votes = Votes::default();
    let mut before = 0;
    for_each_word(html, |word| {
        if !path.is_empty() && left_out.contains(&word) {
            return;
        }
        let hash = xxh3_64(word);
        votes.add(hash ^ before);
        before = hash.rotate_left(17);
    });
    votes.result()
}

/// Whether two fingerprints are those of near-duplicates.
pub(crate) fn is_near(a: u64, b: u64) -> bool {
    (a ^ b).count_ones() <= NEAR_BITS
}

fn for_each_word(html: &[u8], mut each: impl FnMut(&[u8])) {
    let mut start = None;
    let mut in_tag = false;
    for (index, &byte) in html.iter().enumerate() {
        let is_word = !in_tag && (byte.is_ascii_alphanumeric() || byte >= 0x80);
        match (is_word, start) {
            (true, None) => start = Some(index),
            (false, Some(from)) => {
                each(&html[from..index]);
                start = None;
            }
            _ => {}
        }
        in_tag = if in_tag { byte != b'>' } else { byte == b'<' };
    }
    if let Some(from) = start {
        each(&html[from..]);
    }
}

/// Spreads the eight bits of a byte over eight bytes.
const SPREAD: [u64; 256] = {
    let mut spread = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut bit = 0;
        while bit < 8 {
            spread[byte] |= ((byte >> bit & 1) as u64) << (8 * bit);
            bit += 1;
        }
        byte += 1;
    }
    spread
};

/// Counts, for each bit, the words whose hash has it set. Eight 8-bit counters share a register until one could
/// overflow.
struct Votes {
    lanes: [u64; 8],
    n_in_lanes: u32,
    counts: [u32; 64],
    n_words: u32,
}

impl Default for Votes {
    fn default() -> Self {
        Votes { lanes: [0; 8], n_in_lanes: 0, counts: [0; 64], n_words: 0 }
    }
}

impl Votes {
    fn add(&mut self, hash: u64) {
        for (lane, byte) in self.lanes.iter_mut().zip(hash.to_le_bytes()) {
            *lane += SPREAD[usize::from(byte)];
        }
        self.n_in_lanes += 1;
        self.n_words += 1;
        if self.n_in_lanes == 255 {
            self.spill();
        }
    }

    fn spill(&mut self) {
        for (index, lane) in self.lanes.iter_mut().enumerate() {
            for (bit, count) in lane.to_le_bytes().into_iter().enumerate() {
                self.counts[index * 8 + bit] += u32::from(count);
            }
            *lane = 0;
        }
        self.n_in_lanes = 0;
    }

    fn result(mut self) -> u64 {
        self.spill();
        let half = self.n_words / 2;
        self.counts.iter().enumerate().fold(0, |hash, (bit, &count)| hash | u64::from(count > half) << bit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The reference implementation: one counter per bit.
    fn plain(html: &[u8]) -> u64 {
        let mut counts = [0_i64; 64];
        let mut before = 0;
        for_each_word(html, |word| {
            let hash = xxh3_64(word);
            for (bit, count) in counts.iter_mut().enumerate() {
                *count += if (hash ^ before) >> bit & 1 == 1 { 1 } else { -1 };
            }
            before = hash.rotate_left(17);
        });
        counts.iter().enumerate().fold(0, |hash, (bit, &count)| hash | u64::from(count > 0) << bit)
    }

    #[test]
    fn it_is_the_simhash_by_the_book() {
        for n_words in [0, 1, 7, 254, 255, 256, 1000, 1001] {
            let text: String = (0..n_words).map(|number| format!("<b>word{}</b> ", number * number % 613)).collect();
            assert_eq!(simhash(text.as_bytes(), ""), plain(text.as_bytes()), "{n_words} words");
        }
    }

    #[test]
    fn a_page_with_another_date_is_near_and_another_page_is_not() {
        let words: Vec<String> = (0..400).map(|number| format!("w{}", number * 7919 % 1009)).collect();
        let page = words.join(" ");
        let dated = page.replace(" w7 ", " 2026-11-16 ");
        let other: String = words.iter().map(|word| format!("x{word} ")).collect();
        assert!(is_near(simhash(page.as_bytes(), ""), simhash(dated.as_bytes(), "")));
        assert!(!is_near(simhash(page.as_bytes(), ""), simhash(other.as_bytes(), "")));
    }
}
