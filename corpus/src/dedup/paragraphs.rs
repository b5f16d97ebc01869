//! Paragraphs that an earlier document already had, recognised by a Bloom filter over their hashes.

use std::fs::File;
use std::io::{BufReader, Read, Write};
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_64;

use super::shingles::fmix64;
use crate::Error;
use crate::atomic_file::AtomicFile;

/// How paragraphs are compared.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Paragraphs {
    /// Shorter ones are never removed.
    pub min_characters: usize,
    /// The part of new paragraphs that may be taken for seen ones.
    pub false_positives: f64,
}

impl Default for Paragraphs {
    fn default() -> Self {
        Paragraphs { min_characters: 30, false_positives: 1e-6 }
    }
}

/// The paragraphs of a text; a blank line stands between two.
pub(super) fn of(text: &str) -> impl Iterator<Item = &str> {
    text.split("\n\n")
}

/// The hash by which a paragraph is recognised; zero for one that is too short to be compared.
fn hash(paragraph: &str, settings: &Paragraphs, buffer: &mut Vec<u8>) -> u64 {
    super::normalise(paragraph, buffer);
    let characters = String::from_utf8_lossy(buffer).chars().count();
    if characters < settings.min_characters { 0 } else { xxh3_64(buffer).max(1) }
}

/// Writes the paragraph hashes of one shard: for each document their number, then the hashes.
pub(super) struct Writer {
    file: AtomicFile,
    path: PathBuf,
    hashes: Vec<u64>,
    buffer: Vec<u8>,
    n_paragraphs: u64,
}

impl Writer {
    pub(super) fn create(path: PathBuf) -> Result<Writer, Error> {
        let file = AtomicFile::create(&path)?;
        Ok(Writer { file, path, hashes: Vec::new(), buffer: Vec::new(), n_paragraphs: 0 })
    }

    pub(super) fn put(&mut self, text: &str, settings: &Paragraphs) -> Result<(), Error> {
        self.hashes.clear();
        for paragraph in of(text) {
            self.hashes.push(hash(paragraph, settings, &mut self.buffer));
        }
        self.n_paragraphs += self.hashes.len() as u64;
        self.buffer.clear();
        self.buffer.extend((self.hashes.len() as u32).to_le_bytes());
        self.buffer.extend(self.hashes.iter().flat_map(|hash| hash.to_le_bytes()));
        self.file.write_all(&self.buffer).map_err(Error::at(&self.path))
    }

    /// Seals the file and says how many paragraphs it holds.
    pub(super) fn seal(self) -> Result<u64, Error> {
        self.file.seal()?;
        Ok(self.n_paragraphs)
    }
}

/// The paragraphs of a shard that go: document within the shard, paragraph within the document.
pub(super) type RepeatedParagraphs = Vec<(u32, u32)>;

/// Reads the hashes of one shard and finds the paragraphs that the filter has seen; the others are added to it.
pub(super) fn cuts(
    path: &Path,
    n_documents: u32,
    seen: &mut BloomFilter,
    is_removed: impl Fn(u32) -> bool,
) -> Result<RepeatedParagraphs, Error> {
    let mut reader = BufReader::with_capacity(1 << 17, File::open(path).map_err(Error::at(path))?);
    let mut cuts = RepeatedParagraphs::new();
    let mut four = [0; 4];
    let mut eight = [0; 8];
    for document in 0..n_documents {
        reader.read_exact(&mut four).map_err(Error::at(path))?;
        let removed = is_removed(document);
        for paragraph in 0..u32::from_le_bytes(four) {
            reader.read_exact(&mut eight).map_err(Error::at(path))?;
            let hash = u64::from_le_bytes(eight);
            if !removed && hash != 0 && !seen.insert(hash) {
                cuts.push((document, paragraph));
            }
        }
    }
    Ok(cuts)
}

/// A set of hashes that may take a new one for a seen one, and never the other way round.
///
/// The crate `bloomfilter` 3.0.2, asked for one false positive in a thousand with room for 50 000 hashes, took 264 of the
/// first 50 000 for seen, five times what was asked for; here it is below 60. Each is a paragraph that a corpus loses.
pub(super) struct BloomFilter {
    words: Vec<u64>,
    n_probes: u32,
}

impl BloomFilter {
    /// Room for `n` hashes at this rate of false positives.
    pub(super) fn new(n: u64, false_positives: f64) -> BloomFilter {
        let ln_2 = std::f64::consts::LN_2;
        let bits = (n.max(64) as f64 * -false_positives.ln() / (ln_2 * ln_2)).ceil() as usize;
        BloomFilter { words: vec![0; bits.div_ceil(64)], n_probes: (-false_positives.log2()).ceil().max(1.0) as u32 }
    }

    /// Adds a hash; false where it seems to be there already.
    pub(super) fn insert(&mut self, hash: u64) -> bool {
        let step = fmix64(hash) | 1;
        let n_bits = self.words.len() as u64 * 64;
        let mut new = false;
        let mut probe = hash;
        for _ in 0..self.n_probes {
            let bit = ((u128::from(probe) * u128::from(n_bits)) >> 64) as u64;
            let word = &mut self.words[(bit / 64) as usize];
            new |= *word & 1 << (bit % 64) == 0;
            *word |= 1 << (bit % 64);
            probe = probe.wrapping_add(step);
        }
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_filter_never_forgets_and_seldom_invents() {
        let n = 50_000;
        let mut bloom = BloomFilter::new(n, 1e-3);
        let invented = (0..n).filter(|&number| !bloom.insert(fmix64(number + 1))).count();
        assert!(invented < 60, "{invented} of {n} new hashes were taken for seen");
        assert!((0..n).all(|number| !bloom.insert(fmix64(number + 1))));
    }
}
