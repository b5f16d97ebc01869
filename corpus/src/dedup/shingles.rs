//! A text as a set of word n-grams, and the set as a short signature.
//!
//! Words are runs of letters and digits in lower case; where a script writes no spaces every character is a
//! word, so n-grams are of characters there. One 64-bit rolling hash per n-gram goes into one of `permutations`
//! bins, and the least hash of a bin is its part of the signature (one-permutation hashing). Two texts agree in
//! a bin with the probability of the Jaccard similarity of their sets, as with so many permutations, for the
//! price of one. Empty bins of short texts borrow from others (optimal densification), the same ones for every text.

use pith_notation::is_spaceless;

use crate::script::is_word_part;

const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;
const EMPTY: u32 = u32::MAX;

/// Makes signatures; keeps its buffers between texts.
pub(super) struct Shingler {
    n_gram: usize,
    /// `MULTIPLIER` to the power of `n_gram`: what the oldest word is worth when it leaves the window.
    oldest_factor: u64,
    window: Vec<u64>,
    bins: Vec<u32>,
}

impl Shingler {
    pub(super) fn new(permutations: usize, n_gram: usize) -> Shingler {
        let oldest_factor = MULTIPLIER.wrapping_pow(n_gram as u32);
        Shingler { n_gram, oldest_factor, window: vec![0; n_gram], bins: vec![EMPTY; permutations] }
    }

    /// Writes the signature of a text and says how many n-grams it has; without a word there is no signature.
    pub(super) fn write_signature(&mut self, text: &str, signature: &mut Vec<u16>) -> u32 {
        signature.clear();
        self.bins.fill(EMPTY);
        let mut rolling = Rolling { hash: 0, n_words: 0, n_shingles: 0 };
        for_each_word(text, |word| self.push(&mut rolling, word));
        if rolling.n_words == 0 {
            return 0;
        }
        if rolling.n_shingles == 0 {
            // Shorter than one n-gram: the whole text is the one n-gram.
            self.put(fmix64(rolling.hash));
            rolling.n_shingles = 1;
        }
        self.densify(signature);
        rolling.n_shingles
    }

    fn push(&mut self, rolling: &mut Rolling, word: u64) {
        let slot = rolling.n_words % self.n_gram;
        let left = std::mem::replace(&mut self.window[slot], word);
        rolling.hash = rolling.hash.wrapping_mul(MULTIPLIER).wrapping_add(word);
        rolling.n_words += 1;
        if rolling.n_words > self.n_gram {
            rolling.hash = rolling.hash.wrapping_sub(left.wrapping_mul(self.oldest_factor));
        }
        if rolling.n_words >= self.n_gram {
            rolling.n_shingles = rolling.n_shingles.saturating_add(1);
            self.put(fmix64(rolling.hash));
        }
    }

    fn put(&mut self, hash: u64) {
        let bin = ((hash >> 32) * self.bins.len() as u64) >> 32;
        let least = &mut self.bins[bin as usize];
        *least = (*least).min((hash as u32).min(EMPTY - 1));
    }

    fn densify(&self, signature: &mut Vec<u16>) {
        let n_bins = self.bins.len() as u64;
        for (index, &value) in self.bins.iter().enumerate() {
            let mut value = value;
            let mut attempt = 0u64;
            while value == EMPTY {
                let donor = fmix64((index as u64) << 32 | attempt) % n_bins;
                value = self.bins[donor as usize];
                attempt += 1;
            }
            // The low half: the high half of a least value is mostly zeros.
            signature.push(value as u16);
        }
    }
}

struct Rolling {
    hash: u64,
    n_words: usize,
    n_shingles: u32,
}

