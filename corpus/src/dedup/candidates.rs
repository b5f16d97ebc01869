//! Which documents are exact duplicates, and which look alike, found by sorting hashes within a bound of memory.

use hashbrown::HashMap;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::priority::Priority;
use super::shingles::estimated_jaccard;
use super::signatures::Records;
use super::{Match, MinHash};
use crate::{Error, Observer};

/// The most representatives per band bucket: documents that are not similar to each other, with which every other
/// document of the bucket is compared.
const MAX_REPRESENTATIVES: usize = 16;

/// The most matches that are kept per document.
const MAX_MATCHES: usize = 8;

/// For every document, the preferred documents that it is similar to.
pub(super) type Matches = HashMap<u32, Vec<Match>>;

/// The documents whose normalised text another one has too, each with the best of its group.
pub(super) fn exact(
    records: &Records,
    priority: &Priority,
    outdated: &HashMap<u32, u32>,
    memory: u64,
) -> Result<HashMap<u32, u32>, Error> {
    let entry_bytes = size_of::<(u128, u32)>() as u64;
    let n_passes = (u64::from(records.n_documents()) * entry_bytes).div_ceil(memory).max(1) as u128;
    let mut exact_duplicates = HashMap::new();
    let mut entries: Vec<(u128, u32)> = Vec::new();
    for pass in 0..n_passes {
        entries.clear();
        records.for_each(|document, record, _| {
            if record.length > 0 && !outdated.contains_key(&document) && (record.text_hash >> 64) % n_passes == pass {
                entries.push((record.text_hash, document));
            }
        })?;
        entries.sort_unstable();
        for group in entries.chunk_by(|left, right| left.0 == right.0).filter(|group| group.len() > 1) {
            let documents = group.iter().map(|entry| entry.1);
            let best = documents.clone().min_by(|&left, &right| priority.compare(left, right));
            let best = best.expect("a group has members");
            exact_duplicates.extend(documents.filter(|&document| document != best).map(|document| (document, best)));
        }
    }
    Ok(exact_duplicates)
}

/// The documents that share a band with a better one and agree with it as far as `near` asks.
pub(super) fn near(
    records: &Records,
    priority: &Priority,
    is_gone: &dyn Fn(u32) -> bool,
    near: &MinHash,
    memory: u64,
    observer: &dyn Observer,
) -> Result<Matches, Error> {
    let n_bands = near.bands;
    let rows = near.permutations / n_bands;
    let entry_bytes = size_of::<(u64, u32)>() as u64;
    let band_bytes = (u64::from(records.n_documents()) * entry_bytes).max(1);
    // As many bands at a time as fit; where not even one does, a part of its keys at a time.
    let bands_at_once = (memory / band_bytes).clamp(1, n_bands as u64) as usize;
    let n_parts = band_bytes.div_ceil(memory).max(1);
    let mut search = BandSearch { records, priority, near, matches: Matches::new() };
    let mut entries: Vec<(u64, u32)> = Vec::new();
    let n_passes = n_bands.div_ceil(bands_at_once) as u64 * n_parts;
    observer.begin("comparing", n_passes);
    for bands in (0..n_bands).step_by(bands_at_once).map(|first| first..(first + bands_at_once).min(n_bands)) {
        for part in 0..n_parts {
            entries.clear();
            records.for_each(|document, record, signature| {
                if record.n_shingles == 0 || is_gone(document) {
                    return;
                }
                for band in bands.clone() {
                    let key = band_key(band, &signature[band * rows..(band + 1) * rows]);
                    if n_parts == 1 || key % n_parts == part {
                        entries.push((key, document));
                    }
                }
            })?;
            entries.sort_unstable();
            for bucket in entries.chunk_by(|left, right| left.0 == right.0).filter(|bucket| bucket.len() > 1) {
                search.bucket(bucket)?;
            }
            observer.advance(1, 0);
            if observer.is_stopped() {
                return Err(Error::Stopped);
            }
        }
    }
    Ok(search.matches)
}

fn band_key(band: usize, rows: &[u16]) -> u64 {
    let mut bytes = [0u8; 128];
    let mut key = band as u64;
    for chunk in rows.chunks(64) {
        for (found, value) in bytes.chunks_exact_mut(2).zip(chunk) {
            found.copy_from_slice(&value.to_le_bytes());
        }
        key = xxh3_64_with_seed(&bytes[..2 * chunk.len()], key);
    }
    key
}

struct BandSearch<'r> {
    records: &'r Records,
    priority: &'r Priority,
    near: &'r MinHash,
    matches: Matches,
}

impl BandSearch<'_> {
    /// Compares the documents of one bucket, the best first, each with the representatives of the bucket.
    fn bucket(&mut self, bucket: &[(u64, u32)]) -> Result<(), Error> {
        let mut documents: Vec<u32> = bucket.iter().map(|entry| entry.1).collect();
        documents.sort_unstable_by(|&left, &right| self.priority.compare(left, right));
        let mut representatives: Vec<(u32, u32, Vec<u16>)> = Vec::new();
        for document in documents {
            let known = self.matches.get(&document);
            if known.is_some_and(|known| {
                representatives.iter().any(|representative| known.iter().any(|found| found.other == representative.0))
            }) {
                continue;
            }
            let mut signature = Vec::new();
            let record = self.records.read(document, &mut signature)?;
            let mut alike = false;
            for (representative, n_shingles, representative_signature) in &representatives {
                let similarity = estimated_jaccard(&signature, representative_signature);
                if similarity >= self.near.required_similarity(record.n_shingles, *n_shingles) {
                    let matches = self.matches.entry(document).or_default();
                    if matches.len() < MAX_MATCHES {
                        matches.push(Match { other: *representative, similarity });
                    }
                    alike = true;
                    break;
                }
            }
            if !alike && representatives.len() < MAX_REPRESENTATIVES {
                representatives.push((document, record.n_shingles, signature));
            }
        }
        Ok(())
    }
}