/// The words of a text, hashed.
fn for_each_word(text: &str, mut visit: impl FnMut(u64)) {
    let bytes = text.as_bytes();
    let mut hash = 0u64;
    let mut position = 0;
    while position < bytes.len() {
        let byte = bytes[position];
        if byte < 0x80 {
            let folded = FOLDED[byte as usize];
            if folded != 0 {
                hash = (hash.rotate_left(5) ^ u64::from(folded)).wrapping_mul(MULTIPLIER);
            } else if hash != 0 {
                visit(fmix64(std::mem::take(&mut hash)));
            }
            position += 1;
            continue;
        }
        let character = text[position..].chars().next().expect("the position is a character boundary");
        position += character.len_utf8();
        if is_spaceless(character) {
            if hash != 0 {
                visit(fmix64(std::mem::take(&mut hash)));
            }
            if is_word_part(character) {
                visit(fmix64(u64::from(character as u32).wrapping_mul(MULTIPLIER)));
            }
        } else if is_word_part(character) {
            for lower in character.to_lowercase() {
                hash = (hash.rotate_left(5) ^ u64::from(lower as u32)).wrapping_mul(MULTIPLIER);
            }
        } else if hash != 0 {
            visit(fmix64(std::mem::take(&mut hash)));
        }
    }
    if hash != 0 {
        visit(fmix64(hash));
    }
}

/// ASCII letters and digits in lower case; zero for what separates words.
const FOLDED: [u8; 128] = {
    let mut table = [0; 128];
    let mut byte = 0;
    while byte < 128 {
        if (byte as u8).is_ascii_alphanumeric() {
            table[byte] = (byte as u8).to_ascii_lowercase();
        }
        byte += 1;
    }
    table
};

/// The finalizer of MurmurHash3: every bit of the input reaches every bit of the output.
pub(super) fn fmix64(mut hash: u64) -> u64 {
    hash ^= hash >> 33;
    hash = hash.wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    hash ^= hash >> 33;
    hash = hash.wrapping_mul(0xC4CE_B9FE_1A85_EC53);
    hash ^ hash >> 33
}

/// The part of two signatures that agrees: an estimate of the Jaccard similarity of the two sets.
pub(super) fn estimated_jaccard(left: &[u16], right: &[u16]) -> f32 {
    let same = left.iter().zip(right).filter(|(left, right)| left == right).count();
    same as f32 / left.len().max(1) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signature(text: &str) -> Vec<u16> {
        let mut signature = Vec::new();
        Shingler::new(120, 5).write_signature(text, &mut signature);
        signature
    }

    fn words(range: std::ops::Range<usize>) -> String {
        range.map(|n| format!("w{} ", fmix64(n as u64))).collect()
    }

    #[track_caller]
    fn check(left: &str, right: &str, expected: std::ops::RangeInclusive<f32>) {
        let similarity = estimated_jaccard(&signature(left), &signature(right));
        assert!(expected.contains(&similarity), "{similarity} is not in {expected:?}");
    }

    #[test]
    fn case_and_punctuation_do_not_count() {
        check("The quick, brown fox: jumps over it", "the QUICK brown fox jumps (over) it", 1.0..=1.0);
        check("Ação é REAÇÃO no país de lá", "ação É reação no País de lá", 1.0..=1.0);
    }

    #[test]
    fn agreement_estimates_the_jaccard_similarity() {
        // 800 words shared of 1 000 each: 796 common n-grams of 1 196 in all.
        check(&words(0..1000), &words(200..1200), 0.56..=0.77);
        check(&words(0..1000), &words(1000..2000), 0.0..=0.02);
    }

    #[test]
    fn chinese_is_compared_by_characters() {
        let one = "今天下午台北下了一場很大的雨，路上的行人都躲進了旁邊的商店裡面。";
        check(one, "今天下午台北下了一場很大的雨，路上的行人都躲進了旁邊的商店裡頭。", 0.6..=0.99);
        check(one, "股市在經歷了三週的下跌之後終於在星期五回升，投資者鬆了一口氣。", 0.0..=0.05);
    }

    #[test]
    fn short_texts_have_signatures_and_empty_ones_none() {
        check("hello", "Hello!", 1.0..=1.0);
        check("hello", "world", 0.0..=0.05);
        assert!(signature("").is_empty() && signature(" … — ").is_empty());
    }

    #[test]
    fn the_window_forgets_what_left_it() {
        // Every 5-gram of the second text is also in the first, whatever stood before it.
        let long = format!("{} a b c d e", words(0..50));
        let (mut all, mut tail) = (Vec::new(), Vec::new());
        let mut shingler = Shingler::new(4096, 5);
        shingler.write_signature(&long, &mut all);
        shingler.write_signature("a b c d e", &mut tail);
        assert!(all.contains(&tail[0]));
    }
}
